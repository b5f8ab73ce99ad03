#include "viewer/model/image_parts.h"

#include <gtest/gtest.h>

namespace texton::viewer {
namespace {

using Channels = std::vector<std::string>;
using Groups = std::vector<ChannelGroup>;

TEST(ImagePartsTest, ColorsVectorsAndSingleChannelsAreGroups) {
    EXPECT_EQ(channel_groups({"R", "G", "B", "A", "Z"}), (Groups{{"", {"R", "G", "B", "A"}}, {"", {"Z"}}}));
    EXPECT_EQ(channel_groups({"B", "G", "R"}), (Groups{{"", {"R", "G", "B"}}})) << "in the order of colors";
    EXPECT_EQ(channel_groups({"n.x", "n.y", "n.z", "uv.u", "uv.v"}),
              (Groups{{"n", {"n.x", "n.y", "n.z"}}, {"uv", {"uv.u", "uv.v"}}}));
    EXPECT_EQ(channel_groups({"Y"}), (Groups{{"", {"Y"}}}));
    EXPECT_EQ(channel_groups({}), Groups{});
}

TEST(ImagePartsTest, LayersHaveTheOrderOfTheirFirstChannels) {
    EXPECT_EQ(channel_groups({"left.diffuse.B", "A", "left.diffuse.G", "left.diffuse.R", "left.diffuse.mask"}),
              (Groups{{"left.diffuse", {"left.diffuse.R", "left.diffuse.G", "left.diffuse.B"}},
                      {"left.diffuse", {"left.diffuse.mask"}},
                      {"", {"A"}}}));
    EXPECT_EQ(channel_groups({"id.0", "id.1"}), (Groups{{"id", {"id.0"}}, {"id", {"id.1"}}}));
    EXPECT_EQ(channel_groups({".R", "x.", "R"}), (Groups{{"", {".R"}}, {"", {"R"}}, {"x", {"x."}}}))
        << "names of hostile files";
}

TEST(ImagePartsTest, ChosenGroupReplacesPartAndChannels) {
    Source source{.paths = {"a.exr"}, .options = {.part_name = "old", .channels = {"Z"}}};
    const Source before = source;
    choose(source, {.index = 2, .name = "new", .extent = {}, .groups = {}}, {"d", {"d.R"}});
    EXPECT_EQ(source.options.part, 2);
    EXPECT_EQ(source.options.part_name, "");
    EXPECT_EQ(source.options.channels, Channels{"d.R"});
    EXPECT_TRUE(is_other_part(source, before));
    source.options.levels = 1;
    EXPECT_FALSE(is_other_part(source, before));
}

}  // namespace
}  // namespace texton::viewer

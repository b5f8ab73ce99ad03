#include <texton/image_file.h>

#include <algorithm>

#include <texton/error.h>
#include <texton/image_save.h>

#include "tests/support/configured_path.h"
#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"

// The channels of a file that are read.

namespace texton {
namespace {

namespace fs = std::filesystem;
using OIIO::TypeDesc;
using test::Bytes;
using test::read_part;
using test::same_bytes;
using test::store;
using test::stored_image;
using test::StoredImage;
using Names = std::vector<std::string>;
using Sentences = std::vector<std::string>;

constexpr int kWidth = 9, kHeight = 7;
const Names kLayers{"R", "G", "B", "A", "Z", "diffuse.B", "diffuse.G", "diffuse.R"};

// Returns the texels of some channels. `bytes` is the size of a channel.
Bytes chosen(const Bytes& texels, std::size_t channels, std::size_t bytes, const std::vector<std::size_t>& indices) {
    Bytes out;
    for (std::size_t at = 0; at < texels.size(); at += channels * bytes) {
        for (const std::size_t index : indices) {
            const auto first = texels.begin() + static_cast<std::ptrdiff_t>(at + index * bytes);
            out.insert(out.end(), first, first + static_cast<std::ptrdiff_t>(bytes));
        }
    }
    return out;
}

class ChannelsTest : public testing::Test {
protected:
    fs::path at(const std::string& name) const { return folder_.at(name); }
    // Writes half floats; OpenEXR sorts the channels of a file, so their order in it is that of kLayers.
    fs::path layers(const std::string& name) {
        stored_ = stored_image(kWidth, kHeight, static_cast<int>(kLayers.size()), TypeDesc::HALF, 3);
        stored_.spec.channelnames = kLayers;
        stored_.spec.alpha_channel = 3;
        stored_.spec.z_channel = 4;
        return store(at(name), {stored_});
    }
    // Returns the texels of the stored image with these channels in the order that OpenImageIO gives them.
    Bytes expected(const ImageFile& image, const Names& names) const {
        std::vector<std::size_t> indices;
        for (const std::string& name : names)
            indices.push_back(static_cast<std::size_t>(std::ranges::find(kLayers, name) - kLayers.begin()));
        EXPECT_EQ(image.metadata().read_channels, names);
        return chosen(stored_.levels[0], kLayers.size(), 2, indices);
    }

    test::ImageFolder folder_;
    StoredImage stored_;
};

TEST_F(ChannelsTest, ChannelsAreReadByNameInTheRequestedOrder) {
    const fs::path path = layers("a.exr");
    const ImageFile first = open_image(path);
    EXPECT_EQ(first.metadata().channels.size(), kLayers.size());
    EXPECT_EQ(first.metadata().channel_types, Names(kLayers.size(), "half"));
    EXPECT_TRUE(same_bytes(read_part(first), expected(first, {"R", "G", "B", "A"})));
    EXPECT_EQ(first.conversions(),
              Sentences{"Only 4 of 8 channels are read: R, G, B, A. ImageOptions::channels selects others."});
    for (const Names& names : {Names{"R", "G", "B", "Z"}, Names{"diffuse.R", "A"}, Names{"Z"},
                               Names{"A", "B", "G", "R"}, Names{"R", "R", "Z", "R"}}) {
        SCOPED_TRACE(names.back());
        const ImageFile image = open_image(path, {.channels = names});
        EXPECT_EQ(info(image.info().format).channels, names.size());
        EXPECT_TRUE(same_bytes(read_part(image), expected(image, names)));
        const Region region{{2, 1}, {5, 4}};
        Bytes part = read_part(image, {.region = region});
        const Bytes whole = read_part(image);
        const std::size_t texel = names.size() * 2;
        for (std::size_t y = 0; y < 4; ++y) {
            const auto row = std::span(whole).subspan(((y + 1) * kWidth + 2) * texel, 5 * texel);
            EXPECT_TRUE(same_bytes(std::span(part).subspan(y * 5 * texel, 5 * texel), row));
        }
    }
    EXPECT_EQ(open_image(path, {.channels = {"Z"}}).conversions(), Sentences{"Only 1 of 8 channels is read: Z."});
}

TEST_F(ChannelsTest, ThreeChannelsAreWidenedAndSavedAsThree) {
    const fs::path path = layers("a.exr");
    const ImageFile image = open_image(path, {.channels = {"diffuse.R", "diffuse.G", "diffuse.B"}});
    EXPECT_EQ(image.info().format, Format::rgba16_float);
    EXPECT_EQ(image.conversions().front(), "Three channels are widened to four, with alpha 1.");
    EXPECT_EQ(image.metadata().alpha, ImageAlpha::none);
    save(at("b.exr"), image);
    const ImageFile saved = open_image(at("b.exr"), {.channels = {"diffuse.R", "diffuse.G", "diffuse.B"}});
    EXPECT_EQ(saved.metadata().channels.size(), 3u);
    EXPECT_TRUE(same_bytes(read_part(saved), read_part(image)));
}

TEST_F(ChannelsTest, SavedFilesKeepTheNamesAndDepthIsNotAlpha) {
    const ImageFile image = open_image(layers("a.exr"), {.channels = {"R", "G", "B", "Z"}});
    EXPECT_EQ(image.metadata().alpha, ImageAlpha::none);
    save(at("b.exr"), image);
    const ImageFile saved = open_image(at("b.exr"));
    EXPECT_EQ(saved.metadata().channels, (Names{"R", "G", "B", "Z"}));
    EXPECT_EQ(saved.metadata().alpha, ImageAlpha::none);
    EXPECT_TRUE(same_bytes(read_part(saved), read_part(image)));
    save(at("c.exr"), open_image(at("a.exr"), {.channels = {"Z"}}));
    EXPECT_EQ(open_image(at("c.exr")).metadata().channels, Names{"Z"});
    EXPECT_EQ(open_image(at("a.exr"), {.channels = {"R", "A"}}).metadata().alpha, ImageAlpha::premultiplied);
    EXPECT_EQ(open_image(at("a.exr"), {.channels = {"A", "R"}}).metadata().alpha, ImageAlpha::none);
}

// PNG is read in order: all channels are decoded together.
TEST_F(ChannelsTest, ChannelsCanBeIndicesAndOtherKindsOfFileHaveThemToo) {
    for (const std::string name : {"a.png", "a.tif"}) {
        SCOPED_TRACE(name);
        StoredImage stored = stored_image(kWidth, kHeight, 4, TypeDesc::UINT8, 5);
        stored.spec.attribute("oiio:ColorSpace", "sRGB");
        const fs::path path = store(at(name), {stored});
        const ImageFile swapped = open_image(path, {.channels = {"B", "G", "R", "A"}});
        EXPECT_TRUE(same_bytes(read_part(swapped), chosen(stored.levels[0], 4, 1, {2, 1, 0, 3})));
        EXPECT_EQ(swapped.conversions(), Sentences{"The channels are read in the order B, G, R, A."});
        EXPECT_TRUE(
            same_bytes(read_part(open_image(path, {.channels = {"2", "0"}})), chosen(stored.levels[0], 4, 1, {2, 0})));
        const ImageFile colors = open_image(path, {.channels = {"R", "G", "B"}});
        const Bytes texels = read_part(colors);
        EXPECT_TRUE(same_bytes(chosen(texels, 4, 1, {0, 1, 2}), chosen(stored.levels[0], 4, 1, {0, 1, 2})));
        EXPECT_TRUE(test::all_bytes(chosen(texels, 4, 1, {3}), 255));
        const ImageFile alpha = open_image(path, {.channels = {"A"}});
        EXPECT_EQ(alpha.info().format, Format::r8_unorm) << "alpha is not sRGB-encoded";
        EXPECT_TRUE(same_bytes(read_part(alpha), chosen(stored.levels[0], 4, 1, {3})));
        if (path.extension() == ".png") {
            EXPECT_EQ(open_image(path, {.channels = {"R"}}).info().format, Format::r8_srgb);
        }
    }
}

TEST_F(ChannelsTest, TexelsHaveTheTypeOfTheirChannels) {
    const fs::path path = at("a.exr");
    OIIO::ImageSpec spec(4, 3, 2, TypeDesc::FLOAT);
    spec.channelnames = {"R", "Z"};
    spec.channelformats = {TypeDesc::HALF, TypeDesc::FLOAT};
    const std::vector<float> texels(24, 0.1f);
    const auto out = OIIO::ImageOutput::create(path.string());
    ASSERT_TRUE(out && out->open(path.string(), spec) && out->write_image(TypeDesc::FLOAT, texels.data()) &&
                out->close());
    EXPECT_EQ(open_image(path).metadata().channel_types, (Names{"half", "float"}));
    EXPECT_EQ(open_image(path).info().format, Format::rg32_float);
    EXPECT_EQ(open_image(path, {.channels = {"R"}}).info().format, Format::r16_float);
    EXPECT_EQ(open_image(path, {.channels = {"Z"}}).info().format, Format::r32_float);
}

TEST_F(ChannelsTest, ChannelsOfDdsFilesAreChosenUnlessTheyAreBlocks) {
    const StoredImage stored = stored_image(kWidth, kHeight, 4, TypeDesc::UINT8, 5);
    save(at("a.dds"), open_image(store(at("a.png"), {stored}), {.color = ImageColor::linear}));
    const ImageFile image = open_image(at("a.dds"), {.channels = {"G", "A"}});
    EXPECT_EQ(image.info().format, Format::rg8_unorm);
    EXPECT_TRUE(same_bytes(read_part(image), chosen(stored.levels[0], 4, 1, {1, 3})));
    EXPECT_EQ(open_image(at("a.dds")).metadata().read_channels, (Names{"R", "G", "B", "A"}));
    const fs::path blocks = fs::path(test::configured_path("TEXTON_TEST_ASSETS", TEXTON_TEST_ASSETS)) / "bc7.dds";
    test::expect_error([&] { (void)open_image(blocks, {.channels = {"R"}}); }, ErrorCode::unsupported,
                       "texton::open_image", {"bc7.dds", "bc7"});
}

TEST_F(ChannelsTest, ChannelsThatDoNotExistAreRefusedWithTheNamesThatDo) {
    const fs::path path = layers("a.exr");
    const auto refused = [&](const Names& channels, ErrorCode code, std::initializer_list<std::string_view> fragments) {
        for (const bool isolated : {false, true}) {
            test::expect_error([&] { (void)open_image(path, {.channels = channels}, {.isolated = isolated}); }, code,
                               "texton::open_image", fragments);
        }
    };
    setenv("TEXTON_READER", TEXTON_TEST_READER, 0);
    refused({"diffuse.r"}, ErrorCode::io,
            {"a.exr", "no channel 'diffuse.r'", "'Z'", "'diffuse.B'", "Did you mean 'diffuse.R'?"});
    refused({"diffuse"}, ErrorCode::io, {"no channel 'diffuse'", "a layer, whose channels are diffuse.R,diffuse."});
    refused({"8"}, ErrorCode::io, {"no channel '8'"});
    refused({"-1"}, ErrorCode::io, {"no channel '-1'"});
    refused({""}, ErrorCode::io, {"no channel ''"});
    refused({"R", "G", "B", "A", "Z"}, ErrorCode::bad_argument, {"5 channels", "at most 4"});
}

// A gray image is small, so that the file could not contain four different channels.
TEST_F(ChannelsTest, ARepeatedChannelCountsOnceForTheLimitsOfAReader) {
    setenv("TEXTON_READER", TEXTON_TEST_READER, 0);
    const StoredImage stored = stored_image(300, 200, 1, TypeDesc::UINT16, 7);
    for (const char* name : {"a.fits", "a.dpx", "a.tif"}) {
        SCOPED_TRACE(name);
        const fs::path path = store(at(name), {stored});
        const ImageFile image = open_image(path, {.channels = {"0", "0", "0", "0"}}, {.isolated = true});
        EXPECT_TRUE(same_bytes(chosen(read_part(image), 4, 2, {3}), read_part(open_image(path))));
    }
}

}  // namespace
}  // namespace texton

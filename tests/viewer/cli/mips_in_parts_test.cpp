// texton mips --memory: the files are those of texton mips.
#include <filesystem>

#include <gmock/gmock.h>

#include <texton/image_file.h>
#include <texton/image_save.h>

#include "tests/support/command_line.h"
#include "tests/support/texels.h"
#include "viewer/model/host_image.h"
#include "viewer/verify/pattern.h"

namespace texton {
namespace {

using test::Bytes;
using test::Ended;
using testing::HasSubstr;

class CliMipsInPartsTest : public test::CommandLine {
protected:
    void SetUp() override {
        CommandLine::SetUp();
        const Bytes texels = test::pattern(packed_bytes(Format::rgba8_unorm, {1100, 900}), 7);
        save(at("a.tif"), host_view(texels.data(), Format::rgba8_unorm, {1100, 900}), {.tile = Extent{128, 128}});
    }
};

TEST_F(CliMipsInPartsTest, FilesOfEveryKindHaveTheLevelsOfTheImageInMemory) {
    for (const std::string ending : {".tif", ".exr", ".dds"}) {
        const std::string more = ending == ".exr" ? " --format rgba16_float" : "";
        const std::string file = ending == ".exr" ? "half.exr" : "a.tif";
        if (ending == ".exr") {
            ASSERT_EQ(run("convert a.tif half.exr" + more).status, 0);
        }
        const Ended whole = run("mips " + file + " whole" + ending + " --device cpu --filter kaiser");
        ASSERT_EQ(whole.status, 0) << whole.err;
        const Ended parts = run("mips " + file + " parts" + ending + " --filter kaiser --memory 4MiB");
        ASSERT_EQ(parts.status, 0) << parts.err;
        EXPECT_EQ(parts.out, "parts" + whole.out.substr(whole.out.find('.')));
        const verify::HostArray expected = verify::read_array(open_image(at("whole" + ending)));
        const verify::HostArray found = verify::read_array(open_image(at("parts" + ending)));
        EXPECT_EQ(found.info, expected.info);
        ASSERT_EQ(found.levels.size(), 11u);
        for (std::size_t i = 0; i < found.levels.size(); ++i)
            EXPECT_TRUE(found.levels[i].texels == expected.levels[i].texels) << ending << ", level " << i;
    }
}

TEST_F(CliMipsInPartsTest, PatternsAreDrawnInsteadOfReadingAFile) {
    const Ended parts = run("mips --pattern smooth:700x500:3 parts.tif --format rg8_unorm --memory 4MiB");
    ASSERT_EQ(parts.status, 0) << parts.err;
    EXPECT_EQ(parts.out, "parts.tif: 700 x 500 of rg8_unorm, array_2d, 10 levels\n");
    ASSERT_EQ(run("mips --pattern smooth:700x500:3 whole.tif --format rg8_unorm --device cpu").status, 0);
    const verify::HostArray expected = verify::read_array(open_image(at("whole.tif")));
    const verify::HostArray found = verify::read_array(open_image(at("parts.tif")));
    ASSERT_EQ(found.levels.size(), 10u);
    for (std::size_t i = 0; i < found.levels.size(); ++i)
        EXPECT_TRUE(found.levels[i].texels == expected.levels[i].texels) << "level " << i;
    const verify::HostArray drawn = verify::draw({.kind = verify::PatternKind::smooth, .seed = 3},
                                                 {.format = Format::rg8_unorm, .extent = {700, 500}});
    EXPECT_TRUE(found.levels[0].texels == drawn.levels[0].texels);
    EXPECT_THAT(run("mips --pattern smooth:70 b.tif").err, HasSubstr("has no size"));
    EXPECT_THAT(run("mips --pattern smooth:7x7 a.tif b.tif").err, HasSubstr("--pattern excludes IN"));
    EXPECT_THAT(run("mips --pattern smooth:7x7").err, HasSubstr("OUT is required"));
}

TEST_F(CliMipsInPartsTest, WrongArgumentsAreRefusedBeforeLevelsAreComputed) {
    const auto refused = [&](const std::string& arguments, const std::string& fragment) {
        const Ended ended = run("mips a.tif " + arguments);
        EXPECT_EQ(ended.status, 2) << arguments;
        EXPECT_THAT(ended.err, HasSubstr(fragment));
    };
    refused("b.png --memory 1GiB", "cannot hold levels");
    refused("b.tif --memory 12parsecs", "12parsecs");
    refused("b.tif --memory 1KiB", "--memory");
    refused("none/b.tif --memory 1GiB", "none");
    EXPECT_FALSE(std::filesystem::exists(at("b.tif")));
}

}  // namespace
}  // namespace texton

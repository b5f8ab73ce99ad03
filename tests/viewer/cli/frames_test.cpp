// Video files, numbered files and channels in the commands of texton, run through a shell.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <texton/frame_writer.h>
#include <texton/image.h>
#include <texton/image_file.h>

#include "tests/support/command_line.h"
#include "tests/support/image_folder.h"

namespace texton {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::Bytes;
using test::Ended;
using test::read_part;
using test::same_bytes;
using testing::HasSubstr;
using testing::Not;

const fs::path kAssets = test::configured_path("TEXTON_TEST_ASSETS", TEXTON_TEST_ASSETS);

class CliFramesTest : public test::CommandLine {
protected:
    // Writes three frames of 12 x 8 texels, whose planes differ.
    Bytes clip(const std::string& name, std::size_t frame_bytes = 144) const {
        const Bytes bytes = test::pattern(3 * frame_bytes, 5);
        test::write_bytes(at(name), bytes);
        return bytes;
    }
    // Runs a command that must succeed.
    std::string good(const std::string& arguments) const {
        const Ended ended = run(arguments);
        EXPECT_EQ(ended.status, 0) << arguments << '\n' << ended.err;
        return ended.out;
    }
    std::string refused(const std::string& arguments) const {
        const Ended ended = run(arguments);
        EXPECT_EQ(ended.status, 2) << arguments << '\n' << ended.out;
        return ended.err;
    }
};

// --- frames ---

TEST_F(CliFramesTest, InfoDescribesVideoFiles) {
    clip("clip_12x8.yuv");
    const std::string text = good("info clip_12x8.yuv");
    EXPECT_THAT(text, HasSubstr("12 x 8 of nv12"));
    EXPECT_THAT(text, HasSubstr("it is read as 12x8:nv12, from its name"));
    EXPECT_THAT(text, HasSubstr("Only frame 0 of 3 frames is read."));
    EXPECT_THAT(good("info clip_12x8.yuv --frame 2"), HasSubstr("Only frame 2 of 3 frames is read."));
    clip("clip.bin");
    EXPECT_THAT(good("info clip.bin --raw 12x8:i420@1"), HasSubstr("Only frame 1 of 3 frames is read."));
    EXPECT_THAT(good("info clip.bin --raw 6x12 --format nv16 --frame 1"), HasSubstr("6 x 12 of nv16"));
    good("convert clip_12x8.yuv clip.y4m");
    const json out = json::parse(good("info clip.y4m --json"))["files"][0];
    EXPECT_EQ(out["file_kind"], "y4m");
    EXPECT_EQ(out["format"], "nv12");
    EXPECT_EQ(out["frames"], 3);
    clip("clip.yuv");
    EXPECT_THAT(refused("info clip.yuv"),
                HasSubstr("Use --raw 1920x1080:nv12, or a name like clip_1920x1080_nv12.yuv"));
    EXPECT_THAT(refused("info clip.yuv --raw 12by8"), HasSubstr("WIDTHxHEIGHT:FORMAT"));
    EXPECT_THAT(refused("info clip.yuv --raw 12x8:nv12 --format rgba8_unorm"), HasSubstr("texton run to_rgb"));
    EXPECT_THAT(refused("info clip_12x8.yuv --frame 3"), HasSubstr("has 3 frames"));
    EXPECT_THAT(refused("mips clip_12x8.yuv a.dds"), HasSubstr("texton run to_rgb"));
    EXPECT_THAT(refused("convert clip_12x8.yuv a.png"),
                testing::AllOf(HasSubstr("texton run to_rgb"), HasSubstr("write each plane with --plane")));
}

TEST_F(CliFramesTest, ConvertWritesAllFramesOrTheSelectedOne) {
    const Bytes bytes = clip("in_12x8_i420.yuv");
    EXPECT_THAT(good("convert in_12x8_i420.yuv clip.y4m"), HasSubstr("clip.y4m: 12 x 8 of nv12, array_2d, 3 frames"));
    good("convert clip.y4m back_12x8_i420.yuv");
    EXPECT_TRUE(same_bytes(test::file_bytes(at("back_12x8_i420.yuv")), bytes));
    EXPECT_EQ(json::parse(good("convert clip.y4m one_12x8_i420.yuv --frame 1 --json"))["frames"], 1);
    EXPECT_TRUE(same_bytes(test::file_bytes(at("one_12x8_i420.yuv")), std::span(bytes).subspan(144, 144)));
    good("convert in_12x8_i420.yuv one_12x8_i420.yuv --raw 12x8:i420@2");
    EXPECT_TRUE(same_bytes(test::file_bytes(at("one_12x8_i420.yuv")), std::span(bytes).subspan(288)));
    good("convert clip.y4m clip.y4m");  // over itself
    EXPECT_EQ(run("compare clip.y4m in_12x8_i420.yuv").status, 0);
    EXPECT_THAT(refused("convert clip.y4m wrong_14x8.yuv"), HasSubstr("as its name says"));
}

TEST_F(CliFramesTest, CompareComparesAllPlanesOfAllFrames) {
    Bytes bytes = clip("a_12x8.yuv");
    bytes[2 * 144 + 100] ^= std::byte{1};  // chroma of the last frame
    test::write_bytes(at("b_12x8.yuv"), bytes);
    EXPECT_EQ(run("compare a_12x8.yuv a_12x8.yuv").status, 0);
    const Ended result = run("compare a_12x8.yuv b_12x8.yuv");
    EXPECT_EQ(result.status, 1) << result.err;
    EXPECT_THAT(result.out, HasSubstr("frame 2, chroma"));
    EXPECT_EQ(run("compare a_12x8.yuv b_12x8.yuv --frame 1").status, 0);
    EXPECT_EQ(run("compare a_12x8.yuv b_12x8.yuv --frame 2").status, 1);
    EXPECT_EQ(run("compare a_12x8.yuv b_12x8.yuv --raw 12x8:nv12@2").status, 1);
    test::write_bytes(at("short_12x8.yuv"), std::span(bytes).first(144));
    EXPECT_THAT(refused("compare a_12x8.yuv short_12x8.yuv"), HasSubstr("6 images, 3 frames"));
}

TEST_F(CliFramesTest, ToRgbReadsWholeFrames) {
    for (const std::string format : {"nv12", "p010"}) {
        const std::string asset = (kAssets / (format + "_128x72.yuv")).string();
        EXPECT_THAT(good("run to_rgb " + asset + " -o a.png --device cpu"), HasSubstr("a.png: 128 x 72"));
        const Image image = read_image(at("a.png"));
        EXPECT_EQ(image.file_channels, 3) << "alpha is 1";
        EXPECT_EQ(image.format, format == "nv12" ? Format::rgba8_unorm : Format::rgba16_unorm);
    }
}

// The values of the header must be those of the parameters that give the same image.
TEST_F(CliFramesTest, HeadersOfY4mSetTheParametersOfToRgb) {
    const Bytes bytes = test::pattern(144, 5);
    const auto write = [&](const std::string& name, const std::string& header) {
        std::string text =
            header + "\nFRAME\n" + std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        test::write_bytes(at(name), std::as_bytes(std::span(text)));
    };
    write("plain.y4m", "YUV4MPEG2 W12 H8 C420mpeg2");
    write("full.y4m", "YUV4MPEG2 W12 H8 C420jpeg XCOLORRANGE=FULL");
    good("run to_rgb full.y4m -o a.png --device cpu");
    good("run to_rgb plain.y4m -o b.png --set siting=center --set range=full --device cpu");
    good("run to_rgb full.y4m -o c.png --set siting=left --set range=limited --device cpu");
    good("run to_rgb plain.y4m -o d.png --device cpu");
    EXPECT_EQ(run("compare a.png b.png").status, 0);
    EXPECT_EQ(run("compare c.png d.png").status, 0);
    EXPECT_EQ(run("compare a.png d.png").status, 1);
}

TEST_F(CliFramesTest, FromRgbWritesWholeFrames) {
    write_image(at("a.png"), Format::rgba8_unorm, {12, 8}, test::pattern(12 * 8 * 4, 3));
    EXPECT_THAT(good("run from_rgb a.png -o a.y4m --set siting=center --set range=full --device cpu"),
                HasSubstr("a.y4m: 12 x 8 of nv12"));
    const ImageFile image = open_image(at("a.y4m"));
    EXPECT_EQ(image.info(), (ArrayInfo{.format = Format::nv12, .extent = {12, 8}}));
    for (const ImageAttribute& attribute : image.metadata().attributes) {
        if (attribute.name == "chroma_siting") {
            EXPECT_EQ(attribute.value, "center");
        } else if (attribute.name == "code_range") {
            EXPECT_EQ(attribute.value, "full");
        }
    }
    good("run from_rgb a.png -o a_12x8.yuv --set siting=center --set range=full --device cpu");
    EXPECT_EQ(run("compare a.y4m a_12x8.yuv").status, 0);
    EXPECT_THAT(refused("run gaussian a.png -o a.y4m --device cpu"), HasSubstr("writes no frames"));
    EXPECT_THAT(refused("run gaussian a.y4m -o a.png --device cpu"), HasSubstr("gaussian cannot read planar images"));
}

TEST_F(CliFramesTest, SequencesAreConvertedFrameByFrame) {
    clip("clip_12x8.yuv");
    const json out = json::parse(good("run to_rgb clip_12x8.yuv -o frame_%03d.png --device cpu --json"));
    EXPECT_EQ(out["frames"], 3);
    EXPECT_EQ(out["files"], (json{"frame_000.png", "frame_001.png", "frame_002.png"}));
    for (const char* frame : {"0", "1", "2"}) {
        good(std::string("run to_rgb clip_12x8.yuv -o one.png --device cpu --frame ") + frame);
        EXPECT_EQ(run(std::string("compare one.png frame_00") + frame + ".png").status, 0);
    }
    EXPECT_THAT(good("run to_rgb clip_12x8.yuv -o one.png --device cpu"),
                HasSubstr("Only frame 0 of 3 frames is read."));
    EXPECT_EQ(run("compare one.png frame_000.png").status, 0);

    EXPECT_THAT(good("run from_rgb frame_%03d.png -o back.y4m --device cpu"), HasSubstr("3 frames"));
    EXPECT_EQ(open_image(at("back.y4m")).metadata().frames, 3U);
    good("run from_rgb frame_001.png -o single.y4m --device cpu");
    good("convert back.y4m second.y4m --frame 1");
    EXPECT_EQ(run("compare single.y4m second.y4m").status, 0);

    for (const char* number : {"7", "8"}) good(std::string("convert frame_001.png in_") + number + ".png");
    good("run gaussian in_%d.png -o out_%02d.png --device cpu");
    EXPECT_TRUE(fs::exists(at("out_07.png")) && fs::exists(at("out_08.png"))) << "files keep their numbers";
    EXPECT_EQ(run("compare out_07.png out_08.png").status, 0);
}

TEST_F(CliFramesTest, SequencesThatDoNotFitAreRefused) {
    const Bytes texels = test::pattern(12 * 8 * 4, 3);
    for (const char* name : {"in_0.png", "in_1.png", "gap_0.png", "gap_2.png"})
        write_image(at(name), Format::rgba8_unorm, {12, 8}, texels);
    EXPECT_THAT(refused("run gaussian in_%d.png -o a.png --device cpu"), HasSubstr("stands for 2 files"));
    EXPECT_THAT(refused("run gaussian gap_%d.png -o out_%d.png --device cpu"), HasSubstr("gap_1.png is missing"));
    EXPECT_THAT(refused("run gaussian none_%d.png -o out_%d.png --device cpu"), HasSubstr("stands for no file"));
    write_image(at("in_2.png"), Format::rgba8_unorm, {14, 8}, test::pattern(14 * 8 * 4, 3));
    EXPECT_THAT(refused("run from_rgb in_%d.png -o a.y4m --device cpu"), HasSubstr("14 x 8"));
    EXPECT_FALSE(fs::exists(at("a.y4m")));
}

TEST_F(CliFramesTest, ConvertReadsNumberedFilesAsSeveralInputFiles) {
    Bytes all;
    for (const char* number : {"3", "4", "5"}) {
        const Bytes texels = test::pattern(12 * 8 * 4, static_cast<unsigned>(number[0]));
        write_image(at(std::string("in_0") + number + ".png"), Format::rgba8_unorm, {12, 8}, texels);
        all.insert(all.end(), texels.begin(), texels.end());
    }
    EXPECT_THAT(good("convert in_%02d.png layers.dds --format rgba8_unorm"), HasSubstr("layered_2d"));
    EXPECT_TRUE(same_bytes(read_part(open_image(at("layers.dds"))), all));
    good("convert in_%02d.png volume.dds --kind array_3d");
    EXPECT_EQ(open_image(at("volume.dds")).info().extent, (Extent{12, 8, 3}));
    good("convert in_03.png in_%02d.png four.dds");
    EXPECT_EQ(open_image(at("four.dds")).info().layers, 4U);
    EXPECT_THAT(refused("convert none_%d.png a.dds"), HasSubstr("stands for no file"));
    fs::remove(at("in_04.png"));
    EXPECT_THAT(refused("convert in_%02d.png a.dds"), HasSubstr("in_04.png is missing"));
    EXPECT_FALSE(fs::exists(at("a.dds")));
}

TEST_F(CliFramesTest, ConvertWritesEachOfNumberedFilesToAFileWithItsNumber) {
    for (const char* number : {"7", "8"})
        write_image(at(std::string("in_") + number + ".png"), Format::rgba8_unorm, {12, 8},
                    test::pattern(12 * 8 * 4, static_cast<unsigned>(number[0])));
    EXPECT_THAT(good("convert in_%d.png out_%03d.ktx2"), HasSubstr("out_007.ktx2 to out_008.ktx2: 12 x 8"));
    for (const char* number : {"7", "8"})
        EXPECT_EQ(run(std::string("compare in_") + number + ".png out_00" + number + ".ktx2").status, 0);
    const json out = json::parse(good("convert in_%d.png out_%03d.dds --json"));
    EXPECT_EQ(out["frames"], 2);
    EXPECT_EQ(out["files"], (json{"out_007.dds", "out_008.dds"}));
    good("convert in_7.png one_%d.dds");
    EXPECT_TRUE(fs::exists(at("one_0.dds")));
    EXPECT_THAT(refused("convert in_7.png in_8.png out_%d.dds"), HasSubstr("2 inputs were named"));
    const std::string text = good("info in_%d.png");
    EXPECT_THAT(text, HasSubstr("in_7.png: 12 x 8"));
    EXPECT_THAT(text, HasSubstr("in_8.png: 12 x 8"));
    EXPECT_THAT(good("stats in_%d.png --device cpu"), HasSubstr("in_8.png: 12 x 8"));
    const Ended partly = run("info none_%d.png in_7.png");
    EXPECT_EQ(partly.status, 2);
    EXPECT_THAT(partly.err, HasSubstr("texton info: none_%d.png stands for no file"));
    EXPECT_THAT(partly.out, HasSubstr("in_7.png: 12 x 8"));
}

TEST_F(CliFramesTest, ConvertWritesEachLayerSliceOrFaceOfAnImageToAFileWithItsNumber) {
    struct Row {
        const char* kind;
        const char* ending;
        int files;
    };
    for (const Row& row : {Row{"layered_2d", "tif", 12}, Row{"array_3d", "png", 12}, Row{"cubemap", "dds", 6},
                           Row{"cubemap_layered", "tif", 12}}) {
        SCOPED_TRACE(row.kind);
        const auto colors = [&](int i) { return test::pattern(8 * 8 * 4, static_cast<unsigned>(i)); };
        std::string names;
        for (int i = 0; i < row.files; ++i) {
            const std::string name = "in_" + std::to_string(i) + ".png";
            names += name + ' ';
            write_image(at(name), Format::rgba8_srgb, {8, 8}, colors(i));
        }
        good("convert " + names + "whole.dds --kind " + row.kind);
        const std::string ending = row.ending;
        const json seen = json::parse(good("convert whole.dds out_%02d." + ending + " --json"));
        EXPECT_EQ(seen["files"].size(), static_cast<std::size_t>(row.files));
        EXPECT_EQ(seen["frames"], 1);
        EXPECT_THAT(good("convert whole.dds out_%02d." + ending),
                    HasSubstr("8 x 8 of rgba8_srgb, array_2d, " + std::to_string(row.files) + " files"));
        for (int i = 0; i < row.files; ++i) {
            const ImageFile part = open_image(at((i < 10 ? "out_0" : "out_") + std::to_string(i) + "." + ending));
            EXPECT_EQ(part.info().kind, ArrayKind::array_2d);
            EXPECT_TRUE(same_bytes(read_part(part), colors(i))) << i;
        }
    }
    // One layer or face that is selected is one file.
    EXPECT_EQ(json::parse(good("convert whole.dds one_%d.png --layer 1 --face 2 --json"))["path"], "one_%d.png");
    EXPECT_TRUE(fs::exists(at("one_0.png")));
    EXPECT_FALSE(fs::exists(at("one_1.png")));
}

TEST_F(CliFramesTest, ConvertWritesFramesToNumberedFilesAndBack) {
    const Bytes bytes = clip("clip_12x8.yuv");
    good("convert clip_12x8.yuv frame_%02d.y4m");
    EXPECT_FALSE(fs::exists(at("frame_03.y4m")));
    EXPECT_THAT(good("convert frame_%02d.y4m back_12x8.yuv"), HasSubstr("3 frames"));
    EXPECT_TRUE(same_bytes(test::file_bytes(at("back_12x8.yuv")), bytes));
    good("convert clip_12x8.yuv one_%d.y4m --frame 1");
    EXPECT_FALSE(fs::exists(at("one_1.y4m")));
    EXPECT_EQ(run("compare one_0.y4m frame_01.y4m").status, 0);
}

TEST_F(CliFramesTest, MipsWritesTheLevelsOfEachOfNumberedFiles) {
    for (const char* number : {"7", "8"})
        write_image(at(std::string("in_") + number + ".png"), Format::rgba8_unorm, {12, 8},
                    test::pattern(12 * 8 * 4, static_cast<unsigned>(number[0])));
    EXPECT_THAT(good("mips in_%d.png out_%03d.dds --device cpu"),
                testing::AllOf(HasSubstr("out_007.dds: 12 x 8 of rgba8_srgb, array_2d, 4 levels\n"),
                               HasSubstr("out_008.dds: 12 x 8 of rgba8_srgb, array_2d, 4 levels\n")));
    for (const char* number : {"7", "8"}) {
        good(std::string("mips in_") + number + ".png one.dds --device cpu");
        EXPECT_TRUE(
            same_bytes(test::file_bytes(at("one.dds")), test::file_bytes(at(std::string("out_00") + number + ".dds"))));
    }
    const json out = json::parse(good("mips in_%d.png out_%03d.ktx2 --device cpu --json"));
    EXPECT_EQ(out["files"], (json{"out_007.ktx2", "out_008.ktx2"}));
    EXPECT_EQ(out["levels"], 4);
    EXPECT_THAT(refused("mips in_%d.png one.dds --device cpu"),
                testing::AllOf(HasSubstr("in_%d.png stands for 2 files, but OUT for one"), HasSubstr("out_%03d.dds")));
    EXPECT_THAT(refused("mips none_%d.png out_%d.dds --device cpu"), HasSubstr("stands for no file"));
    EXPECT_THAT(
        refused("mips in_7.png a.png --device cpu"),
        HasSubstr("a.png is of a kind that cannot hold levels. Use .dds, .ktx2, .tif or .exr. `texton run mips`"));
    good("mips in_7.png first_%d.dds --device cpu");
    EXPECT_TRUE(fs::exists(at("first_0.dds")));
}

// --- planes ---

TEST_F(CliFramesTest, ConvertWritesAPlane) {
    const Bytes bytes = clip("clip_12x8.yuv");
    const auto part = [&](std::size_t first, std::size_t count) {
        return Bytes(bytes.begin() + static_cast<std::ptrdiff_t>(first),
                     bytes.begin() + static_cast<std::ptrdiff_t>(first + count));
    };
    EXPECT_THAT(good("convert clip_12x8.yuv luma.png --plane 0"), HasSubstr("luma.png: 12 x 8 of r8_unorm"));
    EXPECT_TRUE(same_bytes(read_image(at("luma.png")).texels, part(0, 96)));
    EXPECT_THAT(good("convert clip_12x8.yuv chroma.dds --plane 1 --frame 2"), HasSubstr("6 x 4 of rg8_unorm"));
    EXPECT_TRUE(same_bytes(read_part(open_image(at("chroma.dds"))), part(2 * 144 + 96, 48)));

    good("convert clip_12x8.yuv clip.y4m");
    good("convert clip.y4m luma_%d.png --plane 0");
    for (std::size_t frame = 0; frame < 3; ++frame) {
        const Image image = read_image(at("luma_" + std::to_string(frame) + ".png"));
        EXPECT_TRUE(same_bytes(image.texels, part(144 * frame, 96)));
    }
    good("convert clip_12x8.yuv planes.dds --frame 1");
    good("convert planes.dds chroma.ktx2 --plane 1");
    EXPECT_TRUE(same_bytes(read_part(open_image(at("chroma.ktx2"))), part(144 + 96, 48)));

    clip("wide_12x8_p010.yuv", 288);
    EXPECT_THAT(good("convert wide_12x8_p010.yuv luma16.tif --plane 0"), HasSubstr("12 x 8 of r16_unorm"));
    EXPECT_THAT(good("convert wide_12x8_p010.yuv chroma16.dds --plane 1"), HasSubstr("6 x 4 of rg16_unorm"));
}

TEST_F(CliFramesTest, PlanesThatDoNotExistAreRefused) {
    clip("clip_12x8.yuv");
    EXPECT_THAT(refused("convert clip_12x8.yuv a.png --plane 2"), HasSubstr("plane 2"));
    EXPECT_THAT(refused("convert clip_12x8.yuv a.png --plane -1"), HasSubstr("plane"));
    EXPECT_THAT(refused("convert clip_12x8.yuv a.y4m --plane 0"), HasSubstr("a plane is not a frame"));
    write_image(at("in.png"), Format::rgba8_unorm, {12, 8}, test::pattern(12 * 8 * 4, 3));
    EXPECT_THAT(refused("convert in.png a.png --plane 0"),
                testing::AllOf(HasSubstr("in.png"), HasSubstr("Only planar images have planes")));
    EXPECT_FALSE(fs::exists(at("a.png")) || fs::exists(at("a.y4m")));
}

TEST_F(CliFramesTest, SuitesReadFramesPartsAndChannels) {
    clip("clip_12x8.yuv");
    clip("raw.bin");
    const auto write_suite = [&](const std::string& input) {
        const std::string text = R"({"cases": [{"name": "a", "kernel": "to_rgb", "input": )" + input + "}]}";
        test::write_bytes(at("suite.json"), std::as_bytes(std::span(text)));
    };
    write_suite(R"({"file": "clip_12x8.yuv", "frame": 1})");
    good("verify suite.json --update --yes --device cpu");
    write_suite(R"({"file": "raw.bin", "raw": "12x8:nv12@1"})");
    EXPECT_EQ(run("verify suite.json --device cpu").status, 0) << "the same frame";
    write_suite(R"({"file": "raw.bin", "raw": "12x8:nv12"})");
    EXPECT_EQ(run("verify suite.json --device cpu").status, 1) << "another frame";
    write_suite(R"({"file": "raw.bin", "raw": "12"})");
    EXPECT_THAT(refused("verify suite.json"), HasSubstr("WIDTHxHEIGHT:FORMAT"));
    write_suite(R"({"file": "raw.bin", "channels": []})");
    EXPECT_THAT(refused("verify suite.json"), HasSubstr("one to four names"));
}

// --- channels ---

class CliChannelsTest : public CliFramesTest {
protected:
    void SetUp() override {
        CliFramesTest::SetUp();
        test::StoredImage stored = test::stored_image(6, 4, 6, OIIO::TypeDesc::HALF, 3);
        stored.spec.channelnames = {"R", "G", "B", "A", "Z", "light.R"};
        stored.spec.alpha_channel = 3;
        test::store(at("layers.exr"), {stored});
    }
};

TEST_F(CliChannelsTest, CommandsSayWhichChannelsAreLeftOut) {
    constexpr const char* kNote = "Only 4 of 6 channels are read: R, G, B, A. --channels selects others.";
    EXPECT_THAT(good("info layers.exr"), HasSubstr(kNote));
    EXPECT_THAT(good("info layers.exr"), HasSubstr("R half, G half, B half, A half, Z half, light.R half"));
    const json out = json::parse(good("info layers.exr --json"))["files"][0];
    EXPECT_EQ(out["channels"].size(), 6U);
    EXPECT_EQ(out["channel_types"][5], "half");
    EXPECT_EQ(out["read_channels"], (json{"R", "G", "B", "A"}));
    EXPECT_EQ(out["conversions"], (json{kNote}));
    EXPECT_THAT(good("convert layers.exr a.exr"), HasSubstr(kNote));
    EXPECT_THAT(good("compare layers.exr layers.exr"), HasSubstr(kNote));
    EXPECT_THAT(good("run gaussian layers.exr -o a.exr --device cpu"), HasSubstr(kNote));
    EXPECT_THAT(good("mips layers.exr a.exr --device cpu"), HasSubstr(kNote));
    EXPECT_EQ(json::parse(good("run gaussian layers.exr -o a.exr --device cpu --json"))["notes"], (json{kNote}));
    write_image(at("plain.png"), Format::rgba8_unorm, {6, 4}, test::pattern(96, 1));
    EXPECT_THAT(good("run gaussian plain.png -o a.png --device cpu"), Not(HasSubstr("Only")));
}

TEST_F(CliChannelsTest, ChannelsAreChosenInEveryCommand) {
    good("convert layers.exr z.exr --channels Z");
    EXPECT_EQ(open_image(at("z.exr")).metadata().channels, std::vector<std::string>{"Z"});
    good("convert layers.exr rgb.exr --channels R,G,B");
    EXPECT_EQ(open_image(at("rgb.exr")).metadata().channels, (std::vector<std::string>{"R", "G", "B"}));
    good("convert layers.exr depth.exr --channels R,G,B,Z");
    EXPECT_EQ(open_image(at("depth.exr")).metadata().channels, (std::vector<std::string>{"R", "G", "B", "Z"}));
    good("convert layers.exr light.exr --channels light.R --channels 4");
    EXPECT_EQ(run("compare layers.exr z.exr --channels Z").status, 0);
    EXPECT_EQ(run("compare layers.exr depth.exr --channels R,G,B,Z").status, 0);
    EXPECT_EQ(run("compare layers.exr light.exr --channels light.R").status, 0);
    good("run gaussian layers.exr -o a.exr --channels Z --device cpu");
    good("run gaussian z.exr -o b.exr --device cpu");
    EXPECT_EQ(run("compare a.exr b.exr").status, 0);
    good("mips layers.exr a.exr --channels Z --device cpu");
    EXPECT_EQ(open_image(at("a.exr")).info().format, Format::r16_float);
    const std::string error = refused("convert layers.exr a.exr --channels lihgt.R");
    EXPECT_THAT(error, HasSubstr("no channel 'lihgt.R'"));
    EXPECT_THAT(error, HasSubstr("Did you mean 'light.R'?"));
    EXPECT_THAT(refused("info layers.exr --channels R,G,B,A,Z"), HasSubstr("at most 4"));
}

TEST_F(CliChannelsTest, CompareAndRunReadOnePart) {
    good("convert layers.exr layers.exr parts.exr --channels Z");
    good("convert layers.exr z.exr --channels Z");
    for (const char* part : {"1", "'part 1'"}) {
        EXPECT_EQ(run(std::string("compare parts.exr parts.exr --part ") + part).status, 0);
        good(std::string("run gaussian parts.exr -o a.exr --device cpu --kind array_2d --part ") + part);
        good("run gaussian z.exr -o b.exr --device cpu");
        EXPECT_EQ(run("compare a.exr b.exr").status, 0);
    }
    EXPECT_THAT(refused("compare parts.exr parts.exr --part 'part 7'"), HasSubstr("'part 0', 'part 1'"));
}

}  // namespace
}  // namespace texton

// Names of numbered files, and the frames that sources of a session read.
#include "viewer/model/numbered_paths.h"

#include <fstream>

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"
#include "viewer/model/document.h"
#include "viewer/model/frames.h"

namespace texton::viewer {
namespace {

namespace fs = std::filesystem;

class NumberedPathsTest : public testing::Test {
protected:
    void touch(std::initializer_list<const char*> names) const {
        for (const char* name : names) std::ofstream(folder_.at(name)) << "";
    }
    std::string name_of(const std::string& file) const {
        const std::optional<fs::path> name = numbered_name_of(folder_.at(file));
        if (!name) return "";
        EXPECT_EQ(name->parent_path(), folder_.path());
        return name->filename().string();
    }
    const test::ImageFolder folder_;
};

TEST_F(NumberedPathsTest, TheNameOfAFileStandsForTheFilesOfItsSequence) {
    touch({"frame_0998.png", "frame_0999.png", "frame_1000.png", "a1_9.exr", "a1_10.exr", "a2_3.exr", "shot_02_v1.tif",
           "shot_03_v1.tif", "7.png", "card.png", "100%_1.png"});
    EXPECT_EQ(name_of("frame_0999.png"), "frame_%04d.png");
    EXPECT_EQ(name_of("frame_1000.png"), "frame_%04d.png") << "the others begin with 0";
    EXPECT_EQ(name_of("a1_9.exr"), "a1_%d.exr");
    EXPECT_EQ(name_of("a1_10.exr"), "a1_%d.exr");
    EXPECT_EQ(name_of("shot_03_v1.tif"), "shot_%02d_v1.tif") << "the number that most files differ in";
    EXPECT_EQ(name_of("7.png"), "%d.png");
    EXPECT_EQ(name_of("card.png"), "");
    EXPECT_EQ(name_of("100%_1.png"), "") << "% has a meaning in names of numbered files";
    for (const char* file : {"frame_1000.png", "a1_9.exr", "7.png"}) {
        const std::vector<fs::path> files = named_files(folder_.at(name_of(file)));
        EXPECT_NE(std::ranges::find(files, folder_.at(file)), files.end()) << file;
    }
}

TEST_F(NumberedPathsTest, ASourceReadsTheFileOfItsFrame) {
    touch({"in_3.png", "in_4.png", "in_5.png"});
    Source source{.paths = {folder_.at("in_%d.png")}};
    source.options.frame = 1;
    source.options.part = 2;
    const FrameFiles files = files_of(source);
    EXPECT_EQ(files.frames, 3u);
    EXPECT_EQ(files.source.paths, std::vector{folder_.at("in_4.png")});
    EXPECT_EQ(files.source.options.frame, 0u);
    EXPECT_EQ(files.source.options.part, 2);
    source.options.frame = 3;
    (void)test::expect_error([&] { (void)files_of(source); }, ErrorCode::bad_argument, "texton::viewer",
                             {"frame 3", "stands for 3 files"});
    touch({"in_%d.png"});
    EXPECT_EQ(files_of(source).frames, 0u) << "a file has this name";
    EXPECT_EQ(files_of(source).source, source);
}

TEST_F(NumberedPathsTest, RawFramesInFilesOfTheirOwnAreCountedFromTheFirstFile) {
    Source source{.paths = {folder_.at("in_%d.yuv")}};
    source.options.raw = RawFrames{.format = Format::nv12, .extent = {16, 8}, .frame = 1};
    for (const int number : {0, 1})
        std::ofstream(folder_.at("in_" + std::to_string(number) + ".yuv"))
            << std::string(192, static_cast<char>(16 + number));
    const auto document = Document::open(source, Device::cpu());
    EXPECT_EQ(document->frames(), 2u);
    EXPECT_EQ(document->source(), source);
    EXPECT_EQ(document->title(), "in_1.yuv");
    EXPECT_EQ(document->texels({}, {0, 0, 1, 1}).at(0), std::byte{17});
}

}  // namespace
}  // namespace texton::viewer

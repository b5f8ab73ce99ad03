// texton batch --jpeg: how a batch decodes JPEG files.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>

#include <texton/device.h>
#include <texton/image.h>

#include "arrays/files/reduced_jpeg.h"
#include "tests/support/command_line.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

namespace fs = std::filesystem;
using test::Ended;
using testing::HasSubstr;

class CliBatchJpegTest : public test::CommandLine {
protected:
    void SetUp() override {
        CommandLine::SetUp();
        write("small.json", R"({"steps": [{"kernel": "resample", "size": [100, 75]}]})");
    }

    void write(const std::string& name, const std::string& contents) const { std::ofstream(at(name)) << contents; }

    // Writes STEM.png and STEM.jpg, which are smooth.
    void photo(const std::string& stem, Extent extent = {400, 300}) const {
        test::Bytes texels;
        for (std::size_t y = 0; y < extent.height; ++y) {
            for (std::size_t x = 0; x < extent.width; ++x) {
                const double phase = 5 * static_cast<double>(x) / static_cast<double>(extent.width) +
                                     4 * static_cast<double>(y) / static_cast<double>(extent.height);
                for (const double channel : {0, 1, 2})
                    texels.push_back(static_cast<std::byte>(128 + 64 * std::sin(phase + channel)));
                texels.push_back(std::byte{255});
            }
        }
        write_image(at(stem + ".png"), Format::rgba8_unorm, extent, texels);
        ASSERT_EQ(run("convert " + stem + ".png " + stem + ".jpg --drop-alpha").status, 0);
    }
    Ended batch(const std::string& arguments) const { return run("batch --device cpu " + arguments); }

    // Returns the largest difference of two images in codes, or 256 if they have other sizes.
    int difference(const std::string& first, const std::string& second) const {
        const Image a = read_image(at(first)), b = read_image(at(second));
        if (a.extent != b.extent || a.format != b.format) return 256;
        int largest = 0;
        for (std::size_t i = 0; i < a.texels.size(); ++i) {
            const int other = std::to_integer<int>(b.texels[i]);
            largest = std::max(largest, std::abs(std::to_integer<int>(a.texels[i]) - other));
        }
        return largest;
    }
};

class CliBatchShrinkTest : public CliBatchJpegTest {
protected:
    void SetUp() override {
        if (!detail::has_libjpeg()) GTEST_SKIP() << "This build lacks libjpeg";
        CliBatchJpegTest::SetUp();
    }
};

TEST_F(CliBatchShrinkTest, ASmoothImageIsThatOfFullDecodingWithinThreeCodes) {
    photo("a");
    photo("b", {1601, 1203});
    EXPECT_EQ(batch("small.json a.jpg b.jpg a.png -o 'full/{name}.png'").status, 0);
    const Ended shrunk = batch("small.json a.jpg b.jpg a.png -o 'shrunk/{name}.png' --jpeg shrink");
    EXPECT_EQ(shrunk.status, 0) << shrunk.err;
    for (const char* file : {"a.jpg.png", "b.jpg.png"}) {
        EXPECT_EQ(read_image(at(std::string("shrunk/") + file)).extent, (Extent{100, 75}));
        EXPECT_LE(difference(std::string("full/") + file, std::string("shrunk/") + file), 3) << file;
    }
    EXPECT_NE(text("shrunk/a.jpg.png"), text("full/a.jpg.png"));
    EXPECT_EQ(text("shrunk/a.png.png"), text("full/a.png.png")) << "only JPEG files are shrunk";
}

TEST_F(CliBatchShrinkTest, FilesAreDecodedInFullIfAPipelineDoesNotBeginWithALargeReduction) {
    photo("a");
    const char* const pipelines[] = {
        R"({"steps": [{"kernel": "resample", "size": [101, 75]}]})",
        R"({"steps": [{"kernel": "resample", "size": [10, 10], "parameters": {"crop": [8, 8, 64, 64]}}]})",
        R"({"steps": [{"kernel": "resample"}]})",
        R"({"steps": [{"kernel": "gaussian", "parameters": {"sigma": 1}}, {"kernel": "resample", "size": [100, 75]}]})"};
    for (const char* pipeline : pipelines) {
        write("other.json", pipeline);
        EXPECT_EQ(batch("other.json a.jpg -o full/a.png --journal full/journal").status, 0) << pipeline;
        EXPECT_EQ(batch("other.json a.jpg -o shrunk/a.png --journal shrunk/journal --jpeg shrink").status, 0);
        EXPECT_EQ(text("shrunk/a.png"), text("full/a.png")) << pipeline;
        fs::remove_all(at("full"));
        fs::remove_all(at("shrunk"));
    }
}

TEST_F(CliBatchShrinkTest, TheJournalOfAnotherDecodingIsRefused) {
    photo("a");
    EXPECT_EQ(batch("small.json a.jpg -o 'made/{stem}.png'").status, 0);
    const Ended other = batch("small.json a.jpg -o 'made/{stem}.png' --jpeg shrink");
    EXPECT_EQ(other.status, 2);
    EXPECT_THAT(other.err, HasSubstr("is the journal of another pipeline, other outputs or another --jpeg"));
    EXPECT_THAT(batch("small.json a.jpg -o 'made/{stem}.png' --jpeg full").out, HasSubstr("0 done, 1 done before"));
    const std::string shrink = "small.json a.jpg -o 'made/{stem}.png' --jpeg shrink --journal shrunk";
    EXPECT_THAT(batch(shrink + " --dry-run").out, HasSubstr("a.jpg: missing"));
    EXPECT_THAT(batch(shrink).out, HasSubstr("1 done, 0 done before"));
    EXPECT_THAT(batch(shrink).out, HasSubstr("0 done, 1 done before"));
    EXPECT_EQ(batch(shrink + " --dry-run").out, "");
}

TEST_F(CliBatchShrinkTest, ADamagedFileFailsAlone) {
    photo("a");
    photo("b");
    const std::string whole = text("a.jpg");
    write("a.jpg", whole.substr(0, whole.size() / 2));
    const Ended result = batch("small.json a.jpg b.jpg -o 'made/{stem}.png' --jpeg shrink");
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.out, HasSubstr("cannot be read completely"));
    EXPECT_THAT(result.out, HasSubstr("1 done, 0 done before, 1 failed"));
    EXPECT_TRUE(fs::exists(at("made/b.png")));
}

TEST_F(CliBatchShrinkTest, ShardsAndSlurmScriptsHaveTheOption) {
    photo("a");
    photo("b");
    const std::string inputs = "small.json a.jpg b.jpg --jpeg shrink ";
    EXPECT_EQ(batch(inputs + "-o 'whole/{stem}.png'").status, 0);
    for (const char* shard : {"0/2", "1/2"})
        EXPECT_EQ(batch(inputs + "-o 'shards/{stem}.png' --shard " + shard).status, 0);
    ASSERT_EQ(batch(inputs + "-o 'slurm/{stem}.png' --slurm job.sh --tasks 1").status, 0);
    EXPECT_EQ(shell("SLURM_ARRAY_TASK_ID=0 ./job.sh").status, 0);
    for (const std::string folder : {"shards", "slurm"}) {
        EXPECT_EQ(text(folder + "/a.png"), text("whole/a.png"));
        EXPECT_EQ(text(folder + "/b.png"), text("whole/b.png"));
    }
}

// Needs a GPU and nvJPEG.
class CliBatchNvjpegTest : public CliBatchJpegTest {
protected:
    void SetUp() override {
        if (!Device::why_no_cuda().empty()) GTEST_SKIP() << "no CUDA device: " << Device::why_no_cuda();
        CliBatchJpegTest::SetUp();
        photo("a");
        const Ended result = on_gpu("small.json a.jpg -o probe.png --journal probe --jpeg gpu");
        if (result.err.find("nvJPEG cannot be loaded") != std::string::npos) GTEST_SKIP() << result.err;
        ASSERT_EQ(result.status, 0) << result.err;
    }
    Ended on_gpu(const std::string& arguments) const { return run("batch --device cuda:0 " + arguments); }
};

// A file with an orientation is that of a photograph that was taken upright.
TEST_F(CliBatchNvjpegTest, ASmoothImageIsThatOfFullDecodingWithinFourCodes) {
    photo("b", {1601, 1203});
    std::string turned = text("b.jpg");
    turned.insert(2, std::string("\xff\xe1\0\x22"
                                 "Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0",
                                 36));
    write("turned.jpg", turned);
    ASSERT_EQ(run("convert a.jpg gray.jpg --channels 0").status, 0);
    write("whole.json", R"({"steps": [{"kernel": "resample"}]})");
    for (const char* pipeline : {"small.json", "whole.json"}) {
        const std::string inputs = std::string(pipeline) + " a.jpg b.jpg turned.jpg gray.jpg ";
        EXPECT_EQ(on_gpu(inputs + "-o 'full/{stem}.png'").status, 0);
        const Ended result = on_gpu(inputs + "-o 'gpu/{stem}.png' --jpeg gpu");
        EXPECT_EQ(result.status, 0) << result.out << result.err;
        for (const std::string name : {"a.png", "b.png", "turned.png", "gray.png"})
            EXPECT_LE(difference("full/" + name, "gpu/" + name), 4) << pipeline << ", " << name;
        fs::remove_all(at("full"));
        fs::remove_all(at("gpu"));
    }
}

TEST_F(CliBatchNvjpegTest, OtherKindsOfFileAndDamagedFilesAreReadAsInFullDecoding) {
    photo("b");
    const std::string whole = text("a.jpg");
    write("a.jpg", whole.substr(0, whole.size() / 2));
    EXPECT_EQ(on_gpu("small.json b.png -o 'full/{stem}.png'").status, 0);
    const Ended result = on_gpu("small.json a.jpg b.png -o 'gpu/{stem}.png' --jpeg gpu");
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.out, HasSubstr("cannot be read completely"));
    EXPECT_THAT(result.out, HasSubstr("1 done, 0 done before, 1 failed"));
    EXPECT_EQ(text("gpu/b.png"), text("full/b.png"));
}

TEST_F(CliBatchJpegTest, AGpuThatIsMissingIsReportedBeforeTheFirstImage) {
    photo("a");
    const std::string command = "small.json a.jpg -o 'made/{stem}.png' --jpeg gpu";
    const Ended cpu = batch(command);
    EXPECT_EQ(cpu.status, 2);
    EXPECT_THAT(cpu.err, HasSubstr("JPEG files cannot be decoded by a GPU, because the device is cpu"));
    EXPECT_EQ(batch(command + " --dry-run").status, 2);
    if (!Device::why_no_cuda().empty()) {
        const Ended any = run("batch " + command);
        EXPECT_EQ(any.status, 2);
        EXPECT_THAT(any.err, HasSubstr("JPEG files cannot be decoded by a GPU, because the device is"));
    }
    EXPECT_FALSE(fs::exists(at("made/a.png")));
}

TEST_F(CliBatchJpegTest, AnUnknownDecodingIsRefused) {
    const Ended result = batch("small.json a.jpg -o 'made/{stem}.png' --jpeg half");
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, HasSubstr("--jpeg"));
    EXPECT_THAT(result.err, HasSubstr("half not in {full,shrink,gpu}"));
    EXPECT_THAT(run("completion bash").out, HasSubstr("'batch --jpeg') COMPREPLY=($(compgen -W 'full shrink gpu'"));
}

TEST_F(CliBatchJpegTest, ABuildWithoutLibjpegRefusesToShrinkAndSaysSo) {
    if (detail::has_libjpeg()) GTEST_SKIP() << "This build has libjpeg";
    const Ended result = batch("small.json a.jpg -o 'made/{stem}.png' --jpeg shrink");
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, HasSubstr("lacks libjpeg"));
    EXPECT_THAT(result.err, HasSubstr("TEXTON_JPEG=ON"));
}

}  // namespace
}  // namespace texton

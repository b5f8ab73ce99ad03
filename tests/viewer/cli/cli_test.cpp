// The program texton, run through a shell.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <texton/device.h>
#include <texton/image.h>
#include <texton/recording.h>

#include "tests/support/command_line.h"

namespace texton {
namespace {

namespace fs = std::filesystem;
using test::Ended;

class CliTest : public test::CommandLine {
protected:
    /// Writes a recording of the model's results to `name`.
    Recording recorded(const std::string& name, std::uint64_t seed) const {
        Recording recording = random_recording(seed, {.points = 10});
        recording.results = replay(recording);
        write_recording(at(name), recording);
        return recording;
    }
};

TEST_F(CliTest, ReplayPrintsALineForEachRecordingAndATotal) {
    recorded("b.cap", 1);
    recorded("a.cap", 2);
    const Ended good = run("replay '" + folder().string() + "'");
    EXPECT_EQ(good.status, 0) << good.err;
    EXPECT_EQ(good.out, "a 10 10 0\nb 10 10 0\ntotal: 20 points, 20 equal, 2 of 2 files exact\n");
    // Changes one bit of one point.
    Recording wrong = recorded("c.cap", 3);
    wrong.results[4].channel[0] ^= 1;
    write_recording(at("c.cap"), wrong);
    const Ended different = run("replay '" + at("a.cap") + "' '" + at("c.cap") + "'");
    EXPECT_EQ(different.status, 1);
    EXPECT_EQ(different.out, "a 10 10 0\nc 10 9 1\ntotal: 20 points, 19 equal, 1 of 2 files exact\n");
}

TEST_F(CliTest, ReplayPrintsTheSameResultsAsJson) {
    recorded("a.cap", 2);
    const Ended result = run("replay --json '" + at("a.cap") + "'");
    EXPECT_EQ(result.status, 0) << result.err;
    const nlohmann::json expected = {{"files", {{{"name", "a"}, {"points", 10}, {"equal", 10}, {"max_ulp", 0}}}},
                                     {"total", {{"points", 10}, {"equal", 10}, {"files", 1}, {"exact", 1}}}};
    EXPECT_EQ(nlohmann::json::parse(result.out), expected);
}

TEST_F(CliTest, ReplayFetchesOnTheSelectedDevice) {
    recorded("a.cap", 2);
    const Ended result = run("replay --device cpu '" + at("a.cap") + "'");
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(run("replay --device tpu '" + at("a.cap") + "'").status, 2);
}

TEST_F(CliTest, DamagedRecordingIsNamedAndOtherRecordingsAreReplayed) {
    recorded("a.cap", 2);
    std::ofstream(at("broken.cap")) << "no recording";
    const Ended result = run("replay '" + folder().string() + "'");
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.out, "a 10 10 0\ntotal: 10 points, 10 equal, 1 of 1 files exact\n");
    EXPECT_NE(result.err.find("broken.cap"), std::string::npos) << result.err;
    const Ended gone = run("replay '" + at("gone.cap") + "'");
    EXPECT_EQ(gone.status, 2);
    EXPECT_NE(gone.err.find("gone.cap"), std::string::npos) << gone.err;
    fs::create_directories(at("empty"));
    EXPECT_EQ(run("replay '" + at("empty") + "'").status, 2);
}

TEST_F(CliTest, InvalidCommandsAndOptionsAreRefusedWithAMessage) {
    for (const char* wrong : {"", "recordings", "replay", "replay --fast x.cap", "record"}) {
        const Ended result = run(wrong);
        EXPECT_EQ(result.status, 2) << wrong;
        EXPECT_FALSE(result.err.empty()) << wrong;
    }
    EXPECT_NE(run("rotate").err.find("unknown command 'rotate'. Run"), std::string::npos);
    EXPECT_NE(run("convrt").err.find("unknown command 'convrt'. Did you mean 'convert'?"), std::string::npos);
    EXPECT_NE(run("info --jsn a.png").err.find("Did you mean '--json'?"), std::string::npos);
    EXPECT_NE(run("convert a.png b.png --format rgba8unorm").err.find("for example rgba8_unorm."), std::string::npos);
    EXPECT_NE(run("convert a.png b.png --format bc7unorm").err.find("for example bc7_unorm."), std::string::npos);
    EXPECT_NE(run("gaussian").err.find("Kernels are run by `texton run KERNEL`."), std::string::npos);
    EXPECT_NE(run("run gausian a.png -o b.png").err.find("Did you mean 'gaussian'? `texton run --list`"),
              std::string::npos);
    EXPECT_NE(run("run blur a.png -o b.png").err.find("Did you mean bilateral, gaussian, unsharp? "),
              std::string::npos);
    EXPECT_NE(run("convert a.png b.png --format bc7").err.find("for example bc7_unorm, bc7_srgb."), std::string::npos);
    const Ended help = run("--help");
    EXPECT_EQ(help.status, 0);
    EXPECT_NE(help.out.find("replay"), std::string::npos);
    EXPECT_EQ(run("help").out, help.out);
    EXPECT_EQ(run("help info").out, run("info --help").out);
    EXPECT_EQ(run("help run gaussian").out, run("run gaussian --help").out);
    EXPECT_NE(run("help convrt").err.find("unknown command 'convrt'. Did you mean 'convert'?"), std::string::npos);
}

TEST_F(CliTest, RefusalIsOneLineWithCommandLineTerms) {
    std::ofstream(at("empty.png"));
    std::ofstream(at("notes.txt")) << "no image\n";
    fs::create_directories(at("folder"));
    write_image(at("a.png"), Format::r8_unorm, {2, 2}, std::vector<std::byte>(4));
    struct Row {
        const char* arguments;
        const char* said;
    };
    const Row rows[] = {
        {"", "texton: no command was given."},
        {"--fast", "texton: unknown option '--fast'."},
        {"rotate", "texton: unknown command 'rotate'."},
        {"info", "texton info: FILE is required. Run `texton info --help` for more information."},
        {"info --fast a.png", "texton info: The following argument was not expected: --fast. "},
        {"compare --fast slow a.png b.png --slow",
         "texton compare: The following arguments were not expected: --fast --slow. "},
        {"compare a.png b.png c.png d.png", "texton compare: The following arguments were not expected: c.png d.png. "},
        {"info gone.png", "texton info: gone.png does not exist. "},
        {"info empty.png", "texton info: empty.png is empty. "},
        {"info notes.txt", "texton info: notes.txt is of no kind that OpenImageIO reads"},
        {"info folder", "texton info: folder is a folder. "},
        {"info --layer diffuse a.png",
         "texton info: --layer: 'diffuse' is not a number that it takes. Run `texton info"},
        {"run gaussian a.png -o o.png --part 0 --frame one",
         "texton run: --frame: 'one' is not a number that it takes."},
        {"info --levels -1 empty.png", "texton info: --levels: '-1' is not a number of at least 0. "},
        {"run gaussian empty.png -o o.png --format round", "texton run: --format: 'round' is not a format. "},
        {"run gaussian empty.png -o o.png --size 0x5", "texton run: --size: '0x5' is not a size. "},
        {"run gaussian a.png -o o.png --set radius=9999", "texton run: radius is 9999. Use 0 to 127."},
        {"run gaussian empty.png -o o.png --device cpu:7", "texton run: 'cpu:7': device 7 was requested, "},
        {"run zoom empty.png -o o.png", "texton run: there is no kernel 'zoom'. "},
        {"run gaussian empty.png notes.txt -o o.png", "texton run: gaussian needs 1 input file, but 2 were given. "},
        {"verify notes.txt --jobs 0", "texton verify: --jobs: '0' is not a number of at least 1. "},
        {"verify gone.json", "texton verify: gone.json cannot be read: No such file or directory. "},
        {"replay gone.cap", "texton replay: gone.cap: the file cannot be opened. "},
    };
    for (const Row& row : rows) {
        const Ended refused = run(row.arguments);
        EXPECT_EQ(refused.status, 2) << row.arguments;
        EXPECT_TRUE(refused.err.starts_with(row.said)) << row.arguments << ": " << refused.err;
        EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1) << refused.err;
    }
}

TEST_F(CliTest, AConversionThatRequestsLevelsOfAnImageWithoutThemNamesTheCommandThatComputesThem) {
    write_image(at("a.png"), Format::rgba8_unorm, {4, 4}, std::vector<std::byte>(64));
    EXPECT_NE(run("convert a.png a.dds --levels 3").out.find("`texton mips` computes"), std::string::npos);
    EXPECT_EQ(run("convert a.png a.dds --levels 1").out.find("texton mips"), std::string::npos);
    EXPECT_EQ(run("mips a.png levels.dds").status, 0);
    EXPECT_EQ(run("convert levels.dds b.dds --levels 2").out.find("texton mips"), std::string::npos);
}

TEST_F(CliTest, AConversionOfACubemapSaysHowItsFacesAreWritten) {
    write_image(at("cross.png"), Format::rgba8_unorm, {16, 12}, std::vector<std::byte>(16 * 12 * 4));
    EXPECT_EQ(run("convert cross.png cube.dds --kind cubemap").out.find("are written as"), std::string::npos);
    EXPECT_NE(run("convert cube.dds a.png").out.find("The faces are written as vertical_strip."), std::string::npos);
    EXPECT_NE(run("convert cube.dds a.png --cube-out horizontal_cross").out.find("as horizontal_cross."),
              std::string::npos);
}

TEST_F(CliTest, CaptureRequiresAGpuAndReportsThis) {
    const Ended cpu = run("record --device cpu --random 1 '" + at("new") + "'");
    EXPECT_EQ(cpu.status, 2);
    EXPECT_NE(cpu.err.find("GPU"), std::string::npos) << cpu.err;
    EXPECT_EQ(run("record '" + at("new") + "'").status, 2);
    EXPECT_EQ(run("record --random 1 --kind round '" + at("new") + "'").status, 2);
    EXPECT_FALSE(fs::exists(at("new")));
}

TEST_F(CliTest, GpuRecordingIsReplayedExactlyOnTheSameGpu) {
    if (!Device::why_no_cuda().empty()) GTEST_SKIP() << "no CUDA device: " << Device::why_no_cuda();
    const std::string folder = at("new");
    const Ended recorded = run("record --random 5 --seed 40 --points 100 '" + folder + "'");
    ASSERT_EQ(recorded.status, 0) << recorded.err;
    EXPECT_EQ(read_recording(fs::path(folder) / "random_44.cap").points.size(), 100U);
    EXPECT_EQ(run("replay --device cuda '" + folder + "'").status, 0);
    const Ended again = run("record '" + at("again") + "' --like '" + folder + "/random_40.cap'");
    ASSERT_EQ(again.status, 0) << again.err;
    EXPECT_EQ(read_recording(fs::path(at("again")) / "random_40.cap").results,
              read_recording(fs::path(folder) / "random_40.cap").results);
    const Ended json = run("record --json --random 1 --format bc7_srgb --points 20 '" + folder + "'");
    ASSERT_EQ(json.status, 0) << json.err;
    const nlohmann::json files = nlohmann::json::parse(json.out)["files"];
    ASSERT_EQ(files.size(), 1U);
    EXPECT_EQ(files[0]["path"], folder + "/random_1.cap");
    EXPECT_EQ(files[0]["format"], "bc7_srgb");
    EXPECT_EQ(files[0]["points"], 20);
}

}  // namespace
}  // namespace texton

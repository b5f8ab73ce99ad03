// The progress that commands show on standard error.
#include <algorithm>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <texton/image.h>
#include <texton/recording.h>

#include "tests/support/command_line.h"
#include "tests/support/image_folder.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using nlohmann::json;
using test::Ended;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class CliProgressTest : public test::CommandLine {
protected:
    void SetUp() override {
        CommandLine::SetUp();
        write_image(at("a.png"), Format::rgba8_unorm, {16, 8}, test::pattern(16 * 8 * 4, 3));
        test::write_bytes(at("clip_12x8_i420.yuv"), test::pattern(3 * 144, 5));
        Recording recording = random_recording(1, {.points = 10});
        recording.results = replay(recording);
        write_recording(at("a.cap"), recording);
        std::ofstream(at("s.json"))
            << R"({"cases": [{"name": "a", "kernel": "resample", "input": {"file": "a.png"}}]})";
    }
    // Runs a command on a terminal, which shows both of its outputs.
    Ended on_terminal(const std::string& arguments) const {
        return shell("script -qefc \"'" + kProgram + "' " + arguments + "\" /dev/null </dev/null");
    }
    static bool has_terminal() { return std::system("command -v script >/dev/null 2>&1") == 0; }

    // Measures 24 kernels, each for at least 0.1 seconds.
    inline static const std::string kLong = [] {
        std::string command = "bench ";
        for (int i = 0; i < 24; ++i) command += "gaussian ";
        return command + "--size 2048x2048 --device cpu --json ";
    }();
};

TEST_F(CliProgressTest, ProgressIsPrintedAsLinesByAllLongCommandsIfStandardErrorIsNoTerminal) {
    const std::pair<const char*, const char*> commands[] = {
        {"bench swizzle --size 8x8 --device cpu --json", "measuring:   0 %, 0 of 1 kernels"},
        {"compare a.png a.png --json", "comparing:   0 %, 0 of 1 images"},
        {"convert a.png c.png --json", "converting:   0 %, 0 bytes of 512 bytes"},
        {"convert clip_12x8_i420.yuv clip.y4m --json", "converting:   0 %, 0 of 3 frames"},
        {"info a.png a.png --json", "reading:   0 %, 0 of 2 files"},
        {"mips a.png c.dds --device cpu --json", "writing levels:   0 %, 0 bytes of 684 bytes"},
        {"replay a.cap --json", "replaying:   0 %, 0 of 1 files"},
        {"run to_rgb clip_12x8_i420.yuv -o frame_%d.png --device cpu --json", "computing:   0 %, 0 of 3 frames"},
        {"stats a.png a.png --device cpu --json", "reading:   0 %, 0 of 2 files"},
        {"verify s.json --device cpu --json", "verifying:   0 %, 0 of 1 cases"},
    };
    for (const auto& [command, line] : commands) {
        const Ended forced = run(std::string(command) + " --progress");
        EXPECT_TRUE(forced.err.starts_with(line) || forced.err.find(std::string("\n") + line) != std::string::npos)
            << command << ": " << forced.err;
        EXPECT_THAT(forced.err, Not(HasSubstr("\r"))) << command;
        EXPECT_FALSE(json::parse(forced.out, nullptr, false).is_discarded()) << command << ": " << forced.out;
        EXPECT_EQ(run(command).err, "") << command;
        EXPECT_EQ(run(std::string(command) + " --no-progress").err, "") << command;
    }
    EXPECT_EQ(run("info a.png --progress --no-progress").status, 2);
}

TEST_F(CliProgressTest, LongWorkPrintsTheRateAndTheTimeLeftAtMostOnceASecond) {
    const auto begin = std::chrono::steady_clock::now();
    const Ended ended = run(kLong + "--progress");
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.err,
                ContainsRegex("measuring: +[0-9]+ %, [0-9]+ of 24 kernels, [0-9.]+ kernels/s, 0:[0-9]+ left\n"));
    const auto lines = std::count(ended.err.begin(), ended.err.end(), '\n');
    EXPECT_GE(lines, 2) << ended.err;
    EXPECT_LE(static_cast<double>(lines), seconds + 1) << ended.err;
    EXPECT_EQ(json::parse(ended.out)["kernels"].size(), 24u);
}

TEST_F(CliProgressTest, ABarAppearsOnATerminalOnlyIfTheWorkIsLongOrItIsForced) {
    if (!has_terminal()) GTEST_SKIP() << "script, which makes a terminal, is not installed";
    const Ended quick = on_terminal("info a.png --json");
    EXPECT_EQ(quick.status, 0) << quick.out;
    EXPECT_THAT(quick.out, Not(HasSubstr("reading")));
    EXPECT_THAT(on_terminal("info a.png --json --progress").out,
                HasSubstr("\rreading [               ]   0 %, 0 of 1 files"));
    EXPECT_THAT(on_terminal(kLong).out,
                ContainsRegex("\rmeasuring \\[#+ *\\] +[0-9]+ %, [0-9]+ of 24 kernels, [0-9.]+ kern"));
    EXPECT_THAT(on_terminal(kLong + "--no-progress").out, Not(HasSubstr("measuring")));
}

TEST_F(CliProgressTest, TheBarIsErasedBeforeTextIsPrinted) {
    if (!has_terminal()) GTEST_SKIP() << "script, which makes a terminal, is not installed";
    const std::string shown = on_terminal("replay a.cap gone.cap --progress").out;
    for (const char* text : {"a 10 10 0", "texton replay: gone.cap", "total: "}) {
        const std::size_t at = shown.find(text);
        ASSERT_NE(at, std::string::npos) << shown;
        EXPECT_TRUE(at == 0 || shown[at - 1] == '\r' || shown[at - 1] == '\n') << shown;
    }
}

}  // namespace
}  // namespace texton

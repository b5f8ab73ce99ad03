// The program texton-view, run as a second process without a display.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include <texton/image.h>

#include "tests/support/configured_path.h"
#include "tests/support/on_every_device.h"
#include "tests/support/reader_processes.h"

namespace texton::viewer {
namespace {

namespace fs = std::filesystem;

const fs::path kCard = fs::path(test::configured_path("TEXTON_TEST_ASSETS", TEXTON_TEST_ASSETS)) / "card.png";

struct Ended {
    int status = -1;
    std::string out;
    std::string err;
};

class ViewerTest : public testing::Test {
protected:
    void SetUp() override {
        if (!fs::exists(kProgram)) GTEST_SKIP() << kProgram << " was not found";
        std::string name = (fs::temp_directory_path() / "texton-view-XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override {
        if (!folder_.empty()) fs::remove_all(folder_);
    }

    std::string at(const std::string& name) const { return (folder_ / name).string(); }

    Ended run(const std::string& arguments) const { return run_in(".", arguments); }
    // The working folder of the program is `folder`. Shell commands can follow the arguments.
    Ended run_in(const fs::path& folder, const std::string& arguments) const {
        const std::string command = "unset DISPLAY WAYLAND_DISPLAY; exec >'" + at("out") + "' 2>'" + at("err") +
                                    "'; cd '" + folder.string() + "'; QT_QPA_PLATFORM=offscreen '" + kProgram + "' " +
                                    arguments;
        const int status = std::system(command.c_str());
        const auto text = [&](const std::string& name) {
            std::ifstream in(at(name));
            return std::string(std::istreambuf_iterator<char>(in), {});
        };
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text("out"), text("err")};
    }

    // Counts how often each color occurs, as 0xRRGGBB.
    static std::map<std::uint32_t, std::size_t> colors(const std::string& path) {
        const Image image = read_image(path);
        std::map<std::uint32_t, std::size_t> out;
        const std::size_t texel = info(image.format).bytes;
        for (std::size_t i = 0; i < image.texels.size(); i += texel) {
            std::uint32_t color = 0;
            for (std::size_t c = 0; c < 3; ++c)
                color = color << 8 | std::to_integer<std::uint32_t>(image.texels[i + c]);
            ++out[color];
        }
        return out;
    }

    inline static const std::string kProgram = test::configured_path("TEXTON_VIEW_PROGRAM", TEXTON_VIEW_PROGRAM);
    fs::path folder_;
};

constexpr std::array<std::uint32_t, 6> kBars{0xff0000, 0xffff00, 0x00ff00, 0x00ffff, 0x0000ff, 0xff00ff};

TEST_F(ViewerTest, ScreenshotShowsTheTexelsInTheirColors) {
    for (const Device& device : test::one_of_each_kind()) {
        const std::string name = device.kind() == DeviceKind::cpu ? "cpu" : "cuda";
        const Ended result = run("'" + kCard.string() + "' --device " + name +
                                 " --panel none --size 1000x750 --screenshot '" + at("shot.png") + "'");
        ASSERT_EQ(result.status, 0) << result.err;
        EXPECT_EQ(result.out, at("shot.png") + "\n");
        const Image shot = read_image(at("shot.png"));
        EXPECT_EQ(shot.extent, (Extent{1000, 750}));
        std::map<std::uint32_t, std::size_t> count = colors(at("shot.png"));
        // Magnified twice: 40 rows of 81 or 80 columns.
        EXPECT_EQ(count[kBars[0]], 4u * 40 * 81);
        for (std::size_t i = 1; i < kBars.size(); ++i) EXPECT_EQ(count[kBars[i]], 4u * 40 * 80) << i;
    }
}

TEST_F(ViewerTest, UnreadableFileIsReportedInTheWindowAndTheExitStatus) {
    std::ofstream(at("broken.png")) << "no image";
    const Ended result = run("'" + at("broken.png") + "' --device cpu --panel none --size 1000x750 --screenshot '" +
                             at("shot.png") + "'");
    EXPECT_EQ(result.status, 2);
    EXPECT_NE(result.err.find("broken.png"), std::string::npos) << result.err;
    EXPECT_EQ(result.out, at("shot.png") + "\n");
    std::map<std::uint32_t, std::size_t> count = colors(at("shot.png"));
    EXPECT_GT(count[0xd8dade], 100u) << "the text of the heading";
    for (const std::uint32_t bar : kBars) EXPECT_EQ(count[bar], 0u);
}

TEST_F(ViewerTest, FirstOfSeveralFilesIsShownAndAMissingFileIsAnError) {
    const Ended result = run("'" + kCard.string() + "' '" + at("missing.exr") +
                             "' --device cpu --panel none --size 1000x750 --screenshot '" + at("shot.png") + "'");
    EXPECT_EQ(result.status, 2);
    EXPECT_NE(result.err.find("missing.exr"), std::string::npos) << result.err;
    EXPECT_EQ(colors(at("shot.png"))[kBars[2]], 4u * 40 * 80);
}

TEST_F(ViewerTest, TheSelectedOneOfNumberedFilesIsShown) {
    const Extent extent{16, 8};
    for (const int number : {7, 8, 9}) {
        std::vector<std::byte> red(packed_bytes(Format::rgba8_unorm, extent), std::byte{255});
        for (std::size_t i = 0; i < red.size(); i += 4)
            red[i] = red[i + 1] = red[i + 2] = static_cast<std::byte>(20 * number);
        write_image(at("in_" + std::to_string(number) + ".png"), Format::rgba8_unorm, extent, red);
    }
    const std::string files = "'" + at("in_%d.png") + "' --device cpu --panel none --size 1000x750 --screenshot '";
    const Ended result = run(files + at("shot.png") + "' --frame 2");
    EXPECT_EQ(result.status, 0) << result.err;
    std::map<std::uint32_t, std::size_t> count = colors(at("shot.png"));
    EXPECT_GT(count[0xb4b4b4], 100u) << "180 of the file 9";
    EXPECT_EQ(count[0xa0a0a0], 0u) << "160 of the file 8";
    const Ended overwriting = run(files + at("in_8.png") + "'");
    EXPECT_EQ(overwriting.status, 2);
    EXPECT_NE(overwriting.err.find("would overwrite " + at("in_8.png")), std::string::npos) << overwriting.err;
    EXPECT_EQ(run(files + at("shot.png") + "' --frame 3").status, 2);
}

TEST_F(ViewerTest, RawFramesAreOpenedWithTheOptionThatTheMessageNames) {
    std::ofstream(at("clip.yuv"), std::ios::binary) << std::string(2 * 192, static_cast<char>(120));
    const std::string files =
        "'" + at("clip.yuv") + "' --device cpu --panel none --screenshot '" + at("shot.png") + "'";
    const Ended refused = run(files);
    EXPECT_EQ(refused.status, 2);
    EXPECT_NE(refused.err.find("Use --raw "), std::string::npos) << refused.err;
    const Ended result = run(files + " --raw 16x8:nv12 --frame 1");
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(run(files + " --raw 16by8").status, 2);
}

TEST_F(ViewerTest, HelpAndVersionNeedNoDisplay) {
    const Ended help = run("--help");
    EXPECT_EQ(help.status, 0);
    for (const char* word : {"--device", "--screenshot", "--size", "FILE", "Exit status"}) {
        EXPECT_NE(help.out.find(word), std::string::npos) << word;
    }
    const Ended version = run("--version");
    EXPECT_EQ(version.status, 0);
    EXPECT_EQ(version.out.find("texton-view "), 0u);
}

TEST_F(ViewerTest, InvalidOptionsExitWithStatusTwoAndAMessage) {
    for (const char* arguments : {"--nonsense", "--size 12", "--size 640x480x", "--device gpu", "--device cpu:99",
                                  "--panel clock", "--session /nowhere.json"}) {
        const Ended result = run(arguments);
        EXPECT_EQ(result.status, 2) << arguments;
        EXPECT_FALSE(result.err.empty()) << arguments;
    }
}

TEST_F(ViewerTest, BadSuiteOfAReviewIsRefusedBeforeTheWindowOpens) {
    std::ofstream(at("broken.json")) << "{";
    std::ofstream(at("key.json")) << R"({"cases": [{"name": "a", "images": "a.png", "unknown": 1}]})";
    std::ofstream(at("outside.json")) << R"({"cases": [{"name": "a", "images": "../a.png"}]})";
    std::ofstream(at("command.json")) << R"({"cases": [{"name": "a", "command": ["true"], "images": "a.png"}]})";
    std::ofstream(at("good.json")) << R"({"cases": [{"name": "a", "images": "a.png"}]})";
    std::ofstream(at("noted.json")) << R"({"cases": [{"name": "a", "images": "a.png"}]})";
    std::ofstream(at("noted.review.json")) << "[]";
    const std::pair<std::string, const char*> bad[] = {
        {"--review absent.json", "absent.json"},
        {"--review broken.json", "not valid JSON"},
        {"--review key.json", "unknown"},
        {"--review outside.json", "../a.png"},
        {"--review command.json", "--commands"},
        {"--review noted.json", "noted.review.json"},
        {"--review good.json --filter b", "no case of good matches 'b'"},
        {"--review good.json --filter '['", "not a valid regular expression"},
        {"--review good.json --device gpu", "gpu"},
        {"--review good.json --screenshot good.json", "would overwrite the suite"},
        {"--review good.json card.png", "--review"},
        {"--review good.json --session s.json", "--review"},
        {"--filter a", "--review"},
        {"--commands", "--review"},
        {"--allow-outside", "--review"}};
    for (const auto& [arguments, word] : bad) {
        std::string all = arguments;
        if (arguments.find("--device") == std::string::npos) all += " --device cpu";
        if (arguments.find("--screenshot") == std::string::npos) all += " --screenshot shot.png";
        const Ended result = run_in(folder_, all);
        EXPECT_EQ(result.status, 2) << arguments;
        EXPECT_NE(result.err.find(word), std::string::npos) << arguments << ": " << result.err;
        EXPECT_FALSE(fs::exists(at("shot.png"))) << arguments;
    }
}

TEST_F(ViewerTest, ReviewIsWrittenToAScreenshot) {
    fs::copy(kCard, at("a.png"));
    std::ofstream(at("s.json")) << R"({"cases": [{"name": "a", "images": "a.png"},
        {"name": "b", "command": ["cp", "{suite}/a.png", "b.png"], "images": "b.png"}]})";
    const Ended result =
        run_in(folder_, "--review s.json --commands --filter a --device cpu --panel none --screenshot shot.png");
    EXPECT_EQ(result.status, 0) << result.err;
    const auto shown = colors(at("shot.png"));
    for (const std::uint32_t bar : kBars) EXPECT_TRUE(shown.contains(bar)) << "the result has the bars of the card";
    EXPECT_FALSE(fs::exists(at("s"))) << "nothing is approved";
}

TEST_F(ViewerTest, SignalDuringAReviewEndsItsCommand) {
    std::ofstream(at("s.json")) << R"({"cases": [{"name": "a", "images": "x.png",
        "command": ["sh", "-c", "echo $$ > \"$1/pid\"; exec sleep 600", "sh", "{suite}"]}]})";
    const Ended result = run_in(folder_,
                                "--review s.json --commands --device cpu --screenshot shot.png & "
                                "while ! [ -s pid ]; do sleep 0.1; done; kill -TERM $!; wait $!; echo ended $? >&2; "
                                "! kill -0 $(cat pid)");
    EXPECT_EQ(result.status, 0) << "the command still runs";
    EXPECT_NE(result.err.find("ended 143"), std::string::npos) << result.err;
}

// The copy has the libraries in memory that the program texton-reader would have to load.
TEST_F(ViewerTest, FilesAreReadByACopyOfTheProcessWhichEndsWithIt) {
    const auto program_of = [](pid_t process) {
        std::error_code ended;
        return fs::read_symlink("/proc/" + std::to_string(process) + "/exe", ended);
    };
    const pid_t window = ::fork();
    if (window == 0) {
        ::setenv("QT_QPA_PLATFORM", "offscreen", 1);
        ::unsetenv("TEXTON_READER");
        ::execl(kProgram.c_str(), kProgram.c_str(), "--no-listen", kCard.c_str(), nullptr);
        ::_exit(127);
    }
    ASSERT_GT(window, 0);
    pid_t reader = 0;
    EXPECT_TRUE(test::eventually([&] { return (reader = test::helper_of(window)) != 0; }));
    EXPECT_EQ(program_of(reader), fs::canonical(kProgram));
    ::kill(window, SIGTERM);
    int status = 0;
    EXPECT_EQ(::waitpid(window, &status, 0), window);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
    EXPECT_TRUE(test::eventually([&] { return program_of(reader).empty(); }));
}

TEST_F(ViewerTest, UnwritableScreenshotIsReported) {
    const Ended result = run("'" + kCard.string() + "' --device cpu --screenshot '" + at("nofolder/shot.png") + "'");
    EXPECT_EQ(result.status, 2);
    EXPECT_NE(result.err.find("nofolder/shot.png"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace texton::viewer

// texton-view --listen --save: frames of running programs as files, without a window.
#include "viewer/live/save_frames.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <texton/image.h>

#include "tests/support/command_line.h"
#include "tests/support/program.h"
#include "tests/viewer/live/refused.h"

namespace texton::viewer {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

TEST(SavePatternTest, NamesNeverLeadToAnotherFolder) {
    const SavePattern pattern("out/{name}.{frame}.exr");
    EXPECT_EQ(pattern.path_of("image", 7), "out/image.7.exr");
    EXPECT_EQ(pattern.path_of("../../etc/x", 1), "out/%2E.%2F..%2Fetc%2Fx.1.exr");
    EXPECT_EQ(pattern.path_of("..", 1), "out/%2E..1.exr");
    EXPECT_EQ(pattern.path_of("a\\b\n%", 1), "out/a%5Cb%0A%25.1.exr");
    EXPECT_EQ(pattern.path_of("{frame}", 1), "out/%7Bframe%7D.1.exr");
    EXPECT_EQ(pattern.path_of("gr\xc3\xb6\xc3\x9f"
                              "e 2",
                              1),
              "out/gr\xc3\xb6\xc3\x9f"
              "e 2.1.exr");
    EXPECT_EQ(SavePattern("{name}/{frame}.exr").path_of("..", 3), "%2E./3.exr");
    EXPECT_NE(pattern.path_of("a/b", 1), pattern.path_of("a_b", 1));
}

TEST(SavePatternTest, WrongPatternsAreRefused) {
    for (const char* wrong :
         {"", "out/", "out/{name}", "{name}.{number}.exr", "{name.exr", "{}.exr", "out/{name}.{frame}"})
        expect_refused([&] { (void)SavePattern(wrong); }, ErrorCode::bad_argument, "--save");
}

class SaveFramesTest : public test::CommandLine {
protected:
    void SetUp() override {
#ifndef TEXTON_VIEW_PROGRAM
        GTEST_SKIP() << "texton-view was not built";
#endif
        CommandLine::SetUp();
        setenv("TEXTON_SHOW", at("socket").c_str(), 1);
    }
    void TearDown() override {
        setenv("TEXTON_SHOW", "", 1);
        CommandLine::TearDown();
    }
#ifdef TEXTON_VIEW_PROGRAM
    inline static const std::string kView = test::configured_path("TEXTON_VIEW_PROGRAM", TEXTON_VIEW_PROGRAM);
#else
    inline static const std::string kView;
#endif
    /// Returns a command that runs texton-view without a display.
    static std::string view(const std::string& arguments) {
        return "unset DISPLAY WAYLAND_DISPLAY; '" + kView + "' " + arguments;
    }
};

TEST_F(SaveFramesTest, FramesOfAProgramAreWritten) {
    test::Program program("showing", Device::cpu());
    const test::Ended ended = shell(view("--listen=0 --save 'frames/{name}.{frame}.tif' --frames 3"));
    program.kill();
    EXPECT_EQ(ended.status, 0) << ended.err;
    std::size_t files = 0;
    for (const auto& file : fs::directory_iterator(at("frames"))) {
        ++files;
        const std::string name = file.path().stem().string();  // counter.7
        ASSERT_TRUE(name.starts_with("counter.")) << name;
        const Image image = read_image(file.path());
        EXPECT_EQ(image.extent, (Extent{257, 129}));
        ASSERT_EQ(image.texels.size(), 257u * 129 * 4);
        const auto number = static_cast<std::uint32_t>(std::stoul(name.substr(8)));
        for (std::size_t i = 0; i < image.texels.size(); i += 4) {
            std::uint32_t texel = 0;
            std::memcpy(&texel, &image.texels[i], 4);
            ASSERT_EQ(texel, number) << "texel " << i / 4;
        }
        EXPECT_NE(ended.out.find(file.path().filename().string()), std::string::npos) << ended.out;
    }
    EXPECT_EQ(files, 3u);
}

TEST_F(SaveFramesTest, ImagesOfAPythonClientAreWrittenUntilASignal) {
    const std::string script =
        test::configured_path("TEXTON_TEST_SOURCES", TEXTON_TEST_SOURCES) + "/tests/support/tev_client.py";
    const test::Ended ended = shell(view("--listen=0 --save '{name}.exr' > said & view=$!\n") +
                                    "until grep -q port said; do sleep 0.02; done\n"
                                    "python3 '" +
                                    script +
                                    "' $(sed -n 's/listening on port //p' said) images\n"
                                    "until grep -q layers said; do sleep 0.02; done\n"
                                    "kill $view; wait $view");
    EXPECT_EQ(ended.status, 143) << ended.err;  // SIGTERM
    const Image image = read_image(at("colors.exr"));
    EXPECT_EQ(image.extent, (Extent{4, 3}));
}

TEST_F(SaveFramesTest, WrongOptionsAreRefused) {
    const std::pair<const char*, const char*> wrong[] = {
        {"--save a.exr", "--listen"},
        {"--listen=x:y --save '{name}.exr'", "is not an address"},
        {"--listen=0 --save '{nam}.exr'", "{nam}"},
        {"--listen=0 --frames 3", "--save"},
        {"--listen=0 --save a.exr --frames 0", "--frames"},
        {"--listen --no-listen", "--no-listen"},
        {"--listen=0 --save a.exr b.png", "--save"},
        {"--live-memory much", "--live-memory"},
        {"--image-memory -1", "--image-memory"},
        {"--image-memory much", "--image-memory"},
        {"--stream-budget -1", "--stream-budget"},
        {"--listen=no.such.host.invalid:0 --save a.exr", "no.such.host.invalid"}};
    for (const auto& [arguments, word] : wrong) {
        const test::Ended ended = shell(view(arguments));
        EXPECT_EQ(ended.status, 2) << arguments << ended.err;
        EXPECT_NE(ended.err.find(word), std::string::npos) << arguments << ": " << ended.err;
    }
}

TEST_F(SaveFramesTest, AFormatThatTheFileCannotHoldIsReported) {
    test::Program program("showing", Device::cpu());
    const test::Ended ended = shell(view("--listen=0 --save 'frames/{name}.{frame}.jpg' 2>errors & view=$!\n") +
                                    "until grep -q jpg errors; do sleep 0.02; done; kill $view; wait $view");
    program.kill();
    EXPECT_EQ(ended.status, 143);
    EXPECT_NE(text("errors").find("texton-view: "), std::string::npos);
}

}  // namespace
}  // namespace texton::viewer

// Reports in a real browser, which report_browser.py controls. Each test is a function of that script.
#include <cstdlib>
#include <vector>

#include <texton/image.h>

#include "tests/support/command_line.h"

namespace texton {
namespace {

namespace fs = std::filesystem;

class ReportBrowserTest : public test::CommandLine {
protected:
    void SetUp() override {
        CommandLine::SetUp();
        script_ = test::configured_path("TEXTON_TEST_SOURCES", TEXTON_TEST_SOURCES) / fs::path(kScript);
        if (shell("python3 '" + script_.string() + "' --available").status == 0) return;
        const char* required = std::getenv("TEXTON_REQUIRE_BROWSER");
        if (required != nullptr && std::string(required) == "1")
            FAIL() << "TEXTON_REQUIRE_BROWSER is 1, but there is no chromium or no python3";
        GTEST_SKIP() << "chromium and python3 are needed";
    }

    /// Writes an image: one color, and a box of another color in its middle.
    void write(const std::string& name, std::uint8_t red, std::uint8_t green, std::uint8_t blue) const {
        constexpr std::size_t kWidth = 64, kHeight = 48;
        std::vector<std::byte> texels(kWidth * kHeight * 4, std::byte{255});
        for (std::size_t y = 12; y < 36; ++y)
            for (std::size_t x = 16; x < 48; ++x) {
                std::byte* texel = &texels[(y * kWidth + x) * 4];
                texel[0] = std::byte{red};
                texel[1] = std::byte{green};
                texel[2] = std::byte{blue};
            }
        fs::create_directories(fs::path(at(name)).parent_path());
        write_image(at(name), Format::rgba8_unorm, {kWidth, kHeight}, texels);
    }

    void expect(const std::string& check) const {
        for (const char* name : {"a.png", "f/0.png", "f/1.png", "f/2.png"}) write(name, 0, 0, 200);
        std::ofstream(at("s.json")) << R"({"cases": [{"name": "frames", "images": "f/*.png"},
            {"name": "box", "images": "a.png"}, {"name": "gone", "images": "gone.png"}]})";
        (void)run("verify s.json --device cpu --update --yes");
        write("a.png", 200, 100, 0);
        write("f/1.png", 0, 0, 203);
        write("f/2.png", 0, 0, 202);
        ASSERT_EQ(run("verify s.json --device cpu --report report").status, 2);
        ASSERT_EQ(run("verify s.json --device cpu --report report.html --single-file").status, 2);
        ASSERT_TRUE(fs::exists(at("report/box/index.html")) && fs::exists(at("report.html")));
        const test::Ended ended = shell("python3 '" + script_.string() + "' " + check + " '" + folder().string() + "'");
        EXPECT_EQ(ended.status, 0) << ended.out << ended.err;
    }

private:
    static constexpr const char* kScript = "tests/viewer/verify/report_browser.py";
    fs::path script_;
};

TEST_F(ReportBrowserTest, ZoomAndPanAreLinked) { expect("zoom_and_pan_are_linked"); }

TEST_F(ReportBrowserTest, WipeShowsExpectedLeftOfTheDividerAndActualRightOfIt) {
    expect("wipe_shows_expected_left_of_the_divider_and_actual_right_of_it");
}

TEST_F(ReportBrowserTest, BlinkAlternatesUntilTheSpaceBarStopsIt) {
    expect("blink_alternates_until_the_space_bar_stops_it");
}

TEST_F(ReportBrowserTest, KeysSelectImagesAndCasesAndAreListed) {
    expect("keys_select_images_and_cases_and_are_listed");
}

TEST_F(ReportBrowserTest, SingleFileShowsOneCaseAtATime) { expect("single_file_shows_one_case_at_a_time"); }

TEST_F(ReportBrowserTest, NothingIsLoadedFromElsewhere) { expect("nothing_is_loaded_from_elsewhere"); }

TEST_F(ReportBrowserTest, LightAndDarkSchemesAreReadable) { expect("light_and_dark_schemes_are_readable"); }

TEST_F(ReportBrowserTest, NarrowWindowsDoNotScrollSideways) { expect("narrow_windows_do_not_scroll_sideways"); }

}  // namespace
}  // namespace texton

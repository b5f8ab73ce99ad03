// The viewer's model, and its program run as a second process without a display.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/image.h>

#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/place.h"
#include "viewer/document.h"
#include "viewer/render.h"
#include "viewer/view_state.h"

namespace texton::viewer {
namespace {

namespace fs = std::filesystem;

const fs::path kAssets = test::place("TEXTON_TEST_ASSETS", TEXTON_TEST_ASSETS);
const fs::path kCard = kAssets / "card.png";
const fs::path kSky = kAssets / "sky.exr";

// --- where the canvas looks ---

TEST(ViewStateTest, AFittedPictureIsWholeAndInTheMiddle) {
    for (const Extent picture : {Extent{481, 321}, Extent{5000, 20}, Extent{1, 3000}, Extent{7, 7}}) {
        const ViewState view = fitted(picture, 1000, 700);
        const Position from = to_canvas(view, {0, 0}, 1000, 700);
        const Position to =
            to_canvas(view, {static_cast<double>(picture.width), static_cast<double>(picture.height)}, 1000, 700);
        EXPECT_GE(from.x, -1e-6);
        EXPECT_GE(from.y, -1e-6);
        EXPECT_NEAR(from.x + to.x, 1000, 1e-6);
        EXPECT_NEAR(from.y + to.y, 700, 1e-6);
    }
    EXPECT_EQ(fitted({481, 321}, 1000, 700).zoom, 2);
    EXPECT_EQ(fitted({481, 321}, 481, 100).zoom, 100.0 / 321);
}

TEST(ViewStateTest, ZoomKeepsWhatIsUnderTheCursor) {
    ViewState view = fitted({481, 321}, 1000, 700);
    const Position cursor{123, 456};
    const Position before = to_picture(view, cursor, 1000, 700);
    for (const double factor : {1.5, 8.0, 0.01, 1e9, 1e-9}) {
        view = zoomed(view, factor, cursor, 1000, 700);
        const Position after = to_picture(view, cursor, 1000, 700);
        EXPECT_NEAR(after.x, before.x, 1e-6);
        EXPECT_NEAR(after.y, before.y, 1e-6);
    }
    EXPECT_EQ(view.zoom, kLeastZoom);
}

TEST(ViewStateTest, ADragMovesThePictureWithTheMouseAndNeverOutOfSight) {
    const ViewState view{4, {100, 100}};
    const ViewState moved = panned(view, {40, -20}, {481, 321});
    EXPECT_EQ(moved.centre, (Position{90, 105}));
    EXPECT_EQ(panned(view, {1e6, -1e6}, {481, 321}).centre, (Position{0, 321}));
}

// --- the document, on every device ---

class DocumentTest : public test::OnEveryDevice {};

TEST_P(DocumentTest, SampledTexelsAreThoseOfTheFile) {
    const Image image = read_image(kCard);
    const Document document(kCard, device());
    EXPECT_EQ(document.extent(), image.extent);
    EXPECT_EQ(document.file_channels(), 3);
    std::vector<Point2> points;
    for (std::size_t y = 0; y < image.extent.height; ++y) {
        for (std::size_t x = 0; x < image.extent.width; ++x) {
            points.push_back({static_cast<float>(x) + 0.25f, static_cast<float>(y) + 0.75f});
        }
    }
    const std::vector<Colour> texels = document.sample(points);
    ASSERT_EQ(texels.size(), points.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < texels.size() * 4; ++i) {
        wrong += texels[i / 4][i % 4] != static_cast<float>(image.texels[i]) / 255.0f;
    }
    EXPECT_EQ(wrong, 0u);
}

TEST_P(DocumentTest, EnlargedPixelsShowTheTexelUnderThem) {
    const Image image = read_image(kCard);
    const Document document(kCard, device());
    constexpr int kZoom = 3, kWidth = 200, kHeight = 90;
    const ViewState view{kZoom, {120.5, 40}};
    const std::vector<std::uint32_t> pixels = render(document, view, kWidth, kHeight);
    for (int y = 0; y < kHeight; ++y) {
        for (int x = 0; x < kWidth; ++x) {
            const Position at = to_picture(view, {x + 0.5, y + 0.5}, kWidth, kHeight);
            const std::size_t texel = static_cast<std::size_t>(at.y) * 481 + static_cast<std::size_t>(at.x);
            std::uint32_t expected = 0xff;
            for (std::size_t c = 0; c < 3; ++c) {
                expected = expected << 8 | std::to_integer<std::uint32_t>(image.texels[texel * 4 + c]);
            }
            ASSERT_EQ(pixels[static_cast<std::size_t>(y * kWidth + x)], expected) << x << ", " << y;
        }
    }
}

TEST_P(DocumentTest, ReducedChecksBecomeTheirMeanAndTheRestIsBackground) {
    const Document document(kCard, device());
    const std::vector<std::uint32_t> pixels = render(document, {0.5, {8, 48}}, 40, 8);
    EXPECT_EQ(pixels[0], kBackground);
    EXPECT_EQ(pixels[4 * 40 + 15], kBackground);  // texel -9
    EXPECT_EQ(pixels[4 * 40 + 18] & 0xffffff, 0x808080u);
}

TEST_P(DocumentTest, FloatsAreShownThroughTheSrgbCurveAndDescribedAsTheyAre) {
    const Document document(kSky, device());
    EXPECT_EQ(document.format(), Format::rgba16_float);
    const std::string sun = document.describe(140, 38);
    EXPECT_GT(std::stof(sun), 40.0f) << sun;
    EXPECT_EQ(std::count(sun.begin(), sun.end(), '.'), 3) << "three channels of the file: " << sun;
    std::vector<Colour> colours{{0.5f, -1.0f, 7.0f, 1.0f}};
    document.to_display(colours);
    EXPECT_NEAR(colours[0][0], 0.735357f, 1e-5f);
    EXPECT_EQ(colours[0][1], 0.0f);
    EXPECT_EQ(colours[0][2], 1.0f);
}

INSTANTIATE_TEST_SUITE_P(Devices, DocumentTest, test::every_device(), test::device_label);

TEST(DeviceNameTest, TextThatNamesNoDeviceIsRefused) {
    EXPECT_EQ(device_named("cpu"), Device::cpu());
    EXPECT_EQ(device_named("cpu:0"), Device::cpu(0));
    EXPECT_EQ(device_named(""), Device::best());
    for (const char* name : {"gpu", "cpu:", "cpu:x", "cpu:-1", "cuda:0x", "cpu:9999"}) {
        EXPECT_THROW((void)device_named(name), Error) << name;
    }
}

// --- the program ---

struct Ended {
    int status = -1;
    std::string out;
    std::string err;
};

class ViewerTest : public testing::Test {
protected:
    void SetUp() override {
        if (!fs::exists(kProgram)) GTEST_SKIP() << kProgram << " is not here";
        std::string name = (fs::temp_directory_path() / "texton-view-XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override {
        if (!folder_.empty()) fs::remove_all(folder_);
    }

    std::string at(const std::string& name) const { return (folder_ / name).string(); }

    Ended run(const std::string& arguments) const {
        const std::string command = "unset DISPLAY WAYLAND_DISPLAY; QT_QPA_PLATFORM=offscreen '" + kProgram + "' " +
                                    arguments + " >'" + at("out") + "' 2>'" + at("err") + "'";
        const int status = std::system(command.c_str());
        const auto text = [&](const std::string& name) {
            std::ifstream in(at(name));
            return std::string(std::istreambuf_iterator<char>(in), {});
        };
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text("out"), text("err")};
    }

    // How often each colour occurs, as 0xRRGGBB.
    static std::map<std::uint32_t, std::size_t> colours(const std::string& path) {
        const Image image = read_image(path);
        std::map<std::uint32_t, std::size_t> out;
        const std::size_t texel = info(image.format).bytes;
        for (std::size_t i = 0; i < image.texels.size(); i += texel) {
            std::uint32_t colour = 0;
            for (std::size_t c = 0; c < 3; ++c)
                colour = colour << 8 | std::to_integer<std::uint32_t>(image.texels[i + c]);
            ++out[colour];
        }
        return out;
    }

    inline static const std::string kProgram = test::place("TEXTON_VIEW_PROGRAM", TEXTON_VIEW_PROGRAM);
    fs::path folder_;
};

constexpr std::array<std::uint32_t, 6> kBars{0xff0000, 0xffff00, 0x00ff00, 0x00ffff, 0x0000ff, 0xff00ff};

TEST_F(ViewerTest, AScreenshotShowsEveryTexelOfThePictureInItsColour) {
    for (const Device& device : test::one_of_each_kind()) {
        const std::string name = device.kind() == DeviceKind::cpu ? "cpu" : "cuda";
        const Ended result =
            run("'" + kCard.string() + "' --device " + name + " --size 1000x750 --screenshot '" + at("shot.png") + "'");
        ASSERT_EQ(result.status, 0) << result.err;
        EXPECT_EQ(result.out, at("shot.png") + "\n");
        const Image shot = read_image(at("shot.png"));
        EXPECT_EQ(shot.extent, (Extent{1000, 750}));
        std::map<std::uint32_t, std::size_t> count = colours(at("shot.png"));
        // Twice as large: 40 rows of 81 or 80 columns.
        EXPECT_EQ(count[kBars[0]], 4u * 40 * 81);
        for (std::size_t i = 1; i < kBars.size(); ++i) EXPECT_EQ(count[kBars[i]], 4u * 40 * 80) << i;
    }
}

TEST_F(ViewerTest, AFileThatCannotBeShownIsSaidInTheWindowAndByTheExitStatus) {
    std::ofstream(at("broken.png")) << "no picture";
    const Ended result =
        run("'" + at("broken.png") + "' --device cpu --size 1000x750 --screenshot '" + at("shot.png") + "'");
    EXPECT_EQ(result.status, 1);
    EXPECT_NE(result.err.find("broken.png"), std::string::npos) << result.err;
    EXPECT_EQ(result.out, at("shot.png") + "\n");
    std::map<std::uint32_t, std::size_t> count = colours(at("shot.png"));
    EXPECT_GT(count[kBackground & 0xffffff], 1000u * 500);
    EXPECT_GT(count[0xd8dade], 100u) << "the headline";
    for (const std::uint32_t bar : kBars) EXPECT_EQ(count[bar], 0u);
}

TEST_F(ViewerTest, OfSeveralFilesTheFirstIsShownAndABadOneIsCounted) {
    const Ended result = run("'" + kCard.string() + "' '" + at("missing.exr") +
                             "' --device cpu --size 1000x750 --screenshot '" + at("shot.png") + "'");
    EXPECT_EQ(result.status, 1);
    EXPECT_NE(result.err.find("missing.exr"), std::string::npos) << result.err;
    EXPECT_EQ(colours(at("shot.png"))[kBars[2]], 4u * 40 * 80);
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

TEST_F(ViewerTest, WrongOptionsEndWithTwoAndAReason) {
    for (const char* arguments : {"--nonsense", "--size 12", "--size 640x480x", "--device gpu", "--device cpu:99"}) {
        const Ended result = run(arguments);
        EXPECT_EQ(result.status, 2) << arguments;
        EXPECT_FALSE(result.err.empty()) << arguments;
    }
}

TEST_F(ViewerTest, AScreenshotThatCannotBeWrittenIsSaid) {
    const Ended result = run("'" + kCard.string() + "' --device cpu --screenshot '" + at("nofolder/shot.png") + "'");
    EXPECT_EQ(result.status, 1);
    EXPECT_NE(result.err.find("nofolder/shot.png"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace texton::viewer

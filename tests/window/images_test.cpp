// Compares whole windows with approved screenshots: a session at three display scales, and the usual panels in windows
// of several sizes, dark and light, without an image, with one, with a hundred, and with a broken one.
#include <fstream>
#include <tuple>

#include <fmt/format.h>

#include <texton/image.h>

#include "tests/window/screenshots.h"

namespace texton::viewer {
namespace {

class ImagesTest : public testing::TestWithParam<const char*> {};

TEST_P(ImagesTest, WindowMatchesTheApprovedImage) {
    const QTemporaryDir folder;
    Session session = test::session_with({"card.png", "cube.dds"});
    session.view = {24, {244.5, 160.5}};
    session.fits = false;
    session.pins = {{244.8, 160.6}};
    session.reading = Reading::sampled;
    session.panels = {"files", "inspector", "footprint"};
    write_session(folder.filePath("s.json").toStdString(), session);
    const QImage window = test::screenshot({"--session", folder.filePath("s.json"), "--size", "900x600"}, GetParam(),
                                           folder.filePath("window.png"));
    test::expect_approved(window, QString("window_%1").arg(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Scales, ImagesTest, testing::Values("1", "1.5", "2"), [](const auto& info) {
    return std::string("Times") + (info.param == std::string("1.5") ? "OneAndAHalf" : info.param);
});

struct Screen {
    const char* name;
    const char* size;  // in window pixels
    const char* scale;
};

constexpr Screen kScreens[] = {{"Small", "640x400", "1"}, {"Usual", "1280x800", "1"}, {"Large", "1920x1080", "2"}};
constexpr const char* kThemes[] = {"dark", "light"};

class ScreensTest : public testing::TestWithParam<std::tuple<int, int>> {
protected:
    static const Screen& screen() { return kScreens[std::get<0>(GetParam())]; }
    static const char* theme() { return kThemes[std::get<1>(GetParam())]; }

    void SetUp() override {
        QDir(folder_.path()).mkpath("texton");
        std::ofstream(at("texton/texton-view.conf").toStdString()) << "[General]\ntheme=" << theme() << '\n';
    }
    QString at(const QString& name) const { return folder_.filePath(name); }
    void expect_screen(const QString& state, const QStringList& files, int status = 0) {
        const QStringList options{"--device", "cpu", "--no-listen", "--size", screen().size};
        const QImage window =
            test::screenshot(options + files, screen().scale, at("window.png"), folder_.path(), status);
        test::expect_approved(window, QString("screens/%1_%2_%3").arg(state, screen().name, theme()).toLower());
    }

    const QTemporaryDir folder_;
};

TEST_P(ScreensTest, WindowWithoutAnImageMatchesTheApprovedImage) { expect_screen("none", {}); }

TEST_P(ScreensTest, WindowWithOneImageMatchesTheApprovedImage) {
    expect_screen("one", {QString::fromStdString(test::asset("color_checker.png").string())});
}

// All images are rendered, which takes long in a large window.
class ManyImagesScreensTest : public ScreensTest {};

TEST_P(ManyImagesScreensTest, WindowWithAHundredImagesMatchesTheApprovedImage) {
    QStringList files;
    for (int i = 0; i < 100; ++i) {
        files.append(at(QString("shot_%1.png").arg(i, 3, 10, QChar('0'))));
        const std::byte gray{static_cast<unsigned char>(55 + 2 * i)};
        write_image(files.back().toStdString(), Format::r8_unorm, {16, 8}, std::vector<std::byte>(128, gray));
    }
    expect_screen("hundred", files);
}

TEST_P(ScreensTest, WindowWithABrokenImageMatchesTheApprovedImage) {
    std::ofstream(at("broken.png").toStdString()) << "no image";
    // The broken image is the current one; its relative path makes the message short.
    expect_screen("broken", {"broken.png"}, 2);
}

std::string name_of_screen(const testing::TestParamInfo<std::tuple<int, int>>& info) {
    return fmt::format("{}{}", kScreens[std::get<0>(info.param)].name, std::get<1>(info.param) == 0 ? "Dark" : "Light");
}

INSTANTIATE_TEST_SUITE_P(Sizes, ScreensTest, testing::Combine(testing::Range(0, 3), testing::Range(0, 2)),
                         name_of_screen);
INSTANTIATE_TEST_SUITE_P(Sizes, ManyImagesScreensTest, testing::Combine(testing::Range(0, 2), testing::Range(0, 2)),
                         name_of_screen);

}  // namespace
}  // namespace texton::viewer

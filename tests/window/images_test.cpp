// Compares whole windows at three display scales with approved screenshots. To approve new screenshots, run with
// TEXTON_UPDATE_IMAGES=1 and check the files in tests/window/images/.
#include <QImage>
#include <QProcess>
#include <QProcessEnvironment>

#include "tests/window/fixture.h"

namespace texton::viewer {
namespace {

// Tolerances: font versions draw text slightly differently, and the device name differs between machines.
constexpr int kSeenDifference = 40;
constexpr double kMaxSeen = 0.01;

QImage window_at(const QString& scale, const QString& session, const QString& out) {
    QProcess program;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("QT_QPA_PLATFORM", "offscreen");
    environment.insert("QT_SCALE_FACTOR", scale);
    environment.insert("XDG_CONFIG_HOME", "/nonexistent");
    program.setProcessEnvironment(environment);
    program.start(QString::fromStdString(texton::test::configured_path("TEXTON_VIEW_PROGRAM", TEXTON_VIEW_PROGRAM)),
                  {"--session", session, "--size", "900x600", "--screenshot", out});
    program.waitForFinished(60000);
    EXPECT_EQ(program.exitCode(), 0) << program.readAllStandardError().toStdString();
    return QImage(out).convertToFormat(QImage::Format_RGB32);
}

double seen_difference(const QImage& a, const QImage& b) {
    qsizetype seen = 0;
    for (int y = 0; y < a.height(); ++y) {
        for (int x = 0; x < a.width(); ++x) {
            const QRgb one = a.pixel(x, y), other = b.pixel(x, y);
            seen += std::abs(qRed(one) - qRed(other)) > kSeenDifference ||
                    std::abs(qGreen(one) - qGreen(other)) > kSeenDifference ||
                    std::abs(qBlue(one) - qBlue(other)) > kSeenDifference;
        }
    }
    return static_cast<double>(seen) / (static_cast<double>(a.width()) * a.height());
}

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
    const QImage window = window_at(GetParam(), folder.filePath("s.json"), folder.filePath("window.png"));
    const QString approved = QString("%1/window_%2.png").arg(TEXTON_WINDOW_IMAGES, GetParam());
    if (std::getenv("TEXTON_UPDATE_IMAGES") != nullptr) {
        ASSERT_TRUE(window.save(approved));
    }
    const QImage expected = QImage(approved).convertToFormat(QImage::Format_RGB32);
    ASSERT_EQ(window.width(), expected.width());
    ASSERT_EQ(window.height(), expected.height());
    EXPECT_LT(seen_difference(window, expected), kMaxSeen);
}

INSTANTIATE_TEST_SUITE_P(Scales, ImagesTest, testing::Values("1", "1.5", "2"), [](const auto& info) {
    return std::string("Times") + (info.param == std::string("1.5") ? "OneAndAHalf" : info.param);
});

}  // namespace
}  // namespace texton::viewer

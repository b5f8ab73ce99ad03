#pragma once
// Screenshots of the program texton-view, and their comparison with approved ones. To approve new screenshots, run the
// tests with TEXTON_UPDATE_IMAGES=1 and check the files in tests/window/images/.
#include <QDir>
#include <QImage>
#include <QProcess>
#include <QProcessEnvironment>
#include <QStringList>

#include "tests/window/fixture.h"

namespace texton::viewer::test {

/// Returns a screenshot of the program with these arguments. `scale` is the number of pixels per window pixel, and
/// `config` the folder of the settings.
inline QImage screenshot(const QStringList& arguments, const QString& scale, const QString& out,
                         const QString& config = "/nonexistent", int status = 0) {
    QProcess program;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("QT_QPA_PLATFORM", "offscreen");
    environment.insert("QT_SCALE_FACTOR", scale);
    environment.insert("XDG_CONFIG_HOME", config);
    program.setProcessEnvironment(environment);
    program.setWorkingDirectory(QFileInfo(out).path());
    program.start(QString::fromStdString(texton::test::configured_path("TEXTON_VIEW_PROGRAM", TEXTON_VIEW_PROGRAM)),
                  arguments + QStringList{"--screenshot", out});
    program.waitForFinished(60000);
    EXPECT_EQ(program.exitCode(), status) << program.readAllStandardError().toStdString();
    return QImage(out).convertToFormat(QImage::Format_RGB32);
}

/// Compares a screenshot with the approved one of this name. Tolerances: font versions draw text slightly differently,
/// and the device name differs between machines.
inline void expect_approved(const QImage& window, const QString& name) {
    constexpr int kSeenDifference = 40;
    constexpr double kMaxSeen = 0.01;
    const QString path = QString("%1/%2.png").arg(TEXTON_WINDOW_IMAGES, name);
    if (std::getenv("TEXTON_UPDATE_IMAGES") != nullptr) {
        QDir().mkpath(QFileInfo(path).path());
        ASSERT_TRUE(window.save(path));
    }
    const QImage expected = QImage(path).convertToFormat(QImage::Format_RGB32);
    ASSERT_EQ(window.size(), expected.size()) << name.toStdString();
    qsizetype seen = 0;
    for (int y = 0; y < window.height(); ++y) {
        for (int x = 0; x < window.width(); ++x) {
            const QRgb one = window.pixel(x, y), other = expected.pixel(x, y);
            seen += std::abs(qRed(one) - qRed(other)) > kSeenDifference ||
                    std::abs(qGreen(one) - qGreen(other)) > kSeenDifference ||
                    std::abs(qBlue(one) - qBlue(other)) > kSeenDifference;
        }
    }
    EXPECT_LT(static_cast<double>(seen) / (static_cast<double>(window.width()) * window.height()), kMaxSeen)
        << name.toStdString();
}

}  // namespace texton::viewer::test

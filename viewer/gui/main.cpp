#include <CLI/CLI.hpp>
#include <QApplication>
#include <QSize>
#include <cstdio>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include <texton/error.h>

#include "viewer/gui/main_window.h"
#include "viewer/gui/theme.h"

namespace {

struct Options {
    std::vector<std::string> files;
    std::string device;
    std::string screenshot;
    std::string size = "1280x800";
};

constexpr const char* kFooter =
    "Keys: wheel, + and - zoom, drag pans, F fits, Ctrl+0 one pixel a texel, PgUp and PgDn change the file.\n"
    "Exit status: 0; 1 if a file could not be shown (the window says why) or the screenshot not be written; 2 for a "
    "wrong\n"
    "option or a device that is not there.";

std::optional<QSize> parse_size(const std::string& text) {
    int width = 0, height = 0, used = 0;
    if (std::sscanf(text.c_str(), "%5dx%5d%n", &width, &height, &used) != 2) return std::nullopt;
    const bool good = static_cast<std::size_t>(used) == text.size() && width >= 640 && height >= 400;
    return good ? std::optional(QSize(width, height)) : std::nullopt;
}

int run(int argc, char** argv, const Options& options, QSize size) {
    using namespace texton::viewer;
    std::optional<texton::Device> device;
    try {
        device = device_named(options.device);
    } catch (const texton::Error& error) {
        std::cerr << error.what() << '\n';
        return 2;
    }
    if (!options.screenshot.empty()) {
        // Without a screen Qt warns of what a screen would do; only what stops it is of use then.
        qInstallMessageHandler([](QtMsgType type, const QMessageLogContext&, const QString& text) {
            if (type == QtCriticalMsg || type == QtFatalMsg) std::cerr << text.toStdString() << '\n';
        });
    }
    const QApplication application_scope(argc, argv);
    apply_theme(*qApp);
    QStringList files;
    for (const std::string& file : options.files) files.append(QString::fromStdString(file));
    MainWindow window(*device, files);
    window.resize(size);
    if (!options.screenshot.empty()) window.setAttribute(Qt::WA_DontShowOnScreen);
    window.show();
    const QStringList problems = window.open_all();
    for (const QString& problem : problems) std::cerr << "texton-view: " << problem.toStdString() << '\n';
    if (options.screenshot.empty()) return QApplication::exec() != 0 || !problems.isEmpty() ? 1 : 0;

    QApplication::processEvents();
    if (!window.grab().save(QString::fromStdString(options.screenshot), "PNG")) {
        std::cerr << "texton-view: " << options.screenshot << " cannot be written. Write to another path.\n";
        return 1;
    }
    std::cout << options.screenshot << '\n';
    return problems.isEmpty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Shows pictures through Texton: read, uploaded to a device, sampled back.", "texton-view");
    app.add_option("FILE", options.files, "Pictures of any kind that OpenImageIO reads");
    app.add_option("--device", options.device, "cpu, cpu:N, cuda or cuda:N (default: the best there is)");
    app.add_option("--screenshot", options.screenshot, "Write the window to this PNG, and end");
    app.add_option("--size", options.size, "Of the window, in pixels, at least 640x400")->capture_default_str();
    app.set_version_flag("--version", "texton-view " TEXTON_VERSION);
    app.footer(kFooter);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    const std::optional<QSize> size = parse_size(options.size);
    if (!size) {
        std::cerr << "texton-view: --size " << options.size << " is no size. Use WIDTHxHEIGHT, at least 640x400.\n";
        return 2;
    }
    return run(argc, argv, options, *size);
}

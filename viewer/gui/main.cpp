#include <CLI/CLI.hpp>
#include <QSize>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include <texton/error.h>

#include "arrays/files/reader/forked_helper.h"
#include "viewer/gui/application.h"
#include "viewer/gui/main_window.h"
#include "viewer/gui/panel.h"
#include "viewer/gui/saved_view.h"
#include "viewer/gui/suite_review.h"
#include "viewer/gui/theme.h"
#include "viewer/live/save_frames.h"
#include "viewer/model/end_on_signals.h"
#include "viewer/model/named_paths.h"
#include "viewer/model/numbered_paths.h"
#include "viewer/model/reading_options.h"
#include "viewer/model/selection_options.h"
#include "viewer/render/color_transform.h"
#include "viewer/text/error_text.h"

namespace {

constexpr const char* kNoPanel = "none";

std::vector<std::string> panel_names() {
    std::vector<std::string> names{kNoPanel};
    for (const auto& panel : texton::viewer::panels()) names.push_back(panel.id.toStdString());
    return names;
}

struct Options {
    std::vector<std::string> files;
    texton::viewer::SelectionText selection;
    std::string session;
    std::string device;
    std::string color_config;
    std::string color_space;
    std::vector<std::string> panels;
    std::string screenshot;
    std::string size = "1280x800";
    bool has_size = false;  // `size` was given
    std::string review;
    std::string filter;
    std::string variant;
    bool quick = false;
    bool allow_outside = false;
    bool commands = false;
    std::string listen;
    bool no_listen = false;
    std::size_t live_memory = texton::viewer::LiveServer::Options{}.memory;
    texton::viewer::ImageMemory memory;
    std::string save;
    std::optional<std::size_t> frames;
};

constexpr const char* kFooter =
    "A FILE whose name ends with .json is a session. --part, --channels, --raw and --frame apply to all other FILEs.\n"
    "In the window, '?' shows all keys and Ctrl+Shift+P finds any "
    "action.\n"
    "With --review, decisions are written when they are applied, in the menu Review.\n"
    "Programs that call texton::show() find the window by the path in TEXTON_SHOW, or else by texton-show in\n"
    "$XDG_RUNTIME_DIR, or else by the abstract name @texton-show-UID.\n"
    "Exit status: 0 on success; 2 for an invalid option, an unreadable session or suite, a missing device, no "
    "display,\n"
    "or if --screenshot could not show a file or not write the screenshot, or --save not write a frame.";

std::optional<QSize> parse_size(const std::string& text) {
    int width = 0, height = 0, used = 0;
    if (std::sscanf(text.c_str(), "%5dx%5d%n", &width, &height, &used) != 2) return std::nullopt;
    const bool good = static_cast<std::size_t>(used) == text.size() && width >= 640 && height >= 400;
    return good ? std::optional(QSize(width, height)) : std::nullopt;
}

// Reads a session, and prints a notice about keys that are not known.
texton::viewer::Session read_session_with_notice(const std::string& file) {
    std::vector<std::string> unknown;
    texton::viewer::Session session = texton::viewer::read_session(file, &unknown);
    if (!unknown.empty()) std::cerr << "texton-view: " << texton::viewer::unknown_keys_text(file, unknown) << '\n';
    return session;
}

texton::viewer::Session session_of(const Options& options) {
    using namespace texton::viewer;
    Session session;
    std::vector<std::string> files;
    if (!options.session.empty()) session = read_session_with_notice(options.session);
    for (const std::string& file : options.files) {
        if (std::filesystem::path(file).extension() == ".json") {
            session = read_session_with_notice(file);
        } else {
            files.push_back(file);
        }
    }
    if (!files.empty()) session.current = session.images.size();
    texton::ImageOptions selected;
    options.selection.apply(selected);
    for (const std::string& file : files) session.images.push_back({.paths = {file}, .options = selected});
    if (!options.device.empty()) session.device = options.device;
    if (!options.review.empty()) session.panels = {"review", "compare", "inspector"};
    if (!options.color_config.empty())
        session.display.color = {.config = std::filesystem::absolute(options.color_config).string(),
                                 .input = session.display.color.input};
    if (!options.color_space.empty()) session.display.color.input = options.color_space;
    const bool is_of_files = session.display.color.input == kFileProfile;  // the window tells problems of each file
    if (const std::string problem = is_of_files ? std::string() : color_problem(session.display.color);
        !problem.empty())
        std::cerr << "texton-view: images are shown without color management: " << problem << '\n';
    if (!options.panels.empty()) session.panels = options.panels;
    std::erase(session.panels, kNoPanel);
    (void)device_named(session.device);  // reports a missing device before the window is created
    return session;
}

texton::viewer::LiveServer::Options live_options(const Options& options) {
    using namespace texton::viewer;
    if (options.no_listen) return {.tcp = std::nullopt};
    LiveServer::Options live{.socket = texton::detail::show_address(), .memory = options.live_memory};
    if (!options.listen.empty()) live.tcp = listen_address(options.listen);
    return live;
}

// Saves frames without a window.
int save_live_frames(const Options& options) {
    using namespace texton::viewer;
    const SavePattern pattern(options.save);
    const StopOnSignals signals;
    const SavedFrames result = save_frames(live_options(options), pattern, options.frames, signals.token());
    StopOnSignals::end_if_stopped();
    return result.failed == 0 ? 0 : 2;
}

// Loads every image once and prints all errors, so that the exit status covers all images.
bool settle(texton::viewer::Workspace& workspace) {
    using namespace texton::viewer;
    workspace.settle();  // a suite
    const std::size_t current = workspace.session().current;
    bool good = true;
    for (std::size_t i = 0; i < workspace.session().images.size(); ++i) {
        workspace.look([i](Session& session) { session.current = i; });
        workspace.settle();
        if (workspace.document(i)) continue;
        good = false;
        std::cerr << "texton-view: " << workspace.problem(i).toStdString() << '\n';
    }
    workspace.look([current](Session& session) { session.current = current; });
    workspace.settle();
    if (!workspace.kernel_problem().isEmpty()) {
        good = false;
        std::cerr << "texton-view: " << workspace.kernel_problem().toStdString() << '\n';
    }
    return good;
}

int run(int argc, char** argv, const Options& options, QSize size) {
    using namespace texton::viewer;
    if (!options.screenshot.empty()) {
        if (!options.review.empty() && is_same_file(options.screenshot, options.review)) {
            std::cerr << "texton-view: --screenshot would overwrite the suite " << options.review
                      << ". Choose another path.\n";
            return 2;
        }
        for (const std::string& name : options.files) {
            for (const std::filesystem::path& file : named_files(name)) {
                if (!is_same_file(options.screenshot, file)) continue;
                std::cerr << "texton-view: --screenshot would overwrite " << file.string()
                          << ". Choose another path.\n";
                return 2;
            }
        }
    }
    const Session session = session_of(options);
    using namespace texton::verify;
    const ReviewOptions review_options{.suite = options.review,
                                       .filter = options.filter,
                                       .quick = options.quick,
                                       .variant = options.variant,
                                       .outside = options.allow_outside ? Outside::allowed : Outside::refused,
                                       .commands = options.commands ? Commands::allowed : Commands::refused};
    // Reports a bad suite before the window is created.
    if (!options.review.empty()) (void)SuiteRun(review_options, device_named(session.device));
    const bool headless = !options.screenshot.empty();
    const bool has_display = std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr;
    if (!has_display && std::getenv("QT_QPA_PLATFORM") == nullptr) {
        if (!headless) {
            std::cerr
                << "texton-view: no display is available. Use --screenshot OUT.png to write the window to a file.\n";
            return 2;
        }
        setenv("QT_QPA_PLATFORM", "offscreen", 0);
    }
    if (headless) {
        // Without a screen, Qt prints warnings that do not apply here. Only critical and fatal messages are kept.
        qInstallMessageHandler([](QtMsgType type, const QMessageLogContext&, const QString& text) {
            if (type == QtCriticalMsg || type == QtFatalMsg) std::cerr << text.toStdString() << '\n';
        });
    }
    const Application application(argc, argv);
    QApplication::setOrganizationName("texton");
    QApplication::setApplicationName("texton-view");
    QApplication::setDesktopFileName("texton-view");
    QApplication::setWindowIcon(QIcon::fromTheme("texton-view"));
    apply_theme(*qApp);
    Workspace workspace(session, options.memory);
    std::optional<SuiteReview> review;
    if (!options.review.empty()) review.emplace(workspace, review_options);
    MainWindow window(workspace);
    window.resize(size);
    if (!headless) window.restore();  // the size that the last window had, too
    if (options.has_size) window.resize(size);
    if (headless) window.setAttribute(Qt::WA_DontShowOnScreen);
    if (!options.no_listen && (!headless || !options.listen.empty())) {
        window.listen(live_options(options));
        const auto& problems = window.live_images()->server().problems();
        if (!options.listen.empty() && !problems.empty()) {
            std::cerr << "texton-view: " << problems.front() << '\n';
            return 2;
        }
    }
    window.show();
    if (!headless) return QApplication::exec();

    bool threw = false;
    QObject::connect(&application, &Application::failed, [&threw] { threw = true; });
    const bool good = settle(workspace) && !threw;
    try {
        save_view(options.screenshot, window.grab().toImage(), "png");
    } catch (const texton::Error& error) {
        std::cerr << "texton-view: " << error_text(error) << '\n';
        return 2;
    }
    std::cout << options.screenshot << '\n';
    return good ? 0 : 2;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Displays images as a GPU samples them, with their texels, samplers, kernels and memory.",
                 "texton-view");
    app.add_option(
        "FILE", options.files,
        "Image files in any format that Texton reads, or session files. in_%03d.png stands for numbered files, "
        "which are the frames of one image");
    options.selection.add_to(app);
    app.add_option("--session", options.session,
                   "Session file saved by the viewer: images, view, sampler, kernel, panels");
    app.add_option("--device", options.device,
                   "cpu, cpu:N, cuda or cuda:N (default: a GPU if there is one, else the CPU device)");
    app.add_option("--ocio", options.color_config,
                   "Config file of OpenColorIO (default: the file in $OCIO, or else a built-in config)");
    app.add_option("--color-space", options.color_space,
                   "Color space of the images, as the config names it, such as ACEScg: they are shown with color "
                   "management")
        ->type_name("NAME");
    app.add_option("--panel", options.panels, "Show only this panel; repeat the option for several panels")
        ->check(CLI::IsMember(panel_names()))
        ->type_name("ID")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.add_option("--screenshot", options.screenshot, "Write the window to this PNG file and exit; needs no display");
    const CLI::Option* const size_option =
        app.add_option(
               "--size", options.size,
               "Size of the window in pixels, at least 640x400. Without it, the window has the size that the last "
               "one had")
            ->capture_default_str();
    CLI::Option* review =
        app.add_option(
               "--review", options.review,
               "Run a suite of regression tests, and review the cases that do not pass: approve, reject or mask")
            ->type_name("SUITE")
            ->excludes("FILE")
            ->excludes("--session");
    app.add_option("--filter", options.filter,
                   "With --review: run only the cases whose names contain a match of this regular expression")
        ->type_name("REGEX")
        ->needs(review);
    app.add_flag("--allow-outside", options.allow_outside,
                 "With --review: let the suite read files and use references outside of its folder")
        ->needs(review);
    app.add_flag("--quick", options.quick,
                 "With --review: of the cases of each matrix, run only as many as are needed for every pair of values "
                 "of two keys of the matrix")
        ->needs(review);
    app.add_option("--as", options.variant,
                   "With --review: keep existing references, and approve results as variants with this name, such as "
                   "sm_90")
        ->type_name("NAME")
        ->needs(review);
    app.add_flag("--commands", options.commands,
                 "With --review: run the commands of the suite. They can do anything that you can do, so use it only "
                 "with suites that you trust")
        ->needs(review);
    CLI::Option* listen =
        app.add_flag("--listen{127.0.0.1:14158}", options.listen,
                     "Address for clients of tev's protocol. By default the window listens at 127.0.0.1:14158 if no "
                     "other program does; with this option, a port that is taken is an error. Clients can make the "
                     "window open files, so listen at other addresses only in networks that you trust")
            ->type_name("[=HOST:PORT]");
    app.add_flag("--no-listen", options.no_listen, "Do not show images of running programs")->excludes(listen);
    app.add_option("--live-memory", options.live_memory,
                   "Maximum memory of all images of running programs, for example 8GiB (default: 4GiB)")
        ->transform(CLI::AsSizeValue(false))
        ->type_name("SIZE");
    // AsSizeValue takes -1 for the largest number. The transformation that was added last runs first.
    const CLI::Validator not_negative(
        [](std::string& text) { return text.starts_with('-') ? "The size is negative" : std::string(); }, "");
    app.add_option("--image-memory", options.memory.loaded,
                   "Maximum memory of all images that were loaded, for example 8GiB. Images that are not shown are "
                   "released, the least recently shown ones first, and read again. Larger images with levels are "
                   "streamed (default: half of the memory of the device)")
        ->transform(CLI::AsSizeValue(false))
        ->transform(not_negative)
        ->type_name("SIZE");
    app.add_option("--stream-budget", options.memory.streamed,
                   "Maximum device memory of the tiles of a streamed image, for example 64MiB (default: 256MiB)")
        ->transform(CLI::AsSizeValue(false))
        ->transform(not_negative)
        ->type_name("SIZE");
    CLI::Option* save =
        app.add_option("--save", options.save,
                       "With --listen: open no window, and write frames of running programs to files, for example "
                       "'out/{name}.{frame}.exr'. Needs no display. Ends on SIGINT and SIGTERM")
            ->type_name("PATH")
            ->needs(listen)
            ->excludes("FILE")
            ->excludes("--session")
            ->excludes("--screenshot")
            ->excludes(review);
    app.add_option("--frames", options.frames, "With --save: end after this number of files")
        ->type_name("N")
        ->check(CLI::PositiveNumber)
        ->needs(save);
    texton::viewer::add_reading_options(app);
    app.set_version_flag("--version", "texton-view " TEXTON_VERSION);
    app.footer(kFooter);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
        std::cerr << "texton-view: " << error.what() << ". Run `texton-view --help` for a list of options.\n";
        return 2;
    }
    options.has_size = !size_option->empty();
    const std::optional<QSize> size = parse_size(options.size);
    if (!size) {
        std::cerr << "texton-view: --size " << options.size
                  << " is not a valid size. Use WIDTHxHEIGHT, at least 640x400.\n";
        return 2;
    }
    const bool forks = options.save.empty() && texton::viewer::file_reading().isolated;
    if (forks) texton::reader::fork_helper();  // before this process starts threads
    texton::viewer::end_on_signals();
    if (!options.save.empty()) {
        try {
            return save_live_frames(options);
        } catch (const std::exception& error) {
            std::cerr << "texton-view: " << texton::viewer::error_text(error) << '\n';
            return 2;
        }
    }
    if (forks) texton::start_reader();  // if it was not forked
    try {
        return run(argc, argv, options, *size);
    } catch (const std::exception& error) {
        std::cerr << "texton-view: " << texton::viewer::error_text(error) << '\n';
        return 2;
    }
}

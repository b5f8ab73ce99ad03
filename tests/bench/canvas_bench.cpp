// texton-canvas-bench [PART...]: measures the viewer's canvas with an image of 8192 x 8192 texels, offscreen, at 1280 x
// 800 pixels. Runs all parts, or only those whose names start with one of the arguments.
//
// Events come 62 times per second. Between them, the GUI thread processes other events or sleeps. The time of a frame
// is measured from the start of the event until the frame is drawn: it consists of the change of the session and the
// drawing. 'late' is measured from the time at which the event was due, so it includes work that blocked the thread
// before. Times are wall-clock times; the values in parentheses are CPU times of the thread or of the process, which do
// not depend on the load of the machine.
#include <QApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QStandardPaths>
#include <QTimer>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <vector>

#include <fmt/format.h>

#include <texton/image.h>

#include "viewer/gui/canvas.h"

namespace {

using namespace texton;
using namespace texton::viewer;

constexpr std::size_t kSide = 8192;
constexpr int kFrames = 240;
constexpr int kFrameMilliseconds = 16;
constexpr int kSliderSteps = 100;

std::filesystem::path image() {
    const std::filesystem::path path = std::filesystem::temp_directory_path() / "texton-canvas-bench.tif";
    std::vector<std::byte> texels(kSide * kSide * 4);
    for (std::size_t i = 0; i < texels.size(); ++i) {
        const std::size_t x = i / 4 % kSide, y = i / 4 / kSide;
        texels[i] = static_cast<std::byte>(i % 4 == 3 ? 255 : (x * (i % 4 + 1) ^ y) & 255);
    }
    write_image(path, Format::rgba8_unorm, {kSide, kSide}, texels);
    return path;
}

double milliseconds(const QElapsedTimer& timer) { return static_cast<double>(timer.nsecsElapsed()) / 1e6; }

double processor_milliseconds(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double share_of(std::vector<double>& times, std::size_t percent) {
    std::ranges::sort(times);
    return times[times.size() * percent / 100];
}

// Processes events for `time` milliseconds; sleeps while there are none.
void serve(double time) {
    if (time <= 0) return;
    QEventLoop loop;
    QTimer::singleShot(static_cast<int>(std::ceil(time)), Qt::PreciseTimer, &loop, &QEventLoop::quit);
    loop.exec();
}

class Bench {
public:
    Bench(Workspace& workspace, Canvas& canvas) : workspace_(workspace), canvas_(canvas) {}

    void drive(const std::string& name, const std::function<void(Session&, int)>& step) {
        std::vector<double> times, own, late;
        QElapsedTimer timer;
        timer.start();
        double due = 0;
        for (int i = 0; i < kFrames; ++i) {
            serve(due - milliseconds(timer));
            const double begin = milliseconds(timer), before = processor_milliseconds(CLOCK_THREAD_CPUTIME_ID);
            workspace_.look([&](Session& session) {
                session.fits = false;
                step(session, i);
            });
            canvas_.repaint();
            const double end = milliseconds(timer);
            times.push_back(end - begin);
            own.push_back(processor_milliseconds(CLOCK_THREAD_CPUTIME_ID) - before);
            late.push_back(end - due);
            due = std::max(due + kFrameMilliseconds, end);  // mouse events that arrive meanwhile are merged into one
        }
        fmt::print("{:<28} p50 {:6.2f} ms ({:5.2f})   p99 {:6.2f} ms ({:5.2f})   late p99 {:6.2f} ms\n", name,
                   share_of(times, 50), share_of(own, 50), share_of(times, 99), share_of(own, 99), share_of(late, 99));
        workspace_.settle();
    }

    void slider(const std::string& name, double zoom) {
        workspace_.look([&](Session& session) {
            session.view = {zoom, {kSide / 2.0, kSide / 2.0}};
            session.fits = false;
        });
        workspace_.settle();
        std::vector<double> times, all_threads;
        for (int i = 0; i < kSliderSteps; ++i) {
            const double before = processor_milliseconds(CLOCK_PROCESS_CPUTIME_ID);
            QElapsedTimer timer;
            timer.start();
            workspace_.change(
                "Exposure",
                [&](Session& session) { session.display.exposure = static_cast<float>(i + 1) / kSliderSteps; }, "e");
            while (!canvas_.shows_display()) QApplication::processEvents(QEventLoop::WaitForMoreEvents);
            canvas_.repaint();
            times.push_back(milliseconds(timer));
            all_threads.push_back(processor_milliseconds(CLOCK_PROCESS_CPUTIME_ID) - before);
        }
        fmt::print("{:<28} p50 {:6.2f} ms ({:5.2f})   p99 {:6.2f} ms ({:5.2f}), of all threads\n", name,
                   share_of(times, 50), share_of(all_threads, 50), share_of(times, 99), share_of(all_threads, 99));
        workspace_.settle();
    }

private:
    Workspace& workspace_;
    Canvas& canvas_;
};

}  // namespace

int main(int argc, char** argv) {
    setenv("QT_QPA_PLATFORM", "offscreen", 0);
    const QApplication application(argc, argv);
    QStandardPaths::setTestModeEnabled(true);
    const std::vector<std::string> asked(argv + 1, argv + argc);
    const auto is_selected = [&](const std::string& name) {
        return asked.empty() || std::ranges::any_of(asked, [&](const auto& begin) { return name.starts_with(begin); });
    };
    const std::filesystem::path path = image();
    Session session;
    session.device = "cpu";
    Workspace workspace(session);
    Canvas canvas(workspace);
    canvas.resize(1280, 800);
    canvas.show();
    workspace.settle();
    Bench bench(workspace, canvas);

    workspace.open({Source{.paths = {path}, .options = {}}});
    while (!workspace.shown()) QApplication::processEvents(QEventLoop::WaitForMoreEvents);
    QElapsedTimer timer;
    const double before = processor_milliseconds(CLOCK_PROCESS_CPUTIME_ID);
    timer.start();
    while (!canvas.has_pixels()) QApplication::processEvents(QEventLoop::WaitForMoreEvents);
    canvas.repaint();
    const auto say = [&](const char* name) {
        fmt::print("{:<28} {:6.1f} ms ({:.1f}), of all threads\n", name, milliseconds(timer),
                   processor_milliseconds(CLOCK_PROCESS_CPUTIME_ID) - before);
    };
    say("first pixels, after loading");
    workspace.settle();
    say("all of them in full");

    for (const double zoom : {0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 8.0, 16.0, 32.0, 50.0, 64.0}) {
        const std::string name = fmt::format("pan at {}", zoom);
        if (!is_selected(name)) continue;
        bench.drive(name, [&](Session& now, int i) {
            const double turn = i * 0.05;
            now.view = {zoom,
                        {kSide / 2.0 + 600 * std::cos(turn) / zoom, kSide / 2.0 + 300 * std::sin(turn * 1.7) / zoom}};
        });
    }
    const auto zoom = [](Session& now, int i) {
        const double share = std::abs(1 - 2.0 * i / kFrames);
        now.view = {0.1 * std::pow(640.0, 1 - share), {kSide / 2.0, kSide / 2.0}};
    };
    for (const char* name : {"zoom from 0.1 to 64", "zoom again"}) {
        if (is_selected(name)) bench.drive(name, zoom);
    }
    const auto sliders = [&](const std::string& what) {
        for (const double zoom : {0.1, 1.0, 64.0}) {
            const std::string name = fmt::format("slider at {}{}", zoom, what);
            if (is_selected(name)) bench.slider(name, zoom);
        }
    };
    sliders("");
    if (is_selected("slider")) {
        workspace.open({Source{.paths = {path}, .options = {.format = Format::rgba8_srgb}}});
        workspace.settle();
        sliders(" of sRGB");
    }
    std::filesystem::remove(path);
    return 0;
}

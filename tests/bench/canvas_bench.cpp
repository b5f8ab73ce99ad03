// texton-canvas-bench: the viewer's canvas on a picture of 8192 x 8192, offscreen, at 1280 x 800.
//
// A frame is what the window's thread does for it: the event, the change of the session, the drawing; between frames its events are
// served for as long as 60 frames a second leave. Times are those of the clock and, in brackets, of the processor: what the thread
// itself took, whatever else the machine did.
#include <QApplication>
#include <QElapsedTimer>
#include <QImage>
#include <QStandardPaths>
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

std::filesystem::path picture() {
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

class Bench {
public:
    Bench(Workspace& workspace, Canvas& canvas)
        : workspace_(workspace), canvas_(canvas), image_(canvas.size(), QImage::Format_RGB32) {}

    void frame() { canvas_.render(&image_); }

    void drive(const std::string& name, const std::function<void(Session&, int)>& step) {
        std::vector<double> times, own;
        for (int i = 0; i < kFrames; ++i) {
            const double before = processor_milliseconds(CLOCK_THREAD_CPUTIME_ID);
            QElapsedTimer timer;
            timer.start();
            workspace_.look([&](Session& session) {
                session.fits = false;
                step(session, i);
            });
            frame();
            times.push_back(milliseconds(timer));
            own.push_back(processor_milliseconds(CLOCK_THREAD_CPUTIME_ID) - before);
            do QApplication::processEvents(QEventLoop::AllEvents, 1);
            while (timer.elapsed() < kFrameMilliseconds);
        }
        fmt::print("{:<28} p50 {:6.2f} ms ({:5.2f})   p99 {:6.2f} ms ({:5.2f})\n", name, share_of(times, 50),
                   share_of(own, 50), share_of(times, 99), share_of(own, 99));
        workspace_.settle();
    }

    void slider(const std::string& name, double zoom) {
        workspace_.look([&](Session& session) { session.view.zoom = zoom, session.fits = false; });
        workspace_.settle();
        std::vector<double> times, all_threads;
        for (int i = 0; i < 20; ++i) {
            const double before = processor_milliseconds(CLOCK_PROCESS_CPUTIME_ID);
            QElapsedTimer timer;
            timer.start();
            workspace_.change(
                "Exposure", [&](Session& session) { session.display.exposure = static_cast<float>(i + 1) / 20; }, "e");
            while (!canvas_.shows_display()) QApplication::processEvents(QEventLoop::WaitForMoreEvents, 1);
            frame();
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
    QImage image_;
};

}  // namespace

int main(int argc, char** argv) {
    setenv("QT_QPA_PLATFORM", "offscreen", 0);
    const QApplication application(argc, argv);
    QStandardPaths::setTestModeEnabled(true);
    const std::filesystem::path path = picture();
    Session session;
    session.device = "cpu";
    Workspace workspace(session);
    Canvas canvas(workspace);
    canvas.resize(1280, 800);
    canvas.show();
    workspace.settle();
    Bench bench(workspace, canvas);

    workspace.open({Source{.paths = {path}, .options = {}}});
    while (!workspace.shown()) QApplication::processEvents(QEventLoop::WaitForMoreEvents, 1);
    QElapsedTimer timer;
    const double before = processor_milliseconds(CLOCK_PROCESS_CPUTIME_ID);
    timer.start();
    while (!canvas.has_pixels()) QApplication::processEvents(QEventLoop::WaitForMoreEvents, 1);
    bench.frame();
    const auto say = [&](const char* name) {
        fmt::print("{:<28} {:6.1f} ms ({:.1f}), of all threads\n", name, milliseconds(timer),
                   processor_milliseconds(CLOCK_PROCESS_CPUTIME_ID) - before);
    };
    say("first pixels, after loading");
    workspace.settle();
    say("all of them in full");

    for (const double zoom : {0.1, 0.5, 1.0, 3.0, 64.0}) {
        bench.drive(fmt::format("pan at {}", zoom), [&](Session& now, int i) {
            const double turn = i * 0.05;
            now.view = {zoom,
                        {kSide / 2.0 + 600 * std::cos(turn) / zoom, kSide / 2.0 + 300 * std::sin(turn * 1.7) / zoom}};
        });
    }
    bench.drive("zoom from 0.1 to 64", [&](Session& now, int i) {
        const double share = std::abs(1 - 2.0 * i / kFrames);
        now.view = {0.1 * std::pow(640.0, 1 - share), {kSide / 2.0, kSide / 2.0}};
    });
    bench.slider("slider at 0.1", 0.1);
    bench.slider("slider at 1", 1);
    std::filesystem::remove(path);
    return 0;
}

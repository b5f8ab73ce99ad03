// texton-live-bench [SECONDS [RATE]]: counts the different frames of a running program that the canvas paints, offscreen, at
// 1280 x 800 pixels.
//
// A second process shows RATE frames of 4096 x 2160 rgba32_float texels per second (default: 60), or as many as it can.
// Each texel holds the number of its frame. A painted frame counts only if the texels at its corners and its center hold
// its number.
#include <sys/wait.h>
#include <unistd.h>

#include <QApplication>
#include <QStandardPaths>
#include <QTimer>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <texton/show.h>

#include "core/parallel.h"
#include "viewer/gui/canvas.h"
#include "viewer/gui/live_images.h"

namespace {

using namespace texton;
using namespace texton::viewer;

constexpr Extent kFrame{4096, 2160};
constexpr int kPatience = 600'000;  // milliseconds

[[noreturn]] void show_frames(double rate) {
    const auto period =
        std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(1 / rate));
    auto due = std::chrono::steady_clock::now();
    std::vector<float> texels(kFrame.width * kFrame.height * 4);
    for (std::uint64_t next = 1;;) {
        due = std::max(due + period, std::chrono::steady_clock::now());
        const auto row = [&](std::size_t y) { return texels.data() + y * kFrame.width * 4; };
        detail::run_in_parallel(kFrame.height,
                                [&](std::size_t y) { std::fill(row(y), row(y + 1), static_cast<float>(next)); });
        std::this_thread::sleep_until(due);
        const ShowResult result =
            show(host_view(static_cast<const void*>(texels.data()), Format::rgba32_float, kFrame), "frames");
        if (result.outcome == ShowOutcome::no_window) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        } else {
            next = result.frame + 1;
        }
    }
}

double processor_milliseconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

bool holds_its_number(const Document& document) {
    const std::size_t right = kFrame.width - 1, bottom = kFrame.height - 1;
    for (const auto& [x, y] : {std::pair{std::size_t{0}, std::size_t{0}},
                               {right, std::size_t{0}},
                               {std::size_t{0}, bottom},
                               {right, bottom},
                               {right / 2, bottom / 2}}) {
        const std::vector<std::byte> texel = document.texels({}, {x, y, 1, 1});
        float value = 0;
        std::memcpy(&value, texel.data(), sizeof(value));
        if (value != static_cast<float>(document.live_frame())) return false;
    }
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    setenv("QT_QPA_PLATFORM", "offscreen", 0);
    const std::string socket = fmt::format("@texton-live-bench-{}", getpid());
    setenv("TEXTON_SHOW", socket.c_str(), 1);
    const double seconds = argc > 1 ? std::max(std::atof(argv[1]), 1.0) : 10;
    const double rate = argc > 2 ? std::max(std::atof(argv[2]), 1.0) : 60;
    const pid_t program = fork();  // before there are threads
    if (program == 0) show_frames(rate);

    std::set<std::uint64_t> painted;
    std::size_t wrong = 0;
    {
        const QApplication application(argc, argv);
        QStandardPaths::setTestModeEnabled(true);
        Session session;
        session.device = "cpu";
        Workspace workspace(session);
        Canvas canvas(workspace);
        canvas.resize(1280, 800);
        canvas.show();
        LiveImages live(workspace, {.tcp = std::nullopt, .socket = detail::show_address(socket)});
        QObject::connect(&canvas, &Canvas::painted_frame, &live, &LiveImages::frame_painted, Qt::QueuedConnection);
        QObject::connect(&canvas, &Canvas::painted_frame, &canvas, [&](std::uint64_t frame) {
            if (painted.empty())  // the time begins with the first frame
                QTimer::singleShot(static_cast<int>(seconds * 1000), Qt::PreciseTimer, &canvas,
                                   [] { QApplication::quit(); });
            if (holds_its_number(*workspace.document())) {
                painted.insert(frame);
            } else {
                ++wrong;
            }
        });
        QTimer::singleShot(kPatience, &canvas, [] { QApplication::quit(); });
        QApplication::exec();
        const double busy = processor_milliseconds() / static_cast<double>(std::max<std::size_t>(painted.size(), 1));
        const auto images = live.server().images();
        fmt::print(
            "{} x {} rgba32_float: {:.1f} different frames per second painted on {} processors ({} in {:g} s, {} "
            "wrong, {} dropped); {:.1f} ms of processor time of the window each\n",
            kFrame.width, kFrame.height, static_cast<double>(painted.size()) / seconds,
            std::thread::hardware_concurrency(), painted.size(), seconds, wrong, images.empty() ? 0 : images[0].dropped,
            busy);
    }
    kill(program, SIGKILL);
    waitpid(program, nullptr, 0);
    return wrong == 0 && !painted.empty() ? 0 : 1;
}

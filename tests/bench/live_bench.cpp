// texton-live-bench [SECONDS]: counts the different frames of a running program that the canvas paints, offscreen, at
// 1280 x 800 pixels.
//
// A second process shows frames of 4096 x 2160 rgba32_float texels as fast as it can. Each texel holds the number of its
// frame. A painted frame counts only if the texels at its corners and its center hold its number.
#include <sys/wait.h>
#include <unistd.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QStandardPaths>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <texton/show.h>

#include "viewer/gui/canvas.h"
#include "viewer/gui/live_images.h"

namespace {

using namespace texton;
using namespace texton::viewer;

constexpr Extent kFrame{4096, 2160};

[[noreturn]] void show_frames() {
    std::vector<float> texels(kFrame.width * kFrame.height * 4);
    for (std::uint64_t next = 1;;) {
        std::ranges::fill(texels, static_cast<float>(next));
        const ShowResult result =
            show(host_view(static_cast<const void*>(texels.data()), Format::rgba32_float, kFrame), "frames");
        if (result.outcome == ShowOutcome::no_window) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        } else {
            next = result.frame + 1;
        }
    }
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
    const pid_t program = fork();  // before there are threads
    if (program == 0) show_frames();

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
        QElapsedTimer timer;
        QObject::connect(&canvas, &Canvas::painted_frame, &canvas, [&](std::uint64_t frame) {
            if (!timer.isValid()) timer.start();  // with the first frame
            if (holds_its_number(*workspace.document())) {
                painted.insert(frame);
            } else {
                ++wrong;
            }
        });
        while (!timer.isValid() || static_cast<double>(timer.elapsed()) < seconds * 1000)
            QApplication::processEvents(QEventLoop::WaitForMoreEvents, 100);
        const auto images = live.server().images();
        fmt::print(
            "{} x {} rgba32_float: {:.1f} different frames per second painted on {} processors ({} in {:g} s, {} "
            "wrong, {} dropped)\n",
            kFrame.width, kFrame.height, static_cast<double>(painted.size()) / seconds,
            std::thread::hardware_concurrency(), painted.size(), seconds, wrong,
            images.empty() ? 0 : images[0].dropped);
    }
    kill(program, SIGKILL);
    waitpid(program, nullptr, 0);
    return wrong == 0 && !painted.empty() ? 0 : 1;
}

// texton-playback-bench [--rate RATE] [--seconds SECONDS] NAME [REFERENCE]: plays numbered files (frame_%03d.exr) on
// a canvas of 1280 x 800 pixels, rendered offscreen, and counts the frames that are shown and those that are late.
// REFERENCE names other numbered files that are played along, beside the first ones. The defaults are 24 frames per
// second and 10 s.
#include <QApplication>
#include <QStandardPaths>
#include <QTimer>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "arrays/files/reader/forked_helper.h"
#include "viewer/gui/canvas.h"
#include "viewer/gui/playback.h"

int main(int argc, char** argv) {
    using namespace texton::viewer;
    double rate = 24, seconds = 10;
    std::vector<const char*> names;
    for (int i = 1; i < argc; ++i) {
        double* const number = std::strcmp(argv[i], "--rate") == 0      ? &rate
                               : std::strcmp(argv[i], "--seconds") == 0 ? &seconds
                                                                        : nullptr;
        if (!number) {
            names.push_back(argv[i]);
        } else if (++i < argc) {
            *number = std::atof(argv[i]);
        }
    }
    if (names.empty() || names.size() > 2 || !(rate > 0) || !(seconds > 0)) {
        std::fprintf(stderr, "usage: texton-playback-bench [--rate RATE] [--seconds SECONDS] NAME [REFERENCE]\n");
        return 2;
    }
    setenv("QT_QPA_PLATFORM", "offscreen", 0);
    QStandardPaths::setTestModeEnabled(true);
    texton::reader::fork_helper();  // as texton-view does, before there are threads
    const QApplication application(argc, argv);
    Session session;
    session.device = "cpu";
    for (const char* name : names) session.images.push_back({.paths = {name}, .options = {}});
    if (names.size() > 1) {
        session.reference = 1;
        session.compare.mode = CompareMode::wipe;
    }
    Workspace workspace(session);
    Canvas canvas(workspace);
    canvas.resize(1280, 800);
    canvas.show();
    Playback playback(workspace);
    QObject::connect(&workspace, &Workspace::documents_changed, &playback, [&] {
        for (std::size_t i = 0; i < names.size(); ++i)
            if (!workspace.document(i)) return;
        if (playback.is_running()) return;
        playback.start(rate);  // the time begins when all images are loaded
        QTimer::singleShot(static_cast<int>(seconds * 1000), Qt::PreciseTimer, &canvas, [] { QApplication::quit(); });
    });
    QTimer::singleShot(static_cast<int>(seconds * 1000) + 60'000, &canvas, [] { QApplication::quit(); });
    QApplication::exec();
    fmt::print("{} frames shown in {:g} s at {:g} frames per second, {} of them late, on {} processors\n",
               playback.shown(), seconds, rate, playback.late(), std::thread::hardware_concurrency());
    return playback.shown() > 0 ? 0 : 1;
}

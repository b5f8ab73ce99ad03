#include "viewer/model/end_on_signals.h"

#include <csignal>
#include <exception>
#include <thread>

#include "core/unfinished_file.h"

namespace texton::viewer {
namespace {

bool is_ignored(int signal) {
    struct sigaction action {};
    return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

// Ends the process by the signal, so that its parent sees why it ended.
void end_by(int signal, const sigset_t& signals) {
    detail::remove_unfinished_files();
    std::signal(signal, SIG_DFL);
    ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
    ::raise(signal);
}

}  // namespace

// A handler may call hardly any function. Therefore the signals are blocked in all threads, and a thread waits for them.
void end_on_signals() noexcept {
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
        if (!is_ignored(signal)) ::sigaddset(&signals, signal);
    if (::pthread_sigmask(SIG_BLOCK, &signals, nullptr) != 0) return;
    try {
        std::thread([signals] {
            int signal = 0;
            if (::sigwait(&signals, &signal) == 0) end_by(signal, signals);
        }).detach();
    } catch (const std::exception&) {
        ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
    }
}

}  // namespace texton::viewer

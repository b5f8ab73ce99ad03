#include "viewer/model/end_on_signals.h"

#include <csignal>
#include <exception>
#include <mutex>
#include <thread>

#include "core/unfinished_file.h"

namespace texton::viewer {
namespace {

bool is_ignored(int signal) {
    struct sigaction action {};
    return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

std::mutex stop_mutex;
std::stop_source* stop_source = nullptr;  // of the object of StopOnSignals
int stop_signal = 0;                      // the signal that requested the stop

// Returns false if the signal must end the process.
bool requests_stop(int signal) {
    const std::lock_guard lock(stop_mutex);
    if (stop_source == nullptr || stop_signal != 0) return false;
    stop_signal = signal;
    stop_source->request_stop();
    return true;
}

sigset_t end_signals() {
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
        if (!is_ignored(signal)) ::sigaddset(&signals, signal);
    return signals;
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
    const sigset_t signals = end_signals();
    if (::pthread_sigmask(SIG_BLOCK, &signals, nullptr) != 0) return;
    try {
        std::thread([signals] {
            int signal = 0;
            while (::sigwait(&signals, &signal) != 0 || requests_stop(signal)) {
            }
            end_by(signal, signals);
        }).detach();
    } catch (const std::exception&) {
        ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
    }
}

StopOnSignals::StopOnSignals() {
    const std::lock_guard lock(stop_mutex);
    stop_source = &source_;
    stop_signal = 0;
}

StopOnSignals::~StopOnSignals() {
    const std::lock_guard lock(stop_mutex);
    stop_source = nullptr;
}

void StopOnSignals::end_if_stopped() {
    int signal = 0;
    {
        const std::lock_guard lock(stop_mutex);
        signal = stop_signal;
    }
    if (signal != 0) end_by(signal, end_signals());
}

}  // namespace texton::viewer

#pragma once
#include <stop_token>

namespace texton::viewer {

/// Makes SIGINT, SIGTERM and SIGHUP remove the unfinished files of the process before they end it. A signal that the
/// process ignores stays ignored. Call this once, at the beginning of main(): threads that exist already would receive
/// the signals themselves. If no thread can be started, the signals keep their effect, and files may be left.
void end_on_signals() noexcept;

/// While it exists, the first of these signals requests a stop instead, so that the program can complete what it began.
/// The next signal ends the process. There must not be two of these objects at a time.
class StopOnSignals {
public:
    StopOnSignals();
    ~StopOnSignals();
    StopOnSignals(const StopOnSignals&) = delete;
    StopOnSignals& operator=(const StopOnSignals&) = delete;

    std::stop_token token() const noexcept { return source_.get_token(); }
    /// Ends the process by the signal, if there was one.
    static void end_if_stopped();

private:
    std::stop_source source_;
};

}  // namespace texton::viewer

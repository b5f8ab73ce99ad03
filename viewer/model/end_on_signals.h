#pragma once

namespace texton::viewer {

/// Makes SIGINT, SIGTERM and SIGHUP remove the unfinished files of the process before they end it. A signal that the
/// process ignores stays ignored. Call this once, at the beginning of main(): threads that exist already would receive
/// the signals themselves. If no thread can be started, the signals keep their effect, and files may be left.
void end_on_signals() noexcept;

}  // namespace texton::viewer

#pragma once
// Progress of long work, on standard error.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include <CLI/CLI.hpp>

namespace texton::cli {

/// Adds --progress and --no-progress to a command. They apply to all progress bars of the process.
void add_progress_options(CLI::App& command);

/// Shows how much of the work is done, the rate and the time left.
///
/// On a terminal, a bar appears when the work takes longer than a second. With --progress it appears at once; if
/// standard error is not a terminal, lines are printed instead, at most one per second. With --no-progress, or without
/// --progress if standard error is not a terminal, nothing is shown. Standard output is never used.
///
/// All functions may be called by several threads at once. The destructor erases the bar.
class ProgressBar {
public:
    /// `title` says what is done ("converting"), and `noun` what is counted ("frames"). Work that is counted in "bytes"
    /// is shown in KiB, MiB or GiB.
    ProgressBar(std::string title, std::string noun);
    ~ProgressBar();
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;

    /// Sets how much of the work is done. Call it with 0 before the work begins.
    void show(double done, double total);
    /// Erases the bar, so that something else can be printed on the terminal. The next call of show() shows it again.
    void hide();

private:
    using Clock = std::chrono::steady_clock;

    void draw_if_due() noexcept;
    void redraw(const std::stop_token& stopped);
    void erase() noexcept;
    std::string text() const;

    const std::string title_;
    const std::string noun_;
    const bool on_terminal_;
    const Clock::time_point begin_ = Clock::now();
    std::mutex mutex_;  // of all below
    std::condition_variable_any ended_;
    Clock::time_point next_;  // when the bar may be drawn again
    double done_ = 0;
    double total_ = 0;
    double drawn_ = -1;        // value of `done_` that was drawn last
    std::size_t columns_ = 0;  // of the bar on the terminal
    bool is_shown_ = false;
    std::jthread thread_;  // updates the time; not started if nothing is shown
};

}  // namespace texton::cli

#include "viewer/cli/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <system_error>

#include <fmt/format.h>

#include "viewer/text/value_text.h"

namespace texton::cli {
namespace {

using namespace std::chrono_literals;

enum class Mode : std::uint8_t { automatic, always, never };
Mode mode = Mode::automatic;  // set while the command line is parsed

std::size_t terminal_columns() {
    winsize size{};
    return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string time_text(double seconds) {
    const auto all = static_cast<std::uint64_t>(std::clamp(seconds, 0.0, 1e9) + 0.5);
    const std::uint64_t hours = all / 3600, minutes = all / 60 % 60;
    return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, all % 60)
                     : fmt::format("{}:{:02}", minutes, all % 60);
}

std::string rate_text(double rate, const std::string& noun) {
    if (noun == "bytes") return viewer::size_text(static_cast<std::size_t>(rate)) + "/s";
    return rate < 10 ? fmt::format("{:.2g} {}/s", rate, noun) : fmt::format("{:.0f} {}/s", rate, noun);
}

}  // namespace

void add_progress_options(CLI::App& command) {
    CLI::Option* const always = command.add_flag_callback(
        "--progress", [] { mode = Mode::always; },
        "Show the progress at once, also if standard error is not a terminal. Default: on a terminal, after a second");
    command
        .add_flag_callback(
            "--no-progress", [] { mode = Mode::never; }, "Do not show the progress")
        ->excludes(always);
}

ProgressBar::ProgressBar(std::string title, std::string noun)
    : title_(std::move(title)),
      noun_(std::move(noun)),
      on_terminal_(::isatty(STDERR_FILENO) == 1),
      next_(mode == Mode::always ? begin_ : begin_ + 1s) {
    if (mode == Mode::never || (mode == Mode::automatic && !on_terminal_)) return;
    try {
        thread_ = std::jthread([this](const std::stop_token& stopped) { redraw(stopped); });
    } catch (const std::system_error&) {
        // Without a thread, nothing is shown.
    }
}

ProgressBar::~ProgressBar() {
    if (!thread_.joinable()) return;
    thread_.request_stop();
    thread_.join();
    erase();
}

void ProgressBar::show(double done, double total) {
    if (!thread_.joinable()) return;
    const std::lock_guard lock(mutex_);
    done_ = std::clamp(done, 0.0, total);
    total_ = total;
    is_shown_ = total > 0;
    draw_if_due();
}

void ProgressBar::hide() {
    if (!thread_.joinable()) return;
    const std::lock_guard lock(mutex_);
    is_shown_ = false;
    erase();
}

void ProgressBar::redraw(const std::stop_token& stopped) {
    std::unique_lock lock(mutex_);
    while (!stopped.stop_requested()) {
        draw_if_due();
        ended_.wait_until(lock, stopped, std::max(next_, Clock::now() + 50ms), [] { return false; });
    }
}

void ProgressBar::draw_if_due() noexcept try {
    const Clock::time_point now = Clock::now();
    if (!is_shown_ || now < next_ || (!on_terminal_ && done_ == drawn_)) return;
    next_ = now + (on_terminal_ ? 100ms : 1000ms);
    drawn_ = done_;
    if (on_terminal_) {
        constexpr std::size_t kCells = 15;
        const auto full = static_cast<std::size_t>(done_ / total_ * kCells);
        std::string line = fmt::format("{} [{:<{}}] {}", title_, std::string(full, '#'), kCells, text());
        line.resize(std::min(line.size(), terminal_columns() - 1));
        const std::size_t length = line.size();
        line.resize(std::max(length, columns_), ' ');  // covers the last line
        columns_ = length;
        std::fputs(('\r' + line).c_str(), stderr);
        std::fflush(stderr);
    } else {
        std::fputs(fmt::format("{}: {}\n", title_, text()).c_str(), stderr);
    }
} catch (...) {
    // A line that finds no memory is not shown.
}

void ProgressBar::erase() noexcept {
    if (columns_ == 0) return;
    std::fputc('\r', stderr);
    for (; columns_ > 0; --columns_) std::fputc(' ', stderr);
    std::fputc('\r', stderr);
    std::fflush(stderr);
}

std::string ProgressBar::text() const {
    const auto count = [this](double value) {
        const auto whole = static_cast<std::size_t>(value);
        return noun_ == "bytes" ? viewer::size_text(whole) : std::to_string(whole);
    };
    std::string out = fmt::format("{:3.0f} %, {} of {}", 100 * done_ / total_, count(done_), count(total_));
    if (noun_ != "bytes") out += ' ' + noun_;
    const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    if (done_ <= 0 || seconds <= 0) return out;
    const double rate = done_ / seconds;
    return out + fmt::format(", {}, {} left", rate_text(rate, noun_), time_text((total_ - done_) / rate));
}

}  // namespace texton::cli

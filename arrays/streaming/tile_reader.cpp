#include "arrays/streaming/tile_reader.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <texton/error.h>

namespace texton::detail {
namespace {

// Returns the text, or an empty string if the host has no memory for it.
std::string message_of(const char* text) noexcept {
    try {
        return text;
    } catch (const std::bad_alloc&) {
        return {};
    }
}

}  // namespace

TileReader::TileReader(Function function, int threads) : function_(std::move(function)) {
    try {
        threads_.reserve(static_cast<std::size_t>(threads));
        for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
    } catch (const std::system_error& error) {
        const std::size_t started = threads_.size();
        stop_threads();
        throw Error(
            {.code = ErrorCode::out_of_memory,
             .object = "texton::StreamedTexture",
             .problem = fmt::format("the system refused thread {} of {} ({})", started + 1, threads, error.what()),
             .remedy = "Use fewer threads.",
             .numbers = {{"threads", static_cast<std::uint64_t>(threads)}}});
    } catch (...) {
        stop_threads();
        throw;
    }
}

TileReader::~TileReader() { stop_threads(); }

void TileReader::stop_threads() noexcept {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        for (Running& running : running_) running.stop.request_stop();
    }
    started_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
}

void TileReader::start(std::span<const TileRead> reads) {
    std::list<Running> added;
    for (const TileRead& read : reads) added.push_back({read, {}});
    {
        const std::lock_guard lock(mutex_);
        finished_.reserve(finished_.size() + waiting_.size() + running_.size() + added.size());
        waiting_.splice(waiting_.end(), added);
    }
    started_.notify_all();
}

void TileReader::cancel(std::uint32_t id) {
    const std::lock_guard lock(mutex_);
    const auto waiting = std::ranges::find_if(waiting_, [&](const Running& other) { return other.read.id == id; });
    if (waiting != waiting_.end()) {
        finished_.push_back({waiting->read, true});
        waiting_.erase(waiting);
    }
    for (Running& running : running_) {
        if (running.read.id == id) running.stop.request_stop();
    }
    for (FinishedRead& finished : finished_) finished.canceled |= finished.read.id == id;
    ended_.notify_all();
}

void TileReader::cancel_all() {
    const std::lock_guard lock(mutex_);
    for (const Running& waiting : waiting_) finished_.push_back({waiting.read, true});
    waiting_.clear();
    for (Running& running : running_) running.stop.request_stop();
    for (FinishedRead& finished : finished_) finished.canceled = true;
    ended_.notify_all();
}

std::vector<FinishedRead> TileReader::take_finished() {
    const std::lock_guard lock(mutex_);
    std::vector<FinishedRead> taken;
    taken.reserve(finished_.size());
    std::ranges::move(finished_, std::back_inserter(taken));
    finished_.clear();  // keeps its memory, which start() has reserved for the reads in progress
    return taken;
}

bool TileReader::wait(std::chrono::microseconds limit) const {
    std::unique_lock lock(mutex_);
    ended_.wait_for(lock, limit, [&] { return !finished_.empty() || (waiting_.empty() && running_.empty()); });
    return !finished_.empty();
}

void TileReader::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        started_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
        if (stopping_) return;
        const auto running = waiting_.begin();
        running_.splice(running_.end(), waiting_, running);
        lock.unlock();
        FinishedRead finished{.read = running->read};
        const std::stop_token stop = running->stop.get_token();
        try {
            function_(finished.read.box, finished.read.texels, stop);
        } catch (const std::exception& error) {
            finished.failed = true;
            finished.message = message_of(error.what());
        } catch (...) {
            finished.failed = true;
            finished.message = message_of("the callback threw an exception that is not derived from std::exception");
        }
        lock.lock();
        finished.canceled = stop.stop_requested();
        running_.erase(running);
        finished_.push_back(std::move(finished));
        ended_.notify_all();
    }
}

}  // namespace texton::detail

#pragma once
// Threads that read the tiles of a pyramid.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <texton/streamed_texture.h>

namespace texton::detail {

/// A read. `texels` is the caller's memory, which must exist until the read is taken or the reader is destroyed.
struct TileRead {
    std::uint32_t id = 0;  ///< chosen by the caller
    PyramidBox box{};
    std::span<std::byte> texels{};
};

/// A read that has ended: with texels, with an error, or because it was canceled.
struct FinishedRead {
    TileRead read;
    bool canceled = false;
    bool failed = false;
    std::string message{};  ///< of the exception
};

/// Calls the callback of a pyramid on its own threads. Thread-safe.
class TileReader {
public:
    using Function = std::function<void(const PyramidBox&, std::span<std::byte>, const std::stop_token&)>;

    /// Throws Error{out_of_memory} if the system refuses a thread.
    TileReader(Function function, int threads);
    /// Cancels all reads and waits until the callbacks have returned.
    ~TileReader();
    TileReader(const TileReader&) = delete;
    TileReader& operator=(const TileReader&) = delete;

    /// Reads of one call start in their order, after those of earlier calls.
    void start(std::span<const TileRead> reads);
    /// Cancels the read with this id. It is finished as canceled, also if its callback returns texels.
    void cancel(std::uint32_t id);
    void cancel_all();
    /// Returns the reads that ended since the last call.
    std::vector<FinishedRead> take_finished();
    /// Returns true as soon as finished reads can be taken; false if none is in progress, or after the time.
    bool wait(std::chrono::microseconds limit) const;

private:
    struct Running {
        TileRead read;
        std::stop_source stop;
    };

    void work();
    void stop_threads() noexcept;

    const Function function_;
    mutable std::mutex mutex_;
    std::condition_variable started_;
    mutable std::condition_variable ended_;
    std::list<Running> waiting_;  // lists, because the threads must not allocate memory
    std::list<Running> running_;
    std::vector<FinishedRead> finished_;
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace texton::detail

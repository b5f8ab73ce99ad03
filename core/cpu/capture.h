#pragma once
// Capture of streams into a graph. Operations are kept in the order of recording, which is a valid order of execution.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "core/cpu/stream.h"
#include "core/cpu/system.h"

namespace texton::detail {

/// Memory that was allocated during a graph capture. It is freed when both the graph and the program have released it.
/// Throws Error{out_of_memory} on creation.
struct CpuGraphMemory {
    CpuGraphMemory(std::shared_ptr<Account> account, std::size_t bytes);
    ~CpuGraphMemory();
    CpuGraphMemory(const CpuGraphMemory&) = delete;
    CpuGraphMemory& operator=(const CpuGraphMemory&) = delete;

    std::shared_ptr<Account> account;
    std::size_t bytes;
    std::byte* address;
};

/// The graph memory that the program has not freed yet. Thread-safe.
class CpuGraphMemories {
public:
    static CpuGraphMemories& instance();  ///< never destroyed
    void add(const std::shared_ptr<CpuGraphMemory>& memory);
    /// Returns null if there is no such memory at the address.
    std::shared_ptr<CpuGraphMemory> find(const std::byte* address) const;
    void remove(const CpuGraphMemory& memory);

private:
    mutable std::mutex mutex_;
    std::map<const std::byte*, std::shared_ptr<CpuGraphMemory>> memories_;
};

/// A captured graph. It owns its work and keeps the memory allocated during the capture. Threads may share it.
struct CpuGraph {
    std::vector<Work> work;
    RunsOn runs_on = RunsOn::any_thread;  // own_thread if an item is a function of the user
    std::size_t operations = 0;
    std::vector<std::shared_ptr<CpuGraphMemory>> memory;
    std::mutex running;  // launches are serialized

    void run() {
        const std::lock_guard lock(running);
        for (const Work& item : work) item();
    }
};

/// Throws Error{capturing}.
[[noreturn]] void refuse_capturing(const char* problem, const char* remedy);

/// A graph capture in progress. It begins on one stream, and other streams join it by waiting for an event that was
/// recorded in it. Thread-safe, but begin() and end() must run in the same thread. A stream in the capture keeps it
/// alive.
class CpuCapture : public std::enable_shared_from_this<CpuCapture> {
public:
    /// A point in the capture, set by recording an event.
    struct Mark {
        std::shared_ptr<CpuCapture> capture;
        CpuClock seen;
    };

    /// Throws Error{capturing} if the stream is already being captured.
    static void begin(const std::shared_ptr<CpuStream>& origin);

    /// Adds work of a member stream. Does nothing if the capture has just ended in another thread.
    void record(const CpuStream& stream, Work work, RunsOn runs_on = RunsOn::any_thread);
    /// Counts an operation that runs nothing: an allocation or a free.
    void record_nothing(const CpuStream& stream) { record(stream, nullptr); }
    /// Keeps memory alive as long as the graph.
    void keep(std::shared_ptr<CpuGraphMemory> memory);
    /// Returns true if the memory was allocated in this capture.
    bool owns(const CpuGraphMemory& memory) const;

    /// Returns the current point of a member stream. Throws Error{capturing} if another thread has ended the capture.
    Mark mark(const CpuStream& stream);
    /// Makes the stream wait for the mark. The stream takes part in the capture from here on. Throws Error{capturing}
    /// if the stream is in another capture, or if this capture has ended.
    void join(const std::shared_ptr<CpuStream>& stream, const Mark& mark);
    /// Ends the capture and returns the graph. Throws Error{capturing} if the capture did not begin on `stream` or in
    /// this thread; the capture then continues. Throws Error{capturing} if another stream has not joined back or another
    /// thread has ended the capture; the capture has then ended.
    std::shared_ptr<CpuGraph> end(const CpuStream& stream);
    /// Ends the capture and discards what was recorded.
    void abandon() noexcept;
    bool began_on(const CpuStream& stream) const noexcept { return origin_ == stream.id(); }
    /// Returns a number that no other capture has. It is not 0.
    std::uint64_t number() const noexcept { return number_; }

private:
    struct Member {
        std::shared_ptr<CpuStream> stream;
        std::uint64_t recorded = 0;  // number of operations of this stream
        CpuClock seen;               // operations of other streams that come before the next operation of this stream
    };

    static inline std::atomic<std::uint64_t> last_number_{0};

    const std::uint64_t number_ = ++last_number_;
    std::uint64_t origin_ = 0;
    std::thread::id thread_ = std::this_thread::get_id();
    mutable std::mutex mutex_;
    std::map<std::uint64_t, Member> members_;
    std::shared_ptr<CpuGraph> graph_ = std::make_shared<CpuGraph>();
};

}  // namespace texton::detail

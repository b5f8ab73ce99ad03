#pragma once
// Recording of streams into a graph. Operations are kept in the order in which they were recorded, which is a valid
// order to run them in.
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "core/cpu/stream.h"
#include "core/cpu/system.h"

namespace texton::detail {

/// Memory that was allocated while recording. It ends when the graph is gone and the program has freed it.
struct CpuGraphMemory {
    CpuGraphMemory(std::shared_ptr<Account> account, std::size_t bytes);
    ~CpuGraphMemory();
    CpuGraphMemory(const CpuGraphMemory&) = delete;
    CpuGraphMemory& operator=(const CpuGraphMemory&) = delete;

    std::shared_ptr<Account> account;
    std::size_t bytes;
    std::byte* address;
};

/// The memory of graphs that the program has not freed yet. Any thread may call.
class CpuGraphMemories {
public:
    static CpuGraphMemories& instance();  ///< never destroyed
    void add(const std::shared_ptr<CpuGraphMemory>& memory);
    /// Null if there is none at the address.
    std::shared_ptr<CpuGraphMemory> find(const std::byte* address) const;
    void remove(const CpuGraphMemory& memory);

private:
    mutable std::mutex mutex_;
    std::map<const std::byte*, std::shared_ptr<CpuGraphMemory>> memories_;
};

struct CpuGraph {
    std::vector<Work> work;
    std::size_t operations = 0;
    std::vector<std::shared_ptr<CpuGraphMemory>> memory;
    std::mutex running;  // one launch at a time

    void run() {
        const std::lock_guard lock(running);
        for (const Work& item : work) item();
    }
};

/// Error{capturing}.
[[noreturn]] void refuse_capturing(const char* problem, const char* remedy);

class CpuCapture : public std::enable_shared_from_this<CpuCapture> {
public:
    /// A point in the recording that an event marks.
    struct Mark {
        std::shared_ptr<CpuCapture> capture;
        CpuClock seen;
    };

    static void begin(const std::shared_ptr<CpuStream>& origin);

    void record(const CpuStream& stream, Work work);
    /// Counts as an operation, but nothing runs: an allocation or a free.
    void record_nothing(const CpuStream& stream) { record(stream, nullptr); }
    void keep(std::shared_ptr<CpuGraphMemory> memory);
    /// True if the memory is of this recording.
    bool owns(const CpuGraphMemory& memory) const;

    Mark mark(const CpuStream& stream);
    /// The stream waits for the mark: it takes part in the recording from here on.
    void join(const std::shared_ptr<CpuStream>& stream, const Mark& mark);
    /// Error{capturing} if `stream` is not where it began, the thread is another one, or a stream was not joined back:
    /// the recording has ended then, but for the first two.
    std::shared_ptr<CpuGraph> end(const CpuStream& stream);
    /// Ends it; nothing is kept.
    void abandon() noexcept;
    bool began_on(const CpuStream& stream) const noexcept { return origin_ == stream.id(); }

private:
    struct Member {
        std::shared_ptr<CpuStream> stream;
        std::uint64_t recorded = 0;  // operations of this stream
        CpuClock seen;               // operations of the others that come before what it records next
    };

    std::uint64_t origin_ = 0;
    std::thread::id thread_ = std::this_thread::get_id();
    mutable std::mutex mutex_;
    std::map<std::uint64_t, Member> members_;
    std::shared_ptr<CpuGraph> graph_ = std::make_shared<CpuGraph>();
};

}  // namespace texton::detail

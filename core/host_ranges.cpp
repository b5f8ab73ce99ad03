#include "core/host_ranges.h"

#include <atomic>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "core/block.h"

namespace texton::detail {
namespace {

struct Entry {
    std::size_t bytes;
    MemoryKind kind;
    Backend* backend;
    std::weak_ptr<const Block> owner;
};

struct Ranges {
    std::shared_mutex mutex;
    std::map<const std::byte*, Entry> entries;
    std::atomic<std::size_t> count{0};  // programs without page-locked memory skip the lock
};

// Never destroyed, because static objects of the program can own pinned memory.
Ranges& ranges() {
    static Ranges& made = *new Ranges;
    return made;
}

}  // namespace

void add_host_range(const std::shared_ptr<const Block>& block) {
    const std::unique_lock lock(ranges().mutex);
    ranges().entries.insert_or_assign(block->address, Entry{block->bytes, block->kind, block->backend, block});
    ranges().count.store(ranges().entries.size(), std::memory_order_release);
}

void remove_host_range(const std::byte* begin) noexcept {
    const std::unique_lock lock(ranges().mutex);
    ranges().entries.erase(begin);
    ranges().count.store(ranges().entries.size(), std::memory_order_release);
}

HostRange find_host_range(const std::byte* begin, std::size_t bytes) noexcept {
    Ranges& all = ranges();
    if (all.count.load(std::memory_order_acquire) == 0) return {};
    const std::shared_lock lock(all.mutex);
    auto entry = all.entries.upper_bound(begin);
    if (entry != all.entries.begin()) {
        const auto before = std::prev(entry);
        if (before->first + before->second.bytes > begin) entry = before;
    }
    if (entry == all.entries.end() || entry->first >= begin + bytes) return {};
    const bool whole = entry->first <= begin && entry->first + entry->second.bytes >= begin + bytes;
    const Entry& is = entry->second;
    return {whole ? HostCover::whole : HostCover::partly, is.kind, entry->first, is.bytes, is.backend, is.owner.lock()};
}

}  // namespace texton::detail

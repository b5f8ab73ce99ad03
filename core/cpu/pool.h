#pragma once
// Pools of the CPU device: stream-ordered memory with the reuse rules of CUDA's allocator.
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <vector>

#include "core/backend.h"
#include "core/cpu/arena.h"
#include "core/cpu/stream.h"

namespace texton::detail {

/// A memory pool. Thread-safe. CpuPools keeps it alive until it is abandoned and all its memory is freed. Freed memory
/// remembers the position in a stream at which it was freed, and is reused only by work that is ordered after this
/// position.
class CpuPool : public std::enable_shared_from_this<CpuPool> {
public:
    /// `owner` is the index of the device. `account` is the account of the memory at info.location.
    CpuPool(int owner, const PoolInfo& info, std::shared_ptr<Account> account);
    /// Imports a pool of another process. Its allocations are imported with import_pointer(). Throws
    /// Error{bad_argument} if the descriptor is not one of a pool.
    CpuPool(int owner, int descriptor);
    ~CpuPool();

    int owner() const noexcept { return owner_; }
    const PoolInfo& info() const noexcept { return info_; }
    const std::shared_ptr<Account>& account() const noexcept { return account_; }
    PoolHandle handle() noexcept { return reinterpret_cast<PoolHandle>(this); }

    /// Returns memory for work that is enqueued on the stream from here on. May make the stream wait for the last use
    /// of the memory. Throws Error{out_of_memory}.
    std::byte* allocate(std::size_t bytes, CpuStream& stream);
    /// Frees the allocation at the address in the order of the position. Throws Error{bad_argument} if nothing is
    /// allocated there.
    void free(std::byte* address, const CpuTicket& position);

    std::uint64_t attribute(PoolAttribute attribute) const;
    void set_attribute(PoolAttribute attribute, std::uint64_t value);
    Access access(const Location& location) const;
    void set_access(std::span<const AccessGrant> grants);
    /// Returns memory that is not in use to the system until at most `keep` bytes are reserved.
    void trim(std::size_t keep);
    /// Notifies the pool that the host has waited for the ticket. Memory that was freed before the ticket becomes
    /// usable for every stream, and reserved memory above the threshold is returned to the system.
    void observe(const CpuTicket& ticket);

    ShareableHandle export_handle() const;
    PointerExport export_pointer(const std::byte* address) const;
    std::byte* import_pointer(const PointerExport& pointer, std::size_t bytes);

    bool spans(const std::byte* address) const noexcept {
        return address >= arena_.base() && address < arena_.base() + arena_.bytes();
    }
    const std::byte* base() const noexcept { return arena_.base(); }
    /// Returns the end of the allocation that contains the address, or null if there is none.
    const std::byte* known_until(const std::byte* address) const;

    /// Notifies the pool that no handle to it is left. Returns true if nothing is allocated either.
    bool abandon();
    bool abandoned_and_empty() const;
    /// Keeps the pool alive until the work before the last free is done. Call it only if nothing is allocated.
    void outlive_frees();

private:
    enum class State : std::uint8_t { hole, free, used };
    using Sizes = std::set<std::pair<std::size_t, std::size_t>>;  // free ranges as (bytes, offset)
    struct Range {
        std::size_t bytes = 0;
        State state = State::hole;
        // For free ranges, the position after their last use; without a stream if that is known to be done.
        CpuTicket freed{};
        // The memory of the range's entry in by_size_, while the range is not free: freeing allocates no memory.
        Sizes::node_type size{};
    };
    using Ranges = std::map<std::size_t, Range>;
    // A sequence of neighboring ranges that is large enough in total.
    struct Window {
        Ranges::iterator first;
        Ranges::iterator last;
        std::size_t grow = 0;       // bytes of holes that need memory
        std::size_t last_part = 0;  // bytes needed of the last range
        bool found = false;
    };

    bool usable(const Range& range, const CpuTicket& position) const;
    Ranges::iterator best_fit(std::size_t bytes, const CpuTicket& position);
    Window find_window(std::size_t bytes, const CpuTicket& position, bool pending_too);
    bool fill_holes(Window& window);
    Ranges::iterator take(const Window& window, std::size_t bytes, CpuStream& stream);
    void mark_used(Ranges::iterator range, std::size_t bytes);
    void set_state(Ranges::iterator range, State state, CpuTicket freed = {}) noexcept;
    static Range make_range(std::size_t bytes);
    Ranges::iterator split(Ranges::iterator range, std::size_t first_bytes);
    Ranges::iterator split_at(std::size_t offset);
    void merge_free();
    void trim_locked(std::size_t keep);

    const int owner_;
    const PoolInfo info_;
    const bool imported_;
    const std::shared_ptr<Account> account_;
    CpuArena arena_;

    mutable std::mutex mutex_;
    Ranges ranges_;  // by offset; together they cover the arena
    Sizes by_size_;
    std::vector<AccessGrant> grants_;
    std::uint64_t reserved_ = 0, reserved_high_ = 0, used_ = 0, used_high_ = 0, threshold_ = 0;
    bool follow_events_ = true, opportunistic_ = true, internal_ = true;
    bool abandoned_ = false;
    std::multimap<std::size_t, std::size_t> imports_;  // bytes of the imported allocations, by offset
    std::vector<CpuTicket> imported_frees_;
};

/// All pools of the process by address, because memory of a pool may be freed on a stream of any device. Thread-safe.
class CpuPools {
public:
    static CpuPools& instance();  ///< never destroyed
    void add(std::shared_ptr<CpuPool> pool);
    /// Returns null if the address is in no pool.
    std::shared_ptr<CpuPool> find(const std::byte* address) const;
    std::shared_ptr<CpuPool> of(PoolHandle handle) const;
    /// Notifies that no handle to the pool is left. The pool is removed as soon as all its memory is freed.
    void abandon(const std::shared_ptr<CpuPool>& pool);
    void free(const std::shared_ptr<CpuPool>& pool, std::byte* address, const CpuTicket& position);
    void observe(const CpuTicket& ticket) const;

private:
    void remove(const std::shared_ptr<CpuPool>& pool);
    std::vector<std::shared_ptr<CpuPool>> all() const;

    mutable std::mutex mutex_;
    std::map<const std::byte*, std::shared_ptr<CpuPool>> pools_;
};

}  // namespace texton::detail

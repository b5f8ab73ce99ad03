#pragma once
// Pools of the CPU device: memory in stream order, with the rules of reuse that CUDA's allocator has.
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

class CpuPool : public std::enable_shared_from_this<CpuPool> {
public:
    /// `owner`: index of the device. The account is that of the memory at info.location.
    CpuPool(int owner, const PoolInfo& info, std::shared_ptr<Account> account);
    /// A pool of another process.
    CpuPool(int owner, int descriptor);
    ~CpuPool();

    int owner() const noexcept { return owner_; }
    const PoolInfo& info() const noexcept { return info_; }
    const std::shared_ptr<Account>& account() const noexcept { return account_; }
    PoolHandle handle() noexcept { return reinterpret_cast<PoolHandle>(this); }

    std::byte* allocate(std::size_t bytes, CpuStream& stream);
    /// Error{bad_argument} if nothing is allocated at the address.
    void free(std::byte* address, const CpuTicket& position);

    std::uint64_t attribute(PoolAttribute attribute) const;
    void set_attribute(PoolAttribute attribute, std::uint64_t value);
    Access access(const Location& location) const;
    void set_access(std::span<const AccessGrant> grants);
    void trim(std::size_t keep);
    /// The host knows that the ticket is done: what was freed before is anybody's, and what exceeds the threshold goes.
    void observe(const CpuTicket& ticket);

    ShareableHandle export_handle() const;
    PointerExport export_pointer(const std::byte* address) const;
    std::byte* import_pointer(const PointerExport& pointer, std::size_t bytes);

    bool spans(const std::byte* address) const noexcept {
        return address >= arena_.base() && address < arena_.base() + arena_.bytes();
    }
    const std::byte* base() const noexcept { return arena_.base(); }
    /// True if the address lies in something allocated.
    bool knows(const std::byte* address) const;

    /// No handle is left. True if nothing is allocated any more either.
    bool abandon();
    bool abandoned_and_empty() const;
    /// Keeps the pool until the last free is done. Called once nothing is allocated.
    void outlive_frees();

private:
    enum class State : std::uint8_t { hole, free, used };
    struct Range {
        std::size_t bytes = 0;
        State state = State::hole;
        CpuTicket freed;  // free: when its last use is done; of no stream if that is known
    };
    using Ranges = std::map<std::size_t, Range>;
    struct Window {  // neighbours that together are large enough
        Ranges::iterator first;
        Ranges::iterator last;
        std::size_t grow = 0;       // bytes of holes in it that are needed
        std::size_t last_part = 0;  // bytes of the last one that are needed
        bool found = false;
    };

    bool usable(const Range& range, const CpuTicket& position) const;
    Ranges::iterator best_fit(std::size_t bytes, const CpuTicket& position);
    Window find_window(std::size_t bytes, const CpuTicket& position, bool pending_too);
    bool fill_holes(Window& window);
    Ranges::iterator take(const Window& window, std::size_t bytes, CpuStream& stream);
    void mark_used(Ranges::iterator range, std::size_t bytes);
    void set_state(Ranges::iterator range, State state, CpuTicket freed = {});
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
    Ranges ranges_;                                          // by offset; they cover the arena
    std::set<std::pair<std::size_t, std::size_t>> by_size_;  // free ones: bytes, offset
    std::vector<AccessGrant> grants_;
    std::uint64_t reserved_ = 0, reserved_high_ = 0, used_ = 0, used_high_ = 0, threshold_ = 0;
    bool follow_events_ = true, opportunistic_ = true, internal_ = true;
    bool abandoned_ = false;
    std::multiset<std::size_t> imported_offsets_;
    std::vector<CpuTicket> imported_frees_;
};

/// All pools of the process, by their addresses: memory of a pool may be freed on a stream of any device.
class CpuPools {
public:
    static CpuPools& instance();  ///< never destroyed
    void add(std::shared_ptr<CpuPool> pool);
    /// Null if the address is in no pool.
    std::shared_ptr<CpuPool> find(const std::byte* address) const;
    std::shared_ptr<CpuPool> of(PoolHandle handle) const;
    /// No handle is left: the pool goes as soon as its memory is freed.
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

#pragma once
#include <memory>
#include <optional>
#include <span>

#include <texton/linear.h>
#include <texton/location.h>

namespace texton {

enum class PoolType : std::uint8_t { pinned, managed };

/// How a pool is made. A pool that other processes shall import needs a handle type; host pools without a NUMA node and managed
/// pools cannot be shared.
struct PoolInfo {
    Location location = Location::none();  ///< none: the device the pool is made on; for managed pools: no preference
    PoolType type = PoolType::pinned;
    HandleType handle = HandleType::none;
    std::size_t max_bytes = 0;  ///< 0: no limit but the device's; must be 0 for managed pools
    bool operator==(const PoolInfo&) const = default;
};

struct PoolUsage {
    std::uint64_t reserved = 0;       ///< bytes held from the system
    std::uint64_t reserved_high = 0;  ///< the most since it was last reset
    std::uint64_t used = 0;           ///< bytes that the program holds
    std::uint64_t used_high = 0;
};

/// When memory freed on one stream may be given to another. All on by default.
struct PoolReuse {
    bool follow_event_dependencies = true;
    bool opportunistic = true;          ///< if the free is already done
    bool internal_dependencies = true;  ///< by making the new stream wait
    bool operator==(const PoolReuse&) const = default;
};

/// An allocation of a shared pool, to be imported by another process.
struct PointerExport {
    std::array<std::uint8_t, 64> bytes{};
};

namespace detail {
struct PoolState;
}

/// Memory that is allocated and freed in stream order, without asking the system each time.
///
/// A cheap handle: copies name the same pool. A pool that was created or imported ends with its last handle and its last
/// allocation; default pools never do.
class Pool {
public:
    explicit Pool(const Device& device, const PoolInfo& info = {});
    /// The pool that the location begins with: device, host or NUMA node; managed also with no location.
    [[nodiscard]] static Pool default_of(const Device& device, const Location& location,
                                         PoolType type = PoolType::pinned);
    [[nodiscard]] static Pool default_of(const Device& device);
    /// The pool that Linear::async uses for the location: the default one unless make_current() chose another.
    [[nodiscard]] static Pool current(const Device& device, const Location& location, PoolType type = PoolType::pinned);
    [[nodiscard]] static Pool current(const Device& device);
    /// A pool of another process. It cannot allocate: only import_pointer() works on it. The handle stays the caller's.
    [[nodiscard]] static Pool import(const Device& device, const ShareableHandle& handle);
    // No moves: a handle always names its pool.
    Pool(const Pool&) = default;
    Pool& operator=(const Pool&) = default;

    /// Makes this the pool of its own location and type. Error{not_permitted} for an imported pool.
    void make_current() const;

    /// Error{out_of_memory} names what was asked for and what is free. The pool may be of another device than the stream, if
    /// that device has access.
    [[nodiscard]] Linear allocate(std::size_t bytes, const Stream& stream) const;

    PoolUsage usage() const;
    void reset_used_high() const;
    void reset_reserved_high() const;
    /// Bytes the pool keeps when a stream, event or device is synchronised (0 at first).
    std::uint64_t release_threshold() const;
    void set_release_threshold(std::uint64_t bytes) const;
    PoolReuse reuse() const;
    void set_reuse(PoolReuse reuse) const;
    /// Gives back what is not in use until at most `keep` bytes are held.
    void trim(std::size_t keep = 0) const;

    Access access(const Location& location) const;
    void set_access(std::span<const AccessGrant> grants) const;

    /// Error{not_permitted} if the pool was made without that handle type. The caller closes a file descriptor.
    [[nodiscard]] ShareableHandle export_handle(HandleType type = HandleType::file_descriptor) const;
    /// Error{bad_argument} if `memory` is not from this pool.
    [[nodiscard]] PointerExport export_pointer(const Linear& memory) const;
    /// `bytes` as they were allocated: Error{out_of_bounds} for more. Must be destroyed before the exporting process frees
    /// it.
    [[nodiscard]] Linear import_pointer(const PointerExport& pointer, std::size_t bytes) const;

    Device device() const;
    const PoolInfo& info() const noexcept;
    bool imported() const noexcept;
    bool operator==(const Pool& other) const noexcept;  ///< the same pool of the driver

    /// For Texton's own parts.
    explicit Pool(std::shared_ptr<detail::PoolState> state) noexcept : state_(std::move(state)) {}
    const std::shared_ptr<detail::PoolState>& state() const noexcept { return state_; }

private:
    std::shared_ptr<detail::PoolState> state_;
};

}  // namespace texton

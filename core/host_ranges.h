#pragma once
// The page-locked host memory of the process (pinned or registered). copy() uses it to find the kind of memory of a
// host pointer. Thread-safe.
#include <cstddef>
#include <memory>

#include <texton/view.h>

namespace texton::detail {

/// Adds the memory of a block. Ranges must not overlap.
void add_host_range(const std::shared_ptr<const Block>& block);
/// Removes the range that starts at `begin`.
void remove_host_range(const std::byte* begin) noexcept;

/// How much of a range is page-locked by a single registration or allocation.
enum class HostCover : std::uint8_t { none, partly, whole };

/// Result of find_host_range().
struct HostRange {
    HostCover cover = HostCover::none;
    MemoryKind kind = MemoryKind::host;  ///< pinned or registered, unless the cover is none
    const std::byte* begin = nullptr;    ///< start of the first page-locked range that overlaps
    std::size_t bytes = 0;               ///< size of that range
    Backend* backend = nullptr;          ///< device of that range
    /// Keeps that range page-locked. Null if it is being freed.
    std::shared_ptr<const Block> owner;
};

/// Returns how page-locked ranges cover the bytes. Two adjacent ranges count as partly, because no driver copies across
/// their boundary.
HostRange find_host_range(const std::byte* begin, std::size_t bytes) noexcept;

}  // namespace texton::detail

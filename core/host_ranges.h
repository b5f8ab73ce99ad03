#pragma once
// The page-locked host memory of the process (pinned or registered). copy() uses it to find the kind of memory of a
// host pointer. Thread-safe.
#include <cstddef>
#include <optional>

#include <texton/view.h>

namespace texton::detail {

/// Adds a range. Ranges must not overlap.
void add_host_range(const std::byte* begin, std::size_t bytes, MemoryKind kind);
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
};

/// Returns how page-locked ranges cover the bytes. Two adjacent ranges count as partly, because no driver copies across
/// their boundary.
HostRange find_host_range(const std::byte* begin, std::size_t bytes) noexcept;

}  // namespace texton::detail

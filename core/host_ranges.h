#pragma once
// Which host memory is page-locked: pinned or registered ranges of the process, so that copy() knows what lies behind a bare
// host pointer.
#include <cstddef>
#include <optional>

#include <texton/view.h>

namespace texton::detail {

void add_host_range(const std::byte* begin, std::size_t bytes, MemoryKind kind);
void remove_host_range(const std::byte* begin) noexcept;

enum class HostCover : std::uint8_t { none, partly, whole };

struct HostRange {
    HostCover cover = HostCover::none;
    MemoryKind kind = MemoryKind::host;  ///< pinned or registered where covered
    const std::byte* begin = nullptr;    ///< of the first range that is touched
    std::size_t bytes = 0;
};

/// How page-locked ranges cover these bytes. Side by side ranges cover partly: no driver copies across their seam.
HostRange find_host_range(const std::byte* begin, std::size_t bytes) noexcept;

}  // namespace texton::detail

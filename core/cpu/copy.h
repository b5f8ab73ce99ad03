#pragma once
// Copies and fills of the CPU device, in bytes: by all cores where they are large.
#include "core/cpu/array.h"

namespace texton::detail {

/// Rows of bytes, in plain memory or in an array, whose memory is looked up as the work runs: it may be mapped by then.
struct CpuSide {
    explicit CpuSide(const Place& place);

    std::byte* address = nullptr;     // of plain memory
    const CpuLevel* level = nullptr;  // of an array
    std::size_t byte = 0;             // in the level's rows
    std::size_t row = 0;              // of blocks
    std::size_t slice = 0;
    std::size_t pitch = 0;  // bytes; of no use in tiles
    std::size_t slice_pitch = 0;

    bool tiled() const noexcept { return level != nullptr && level->sparse(); }
};

/// A copy by itself: what the request points to may be gone when it runs. Bytes that are not mapped read as 0; what is
/// written there is dropped.
struct CpuCopy {
    explicit CpuCopy(const CopyRequest& request);
    void run() const;

    CpuSide to;
    CpuSide from;
    Box box;
    bool pageable;  ///< a side is host memory that is not page-locked
};

struct CpuFill {
    explicit CpuFill(const FillRequest& request);
    void run() const;

    CpuSide to;
    Box box;
    std::array<std::byte, 16> pattern;
    std::size_t pattern_bytes;
};

}  // namespace texton::detail

#pragma once
// Copies and fills of the CPU device, in bytes. Large ones run on all cores.
#include "core/cpu/array.h"

namespace texton::detail {

/// One side of a copy or fill: rows of bytes in plain memory or in an array. The memory of an array is looked up when
/// the work runs, because it may be mapped only then.
struct CpuSide {
    explicit CpuSide(const MemoryLocation& location);

    std::byte* address = nullptr;     // of plain memory
    const CpuLevel* level = nullptr;  // of an array
    std::size_t byte = 0;             // byte in a row of the level
    std::size_t row = 0;              // row of the level; counts rows of blocks
    std::size_t slice = 0;
    std::size_t pitch = 0;  // bytes; not used for tiles
    std::size_t slice_pitch = 0;

    bool tiled() const noexcept { return level != nullptr && level->sparse(); }
};

/// A copy that does not refer to its request, so the request may be destroyed before the copy runs. Bytes that are not
/// mapped read as 0, and writes to them are dropped.
struct CpuCopy {
    explicit CpuCopy(const CopyRequest& request);
    void run() const;

    CpuSide to;
    CpuSide from;
    Box box;
    bool pageable;  ///< true if a side is host memory that is not page-locked
};

/// A fill that does not refer to its request. Writes to bytes that are not mapped are dropped.
struct CpuFill {
    explicit CpuFill(const FillRequest& request);
    void run() const;

    CpuSide to;
    Box box;
    std::array<std::byte, 16> pattern;
    std::size_t pattern_bytes;
    bool pageable;  ///< true if the memory is host memory that is not page-locked
};

}  // namespace texton::detail

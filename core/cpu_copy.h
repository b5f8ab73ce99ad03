#pragma once
// Copies and fills of the CPU device, in bytes: by all cores where they are large.
#include "core/backend.h"

namespace texton::detail {

/// 2D texels in packed rows.
struct CpuArray {
    std::byte* address = nullptr;
    std::size_t bytes = 0;
    std::size_t pitch = 0;
    Format format = Format::r8_uint;
    Extent extent;
};

/// A copy by itself: what the request points to may be gone when it runs.
struct CpuCopy {
    explicit CpuCopy(const CopyRequest& request);
    void run() const;

    struct Side {
        std::byte* address;
        std::size_t pitch;
        std::size_t slice_pitch;
    };
    Side to;
    Side from;
    Box box;
    bool pageable;  ///< a side is host memory that is not page-locked
};

struct CpuFill {
    explicit CpuFill(const FillRequest& request);
    void run() const;

    CpuCopy::Side to;
    Box box;
    std::uint32_t pattern;
    int pattern_bytes;
};

}  // namespace texton::detail

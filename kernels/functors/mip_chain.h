#pragma once
// The levels of a mip chain that one call computes.
#include <optional>
#include <span>

#include <texton/array_info.h>
#include <texton/mips.h>
#include <texton/texture.h>
#include <texton/view.h>

#include "kernels/functors/mip_functors.h"

namespace texton::mip {

/// A level and the source that it is computed from.
struct Step {
    View level;
    Texture above;
    Extent from;                           ///< extent that `above` reads; depth counts slices, layers or faces
    ArrayKind kind;                        ///< kind of the chain
    std::optional<TexelsOfMemory> memory;  ///< set if `above` reads a level in memory
};

/// Each step reads the level that the previous step writes.
struct Chain {
    std::span<const Step> steps;
    const MipOptions& options;
};

/// Returns the numbers of texels of two consecutive levels along each axis.
inline Sides sides_between(const Extent& from, const Extent& to) {
    const auto halving = [](std::size_t a, std::size_t b) {
        return Halving{static_cast<std::int32_t>(a), static_cast<std::int32_t>(b)};
    };
    return {halving(from.width, to.width), halving(from.height, to.height), halving(from.depth, to.depth)};
}

}  // namespace texton::mip

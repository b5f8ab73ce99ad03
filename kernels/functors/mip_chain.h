#pragma once
// The levels of a mip chain that one call makes.
#include <optional>
#include <span>

#include <texton/array_info.h>
#include <texton/mips.h>
#include <texton/texture.h>
#include <texton/view.h>

#include "kernels/functors/mip_functors.h"

namespace texton::mip {

/// A level and what it is made of.
struct Step {
    View level;
    Texture above;
    Extent from;                           ///< sides of what `above` reads, with slices, layers or faces
    ArrayKind kind;                        ///< of the chain
    std::optional<TexelsOfMemory> memory;  ///< where `above` reads a level in memory
};

/// Each step reads the level that the step before it makes.
struct Chain {
    std::span<const Step> steps;
    const MipOptions& options;
};

/// How many texels of `from` a level of `to` covers along each axis.
inline Sides sides_between(const Extent& from, const Extent& to) {
    const auto halving = [](std::size_t a, std::size_t b) {
        return Halving{static_cast<std::int32_t>(a), static_cast<std::int32_t>(b)};
    };
    return {halving(from.width, to.width), halving(from.height, to.height), halving(from.depth, to.depth)};
}

}  // namespace texton::mip

#include "kernels/launch/aliasing.h"

#include <functional>

#include "arrays/array_block.h"
#include "arrays/texture_state.h"

namespace texton::detail {
namespace {

/// Returns true if memory of this kind has a single address, so that comparing addresses shows whether two regions are
/// disjoint.
bool has_one_address(const MemoryLocation& location) {
    switch (location.kind) {
        case MemoryKind::linear:
        case MemoryKind::pitched:
        case MemoryKind::symbol: return true;
        case MemoryKind::host:
        case MemoryKind::pinned:
        case MemoryKind::registered:
        case MemoryKind::managed:
        case MemoryKind::mapped:
        case MemoryKind::array: return false;
    }
    return false;
}

const std::byte* end_of(const MemoryLocation& location) {
    const Extent& sides = location.extent;
    return location.address + (sides.depth - 1) * location.slice_pitch + (sides.height - 1) * location.pitch +
           row_bytes(location.format, sides.width);
}

bool bytes_apart(const MemoryLocation& a, const MemoryLocation& b) {
    if (!has_one_address(a) || !has_one_address(b)) return false;
    constexpr std::less_equal<const std::byte*> kNotAfter;
    return kNotAfter(end_of(a), b.address) || kNotAfter(end_of(b), a.address);
}

}  // namespace

bool lies_apart(const Texture& texture, const MemoryLocation& location) {
    const TextureState& state = *texture.state();
    if (state.source != TextureSource::array) return location.array != nullptr || bytes_apart(state.memory, location);
    if (location.array == nullptr) return true;
    if (state.block == nullptr) return false;
    const ArrayBlock& block = static_cast<const ArrayBlock&>(*state.block);
    const int level = location.array_part - block.part - state.first_level;
    return block.handle != location.array || level < 0 || level >= state.levels;
}

bool lies_apart(const MemoryLocation& first, const MemoryLocation& second) {
    if (first.array == nullptr || second.array == nullptr)
        return first.array != second.array || bytes_apart(first, second);
    return first.array != second.array || first.array_part != second.array_part;
}

}  // namespace texton::detail

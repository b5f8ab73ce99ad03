#include "kernels/launch/aliasing.h"

#include <functional>

#include "arrays/array_block.h"
#include "arrays/texture_state.h"

namespace texton::detail {
namespace {

/// Returns true if memory of this kind has a single address, so that comparing addresses shows whether two regions are
/// disjoint.
bool has_one_address(const Place& place) {
    switch (place.kind) {
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

const std::byte* end_of(const Place& place) {
    const Extent& sides = place.extent;
    return place.address + (sides.depth - 1) * place.slice_pitch + (sides.height - 1) * place.pitch +
           row_bytes(place.format, sides.width);
}

bool bytes_apart(const Place& a, const Place& b) {
    if (!has_one_address(a) || !has_one_address(b)) return false;
    constexpr std::less_equal<const std::byte*> kNotAfter;
    return kNotAfter(end_of(a), b.address) || kNotAfter(end_of(b), a.address);
}

}  // namespace

bool lies_apart(const Texture& texture, const Place& place) {
    const TextureState& state = *texture.state();
    if (state.source != TextureSource::array) return place.array != nullptr || bytes_apart(state.memory, place);
    if (place.array == nullptr) return true;
    if (state.block == nullptr) return false;
    const ArrayBlock& block = static_cast<const ArrayBlock&>(*state.block);
    const int level = place.array_part - block.part - state.first_level;
    return block.handle != place.array || level < 0 || level >= state.levels;
}

bool lies_apart(const Place& first, const Place& second) {
    if (first.array == nullptr || second.array == nullptr)
        return first.array != second.array || bytes_apart(first, second);
    return first.array != second.array || first.array_part != second.array_part;
}

}  // namespace texton::detail

#include "kernels/cuda/stored_rows.h"

#include <bit>
#include <cstdint>

#include "kernels/cuda/stored_texels.h"

namespace texton::mip {

std::optional<StoredRows> stored_rows(const PixelTarget& texels) {
    const bool in_memory = texels.address != nullptr;
    if (!in_memory && texels.kind != ArrayKind::array_2d && texels.kind != ArrayKind::layered_2d) return std::nullopt;
    const unsigned bytes = texels.format.stored.bytes;
    const std::uint64_t beginnings =
        in_memory ? reinterpret_cast<std::uintptr_t>(texels.address) | texels.pitch | texels.slice_pitch
                  : static_cast<unsigned>(texels.offset[0]) * bytes;
    const unsigned alignment = 1u << std::countr_zero(beginnings | sizeof(uint4));
    if (alignment < bytes) return std::nullopt;
    return StoredRows{texels, detail::stored_in(texels), texels.width * bytes, alignment};
}

std::optional<StoredRows> rows_above(const Step& step) {
    std::optional<PixelTarget> texels = detail::stored_texels(step.above);
    if (!texels) return std::nullopt;
    if (step.memory) {  // the texture reads the level as a single row
        texels->width = static_cast<std::uint32_t>(step.from.width);
        const unsigned bytes = texels->format.stored.bytes;
        texels->pitch = static_cast<std::size_t>(step.memory->row) * bytes;
        texels->slice_pitch = static_cast<std::size_t>(step.memory->slice) * bytes;
    }
    return stored_rows(*texels);
}

}  // namespace texton::mip

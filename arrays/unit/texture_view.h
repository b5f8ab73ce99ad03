// texture_view.h: the structures that the model of the texture unit reads: texels in memory and coordinates.
#pragma once
#include <cstddef>
#include <cstdint>

#include <texton/array_info.h>
#include <texton/fetch.h>
#include <texton/host_device.h>
#include <texton/pixel_encode.h>
#include <texton/sampler.h>

namespace texton::detail {

/// Access to texels of which some may have no memory, as in a sparse array.
class PartialTexels {
public:
    /// Returns the memory of the texel at (x, y, z), or of the block that contains it. Returns null if it has none;
    /// such texels read as zeros.
    TEXTON_HD virtual const unsigned char* find(int x, int y, int z) = 0;

    /// False while find() is called for a texel whose weight is rounded to 0: a fetch is resident without its memory.
    bool counts = true;

protected:
    PartialTexels() = default;
    PartialTexels(const PartialTexels&) = default;
    PartialTexels& operator=(const PartialTexels&) = default;
    ~PartialTexels() = default;
};

/// A mip level; non-owning. Layers and cube faces are `slice_pitch` apart, like the slices of a 3D level.
struct LevelView {
    const unsigned char* data;
    std::int32_t width;
    std::int32_t height;
    std::int32_t depth;                ///< slices of a 3D level; layers, with each face counted as one; otherwise 1
    std::int64_t row_pitch;            ///< bytes from a row (block formats: a row of blocks) to the next
    std::int64_t slice_pitch;          ///< bytes from a slice, layer or face to the next
    PartialTexels* partial = nullptr;  ///< used instead of `data` if not null
};

inline LevelView level_view(const unsigned char* data, const Extent& extent, std::size_t row_pitch,
                            std::size_t slice_pitch) noexcept {
    return {data,
            static_cast<std::int32_t>(extent.width),
            static_cast<std::int32_t>(extent.height),
            static_cast<std::int32_t>(extent.depth),
            static_cast<std::int64_t>(row_pitch),
            static_cast<std::int64_t>(slice_pitch)};
}

inline constexpr int kMaxLevels = 18;

/// A texture as the model reads it; non-owning. Only `level_count` levels are valid.
struct TextureView {
    ArrayKind kind;
    TexelFormat format;
    std::int32_t level_count;
    LevelView levels[kMaxLevels];
};

/// Coordinates of a fetch. Only fetches of layered textures use `layer`.
struct Coordinates {
    float x;
    float y;
    float z;
    std::int32_t layer;
};

/// Change of the coordinates from a pixel to the next, along the x and y axes of the destination.
struct Gradients {
    float dx[3];
    float dy[3];
};

}  // namespace texton::detail

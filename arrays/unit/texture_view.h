// texture_view.h: the plain structs that the texture-unit model reads: texels in memory, and how to sample them.
#pragma once
#include <cstddef>
#include <cstdint>

#include <texton/array_info.h>
#include <texton/fetch.h>
#include <texton/host_device.h>
#include <texton/pixel_encode.h>
#include <texton/sampler.h>

namespace texton::detail {

/// Texels of which some may have no memory: those of a sparse array.
class PartialTexels {
public:
    /// The texel, or the block that holds it; null where there is none, which reads as zeros.
    TEXTON_HD virtual const unsigned char* find(int x, int y, int z) = 0;

protected:
    PartialTexels() = default;
    PartialTexels(const PartialTexels&) = default;
    PartialTexels& operator=(const PartialTexels&) = default;
    ~PartialTexels() = default;
};

/// One mip level. Layers and cube faces lie `slice_pitch` apart, as the slices of a 3D level do.
struct LevelView {
    const unsigned char* data;
    std::int32_t width;
    std::int32_t height;
    std::int32_t depth;                ///< slices of a 3D level, layers (faces counted one by one), else 1
    std::int64_t row_pitch;            ///< bytes from a row (BC: of blocks) to the next
    std::int64_t slice_pitch;          ///< bytes from a slice, layer or face to the next
    PartialTexels* partial = nullptr;  ///< in place of `data`
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

struct TextureView {
    ArrayKind kind;
    TexelFormat format;
    std::int32_t level_count;
    LevelView levels[kMaxLevels];
};

/// Where to sample. `layer` is what the layered fetches take.
struct Coordinates {
    float x;
    float y;
    float z;
    std::int32_t layer;
};

/// Change of the coordinates from one pixel to the next, along the screen's x and y.
struct Gradients {
    float dx[3];
    float dy[3];
};

}  // namespace texton::detail

#pragma once
// What a launch is on the CPU device: the textures and the picture, free of what the caller holds. The textures may be
// dropped before the stream comes to it, what they read not.
#include <functional>
#include <span>
#include <vector>

#include <texton/launch.h>

#include "arrays/cpu/pixel_rows.h"
#include "arrays/cpu/texture.h"
#include "core/backing.h"
#include "core/cpu/array.h"

namespace texton::detail {

/// Where the CPU device writes: memory, or a level of an array.
class CpuPicture {
public:
    explicit CpuPicture(const Place& place);

    /// Pixels of a row from `at` on.
    void store(PixelPlace at, std::span<const Float4> pixels) const { encode(pixels, address(at)); }
    void store(PixelPlace at, const TexelPlanes& pixels, std::size_t count) const;
    /// The same, of pixels that make(floats) writes: into the picture itself if it stores four floats each, else into
    /// `room`. It must write no other NaN than pictures have.
    template <class Make>
    void make_row(PixelPlace at, std::span<Float4> room, const Make& make) const {
        if (has_floats_) return make(reinterpret_cast<float*>(address(at)));
        make(&room.data()->x);
        store(at, room);
    }
    std::byte* address(PixelPlace at) const;
    const PixelFormat& format() const noexcept { return pixel_; }

private:
    void encode(std::span<const Float4> pixels, std::byte* to) const;

    PixelTarget target_;
    const CpuLevel* level_ = nullptr;
    Format format_;
    Offset offset_;
    PixelFormat pixel_{};
    RowEncode encode_row_ = nullptr;  // null: pixel by pixel
    bool has_floats_ = false;
    PlaneEncode encode_planes_ = nullptr;
};

struct CpuJob {
    std::vector<CpuTexture> textures;
    std::vector<SourceShape> shapes;
    CpuPicture picture;
    Extent extent;  ///< of the picture

    /// True if slices take far more than caches: pixels are best written to memory, without being read before.
    bool exceeds_caches() const;
    /// The same of pixels that make_row() makes in the picture itself.
    bool goes_past_caches() const;
};

/// How many rows tiles of so many columns have if there are a few for each core; not fewer than `least`.
[[nodiscard]] std::size_t rows_of_tiles(const Extent& extent, std::size_t columns, std::size_t least);

/// Calls make(x, y, z, width, height) for tiles of at most so many columns and rows of a picture, on all cores. What it has
/// written past caches is in memory after that.
void for_each_tile(const Extent& extent, std::size_t columns, std::size_t rows,
                   const std::function<void(const PixelPlace& corner, std::size_t width, std::size_t height)>& make);

}  // namespace texton::detail

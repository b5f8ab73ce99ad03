#pragma once
// A launch on the CPU device: the textures and the image, independent of the caller's objects. Texture objects may be
// destroyed before the stream reaches the launch. The memory that they read must stay allocated.
#include <functional>
#include <span>
#include <vector>

#include <texton/array_info.h>
#include <texton/fetch.h>
#include <texton/launch.h>
#include <texton/texture.h>

#include "arrays/cpu/pixel_rows.h"
#include "arrays/cpu/texture.h"
#include "core/backing.h"
#include "core/cpu/array.h"

namespace texton::detail {

/// The image that the CPU device writes: memory, or a level of an array.
class CpuImage {
public:
    explicit CpuImage(const MemoryLocation& location);

    /// Encodes and stores pixels of a row, from `at` on.
    void store(PixelPosition at, std::span<const Float4> pixels) const { encode(pixels, address(at)); }
    /// Stores pixels of four separate channels, which start `apart` floats after one another.
    void store(PixelPosition at, const float* channels, std::size_t apart, std::size_t count) const;
    void store(PixelPosition at, const TexelPlanes& pixels, std::size_t count) const {
        store(at, pixels.channel[0], TexelPlanes::kMax, count);
    }
    /// Returns whether store_values() takes pixels of so many channels.
    bool takes_values(std::size_t channels) const {
        return encode_values_ != nullptr && channels == pixel_.stored.channels;
    }
    /// Stores pixels of the format's channels, pixel after pixel. `past_caches` requests streaming stores, if possible.
    void store_values(PixelPosition at, const float* values, std::size_t count, bool past_caches) const;
    /// Stores a row of pixels that make(floats) writes. `floats` is the image itself if its pixels are four floats,
    /// else `room`, whose pixels are then encoded. `make` may write no NaN other than the canonical one of images.
    template <class Make>
    void make_row(PixelPosition at, std::span<Float4> room, const Make& make) const {
        if (has_floats_) return make(reinterpret_cast<float*>(address(at)));
        make(&room.data()->x);
        store(at, room);
    }
    std::byte* address(PixelPosition at) const;
    const PixelFormat& format() const noexcept { return pixel_; }

private:
    void encode(std::span<const Float4> pixels, std::byte* to) const;

    PixelTarget target_;
    const CpuLevel* level_ = nullptr;
    Format format_;
    Offset offset_;
    PixelFormat pixel_{};
    RowEncode encode_row_ = nullptr;  // null: pixels are encoded one by one
    bool has_floats_ = false;
    PlaneEncode encode_planes_ = nullptr;
    PlaneEncode encode_values_ = nullptr;  // of interleaved channels
};

/// Says which fetches a texture has.
struct FetchesOfTexture {
    ArrayKind kind;
    TextureSource source;
    bool gathers;

    bool has(ArrayKind requested, FetchOperation operation, int component) const noexcept {
        if (operation == FetchOperation::plain) return requested == kind && source != TextureSource::linear;
        return has_other(requested, operation, component);
    }

private:
    bool has_other(ArrayKind requested, FetchOperation operation, int component) const noexcept;
};

struct CpuJob {
    const char* object;  ///< the name that errors carry
    std::vector<CpuTexture> textures;
    std::vector<FetchesOfTexture> fetches;  ///< of each texture
    std::vector<SourceShape> shapes;
    CpuImage image;
    Extent extent;          ///< extent of the image
    std::size_t first_row;  ///< the first row of each slice that is computed
    std::size_t rows;       ///< number of rows of each slice that are computed

    /// Returns true if the result of a fetch of a texture can be stored as the pixel, in the image's format.
    /// This is not so for integers, which are converted through floats, and for floats that may be a NaN other than the
    /// canonical one of images.
    bool stores_fetches(std::size_t number = 0) const;
    /// Returns true if a slice of the image and of the textures is together far larger than the caches. Then streaming
    /// stores are best, which write past the caches and do not read the destination before.
    bool exceeds_caches() const;
    /// Returns true if exceeds_caches() and if make_row() lets pixels be written directly to the image.
    bool goes_past_caches() const;
};

/// Returns a number of rows for tiles with `columns` columns such that each core gets a few tiles. The result is at
/// least `minimum`.
[[nodiscard]] std::size_t rows_of_tiles(const CpuJob& job, std::size_t columns, std::size_t minimum);

/// Returns the minimum for rows_of_tiles() of a kernel that hardly does more than copy: below this, the tiles take less
/// time than it takes to wake the cores.
[[nodiscard]] std::size_t rows_of_quick_tiles(const CpuJob& job, std::size_t columns);

/// Calls make(corner, width, height) on all cores for the tiles of the rows that are computed, which have at most
/// `columns` columns and `rows` rows. Streaming stores of `make` are flushed after each tile.
void for_each_tile(const CpuJob& job, std::size_t columns, std::size_t rows,
                   const std::function<void(const PixelPosition& corner, std::size_t width, std::size_t height)>& make);

}  // namespace texton::detail

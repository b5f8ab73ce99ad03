#pragma once
// Rows of fetches of a 2D texture or of a layer, returned as floats, as functors get them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <texton/float4.h>
#include <texton/source.h>

#include "arrays/cpu/pixel_rows.h"
#include "arrays/cpu/texture.h"

namespace texton::detail {

/// Returns the number of channels of texels that can be other than 0: 1, 2 or 4.
[[nodiscard]] inline std::size_t channels_of(const TexelFormat& format) {
    return format.packing == Packing::plain && format.channels < 3 ? format.channels : 4;
}

/// Reads rows of texels on one thread. While the object exists, the thread rounds to nearest and keeps denormals. The
/// texture and the shape must outlive the object.
class TexelRows {
public:
    TexelRows(const CpuTexture& texture, const SourceShape& shape, std::int32_t layer);

    /// Performs plain fetches at (x[i], y), in the sampler's coordinates.
    void fetch(const float* x, float y, std::size_t count, Float4* texels) const;
    /// Prepares columns of fetches that many rows share.
    [[nodiscard]] RowColumns columns(const float* x, std::size_t count) const { return rows_.columns(x, count); }
    [[nodiscard]] std::vector<FetchedRow> rows(std::span<const float> y) const { return rows_.rows(y); }
    void fetch(RowColumns& columns, const FetchedRow& at, Float4* texels) const {
        if (!rows_.fetch(columns, at, reinterpret_cast<Texel*>(texels)))
            fetch(columns.positions(), at.y, columns.count(), texels);
    }
    /// Stores the fetches as pixels of an image. `past_caches` requests streaming stores, for images that are far
    /// larger than the caches.
    void fetch(RowColumns& columns, const FetchedRow& at, const PixelFormat& image, std::byte* pixels,
               bool past_caches) const {
        if (!rows_.fetch(columns, at, image, pixels, past_caches))
            fetch(columns.positions(), at.y, columns.count(), image, pixels);
    }
    /// Writes at_texel() of the centers of texels from (x, y) on. The sampler's address modes define the texels beyond
    /// the edges.
    void centers(std::int32_t x, std::int32_t y, std::size_t count, Float4* texels) const;
    /// Returns the address of these texels in the texture itself if it stores four floats per texel; otherwise null.
    const float* in_place(std::int32_t x, std::int32_t y, std::size_t count) const;
    /// Returns in_place(), or else `room` after writing the texels there.
    const float* centers_in_place(std::int32_t x, std::int32_t y, std::size_t count, Float4* room) const;
    /// Writes texels in this layout: its step is 1, or it is channels() and the channels are 1 apart. Channels that the
    /// format lacks are not written.
    void centers(std::int32_t x, std::int32_t y, std::size_t count, float* values, ChannelLayout layout) const;
    /// Returns the address of a row of texels in the texture itself if it stores their channels as floats. Otherwise, and
    /// for a row beyond the edges, returns null.
    const float* values_in_place(std::int32_t y) const {
        return has_values_ && y >= 0 && y < shape_.height ? reinterpret_cast<const float*>(stored(0, y)) : nullptr;
    }
    std::int32_t width() const { return shape_.width; }
    /// Writes texels with separate channels; at most TexelPlanes::kMax of them.
    void centers(std::int32_t x, std::int32_t y, std::size_t count, TexelPlanes& texels) const;
    /// Returns channels_of() the format.
    std::size_t channels() const { return channels_; }
    /// Returns true if no fetch at a texel's center is negative, infinite or NaN; false if that is unknown.
    bool are_codes() const { return are_codes_; }
    /// Prefetches the stored texels of a row that are inside the texture.
    void prefetch(std::int32_t x, std::int32_t y, std::size_t count) const;
    /// Returns true if texels beyond the edges repeat the texels at the edges; false if that is unknown.
    bool clamps() const { return clamps_; }
    /// Returns true if texels are stored in rows, and a fetch at a texel's center returns what is stored().
    bool are_stored() const { return first_ != nullptr; }
    /// Returns the address of texel (x, y), which must be inside. The texels of its row follow it.
    const unsigned char* stored(std::int32_t x, std::int32_t y) const {
        return first_ + static_cast<std::size_t>(y) * pitch_ + static_cast<std::size_t>(x) * bytes_;
    }

    /// Stores plain fetches at (x[i], y) as pixels of an image.
    void fetch(const float* x, float y, std::size_t count, const PixelFormat& image, std::byte* pixels) const {
        fetch_blocks(x, y, count, [&](const float* xs, const float* ys, std::size_t first, std::size_t length) {
            rows_.fetch(xs, ys, length, image, pixels + first * image.stored.bytes);
        });
    }

private:
    static constexpr std::size_t kBlock = 512;

    template <class Fetch>
    static void fetch_blocks(const float* x, float y, std::size_t count, const Fetch& fetch) {
        float ys[kBlock];
        std::fill_n(ys, std::min(kBlock, count), y);
        for (std::size_t first = 0; first < count; first += kBlock)
            fetch(x + first, ys, first, std::min(kBlock, count - first));
    }

    void fetch_channels(std::int32_t x, std::int32_t y, std::int32_t count, float* values, ChannelLayout layout) const;
    void repeat(std::int32_t x, std::int32_t y, std::int32_t count, Float4* texels) const;
    void centers_outside(std::int32_t x, std::int32_t y, std::size_t count, Float4* texels) const;

    const SourceShape& shape_;
    TextureReader reader_;
    RowSampler rows_;
    std::size_t channels_;
    RowDecode decode_ = nullptr;  // decodes texels that are inside; null: they are fetched
    PlaneDecode decode_planes_ = nullptr;
    PlaneDecode decode_values_ = nullptr;   // of interleaved channels
    bool clamps_ = false;                   // texels beyond the edges repeat the texels at the edges
    bool are_codes_ = false;                // texels are codes of unorm or sRGB formats
    bool has_values_ = false;               // channels are floats, which a fetch returns unchanged
    bool has_floats_ = false;               // the same, and a texel has four
    const unsigned char* first_ = nullptr;  // null: texels are not stored in rows, or fetches return something else
    std::size_t pitch_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace texton::detail

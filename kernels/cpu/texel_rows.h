#pragma once
// Rows of fetches of a 2D texture, or of a layer, as functors see them: floats.
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

/// As one thread reads it, which while it lives rounds to the nearest and keeps denormals. Texture and shape must
/// outlive it.
class TexelRows {
public:
    TexelRows(const CpuTexture& texture, const SourceShape& shape, std::int32_t layer);

    /// Plain fetches at (x[i], y), in the sampler's coordinates.
    void fetch(const float* x, float y, std::size_t count, Float4* texels) const;
    /// At columns that many rows share.
    [[nodiscard]] RowColumns columns(const float* x, std::size_t count) const { return rows_.columns(x, count); }
    [[nodiscard]] std::vector<FetchedRow> rows(std::span<const float> y) const { return rows_.rows(y); }
    void fetch(RowColumns& columns, const FetchedRow& at, Float4* texels) const {
        if (!rows_.fetch(columns, at, reinterpret_cast<Texel*>(texels)))
            fetch(columns.places(), at.y, columns.count(), texels);
    }
    /// Taps at columns that many rows share.
    [[nodiscard]] TapColumns taps(std::span<const WeighedPlaces> taps, std::size_t count) const {
        return rows_.taps(taps, count);
    }
    /// What they sum up to, with zeros of any sign. There must be room for whole_lattice_steps().
    void sum(TapColumns& taps, const FetchedRow& at, Float4* sums) const;
    /// The fetches as pixels of a picture; `past_caches`: of one that is far larger than caches.
    void fetch(RowColumns& columns, const FetchedRow& at, const PixelFormat& picture, std::byte* pixels,
               bool past_caches) const {
        if (!is_four_floats(picture.stored) || !rows_.fetch(columns, at, reinterpret_cast<Texel*>(pixels), past_caches))
            fetch(columns.places(), at.y, columns.count(), picture, pixels);
    }
    /// at_texel() of the middles of texels from (x, y) on; those beyond the edges are as the sampler says.
    void middles(std::int32_t x, std::int32_t y, std::size_t count, Float4* texels) const;
    /// The same where the texture itself has them as four floats each; null where it has not.
    const float* in_place(std::int32_t x, std::int32_t y, std::size_t count) const;
    /// Those, or in `room`.
    const float* middles_in_place(std::int32_t x, std::int32_t y, std::size_t count, Float4* room) const;
    /// The same, at most TexelPlanes::kMost.
    void middles(std::int32_t x, std::int32_t y, std::size_t count, TexelPlanes& texels) const;
    /// Asks for stored texels of a row that are to be read soon, where they are inside.
    void prefetch(std::int32_t x, std::int32_t y, std::size_t count) const;
    /// Whether texels beyond the edges are those at them; false if it is not known.
    bool clamps() const { return clamps_; }
    /// Whether texels are stored in rows, and those middles read as what is stored().
    bool are_stored() const { return first_ != nullptr; }
    /// The texel (x, y), which is inside; those of its row follow it.
    const unsigned char* stored(std::int32_t x, std::int32_t y) const {
        return first_ + static_cast<std::size_t>(y) * pitch_ + static_cast<std::size_t>(x) * bytes_;
    }

    /// Any fetch.
    Texel fetch(FetchOperation operation, const FetchPoint& at, int component) const {
        return reader_.fetch(at, {.operation = operation, .component = component});
    }
    /// Plain fetches at (x[i], y), as pixels of a picture.
    void fetch(const float* x, float y, std::size_t count, const PixelFormat& picture, std::byte* pixels) const {
        fetch_blocks(x, y, count, [&](const float* xs, const float* ys, std::size_t first, std::size_t length) {
            rows_.fetch(xs, ys, length, picture, pixels + first * picture.stored.bytes);
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

    void repeat(std::int32_t x, std::int32_t y, std::int32_t count, Float4* texels) const;
    void middles_outside(std::int32_t x, std::int32_t y, std::size_t count, Float4* texels) const;

    const SourceShape& shape_;
    TextureReader reader_;
    RowSampler rows_;
    RowDecode decode_ = nullptr;  // of texels inside; null: they are fetched
    PlaneDecode decode_planes_ = nullptr;
    bool clamps_ = false;                   // beyond the edges are the texels at them
    bool has_floats_ = false;               // four in a texel, as they are fetched
    const unsigned char* first_ = nullptr;  // null: texels are not stored in rows, or read as something else
    std::size_t pitch_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace texton::detail

#pragma once
#include <cfenv>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <texton/pixel_encode.h>

#include "arrays/cpu/pixel_rows.h"
#include "arrays/cpu/row_columns.h"
#include "arrays/cpu/rows_simd.h"
#include "arrays/cpu/texel_decoder.h"
#include "arrays/unit/texture_view.h"

namespace texton::detail {

/// Plain fetches of a texture at many places, in blocks: of 1D textures, where y must be 0, and 2D ones on vectors where the
/// format and the sampler allow, else by the model. Equal to the model in every bit: while it lives, its thread rounds to the nearest and
/// keeps denormals, so it is made where it is used.
class RowSampler {
public:
    /// The view and the sampler must outlive it. Of a layered texture `layer` is read.
    RowSampler(const TextureView& view, const Sampler& sampler, std::int32_t layer = 0);
    ~RowSampler();
    RowSampler(const RowSampler&) = delete;
    RowSampler& operator=(const RowSampler&) = delete;

    void fetch(const float* x, const float* y, std::size_t count, Texel* texels) const;
    /// As encode_pixel() has them, one after the other.
    void fetch(const float* x, const float* y, std::size_t count, const PixelFormat& picture, std::byte* pixels) const;

    [[nodiscard]] RowColumns columns(const float* x, std::size_t count) const;
    [[nodiscard]] std::vector<FetchedRow> rows(std::span<const float> y) const;
    /// At prepared columns; false where they are not to be had, and has done nothing. `past_caches`: into a picture that
    /// is far larger than caches.
    [[nodiscard]] bool fetch(RowColumns& columns, const FetchedRow& at, Texel* texels, bool past_caches = false) const;

    [[nodiscard]] TapColumns taps(std::span<const WeighedPlaces> taps, std::size_t count) const;
    /// Of fetches at prepared columns: tap after tap, each product and each sum rounded by itself; zeros may have any
    /// sign. There must be room for whole_lattice_steps(). False as for fetch().
    [[nodiscard]] bool sum(TapColumns& taps, const FetchedRow& at, Texel* sums) const;

    /// For the pixels of a row from (i, j) on, of a picture that `map` leads to the texture; its layer is not looked
    /// at.
    void fetch_row(const AffineMap& map, std::uint32_t i, std::uint32_t j, std::size_t count,
                   const PixelFormat& picture, std::byte* pixels) const;

private:
    bool has_kernels(std::size_t count) const;
    void fetch_blocks(BlockFetch fetch, std::size_t bytes, const float* x, const float* y, std::size_t count,
                      unsigned char* results) const;
    /// As pixels of the texture's own format.
    void fetch_stored(const float* x, const float* y, std::size_t count, std::byte* pixels) const;
    const float* row_at(std::int32_t y) const;
    void fetch_by_model(const float* x, const float* y, std::size_t count, Texel* texels) const;

    const TextureView& view_;
    const Sampler& sampler_;
    std::int32_t layer_;
    std::fenv_t caller_modes_;
    RowPlan plan_{};
    RowKernels kernels_;              // none: by the model
    TexelDecoder decoder_ = nullptr;  // of point reads
    RowDecode decode_row_ = nullptr;  // the same for many; null: one by one
};

}  // namespace texton::detail

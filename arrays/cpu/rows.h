#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <texton/pixel_encode.h>

#include "arrays/cpu/default_modes.h"
#include "arrays/cpu/pixel_rows.h"
#include "arrays/cpu/row_columns.h"
#include "arrays/cpu/rows_simd.h"
#include "arrays/cpu/texel_decoder.h"
#include "arrays/unit/texture_address.h"
#include "arrays/unit/texture_view.h"

namespace texton::detail {

/// Performs plain fetches at many positions, in blocks. It uses vectors for 1D textures, where y must be 0, and for 2D
/// textures and layers if the format and the sampler permit it. Otherwise it uses the model of the texture unit.
///
/// The results are bit-identical to those of the model. To ensure this, the sampler contains DefaultModes. So it must
/// be created, used and destroyed on one thread.
class RowSampler {
public:
    /// The view and the sampler must outlive the object. `layer` is read if the texture is layered.
    RowSampler(const TextureView& view, const Sampler& sampler, std::int32_t layer = 0);
    RowSampler(const RowSampler&) = delete;
    RowSampler& operator=(const RowSampler&) = delete;

    void fetch(const float* x, const float* y, std::size_t count, Texel* texels) const;
    /// Fetches and stores adjacent pixels, encoded as by encode_pixel().
    void fetch(const float* x, const float* y, std::size_t count, const PixelFormat& image, std::byte* pixels) const;

    /// Returns the texels that fetches read along an axis: 0 is x. The weight of two equal texels can be any.
    [[nodiscard]] std::vector<AxisTaps> taps(int axis, std::span<const float> positions) const;
    /// Prepares x coordinates, which must outlive the result.
    [[nodiscard]] RowColumns columns(const float* x, std::size_t count) const;
    /// Prepares y coordinates.
    [[nodiscard]] std::vector<FetchedRow> rows(std::span<const float> y) const;
    /// Fetches at prepared columns. Returns false, and does nothing, if the columns or the row could not be prepared.
    /// `past_caches` stores past the caches, for destinations far larger than the caches; the caller must then call
    /// hwy::FlushStream() before others read the memory.
    [[nodiscard]] bool fetch(RowColumns& columns, const FetchedRow& at, Texel* texels, bool past_caches = false) const;
    /// Does the same, and stores adjacent pixels, encoded as by encode_pixel().
    [[nodiscard]] bool fetch(RowColumns& columns, const FetchedRow& at, const PixelFormat& image, std::byte* pixels,
                             bool past_caches) const;

    /// Fetches the pixels (i, j), (i + 1, j), ... of a destination whose pixels `map` maps to coordinates. The layer of
    /// `map` is ignored.
    void fetch_row(const AffineMap& map, std::uint32_t i, std::uint32_t j, std::size_t count, const PixelFormat& image,
                   std::byte* pixels) const;

private:
    bool has_kernels(std::size_t count) const;
    void fetch_blocks(BlockFetch fetch, std::size_t bytes, const float* x, const float* y, std::size_t count,
                      unsigned char* results) const;
    /// Stores pixels of the texture's own format.
    void fetch_stored(const float* x, const float* y, std::size_t count, std::byte* pixels) const;
    const unsigned char* row_at(std::int32_t y) const;
    bool fetch_four_floats(RowColumns& columns, const FetchedRow& at, Texel* texels, bool past_caches) const;
    /// Returns the staged pairs of a row of texels, which replace those of another row than `other`.
    const unsigned char* staged_row(RowColumns& columns, const unsigned char* texels, const unsigned char* other) const;
    bool fetch_staged(RowColumns& columns, const FetchedRow& at, StagedBlend blend, std::size_t bytes,
                      unsigned char* results) const;
    void fetch_by_model(const float* x, const float* y, std::size_t count, Texel* texels) const;

    const TextureView& view_;
    const Sampler& sampler_;
    std::int32_t layer_;
    DefaultModes modes_;
    RowPlan plan_{};
    RowKernels kernels_;              // empty: the model is used
    TexelDecoder decoder_ = nullptr;  // for point reads
    RowDecode decode_row_ = nullptr;  // the same for rows; null: texel by texel
};

}  // namespace texton::detail

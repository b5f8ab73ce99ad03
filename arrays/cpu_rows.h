#pragma once
#include <cfenv>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <texton/pixel_encode.h>

#include "arrays/cpu_pixel_rows.h"
#include "arrays/cpu_rows_simd.h"
#include "arrays/cpu_texel_decoder.h"
#include "arrays/texture_view.h"

namespace texton::detail {

/// Texels of four floats that pixels take of rows of such.
class TexelColumns {
public:
    /// `second`: of each the one that is read besides, with room for a whole number of kLatticeStep, or null.
    TexelColumns(std::vector<std::int32_t> texels, std::int32_t width, const std::int32_t* second = nullptr);

    std::span<const std::int32_t> texels() const noexcept { return {texels_.data(), count_}; }
    /// `taken` has room for a whole number of kLatticeStep.
    void take(const Texel* row, Texel* taken) const;

private:
    friend class RowColumns;
    PreparedColumns prepared(std::size_t begin) const;

    std::size_t count_;
    std::vector<std::int32_t> texels_;  // and then the last one again
    std::vector<Columns> kinds_;
    std::vector<std::int32_t> window_;
    std::vector<std::int32_t> lanes_;
};

/// Places along x that many rows of fetches have in common; they must outlive it.
class RowColumns {
public:
    std::size_t count() const noexcept { return count_; }
    const float* places() const noexcept { return places_; }
    /// Which column of texels each place is the middle of; none where one is not, or nothing is prepared.
    std::span<const std::int32_t> middles() const {
        return first_ && !between_ ? first_->texels() : std::span<const std::int32_t>();
    }

    /// Whether the texels of rows to come are asked for; else someone else does.
    void set_prefetch(bool on) noexcept { prefetch_ = on; }

private:
    friend class RowSampler;
    RowColumns(const float* places, std::size_t count) : places_(places), count_(count) {}

    PreparedPlaces prepared(std::size_t begin) const;

    const float* places_;
    std::size_t count_;
    bool prefetch_ = true;
    bool between_ = false;               // some have a share of the second texel
    std::int32_t top_ = 0;               // the row that was fetched last
    std::optional<TexelColumns> first_;  // none: nothing is prepared
    std::vector<std::int32_t> second_;
    std::vector<std::int32_t> share_;
};

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
    /// At prepared columns; false where they are not to be had, and has done nothing. `past_caches`: into a picture that
    /// is far larger than caches.
    [[nodiscard]] bool fetch(RowColumns& columns, float y, Texel* texels, bool past_caches = false) const;

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

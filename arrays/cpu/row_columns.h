#pragma once
// Places along x that many rows of fetches of texels of four floats have in common, prepared.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <texton/sample.h>

#include "arrays/cpu/rows_simd.h"

namespace texton::detail {

/// Places are prepared by so many.
[[nodiscard]] constexpr std::size_t whole_lattice_steps(std::size_t places) {
    return (places + kLatticeStep - 1) / kLatticeStep * kLatticeStep;
}

/// Texels that pixels take of rows of such.
class TexelColumns {
public:
    /// `second`: of each the one that is read besides, with room for a whole number of kLatticeStep, or null.
    TexelColumns(std::vector<std::int32_t> texels, std::int32_t width, const std::int32_t* second = nullptr);

    std::span<const std::int32_t> texels() const noexcept { return {texels_.data(), count_}; }
    PreparedColumns prepared(std::size_t begin) const;

private:
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

private:
    friend class RowSampler;
    friend class TapColumns;
    RowColumns(const float* places, std::size_t count) : places_(places), count_(count) {}
    /// Of texels that follow each other.
    RowColumns(std::int32_t first, std::int32_t last, std::int32_t width);

    bool is_prepared() const { return first_.has_value(); }
    PreparedPlaces prepared(std::size_t begin) const;

    const float* places_ = nullptr;
    std::size_t count_;
    bool between_ = false;               // some have a share of the second texel
    std::int32_t last_row_ = -1;         // the lowest that was fetched
    std::optional<TexelColumns> first_;  // none: nothing is prepared
    std::vector<std::int32_t> second_;
    std::vector<std::int32_t> share_;
};

/// A fetch of each pixel of a row, and what it counts.
struct WeighedPlaces {
    const float* places;
    const float* weights;
};

/// Pixels that are sums of fetches along x, of many rows. Taps at the middles of texels have most of these in common:
/// those are fetched by texel, and then taken by pixel.
class TapColumns {
public:
    std::span<RowColumns> columns() noexcept { return columns_; }
    std::span<const float> weights(std::size_t tap) const { return weights_[tap]; }

private:
    friend class RowSampler;
    TapColumns(std::vector<RowColumns> columns, std::vector<std::vector<float>> weights, std::int32_t width);

    void find_middles(std::int32_t width);
    void prepare_taps();

    std::vector<RowColumns> columns_;  // of each tap
    std::vector<std::vector<float>> weights_;
    std::optional<RowColumns> middles_;               // none: all taps are fetched
    std::vector<std::optional<TexelColumns>> taken_;  // of the middles, by tap
    std::vector<Texel> fetched_;                      // middles of a row
    std::vector<LatticeTap> taps_;                    // none: nothing is prepared
    std::int32_t last_row_ = -1;                      // the lowest that was fetched
};

}  // namespace texton::detail

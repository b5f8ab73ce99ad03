#pragma once
// Prepared x coordinates that many rows of fetches have in common.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <texton/sample.h>

#include "arrays/cpu/rows_simd.h"

namespace texton::detail {

/// Returns `positions`, rounded up to a multiple of kLatticeStep. Positions are prepared in steps of that size.
[[nodiscard]] constexpr std::size_t whole_lattice_steps(std::size_t positions) {
    return (positions + kLatticeStep - 1) / kLatticeStep * kLatticeStep;
}

/// Returns how the texels of a block follow each other. Negative texels are the border. `width` is the number of texels
/// in a row, and `near` is RowKernels::near_texels.
[[nodiscard]] Neighbors find_neighbors(const std::int32_t* first, const std::int32_t* second, std::int32_t width,
                                       std::int32_t near);

/// The columns of the texels that the pixels of a row read, prepared for many rows of texels.
class TexelColumns {
public:
    /// `second` contains the second texel that each pixel reads, padded to a multiple of kLatticeStep. It is null if no
    /// second texels are read. `width` is the number of texels in a row.
    TexelColumns(std::vector<std::int32_t> texels, std::int32_t width, const std::int32_t* second = nullptr);

    std::span<const std::int32_t> texels() const noexcept { return {texels_.data(), count_}; }
    PreparedColumns prepared(std::size_t begin) const;

private:
    std::size_t count_;
    std::vector<std::int32_t> texels_;  // padded with the last one
    std::vector<Columns> kinds_;
    std::vector<std::int32_t> window_;
    std::vector<std::int32_t> lanes_;
};

/// x coordinates that many rows of fetches have in common. Non-owning: the coordinates must outlive the object. Fetches
/// modify it, so threads must not share it.
class RowColumns {
public:
    std::size_t count() const noexcept { return count_; }
    const float* positions() const noexcept { return positions_; }

private:
    friend class RowSampler;
    RowColumns(const float* positions, std::size_t count) : positions_(positions), count_(count) {}

    struct StagedRow {
        const unsigned char* texels = nullptr;  // the row of texels whose pairs are staged
        std::vector<unsigned char> pairs;
    };

    bool is_prepared() const { return first_.has_value(); }
    PreparedPositions prepared(std::size_t begin) const;
    TexelPairs pairs(std::size_t first_block, std::size_t blocks) const;

    const float* positions_ = nullptr;
    std::size_t count_;
    bool between_ = false;               // some pixels also read a second texel
    std::int32_t last_row_ = -1;         // bottommost row that was fetched
    std::optional<TexelColumns> first_;  // for texels of four floats; empty if nothing is prepared
    std::vector<std::int32_t> left_;     // for other texels; likewise
    std::vector<Neighbors> neighbors_;   // one for each block of these
    std::vector<std::int32_t> second_;
    std::vector<std::int32_t> share_;
    std::array<StagedRow, 2> staged_;
};

}  // namespace texton::detail

#include "arrays/cpu/row_columns.h"

#include <algorithm>
#include <utility>

namespace texton::detail {

TexelColumns::TexelColumns(std::vector<std::int32_t> texels, std::int32_t width, const std::int32_t* second)
    : count_(texels.size()), texels_(std::move(texels)) {
    const std::size_t padded = whole_lattice_steps(count_);
    texels_.resize(padded, texels_.back());
    kinds_.resize(padded);
    window_.resize(padded);
    lanes_.resize(4 * padded);
    lattice_kernels().find_windows(texels_.data(), second, padded, width, kinds_.data(), window_.data(), lanes_.data());
}

PreparedColumns TexelColumns::prepared(std::size_t begin) const {
    return {texels_.data() + begin, kinds_.data() + begin, window_.data() + begin, lanes_.data() + 4 * begin};
}

PreparedPositions RowColumns::prepared(std::size_t begin) const {
    return {first_->prepared(begin), second_.data() + begin, share_.data() + begin};
}

TexelPairs RowColumns::pairs(std::size_t first_block, std::size_t blocks) const {
    const std::size_t begin = first_block * kRowBlock;
    return {left_.data() + begin, second_.data() + begin, share_.data() + begin, neighbors_.data() + first_block,
            blocks};
}

namespace {

// Returns whether the pairs of each step of pixels are within `near` texels of the row.
bool are_near(const std::int32_t* first, std::int32_t width, std::int32_t near) {
    if (near == 0 || width < near) return false;
    for (std::size_t i = 0; i < kRowBlock; i += kNearStep) {
        const std::int32_t last = first[i + kNearStep - 1];
        if (!std::is_sorted(first + i, first + i + kNearStep)) return false;
        if (last + 1 - first_near(first + i, width, near) >= near) return false;
    }
    return true;
}

}  // namespace

Neighbors find_neighbors(const std::int32_t* first, const std::int32_t* second, std::int32_t width, std::int32_t near) {
    bool pairs = true;
    bool all_pairs = true;
    for (std::size_t i = 0; i < kRowBlock; ++i) {
        pairs &= first[i] >= 0 && second[i] == first[i] + 1;
        all_pairs &= first[i] == first[0] + 2 * static_cast<std::int32_t>(i);
    }
    if (!pairs) return Neighbors::any;
    if (all_pairs) return Neighbors::all_pairs;
    return are_near(first, width, near) ? Neighbors::near : Neighbors::pairs;
}

}  // namespace texton::detail

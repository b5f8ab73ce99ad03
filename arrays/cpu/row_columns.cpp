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

}  // namespace texton::detail

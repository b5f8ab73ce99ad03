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

RowColumns::RowColumns(std::int32_t first, std::int32_t last, std::int32_t width)
    : count_(static_cast<std::size_t>(last - first + 1)) {
    std::vector<std::int32_t> texels(count_);
    for (std::size_t i = 0; i < count_; ++i) texels[i] = first + static_cast<std::int32_t>(i);
    first_.emplace(std::move(texels), width);
}

PreparedPositions RowColumns::prepared(std::size_t begin) const {
    return {first_->prepared(begin), second_.data() + begin, share_.data() + begin};
}

TapColumns::TapColumns(std::vector<RowColumns> columns, std::vector<std::vector<float>> weights, std::int32_t width)
    : columns_(std::move(columns)), weights_(std::move(weights)), taken_(columns_.size()) {
    if (!std::ranges::all_of(columns_, &RowColumns::is_prepared)) return;
    find_centers(width);
    prepare_taps();
}

void TapColumns::prepare_taps() {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        LatticeTap tap{columns_[i].prepared(0), {}, weights_[i].data(), columns_[i].between_};
        if (taken_[i]) tap.taken = taken_[i]->prepared(0);
        taps_.push_back(tap);
    }
}

// Leaves `centers_` empty if most of the texels between the first and the last one would not be used.
void TapColumns::find_centers(std::int32_t width) {
    std::int32_t first = width;
    std::int32_t last = -1;
    std::size_t taken = 0;
    for (const RowColumns& tap : columns_) {
        if (tap.between_) continue;
        const auto [minimum, maximum] = std::ranges::minmax(tap.first_->texels());
        first = std::min(first, minimum);
        last = std::max(last, maximum);
        taken += tap.count();
    }
    if (last < first || static_cast<std::size_t>(last - first) >= 2 * taken) return;
    centers_.emplace(RowColumns(first, last, width));
    fetched_.resize(whole_lattice_steps(centers_->count()));
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (columns_[i].between_) continue;
        std::vector<std::int32_t> columns;
        for (const std::int32_t texel : columns_[i].first_->texels()) columns.push_back(texel - first);
        taken_[i].emplace(std::move(columns), static_cast<std::int32_t>(centers_->count()));
    }
}

}  // namespace texton::detail

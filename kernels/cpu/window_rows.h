#pragma once
// Medians on vectors, one row of pixels at a time.
#include <cstddef>
#include <span>

namespace texton::detail {

/// The rows of texels that a row of pixels reads: `side` rows of `count` texels, which are `step` channels apart. The
/// window of the first pixel begins `before` texels before them. Texels beyond the first and the last one repeat these.
template <class Value>
struct WindowRows {
    const Value* const* rows;
    std::size_t side;
    std::size_t step;
    std::size_t before;
    std::size_t count;
};

/// Writes the median of the values of a window, with `side` 3 or 5, for each of the channels of a row of pixels. NaN is
/// handled as by filters::ByComparison, but each result is the canonical one of images. `past_caches` requests
/// streaming stores, after which the caller must call hwy::FlushStream(). `Value` is float, std::uint8_t or
/// std::uint16_t.
template <class Value>
void median_of_rows(const WindowRows<Value>& window, std::span<Value> medians, bool past_caches);

}  // namespace texton::detail

#pragma once
// Square neighborhood filters on vectors, one row of pixels at a time.
#include <cstddef>
#include <span>
#include <vector>

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

/// A row of texels, with a separate row for each channel.
struct PlaneRow {
    const float* channel[4];
};

/// The exponents of the weights of filters::Bilateral.
struct BilateralWeights {
    std::size_t radius;
    float range;                   ///< for a squared difference of values of 1
    float lowest;                  ///< lower ones have the weight 0
    std::vector<float> distances;  ///< of the texels, row by row
};

/// Computes filters::Bilateral of `count` pixels with 1, 2 or 4 channels, whose other channels are 0, with a separate
/// row for each channel. Rows of texels begin `radius` texels before the first pixel and end as many texels after the
/// last. `pixels` has four rows. A pixel is NaN if all its weights are 0. The CPU must have fused
/// multiply-adds: line_sums() must not be null.
void bilateral_of_rows(const PlaneRow* rows, std::size_t channels, const BilateralWeights& weights, std::size_t count,
                       float* const* pixels);

}  // namespace texton::detail

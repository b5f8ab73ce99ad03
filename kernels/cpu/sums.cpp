#include "kernels/cpu/sums.h"

#include <texton/channel_codes.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/sums.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace texton::detail {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Float = hn::ScalableTag<float>;
using FloatVector = hn::Vec<Float>;
constexpr Float kFloat;

#include "arrays/cpu/pixel_vectors.h"

enum class Stored { sums, pixels, pixels_past_caches };

template <Stored stored, class D>
HWY_INLINE void store(D d, hn::Vec<D> sum, float* to) {
    switch (stored) {
        case Stored::sums: return store_vector_to<false>(sum, d, to);
        case Stored::pixels: return store_vector_to<false>(with_one_nan(d, sum), d, to);
        case Stored::pixels_past_caches: return store_vector_to<true>(with_one_nan(d, sum), d, to);
    }
}

template <Stored stored, class D, std::size_t vectors>
HWY_INLINE void sum_part(D d, const float* const* rows, const float* weights, std::size_t row_count, std::size_t at,
                         float* sums) {
    hn::Vec<D> sum[vectors];
    for (hn::Vec<D>& part : sum) part = hn::Zero(d);
    const std::size_t lanes = hn::Lanes(d);
    for (std::size_t i = 0; i < row_count; ++i) {
        for (std::size_t v = 0; v < vectors; ++v)
            sum[v] = hn::Add(sum[v], hn::Mul(hn::LoadU(d, rows[i] + at + v * lanes), hn::Set(d, weights[i])));
    }
    for (std::size_t v = 0; v < vectors; ++v) store<stored>(d, sum[v], sums + at + v * lanes);
}

template <Stored stored>
HWY_INLINE void sum_all(const float* const* rows, const float* weights, std::size_t row_count, std::size_t count,
                        float* sums) {
    constexpr std::size_t kVectors = 4;  // vectors at a time, so that additions do not wait for each other
    constexpr hn::CappedTag<float, 1> kOne;
    const std::size_t lanes = hn::Lanes(kFloat);
    std::size_t at = 0;
    for (; at + kVectors * lanes <= count; at += kVectors * lanes)
        sum_part<stored, Float, kVectors>(kFloat, rows, weights, row_count, at, sums);
    for (; at + lanes <= count; at += lanes) sum_part<stored, Float, 1>(kFloat, rows, weights, row_count, at, sums);
    constexpr Stored kRest = stored == Stored::sums ? Stored::sums : Stored::pixels;
    for (; at < count; ++at) sum_part<kRest, hn::CappedTag<float, 1>, 1>(kOne, rows, weights, row_count, at, sums);
}

// A pixel is one vector, or four vectors on targets whose vectors have one lane.
constexpr hn::CappedTag<float, 4> kPixel;
constexpr std::size_t kLanes = hn::MaxLanes(kPixel);

template <bool skips>
HWY_INLINE void add_boxes_to(const float* texels, const RowBoxes& boxes, float of_row, float* sums, float* totals) {
    for (std::size_t i = 0; i < boxes.pixels; ++i) {
        hn::Vec<decltype(kPixel)> sum[4 / kLanes];
        for (std::size_t c = 0; c < 4; c += kLanes) sum[c / kLanes] = hn::LoadU(kPixel, sums + 4 * i + c);
        float total = skips ? totals[i] : 0;
        const float* texel = texels + std::ptrdiff_t{4} * boxes.first[i];
        for (std::uint32_t tap = boxes.begin[i]; tap < boxes.begin[i + 1]; ++tap, texel += 4) {
            const float weight = boxes.weights[tap] * of_row;
            if (skips && weight == 0) continue;
            for (std::size_t c = 0; c < 4; c += kLanes) {
                const auto product = hn::Mul(hn::LoadU(kPixel, texel + c), hn::Set(kPixel, weight));
                sum[c / kLanes] = hn::Add(sum[c / kLanes], product);
            }
            total += weight;
        }
        for (std::size_t c = 0; c < 4; c += kLanes) hn::StoreU(sum[c / kLanes], kPixel, sums + 4 * i + c);
        if (skips) totals[i] = total;
    }
}

// --- a few texels of a few rows --------------------------------------------------------------------------------------

HWY_INLINE void average_pixel(const FewTexels& few, std::size_t i, float* average) {
    for (std::size_t c = 0; c < 4; c += kLanes) {
        auto sum = hn::Zero(kPixel);
        float total = 0;
        for (std::size_t row = 0; row < few.row_count; ++row) {
            for (std::size_t tap = i; tap < few.taps * few.stride; tap += few.stride) {
                const float weight = few.weights[tap] * few.row_weights[row];
                if (weight == 0) continue;
                const auto texel = hn::LoadU(kPixel, few.rows[row] + std::ptrdiff_t{4} * few.texels[tap] + c);
                sum = hn::Add(sum, hn::Mul(texel, hn::Set(kPixel, weight)));
                total += weight;
            }
        }
        hn::StoreU(with_one_nan(kPixel, hn::Div(sum, hn::Set(kPixel, total))), kPixel, average + c);
    }
}

// Some targets have no vectors (see arrays/cpu/rows_simd.cpp).
#if HWY_TARGET == HWY_SCALAR
HWY_INLINE std::size_t average_vectors(const FewTexels&, std::size_t, float*, bool) { return 0; }
#else
using Texels = hn::CappedTag<float, 16>;
using TexelVector = hn::Vec<Texels>;
constexpr Texels kTexels;

template <class D>
HWY_INLINE hn::Vec<D> load_texels(D d, const float* row, const std::int32_t* positions) {
    if constexpr (hn::MaxLanes(D()) == 4) {
        return hn::LoadU(d, row + std::ptrdiff_t{4} * positions[0]);
    } else {
        const hn::Half<D> half;
        constexpr std::size_t kPixels = hn::MaxLanes(D()) / 8;
        return hn::Combine(d, load_texels(half, row, positions + kPixels), load_texels(half, row, positions));
    }
}

// Averages as many pixels as a vector has lanes. These are four vectors of channels.
template <Stored stored>
HWY_INLINE void average_group(const FewTexels& few, std::size_t first, float* averages) {
    constexpr std::size_t kPixels = hn::MaxLanes(kTexels) / 4;
    HWY_ALIGN static constexpr std::int32_t kSpread[16] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
    HWY_ALIGN float weights[FewTexels::kMax * hn::MaxLanes(kTexels)];
    constexpr hn::RebindToSigned<Texels> kPositions;
    const std::size_t lanes = hn::Lanes(kTexels);
    TexelVector total = hn::Zero(kTexels);
    float* next = weights;
    for (std::size_t row = 0; row < few.row_count; ++row) {
        for (std::size_t tap = 0; tap < few.taps; ++tap, next += lanes) {
            const auto weight = hn::Mul(hn::LoadU(kTexels, few.weights + tap * few.stride + first),
                                        hn::Set(kTexels, few.row_weights[row]));
            hn::Store(weight, kTexels, next);
            total = hn::Add(total, weight);
        }
    }
    for (std::size_t part = 0; part < 4; ++part) {
        const auto lanes_of_part =
            hn::Add(hn::Load(kPositions, kSpread), hn::Set(kPositions, static_cast<std::int32_t>(part * kPixels)));
        const auto spread = hn::IndicesFromVec(kTexels, lanes_of_part);
        TexelVector sum = hn::Zero(kTexels);
        const float* known = weights;
        for (std::size_t row = 0; row < few.row_count; ++row) {
            for (std::size_t tap = 0; tap < few.taps; ++tap, known += lanes) {
                const TexelVector weight = hn::TableLookupLanes(hn::Load(kTexels, known), spread);
                const std::int32_t* positions = few.texels + tap * few.stride + first + part * kPixels;
                const TexelVector product = hn::Mul(load_texels(kTexels, few.rows[row], positions), weight);
                // Adding zero changes only a negative zero, which a sum that starts with zero never is.
                sum = hn::Add(sum, hn::IfThenElseZero(hn::Ne(weight, hn::Zero(kTexels)), product));
            }
        }
        const TexelVector average = hn::Div(sum, hn::TableLookupLanes(total, spread));
        store<stored>(kTexels, average, averages + part * lanes);
    }
}

// Averages whole groups and returns their number of pixels.
template <Stored stored>
HWY_INLINE std::size_t average_groups(const FewTexels& few, std::size_t pixels, float* averages) {
    const std::size_t lanes = hn::Lanes(kTexels);
    std::size_t i = 0;
    for (; i + lanes <= pixels; i += lanes) average_group<stored>(few, i, averages + 4 * i);
    return i;
}

HWY_INLINE std::size_t average_vectors(const FewTexels& few, std::size_t pixels, float* averages, bool past_caches) {
    if (!past_caches || !begins_vector(kTexels, averages)) return average_groups<Stored::pixels>(few, pixels, averages);
    return average_groups<Stored::pixels_past_caches>(few, pixels, averages);
}
#endif

}  // namespace

void average_few_texels_on_vectors(const FewTexels& few, std::size_t pixels, float* averages, bool past_caches) {
    for (std::size_t i = average_vectors(few, pixels, averages, past_caches); i < pixels; ++i)
        average_pixel(few, i, averages + 4 * i);
}

void add_all_boxes_on_vectors(const float* texels, const RowBoxes& boxes, float of_row, float* sums) {
    add_boxes_to<false>(texels, boxes, of_row, sums, nullptr);
}

void add_boxes_on_vectors(const float* texels, const RowBoxes& boxes, float of_row, float* sums, float* totals) {
    add_boxes_to<true>(texels, boxes, of_row, sums, totals);
}

void divide_pixels_on_vectors(const float* sums, const float* totals, std::size_t count, float* pixels) {
    for (std::size_t i = 0; i < 4 * count; i += kLanes)
        hn::StoreU(with_one_nan(kPixel, hn::Div(hn::LoadU(kPixel, sums + i), hn::Set(kPixel, totals[i / 4]))), kPixel,
                   pixels + i);
}

void sum_rows_on_vectors(const float* const* rows, const float* weights, std::size_t row_count, std::size_t count,
                         float* sums) {
    sum_all<Stored::sums>(rows, weights, row_count, count, sums);
}

void sum_rows_as_pixels_on_vectors(const float* const* rows, const float* weights, std::size_t row_count,
                                   std::size_t count, float* pixels, bool past_caches) {
    if (past_caches && begins_vector(kFloat, pixels))
        return sum_all<Stored::pixels_past_caches>(rows, weights, row_count, count, pixels);
    sum_all<Stored::pixels>(rows, weights, row_count, count, pixels);
}

}  // namespace HWY_NAMESPACE
}  // namespace texton::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace texton::detail {

HWY_EXPORT(sum_rows_on_vectors);
HWY_EXPORT(sum_rows_as_pixels_on_vectors);

HWY_EXPORT(add_all_boxes_on_vectors);
HWY_EXPORT(add_boxes_on_vectors);
HWY_EXPORT(divide_pixels_on_vectors);
HWY_EXPORT(average_few_texels_on_vectors);

void add_boxes(const float* texels, const RowBoxes& boxes, float of_row, float* sums) {
    HWY_DYNAMIC_DISPATCH(add_all_boxes_on_vectors)(texels, boxes, of_row, sums);
}

void add_boxes(const float* texels, const RowBoxes& boxes, float of_row, float* sums, float* totals) {
    HWY_DYNAMIC_DISPATCH(add_boxes_on_vectors)(texels, boxes, of_row, sums, totals);
}

void average_few_texels(const FewTexels& few, std::size_t pixels, float* averages, bool past_caches) {
    HWY_DYNAMIC_DISPATCH(average_few_texels_on_vectors)(few, pixels, averages, past_caches);
}

void divide_pixels(const float* sums, const float* totals, std::size_t count, float* pixels) {
    HWY_DYNAMIC_DISPATCH(divide_pixels_on_vectors)(sums, totals, count, pixels);
}

void sum_rows(const float* const* rows, const float* weights, std::size_t row_count, std::size_t count, float* sums) {
    HWY_DYNAMIC_DISPATCH(sum_rows_on_vectors)(rows, weights, row_count, count, sums);
}

void sum_rows_as_pixels(const float* const* rows, const float* weights, std::size_t row_count, std::size_t count,
                        float* pixels, bool past_caches) {
    HWY_DYNAMIC_DISPATCH(sum_rows_as_pixels_on_vectors)(rows, weights, row_count, count, pixels, past_caches);
}

}  // namespace texton::detail
#endif

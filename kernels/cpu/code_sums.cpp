#include "kernels/cpu/code_sums.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include <texton/channel_codes.h>

#include "arrays/cpu/srgb_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/code_sums.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace texton::detail {
namespace HWY_NAMESPACE {

// As in line_sums.cpp.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SSSE3 || HWY_TARGET == HWY_SSE4
const CodeSums* code_sums_of_target() { return nullptr; }
#else
namespace {

#include "arrays/cpu/pixel_codes.h"

#include "arrays/cpu/pixel_channels.h"

using Sum = hn::Repartition<std::uint16_t, Float>;  // of codes with the same weight
using SumVector = hn::Vec<Sum>;
constexpr Sum kSum;
constexpr std::size_t kLanes = hn::MaxLanes(kFloat);

// --- sums of rows ----------------------------------------------------------------------------------------------------

constexpr std::size_t kMaxEqual = 256;  // rows whose sum of codes fits 16 bits

// Sums two vectors of `pairs` pairs of vectors. Consecutive rows with the same weight are first added as integers.
template <std::size_t pairs>
HWY_INLINE void down_part(std::span<const unsigned char* const> rows, std::span<const float> weights, std::size_t first,
                          float* sums) {
    constexpr hn::Rebind<std::uint8_t, Sum> kBytes;
    constexpr hn::Half<Sum> kHalf;
    FloatVector sum[2 * pairs];
    for (FloatVector& part : sum) part = hn::Zero(kFloat);
    const auto add = [&](std::size_t v, hn::Vec<Int> codes, FloatVector weight)
                         HWY_ATTR { sum[v] = hn::MulAdd(hn::ConvertTo(kFloat, codes), weight, sum[v]); };
    for (std::size_t i = 0; i < rows.size();) {
        std::size_t end = i + 1;
        while (end < rows.size() && end < i + kMaxEqual && weights[end] == weights[i]) ++end;
        const FloatVector weight = hn::Set(kFloat, weights[i]);
        if (end == i + 1) {
            for (std::size_t v = 0; v < 2 * pairs; ++v)
                add(v, hn::PromoteTo(kInt, hn::LoadU(kByte, rows[i] + first + v * kLanes)), weight);
        } else {
            for (std::size_t pair = 0; pair < pairs; ++pair) {
                SumVector codes = hn::Zero(kSum);
                for (std::size_t k = i; k < end; ++k) {
                    const unsigned char* const from = rows[k] + first + 2 * pair * kLanes;
                    codes = hn::Add(codes, hn::PromoteTo(kSum, hn::LoadU(kBytes, from)));
                }
                add(2 * pair, hn::PromoteTo(kInt, hn::LowerHalf(kHalf, codes)), weight);
                add(2 * pair + 1, hn::PromoteTo(kInt, hn::UpperHalf(kHalf, codes)), weight);
            }
        }
        i = end;
    }
    for (std::size_t v = 0; v < 2 * pairs; ++v) hn::StoreU(sum[v], kFloat, sums + v * kLanes);
}

void down(std::span<const unsigned char* const> rows, std::span<const float> weights, std::size_t count, float* sums) {
    constexpr std::size_t kFew = 2 * kLanes, kMany = 4 * kLanes;
    std::size_t k = 0;
    for (; k + kMany <= count; k += kMany) down_part<2>(rows, weights, k, sums + k);
    for (; k + kFew <= count; k += kFew) down_part<1>(rows, weights, k, sums + k);
    if (k == count) return;
    if (count >= kFew) return down_part<1>(rows, weights, count - kFew, sums + count - kFew);
    for (; k < count; ++k) {
        sums[k] = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) sums[k] += static_cast<float>(rows[i][k]) * weights[i];
    }
}

// --- codes -----------------------------------------------------------------------------------------------------------

std::size_t round(const float* sums, float scale, std::size_t count, float margin, unsigned char* codes,
                  std::int32_t* doubtful) {
    // A float of this amount has no fraction, so adding it rounds a sum to the nearest integer.
    constexpr float kWhole = 0x1.8p23f;
    const FloatVector scales = hn::Set(kFloat, scale), whole = hn::Set(kFloat, kWhole);
    const FloatVector farthest = hn::Set(kFloat, 0.5f - margin);
    std::int32_t* next = doubtful;
    for (std::size_t i = 0; i < count; i += 4 * kLanes) {
        IntVector rounded[4];
        hn::Mask<Float> is_doubtful[4];
        for (std::size_t v = 0; v < 4; ++v) {
            const FloatVector sum = hn::LoadU(kFloat, sums + i + v * kLanes);
            const FloatVector near = hn::MulAdd(sum, scales, whole);
            const FloatVector distance = hn::MulSub(sum, scales, hn::Sub(near, whole));
            is_doubtful[v] = hn::Gt(hn::Abs(distance), farthest);
            rounded[v] = hn::Sub(hn::BitCast(kInt, near), hn::BitCast(kInt, whole));
        }
        Unorm8::store_limited(rounded, codes + i);
        const auto any = hn::Or(hn::Or(is_doubtful[0], is_doubtful[1]), hn::Or(is_doubtful[2], is_doubtful[3]));
        if (HWY_LIKELY(hn::AllFalse(kFloat, any))) continue;
        for (std::size_t v = 0; v < 4; ++v) {
            const IntVector index = hn::Iota(kInt, static_cast<std::int32_t>(i + v * kLanes));
            next += hn::CompressStore(index, hn::RebindMask(kInt, is_doubtful[v]), kInt, next);
        }
    }
    while (next != doubtful && next[-1] >= static_cast<std::int32_t>(count)) --next;
    return static_cast<std::size_t>(next - doubtful);
}

constexpr std::array<float, 256> kColors = [] {
    std::array<float, 256> colors{};
    for (std::size_t code = 0; code < 256; ++code) colors[code] = static_cast<float>(code) / 255.0f;
    return colors;
}();

// Returns the code of a pixel. at(tap) returns the offset of a texel in its row.
template <class At>
HWY_INLINE unsigned char code_with(const CodesOfPixel& pixel, const At& at) {
    float sum = 0;
    for (std::size_t j = 0; j < pixel.y.count; ++j) {
        if (pixel.y[j] == 0) continue;
        const unsigned char* const texels = pixel.rows[j] + pixel.channel;
        float row = 0;
        for (std::size_t i = 0; i < pixel.x.count; ++i) row = std::fma(kColors[texels[at(i)]], pixel.x[i], row);
        sum = std::fma(row, pixel.y[j], sum);
    }
    return static_cast<unsigned char>(unorm_code_of(sum / pixel.divisor, 255.0f));
}

// Colors are not negative, so texels whose weight is 0 add 0.
unsigned char code_of(const CodesOfPixel& pixel) {
    const std::int64_t first = pixel.x.first, count = static_cast<std::int64_t>(pixel.x.count);
    if (first >= 0 && first + count <= pixel.width) {
        return code_with(pixel, [step = pixel.step, begin = static_cast<std::size_t>(first) * pixel.step](
                                    std::size_t tap) { return begin + tap * step; });
    }
    return code_with(pixel, [&](std::size_t tap) {
        const std::int64_t texel = std::clamp<std::int64_t>(first + static_cast<std::int64_t>(tap), 0, pixel.width - 1);
        return static_cast<std::size_t>(texel) * pixel.step;
    });
}

constexpr CodeSums kSums{down, round, code_of};

}  // namespace

const CodeSums* code_sums_of_target() { return &kSums; }
#endif

}  // namespace HWY_NAMESPACE
}  // namespace texton::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace texton::detail {

HWY_EXPORT(code_sums_of_target);

const CodeSums* code_sums() { return HWY_DYNAMIC_DISPATCH(code_sums_of_target)(); }

// Each operation rounds a number to the nearest float, which changes it by at most u = 2^-24 of its amount. In codes,
// all numbers are at most 255 * total_x * total_y / divisor, or 256 where a half is added. The definition converts a
// texel (1), multiplies and adds it along x (taps_x), multiplies and adds rows (taps_y), divides (1), multiplies by 255
// (1), and adds a half (1). CodeSums adds down (taps_y) and along (taps_x), multiplies by 1 / divisor, which is rounded
// itself (1), and compares the distance from a code with a rounded number (1). So the sum of the errors is
// 2 * (taps_x + taps_y) + 6 times u; 2 more cover products of errors.
float margin_of_sums(float total_x, float total_y, float divisor, std::size_t taps_x, std::size_t taps_y) {
    const float largest = 256 * std::max(total_x * total_y / divisor, 1.0f);
    return largest * static_cast<float>(2 * (taps_x + taps_y) + 8) * 0x1p-24f;
}

}  // namespace texton::detail
#endif

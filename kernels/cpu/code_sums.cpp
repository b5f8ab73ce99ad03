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

// A block of pixels with so many channels. Their codes are added in vectors of 16 bits, and then widened to vectors of
// channels: those of the first channel, of the second one, and so on.
template <std::size_t channels>
struct Block {
    static constexpr std::size_t kSums = channels == 1 ? 1 : 2;
    static constexpr std::size_t kVectors = 2 * kSums;
    static constexpr std::size_t kOfChannel = kVectors / channels;
    static constexpr std::size_t kPixels = kOfChannel * kLanes;

    static HWY_INLINE void load(const unsigned char* from, SumVector (&codes)[kSums]) {
        if constexpr (channels == 1) {
            codes[0] = hn::PromoteTo(kSum, hn::LoadU(hn::Rebind<std::uint8_t, Sum>(), from));
        } else {
            const SumVector stored = hn::BitCast(kSum, hn::LoadU(kBytes, from));
            codes[0] = hn::And(stored, hn::Set(kSum, 0xff));
            codes[1] = hn::ShiftRight<8>(stored);
        }
    }
    static HWY_INLINE void widen(const SumVector (&codes)[kSums], IntVector (&channel)[kVectors]) {
        if constexpr (channels == 4) {
            // Channels 0 and 2 of each pixel, and channels 1 and 3.
            for (std::size_t i = 0; i < kSums; ++i) {
                const auto pairs = hn::BitCast(kWord, codes[i]);
                channel[i] = hn::BitCast(kInt, hn::And(pairs, hn::Set(kWord, 0xffff)));
                channel[2 + i] = hn::BitCast(kInt, hn::ShiftRight<16>(pairs));
            }
        } else {
            constexpr hn::Half<Sum> kHalf;
            for (std::size_t i = 0; i < kSums; ++i) {
                channel[2 * i] = hn::PromoteTo(kInt, hn::LowerHalf(kHalf, codes[i]));
                channel[2 * i + 1] = hn::PromoteTo(kInt, hn::UpperHalf(kHalf, codes[i]));
            }
        }
    }
    static HWY_INLINE void load_wide(const unsigned char* from, IntVector (&channel)[kVectors]) {
        if constexpr (channels == 1) {
            for (std::size_t i = 0; i < kVectors; ++i)
                channel[i] = hn::PromoteTo(kInt, hn::LoadU(kByte, from + i * kLanes));
        } else {
            SumVector codes[kSums];
            load(from, codes);
            widen(codes, channel);
        }
    }
};

// Sums `blocks` blocks of texels, from byte `first` on. Consecutive rows with the same weight are added as integers.
template <std::size_t channels, std::size_t blocks>
HWY_INLINE void down_blocks(const WeighedRows& rows, std::size_t first, float* sums, std::size_t apart) {
    using Of = Block<channels>;
    FloatVector sum[blocks][Of::kVectors];
    for (auto& of_block : sum) {
        for (FloatVector& part : of_block) part = hn::Zero(kFloat);
    }
    const std::size_t count = rows.rows.size();
    for (std::size_t i = 0, end = 0; i < count; i = end) {
        end = i + 1;
        while (end < count && end < i + kMaxEqual && rows.weights[end] == rows.weights[i]) ++end;
        const FloatVector weight = hn::Set(kFloat, rows.weights[i]);
        for (std::size_t block = 0; block < blocks; ++block) {
            const std::size_t at = first + block * Of::kPixels * channels;
            IntVector wide[Of::kVectors];
            if (end == i + 1) {
                Of::load_wide(rows.rows[i] + at, wide);
            } else {
                SumVector all[Of::kSums];
                Of::load(rows.rows[i] + at, all);
                for (std::size_t k = i + 1; k < end; ++k) {
                    SumVector codes[Of::kSums];
                    Of::load(rows.rows[k] + at, codes);
                    for (std::size_t v = 0; v < Of::kSums; ++v) all[v] = hn::Add(all[v], codes[v]);
                }
                Of::widen(all, wide);
            }
            for (std::size_t v = 0; v < Of::kVectors; ++v)
                sum[block][v] = hn::MulAdd(hn::ConvertTo(kFloat, wide[v]), weight, sum[block][v]);
        }
    }
    for (std::size_t block = 0; block < blocks; ++block) {
        for (std::size_t v = 0; v < Of::kVectors; ++v) {
            float* const to = sums + v / Of::kOfChannel * apart + v % Of::kOfChannel * kLanes;
            hn::StoreU(sum[block][v], kFloat, to + block * Of::kPixels);
        }
    }
}

// Rows that are shorter than a block.
void down_short(const WeighedRows& rows, std::size_t channels, std::size_t pixels, float* sums, std::size_t apart) {
    for (std::size_t k = 0; k < pixels * channels; ++k) {
        float& sum = sums[k % channels * apart + k / channels];
        sum = 0;
        for (std::size_t i = 0; i < rows.rows.size(); ++i) sum += static_cast<float>(rows.rows[i][k]) * rows.weights[i];
    }
}

template <std::size_t channels>
void down_channels(const WeighedRows& rows, std::size_t pixels, float* sums, std::size_t apart) {
    constexpr std::size_t kBlock = Block<channels>::kPixels;
    if (pixels < kBlock) return down_short(rows, channels, pixels, sums, apart);
    std::size_t i = 0;
    for (; i + 2 * kBlock <= pixels; i += 2 * kBlock) down_blocks<channels, 2>(rows, i * channels, sums + i, apart);
    // The last block may begin inside the one before it.
    for (; i < pixels; i += kBlock) {
        const std::size_t begin = std::min(i, pixels - kBlock);
        down_blocks<channels, 1>(rows, begin * channels, sums + begin, apart);
    }
}

void down(const WeighedRows& rows, std::size_t channels, std::size_t pixels, float* sums, std::size_t apart) {
    if (channels == 1) return down_channels<1>(rows, pixels, sums, apart);
    if (channels == 2) return down_channels<2>(rows, pixels, sums, apart);
    down_channels<4>(rows, pixels, sums, apart);
}

// --- codes -----------------------------------------------------------------------------------------------------------

std::size_t find_doubtful(const float* values, std::size_t count, float margin, std::int32_t* found) {
    // A float of this amount has no fraction, so adding it rounds to the nearest integer.
    constexpr float kWhole = 0x1.8p23f;
    const FloatVector codes = hn::Set(kFloat, 255.0f), whole = hn::Set(kFloat, kWhole);
    const FloatVector farthest = hn::Set(kFloat, 0.5f - margin);
    std::int32_t* next = found;
    for (std::size_t i = 0; i < count; i += kLanes) {
        const FloatVector value = hn::LoadU(kFloat, values + i);
        const FloatVector nearest = hn::Sub(hn::MulAdd(value, codes, whole), whole);
        const auto is_doubtful = hn::Gt(hn::Abs(hn::MulSub(value, codes, nearest)), farthest);
        if (HWY_LIKELY(hn::AllFalse(kFloat, is_doubtful))) continue;
        // Compressing to memory takes some CPUs more than a hundred cycles.
        const IntVector index = hn::Iota(kInt, static_cast<std::int32_t>(i));
        const auto is_found = hn::RebindMask(kInt, is_doubtful);
        hn::StoreU(hn::Compress(index, is_found), kInt, next);
        next += hn::CountTrue(kInt, is_found);
    }
    while (next != found && next[-1] >= static_cast<std::int32_t>(count)) --next;
    return static_cast<std::size_t>(next - found);
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

constexpr CodeSums kSums{down, find_doubtful, code_of};

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
// (1), and adds a half (1). CodeSums adds down (taps_y), with weights divided by a product with the divisor (2), and
// along (taps_x), multiplies by 255 (1), and adds a half (1) or compares the distance from a code with a rounded number
// (1). So the sum of the errors is 2 * (taps_x + taps_y) + 9 times u; 3 more cover products of errors.
float margin_of_sums(float total_x, float total_y, float divisor, std::size_t taps_x, std::size_t taps_y) {
    const float largest = 256 * std::max(total_x * total_y / divisor, 1.0f);
    return largest * static_cast<float>(2 * (taps_x + taps_y) + 12) * 0x1p-24f;
}

}  // namespace texton::detail
#endif

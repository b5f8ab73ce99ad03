#include "kernels/cpu/line_sums.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include <texton/channel_codes.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/line_sums.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace texton::detail {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Without fused multiply-adds, the functors run.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SSSE3 || HWY_TARGET == HWY_SSE4
const LineSums* sums_of_target() { return nullptr; }
#else
namespace {

using Float = hn::CappedTag<float, kLineBlock>;
using Int = hn::Rebind<std::int32_t, Float>;
using FloatVector = hn::Vec<Float>;
using IntVector = hn::Vec<Int>;
constexpr Float kFloat;
constexpr Int kInt;
constexpr std::size_t kLanes = hn::MaxLanes(kFloat);

using Kind = LineTaps::Kind;

#include "arrays/cpu/pixel_vectors.h"

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
constexpr std::size_t kMaxWindow = 4;  // vectors
#else
constexpr std::size_t kMaxWindow = 2;
#endif
// Texels in which an instruction looks up those of a vector.
constexpr std::size_t kReach = kMaxWindow == 4 ? 2 * kLanes : kLanes;
// Maximum of taps for more than one vector. Looking up lanes in two vectors takes four instructions without AVX-512.
constexpr std::size_t kMaxWindowTaps = kMaxWindow == 4 ? std::size_t{1} << 20 : 4;

// --- preparation -----------------------------------------------------------------------------------------------------

// The pixels of a vector of values. A pixel has `step` values.
struct PixelsOfVector {
    std::int32_t first, last;  // minimum and maximum of the first texels
    std::uint32_t taps;        // maximum
};

PixelsOfVector pixels_of_vector(const SumAxis& axis, std::size_t pixel, std::size_t step) {
    const std::int32_t* const first = &axis.first[pixel];
    const std::int32_t* const count = &axis.count[pixel];
    if (step == 1) {
        const auto texels = hn::LoadU(kInt, first);
        return {hn::GetLane(hn::MinOfLanes(kInt, texels)), hn::GetLane(hn::MaxOfLanes(kInt, texels)),
                static_cast<std::uint32_t>(hn::GetLane(hn::MaxOfLanes(kInt, hn::LoadU(kInt, count))))};
    }
    const std::size_t pixels = std::max<std::size_t>(kLanes / step, 1);
    const auto [low, high] = std::minmax_element(first, first + pixels);
    return {*low, *high, static_cast<std::uint32_t>(*std::max_element(count, count + pixels))};
}

// Returns the weights of the taps of a vector of values, and adds them to `taps` if pixels have several values.
const float* weights_of_vector(LineTaps& taps, const SumAxis& axis, std::size_t pixel, std::uint32_t count,
                               float*& spread) {
    const float* const weights = axis.taps(pixel).weights;
    if (taps.step == 1) return weights;
    HWY_ALIGN std::int32_t pixel_of_lane[kLanes];
    for (std::size_t lane = 0; lane < kLanes; ++lane) pixel_of_lane[lane] = static_cast<std::int32_t>(lane / taps.step);
    const auto lanes = hn::SetTableIndices(kFloat, pixel_of_lane);
    const auto exist = hn::FirstN(kFloat, std::max<std::size_t>(kLanes / taps.step, 1));
    float* const of_values = std::exchange(spread, spread + count * kLanes);
    for (std::size_t tap = 0; tap < count; ++tap) {
        const FloatVector of_pixels = hn::MaskedLoad(exist, kFloat, weights + tap * kLineBlock);
        hn::Store(hn::TableLookupLanes(of_pixels, lanes), kFloat, of_values + tap * kLanes);
    }
    return of_values;
}

bool has_zeros(const float* weights, std::size_t apart, std::size_t taps) {
    for (std::size_t tap = 0; tap < taps; ++tap) {
        const auto is_zero = hn::Eq(hn::LoadU(kFloat, weights + tap * apart), hn::Zero(kFloat));
        if (!hn::AllFalse(kFloat, is_zero)) return true;
    }
    return false;
}

// Appends a block: a vector of values of the pixels from `pixel` on. `alike` is a block with the same weights, or null.
void add_block(LineTaps& taps, const SumAxis& axis, std::size_t pixel, LineValues values, const LineTaps::Block* alike,
               float*& spread) {
    const std::size_t step = taps.step;
    const PixelsOfVector pixels = pixels_of_vector(axis, pixel, step);
    const std::uint32_t count = pixels.taps;
    const auto texels = static_cast<std::size_t>(pixels.last - pixels.first) + 1;  // of the first tap
    std::size_t vectors = (texels * step + kLanes - 1) / kLanes;
    Kind kind = Kind::apart;
    // Two texels are loaded with fewer instructions than looked up. Without AVX-512, so are texels of two channels that
    // are not within a single vector.
    const std::size_t most_vectors = step == 1 || kMaxWindow == 4 ? kMaxWindow : 1;
    const bool is_window = vectors == 1 || (vectors <= most_vectors && count <= kMaxWindowTaps);
    if (is_window && (step == 1 || kLanes > 2 * step)) kind = vectors == 1 ? Kind::one : Kind::two;
    if (kind == Kind::two && vectors > 2) {
        kind = Kind::four;
        vectors = 4;
    }
    // Taps whose texels are within the vectors of the first one: as few as possible for the same number of loads, so
    // that fewer kinds of blocks follow one another.
    const std::size_t most =
        kind == Kind::apart ? 1 : std::min<std::size_t>({4, count, vectors * kLanes / step + 1 - texels});
    const std::size_t loads = (count + most - 1) / most;
    const std::size_t shared = (count + loads - 1) / loads;
    const std::size_t reach = kind == Kind::apart ? texels : vectors * kLanes / step;
    const std::size_t together = kind == Kind::apart ? 4 / step : 1;  // taps that are loaded together
    const std::size_t loaded = (count + together - 1) / together * together;
    const float* const weights =
        alike != nullptr ? alike->weights : weights_of_vector(taps, axis, pixel, count, spread);
    const bool all_count = alike != nullptr
                               ? alike->all_count
                               : values == LineValues::codes || !has_zeros(weights, taps.weights_apart, count);
    std::int32_t* const offsets = &taps.offsets[taps.blocks.size() * kLanes];
    if (step == 1) {
        const auto of_pixels = hn::LoadU(kInt, &axis.first[pixel]);
        hn::StoreU(hn::Sub(of_pixels, hn::Set(kInt, pixels.first)), kInt, offsets);
    } else {
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const auto texel = static_cast<std::size_t>(axis.first[pixel + lane / step] - pixels.first);
            offsets[lane] = static_cast<std::int32_t>(texel * step + lane % step);
        }
    }
    taps.blocks.push_back({kind, all_count, static_cast<std::uint8_t>(shared), count, pixels.first - taps.first_texel,
                           static_cast<std::uint32_t>(reach + loaded - 1),
                           static_cast<std::uint32_t>(taps.blocks.size() * kLanes), weights});
}

LineTaps prepare(const SumAxis& axis, std::size_t begin, std::size_t count, std::size_t step, LineValues values) {
    LineTaps taps;
    taps.step = step;
    taps.values = whole_line_blocks(count * step);
    std::int32_t first = axis.first[begin], last = first;
    for (std::size_t i = begin; i < begin + count; ++i) {
        first = std::min(first, axis.first[i]);
        last = std::max(last, axis.first[i] + axis.count[i]);
    }
    taps.first_texel = first;
    taps.texels = static_cast<std::size_t>(last - first);
    taps.blocks.reserve(taps.values / kLanes);
    taps.offsets.resize(taps.values);
    taps.weights_apart = step == 1 ? kLineBlock : kLanes;
    if (step > 1) {
        // At most as many taps as the group of each vector has. Groups that repeat have no weights of their own.
        std::size_t end = (begin + count - 1) / kLineBlock + 1;
        while (end < axis.groups.size() && axis.groups[end] == axis.groups[end - 1]) ++end;
        const std::size_t of_axis = end < axis.groups.size() ? axis.groups[end] : axis.weights.size();
        taps.weights.resize((of_axis - axis.groups[begin / kLineBlock]) * step);
    }
    float* spread = taps.weights.data();
    const std::size_t of_group = std::max<std::size_t>(kLineBlock * step / kLanes, 1);  // blocks
    for (std::size_t value = 0; value < taps.values; value += kLanes) {
        const std::size_t pixel = begin + value / step;
        const bool repeats = taps.blocks.size() >= of_group && axis.repeats(pixel);
        add_block(taps, axis, pixel, values, repeats ? &taps.blocks[taps.blocks.size() - of_group] : nullptr, spread);
    }
    return taps;
}

// --- sums along a line -----------------------------------------------------------------------------------------------

// The weights of a tap of a vector of pixels. With `all_count`, no weight is 0, or texels with the weight 0 add 0.
template <bool all_count>
struct TapWeights {
    FloatVector weights;

    HWY_INLINE explicit TapWeights(const float* from) : weights(hn::Load(kFloat, from)) {}
    HWY_INLINE FloatVector added(FloatVector texel, FloatVector sum) const {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
        if constexpr (!all_count) {
            const __mmask16 counts = _mm512_cmpneq_ps_mask(weights.raw, _mm512_setzero_ps());
            return FloatVector{_mm512_mask3_fmadd_ps(texel.raw, weights.raw, sum.raw, counts)};
        }
#endif
        const FloatVector next = hn::MulAdd(texel, weights, sum);
        return all_count ? next : hn::IfThenElse(hn::Eq(weights, hn::Zero(kFloat)), sum, next);
    }
};

// Adjacent vectors of texels, in which the texels of a vector of pixels are looked up.
template <std::size_t vectors>
class Window {
public:
    HWY_INLINE explicit Window(const float* texels) {
        for (std::size_t v = 0; v < vectors; ++v) of_[v] = hn::LoadU(kFloat, texels + v * kLanes);
    }

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
    HWY_INLINE FloatVector at(IntVector offsets) const {
        if constexpr (vectors == 1) return FloatVector{_mm512_permutexvar_ps(offsets.raw, of_[0].raw)};
        const __m512 low = _mm512_permutex2var_ps(of_[0].raw, offsets.raw, of_[1].raw);
        if constexpr (vectors == 2) return FloatVector{low};
        const auto is_high = _mm512_cmpge_epi32_mask(offsets.raw, _mm512_set1_epi32(2 * kLanes));
        const __m512 high = _mm512_permutex2var_ps(of_[2].raw, offsets.raw, of_[3].raw);
        return FloatVector{_mm512_mask_mov_ps(low, is_high, high)};
    }
#else
    HWY_INLINE FloatVector at(IntVector offsets) const {
        const IntVector last = hn::Set(kInt, static_cast<std::int32_t>(kLanes - 1));
        const auto lanes = hn::IndicesFromVec(kFloat, hn::And(offsets, last));
        const FloatVector low = hn::TableLookupLanes(of_[0], lanes);
        if constexpr (vectors == 1) return low;
        const FloatVector high = hn::TableLookupLanes(of_[1], lanes);
        return hn::IfThenElse(hn::RebindMask(kFloat, hn::Gt(offsets, last)), high, low);
    }
#endif

private:
    FloatVector of_[vectors];
};

// The lines of a row, which have the same taps.
template <std::size_t count>
struct Lines {
    static constexpr std::size_t kCount = count;
    std::size_t step;           // floats from a texel to the next
    std::size_t weights_apart;  // floats from the weights of a tap to those of the next
    const float* texels;
    std::size_t texels_apart;
    float* sums;
    std::size_t sums_apart;
};

// Adds `taps` taps, from `tap` on, whose texels are within the window of the first of them.
template <std::size_t vectors, bool all_count, std::uint32_t taps, class Lines>
HWY_INLINE void add_taps(const Lines& lines, std::uint32_t tap, IntVector offsets, const float* weights,
                         FloatVector* sum) {
    for (std::size_t line = 0; line < Lines::kCount; ++line) {
        const Window<vectors> window(lines.texels + line * lines.texels_apart + tap * lines.step);
        for (std::uint32_t k = 0; k < taps; ++k) {
            const TapWeights<all_count> of_tap(weights + (tap + k) * lines.weights_apart);
            const IntVector at = hn::Add(offsets, hn::Set(kInt, static_cast<std::int32_t>(k * lines.step)));
            sum[line] = of_tap.added(window.at(at), sum[line]);
        }
    }
}

// Adds `shared` taps at a time. The last ones are fewer.
template <std::size_t vectors, bool all_count, std::uint32_t shared, class Lines>
HWY_INLINE void sum_window_of(const Lines& lines, const std::int32_t* offsets, const float* weights,
                              std::uint32_t taps) {
    const IntVector at = hn::LoadU(kInt, offsets);
    FloatVector sum[Lines::kCount];
    for (FloatVector& of_line : sum) of_line = hn::Zero(kFloat);
    std::uint32_t tap = 0;
    do {
        add_taps<vectors, all_count, shared>(lines, tap, at, weights, sum);
        tap += shared;
    } while (tap + shared <= taps);
    if constexpr (shared > 2) {
        if (tap + 2 <= taps) {
            add_taps<vectors, all_count, 2>(lines, tap, at, weights, sum);
            tap += 2;
        }
    }
    if constexpr (shared > 1) {
        if (tap < taps) add_taps<vectors, all_count, 1>(lines, tap, at, weights, sum);
    }
    for (std::size_t line = 0; line < Lines::kCount; ++line)
        hn::Store(sum[line], kFloat, lines.sums + line * lines.sums_apart);
}

template <std::size_t vectors, bool all_count, class Lines>
HWY_INLINE void sum_window(const LineTaps::Block& block, const Lines& lines, const std::int32_t* offsets,
                           const float* weights) {
    const std::uint32_t taps = block.taps;
    switch (block.shared) {
        case 4: return sum_window_of<vectors, all_count, 4>(lines, offsets, weights, taps);
        case 3: return sum_window_of<vectors, all_count, 3>(lines, offsets, weights, taps);
        case 2: return sum_window_of<vectors, all_count, 2>(lines, offsets, weights, taps);
    }
    sum_window_of<vectors, all_count, 1>(lines, offsets, weights, taps);
}

// Loads a vector in pieces of so many floats.
template <std::size_t piece, class D>
HWY_INLINE hn::Vec<D> load_pieces(D d, const float* texels, const std::int32_t* offsets) {
    if constexpr (hn::MaxLanes(D()) == piece) {
        return hn::LoadU(d, texels + offsets[0]);
    } else {
        constexpr hn::Half<D> kHalf;
        return hn::Combine(d, load_pieces<piece>(kHalf, texels, offsets + hn::MaxLanes(kHalf)),
                           load_pieces<piece>(kHalf, texels, offsets));
    }
}

// --- blocks that are loaded pixel by pixel ---------------------------------------------------------------------------
//
// Lines are summed together, so that sums do not wait for each other.

template <class Lines>
HWY_INLINE void store_lines(const FloatVector (&sum)[Lines::kCount], const Lines& lines) {
    for (std::size_t line = 0; line < Lines::kCount; ++line)
        hn::Store(sum[line], kFloat, lines.sums + line * lines.sums_apart);
}

// Texels of four channels are loaded one by one.
template <bool all_count, class Lines>
HWY_INLINE void sum_four_channels(const LineTaps::Block& block, const Lines& lines, const std::int32_t* offsets) {
    FloatVector sum[Lines::kCount];
    for (FloatVector& of_line : sum) of_line = hn::Zero(kFloat);
    const float* texels = lines.texels;
    const float* weights = block.weights;
    for (std::uint32_t tap = 0; tap < block.taps; ++tap, texels += 4, weights += kLanes) {
        const TapWeights<all_count> of_tap(weights);
        for (std::size_t line = 0; line < Lines::kCount; ++line)
            sum[line] = of_tap.added(load_pieces<4>(kFloat, texels + line * lines.texels_apart, offsets), sum[line]);
    }
    store_lines(sum, lines);
}

// Two texels of two channels are loaded together: those of even pixels, and those of odd pixels.
template <bool all_count, class Lines>
HWY_INLINE void sum_two_channels(const LineTaps::Block& block, const Lines& lines, const std::int32_t* offsets) {
    FloatVector sum[Lines::kCount];
    for (FloatVector& of_line : sum) of_line = hn::Zero(kFloat);
    const hn::Repartition<double, Float> pair;
    const float* texels = lines.texels;
    const float* weights = block.weights;
    for (std::uint32_t tap = 0; tap < block.taps; tap += 2, texels += 4, weights += 2 * kLanes) {
        for (std::size_t line = 0; line < Lines::kCount; ++line) {
            const float* const of_line = texels + line * lines.texels_apart;
            const auto even = hn::BitCast(pair, load_pieces<4>(kFloat, of_line, offsets));
            const auto odd = hn::BitCast(pair, load_pieces<4>(kFloat, of_line, offsets + 2));
            const FloatVector first = hn::BitCast(kFloat, hn::InterleaveLower(pair, even, odd));
            const FloatVector second = hn::BitCast(kFloat, hn::InterleaveUpper(pair, even, odd));
            sum[line] = TapWeights<all_count>(weights).added(first, sum[line]);
            if (tap + 1 < block.taps) sum[line] = TapWeights<all_count>(weights + kLanes).added(second, sum[line]);
        }
    }
    store_lines(sum, lines);
}

// Four texels of each pixel are loaded and transposed.
template <bool all_count, class Lines>
HWY_INLINE void sum_apart(const LineTaps::Block& block, const Lines& lines, const std::int32_t* offsets) {
    FloatVector sum[Lines::kCount];
    for (FloatVector& of_line : sum) of_line = hn::Zero(kFloat);
    const hn::Repartition<double, Float> pair;
    const float* texels = lines.texels;
    for (std::uint32_t tap = 0; tap < block.taps; tap += 4, texels += 4) {
        for (std::size_t line = 0; line < Lines::kCount; ++line) {
            const float* const of_line = texels + line * lines.texels_apart;
            const FloatVector a = load_pieces<4>(kFloat, of_line, offsets);
            const FloatVector b = load_pieces<4>(kFloat, of_line, offsets + 1);
            const FloatVector c = load_pieces<4>(kFloat, of_line, offsets + 2);
            const FloatVector d = load_pieces<4>(kFloat, of_line, offsets + 3);
            const auto ab_low = hn::BitCast(pair, hn::InterleaveLower(kFloat, a, b));
            const auto ab_high = hn::BitCast(pair, hn::InterleaveUpper(kFloat, a, b));
            const auto cd_low = hn::BitCast(pair, hn::InterleaveLower(kFloat, c, d));
            const auto cd_high = hn::BitCast(pair, hn::InterleaveUpper(kFloat, c, d));
            const auto add = [&](std::uint32_t k, auto of_tap) HWY_ATTR {
                const TapWeights<all_count> weights(block.weights + (tap + k) * lines.weights_apart);
                sum[line] = weights.added(hn::BitCast(kFloat, of_tap), sum[line]);
            };
            add(0, hn::InterleaveLower(pair, ab_low, cd_low));
            if (tap + 1 < block.taps) add(1, hn::InterleaveUpper(pair, ab_low, cd_low));
            if (tap + 2 < block.taps) add(2, hn::InterleaveLower(pair, ab_high, cd_high));
            if (tap + 3 < block.taps) add(3, hn::InterleaveUpper(pair, ab_high, cd_high));
        }
    }
    store_lines(sum, lines);
}

template <bool all_count, class Lines>
HWY_INLINE void sum_pixel_by_pixel(const LineTaps::Block& block, const Lines& lines, const std::int32_t* offsets) {
    if (lines.step == 4) return sum_four_channels<all_count>(block, lines, offsets);
    if (lines.step == 2) return sum_two_channels<all_count>(block, lines, offsets);
    sum_apart<all_count>(block, lines, offsets);
}

// --- lines -----------------------------------------------------------------------------------------------------------

// Prefetches texels of a single line, which may be the texture itself.
template <class Lines>
HWY_INLINE void prefetch(const Lines& lines) {
    constexpr std::size_t kAhead = 512;  // floats
    for (std::size_t i = 0; Lines::kCount == 1 && i < 2 * kLineBlock; i += kLineBlock)
        hwy::Prefetch(lines.texels + kAhead + i);
}

// Not inlined, since it would take registers from other blocks.
template <class Lines>
HWY_NOINLINE void sum_lines_apart(const LineTaps& taps, std::span<const LineTaps::Block> blocks, Lines lines) {
    const float* const texels = lines.texels;
    for (const LineTaps::Block& block : blocks) {
        lines.texels = texels + block.first * static_cast<std::ptrdiff_t>(lines.step);
        prefetch(lines);
        const std::int32_t* const offsets = taps.offsets.data() + block.offsets;
        if (block.all_count) {
            sum_pixel_by_pixel<true>(block, lines, offsets);
        } else {
            sum_pixel_by_pixel<false>(block, lines, offsets);
        }
        lines.sums += kLanes;
    }
}

template <bool all_count, class Lines>
HWY_INLINE void sum_block(const LineTaps& taps, const LineTaps::Block& block, Lines lines) {
    lines.texels += block.first * static_cast<std::ptrdiff_t>(lines.step);
    prefetch(lines);
    const std::int32_t* offsets = taps.offsets.data() + block.offsets;
    const float* weights = block.weights;
    if (block.kind == Kind::one) return sum_window<1, all_count>(block, lines, offsets, weights);
    if constexpr (kMaxWindow == 4) {
        if (block.kind == Kind::four) return sum_window<4, all_count>(block, lines, offsets, weights);
    }
    sum_window<2, all_count>(block, lines, offsets, weights);
}

template <class Lines>
HWY_INLINE void sum_lines(const LineTaps& taps, std::span<const LineTaps::Block> blocks, Lines lines) {
    const auto is_apart = [](const LineTaps::Block& block) { return block.kind == Kind::apart; };
    for (auto block = blocks.begin(); block != blocks.end();) {
        if (is_apart(*block)) {
            const auto end = std::find_if_not(block, blocks.end(), is_apart);
            sum_lines_apart(taps, {block, end}, lines);
            lines.sums += static_cast<std::size_t>(end - block) * kLanes;
            block = end;
            continue;
        }
        if (block->all_count) {
            sum_block<true>(taps, *block, lines);
        } else {
            sum_block<false>(taps, *block, lines);
        }
        lines.sums += kLanes;
        ++block;
    }
}

void along(const LineTaps& taps, std::span<const LineTaps::Block> blocks, std::size_t lines, const float* texels,
           std::size_t texels_apart, float* sums, std::size_t sums_apart) {
    sums += static_cast<std::size_t>(blocks.data() - taps.blocks.data()) * kLanes;
    const std::size_t weights_apart = kLanes == kLineBlock ? kLineBlock : taps.weights_apart;
    if (lines == 4)
        return sum_lines(taps, blocks, Lines<4>{taps.step, weights_apart, texels, texels_apart, sums, sums_apart});
    // Fewer lines are rare.
    for (std::size_t i = 0; i < lines; ++i, texels += texels_apart, sums += sums_apart)
        sum_lines(taps, blocks, Lines<1>{taps.step, weights_apart, texels, texels_apart, sums, sums_apart});
}

// Vectors that are summed at the same time, so that sums do not wait for each other.
constexpr std::size_t kAtOnce = 8;

template <std::size_t vectors>
HWY_INLINE void slide_part(std::span<const float> weights, std::size_t step, const float* values, float* sums) {
    FloatVector sum[vectors];
    for (FloatVector& part : sum) part = hn::Zero(kFloat);
    for (const float each : weights) {
        if (each != 0) {
            const FloatVector weight = hn::Set(kFloat, each);
            for (std::size_t v = 0; v < vectors; ++v)
                sum[v] = hn::MulAdd(hn::LoadU(kFloat, values + v * kLanes), weight, sum[v]);
        }
        values += step;
    }
    for (std::size_t v = 0; v < vectors; ++v) hn::Store(sum[v], kFloat, sums + v * kLanes);
}

void slide(std::span<const float> weights, std::size_t step, const float* values, std::size_t count, float* sums) {
    std::size_t i = 0;
    for (; i + kAtOnce * kLanes <= count; i += kAtOnce * kLanes)
        slide_part<kAtOnce>(weights, step, values + i, sums + i);
    for (; i + 4 * kLanes <= count; i += 4 * kLanes) slide_part<4>(weights, step, values + i, sums + i);
    for (; i < count; i += kLanes) slide_part<1>(weights, step, values + i, sums + i);
}

// --- sums of rows ----------------------------------------------------------------------------------------------------

template <RowSumsAs as>
HWY_INLINE void store_sum(FloatVector sum, float* to) {
    hn::StoreU(as == RowSumsAs::pixels ? with_one_nan(kFloat, sum) : sum, kFloat, to);
}

template <RowSumsAs as, std::size_t vectors>
HWY_INLINE void down_part(const float* const* rows, const float* weights, std::size_t row_count, std::size_t first,
                          float* sums) {
    FloatVector sum[vectors];
    for (FloatVector& part : sum) part = hn::Zero(kFloat);
    for (std::size_t i = 0; i < row_count; ++i) {
        const FloatVector weight = hn::Set(kFloat, weights[i]);
        for (std::size_t v = 0; v < vectors; ++v)
            sum[v] = hn::MulAdd(hn::Load(kFloat, rows[i] + first + v * kLanes), weight, sum[v]);
    }
    for (std::size_t v = 0; v < vectors; ++v) store_sum<as>(sum[v], sums + v * kLanes);
}

template <RowSumsAs as>
HWY_INLINE void down_as(const float* const* rows, const float* weights, std::size_t row_count, std::size_t first,
                        std::size_t count, float* sums) {
    std::size_t i = 0;
    for (; i + kAtOnce * kLanes <= count; i += kAtOnce * kLanes)
        down_part<as, kAtOnce>(rows, weights, row_count, first + i, sums + i);
    for (; i + 4 * kLanes <= count; i += 4 * kLanes) down_part<as, 4>(rows, weights, row_count, first + i, sums + i);
    for (; i < count; i += kLanes) down_part<as, 1>(rows, weights, row_count, first + i, sums + i);
}

void down(const float* const* rows, const float* weights, std::size_t row_count, std::size_t first, std::size_t count,
          float* sums, RowSumsAs as) {
    if (as == RowSumsAs::sums) return down_as<RowSumsAs::sums>(rows, weights, row_count, first, count, sums);
    down_as<RowSumsAs::pixels>(rows, weights, row_count, first, count, sums);
}

// Sums vectors of two rows of pixels. Each vector of a row is loaded once for both.
template <RowSumsAs as, std::size_t vectors>
HWY_INLINE void down_part_of_two(const float* const* rows, const RowPair& pair, std::size_t first, float* upper,
                                 float* lower) {
    FloatVector sum[2][vectors];
    for (std::size_t v = 0; v < vectors; ++v) sum[0][v] = sum[1][v] = hn::Zero(kFloat);
    const auto add_row = [&](std::size_t i, auto in_upper, auto in_lower) HWY_ATTR {
        const FloatVector weights[] = {hn::Set(kFloat, in_upper.value ? pair.upper[i] : 0),
                                       hn::Set(kFloat, in_lower.value ? pair.lower[i - pair.skipped] : 0)};
        for (std::size_t v = 0; v < vectors; ++v) {
            const FloatVector value = hn::Load(kFloat, rows[i] + first + v * kLanes);
            if constexpr (in_upper.value) sum[0][v] = hn::MulAdd(value, weights[0], sum[0][v]);
            if constexpr (in_lower.value) sum[1][v] = hn::MulAdd(value, weights[1], sum[1][v]);
        }
    };
    constexpr std::true_type kYes;
    constexpr std::false_type kNo;
    std::size_t i = 0;
    for (; i < pair.skipped; ++i) add_row(i, kYes, kNo);
    for (; i < pair.upper.size(); ++i) add_row(i, kYes, kYes);
    for (; i < pair.skipped + pair.lower.size(); ++i) add_row(i, kNo, kYes);
    for (std::size_t v = 0; v < vectors; ++v) {
        store_sum<as>(sum[0][v], upper + v * kLanes);
        store_sum<as>(sum[1][v], lower + v * kLanes);
    }
}

template <RowSumsAs as>
HWY_INLINE void down_two_as(const float* const* rows, const RowPair& pair, std::size_t first, std::size_t count,
                            float* upper, float* lower) {
    std::size_t i = 0;
    for (; i + kAtOnce / 2 * kLanes <= count; i += kAtOnce / 2 * kLanes)
        down_part_of_two<as, kAtOnce / 2>(rows, pair, first + i, upper + i, lower + i);
    for (; i < count; i += kLanes) down_part_of_two<as, 1>(rows, pair, first + i, upper + i, lower + i);
}

void down_two(const float* const* rows, const RowPair& pair, std::size_t first, std::size_t count, float* upper,
              float* lower, RowSumsAs as) {
    if (as == RowSumsAs::sums) return down_two_as<RowSumsAs::sums>(rows, pair, first, count, upper, lower);
    down_two_as<RowSumsAs::pixels>(rows, pair, first, count, upper, lower);
}

void add(const float* row, float weight, std::size_t count, float* sums) {
    const FloatVector weights = hn::Set(kFloat, weight);
    for (std::size_t i = 0; i < count; i += kLanes)
        hn::Store(hn::MulAdd(hn::Load(kFloat, row + i), weights, hn::Load(kFloat, sums + i)), kFloat, sums + i);
}

void divide(float* values, std::size_t count, float by) {
    const FloatVector divisor = hn::Set(kFloat, by);
    for (std::size_t i = 0; i < count; i += kLanes)
        hn::Store(hn::Div(hn::Load(kFloat, values + i), divisor), kFloat, values + i);
}

constexpr LineSums kSums{prepare, along, slide, down, down_two, add, divide, kLanes, kReach};

}  // namespace

const LineSums* sums_of_target() { return &kSums; }
#endif

}  // namespace HWY_NAMESPACE
}  // namespace texton::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace texton::detail {

HWY_EXPORT(sums_of_target);

const LineSums* line_sums() { return HWY_DYNAMIC_DISPATCH(sums_of_target)(); }

std::vector<LinePart> parts_of_line(const LineTaps& taps, std::span<const LineTaps::Block> blocks, std::size_t texels) {
    std::vector<LinePart> parts;
    while (!blocks.empty()) {
        std::int32_t begin = blocks[0].first, end = begin;
        std::size_t count = 0;
        for (; count < blocks.size(); ++count) {
            const LineTaps::Block& block = blocks[count];
            const std::int32_t low = std::min(begin, block.first);
            const std::int32_t high = std::max(end, block.first + static_cast<std::int32_t>(block.loaded));
            if (count > 0 && static_cast<std::size_t>(high - low) > texels) break;
            begin = low;
            end = high;
        }
        end = std::min(end, static_cast<std::int32_t>(taps.texels));
        parts.push_back({blocks.first(count), begin, static_cast<std::size_t>(end - begin)});
        blocks = blocks.subspan(count);
    }
    return parts;
}

}  // namespace texton::detail
#endif

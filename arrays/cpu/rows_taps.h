// rows_taps.h: computes texels and weights from coordinates, and copies the texels of a block side by side, on vectors.
//
// Included by rows_simd.cpp once for each instruction set, inside its namespace. So there is no include guard, and no
// other file may include it.

namespace hn = hwy::HWY_NAMESPACE;

using Int = hn::CappedTag<std::int32_t, 16>;
using Word = hn::Rebind<std::uint32_t, Int>;
using Float = hn::Rebind<float, Int>;
using Double = hn::Repartition<double, Float>;
using Code = hn::Repartition<std::uint16_t, Int>;  // twice as many lanes as Int
using Byte = hn::Repartition<std::uint8_t, Int>;
using HalfInt = hn::Half<Int>;
using HalfWord = hn::Half<Word>;
using HalfFloat = hn::Half<Float>;
using FewCodes = hn::Rebind<std::uint16_t, Int>;  // as many lanes as Int
using IntVector = hn::Vec<Int>;
using WordVector = hn::Vec<Word>;
using FloatVector = hn::Vec<Float>;
using DoubleVector = hn::Vec<Double>;

constexpr Int kInt;
constexpr Word kWord;
constexpr Float kFloat;
constexpr Double kDouble;
constexpr Code kCode;
constexpr Byte kByte;
constexpr HalfInt kHalfInt;
constexpr HalfWord kHalfWord;
constexpr HalfFloat kHalfFloat;
constexpr FewCodes kFewCodes;

#include "arrays/cpu/pixel_vectors.h"

HWY_INLINE IntVector bits(FloatVector value) { return hn::BitCast(kInt, value); }
HWY_INLINE FloatVector as_floats(IntVector value) { return hn::BitCast(kFloat, value); }
HWY_INLINE IntVector whole(std::int32_t value) { return hn::Set(kInt, value); }
HWY_INLINE FloatVector number(float value) { return hn::Set(kFloat, value); }

// --- coordinates to texels and weights -------------------------------------------------------------------------------

struct Taps {
    // The index in the texture of the first texel, at most 2^31, if all texels are inside.
    HWY_ALIGN std::int32_t position[kRowBlock];
    // Otherwise, the first texel of each axis before the address mode is applied.
    HWY_ALIGN std::int32_t x[kRowBlock];
    HWY_ALIGN std::int32_t y[kRowBlock];
    // Weights of the upper and the lower texels. The weight of the left texel is in the low half, that of the right
    // texel in the high half. Padded, since vectors are loaded from any position.
    HWY_ALIGN std::uint32_t top[kRowBlock + 16];
    HWY_ALIGN std::uint32_t bottom[kRowBlock + 16];
    bool inside;  // all texels are inside the texture
};

HWY_INLINE IntVector position_of(std::int32_t pitch, IntVector x, IntVector y) {
    return hn::Add(hn::Mul(y, whole(pitch)), x);
}

HWY_INLINE IntVector position_or_border(const RowPlan& plan, IntVector x, IntVector y) {
    return hn::IfThenElse(hn::Lt(hn::Or(x, y), hn::Zero(kInt)), whole(kBorderTexel), position_of(plan.pitch, x, y));
}

HWY_INLINE hn::Vec<HalfInt> scale_normalized(const AxisPlan& axis, hn::Vec<HalfFloat> at) {
    DoubleVector steps = hn::Floor(hn::Mul(hn::PromoteTo(kDouble, at), hn::Set(kDouble, axis.steps)));
    if (axis.repeats) {
        const DoubleVector periods = hn::Floor(hn::Mul(steps, hn::Set(kDouble, 1 / axis.period)));
        steps = hn::Sub(steps, hn::Mul(periods, hn::Set(kDouble, axis.period)));
    }
    return hn::DemoteTo(kHalfInt, hn::Floor(hn::Mul(steps, hn::Set(kDouble, axis.units_of_step))));
}

// Returns coordinates in 1/512 of a texel, rounded down. All products are exact: the factors are powers of two or
// integers of few bits.
HWY_INLINE IntVector scale(const AxisPlan& axis, const float* coordinates) {
    constexpr std::uint32_t kSmallest = 0x00800000;  // smaller magnitudes read as 0
    FloatVector at = hn::LoadU(kFloat, coordinates);
    // A signed comparison of differences that start at the lowest integer.
    const auto difference = [](std::uint32_t magnitude)
                                HWY_ATTR { return static_cast<std::int32_t>(magnitude - kSmallest + 0x80000000u); };
    const IntVector magnitude = hn::Add(hn::And(bits(at), whole(0x7fffffff)), whole(difference(0)));
    const auto counts = hn::Lt(magnitude, whole(difference(static_cast<std::uint32_t>(axis.zero_from))));
    at = hn::IfThenElseZero(hn::RebindMask(kFloat, counts), at);
    at = hn::Min(hn::Max(at, number(axis.lowest)), number(axis.highest));
    if (!axis.normalized) return whole_part(kFloat, hn::Floor(hn::Mul(at, number(512))));
    return hn::Combine(kInt, scale_normalized(axis, hn::UpperHalf(kHalfFloat, at)),
                       scale_normalized(axis, hn::LowerHalf(kHalfFloat, at)));
}

// Returns the position that linear_taps() computes before it applies the address mode.
HWY_INLINE IntVector linear_position(const AxisPlan& axis, const float* coordinates) {
    const IntVector position = hn::ShiftRight<1>(hn::Sub(scale(axis, coordinates), whole(255)));
    if (!axis.clamps || !axis.normalized) return position;
    return hn::Min(hn::Max(position, hn::Zero(kInt)), whole((axis.size - 1) * 256));
}

// Returns the same as address_texel(). This function and texture_address.h define the address modes.
HWY_INLINE IntVector address(const AxisPlan& axis, IntVector texel) {
    const IntVector zero = hn::Zero(kInt);
    const IntVector last = whole(axis.size - 1);
    switch (axis.mode) {
        case AddressMode::wrap:  // with `repeats`, at most one texel is outside
            return hn::IfThenZeroElse(hn::Gt(texel, last), hn::IfThenElse(hn::Lt(texel, zero), last, texel));
        case AddressMode::clamp: return hn::Min(hn::Max(texel, zero), last);
        case AddressMode::mirror: return hn::Max(hn::Min(texel, hn::Sub(whole(2 * axis.size - 1), texel)), zero);
        case AddressMode::border:
            return hn::IfThenElse(hn::Or(hn::Lt(texel, zero), hn::Gt(texel, last)), whole(kBorderTexel), texel);
    }
    return zero;
}

struct Weights {
    IntVector of[4];  // left top, right top, left bottom, right bottom
};

// Returns the weight of the right bottom texel: a 256th of the product, rounded.
HWY_INLINE IntVector weight_of_both(IntVector x, IntVector y) {
    const hn::RebindToSigned<Code> shorts;
    return hn::BitCast(kInt, hn::MulFixedPoint15(hn::BitCast(shorts, x), hn::BitCast(shorts, hn::ShiftLeft<7>(y))));
}

// Returns the same as footprint_weights() for a share of kFullWeight. All four rounded products follow from one.
HWY_INLINE Weights footprint_weights(IntVector x, IntVector y) {
    const IntVector right_bottom = weight_of_both(x, y);
    const IntVector left_bottom = hn::Sub(y, right_bottom);
    const IntVector left_top = hn::Sub(hn::Sub(whole(kFullWeight), x), left_bottom);
    return {{left_top, hn::Sub(x, right_bottom), left_bottom, right_bottom}};
}

// The weights of footprints: those of the left texels in the low halves of lanes, those of the right ones in the high
// halves.
struct WeightPairs {
    IntVector top;
    IntVector bottom;
};

// Returns the same weights in pairs.
HWY_INLINE WeightPairs weights_of(IntVector x, IntVector y) {
    // Moves a weight from the left to the right.
    const auto moved = [](IntVector weight) HWY_ATTR { return hn::Sub(hn::ShiftLeft<16>(weight), weight); };
    const IntVector bottom = hn::Add(moved(weight_of_both(x, y)), y);
    return {hn::Sub(hn::Add(moved(x), whole(kFullWeight)), bottom), bottom};
}

HWY_INLINE void store_weights(IntVector x, IntVector y, std::size_t i, Taps& taps) {
    const WeightPairs weights = weights_of(x, y);
    hn::Store(hn::BitCast(kWord, weights.top), kWord, taps.top + i);
    hn::Store(hn::BitCast(kWord, weights.bottom), kWord, taps.bottom + i);
}

// Stores the weights of a block of pixels whose lower texels have the same share.
HWY_INLINE void store_weights_of_row(const std::int32_t* shares, std::int32_t share, Taps& taps) {
    for (std::size_t i = 0; i < kRowBlock; i += hn::Lanes(kInt))
        store_weights(hn::LoadU(kInt, shares + i), whole(share), i, taps);
}

// Takes copies of the plan's axes, which stores to `taps` cannot change.
template <bool normalized>
HWY_INLINE void find_taps_along(AxisPlan along_x, AxisPlan along_y, std::int32_t pitch, const float* x, const float* y,
                                Taps& taps) {
    along_x.normalized = along_y.normalized = normalized;
    WordVector largest_x = hn::Zero(kWord), largest_y = hn::Zero(kWord);  // negative texels are larger than others
    for (std::size_t i = 0; i < kRowBlock; i += hn::Lanes(kInt)) {
        const IntVector position_x = linear_position(along_x, x + i);
        const IntVector position_y = linear_position(along_y, y + i);
        const IntVector texel_x = hn::ShiftRight<8>(position_x);
        const IntVector texel_y = hn::ShiftRight<8>(position_y);
        largest_x = hn::Max(largest_x, hn::BitCast(kWord, texel_x));
        largest_y = hn::Max(largest_y, hn::BitCast(kWord, texel_y));
        hn::Store(position_of(pitch, texel_x, texel_y), kInt, taps.position + i);
        store_weights(hn::And(position_x, whole(255)), hn::And(position_y, whole(255)), i, taps);
    }
    const auto last = [](const AxisPlan& axis)
                          HWY_ATTR { return hn::Set(kWord, static_cast<std::uint32_t>(axis.size - 1)); };
    taps.inside = hn::AllTrue(kWord, hn::And(hn::Lt(largest_x, last(along_x)), hn::Lt(largest_y, last(along_y))));
    if (taps.inside) return;
    for (std::size_t i = 0; i < kRowBlock; i += hn::Lanes(kInt)) {
        hn::Store(hn::ShiftRight<8>(linear_position(along_x, x + i)), kInt, taps.x + i);
        hn::Store(hn::ShiftRight<8>(linear_position(along_y, y + i)), kInt, taps.y + i);
    }
}

HWY_NOINLINE void find_linear_taps(const RowPlan& plan, const float* x, const float* y, Taps& taps) {
    if (plan.x.normalized) return find_taps_along<true>(plan.x, plan.y, plan.pitch, x, y, taps);
    find_taps_along<false>(plan.x, plan.y, plan.pitch, x, y, taps);
}

// --- texels, side by side --------------------------------------------------------------------------------------------

// The upper and the lower texels of a block. Left and right texels alternate. Texels of 16 bytes fill a vector each, so
// all left texels come first.
struct Stage {
    HWY_ALIGN unsigned char top[kRowBlock * 32];
    HWY_ALIGN unsigned char bottom[kRowBlock * 32];
};

template <std::size_t bytes>
HWY_INLINE const unsigned char* texel_at(const RowPlan& plan, std::int32_t position) {
    return plan.texels + static_cast<std::int64_t>(position) * static_cast<std::int64_t>(bytes);
}

// Copies with a vector. Compilers turn loops of plain copies into vectors that are assembled lane by lane, which is
// half as fast.
template <std::size_t bytes>
HWY_INLINE void copy_texels(const unsigned char* from, unsigned char* to) {
    if constexpr (bytes < 4) {
        std::memcpy(to, from, bytes);
    } else {
        const hn::FixedTag<std::uint8_t, bytes> texels;
        hn::StoreU(hn::LoadU(texels, from), texels, to);
    }
}

// An unsigned type of `bytes` bytes.
template <std::size_t bytes>
struct Unsigned;
template <>
struct Unsigned<1> {
    using type = std::uint8_t;
};
template <>
struct Unsigned<2> {
    using type = std::uint16_t;
};
template <>
struct Unsigned<4> {
    using type = std::uint32_t;
};
template <>
struct Unsigned<8> {
    using type = std::uint64_t;
};

// Number of pieces of `bytes` bytes that are stored at once: a CPU stores slower than it loads.
template <std::size_t bytes>
constexpr std::size_t kJoined = bytes < 8                               ? 8 / bytes
                                : bytes == 8 || hn::MaxLanes(kInt) >= 8 ? 2
                                                                        : 1;

// Copies kJoined pieces of memory side by side. piece(i) returns where a piece begins.
template <std::size_t bytes, class Piece>
HWY_INLINE void join(const Piece& piece, unsigned char* to) {
    if constexpr (bytes < 8) {
        std::uint64_t joined = 0;
        for (std::size_t i = 0; i < kJoined<bytes>; ++i) {
            typename Unsigned<bytes>::type part;
            std::memcpy(&part, piece(i), sizeof part);
            joined |= std::uint64_t{part} << 8 * bytes * i;
        }
        std::memcpy(to, &joined, sizeof joined);
    } else if constexpr (kJoined<bytes> == 2) {
        const hn::FixedTag<std::uint8_t, 2 * bytes> both;
        const hn::Half<decltype(both)> half;
        hn::StoreU(hn::Combine(both, hn::LoadU(half, piece(1)), hn::LoadU(half, piece(0))), both, to);
    } else {
        copy_texels<bytes>(piece(0), to);
    }
}

// Copies the pairs that begin with the texels of a block.
template <std::size_t bytes>
HWY_INLINE void copy_pairs(const unsigned char* texels, const std::int32_t* first, unsigned char* pairs) {
    for (std::size_t i = 0; i < kRowBlock; i += kJoined<2 * bytes>) {
        const auto pair = [&](std::size_t k)
                              HWY_ATTR { return texels + static_cast<std::size_t>(first[i + k]) * bytes; };
        join<2 * bytes>(pair, pairs + 2 * i * bytes);
    }
}

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
// Texels in two vectors, whose lanes are at least 16 bits.
template <std::size_t bytes>
constexpr std::int32_t kNearTexels = bytes < 4    ? 64
                                     : bytes == 4 ? 32
                                                  : 0;

// Stores a block of pairs of Neighbors::near. An instruction looks up texels in two vectors.
template <std::size_t bytes>
HWY_NOINLINE void stage_near(const RowPlan& plan, const unsigned char* texels, const std::int32_t* first,
                             unsigned char* pairs) {
    for (std::size_t i = 0; i < kRowBlock; i += kNearStep, pairs += kNearStep * 2 * bytes) {
        const std::int32_t begin = first_near(first + i, plan.x.size, kNearTexels<bytes>);
        const unsigned char* const window = texels + static_cast<std::size_t>(begin) * bytes;
        const IntVector at = hn::Sub(hn::LoadU(kInt, first + i), whole(begin));
        if constexpr (bytes < 4) {
            const __m512i lanes = hn::Or(at, hn::ShiftLeft<16>(hn::Add(at, whole(1)))).raw;
            if constexpr (bytes == 2) {
                _mm512_storeu_si512(pairs, _mm512_permutex2var_epi16(_mm512_loadu_si512(window), lanes,
                                                                     _mm512_loadu_si512(window + 64)));
            } else {
                const auto load = [&](int half) HWY_ATTR {
                    return _mm512_cvtepu8_epi16(
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(window + 32 * half)));
                };
                const __m512i both = _mm512_permutex2var_epi16(load(0), lanes, load(1));
                _mm256_storeu_si256(reinterpret_cast<__m256i*>(pairs), _mm512_cvtepi16_epi8(both));
            }
        } else if constexpr (bytes == 4) {
            HWY_ALIGN static constexpr std::int32_t kPixel[16] = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7};
            HWY_ALIGN static constexpr std::int32_t kSide[16] = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
            for (int half = 0; half < 2; ++half) {
                const auto pixel = hn::IndicesFromVec(kInt, hn::Add(hn::Load(kInt, kPixel), whole(8 * half)));
                const IntVector lanes = hn::Add(hn::TableLookupLanes(at, pixel), hn::Load(kInt, kSide));
                _mm512_storeu_si512(pairs + 64 * half, _mm512_permutex2var_epi32(_mm512_loadu_si512(window), lanes.raw,
                                                                                 _mm512_loadu_si512(window + 64)));
            }
        }
    }
}
#else
template <std::size_t bytes>
constexpr std::int32_t kNearTexels = 0;

template <std::size_t bytes>
HWY_INLINE void stage_near(const RowPlan&, const unsigned char*, const std::int32_t*, unsigned char*) {}
#endif

template <std::size_t bytes>
HWY_INLINE void stage_inside(const RowPlan& plan, const Taps& taps, Stage& stage) {
    constexpr std::size_t kCount = kJoined<2 * bytes>;
    const unsigned char* const top = plan.texels;
    const unsigned char* const bottom = top + plan.pitch * static_cast<std::int64_t>(bytes);
    for (std::size_t i = 0; i < kRowBlock; i += kCount) {
        std::size_t at[kCount];
        for (std::size_t k = 0; k < kCount; ++k) at[k] = static_cast<std::uint32_t>(taps.position[i + k]) * bytes;
        join<2 * bytes>([&](std::size_t k) HWY_ATTR { return top + at[k]; }, stage.top + 2 * i * bytes);
        join<2 * bytes>([&](std::size_t k) HWY_ATTR { return bottom + at[k]; }, stage.bottom + 2 * i * bytes);
    }
}

// Copies texels side by side, of which negative ones are the border. The number of texels is a multiple of kJoined.
template <std::size_t bytes>
HWY_INLINE void copy_addressed(const RowPlan& plan, const std::int32_t* positions, std::size_t count,
                               unsigned char* to) {
    const unsigned char* const texels = plan.texels;
    const unsigned char* const border = plan.border;
    const auto copy = [&](auto has_border) HWY_ATTR {
        for (std::size_t i = 0; i < count; i += kJoined<bytes>) {
            const auto texel = [&](std::size_t k) HWY_ATTR {
                const std::int32_t at = positions[i + k];
                if (has_border && at < 0) return border;
                return texels + static_cast<std::size_t>(static_cast<std::uint32_t>(at)) * bytes;
            };
            join<bytes>(texel, to + i * bytes);
        }
    };
    if (plan.x.mode == AddressMode::border || plan.y.mode == AddressMode::border) return copy(std::true_type());
    copy(std::false_type());
}

template <std::size_t bytes>
HWY_INLINE void stage_addressed(const RowPlan& plan, const Taps& taps, Stage& stage) {
    HWY_ALIGN std::int32_t positions[2][2 * kRowBlock];  // of a row, in the order of the stage
    for (std::size_t i = 0; i < kRowBlock; i += hn::Lanes(kInt)) {
        const IntVector x = hn::Load(kInt, taps.x + i), y = hn::Load(kInt, taps.y + i);
        const IntVector left = address(plan.x, x), right = address(plan.x, hn::Add(x, whole(1)));
        for (int row = 0; row < 2; ++row) {
            const IntVector line = address(plan.y, hn::Add(y, whole(row)));
            const IntVector first = position_or_border(plan, left, line);
            const IntVector second = position_or_border(plan, right, line);
            if constexpr (bytes < 16) {
                hn::StoreInterleaved2(first, second, kInt, positions[row] + 2 * i);
            } else {
                hn::Store(first, kInt, positions[row] + i);
                hn::Store(second, kInt, positions[row] + kRowBlock + i);
            }
        }
    }
    copy_addressed<bytes>(plan, positions[0], 2 * kRowBlock, stage.top);
    copy_addressed<bytes>(plan, positions[1], 2 * kRowBlock, stage.bottom);
}

// Returns whether the texels are `step` apart.
HWY_NOINLINE bool is_run(const std::int32_t* positions, std::int32_t step) {
    if (positions[1] - positions[0] != step) return false;
    const IntVector steps = hn::Mul(hn::Iota(kInt, 0), whole(step));
    for (std::size_t i = 0; i < kRowBlock; i += hn::Lanes(kInt)) {
        const IntVector expected = hn::Add(steps, whole(positions[0] + static_cast<std::int32_t>(i) * step));
        if (!hn::AllTrue(kInt, hn::Eq(hn::Load(kInt, positions + i), expected))) return false;
    }
    return true;
}

struct Rows {
    const unsigned char* top;
    const unsigned char* bottom;
};

// Texels of 16 bytes must be outside: those inside are summed where they are.
template <std::size_t bytes>
HWY_NOINLINE Rows stage_rows(const RowPlan& plan, const Taps& taps, Stage& stage) {
    if constexpr (bytes < 16) {
        if (taps.inside && is_run(taps.position, 2)) {
            const unsigned char* top = texel_at<bytes>(plan, taps.position[0]);
            return {top, top + plan.pitch * static_cast<std::int64_t>(bytes)};
        }
        if (taps.inside) {
            stage_inside<bytes>(plan, taps, stage);
            return {stage.top, stage.bottom};
        }
    }
    stage_addressed<bytes>(plan, taps, stage);
    return {stage.top, stage.bottom};
}

// Prefetches the texels of the next block while the current one is summed. If rows of the destination cross rows of the
// texture, nothing else prefetches them. A cache line holds several texels.
template <std::size_t bytes>
HWY_INLINE void prefetch_inside(const RowPlan& plan, const Taps& taps) {
    if (!taps.inside) return;
    const std::int64_t pitch = plan.pitch * static_cast<std::int64_t>(bytes);
    for (std::size_t i = 0; i < kRowBlock; i += 16 / bytes) {
        const unsigned char* top = texel_at<bytes>(plan, taps.position[i]);
        hwy::Prefetch(top);
        hwy::Prefetch(top + pitch);
    }
}

HWY_NOINLINE void find_point_positions(const RowPlan& plan, const float* x, const float* y, std::int32_t* positions) {
    for (std::size_t i = 0; i < kRowBlock; i += hn::Lanes(kInt)) {
        const IntVector texel_x = address(plan.x, hn::ShiftRight<9>(scale(plan.x, x + i)));
        const IntVector texel_y = address(plan.y, hn::ShiftRight<9>(scale(plan.y, y + i)));
        hn::Store(position_or_border(plan, texel_x, texel_y), kInt, positions + i);
    }
}

template <std::size_t bytes>
HWY_INLINE void fetch_nearest_block(const RowPlan& plan, const float* x, const float* y, unsigned char* results) {
    HWY_ALIGN std::int32_t positions[kRowBlock];
    find_point_positions(plan, x, y, positions);
    if (positions[0] >= 0 && is_run(positions, 1)) {
        std::memcpy(results, texel_at<bytes>(plan, positions[0]), kRowBlock * bytes);
        return;
    }
    copy_addressed<bytes>(plan, positions, kRowBlock, results);
}

template <std::size_t bytes>
void fetch_nearest(const RowPlan& plan, const float* x, const float* y, std::size_t blocks, unsigned char* results) {
    for (std::size_t block = 0; block < blocks; ++block) {
        const std::size_t first = block * kRowBlock;
        fetch_nearest_block<bytes>(plan, x + first, y + first, results + first * bytes);
    }
}

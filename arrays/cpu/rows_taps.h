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
    // The first texel of each axis before the address mode is applied, and its index in the texture: at most 2^31.
    HWY_ALIGN std::int32_t x[kRowBlock];
    HWY_ALIGN std::int32_t y[kRowBlock];
    HWY_ALIGN std::int32_t position[kRowBlock];
    // Weights of the upper and the lower texels. The weight of the left texel is in the low half, that of the right
    // texel in the high half. Padded, since vectors are loaded from any position.
    HWY_ALIGN std::uint32_t top[kRowBlock + 16];
    HWY_ALIGN std::uint32_t bottom[kRowBlock + 16];
    bool inside;  // all texels are inside the texture
};

HWY_INLINE IntVector position_of(const RowPlan& plan, IntVector x, IntVector y) {
    return hn::Add(hn::Mul(y, whole(plan.pitch)), x);
}

HWY_INLINE IntVector position_or_border(const RowPlan& plan, IntVector x, IntVector y) {
    return hn::IfThenElse(hn::Lt(hn::Or(x, y), hn::Zero(kInt)), whole(kBorderTexel), position_of(plan, x, y));
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
    FloatVector at = hn::LoadU(kFloat, coordinates);
    const IntVector magnitude = hn::And(bits(at), whole(0x7fffffff));
    const auto counts = hn::And(hn::Gt(magnitude, whole(0x7fffff)), hn::Lt(magnitude, whole(axis.zero_from)));
    at = hn::IfThenElseZero(hn::RebindMask(kFloat, counts), at);
    at = hn::Min(hn::Max(at, number(-axis.limit)), number(axis.limit));
    if (!axis.normalized) return hn::ConvertTo(kInt, hn::Floor(hn::Mul(at, number(512))));
    return hn::Combine(kInt, scale_normalized(axis, hn::UpperHalf(kHalfFloat, at)),
                       scale_normalized(axis, hn::LowerHalf(kHalfFloat, at)));
}

// Returns the position that linear_taps() computes before it applies the address mode.
HWY_INLINE IntVector linear_position(const AxisPlan& axis, const float* coordinates) {
    const IntVector position = hn::ShiftRight<1>(hn::Sub(scale(axis, coordinates), whole(255)));
    if (!axis.clamps) return position;
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

HWY_INLINE bool all_within(IntVector lowest, IntVector highest, std::int32_t size) {
    const auto outside = hn::Or(hn::Lt(lowest, hn::Zero(kInt)), hn::Gt(highest, whole(size - 1)));
    return hn::AllFalse(kInt, outside);
}

struct Weights {
    IntVector of[4];  // left top, right top, left bottom, right bottom
};

// Returns the same as footprint_weights() for a share of kFullWeight. All four rounded products follow from one
// product, which has 16 bits.
HWY_INLINE Weights footprint_weights(IntVector x, IntVector y) {
    const IntVector product = hn::BitCast(kInt, hn::Mul(hn::BitCast(kCode, x), hn::BitCast(kCode, y)));
    const IntVector right_bottom = hn::ShiftRight<8>(hn::Add(product, whole(kFullWeight / 2)));
    const IntVector left_bottom = hn::Sub(y, right_bottom);
    const IntVector left_top = hn::Sub(hn::Sub(whole(kFullWeight), x), left_bottom);
    return {{left_top, hn::Sub(x, right_bottom), left_bottom, right_bottom}};
}

HWY_INLINE void store_weights(IntVector x, IntVector y, std::size_t i, Taps& taps) {
    const auto [left_top, right_top, left_bottom, right_bottom] = footprint_weights(x, y).of;
    hn::Store(hn::BitCast(kWord, hn::Or(left_top, hn::ShiftLeft<16>(right_top))), kWord, taps.top + i);
    hn::Store(hn::BitCast(kWord, hn::Or(left_bottom, hn::ShiftLeft<16>(right_bottom))), kWord, taps.bottom + i);
}

HWY_NOINLINE void find_linear_taps(const RowPlan& plan, const float* x, const float* y, Taps& taps) {
    IntVector lowest_x = whole(0), lowest_y = whole(0), highest_x = whole(0), highest_y = whole(0);
    for (std::size_t i = 0; i < kRowBlock; i += hn::Lanes(kInt)) {
        const IntVector position_x = linear_position(plan.x, x + i);
        const IntVector position_y = linear_position(plan.y, y + i);
        const IntVector texel_x = hn::ShiftRight<8>(position_x);
        const IntVector texel_y = hn::ShiftRight<8>(position_y);
        hn::Store(texel_x, kInt, taps.x + i);
        hn::Store(texel_y, kInt, taps.y + i);
        hn::Store(position_of(plan, texel_x, texel_y), kInt, taps.position + i);
        lowest_x = hn::Min(lowest_x, texel_x);
        lowest_y = hn::Min(lowest_y, texel_y);
        highest_x = hn::Max(highest_x, texel_x);
        highest_y = hn::Max(highest_y, texel_y);
        store_weights(hn::And(position_x, whole(255)), hn::And(position_y, whole(255)), i, taps);
    }
    taps.inside = all_within(lowest_x, highest_x, plan.x.size - 1) && all_within(lowest_y, highest_y, plan.y.size - 1);
}

// --- texels, side by side --------------------------------------------------------------------------------------------

// The upper and the lower texels of a block. Left and right texels alternate. Texels of 16 bytes fill a vector each, so
// all left texels come first.
struct Stage {
    HWY_ALIGN unsigned char top[kRowBlock * 32];
    HWY_ALIGN unsigned char bottom[kRowBlock * 32];
};

template <std::size_t bytes>
HWY_INLINE unsigned char* staged(unsigned char* row, std::size_t i, std::size_t side) {
    return row + (bytes == 16 ? side * kRowBlock + i : 2 * i + side) * bytes;
}

template <std::size_t bytes>
HWY_INLINE const unsigned char* texel_at(const RowPlan& plan, std::int32_t position) {
    return plan.texels + static_cast<std::int64_t>(position) * static_cast<std::int64_t>(bytes);
}

template <std::size_t bytes>
HWY_INLINE const unsigned char* texel_or_border(const RowPlan& plan, std::int32_t position) {
    return position < 0 ? plan.border : texel_at<bytes>(plan, position);
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

template <std::size_t bytes>
HWY_INLINE void stage_footprint(const unsigned char* top, const unsigned char* bottom, std::size_t i, Stage& stage) {
    if constexpr (bytes < 16) {
        copy_texels<2 * bytes>(top, staged<bytes>(stage.top, i, 0));
        copy_texels<2 * bytes>(bottom, staged<bytes>(stage.bottom, i, 0));
    } else {
        for (std::size_t side = 0; side < 2; ++side) {
            copy_texels<bytes>(top + side * bytes, staged<bytes>(stage.top, i, side));
            copy_texels<bytes>(bottom + side * bytes, staged<bytes>(stage.bottom, i, side));
        }
    }
}

// Stores a block of pairs that begin with these texels if they have two bytes each, so that a gather loads a pair in
// each lane. Otherwise returns false: larger pairs are loaded one by one just as fast.
template <std::size_t bytes>
HWY_INLINE bool gather_pairs(const unsigned char* texels, const std::int32_t* first, unsigned char* pairs) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX2
    if constexpr (bytes == 2) {
        auto* to = reinterpret_cast<std::int32_t*>(pairs);
        for (std::size_t i = 0; i < kRowBlock; i += hn::Lanes(kInt), to += hn::Lanes(kInt)) {
            const IntVector index = hn::LoadU(kInt, first + i);
#if HWY_TARGET == HWY_AVX2
            hn::StoreU(IntVector{_mm256_i32gather_epi32(reinterpret_cast<const int*>(texels), index.raw, 2)}, kInt, to);
#else
            hn::StoreU(IntVector{_mm512_i32gather_epi32(index.raw, texels, 2)}, kInt, to);
#endif
        }
        return true;
    }
#endif
    return false;
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
    constexpr std::size_t kUnrolled = 8;
    const std::int64_t pitch = plan.pitch * static_cast<std::int64_t>(bytes);
    if (gather_pairs<bytes>(plan.texels, taps.position, stage.top)) {
        gather_pairs<bytes>(plan.texels + pitch, taps.position, stage.bottom);
        return;
    }
    for (std::size_t i = 0; i < kRowBlock; i += kUnrolled) {
        for (std::size_t j = i; j < i + kUnrolled; ++j) {
            const unsigned char* top = texel_at<bytes>(plan, taps.position[j]);
            stage_footprint<bytes>(top, top + pitch, j, stage);
        }
    }
}

template <std::size_t bytes>
HWY_INLINE void stage_addressed(const RowPlan& plan, const Taps& taps, Stage& stage) {
    HWY_ALIGN std::int32_t positions[2][2][kRowBlock];  // by row and side
    for (std::size_t i = 0; i < kRowBlock; i += hn::Lanes(kInt)) {
        for (int row = 0; row < 2; ++row) {
            for (int side = 0; side < 2; ++side) {
                const IntVector x = address(plan.x, hn::Add(hn::Load(kInt, taps.x + i), whole(side)));
                const IntVector y = address(plan.y, hn::Add(hn::Load(kInt, taps.y + i), whole(row)));
                hn::Store(position_or_border(plan, x, y), kInt, positions[row][side] + i);
            }
        }
    }
    for (std::size_t i = 0; i < kRowBlock; ++i) {
        for (std::size_t side = 0; side < 2; ++side) {
            copy_texels<bytes>(texel_or_border<bytes>(plan, positions[0][side][i]), staged<bytes>(stage.top, i, side));
            copy_texels<bytes>(texel_or_border<bytes>(plan, positions[1][side][i]),
                               staged<bytes>(stage.bottom, i, side));
        }
    }
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

template <std::size_t bytes>
HWY_NOINLINE Rows stage_rows(const RowPlan& plan, const Taps& taps, Stage& stage) {
    if (!taps.inside) {
        stage_addressed<bytes>(plan, taps, stage);
    } else if (bytes < 16 && is_run(taps.position, 2)) {
        const unsigned char* top = texel_at<bytes>(plan, taps.position[0]);
        return {top, top + plan.pitch * static_cast<std::int64_t>(bytes)};
    } else {
        stage_inside<bytes>(plan, taps, stage);
    }
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
    for (std::size_t i = 0; i < kRowBlock; ++i)
        copy_texels<bytes>(texel_or_border<bytes>(plan, positions[i]), results + i * bytes);
}

template <std::size_t bytes>
void fetch_nearest(const RowPlan& plan, const float* x, const float* y, std::size_t blocks, unsigned char* results) {
    for (std::size_t block = 0; block < blocks; ++block) {
        const std::size_t first = block * kRowBlock;
        fetch_nearest_block<bytes>(plan, x + first, y + first, results + first * bytes);
    }
}

// texel_filter.h: computes the bits that a fetch returns from texels and weights.
//
// Weights are integers in 1/256 that add up to 256 over all texels of a fetch: what rounding takes from the weight of a
// texel is added to that of its neighbor. Normalized texels are added up as integers. Floating-point texels are aligned
// to the largest exponent of the four texels of their footprint, and bits below the guard bits are dropped before the
// multiplication. The sums of footprints are then aligned to the largest block of exponents (recording
// sum_3d_trilinear_f32).
#pragma once
#include <cstdint>

#include "arrays/unit/float_bits.h"
#include "arrays/unit/texel_decode.h"
#include "arrays/unit/texture_view.h"

namespace texton::detail {

inline constexpr int kFullWeight = 256;
/// Weights can be in 1 / (256 << scale). This is the maximum scale.
inline constexpr int kLargestScale = 2;
/// Maximum number of footprints that are aligned together.
inline constexpr int kLargestPosition = 4;

TEXTON_HD inline std::int32_t round_to_256th(std::int32_t product) { return (product + 128) >> 8; }

/// Weights of the four texels of a footprint: (x0, y0), (x1, y0), (x0, y1), (x1, y1). They add up to the footprint's
/// share. Recordings: onehot_2d_*, onehot_3d_*, onehot_mip_*.
struct FootprintWeights {
    std::int32_t of[4];
    bool reaches[4];  ///< both weights along x and y are nonzero, even if their product rounds to 0
};

TEXTON_HD inline FootprintWeights footprint_weights(std::int32_t x, std::int32_t y, std::int32_t share) {
    const std::int32_t right = round_to_256th(x * share);
    const std::int32_t left = share - right;
    const std::int32_t right_bottom = round_to_256th(right * y);
    const std::int32_t left_top = round_to_256th(left * (256 - y));
    return {{left_top, right - right_bottom, left - left_top, right_bottom}, {true, x != 0, y != 0, x != 0 && y != 0}};
}

/// Bits of a floating-point lane. `guard_bits` is the number of bits below the last bit of the largest texel that
/// smaller texels keep. Recordings: rand_2d_linear_f32_n0_a1, rand_2d_linear_f16_n0_a1, rand_srgb_linear_u8x4.
struct LaneWidth {
    int fraction_bits;
    int guard_bits;
    int special_exponent;  ///< exponent of infinity and NaN
};

TEXTON_HD inline LaneWidth lane_width(LaneKind kind) {
    switch (kind) {
        case LaneKind::float32: return {23, 4, 128};
        case LaneKind::float16: return {10, 4, 16};
        case LaneKind::srgb: return {kSrgbFractionBits, 0, 1000};
        case LaneKind::integer:
        case LaneKind::wide_uint:
        case LaneKind::wide_sint:
        case LaneKind::unorm16:
        case LaneKind::snorm8:
        case LaneKind::snorm16: break;
    }
    return {0, 0, 1000};
}

/// Converts a sum of weighted snorm8 texels, which has 8 + kLargestScale fraction bits, to 1/32767. The factor 32767 /
/// 127 is 256 * (1 + 2^-7 + 2^-15). Each of the three terms is truncated to 1/8, and their sum is rounded. Recordings:
/// rand_2d_linear_s8x4_n0_a1, aniso4_s8x4.
TEXTON_HD inline std::int32_t widen_snorm8_sum(std::int32_t sum) {
    return ((sum << (3 - kLargestScale)) + (sum >> (4 + kLargestScale)) + (sum >> (12 + kLargestScale)) + 4) >> 3;
}

/// Returns the float of a signed normalized value in 1/32767. The lowest value reads as the next higher one; this
/// applies after the summation. Recording: rand_2d_linear_s8x4_n0_a1.
TEXTON_HD inline std::uint32_t signed_result(std::int32_t value) {
    return bits_of(static_cast<float>(value < -32767 ? -32767 : value) / 32767.0f);
}

/// Accumulates one channel of a fetch, footprint by footprint. Call start() first, end_position() after each group of
/// footprints that are aligned together, and result() last.
class ChannelSum {
public:
    TEXTON_HD void start(LaneKind kind) { kind_ = kind; }

    /// Adds the texels of a footprint. Their weights are in 1 / (256 << scale). A reached texel counts even if its
    /// weight rounds to 0: infinity and NaN propagate, and a sum of zero is negative only if all reached texels are
    /// negative zeros. Recording: special_3d_f32.
    TEXTON_HD void add(const Lane* lanes, const FootprintWeights& weights, int scale) {
        const LaneWidth width = lane_width(kind_);
        if (width.fraction_bits == 0) return add_fixed(lanes, weights, scale);
        std::int32_t largest = kNoExponent;
        for (int i = 0; i < 4; ++i) {
            if (!weights.reaches[i]) continue;
            minus_zero_ &= lanes[i].negative && lanes[i].mantissa == 0;
            if (lanes[i].exponent == width.special_exponent) add_special(lanes[i], width);
            if (weights.of[i] && lanes[i].exponent > largest) largest = lanes[i].exponent;
        }
        if (special_ || largest == kNoExponent) return;
        std::int64_t sum = 0;
        for (int i = 0; i < 4; ++i) {
            if (weights.of[i] == 0) continue;
            const int shift = largest - lanes[i].exponent;
            const std::int64_t magnitude = lanes[i].mantissa < 0 ? -std::int64_t{lanes[i].mantissa} : lanes[i].mantissa;
            const std::int64_t cut = shift > 63 ? 0 : (magnitude << width.guard_bits) >> shift;
            sum += (lanes[i].mantissa < 0 ? -cut : cut) * weights.of[i];
        }
        hold(sum, largest, scale);
    }

    /// Ends a group of footprints that are aligned together. A group is one footprint, the footprints of two slices, or
    /// up to four footprints of a row of samples. Recording: rand_grad_aniso16_f32.
    TEXTON_HD void end_position() {
        for (int i = 0; i < held_count_; ++i) floating_ += shift_down(held_[i].sum, block_ - held_[i].block);
        held_count_ = 0;
    }

    TEXTON_HD std::uint32_t result() const {
        switch (kind_) {
            case LaneKind::integer: return static_cast<std::uint32_t>(rounded());
            case LaneKind::wide_uint:  // rounded down: measured on an H200
            case LaneKind::wide_sint: return static_cast<std::uint32_t>(fixed_ >> (8 + kLargestScale));
            case LaneKind::unorm16: return bits_of(static_cast<float>(rounded()) / 65535.0f);
            case LaneKind::snorm8: return signed_result(widen_snorm8_sum(static_cast<std::int32_t>(fixed_)));
            case LaneKind::snorm16: return signed_result(rounded());
            case LaneKind::srgb:
            case LaneKind::float16: return special_ ? special_bits(kWidenedHalfNanBits) : round_floating(true);
            case LaneKind::float32: return special_ ? special_bits(kNanBits) : round_floating(false);
        }
        return 0;
    }

private:
    TEXTON_HD std::int32_t rounded() const {
        return static_cast<std::int32_t>((fixed_ + (std::int64_t{128} << kLargestScale)) >> (8 + kLargestScale));
    }

    TEXTON_HD void add_fixed(const Lane* lanes, const FootprintWeights& weights, int scale) {
        const bool is_unsigned = kind_ == LaneKind::wide_uint;
        for (int i = 0; i < 4; ++i) {
            const std::int32_t mantissa = lanes[i].mantissa;
            fixed_ += (is_unsigned ? std::int64_t{static_cast<std::uint32_t>(mantissa)} : std::int64_t{mantissa}) *
                      (weights.of[i] << (kLargestScale - scale));
        }
    }

    /// Records a texel that is NaN or infinite. Recordings: wild_2d_f16, wild_2d_f32.
    TEXTON_HD void add_special(const Lane& lane, const LaneWidth& width) {
        const std::int32_t magnitude = lane.negative ? -lane.mantissa : lane.mantissa;
        const bool infinite = magnitude == 1 << width.fraction_bits;
        special_ |= !infinite ? kNoNumber : lane.negative ? kMinusInfinity : kPlusInfinity;
    }

    TEXTON_HD std::uint32_t special_bits(std::uint32_t no_number) const {
        if (special_ == kPlusInfinity) return 0x7f800000U;
        return special_ == kMinusInfinity ? 0xff800000U : no_number;
    }

    /// Stores the sum of a footprint whose largest exponent is `exponent`. Exponents are grouped into blocks of four,
    /// and all exponents of a block are aligned alike. The sums are aligned to the largest block of this group and of
    /// the groups before. Each sum is rounded down separately when it is aligned. Recordings: sum_3d_trilinear_f32,
    /// sum_3d_trilinear_srgb, sum_3d_f16.
    TEXTON_HD void hold(std::int64_t sum, std::int32_t exponent, int scale) {
        const std::int32_t block = ((exponent + kBias) & ~(kBlock - 1)) - kBias;
        held_[held_count_++] = {(sum * (std::int64_t{1} << (exponent - block))) >> scale, block};
        if (block <= block_) return;
        floating_ = shift_down(floating_, block - block_);
        block_ = block;
    }

    TEXTON_HD static std::int64_t shift_down(std::int64_t sum, std::int32_t shift) {
        return sum >> (shift > 63 ? 63 : shift);
    }

    TEXTON_HD std::uint32_t round_floating(bool to_half) const {
        const LaneWidth width = lane_width(kind_);
        const bool negative = floating_ < 0 || (floating_ == 0 && minus_zero_);
        const std::uint64_t magnitude = static_cast<std::uint64_t>(negative ? -floating_ : floating_);
        const int exponent = block_ - width.fraction_bits - width.guard_bits - 8;
        return to_half ? round_to_half(negative, magnitude, exponent) : round_to_float(negative, magnitude, exponent);
    }

    static constexpr std::int32_t kBlock = 4;
    static constexpr std::int32_t kBias = 127;
    static constexpr std::int32_t kNoExponent = -1000;
    static constexpr unsigned kPlusInfinity = 1, kMinusInfinity = 2, kNoNumber = 4;

    struct HeldSum {
        std::int64_t sum;
        std::int32_t block;
    };

    LaneKind kind_ = LaneKind::integer;
    bool minus_zero_ = true;  ///< all texels reached so far are negative zeros
    unsigned special_ = 0;
    int held_count_ = 0;
    HeldSum held_[kLargestPosition];
    std::int32_t block_ = kNoExponent;
    std::int64_t fixed_ = 0;
    std::int64_t floating_ = 0;
};

/// Returns the number of channels that a fetch sets; the others are 0. Block and packed formats always set four.
TEXTON_HD inline int returned_channels(const TexelFormat& format) {
    return format.packing == Packing::plain ? format.channels : 4;
}

/// Accumulates all channels of a fetch.
class TexelSum {
public:
    TEXTON_HD explicit TexelSum(const TexelFormat& format) : count_(returned_channels(format)) {
        for (int c = 0; c < 4; ++c) channels_[c].start(lane_kind(format, c));
    }
    /// Adds the four texels of a footprint. `lanes` is indexed by channel, then by texel.
    TEXTON_HD void add(const Lane (&lanes)[4][4], const FootprintWeights& weights, int scale) {
        for (int c = 0; c < count_; ++c) channels_[c].add(lanes[c], weights, scale);
    }
    TEXTON_HD void end_position() {
        for (int c = 0; c < count_; ++c) channels_[c].end_position();
    }
    TEXTON_HD Texel result() const {
        Texel texel{};
        for (int c = 0; c < count_; ++c) texel.channel[c] = channels_[c].result();
        return texel;
    }

private:
    ChannelSum channels_[4];
    int count_;
};

}  // namespace texton::detail

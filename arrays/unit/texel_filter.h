// texel_filter.h: texels and weights -> the bits that a fetch returns.
//
// Weights are whole numbers of 1/256 that add up to 256 over all texels of a fetch: what a texel loses by rounding
// its neighbour gains. Normalized texels are added up as integers. Floating ones are aligned to the largest exponent
// of the four texels of their footprint and lose what lies below its guard bits before they are multiplied; footprints
// are then aligned to the largest block of exponents, sum_3d_trilinear_f32.
#pragma once
#include <cstdint>

#include "arrays/unit/float_bits.h"
#include "arrays/unit/texel_decode.h"
#include "arrays/unit/texture_view.h"

namespace texton::detail {

inline constexpr int kFullWeight = 256;
/// Weights may be in parts of 256 << scale, up to this scale.
inline constexpr int kLargestScale = 2;
/// Footprints that are aligned as one place.
inline constexpr int kLargestPlace = 4;

TEXTON_HD inline std::int32_t round_to_256th(std::int32_t product) { return (product + 128) >> 8; }

/// Weights of a footprint's texels (x0 y0), (x1 y0), (x0 y1), (x1 y1), which add up to `share`: onehot_2d_*,
/// onehot_3d_*, onehot_mip_*.
struct FootprintWeights {
    std::int32_t of[4];
    bool reaches[4];  ///< none of the texel's weights along x and y is 0, though their product may round to 0
};

TEXTON_HD inline FootprintWeights footprint_weights(std::int32_t x, std::int32_t y, std::int32_t share) {
    const std::int32_t right = round_to_256th(x * share);
    const std::int32_t left = share - right;
    const std::int32_t right_bottom = round_to_256th(right * y);
    const std::int32_t left_top = round_to_256th(left * (256 - y));
    return {{left_top, right - right_bottom, left - left_top, right_bottom}, {true, x != 0, y != 0, x != 0 && y != 0}};
}

/// Bits below the last of the largest texel that smaller ones keep: rand_2d_linear_f32_n0_a1,
/// rand_2d_linear_f16_n0_a1, rand_srgb_linear_u8x4.
struct LaneWidth {
    int fraction_bits;
    int guard_bits;
    int special_exponent;  ///< of infinite texels and those that are no numbers
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

/// A sum of snorm8 texels times weights, which has 8 + kLargestScale fraction bits, in 1/32767. It is the sum and a 128th of
/// it, taken from all but the lowest 4 bits of what has 8, rounded: rand_2d_linear_s8x4_n0_a1, aniso4_s8x4.
TEXTON_HD inline std::int32_t widen_snorm8_sum(std::int32_t sum) {
    return ((sum << (3 - kLargestScale)) + (sum >> (4 + kLargestScale)) + (sum >> (12 + kLargestScale)) + 4) >> 3;
}

/// The lowest value reads as the one above it, after the sum: rand_2d_linear_s8x4_n0_a1.
TEXTON_HD inline std::uint32_t signed_result(std::int32_t value) {
    return bits_of(static_cast<float>(value < -32767 ? -32767 : value) / 32767.0f);
}

/// Adds up one channel of a fetch, footprint by footprint.
class ChannelSum {
public:
    TEXTON_HD void start(LaneKind kind) { kind_ = kind; }

    /// Weights are in parts of 256 << scale. A texel that is reached counts by what it is, if by no weight: infinite ones and
    /// those that are no numbers go through, and all but negative zeros make a sum of zero positive: special_3d_f32.
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

    /// What was added since the last call is a place in one level: a footprint, those of two slices, or up to four of a row:
    /// rand_grad_aniso16_f32.
    TEXTON_HD void end_place() {
        for (int i = 0; i < held_count_; ++i) floating_ += shift_down(held_[i].sum, block_ - held_[i].block);
        held_count_ = 0;
    }

    TEXTON_HD std::uint32_t result() const {
        switch (kind_) {
            case LaneKind::integer: return static_cast<std::uint32_t>(rounded());
            case LaneKind::wide_uint:  // rounded down: random gradients on an H200
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

    /// A texel that is no number, or is infinite: wild_2d_f16, wild_2d_f32.
    TEXTON_HD void add_special(const Lane& lane, const LaneWidth& width) {
        const std::int32_t magnitude = lane.negative ? -lane.mantissa : lane.mantissa;
        const bool infinite = magnitude == 1 << width.fraction_bits;
        special_ |= !infinite ? kNoNumber : lane.negative ? kMinusInfinity : kPlusInfinity;
    }

    TEXTON_HD std::uint32_t special_bits(std::uint32_t no_number) const {
        if (special_ == kPlusInfinity) return 0x7f800000U;
        return special_ == kMinusInfinity ? 0xff800000U : no_number;
    }

    /// Takes a footprint's sum, whose largest exponent is `exponent`. Blocks of four exponents are aligned as one, to the
    /// largest of the place and of those before; each sum alone drops what falls below its last bit, downward:
    /// sum_3d_trilinear_f32, sum_3d_trilinear_srgb, sum_3d_f16.
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
    HeldSum held_[kLargestPlace];
    std::int32_t block_ = kNoExponent;
    std::int64_t fixed_ = 0;
    std::int64_t floating_ = 0;
};

/// Channels that a fetch fills in; the others are 0. Blocks and packed texels always give four.
TEXTON_HD inline int returned_channels(const TexelFormat& format) {
    return format.packing == Packing::plain ? format.channels : 4;
}

/// The channel sums of a fetch.
class TexelSum {
public:
    TEXTON_HD explicit TexelSum(const TexelFormat& format) : count_(returned_channels(format)) {
        for (int c = 0; c < 4; ++c) channels_[c].start(lane_kind(format, c));
    }
    /// The four texels of a footprint, channel by channel.
    TEXTON_HD void add(const Lane (&lanes)[4][4], const FootprintWeights& weights, int scale) {
        for (int c = 0; c < count_; ++c) channels_[c].add(lanes[c], weights, scale);
    }
    TEXTON_HD void end_place() {
        for (int c = 0; c < count_; ++c) channels_[c].end_place();
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

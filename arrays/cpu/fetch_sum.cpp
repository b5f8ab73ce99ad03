// The sums compute on the same numbers as ChannelSum, but those of floats only handle sums that are normal numbers.
#include "arrays/cpu/fetch_sum.h"

#include <array>
#include <bit>
#include <cstring>

namespace texton::detail {
namespace {

// --- stored texels ---------------------------------------------------------------------------------------------------

template <Encoding encoding, std::uint8_t bits, std::uint8_t channels>
struct PlainFormat {
    static constexpr TexelFormat kFormat{encoding, Packing::plain, channels, bits, bits / 8 * channels};
};
template <class Fields>
struct PackedFormat {
    static constexpr TexelFormat kFormat = packed_texel_format<Fields>();
};

template <class Of>
std::uint32_t code_at(const unsigned char* texel, int channel) {
    return load_bits(texel + channel * Of::kFormat.bits / 8, Of::kFormat.bits);
}

// Returns channel_result() of a unorm code.
template <int bits>
std::uint32_t unorm_result(std::uint32_t code) {
    return bits_of(static_cast<float>((bits == 8 ? 257 : 1) * code) / 65535.0f);
}

constexpr std::int32_t kMagnitude = 0x7fffffff;  // a float32's bits without the sign
constexpr std::int32_t kInfinity = 0x7f800000;
constexpr double kNormalHalf = 0x1p-14;  // the smallest float16 that is not denormal
constexpr double kHalfOverflow = 65520;  // float16 rounds this and more to infinity

// Returns the float of the bits of a float16 that is neither infinite nor NaN.
float float_of_finite_half(std::uint32_t code) {
    const float magnitude = float_of((code & 0x7fff) << 13) * 0x1p112f;
    return float_of(bits_of(magnitude) | (code & 0x8000) << 16);
}

// --- sums ------------------------------------------------------------------------------------------------------------

using FourBytes [[gnu::vector_size(4)]] = std::uint8_t;
using FourShorts [[gnu::vector_size(8)]] = std::uint16_t;
using FourInts [[gnu::vector_size(16)]] = std::int32_t;
using FourFloats [[gnu::vector_size(16)]] = float;
using FourDoubles [[gnu::vector_size(32)]] = double;

FourFloats floats_of(FourInts bits) { return std::bit_cast<FourFloats>(bits); }
FourInts words_of(FourFloats value) { return std::bit_cast<FourInts>(value); }
bool is_any(FourInts mask) { return (mask[0] | mask[1] | mask[2] | mask[3]) != 0; }

// Loads the channels of a texel. Those that the format lacks are 0.
template <class Of, class Four>
Four load_channels(const unsigned char* texel) {
    Four channels{};
    std::memcpy(&channels, texel, Of::kFormat.bytes);
    return channels;
}

/// The texels of a footprint as floats.
struct Footprint {
    FourFloats texel[4];  // 0 without weight
    FourInts largest{};   // bits of the largest magnitude of each channel with weight
    FourInts any{};       // bits that are set in any texel

    void add(int i, FourInts bits, std::int32_t weight) {
        any |= bits;
        if (weight == 0) bits = FourInts{};
        texel[i] = floats_of(bits);
        const FourInts magnitude = bits & kMagnitude;
        largest = magnitude > largest ? magnitude : largest;
    }
    /// Writes the weighted sums in units of 2^(exponent - cut_bits - 8). Texels are truncated to `cut_bits` bits below
    /// 2^exponent.
    void sum(int cut_bits, FourInts exponent, const FootprintWeights& weights, double (&sums)[4]) const {
        const FourFloats steps = floats_of((cut_bits + 127 - exponent) << 23);
        FourDoubles total{};
        for (int i = 0; i < 4; ++i) {
            const FourInts cut = __builtin_convertvector(texel[i] * steps, FourInts);
            total += __builtin_convertvector(cut, FourDoubles) * static_cast<double>(weights.of[i]);
        }
        std::memcpy(sums, &total, sizeof total);
    }
};

constexpr int kHalfCutBits = 14;   // including guard bits
constexpr int kFloatCutBits = 27;  // likewise

// The sums of 8-bit codes are below 2^24, so floats hold them.
template <class Of>
void add_bytes(FetchSum& sum, const unsigned char* const (&texels)[4], const FootprintWeights& weights, int scale) {
    FourFloats total{};
    for (int i = 0; i < 4; ++i) {
        const auto weight = static_cast<float>(weights.of[i] << (kLargestScale - scale));
        total += __builtin_convertvector(load_channels<Of, FourBytes>(texels[i]), FourFloats) * weight;
    }
    FourInts sums;
    std::memcpy(&sums, sum.fixed, sizeof sums);
    sums += __builtin_convertvector(total, FourInts);
    std::memcpy(sum.fixed, &sums, sizeof sums);
}

template <class Of>
void add_codes(FetchSum& sum, const unsigned char* const (&texels)[4], const FootprintWeights& weights, int scale) {
    constexpr bool kSigned = Of::kFormat.encoding == Encoding::snorm;
    for (int i = 0; i < 4; ++i) {
        const std::int32_t weight = weights.of[i] << (kLargestScale - scale);
        for (int c = 0; c < Of::kFormat.channels; ++c) {
            const std::uint32_t code = code_at<Of>(texels[i], c);
            sum.fixed[c] += (kSigned ? sign_extend(code, Of::kFormat.bits) : static_cast<std::int32_t>(code)) * weight;
        }
    }
}

template <class Of>
void add_packed(FetchSum& sum, const unsigned char* const (&texels)[4], const FootprintWeights& weights, int scale) {
    for (int i = 0; i < 4; ++i) {
        const Lanes texel = decode_texel(texels[i], Of::kFormat, 0, 0);
        const std::int32_t weight = weights.of[i] << (kLargestScale - scale);
        for (int c = 0; c < 4; ++c) sum.fixed[c] += texel.channel[c].mantissa * weight;
    }
}

template <class Of>
void add_srgb(FetchSum& sum, const unsigned char* const (&texels)[4], const FootprintWeights& weights, int scale) {
    for (int c = 0; c < Of::kFormat.channels; ++c) {
        if (is_linear_channel(Of::kFormat, c)) {
            for (int i = 0; i < 4; ++i) sum.fixed[c] += texels[i][c] * (weights.of[i] << (kLargestScale - scale));
            continue;
        }
        Lane lanes[4];
        std::int32_t largest = -kSrgbFractionBits;
        for (int i = 0; i < 4; ++i) {
            lanes[i] = lane_of_srgb(texels[i][c]);
            if (weights.of[i] != 0 && lanes[i].exponent > largest) largest = lanes[i].exponent;
        }
        std::int32_t of_footprint = 0;
        for (int i = 0; i < 4; ++i) {
            if (weights.of[i] != 0)
                of_footprint += (lanes[i].mantissa >> (largest - lanes[i].exponent)) * weights.of[i];
        }
        sum.floats[c].hold(of_footprint, largest, scale);
    }
}

// Adds the sums of a footprint.
template <class Of>
void hold(FetchSum& sum, const Footprint& footprint, int cut_bits, FourInts exponent, const FootprintWeights& weights,
          int scale) {
    double sums[4];
    footprint.sum(cut_bits, exponent, weights, sums);
    for (int c = 0; c < Of::kFormat.channels; ++c) {
        sum.floats[c].any |= static_cast<std::uint32_t>(footprint.any[c]);
        sum.floats[c].hold(static_cast<std::int64_t>(sums[c]), exponent[c], scale);
    }
}

template <class Of>
void add_halves(FetchSum& sum, const unsigned char* const (&texels)[4], const FootprintWeights& weights, int scale) {
    Footprint footprint;
    FourInts special{};
    for (int i = 0; i < 4; ++i) {
        const FourInts code = __builtin_convertvector(load_channels<Of, FourShorts>(texels[i]), FourInts);
        special |= (code & 0x7c00) == 0x7c00;
        const FourFloats magnitude = floats_of((code & 0x7fff) << 13) * 0x1p112f;
        footprint.add(i, words_of(magnitude) | (code & 0x8000) << 16, weights.of[i]);
    }
    if (is_any(special)) return sum.fail();
    const FourInts exponent = (footprint.largest >> 23) - 127;
    hold<Of>(sum, footprint, kHalfCutBits, exponent > -14 ? exponent : FourInts{} - 14, weights, scale);
}

template <class Of>
void add_floats(FetchSum& sum, const unsigned char* const (&texels)[4], const FootprintWeights& weights, int scale) {
    constexpr std::int32_t kTiny = -87;  // from this exponent on, no factor and no result is denormal
    Footprint footprint;
    FourInts special{};
    for (int i = 0; i < 4; ++i) {
        const FourInts bits = load_channels<Of, FourInts>(texels[i]);
        special |= (bits & kMagnitude) >= kInfinity;
        footprint.add(i, bits, weights.of[i]);
    }
    const FourInts exponent = (footprint.largest >> 23) - 127;
    const FourInts zeros = footprint.largest == 0;
    if (is_any(special | (~zeros & (exponent < kTiny)))) return sum.fail();
    // The exponent of zeros must not become that of the sum.
    hold<Of>(sum, footprint, kFloatCutBits, zeros ? FourInts{} + kTiny : exponent, weights, scale);
}

// --- results ---------------------------------------------------------------------------------------------------------

std::int32_t rounded(std::int32_t fixed) { return (fixed + (128 << kLargestScale)) >> (8 + kLargestScale); }

// Returns the float rounded to 11 bits, halves away from zero. The number of bits of the sum is below that of a double.
std::uint32_t round_to_11_bits(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value) + (std::uint64_t{1} << 41);
    return bits_of(static_cast<float>(std::bit_cast<double>(bits >> 42 << 42)));
}

// Returns the value of a sum whose unit is 2^-unit_bits of its block.
double value_of(const FetchSum::FloatingSum& sum, int unit_bits) {
    const auto power = static_cast<std::uint64_t>(sum.block() - unit_bits + 1023);
    return static_cast<double>(sum.sum()) * std::bit_cast<double>(power << 52);
}

template <class Of>
std::uint32_t code_result(std::int32_t fixed) {
    constexpr TexelFormat kFormat = Of::kFormat;
    constexpr bool kBytes = kFormat.bits == 8 && kFormat.packing == Packing::plain;
    if constexpr (kFormat.encoding == Encoding::snorm)
        return signed_result(kBytes ? widen_snorm8_sum(fixed) : rounded(fixed));
    return bits_of(static_cast<float>(rounded(kBytes ? 257 * fixed : fixed)) / 65535.0f);
}

template <class Of>
void finish_codes(FetchSum& sum, Texel& result) {
    constexpr int kCount = Of::kFormat.packing == Packing::packed ? 4 : Of::kFormat.channels;
    for (int c = 0; c < kCount; ++c) result.channel[c] = code_result<Of>(sum.fixed[c]);
}

// The smallest colors need no rounding: the sums have no bits below those of a denormal float16.
template <class Of>
void finish_srgb(FetchSum& sum, Texel& result) {
    for (int c = 0; c < Of::kFormat.channels; ++c) {
        if (is_linear_channel(Of::kFormat, c)) {
            result.channel[c] = bits_of(static_cast<float>(rounded(257 * sum.fixed[c])) / 65535.0f);
            continue;
        }
        const double value = value_of(sum.floats[c], kSrgbFractionBits + 8);
        result.channel[c] = value < kNormalHalf ? bits_of(static_cast<float>(value)) : round_to_11_bits(value);
    }
}

template <class Of>
void finish_halves(FetchSum& sum, Texel& result) {
    for (int c = 0; c < Of::kFormat.channels; ++c) {
        if (sum.floats[c].any == 0) continue;  // positive zeros
        const double value = value_of(sum.floats[c], kHalfCutBits + 8);
        const double magnitude = value < 0 ? -value : value;
        if (magnitude < kNormalHalf || magnitude >= kHalfOverflow) return sum.fail();
        result.channel[c] = round_to_11_bits(value);
    }
}

// Sums are below 2^40. The factor is enlarged by 2^-44 of itself, which moves the product by less than half the
// distance to the next value where the rounding to float32 changes. So only ties change: they are rounded away from
// zero.
template <class Of>
void finish_floats(FetchSum& sum, Texel& result) {
    for (int c = 0; c < Of::kFormat.channels; ++c) {
        const FetchSum::FloatingSum& channel = sum.floats[c];
        if (channel.any == 0) continue;  // positive zeros
        if (channel.sum() == 0) return sum.fail();
        constexpr std::uint64_t kMore = 256;
        const auto power = static_cast<std::uint64_t>(channel.block() - kFloatCutBits - 8 + 1023);
        const double value = static_cast<double>(channel.sum()) * std::bit_cast<double>((power << 52) + kMore);
        result.channel[c] = bits_of(static_cast<float>(value));
    }
}

// --- point fetches ---------------------------------------------------------------------------------------------------

template <class Of>
Texel read_unorm(const unsigned char* texel) {
    Texel result{};
    for (int c = 0; c < Of::kFormat.channels; ++c)
        result.channel[c] = unorm_result<Of::kFormat.bits>(code_at<Of>(texel, c));
    return result;
}

template <class Of>
Texel read_srgb(const unsigned char* texel) {
    static const auto kColors = [] {
        std::array<std::uint32_t, 256> colors{};
        for (std::uint32_t code = 0; code < 256; ++code)
            colors[code] = unfiltered_result(lane_of_srgb(code), LaneKind::srgb);
        return colors;
    }();
    Texel result{};
    for (int c = 0; c < Of::kFormat.channels; ++c) {
        const std::uint32_t code = texel[c];
        result.channel[c] = is_linear_channel(Of::kFormat, c) ? unorm_result<8>(code) : kColors[code];
    }
    return result;
}

template <class Of>
Texel read_half(const unsigned char* texel) {
    Texel result{};
    for (int c = 0; c < Of::kFormat.channels; ++c) {
        const std::uint32_t code = code_at<Of>(texel, c);
        const bool special = (code & 0x7c00) == 0x7c00;
        result.channel[c] =
            special ? unfiltered_result(lane_of_half(code), LaneKind::float16) : bits_of(float_of_finite_half(code));
    }
    return result;
}

// Returns the bits of float32 texels unchanged, as the texture unit does without a filter.
template <class Of>
Texel read_words(const unsigned char* texel) {
    Texel result{};
    for (int c = 0; c < Of::kFormat.channels; ++c) result.channel[c] = code_at<Of>(texel, c);
    return result;
}

// --- functions of a format -------------------------------------------------------------------------------------------

template <class Of>
constexpr FetchSumFunctions sums_of(TexelDecoder read) {
    constexpr TexelFormat kFormat = Of::kFormat;
    if constexpr (kFormat.packing == Packing::packed) {
        if constexpr (kFormat.encoding == Encoding::unorm || kFormat.encoding == Encoding::snorm)
            return {add_packed<Of>, finish_codes<Of>, read, false};
    } else {
        if constexpr (kFormat.encoding == Encoding::unorm && kFormat.bits == 8)
            return {add_bytes<Of>, finish_codes<Of>, read, false};
        if constexpr (kFormat.encoding == Encoding::unorm || kFormat.encoding == Encoding::snorm)
            return {add_codes<Of>, finish_codes<Of>, read, false};
        if constexpr (kFormat.encoding == Encoding::srgb) return {add_srgb<Of>, finish_srgb<Of>, read, true};
        if constexpr (kFormat.encoding == Encoding::floating) {
            if constexpr (kFormat.bits == 16) return {add_halves<Of>, finish_halves<Of>, read, true};
            if constexpr (kFormat.bits == 32) return {add_floats<Of>, finish_floats<Of>, read, true};
        }
    }
    return {nullptr, nullptr, read, false};
}

template <Encoding encoding, std::uint8_t bits, std::uint8_t channels>
FetchSumFunctions functions_of() {
    using Of = PlainFormat<encoding, bits, channels>;
    TexelDecoder read = texel_decoder(Of::kFormat);
    if constexpr (encoding == Encoding::unorm) read = read_unorm<Of>;
    if constexpr (encoding == Encoding::srgb) read = read_srgb<Of>;
    if constexpr (encoding == Encoding::floating) read = bits == 16 ? read_half<Of> : read_words<Of>;
    return sums_of<Of>(read);
}

template <Encoding encoding, std::uint8_t bits>
FetchSumFunctions by_channels(std::uint8_t channels) {
    if (channels == 1) return functions_of<encoding, bits, 1>();
    return channels == 2 ? functions_of<encoding, bits, 2>() : functions_of<encoding, bits, 4>();
}

FetchSumFunctions functions_for(const TexelFormat& format) {
    if (format.packing == Packing::packed) {
        return with_packed(format.packed, [&](auto fields) -> FetchSumFunctions {
            return sums_of<PackedFormat<decltype(fields)>>(texel_decoder(format));
        });
    }
    if (format.packing != Packing::plain) return {};
    const bool bytes = format.bits == 8;
    switch (format.encoding) {
        case Encoding::unorm:
            return bytes ? by_channels<Encoding::unorm, 8>(format.channels)
                         : by_channels<Encoding::unorm, 16>(format.channels);
        case Encoding::snorm:
            return bytes ? by_channels<Encoding::snorm, 8>(format.channels)
                         : by_channels<Encoding::snorm, 16>(format.channels);
        case Encoding::srgb: return by_channels<Encoding::srgb, 8>(format.channels);
        case Encoding::floating:
            return format.bits == 16 ? by_channels<Encoding::floating, 16>(format.channels)
                                     : by_channels<Encoding::floating, 32>(format.channels);
        case Encoding::uint:
        case Encoding::sint: break;  // integers are not filtered
    }
    return {nullptr, nullptr, texel_decoder(format), false};
}

// --- footprints ------------------------------------------------------------------------------------------------------

const unsigned char* address_of(const LevelView& level, const TexelFormat& format, std::int32_t x, std::int32_t y,
                                std::int32_t z) {
    return level.data + z * level.slice_pitch + y * level.row_pitch + std::int64_t{x} * format.bytes;
}

bool reads_border(const LevelTaps& taps, std::int32_t z) {
    return taps.x.texel[0] == kBorderTexel || taps.x.texel[1] == kBorderTexel || taps.y.texel[0] == kBorderTexel ||
           taps.y.texel[1] == kBorderTexel || z == kBorderTexel;
}

}  // namespace

FetchPlan::FetchPlan(const TextureView& view, const Sampler& sampler)
    : functions(functions_for(view.format)), has_axes(!is_cube(view.kind)) {
    if (!has_axes) return;
    const AxisKind flat = flat_axis_kind(view, Split::fixed_point);
    for (int i = 0; i < view.level_count; ++i) {
        const LevelView& level = view.levels[i];
        axes[i][0] = {level.width, flat, sampler, 0};
        axes[i][1] = {level.height, flat, sampler, 1};
        axes[i][2] = {level.depth, AxisKind::depth, sampler, 2};
    }
}

// Same as find_taps().
LevelTaps find_taps_for(FetchSum& sum, const TextureView& view, const Sampler& sampler, int level,
                        const Coordinates& at, const Placement& placement) {
    const FetchPlan& plan = sum.plan();
    if (!plan.has_axes) return find_taps(view, sampler, view.levels[level], at, placement);
    const auto& axes = plan.axes[level];
    const auto taps_of = [&](int axis, float coordinate, std::int32_t shift) {
        return sampler.filter == Filter::linear ? axes[axis].linear(coordinate, shift)
                                                : single_tap(axes[axis].nearest(coordinate, shift));
    };
    LevelTaps taps;
    taps.seamless = false;
    taps.x = taps_of(0, at.x, placement.shift_x);
    taps.y = view.kind == ArrayKind::layered_1d ? single_tap(0)
                                                : taps_of(1, is_flat(view.kind) ? 0.0f : at.y, placement.shift_y);
    if (view.kind == ArrayKind::array_3d) {
        taps.z = taps_of(2, at.z, 0);
    } else {
        taps.z = single_tap(is_layered(view.kind) ? clamp_layer(at.layer, view.levels[level].depth) : 0);
    }
    return taps;
}

void add_quad(FetchSum& sum, const LevelView& level, const TexelFormat& format, const Sampler&, const LevelTaps& taps,
              int slice, const FootprintWeights& weights, int scale) {
    const std::int32_t z = taps.z.texel[slice];
    if (level.partial != nullptr) return sum.fail();
    if (!taps.seamless) {
        if (reads_border(taps, z)) return sum.fail();
        const unsigned char* const slice_data = level.data + z * level.slice_pitch;
        const unsigned char* const top = slice_data + taps.y.texel[0] * level.row_pitch;
        const unsigned char* const bottom = slice_data + taps.y.texel[1] * level.row_pitch;
        const std::int64_t left = std::int64_t{taps.x.texel[0]} * format.bytes;
        const std::int64_t right = std::int64_t{taps.x.texel[1]} * format.bytes;
        return sum.add({top + left, top + right, bottom + left, bottom + right}, weights, scale);
    }
    const unsigned char* texels[4];
    int corner = -1;
    for (int i = 0; i < 4; ++i) {
        const std::int32_t x = taps.x.texel[i & 1];
        const std::int32_t y = taps.y.texel[i >> 1];
        const CubeStep step = cube_step(x, y, level.width);
        if (step == CubeStep::corner) {
            corner = i;
        } else if (step == CubeStep::edge) {
            const CubeTexel texel = cross_cube_edge(z % 6, x, y, level.width);
            texels[i] = address_of(level, format, texel.x, texel.y, z - z % 6 + texel.face);
        } else {
            texels[i] = address_of(level, format, x, y, z);
        }
    }
    if (corner >= 0) texels[corner] = texels[corner ^ 3];  // no texel is there; it gets no weight
    sum.add(texels, share_cube_corner(taps, level.width, weights), scale);
}

Texel read_point(FetchSum& sum, const TextureView& view, const Sampler& sampler, int level, const Coordinates& at) {
    const LevelView& info = view.levels[level];
    const LevelTaps taps = find_taps_for(sum, view, sampler, level, at, {});
    const std::int32_t z = taps.z.texel[0];
    if (info.partial != nullptr || reads_border(taps, z)) {
        sum.fail();
        return {};
    }
    const unsigned char* const texel = address_of(info, view.format, taps.x.texel[0], taps.y.texel[0], z);
    const bool filtered = sampler.mip_filter == Filter::linear && view.level_count > 1;  // as in point_texel()
    if (!filtered) return sum.read(texel);
    sum.add({texel, texel, texel, texel}, {{kFullWeight, 0, 0, 0}, {true, false, false, false}}, 0);
    sum.end_position();
    return sum.result();
}

}  // namespace texton::detail

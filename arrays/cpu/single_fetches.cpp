// A fetch runs address -> texels -> filter, as in texture_unit.h. The filters compute on the same numbers as ChannelSum,
// but those of floats only handle sums that are normal numbers. All other sums, and footprints that mix texels and the
// border color, are left to the model.
#include "arrays/cpu/single_fetches.h"

#include <array>
#include <bit>

#include "arrays/unit/texture_unit.h"

namespace texton::detail {
namespace {

// --- filters ---------------------------------------------------------------------------------------------------------

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

// Returns channel_result() of the sum of weighted unorm codes.
template <int bits>
std::uint32_t unorm_result(std::uint32_t sum) {
    const std::uint32_t rounded = ((bits == 8 ? 257 : 1) * sum + 128) >> 8;
    return bits_of(static_cast<float>(rounded) / 65535.0f);
}

template <class Of>
bool filter_unorm(const unsigned char* const (&texels)[4], const FootprintWeights& weights, Texel& result) {
    for (int c = 0; c < Of::kFormat.channels; ++c) {
        std::uint32_t sum = 0;
        for (int i = 0; i < 4; ++i) sum += code_at<Of>(texels[i], c) * static_cast<std::uint32_t>(weights.of[i]);
        result.channel[c] = unorm_result<Of::kFormat.bits>(sum);
    }
    return true;
}

template <class Of>
bool filter_snorm(const unsigned char* const (&texels)[4], const FootprintWeights& weights, Texel& result) {
    constexpr int kBits = Of::kFormat.bits;
    for (int c = 0; c < Of::kFormat.channels; ++c) {
        std::int32_t sum = 0;
        for (int i = 0; i < 4; ++i) sum += sign_extend(code_at<Of>(texels[i], c), kBits) * weights.of[i];
        result.channel[c] = signed_result(kBits == 8 ? widen_snorm8_sum(sum << kLargestScale) : (sum + 128) >> 8);
    }
    return true;
}

// Filters texels of a packed format with normalized channels.
template <class Of>
bool filter_packed(const unsigned char* const (&texels)[4], const FootprintWeights& weights, Texel& result) {
    std::int32_t sums[4] = {};
    for (int i = 0; i < 4; ++i) {
        const Lanes texel = decode_texel(texels[i], Of::kFormat, 0, 0);
        for (int c = 0; c < 4; ++c) sums[c] += texel.channel[c].mantissa * weights.of[i];
    }
    for (int c = 0; c < 4; ++c) {
        const std::int32_t rounded = (sums[c] + 128) >> 8;
        result.channel[c] = Of::kFormat.encoding == Encoding::snorm ? signed_result(rounded)
                                                                    : bits_of(static_cast<float>(rounded) / 65535.0f);
    }
    return true;
}

constexpr std::uint32_t kMagnitude = 0x7fffffff;  // a float32's bits without the sign
constexpr std::uint32_t kInfinity = 0x7f800000;
constexpr std::uint32_t kNormalHalf = 113u << 23;    // the smallest float16 that is not denormal
constexpr std::uint32_t kHalfOverflow = 0x477ff000;  // float16 rounds this and more to infinity

// Returns 2^power, for powers of normal floats.
float power_of_two(std::int32_t power) { return float_of(static_cast<std::uint32_t>(power + 127) << 23); }

// Returns the float rounded to 11 bits, halves away from zero.
std::uint32_t round_to_11_bits(float value) { return (bits_of(value) + 0x1000) & ~0x1fffu; }

// Returns round_to_half() of a sum. The smallest results of the table of sRGB colors need no rounding: the sums have no
// bits below those of a denormal float16.
std::uint32_t srgb_result(std::int32_t sum, std::int32_t exponent) {
    const float value = static_cast<float>(sum) * power_of_two(exponent - kSrgbFractionBits - 8);
    return bits_of(value) < kNormalHalf ? bits_of(value) : round_to_11_bits(value);
}

template <class Of>
bool filter_srgb(const unsigned char* const (&texels)[4], const FootprintWeights& weights, Texel& result) {
    for (int c = 0; c < Of::kFormat.channels; ++c) {
        std::uint32_t codes[4];
        for (int i = 0; i < 4; ++i) codes[i] = texels[i][c];
        if (is_linear_channel(Of::kFormat, c)) {
            std::uint32_t sum = 0;
            for (int i = 0; i < 4; ++i) sum += codes[i] * static_cast<std::uint32_t>(weights.of[i]);
            result.channel[c] = unorm_result<8>(sum);
            continue;
        }
        Lane lanes[4];
        std::int32_t largest = -kSrgbFractionBits;
        for (int i = 0; i < 4; ++i) {
            lanes[i] = lane_of_srgb(codes[i]);
            if (weights.of[i] != 0 && lanes[i].exponent > largest) largest = lanes[i].exponent;
        }
        std::int32_t sum = 0;
        for (int i = 0; i < 4; ++i) {
            if (weights.of[i] != 0) sum += (lanes[i].mantissa >> (largest - lanes[i].exponent)) * weights.of[i];
        }
        result.channel[c] = srgb_result(sum, largest);
    }
    return true;
}

// Returns the float of the bits of a float16 that is neither infinite nor NaN.
float float_of_finite_half(std::uint32_t code) {
    const float magnitude = float_of((code & 0x7fff) << 13) * 0x1p112f;
    return float_of(bits_of(magnitude) | (code & 0x8000) << 16);
}

/// The four texels of a channel as floats. Texels without weight are 0.
struct ChannelTexels {
    float of[4];
    std::uint32_t largest = 0;  // bits of the largest magnitude with weight
    std::uint32_t any = 0;      // bits that are set in any of the four texels
    bool special = false;       // a texel is infinite or NaN

    void add(int i, std::uint32_t bits, std::int32_t weight) {
        any |= bits;
        special |= (bits & kMagnitude) >= kInfinity;
        const std::uint32_t counted = weight != 0 ? bits : 0;
        of[i] = float_of(counted);
        if ((counted & kMagnitude) > largest) largest = counted & kMagnitude;
    }
    /// Returns the exponent of the largest magnitude.
    std::int32_t exponent() const { return static_cast<std::int32_t>(largest >> 23) - 127; }
    /// Returns the weighted sum in units of 2^(exponent - cut_bits - 8). Texels are truncated to `cut_bits` bits below
    /// the first bit of the largest one.
    std::int64_t sum(int cut_bits, std::int32_t exponent, const FootprintWeights& weights) const {
        const float steps = power_of_two(cut_bits - exponent);
        std::int64_t sum = 0;
        for (int i = 0; i < 4; ++i) sum += std::int64_t{static_cast<std::int32_t>(of[i] * steps)} * weights.of[i];
        return sum;
    }
};

template <class Of>
bool filter_half(const unsigned char* const (&texels)[4], const FootprintWeights& weights, Texel& result) {
    constexpr int kCutBits = 14;  // including guard bits
    for (int c = 0; c < Of::kFormat.channels; ++c) {
        ChannelTexels channel;
        for (int i = 0; i < 4; ++i) {
            const std::uint32_t code = code_at<Of>(texels[i], c);
            channel.special |= (code & 0x7c00) == 0x7c00;
            channel.add(i, bits_of(float_of_finite_half(code)), weights.of[i]);
        }
        if (channel.any == 0) continue;  // positive zeros
        const std::int32_t exponent = channel.exponent() > -14 ? channel.exponent() : -14;
        if (channel.special) return false;
        const auto sum = static_cast<std::int32_t>(channel.sum(kCutBits, exponent, weights));
        const float value = static_cast<float>(sum) * power_of_two(exponent - kCutBits - 8);
        const std::uint32_t magnitude = bits_of(value) & kMagnitude;
        if (magnitude < kNormalHalf || magnitude >= kHalfOverflow) return false;
        result.channel[c] = round_to_11_bits(value);
    }
    return true;
}

template <class Of>
bool filter_float(const unsigned char* const (&texels)[4], const FootprintWeights& weights, Texel& result) {
    constexpr int kCutBits = 27;         // including guard bits
    constexpr std::int32_t kTiny = -87;  // from this exponent on, no factor and no result is denormal
    for (int c = 0; c < Of::kFormat.channels; ++c) {
        ChannelTexels channel;
        for (int i = 0; i < 4; ++i) channel.add(i, code_at<Of>(texels[i], c), weights.of[i]);
        if (channel.any == 0) continue;  // positive zeros
        const std::int32_t exponent = channel.exponent();
        if (channel.special || exponent < kTiny) return false;
        const std::int64_t sum = channel.sum(kCutBits, exponent, weights);
        if (sum == 0) return false;
        // The sum is below 2^37. The factor is enlarged by 2^-44 of itself, which moves the product by less than half
        // the distance to the next value where the rounding to float32 changes. So only ties change: they are rounded
        // away from zero.
        const auto unit =
            std::bit_cast<double>((static_cast<std::int64_t>(exponent - kCutBits - 8 + 1023) << 52) + 256);
        result.channel[c] = bits_of(static_cast<float>(static_cast<double>(sum) * unit));
    }
    return true;
}

// --- point fetches ---------------------------------------------------------------------------------------------------

template <class Of>
Texel read_unorm(const unsigned char* texel) {
    Texel result{};
    for (int c = 0; c < Of::kFormat.channels; ++c)
        result.channel[c] = unorm_result<Of::kFormat.bits>(code_at<Of>(texel, c) * kFullWeight);
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
        result.channel[c] = is_linear_channel(Of::kFormat, c) ? unorm_result<8>(code * kFullWeight) : kColors[code];
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

// Returns null if the model must be used.
template <class Of>
constexpr FootprintFilter filter_for() {
    constexpr TexelFormat kFormat = Of::kFormat;
    if constexpr (kFormat.packing == Packing::packed) {
        if constexpr (kFormat.encoding == Encoding::unorm || kFormat.encoding == Encoding::snorm)
            return filter_packed<Of>;
    } else {
        if constexpr (kFormat.encoding == Encoding::unorm) return filter_unorm<Of>;
        if constexpr (kFormat.encoding == Encoding::snorm) return filter_snorm<Of>;
        if constexpr (kFormat.encoding == Encoding::srgb) return filter_srgb<Of>;
        if constexpr (kFormat.encoding == Encoding::floating)
            return kFormat.bits == 16 ? filter_half<Of> : filter_float<Of>;
    }
    return nullptr;
}

/// Functions for the texels of a format. A member is null if the model must be used.
struct FormatFunctions {
    FootprintFilter filter;
    TexelDecoder read;
};

template <Encoding encoding, std::uint8_t bits, std::uint8_t channels>
FormatFunctions functions_of() {
    using Of = PlainFormat<encoding, bits, channels>;
    TexelDecoder read = texel_decoder(Of::kFormat);
    if constexpr (encoding == Encoding::unorm) read = read_unorm<Of>;
    if constexpr (encoding == Encoding::srgb) read = read_srgb<Of>;
    if constexpr (encoding == Encoding::floating) read = bits == 16 ? read_half<Of> : read_words<Of>;
    return {filter_for<Of>(), read};
}

template <Encoding encoding, std::uint8_t bits>
FormatFunctions by_channels(std::uint8_t channels) {
    if (channels == 1) return functions_of<encoding, bits, 1>();
    return channels == 2 ? functions_of<encoding, bits, 2>() : functions_of<encoding, bits, 4>();
}

FormatFunctions functions_for(const TexelFormat& format) {
    if (format.packing == Packing::packed) {
        return with_packed(format.packed, [&](auto fields) -> FormatFunctions {
            return {filter_for<PackedFormat<decltype(fields)>>(), texel_decoder(format)};
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
    return {nullptr, texel_decoder(format)};
}

// Returns the result of a footprint of which all texels have the border color.
Texel border_result(const Sampler& sampler, const TexelFormat& format) {
    if (sampler.filter == Filter::point) {
        const TexelFormat unfiltered = unfiltered_format(format);
        return unfiltered_texel(border_lanes(sampler, unfiltered), unfiltered);
    }
    const Lanes border = border_lanes(sampler, format);
    Lane lanes[4][4];
    for (int c = 0; c < 4; ++c)
        for (Lane& lane : lanes[c]) lane = border.channel[c];
    TexelSum sum(format);
    sum.add(lanes, footprint_weights(0, 0, kFullWeight), 0);
    sum.end_position();
    return sum.result();
}

bool is_inside(std::int64_t texel, std::int32_t size) {
    return static_cast<std::uint64_t>(texel) < static_cast<std::uint64_t>(size);
}

}  // namespace

// --- coordinates -----------------------------------------------------------------------------------------------------

SingleFetches::FetchAxis SingleFetches::make_axis(int axis) const {
    FetchAxis made{};
    made.size = axis == 0 ? view_.levels[0].width : view_.levels[0].height;
    made.mode = sampler_.address[axis];
    made.kind = flat_axis_kind(view_, Split::fixed_point);
    made.normalized = sampler_.normalized_coordinates;
    const int fraction_bits = made.normalized ? coordinate_fraction_bits(made.size, made.kind) : 9;
    // Coordinates below these limits do not saturate.
    made.quick_end = bits_of(made.normalized ? 0x1p10f : 0x1p20f);
    made.steps = static_cast<double>(std::int64_t{1} << fraction_bits);
    const AddressRule rule = address_rule(made.mode);
    made.mask = made.normalized && rule.repeats() ? (std::int64_t{rule.period} << fraction_bits) - 1 : -1;
    made.shift = fraction_bits - 9;
    return made;
}

// Returns the result of scale_coordinate().
std::int64_t SingleFetches::FetchAxis::scaled(float coordinate) const {
    constexpr std::uint32_t kSmallest = 0x00800000;  // the model reads smaller magnitudes as 0
    if ((bits_of(coordinate) & kMagnitude) - kSmallest >= quick_end - kSmallest)
        return scale_coordinate(coordinate, size, normalized, mode, kind);
    const double product = static_cast<double>(coordinate) * steps;  // exact
    auto step = static_cast<std::int64_t>(product);
    if (product < static_cast<double>(step)) --step;
    return normalized ? ((step & mask) * size) >> shift : step;
}

AxisTaps SingleFetches::FetchAxis::linear(float coordinate) const {
    const std::int64_t scale = scaled(coordinate);
    const std::int64_t fixed = linear_position(scale, 0);
    const std::int64_t first = fixed >> 8;
    if (first >= 0 && first + 1 < size) {
        const auto texel = static_cast<std::int32_t>(first);
        return {{texel, texel + 1}, static_cast<std::int32_t>(fixed & 255)};
    }
    return linear_taps(scale, size, mode, Split::fixed_point, 0);
}

std::int32_t SingleFetches::FetchAxis::nearest(float coordinate) const {
    const std::int64_t texel = scaled(coordinate) >> 9;
    return is_inside(texel, size) ? static_cast<std::int32_t>(texel) : address_texel(texel, size, mode);
}

// --- fetches ---------------------------------------------------------------------------------------------------------

SingleFetches::SingleFetches(const TextureView& view, const Sampler& sampler) : view_(view), sampler_(sampler) {
    const LevelView& level = view.levels[0];
    const bool rows =
        view.kind == ArrayKind::array_1d || view.kind == ArrayKind::array_2d || view.kind == ArrayKind::layered_2d;
    if (!rows || level.partial != nullptr) return;
    const bool point = sampler.filter == Filter::point;
    // Otherwise, point reads pass through the filter.
    const bool unfiltered =
        sampler.max_anisotropy < 2 && (sampler.mip_filter == Filter::point || view.level_count == 1);
    if (point && !unfiltered) return;
    x_ = make_axis(0);
    y_ = make_axis(1);
    row_pitch_ = level.row_pitch;
    bytes_ = view.format.bytes;
    const FormatFunctions functions = functions_for(view.format);
    if (point) {
        read_ = functions.read;
    } else {
        filter_ = functions.filter;
    }
    const bool has_border = address_rule(sampler.address[0]).border || address_rule(sampler.address[1]).border;
    if (has_border) border_ = border_result(sampler, view.format);
}

Texel SingleFetches::fetch(float x, float y, std::int32_t layer) const {
    if (read_ == nullptr && filter_ == nullptr) return detail::fetch(view_, sampler_, {x, y, 0, layer});
    const LevelView& level = view_.levels[0];
    if (view_.kind == ArrayKind::array_1d) y = 0;
    const std::int32_t slice = view_.kind == ArrayKind::layered_2d ? clamp_layer(layer, level.depth) : 0;
    const unsigned char* texels = level.data + slice * level.slice_pitch;
    if (read_ != nullptr) {
        const std::int32_t column = x_.nearest(x);
        const std::int32_t row = y_.nearest(y);
        if (column == kBorderTexel || row == kBorderTexel) return border_;
        return read_(texel(texels, column, row));
    }
    const AxisTaps columns = x_.linear(x);
    const AxisTaps rows = y_.linear(y);
    const bool left = columns.texel[0] != kBorderTexel, right = columns.texel[1] != kBorderTexel;
    const bool top = rows.texel[0] != kBorderTexel, bottom = rows.texel[1] != kBorderTexel;
    if (!(left && right && top && bottom)) {
        if (!(left || right) || !(top || bottom)) return border_;
        return detail::fetch(view_, sampler_, {x, y, 0, layer});
    }
    const unsigned char* const footprint[4] = {
        texel(texels, columns.texel[0], rows.texel[0]), texel(texels, columns.texel[1], rows.texel[0]),
        texel(texels, columns.texel[0], rows.texel[1]), texel(texels, columns.texel[1], rows.texel[1])};
    Texel result{};
    if (filter_(footprint, footprint_weights(columns.weight, rows.weight, kFullWeight), result)) return result;
    return detail::fetch(view_, sampler_, {x, y, 0, layer});
}

}  // namespace texton::detail

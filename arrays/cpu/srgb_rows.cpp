// Conversion of rows of sRGB texels, with tables.
//
// A table has the float of each code. The opposite direction divides the floats from 2^-13 to 1 into intervals, 128 of each
// power of two. An interval contains at most one step between two codes, so its first code and the position of this step
// give the code of every float in it. Floats below have the code 0. The model computes all entries.
#include "arrays/cpu/srgb_rows.h"

#include <array>
#include <limits>

#include "arrays/cpu/texel_decoder.h"

namespace texton::detail {
namespace {

constexpr std::uint32_t kFirst = 0x39000000;  // bits of 2^-13
constexpr std::uint32_t kEnd = 0x3f800000;    // bits of 1
constexpr int kShift = 16;                    // bits of a float's position in its interval
constexpr std::size_t kIntervals = (kEnd - kFirst) >> kShift;

struct Interval {
    float step;          // from here on, the code is one larger
    std::uint32_t code;  // of the first float
};

Interval interval_from(std::uint32_t first) {
    const std::uint32_t code = srgb_code_of(float_of(first));
    std::uint32_t last = first + (1U << kShift) - 1;
    if (srgb_code_of(float_of(last)) == code) return {std::numeric_limits<float>::infinity(), code};
    while (last - first > 1) {
        const std::uint32_t middle = first + (last - first) / 2;
        (srgb_code_of(float_of(middle)) == code ? first : last) = middle;
    }
    return {float_of(last), code};
}

struct Tables {
    Tables() {
        const TexelDecoder decode = texel_decoder({Encoding::srgb, Packing::plain, 2, 8, 2});
        for (std::size_t code = 0; code < 256; ++code) {
            const auto byte = static_cast<unsigned char>(code);
            const unsigned char texel[] = {byte, byte};
            const Texel decoded = decode(texel);
            colors[code] = float_of(decoded.channel[0]);
            linear[code] = float_of(decoded.channel[1]);
        }
        for (std::uint32_t i = 0; i < intervals.size(); ++i) intervals[i] = interval_from(kFirst + (i << kShift));
    }

    unsigned char code_of(float value) const {
        const float above = value > float_of(kFirst) ? value : float_of(kFirst);  // also for NaN
        const float inside = above < float_of(kEnd - 1) ? above : float_of(kEnd - 1);
        const Interval& interval = intervals[(bits_of(inside) - kFirst) >> kShift];
        return static_cast<unsigned char>(interval.code + (inside >= interval.step ? 1 : 0));
    }

    std::array<float, 256> colors;
    std::array<float, 256> linear;
    std::array<Interval, kIntervals> intervals;
};

const Tables& tables() {
    static const Tables made;
    return made;
}

constexpr bool is_linear(int channels, int channel) { return channels > 1 && channel == channels - 1; }

template <int channels>
void decode_row(const unsigned char* stored, std::size_t count, float* texels) {
    const Tables& of = tables();
    for (std::size_t i = 0; i < count; ++i, stored += channels, texels += 4) {
        for (int c = 0; c < 4; ++c)
            texels[c] = c >= channels ? 0 : is_linear(channels, c) ? of.linear[stored[c]] : of.colors[stored[c]];
    }
}

template <int channels>
void encode_row(const float* pixels, std::size_t count, unsigned char* stored) {
    const Tables& of = tables();
    for (std::size_t i = 0; i < count; ++i, stored += channels, pixels += 4) {
        for (int c = 0; c < channels; ++c)
            stored[c] = is_linear(channels, c) ? static_cast<unsigned char>(unorm_code_of(pixels[c], 255.0F))
                                               : of.code_of(pixels[c]);
    }
}

template <int channels>
void decode_planes(const unsigned char* stored, std::size_t count, float* values, std::size_t apart) {
    const Tables& of = tables();
    for (int c = 0; c < channels; ++c, values += apart) {
        const std::array<float, 256>& table = is_linear(channels, c) ? of.linear : of.colors;
        for (std::size_t i = 0; i < count; ++i) values[i] = table[stored[i * channels + static_cast<std::size_t>(c)]];
    }
}

template <int channels>
void encode_planes(const float* values, std::size_t apart, std::size_t count, unsigned char* stored) {
    const Tables& of = tables();
    for (std::size_t i = 0; i < count; ++i, ++values, stored += channels) {
        for (int c = 0; c < channels; ++c) {
            const float value = values[static_cast<std::size_t>(c) * apart];
            stored[c] =
                is_linear(channels, c) ? static_cast<unsigned char>(unorm_code_of(value, 255.0F)) : of.code_of(value);
        }
    }
}

}  // namespace

RowDecode srgb_row_decoder(std::size_t channels) {
    if (channels == 1) return decode_row<1>;
    return channels == 2 ? decode_row<2> : decode_row<4>;
}

RowEncode srgb_row_encoder(std::size_t channels) {
    if (channels == 1) return encode_row<1>;
    return channels == 2 ? encode_row<2> : encode_row<4>;
}

PlaneDecode srgb_plane_decoder(std::size_t channels) {
    if (channels == 1) return decode_planes<1>;
    return channels == 2 ? decode_planes<2> : decode_planes<4>;
}

PlaneEncode srgb_plane_encoder(std::size_t channels) {
    if (channels == 1) return encode_planes<1>;
    return channels == 2 ? encode_planes<2> : encode_planes<4>;
}

}  // namespace texton::detail

#include "kernels/metrics/texels.h"

#include <algorithm>
#include <cstring>

#include <texton/format.h>

#include "arrays/unit/float_bits.h"
#include "arrays/unit/texel_format.h"
#include "kernels/metrics/code_rows.h"

namespace texton::detail {
namespace {

constexpr std::uint32_t kFloatZero = 0x80000000u, kHalfZero = 0x8000u;

template <class T, class Order>
void ordered(const std::byte* bytes, std::size_t count, std::uint32_t* codes, Order order) {
    for (std::size_t i = 0; i < count; ++i) {
        T stored;
        std::memcpy(&stored, bytes + i * sizeof stored, sizeof stored);
        codes[i] = order(stored);
    }
}

template <class Unsigned>
void ordered_codes(FormatKind kind, const std::byte* bytes, std::size_t count, std::uint32_t* codes) {
    constexpr std::uint32_t kZero = std::uint32_t{1} << (8 * sizeof(Unsigned) - 1);
    constexpr std::uint32_t kAll = kZero - 1 + kZero;
    switch (kind) {
        case FormatKind::uint:
        case FormatKind::unorm:
        case FormatKind::srgb:
            ordered<Unsigned>(bytes, count, codes, [](Unsigned code) { return std::uint32_t{code}; });
            break;
        case FormatKind::sint:
            ordered<Unsigned>(bytes, count, codes, [](Unsigned code) { return (code + kZero) & kAll; });
            break;
        case FormatKind::snorm:
            ordered<Unsigned>(bytes, count, codes,
                              [](Unsigned code) { return std::max<std::uint32_t>((code + kZero) & kAll, 1); });
            break;
        case FormatKind::floating: {
            constexpr std::uint32_t kInfinity = sizeof(Unsigned) == 2 ? 0x7c00u : 0x7f800000u;
            ordered<Unsigned>(bytes, count, codes, [](Unsigned bits) {
                const std::uint32_t magnitude = bits & (kZero - 1);
                const std::uint32_t code = (bits & kZero) != 0 ? kZero - magnitude : kZero + magnitude;
                return magnitude > kInfinity ? kNanCode : code;
            });
            break;
        }
    }
}

// Returns the ordered code of one channel of a packed texel.
std::uint32_t ordered_code(FormatKind kind, std::uint32_t code, int bits) {
    const std::uint32_t zero = std::uint32_t{1} << (bits - 1);
    const std::uint32_t all = zero - 1 + zero;
    switch (kind) {
        case FormatKind::uint:
        case FormatKind::unorm:
        case FormatKind::srgb: break;
        case FormatKind::sint: return (code + zero) & all;
        case FormatKind::snorm: return std::max<std::uint32_t>((code + zero) & all, 1);
        case FormatKind::floating: {
            const std::uint32_t magnitude = code & (zero - 1);
            if (magnitude > 0x7c00u) return kNanCode;
            return (code & zero) != 0 ? zero - magnitude : zero + magnitude;
        }
    }
    return code;
}

double zero_of(FormatKind kind, int bits) {
    const bool is_signed = kind == FormatKind::sint || kind == FormatKind::snorm;
    return is_signed ? std::ldexp(1.0, bits - 1) : 0;
}

}  // namespace

TexelReader::TexelReader(const ConstView& view)
    : data_(view.data()),
      pitch_(view.pitch()),
      slice_pitch_(view.slice_pitch()),
      extent_(view.extent()),
      texel_bytes_(info(view.format()).bytes),
      channels_(info(view.format()).channels),
      bits_(info(view.format()).bits),
      format_(texel_format(view.format())),
      kind_(info(view.format()).kind) {
    for (std::size_t c = 0; c < channels_; ++c) {
        const int bits = channel_bits(view.format(), static_cast<int>(c)).count;
        zero_[c] = zero_of(kind_, bits);
        largest_[c] = static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1);
        const bool normalized = kind_ == FormatKind::unorm || kind_ == FormatKind::srgb || kind_ == FormatKind::snorm;
        if (normalized) divisor_[c] = largest_[c] - zero_[c];
    }
    if (is_packed() && is_float()) bits_ = 16;  // packed floats are read as codes of float16
    if (is_float()) {
        infinity_ = bits_ == 16 ? std::array{kHalfZero - 0x7c00u, kHalfZero + 0x7c00u}
                                : std::array{kFloatZero - 0x7f800000u, kFloatZero + 0x7f800000u};
    }
}

double TexelReader::range() const {
    switch (kind_) {
        case FormatKind::uint:
        case FormatKind::sint: return largest_[0];
        case FormatKind::snorm: return 2;
        case FormatKind::unorm:
        case FormatKind::srgb:
        case FormatKind::floating: return 1;
    }
    return 1;
}

void TexelReader::read(Offset at, std::size_t count, std::uint32_t* codes) const {
    const std::byte* from = bytes(at);
    if (is_packed()) {
        for (std::size_t i = 0; i < count; ++i) {
            std::uint32_t word = 0;
            std::memcpy(&word, from + texel_bytes_ * i, texel_bytes_);
            for (std::size_t c = 0; c < channels_; ++c) {
                const PackedChannel channel = packed_channel(word, format_.packed, static_cast<int>(c));
                codes[channels_ * i + c] = is_float()
                                               ? ordered_code(kind_, static_cast<std::uint32_t>(channel.wide), 16)
                                               : ordered_code(kind_, channel.code, channel.bits);
            }
        }
        return;
    }
    switch (bits_) {
        case 8: return ordered_codes<std::uint8_t>(kind_, from, count * channels_, codes);
        case 16: return ordered_codes<std::uint16_t>(kind_, from, count * channels_, codes);
        default: return ordered_codes<std::uint32_t>(kind_, from, count * channels_, codes);
    }
}

void TexelReader::read_finite(const std::uint32_t* codes, std::size_t count, std::size_t channel, double scale,
                              float* values) const {
    if (is_float()) {
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint32_t code = codes[i * channels_ + channel];
            const double value = is_finite(code) ? float_of_code(code) * scale : 0;
            values[i] = static_cast<float>(std::clamp(value, -kFarOut, kFarOut));
        }
    } else if (bits_ == 32) {
        for (std::size_t i = 0; i < count; ++i)
            values[i] = static_cast<float>((codes[i * channels_ + channel] - zero_[channel]) * scale);
    } else {
        values_of_codes(codes, channels_, channel, static_cast<std::int32_t>(zero_[channel]),
                        static_cast<float>(scale / divisor_[channel]), count, values);
    }
}

float TexelReader::float_of_code(std::uint32_t code) const {
    const std::uint32_t zero = bits_ == 16 ? kHalfZero : kFloatZero;
    const std::uint32_t magnitude = code < zero ? zero - code : code - zero;
    const std::uint32_t sign = code < zero ? 0x80000000u : 0;
    if (bits_ == 32) return float_of(sign | magnitude);
    if (magnitude == 0x7c00u) return float_of(sign | 0x7f800000u);
    // The exponent of a float16 is biased by 15, that of a float by 127: 112 more. The product is exact, also for
    // denormals.
    return float_of(sign | magnitude << 13) * 0x1p112f;
}

}  // namespace texton::detail

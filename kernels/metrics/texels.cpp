#include "kernels/metrics/texels.h"

#include <algorithm>
#include <cstring>

#include <texton/format.h>

#include "arrays/unit/float_bits.h"

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
      packed_(info(view.format()).layout == FormatLayout::packed),
      kind_(info(view.format()).kind),
      zero_(zero_of(kind_, bits_)) {
    for (std::size_t c = 0; c < channels_; ++c) {
        const int bits = packed_ && c == 3 ? 2 : bits_;
        largest_[c] = static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1);
        const bool normalized = kind_ == FormatKind::unorm || kind_ == FormatKind::srgb || kind_ == FormatKind::snorm;
        if (normalized) divisor_[c] = largest_[c] - zero_;
    }
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
    if (packed_) {
        for (std::size_t i = 0; i < count; ++i) {
            std::uint32_t word;
            std::memcpy(&word, from + 4 * i, 4);
            for (std::size_t c = 0; c < 4; ++c) codes[4 * i + c] = word >> (10 * c) & largest_[c];
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
            values[i] = static_cast<float>((codes[i * channels_ + channel] - zero_) * scale);
    } else {
        const auto zero = static_cast<std::int32_t>(zero_);
        const auto factor = static_cast<float>(scale / divisor_[channel]);
        for (std::size_t i = 0; i < count; ++i) {
            const auto code = static_cast<std::int32_t>(codes[i * channels_ + channel]);
            values[i] = static_cast<float>(code - zero) * factor;
        }
    }
}

float TexelReader::float_of_code(std::uint32_t code) const {
    const std::uint32_t zero = bits_ == 16 ? kHalfZero : kFloatZero;
    const std::uint32_t magnitude = code < zero ? zero - code : code - zero;
    const std::uint32_t sign = code < zero ? 0x80000000u : 0;
    if (bits_ == 32) return float_of(sign | magnitude);
    if (magnitude == 0x7c00u) return float_of(sign | 0x7f800000u);
    // A float16's exponent is 112 less; the product is exact, for denormals as well.
    return float_of(sign | magnitude << 13) * 0x1p112f;
}

}  // namespace texton::detail

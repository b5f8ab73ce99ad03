// Ordered codes of channels, and their values, on all devices.
//
// An ordered code is unsigned, has the order of the values of the format, and consecutive values have consecutive
// codes. So the ulp distance is a difference of codes, and one comparison serves all formats.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <texton/format.h>
#include <texton/metrics.h>
#include <texton/packed_texel.h>
#include <texton/pixel_encode.h>

namespace texton::detail {

/// The code of every NaN of a float format. No number has this code.
inline constexpr std::uint32_t kNanCode = UINT32_MAX;

/// Largest magnitude that CodeFormat::finite_value() returns for float formats.
inline constexpr double kFarOut = 1e9;

/// Returns the ordered code of the bits of a channel.
TEXTON_HD inline std::uint32_t ordered_code(FormatKind kind, std::uint32_t stored, int bits) {
    const std::uint32_t zero = std::uint32_t{1} << (bits - 1);
    const std::uint32_t all = zero - 1 + zero;
    switch (kind) {
        case FormatKind::uint:
        case FormatKind::unorm:
        case FormatKind::srgb: break;
        case FormatKind::sint: return (stored + zero) & all;
        case FormatKind::snorm: {
            const std::uint32_t code = (stored + zero) & all;
            return code == 0 ? 1 : code;  // both codes of -1
        }
        case FormatKind::floating: {
            const std::uint32_t magnitude = stored & (zero - 1);
            if (magnitude > (bits == 16 ? 0x7c00u : 0x7f800000u)) return kNanCode;
            return (stored & zero) != 0 ? zero - magnitude : zero + magnitude;
        }
    }
    return stored;
}

/// Returns the value of a code with 16 or 32 bits of a float format. Not for kNanCode.
TEXTON_HD inline float float_of_code(std::uint32_t code, int bits) {
    const std::uint32_t zero = bits == 16 ? 0x8000u : 0x80000000u;
    const std::uint32_t magnitude = code < zero ? zero - code : code - zero;
    const std::uint32_t sign = code < zero ? 0x80000000u : 0;
    if (bits == 32) return float_of(sign | magnitude);
    if (magnitude == 0x7c00u) return float_of(sign | 0x7f800000u);
    // The exponent of a float16 is biased by 15, that of a float by 127: 112 more. The product is exact, also for
    // denormals.
    return float_of(sign | magnitude << 13) * 0x1p112f;
}

/// The codes of a plain or packed format. Trivially copyable, so that it can be an argument of a CUDA kernel.
class CodeFormat {
public:
    explicit CodeFormat(Format format);

    TEXTON_HD std::size_t channels() const { return channels_; }
    TEXTON_HD std::size_t texel_bytes() const { return texel_bytes_; }
    TEXTON_HD int bits() const { return bits_; }  ///< of the codes; packed floats have codes of float16
    TEXTON_HD FormatKind kind() const { return kind_; }
    TEXTON_HD bool is_packed() const { return is_packed_; }
    TEXTON_HD bool is_float() const { return kind_ == FormatKind::floating; }
    /// Returns true if the codes of all channels have at most 16 bits and are not those of a float format.
    TEXTON_HD bool has_short_codes() const { return !is_float() && bits_ <= 16; }
    /// Returns the largest code of a channel. Not for float formats.
    TEXTON_HD std::uint32_t largest(std::size_t channel) const { return largest_[channel]; }
    /// Returns the largest value minus the smallest value of the format; 1 for float formats.
    double range() const;

    /// Returns the code of a channel of a texel. Its address must be a multiple of the size of a channel, or of the
    /// word of a packed format.
    TEXTON_HD std::uint32_t code(const std::byte* texel, std::size_t channel) const {
        if (is_packed_) {
            const std::uint32_t word = texel_bytes_ == 4 ? read<std::uint32_t>(texel) : read<std::uint16_t>(texel);
            const PackedChannel packed = packed_channel(word, packing_, static_cast<int>(channel));
            return is_float() ? ordered_code(kind_, static_cast<std::uint32_t>(packed.wide), 16)
                              : ordered_code(kind_, packed.code, packed.bits);
        }
        switch (bits_) {
            case 8: return ordered_code(kind_, read<std::uint8_t>(texel + channel), 8);
            case 16: return ordered_code(kind_, read<std::uint16_t>(texel + 2 * channel), 16);
            default: return ordered_code(kind_, read<std::uint32_t>(texel + 4 * channel), 32);
        }
    }

    TEXTON_HD double value(std::uint32_t code, std::size_t channel) const {
        if (!is_float()) return (code - zero_[channel]) / divisor_[channel];
        return static_cast<double>(code == kNanCode ? float_of(0x7fc00000u) : float_of_code(code, bits_));
    }
    /// Returns the number of codes in a range of values of length 1. Not for float formats.
    TEXTON_HD double divisor(std::size_t channel) const { return divisor_[channel]; }
    TEXTON_HD double zero(std::size_t channel) const {
        return zero_[channel];
    }  ///< Returns the code of 0, except of floats.
    TEXTON_HD bool is_finite(std::uint32_t code) const {
        return !is_float() || (code != kNanCode && !is_infinite(code));
    }
    TEXTON_HD bool is_infinite(std::uint32_t code) const { return code == infinity_[0] || code == infinity_[1]; }

    /// Returns the ulp distance of two codes.
    TEXTON_HD std::uint32_t distance(std::uint32_t a, std::uint32_t b) const {
        if (is_float() && a != b && (a == kNanCode || b == kNanCode)) return kFarthest;
        return a < b ? b - a : a - b;
    }
    /// Returns the absolute difference of two values with this ulp distance, in codes unless the format is a float
    /// format. It is infinite if NaN or infinity is compared with another value.
    TEXTON_HD double difference(std::uint32_t a, std::uint32_t b, std::size_t channel, std::uint32_t ulp) const {
        if (!is_float()) return ulp;
        if (ulp == 0) return 0;
        if (!is_finite(a) || !is_finite(b)) return static_cast<double>(float_of(0x7f800000u));
        const double difference = value(a, channel) - value(b, channel);
        return difference < 0 ? -difference : difference;
    }

    /// Returns the factor that finite_value() needs.
    TEXTON_HD float factor(std::size_t channel, double scale) const {
        return static_cast<float>(scale / divisor_[channel]);
    }
    /// Returns the value of a code multiplied by `scale`. For float formats, values that are not finite become 0, and
    /// products are clamped to +-kFarOut, so that the product of four values stays finite.
    TEXTON_HD float finite_value(std::uint32_t code, std::size_t channel, double scale, float factor) const {
        if (has_short_codes())
            return static_cast<float>(static_cast<std::int32_t>(code) - static_cast<std::int32_t>(zero_[channel])) *
                   factor;
        if (!is_float()) return static_cast<float>((code - zero_[channel]) * scale);
        const double value = is_finite(code) ? static_cast<double>(float_of_code(code, bits_)) * scale : 0;
        return static_cast<float>(value < -kFarOut ? -kFarOut : value > kFarOut ? kFarOut : value);
    }

private:
    template <class T>
    TEXTON_HD static std::uint32_t read(const std::byte* from) {
#ifdef __CUDA_ARCH__
        return *reinterpret_cast<const T*>(from);
#else
        T stored;
        std::memcpy(&stored, from, sizeof stored);
        return stored;
#endif
    }

    FormatKind kind_;
    Packed packing_{};
    bool is_packed_;
    int bits_;
    std::size_t channels_;
    std::size_t texel_bytes_;
    double zero_[4] = {};
    double divisor_[4] = {1, 1, 1, 1};
    std::uint32_t largest_[4] = {};
    std::uint32_t infinity_[2] = {};  // codes of -infinity and infinity; of float formats only
};

}  // namespace texton::detail

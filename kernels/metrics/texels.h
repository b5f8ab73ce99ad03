// Reads texels in host memory as ordered codes, and converts codes to values.
//
// An ordered code is unsigned, has the order of the values of the format, and consecutive values have consecutive
// codes. So the ulp distance is a difference of codes, and one comparison serves all formats. `zero` is the code of the
// value 0.
#pragma once
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <texton/metrics.h>
#include <texton/pixel_encode.h>

namespace texton::detail {

/// The code of every NaN of a float format. No number has this code.
inline constexpr std::uint32_t kNanCode = UINT32_MAX;

/// Largest magnitude that read_finite() returns for float formats.
inline constexpr double kFarOut = 1e9;

class TexelReader {
public:
    /// Expects a view of host memory with a plain or packed format.
    explicit TexelReader(const ConstView& view);

    std::size_t channels() const { return channels_; }
    Extent extent() const { return extent_; }
    bool is_float() const { return kind_ == FormatKind::floating; }
    /// Returns the largest code of a channel. Not for float formats.
    std::uint32_t largest(std::size_t channel) const { return largest_[channel]; }
    /// Returns the largest value minus the smallest value of the format; 1 for float formats.
    double range() const;

    /// Returns the address of the texel at `at`. The texels to its right follow.
    const std::byte* bytes(Offset at) const {
        return data_ + at.z * slice_pitch_ + at.y * pitch_ + at.x * texel_bytes_;
    }
    std::size_t texel_bytes() const { return texel_bytes_; }

    /// Writes the codes of `count` texels, with the channels of each texel together.
    void read(Offset at, std::size_t count, std::uint32_t* codes) const;

    double value(std::uint32_t code, std::size_t channel) const {
        if (!is_float()) return (code - zero_[channel]) / divisor_[channel];
        return code == kNanCode ? std::numeric_limits<double>::quiet_NaN() : double{float_of_code(code)};
    }
    /// Returns the number of codes in a range of values of length 1. Not for float formats.
    double divisor(std::size_t channel) const { return divisor_[channel]; }
    bool is_finite(std::uint32_t code) const { return !is_float() || (code != kNanCode && !is_infinite(code)); }
    bool is_infinite(std::uint32_t code) const { return code == infinity_[0] || code == infinity_[1]; }

    /// Writes the values of one channel of `count` texels, multiplied by `scale`. For float formats, values that are
    /// not finite become 0, and products are clamped to +-kFarOut, so that the product of four values stays finite.
    void read_finite(const std::uint32_t* codes, std::size_t count, std::size_t channel, double scale,
                     float* values) const;

    /// Returns the ulp distance of two codes.
    std::uint32_t distance(std::uint32_t a, std::uint32_t b) const {
        if (is_float() && a != b && (a == kNanCode || b == kNanCode)) return kFarthest;
        return a < b ? b - a : a - b;
    }

private:
    bool is_packed() const { return format_.packing == Packing::packed; }
    float float_of_code(std::uint32_t code) const;

    const std::byte* data_;
    std::size_t pitch_;
    std::size_t slice_pitch_;
    Extent extent_;
    std::size_t texel_bytes_;
    std::size_t channels_;
    int bits_;
    TexelFormat format_;
    FormatKind kind_;
    std::array<double, 4> zero_{};
    std::array<double, 4> divisor_{1, 1, 1, 1};
    std::array<std::uint32_t, 4> largest_{};
    std::array<std::uint32_t, 2> infinity_{};  // codes of -infinity and infinity; of float formats only
};

}  // namespace texton::detail

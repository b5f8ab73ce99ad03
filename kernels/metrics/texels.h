// texels.h: texels in host memory as ordered codes, and what codes read as.
//
// The codes of a format are ordered as their values are, a step apart, and unsigned: the ulp distance is a difference, and all
// formats have one comparison. `zero` is the code of 0.
#pragma once
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <texton/metrics.h>
#include <texton/pixel_encode.h>

namespace texton::detail {

/// The code of all NaNs of a float format; no number has it.
inline constexpr std::uint32_t kNanCode = UINT32_MAX;

inline constexpr double kFarOut = 1e9;

class TexelReader {
public:
    /// `view` is of a plain or packed format, in host memory.
    explicit TexelReader(const ConstView& view);

    std::size_t channels() const { return channels_; }
    Extent extent() const { return extent_; }
    bool is_float() const { return kind_ == FormatKind::floating; }
    /// The largest code, of a format that is no float's.
    std::uint32_t largest(std::size_t channel) const { return largest_[channel]; }
    /// Largest less smallest value; 1 of floats.
    double range() const;

    /// The bytes of the texels from `at` to the right.
    const std::byte* bytes(Offset at) const {
        return data_ + at.z * slice_pitch_ + at.y * pitch_ + at.x * texel_bytes_;
    }
    std::size_t texel_bytes() const { return texel_bytes_; }

    /// The codes of `count` texels, channel by channel.
    void read(Offset at, std::size_t count, std::uint32_t* codes) const;

    double value(std::uint32_t code, std::size_t channel) const {
        if (!is_float()) return (code - zero_[channel]) / divisor_[channel];
        return code == kNanCode ? std::numeric_limits<double>::quiet_NaN() : double{float_of_code(code)};
    }
    /// Codes to a step of 1, of a format that is no float's.
    double divisor(std::size_t channel) const { return divisor_[channel]; }
    bool is_finite(std::uint32_t code) const { return !is_float() || (code != kNanCode && !is_infinite(code)); }
    bool is_infinite(std::uint32_t code) const { return code == infinity_[0] || code == infinity_[1]; }

    /// What `count` texels read as in a channel, times `scale`: what is not finite as 0, what is beyond
    /// kFarOut as that, so that products of four stay finite.
    void read_finite(const std::uint32_t* codes, std::size_t count, std::size_t channel, double scale,
                     float* values) const;

    /// How far two codes lie apart.
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
    std::array<std::uint32_t, 2> infinity_{};  // of float formats
};

}  // namespace texton::detail

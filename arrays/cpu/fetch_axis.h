#pragma once
#include <cstdint>

#include "arrays/unit/footprint.h"
#include "arrays/unit/texture_address.h"
#include "arrays/unit/texture_view.h"

namespace texton::detail {

/// An axis of a level with the constants of scale_coordinate(), which are the same for all fetches. Its functions
/// require the default floating-point environment.
class FetchAxis {
public:
    FetchAxis() = default;
    FetchAxis(std::int32_t size, AxisKind kind, const Sampler& sampler, int axis)
        : size_(size), mode_(sampler.address[axis]), kind_(kind), normalized_(sampler.normalized_coordinates) {
        const int fraction_bits = normalized_ ? coordinate_fraction_bits(size, kind) : 9;
        // Coordinates below these limits do not saturate.
        quick_end_ = bits_of(normalized_ ? 0x1p10f : 0x1p20f);
        steps_ = static_cast<double>(std::int64_t{1} << fraction_bits);
        const AddressRule rule = address_rule(mode_);
        mask_ = normalized_ && rule.repeats() ? (std::int64_t{rule.period} << fraction_bits) - 1 : -1;
        shift_ = fraction_bits - 9;
    }

    /// Returns linear_taps() of a coordinate.
    AxisTaps linear(float coordinate, std::int32_t shift = 0) const {
        const std::int64_t scale = scaled(coordinate);
        const std::int64_t fixed = linear_position(scale, shift);
        const std::int64_t first = fixed >> 8;
        if (first >= 0 && first + 1 < size_) {
            const auto texel = static_cast<std::int32_t>(first);
            return {{texel, texel + 1}, static_cast<std::int32_t>(fixed & 255)};
        }
        return linear_taps(scale, size_, mode_, Split::fixed_point, shift);
    }
    /// Returns the texel of point_taps() of a coordinate.
    std::int32_t nearest(float coordinate, std::int32_t shift = 0) const {
        const std::int64_t texel = (scaled(coordinate) + 2 * shift) >> 9;
        const bool inside = static_cast<std::uint64_t>(texel) < static_cast<std::uint64_t>(size_);
        return inside ? static_cast<std::int32_t>(texel) : address_texel(texel, size_, mode_);
    }

private:
    // Returns the result of scale_coordinate().
    std::int64_t scaled(float coordinate) const {
        constexpr std::uint32_t kSmallest = 0x00800000;  // the model reads smaller magnitudes as 0
        if ((bits_of(coordinate) & 0x7fffffffu) - kSmallest >= quick_end_ - kSmallest)
            return scale_coordinate(coordinate, size_, normalized_, mode_, kind_);
        const double product = static_cast<double>(coordinate) * steps_;  // exact
        auto step = static_cast<std::int64_t>(product);
        if (product < static_cast<double>(step)) --step;
        return normalized_ ? ((step & mask_) * size_) >> shift_ : step;
    }

    std::int32_t size_ = 0;
    AddressMode mode_ = AddressMode::clamp;
    AxisKind kind_ = AxisKind::ordinary;
    bool normalized_ = false;
    std::uint32_t quick_end_ = 0;  // bits of the magnitude from which the model scales a coordinate
    double steps_ = 0;             // steps per unit of the coordinate
    std::int64_t mask_ = 0;        // keeps the steps of a period, or all bits
    int shift_ = 0;                // from steps * size to 1/512 of a texel
};

}  // namespace texton::detail

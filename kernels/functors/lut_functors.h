#pragma once
// Coordinates in lookup tables, and the functor of 1D tables.
#include <cstdint>

#include <texton/float_math.h>
#include <texton/lut.h>
#include <texton/pixel.h>

#include "kernels/functors/pointwise.h"

namespace texton::lut {

/// Converts values to entries of a table along one axis. NaN is converted to the entry of the low end.
struct LutAxis {
    float low;
    float high;
    float scale;  // entries per unit of value
    float last;   // index of the last entry

    TEXTON_HD float inside(float value) const { return value > low ? (value < high ? value : high) : low; }
    TEXTON_HD float entry(float value) const { return (inside(value) - low) * scale; }
};

/// The same for entries that are evenly spaced within each octave of value + offset. The bits of positive floats are
/// such a scale.
struct OctaveAxis {
    LutAxis axis;  // its scale is in entries per step of the bits
    float offset;
    std::uint32_t first;  // bits of the low end

    TEXTON_HD float entry(float value) const {
        const std::uint32_t bits = detail::bits_of(axis.inside(value) + offset);
        return static_cast<float>(bits - first) * axis.scale;
    }
};

/// The two entries that enclose a value, and the weight of the second, 0 to 1. At the last entry, both
/// are that entry.
struct Cell {
    float first;
    float second;
    float share;

    TEXTON_HD Cell(const LutAxis& axis, float value) : Cell(axis.entry(value), axis.last) {}
    TEXTON_HD Cell(const OctaveAxis& axis, float value) : Cell(axis.entry(value), axis.axis.last) {}

private:
    TEXTON_HD Cell(float position, float last) {
        first = floorf(position);
        second = first < last ? first + 1.0f : last;
        share = position - first;
    }
};

/// A color's channels are looked up one by one.
struct Lut1d {
    static constexpr bool kMayBeCalledWithZeros = true;
    static constexpr bool kPointwiseWithTables = true;
    static constexpr bool kByChannel = true;
    detail::PointwiseTexel texel;
    LutAxis axis[3];
    LutFilter filter;
    bool shared;

    template <class Table>
    TEXTON_HD Float4 entry(const Table& table, int channel, float value) const {
        if (filter == LutFilter::hardware) return table.at_texel(axis[channel].entry(value) + 0.5f);
        const Cell cell(axis[channel], value);
        return mix(table.at_texel(cell.first + 0.5f), table.at_texel(cell.second + 0.5f), cell.share);
    }
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source, const Source& table) const {
        const Float4 color = texel(at, source);
        const Float4 red = entry(table, 0, color.x);
        const Float4 green = entry(table, 1, color.y);
        const Float4 blue = entry(table, 2, color.z);
        return {red.x, shared ? green.x : green.y, shared ? blue.x : blue.z, color.w};
    }
};

}  // namespace texton::lut

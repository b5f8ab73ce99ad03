#pragma once
// Differences of two images per texel and channel.
#include <memory>
#include <span>

#include "viewer/render/display.h"
#include "viewer/render/stored_texels.h"

namespace texton::viewer {

/// The unit of ulp differences: code values of integer and normalized formats, or representable half or float values.
enum class Steps : std::uint8_t { codes, srgb_codes, halves, floats };

/// Computes the differences of values. Immutable: several threads may use it at once.
class Differences {
public:
    /// Creates the computation for values of two formats. If `stored` is true, the values are unfiltered texels.
    /// Otherwise, or if the formats differ, the unit of ulp differences is that of float32.
    Differences(CompareMode mode, Format shown, Format against, bool stored);

    /// Returns how the differences must be displayed.
    const Meaning& meaning() const noexcept { return meaning_; }
    /// Replaces the values of `shown` by their differences from `against`. NaN equals NaN, and infinities of the same
    /// sign are equal. Other differences with NaN or infinity are NaN. In CompareMode::ulp, NaN has the maximum
    /// distance from any number.
    void apply(std::span<Color> shown, std::span<const Color> against) const;

private:
    float difference(float shown, float against, std::size_t channel) const;
    double step_of(float value, std::size_t channel) const;

    CompareMode mode_;
    Meaning meaning_;
    float shown_unit_;
    float against_unit_;
    std::size_t channels_;
    Steps steps_ = Steps::floats;
    std::size_t linear_ = 3;         // sRGB: index of the channel without transfer curve, if there are two or four
    std::array<double, 4> codes_{};  // maximum code value of each channel
};

/// Rows of the differences between two sources of rows, which must outlive the object.
class DifferingTexels : public TexelRows {
public:
    DifferingTexels(const TexelRows& shown, const TexelRows& against, const Differences& differences)
        : shown_(shown), against_(against), differences_(differences) {}
    void read(const TexelBox& box, std::span<Color> out) const override;

private:
    const TexelRows& shown_;
    const TexelRows& against_;
    const Differences& differences_;
};

}  // namespace texton::viewer

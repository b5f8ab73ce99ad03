#pragma once
// What two pictures differ by, value by value.
#include <memory>
#include <span>

#include "viewer/render/display.h"
#include "viewer/render/stored_texels.h"

namespace texton::viewer {

/// Neighbouring values of a channel are a step apart: codes of integers and normalized formats, else floats.
enum class Steps : std::uint8_t { codes, srgb_codes, halves, floats };

class Differences {
public:
    /// `stored`: the values are texels as they are, not filtered; else steps are those of float32.
    Differences(CompareMode mode, Format shown, Format against, bool stored);

    const Meaning& meaning() const noexcept { return meaning_; }
    /// `shown` becomes what it differs by. NaNs are equal, and so are infinities of the same sign; else what is no number differs
    /// by NaN.
    void apply(std::span<Colour> shown, std::span<const Colour> against) const;

private:
    float difference(float shown, float against, std::size_t channel) const;
    double step_of(float value, std::size_t channel) const;

    CompareMode mode_;
    Meaning meaning_;
    float shown_unit_;
    float against_unit_;
    std::size_t channels_;
    Steps steps_ = Steps::floats;
    std::size_t linear_ = 3;         // of sRGB: the last of two or four channels has no curve
    std::array<double, 4> codes_{};  // the largest of each channel
};

/// Texels of one picture that became what they differ by from another's.
class DifferingTexels : public TexelRows {
public:
    DifferingTexels(const TexelRows& shown, const TexelRows& against, const Differences& differences)
        : shown_(shown), against_(against), differences_(differences) {}
    void read(const TexelBox& box, std::span<Colour> out) const override;

private:
    const TexelRows& shown_;
    const TexelRows& against_;
    const Differences& differences_;
};

}  // namespace texton::viewer

#pragma once
#include <array>
#include <string>
#include <vector>

#include "viewer/render/file_colors.h"

namespace texton::viewer {

/// A profile of RGB with a matrix and curves: light = curve(code), XYZ = matrix * light.
struct RgbProfile {
    /// Light of the codes i / (size - 1) of red, green and blue. All have the same size.
    std::array<std::vector<float>, 3> curves;
    /// Colors of red, green and blue as CIE XYZ with the white point D50.
    std::array<std::array<double, 3>, 3> colorants{};
};

/// Reads a profile. Sets `problem`, which is the predicate of a sentence, if the profile cannot be used.
[[nodiscard]] RgbProfile rgb_profile(const IccProfile& profile, std::string& problem);

}  // namespace texton::viewer

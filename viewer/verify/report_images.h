#pragma once
// Images of a report as a browser displays them.
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <texton/view.h>

#include "viewer/model/host_image.h"

namespace texton::verify {

/// An image of rgba8_unorm texels with one slice.
struct ShownImage {
    Extent extent;
    std::vector<std::byte> texels;
};

/// Values of an image from 0 to 1, four for each texel, as they are displayed. Integers are divided by their range,
/// floats are linear light, and images of one channel become gray. Alpha is kept in the fourth value and is not
/// multiplied with the colors.
[[nodiscard]] std::vector<float> shown_values(const HostImage& image);

/// Returns the size of an image in which all slices are below each other.
[[nodiscard]] Extent flat(const Extent& extent) noexcept;

/// Returns an opaque image of displayed values.
[[nodiscard]] ShownImage opaque(Extent extent, const std::vector<float>& values);

/// Amplified differences of displayed values.
struct AmplifiedDifference {
    ShownImage image;
    float factor = 1;  ///< the largest difference times the factor is the maximum of a channel
};
/// Returns the absolute differences. A difference of alpha is added to all three colors, and so appears gray.
[[nodiscard]] AmplifiedDifference amplified_difference(Extent extent, const std::vector<float>& a,
                                                       const std::vector<float>& b);

/// How several texels become one.
enum class Reduction : std::uint8_t { mean, brightest };
/// Returns an image whose sides are divided by `factor` and rounded up. With Reduction::brightest, a single bright
/// texel of a map stays visible.
[[nodiscard]] ShownImage reduced(const ShownImage& image, std::size_t factor, Reduction reduction);
/// Returns a part of an image. The region must be inside of it.
[[nodiscard]] ShownImage cropped(const ShownImage& image, const Region& region);

/// Writes the image to a PNG file. Throws Error{io} if that fails.
void write_png(const std::filesystem::path& path, const ShownImage& image);
/// Returns the contents of a file as a URL: "data:image/png;base64,...".
[[nodiscard]] std::string data_url(const std::filesystem::path& png);

}  // namespace texton::verify

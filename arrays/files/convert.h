#pragma once
// Image files that compute new texels: format conversion, and cube faces from equirectangular images. Rearrangement of
// unchanged texels is in layout.h.
#include <optional>

#include "arrays/files/source.h"

namespace texton::detail {

/// How texels of one format are converted to another. Block-compressed texels are decoded before.
enum class Conversion : std::uint8_t {
    none,       ///< the bits of each channel are kept; the number of channels may change
    values,     ///< the numeric values are kept within the range of the target
    impossible  ///< not supported
};
/// Returns the conversion from one format to another.
[[nodiscard]] Conversion conversion(Format from, Format to) noexcept;

/// Returns the sRGB or the unorm variant of a format. Returns the format unchanged if it has no such variant.
[[nodiscard]] Format with_srgb(Format format, bool srgb) noexcept;

/// Appends a sentence if the color values of a file are not what the texture unit returns for the format. `srgb`: the
/// values are sRGB-encoded; `space` is the color space that the file specifies.
void describe_colors(Format format, bool srgb, ImageColor color, const std::string& space,
                     std::vector<std::string>& sentences);

/// Returns the file converted to the format `to`, whose blocks are decoded with `decoding`. If `has_alpha` is true, the
/// second of two channels is alpha, and the first one is gray, which becomes red, green and blue. Appends a description
/// of the conversion to `sentences`. Throws Error{unsupported}, which contains `name`, if the conversion is impossible.
[[nodiscard]] ImageSourcePtr converted(ImageSourcePtr file, Format to, BlockDecoding decoding, bool has_alpha,
                                       const std::string& name, std::vector<std::string>& sentences);

/// Returns six slices, the cube faces that are resampled from an equirectangular image. `side` is the width of a face;
/// 0 means a quarter of the image's width. Throws Error{unsupported}, which contains `name`, if the channels of the
/// format are not numbers (see has_values()).
[[nodiscard]] ImageSourcePtr faces_around(ImageSourcePtr image, CubeLayout layout, std::size_t side,
                                          const std::string& name);

}  // namespace texton::detail

#pragma once
// Pictures in another format, and faces from equirectangular ones: what changes texels and not only their place.
#include <optional>

#include "arrays/files/source.h"

namespace texton::detail {

/// How texels of one format become another.
enum class Conversion : std::uint8_t {
    none,    ///< the bits of each channel stay; there may be more channels, or fewer
    values,  ///< the numbers stay, as far as they fit
    impossible
};
[[nodiscard]] Conversion conversion(Format from, Format to) noexcept;

/// The format that reads the same bits as sRGB or not; the same one if there is none.
[[nodiscard]] Format with_srgb(Format format, bool srgb) noexcept;

/// Error{unsupported}, naming `name`, if there is no conversion. `has_alpha`: the last of two channels is alpha, so
/// that grey becomes red, green and blue. Adds to `sentences` what is done.
[[nodiscard]] PictureFilePtr converted(PictureFilePtr file, Format to, bool has_alpha, const std::string& name,
                                       std::vector<std::string>& sentences);

/// Six slices with that side, or a quarter of the width if it is 0, from an equirectangular picture.
[[nodiscard]] PictureFilePtr faces_around(PictureFilePtr picture, CubeLayout layout, std::size_t side,
                                          const std::string& name);

}  // namespace texton::detail

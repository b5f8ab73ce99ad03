#pragma once
// Whether a part of an image is within its limits.
#include <string>
#include <vector>

#include "viewer/verify/image_difference.h"

namespace texton::verify {

/// A part of an image and of its reference. Texels and channels that are not compared are equal in both.
struct ComparedPart {
    const HostImage& expected;
    const HostImage& actual;
    const ImageDifference& difference;         ///< of the two; `exceeded` is not read
    const std::vector<bool>& excluded;         ///< true for each texel that is not compared; empty if there is none
    const std::vector<std::size_t>& channels;  ///< indices of the channels that are compared
    const HostImage& image;                    ///< the whole image, to which maps belong
    Offset offset;                             ///< of the part in the image
    const std::string& where;                  ///< position in the suite, for messages
};

/// Returns the limits that are exceeded, with the values that were found; empty if the tolerance is met.
///
/// Throws Error{bad_argument}, with the position in the suite and the key, if a map has another size or other channels
/// than the image, or if one of its values is NaN or negative. Throws the errors of read_images() for the file of the
/// map.
[[nodiscard]] std::string exceeded_limits(const Tolerance& tolerance, const ComparedPart& part);

}  // namespace texton::verify

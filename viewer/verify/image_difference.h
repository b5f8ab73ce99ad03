#pragma once
// Comparison of an image with its reference under the criteria of a case.
#include <cstddef>
#include <string>

#include <texton/metrics.h>

#include "viewer/model/host_image.h"
#include "viewer/verify/criteria.h"

namespace texton::verify {

/// The difference of an image from its reference.
struct ImageDifference {
    /// Of the compared texels. Values of `comparison.all` that are combined of channels or texels ignore the others.
    Comparison comparison;
    std::size_t texels = 0;        ///< number of compared texels
    std::size_t changed_bits = 0;  ///< number of compared texels whose stored bits differ
    std::string exceeded;          ///< the limits that are exceeded, with the values that were found; empty if none
};

/// Returns how the size, the format or the channels of an image differ from its reference; empty if they are equal.
[[nodiscard]] std::string other_shape(const HostImage& expected, const HostImage& actual);

/// Returns `actual` with the texels and channels of `expected` where these are not compared. Both have the same shape.
///
/// Throws Error{bad_argument}, with the position in the suite and the key, if the mask has another size, if a rectangle
/// reaches beyond the image, if the mask is an alpha that the image lacks, or if no texel or no channel is left to
/// compare. Throws the errors of read_images() for the file of the mask.
[[nodiscard]] HostImage compared_image(const HostImage& expected, const HostImage& actual, const Criteria& criteria);

/// Compares images of the same shape. Throws the errors of compared_image(), those of exceeded_limits(), and
/// Error{bad_argument} if a region reaches beyond the image or has no texel to compare.
[[nodiscard]] ImageDifference difference_of(const HostImage& expected, const HostImage& actual,
                                            const Criteria& criteria);

/// Returns what an image does not meet that is equal to its reference: values that `special` refuses. Throws the errors
/// of difference_of(), so that a mask of another size is an error also for equal images.
[[nodiscard]] std::string exceeded_by_equal(const HostImage& image, const Criteria& criteria);

}  // namespace texton::verify

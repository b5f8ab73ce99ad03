#pragma once
#include <string>
#include <vector>

#include <texton/metrics.h>

#include "viewer/render/render.h"

namespace texton::viewer {

/// Result of comparing the displayed image with a reference.
struct RegionComparison {
    Comparison comparison{};         ///< a is the reference, b is the displayed image
    SubresourceIndex subresource{};  ///< the compared level, layer, face and slice
    Extent extent{};                 ///< size that both images have in common; for samplers the size of the fetch grid
    std::string note{};              ///< limits of the comparison, for display; empty if there are none
    std::vector<Position> worst{};   ///< positions of comparison.worst in texels of the image's files
};

/// Compares the scene's image with its reference at the subresource of the session. Stored values are compared, sRGB as code
/// values; block-compressed texels are decoded first. Only the common size is compared.
///
/// Throws
/// - Error{bad_argument} if an image is missing, or if the scene compares two samplers (see compare_samplers()),
/// - Error{unsupported} if the images are reduced by different factors on their devices,
/// - the errors of Document::texels(), copy() and compare().
[[nodiscard]] RegionComparison compare_region(const Scene& scene, const ComparisonOptions& options = {});

/// Returns a description of one of the worst texels, for example "(3, 4): 12 ulp, 0.047".
[[nodiscard]] std::string worst_text(const RegionComparison& found, std::size_t index);

}  // namespace texton::viewer

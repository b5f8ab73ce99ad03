#pragma once
#include <optional>
#include <vector>

#include "viewer/verify/suite.h"

namespace texton::verify {

/// A texel that a kernel reads for a pixel, and its weight in the sum.
struct Tap {
    Offset at;
    double weight = 0;
    bool operator==(const Tap&) const = default;
};

/// Returns, for each of the pixels, the texels that contribute to it, by descending magnitude of the weight.
///
/// `image` is the index of the kernel's image that contains the pixels. The result of a pixel is nullopt if
/// - the kernel has more than one input, or the input is not a 2D array of one level,
/// - the kernel does not accept float inputs,
/// - the pixel is not a weighted sum of texels, or more than 400 texels contribute to it,
/// - the limit of 2^26 input texels was reached, for this pixel and those before it together.
///
/// The weights are measured by running the kernel on the CPU device. Its input is 1 inside a box and 0 elsewhere, and
/// the border color is 0. A box to which the pixel responds is halved until it is a single texel.
[[nodiscard]] std::vector<std::optional<std::vector<Tap>>> footprints(const KernelCase& of,
                                                                      const std::vector<Offset>& pixels,
                                                                      std::size_t image = 0);

}  // namespace texton::verify

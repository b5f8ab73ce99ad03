#pragma once
#include <optional>
#include <vector>

#include "viewer/verify/suite.h"

namespace texton::verify {

/// A texel that a kernel reads for a pixel, and what it counts.
struct Tap {
    Offset at;
    double weight = 0;
    bool operator==(const Tap&) const = default;
};

/// The texels of the one 2D input that lead to each of the pixels, by weight. None where that cannot be told: the pixel is no
/// weighted sum of texels, or one of more than 400, or asking for those before it took all the time that there is.
///
/// The kernel itself is asked, on the CPU device: with pictures that are 1 in a box and 0 elsewhere, each halved where the
/// pixel sees it. The border colour is 0.
[[nodiscard]] std::vector<std::optional<std::vector<Tap>>> footprints(const Case& of, const std::vector<Offset>& pixels,
                                                                      std::size_t picture = 0);

}  // namespace texton::verify

#pragma once
#include <array>
#include <span>
#include <vector>

#include <texton/texture.h>

namespace texton {

/// A place to fetch, in texels: texel (i, j) covers [i, i + 1) x [j, j + 1).
struct Point2 {
    float x = 0;
    float y = 0;
};

/// Fetches every point on the texture's device and returns when all are done. Integer formats are converted to float.
/// Channels that the format lacks are 0, alpha 1.
[[nodiscard]] std::vector<std::array<float, 4>> sample(const Texture& texture, std::span<const Point2> points);

}  // namespace texton

#pragma once
#include <array>
#include <span>
#include <vector>

#include <texton/fetch.h>
#include <texton/texture.h>

namespace texton {

struct SampleOptions {
    FetchOperation operation = FetchOperation::plain;
    int component = 0;       ///< of gather: 0 to 3
    bool residency = false;  ///< asks which fetches found memory under all their texels: 2D, 3D and layered 2D alone
};

struct Samples {
    std::vector<Texel> texels;
    std::vector<std::uint8_t> resident;  ///< 1 or 0 a point; empty unless residency was asked for
};

/// Fetches every point on the texture's device and returns when all are done.
///
/// Error{bad_argument} for an operation that the texture does not take: gather of another kind than 2D or without
/// usage.gather, gradients or a level of detail on memory, texel on an array. Error{not_mapped} for a DeferredArray without
/// memory.
[[nodiscard]] Samples sample(const Texture& texture, std::span<const FetchPoint> points,
                             const SampleOptions& options = {});

/// A place to fetch in 2D, in texels: texel (i, j) covers [i, i + 1) x [j, j + 1).
struct Point2 {
    float x = 0;
    float y = 0;
};

/// Plain fetches of a 2D texture as floats. Integer formats are converted; channels that the format lacks are 0, alpha 1.
[[nodiscard]] std::vector<std::array<float, 4>> sample(const Texture& texture, std::span<const Point2> points);

}  // namespace texton

#pragma once
#include <optional>
#include <string>
#include <vector>

#include "viewer/verify/run_suite.h"

namespace texton::verify {

/// An image of a result beside the image of the reference. One of them can be missing. The images belong to the result.
struct ImagePair {
    const HostImage* expected = nullptr;
    const HostImage* actual = nullptr;
    std::optional<std::size_t> image{};  ///< index of `actual` in the result
    std::string text;                    ///< description: name, and how the images differ
};

/// Returns the images of a result with the images of its reference that have the same name or, without names, the same
/// index. Images of the reference that the result lacks follow.
[[nodiscard]] std::vector<ImagePair> image_pairs(const Result& result);

/// Returns the index of the pair with the most severe difference.
[[nodiscard]] std::size_t worst_pair(const Result& result, const std::vector<ImagePair>& pairs);

/// Returns a color map of FLIP, of the same size as the images. Blocks. Throws Error{bad_argument} if format or size
/// of the images differ.
[[nodiscard]] HostImage flip_map(const HostImage& expected, const HostImage& actual);

}  // namespace texton::verify

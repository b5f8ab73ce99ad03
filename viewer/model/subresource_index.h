#pragma once
#include <cstddef>

namespace texton::viewer {

/// A subresource: the 2D part of an image that is displayed. Members that do not apply to the kind of image are
/// ignored. Numbers that are too large select the last part.
struct SubresourceIndex {
    int level = 0;          ///< level
    std::size_t layer = 0;  ///< layer of a layered kind; cube of a cubemap_layered
    int face = 0;           ///< face of a cubemap
    std::size_t slice = 0;  ///< slice of a volume
    int plane = 0;          ///< plane of a planar image
    bool operator==(const SubresourceIndex&) const = default;
};

}  // namespace texton::viewer

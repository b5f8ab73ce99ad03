#pragma once
#include <optional>
#include <span>

#include <texton/kernel.h>
#include <texton/texture.h>

#include "viewer/tiles/rows.h"

namespace texton::tiles {

/// Returns the rows of an input that a kernel reads for rows of its image, or more rows, if they follow from the
/// parameters and the sizes. `image` is the extent of the image. Returns nullopt if they are unknown or not
/// consecutive.
[[nodiscard]] std::optional<Rows> rows_read(const Kernel& kernel, const Arguments& arguments,
                                            std::span<const Texture> inputs, std::size_t input, const Extent& image,
                                            Rows rows);

}  // namespace texton::tiles

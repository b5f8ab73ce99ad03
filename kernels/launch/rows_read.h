#pragma once
#include <optional>
#include <span>

#include <texton/kernel.h>
#include <texton/texture.h>

#include "arrays/row_range.h"

namespace texton::detail {

/// Returns why a kernel cannot compute some rows of its image, as a clause whose subject is the kernel's name: it
/// writes several images, or needs all texels at once. Returns null for other kernels.
[[nodiscard]] const char* why_not_in_rows(const Kernel& kernel, const Arguments& arguments);

/// Returns the rows of a texture that a functor reads for rows of its image, or more rows, if it reads at most `apron`
/// rows above and below the position of the pixel. Returns nullopt if they are not consecutive, or if the image and the
/// texture have different heights.
[[nodiscard]] std::optional<RowRange> rows_around(const Texture& texture, std::size_t apron, const Extent& image,
                                                  RowRange rows);

/// Returns the rows of an input that a kernel reads for rows of its image, or more rows, if they follow from the
/// parameters and the sizes. `image` is the extent of the image. Returns nullopt if they are unknown or not
/// consecutive.
[[nodiscard]] std::optional<RowRange> rows_read(const Kernel& kernel, const Arguments& arguments,
                                                std::span<const Texture> inputs, std::size_t input, const Extent& image,
                                                RowRange rows);

}  // namespace texton::detail

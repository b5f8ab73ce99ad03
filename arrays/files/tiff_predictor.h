#pragma once
// The predictors of TIFF, which prepare the values of a row for compression. Integers become differences from the texel
// before. Floats are split into planes of their bytes, the highest first, and the bytes become differences.
#include <cstddef>
#include <span>

#include "arrays/files/tiff_chunks.h"

namespace texton::detail {

/// Prepares rows of a strip or tile of the image.
void predict(const TiffImage& image, std::span<std::byte> rows);
/// Restores the values of rows that were prepared.
void undo_prediction(const TiffImage& image, std::span<std::byte> rows);

}  // namespace texton::detail

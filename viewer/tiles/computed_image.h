#pragma once
#include <memory>

#include <texton/image_file.h>

#include "viewer/tiles/kernel_in_strips.h"

namespace texton::tiles {

/// Returns memory for a strip of the kernel's image: strip_rows() rows of all slices. The host can read it.
[[nodiscard]] Linear strip_pixels(const KernelInStrips& kernel);

/// Returns an image whose texels the kernel computes when they are read, strip by strip, with the memory that the
/// kernel was created for. While a strip is read, the next one is computed. Reading from top to bottom computes each
/// strip once.
///
/// `info` describes the array of the image, with the extent and the format of the kernel's image. The image can be
/// saved with save(), or be an input of another kernel. Reading throws the errors of KernelInStrips::compute().
[[nodiscard]] ImageFile computed_image(std::unique_ptr<KernelInStrips> kernel, const ArrayInfo& info);

}  // namespace texton::tiles

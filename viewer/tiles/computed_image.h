#pragma once
#include <cstddef>
#include <vector>

#include <texton/image_file.h>

#include "viewer/tiles/kernel_in_strips.h"

namespace texton::tiles {

/// Returns the image of a kernel. Its texels are computed when they are read, in strips of rows with a limited memory in
/// bytes: see KernelInStrips. While a strip is read, the next one is computed. Reading from top to bottom computes each
/// strip once.
///
/// Six slices of a kernel of cubemaps are a cubemap, other slices are layers. The image can be saved with save(), or be an
/// input of another kernel. Throws the errors of KernelInStrips; reading throws the errors of the kernel and of reading
/// its inputs.
[[nodiscard]] ImageFile computed_image(verify::KernelRun run, std::vector<KernelInput> inputs, std::size_t memory);

}  // namespace texton::tiles

#pragma once
#include "kernels/launch/dispatch.h"

namespace texton::detail {

/// Returns the implementations of CUDA devices for launches that compute only some rows of their image
/// (kernels/launch/image_rows.h). Other kernels call their functor for each pixel.
[[nodiscard]] const DeviceKernels& cuda_row_kernels();

}  // namespace texton::detail

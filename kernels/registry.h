#pragma once
// A line for each kernel that has a name: made by the file of the kernel.
#include <texton/kernel.h>

namespace texton::detail {

/// A picture as wide and high as the texture, a slice for each layer, of its format if pictures have that.
PictureShape shape_like(const Texture& texture);

Kernel mips_kernel();
Kernel resample_kernel();

}  // namespace texton::detail

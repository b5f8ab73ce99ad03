#pragma once
// The kernels that have names.
#include <texton/kernel.h>

/// The one list of them, in alphabetical order. A kernel's file defines `Kernel detail::NAME_kernel()`.
#define TEXTON_FOR_EACH_KERNEL(KERNEL) \
    KERNEL(bilateral)                  \
    KERNEL(blend)                      \
    KERNEL(blend_masked)               \
    KERNEL(change_alpha)               \
    KERNEL(color_matrix)               \
    KERNEL(convolve)                   \
    KERNEL(cross_to_cube)              \
    KERNEL(cube_to_cross)              \
    KERNEL(cube_to_equirect)           \
    KERNEL(cube_to_strip)              \
    KERNEL(distort)                    \
    KERNEL(equirect_to_cube)           \
    KERNEL(exposure)                   \
    KERNEL(from_rgb)                   \
    KERNEL(gaussian)                   \
    KERNEL(grade)                      \
    KERNEL(histogram)                  \
    KERNEL(irradiance)                 \
    KERNEL(layer)                      \
    KERNEL(layer_sum)                  \
    KERNEL(lut_1d)                     \
    KERNEL(lut_3d)                     \
    KERNEL(median)                     \
    KERNEL(min_max_pyramid)            \
    KERNEL(mips)                       \
    KERNEL(percentage_closer)          \
    KERNEL(prefilter_ggx)              \
    KERNEL(resample)                   \
    KERNEL(rotate_cube)                \
    KERNEL(statistics)                 \
    KERNEL(strip_to_cube)              \
    KERNEL(swizzle)                    \
    KERNEL(to_rgb)                     \
    KERNEL(tone_curve)                 \
    KERNEL(transfer)                   \
    KERNEL(undistort)                  \
    KERNEL(unsharp)                    \
    KERNEL(volume_march)               \
    KERNEL(volume_projection)          \
    KERNEL(volume_slice)               \
    KERNEL(warp_affine)                \
    KERNEL(warp_map)                   \
    KERNEL(warp_perspective)           \
    KERNEL(warp_polar)

namespace texton::detail {

/// A picture as wide and high as the texture, a slice for each layer, of its format if pictures have that.
PictureShape shape_like(const Texture& texture);

#define TEXTON_DECLARE_KERNEL(name) Kernel name##_kernel();
TEXTON_FOR_EACH_KERNEL(TEXTON_DECLARE_KERNEL)
#undef TEXTON_DECLARE_KERNEL

}  // namespace texton::detail

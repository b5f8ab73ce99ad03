#pragma once
// The list of the kernels that kernels() returns.
#include <texton/kernel.h>

/// Expands KERNEL(name) for each kernel, in alphabetical order. The file of a kernel defines `Kernel
/// detail::NAME_kernel()`.
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

/// Returns the shape of an image of the texture's size, with one slice per layer, and of the texture's format. In place
/// of a block-compressed format it is rgba16_float if that format is a float format, else rgba8_unorm.
ImageShape shape_like(const Texture& texture);

#define TEXTON_DECLARE_KERNEL(name) Kernel name##_kernel();
TEXTON_FOR_EACH_KERNEL(TEXTON_DECLARE_KERNEL)
#undef TEXTON_DECLARE_KERNEL

}  // namespace texton::detail

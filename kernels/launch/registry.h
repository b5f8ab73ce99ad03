#pragma once
// A line for each kernel that has a name: made by the file of the kernel.
#include <texton/kernel.h>

namespace texton::detail {

/// A picture as wide and high as the texture, a slice for each layer, of its format if pictures have that.
PictureShape shape_like(const Texture& texture);

Kernel cross_to_cube_kernel();
Kernel cube_to_cross_kernel();
Kernel cube_to_equirect_kernel();
Kernel cube_to_strip_kernel();
Kernel equirect_to_cube_kernel();
Kernel irradiance_kernel();
Kernel prefilter_ggx_kernel();
Kernel rotate_cube_kernel();
Kernel strip_to_cube_kernel();
Kernel mips_kernel();
Kernel resample_kernel();
Kernel color_matrix_kernel();
Kernel transfer_kernel();
Kernel exposure_kernel();
Kernel grade_kernel();
Kernel tone_curve_kernel();
Kernel change_alpha_kernel();
Kernel swizzle_kernel();
Kernel lut_1d_kernel();
Kernel lut_3d_kernel();
Kernel to_rgb_kernel();
Kernel from_rgb_kernel();
Kernel blend_kernel();
Kernel blend_masked_kernel();
Kernel layer_kernel();
Kernel layer_sum_kernel();
Kernel bilateral_kernel();
Kernel convolve_kernel();
Kernel gaussian_kernel();
Kernel median_kernel();
Kernel unsharp_kernel();
Kernel histogram_kernel();
Kernel statistics_kernel();
Kernel min_max_pyramid_kernel();
Kernel percentage_closer_kernel();
Kernel distort_kernel();
Kernel undistort_kernel();
Kernel volume_march_kernel();
Kernel volume_projection_kernel();
Kernel volume_slice_kernel();
Kernel warp_affine_kernel();
Kernel warp_map_kernel();
Kernel warp_perspective_kernel();
Kernel warp_polar_kernel();

}  // namespace texton::detail

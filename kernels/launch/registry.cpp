#include "kernels/launch/registry.h"

#include <algorithm>
#include <utility>

namespace texton {

PictureShape detail::shape_like(const Texture& texture) {
    Extent extent = texture.extent();
    if (is_layered(texture.kind())) extent.depth = texture.layers();
    const Format format = texture.format();
    if (info(format).layout != FormatLayout::block) return {extent, format};
    const bool floats = info(format).kind == FormatKind::floating;
    return {extent, floats ? Format::rgba16_float : Format::rgba8_unorm};
}

namespace {

std::vector<Kernel> by_group_and_name(std::vector<Kernel> kernels) {
    std::ranges::sort(kernels, {}, [](const Kernel& kernel) { return std::pair(kernel.info.group, kernel.info.name); });
    return kernels;
}

}  // namespace

std::span<const Kernel> kernels() {
    static const std::vector<Kernel> all = by_group_and_name({
        detail::cross_to_cube_kernel(),
        detail::cube_to_cross_kernel(),
        detail::cube_to_equirect_kernel(),
        detail::cube_to_strip_kernel(),
        detail::equirect_to_cube_kernel(),
        detail::irradiance_kernel(),
        detail::prefilter_ggx_kernel(),
        detail::rotate_cube_kernel(),
        detail::strip_to_cube_kernel(),
        detail::mips_kernel(),
        detail::resample_kernel(),
        detail::color_matrix_kernel(),
        detail::transfer_kernel(),
        detail::exposure_kernel(),
        detail::grade_kernel(),
        detail::tone_curve_kernel(),
        detail::change_alpha_kernel(),
        detail::swizzle_kernel(),
        detail::lut_1d_kernel(),
        detail::lut_3d_kernel(),
        detail::to_rgb_kernel(),
        detail::from_rgb_kernel(),
        detail::blend_kernel(),
        detail::blend_masked_kernel(),
        detail::layer_kernel(),
        detail::layer_sum_kernel(),
        detail::bilateral_kernel(),
        detail::convolve_kernel(),
        detail::gaussian_kernel(),
        detail::median_kernel(),
        detail::unsharp_kernel(),
        detail::histogram_kernel(),
        detail::statistics_kernel(),
        detail::min_max_pyramid_kernel(),
        detail::percentage_closer_kernel(),
        detail::volume_march_kernel(),
        detail::volume_projection_kernel(),
        detail::volume_slice_kernel(),
        detail::distort_kernel(),
        detail::undistort_kernel(),
        detail::warp_affine_kernel(),
        detail::warp_map_kernel(),
        detail::warp_perspective_kernel(),
        detail::warp_polar_kernel(),
    });
    return all;
}

}  // namespace texton

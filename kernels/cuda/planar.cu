// Conversions of 8-bit planes on a CUDA device, for texels that can be read as they are stored.
#include <texton/planar.h>

#include "arrays/unit/texture_address.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/planar.h"
#include "kernels/cuda/stored_texels.h"
#include "kernels/launch/launch_state.h"

namespace texton::detail {
namespace {

/// Returns true if the image is in memory and its rows can be written in pieces of 16 bytes.
bool takes_four_pixels(const PixelTarget& image) {
    return image.address != nullptr && image.width % 4 == 0 &&
           (reinterpret_cast<std::uintptr_t>(image.address) | image.pitch) % 16 == 0;
}

bool takes_words(const PixelTarget& plane) {
    return plane.address != nullptr && (reinterpret_cast<std::uintptr_t>(plane.address) | plane.pitch) % 4 == 0;
}

}  // namespace

bool CudaKernels::to_rgb(Launch& launch, const PlanarOptions& options) const {
    const Texture& luma = launch.state().textures[0];
    const Texture& chroma = launch.state().textures[1];
    if (launch.state().image.format != Format::rgba8_unorm || info(luma.format()).bits != 8 ||
        !clamps_rows(chroma.sampler()) || !takes_four_pixels(launch.target()))
        return false;
    const auto luma_texels = stored_texels(luma);
    const auto chroma_texels = stored_texels(chroma);
    if (!luma_texels || !chroma_texels) return false;
    const StoredIn in = stored_in(*luma_texels);
    if (in != stored_in(*chroma_texels)) return false;
    const SitedAt sited = sited_at(options);
    BytesToRgba job{launch.target(),
                    *luma_texels,
                    *chroma_texels,
                    options.swap_chroma ? 1u : 0u,
                    options.swap_chroma ? 0u : 1u,
                    to_rgb_functor(options)};
    job.to_rgb.luma_scale *= kOfShare;
    const ChromaRows rows = plane_info(options.format, 1).divide_height == 1 ? ChromaRows::own
                            : sited.on_row                                   ? ChromaRows::on_luma
                                                                             : ChromaRows::between;
    const void* kernel = in == StoredIn::memory ? bytes_to_rgba_kernel<StoredIn::memory>(sited.on_column, rows)
                                                : bytes_to_rgba_kernel<StoredIn::plane>(sited.on_column, rows);
    launch.run_kernel(kernel, &job, {128, 8 * kPlanarRows, 1});
    return true;
}

bool CudaKernels::from_rgb(Launch& luma, Launch& chroma, const PlanarOptions& options) const {
    const Texture& texture = luma.state().textures[0];
    if (texture.format() != Format::rgba8_unorm || info(luma.state().image.format).bits != 8 ||
        texture.extent().width % 4 != 0 || !takes_words(luma.target()) || !takes_words(chroma.target()))
        return false;
    const auto texels = stored_texels(texture);
    if (!texels) return false;
    const ChromaPlane of_chroma = chroma_plane(options);
    const Coded cb = of_shares(of_chroma.cb);
    const Coded cr = of_shares(of_chroma.cr);
    RgbaToBytes job{*texels,
                    luma.target(),
                    chroma.target(),
                    of_shares(luma_plane(options).luma),
                    options.swap_chroma ? cr : cb,
                    options.swap_chroma ? cb : cr};
    const void* kernel = stored_in(*texels) == StoredIn::memory ? rgba_to_bytes_kernel<StoredIn::memory>(of_chroma)
                                                                : rgba_to_bytes_kernel<StoredIn::plane>(of_chroma);
    luma.run_kernel(kernel, &job, {128, 8 * kPlanarRows, 1});
    return true;
}

}  // namespace texton::detail

#include "viewer/model/kernel_result.h"

#include <array>

#include <fmt/format.h>

#include "viewer/model/computed_images.h"

namespace texton::viewer {

KernelResult run_kernel(const KernelChoice& choice, std::span<const std::shared_ptr<const Document>> inputs,
                        const std::optional<Sampler>& sampler) {
    std::vector<Texture> textures;
    for (const auto& input : inputs) {
        for (int plane = 0; plane < input->planes(); ++plane)
            textures.push_back(input->texture(sampler ? *sampler : input->standard_sampler(plane), plane));
    }
    const Document& first = *inputs.front();
    const verify::ComputedImages images = verify::compute(
        first.device(), {.kernel = &kernel_named(choice.name), .parameters = choice.parameters}, textures);
    constexpr std::array kShown{ArrayKind::array_3d, ArrayKind::cubemap, ArrayKind::layered_2d};
    Array array = verify::array_of(first.device(), images.views, kShown, first.info().kind);
    return {Document::of(std::move(array), fmt::format("{} of {}", choice.name, first.title()), &first),
            images.milliseconds};
}

}  // namespace texton::viewer

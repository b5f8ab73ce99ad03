#include "viewer/model/pipeline_images.h"

#include <fmt/format.h>

#include <texton/error.h>

namespace texton::verify {

std::vector<Array> next_inputs(const Device& device, const ComputedImages& images, const KernelInfo& next,
                               std::size_t count, ArrayKind preferred) {
    std::vector<Array> arrays;
    const std::span<const View> views(images.views);
    if (views.size() == count) {
        for (std::size_t i = 0; i < count; ++i)
            arrays.push_back(array_of(device, views.subspan(i, 1), next.inputs[i].kinds, preferred));
    } else if (count == 1 && is_mip_chain(views)) {
        arrays.push_back(array_of(device, views, next.inputs[0].kinds, preferred));
    } else {
        const auto count_of = [](std::size_t number) {
            return fmt::format("{} image{}", number, number == 1 ? "" : "s");
        };
        throw Error({.code = ErrorCode::bad_argument,
                     .object = "texton::" + next.name,
                     .problem = fmt::format("{} needs {}, but the kernel before it writes {}", next.name,
                                            count_of(count), count_of(views.size())),
                     .remedy = fmt::format("`texton run {} --help` lists the inputs.", next.name)});
    }
    return arrays;
}

ComputedImages compute(const Stream& stream, const KernelRun& run, std::span<const Array* const> arrays,
                       std::span<const Json> samplers, std::span<const std::size_t> sampler_indices) {
    std::vector<Texture> textures;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        const Json sampler = samplers.empty() ? Json::object() : samplers[samplers.size() > 1 ? sampler_indices[i] : 0];
        textures.emplace_back(*arrays[i], sampler_of(sampler, "--sampler", arrays[i]->info()));
    }
    return compute(stream, run, textures);
}

bool writes_cubes(const KernelInfo& kernel, ArrayKind input) { return kernel.group == "cubemap" || is_cube(input); }

}  // namespace texton::verify

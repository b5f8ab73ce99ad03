#include "viewer/model/kernel_result.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include <texton/copy.h>
#include <texton/linear.h>

namespace texton::viewer {
namespace {

bool is_chain(std::span<const ImageShape> shapes) {
    const Extent first = shapes.front().extent;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        const Extent extent = shapes[i].extent;
        if (extent.width != std::max<std::size_t>(first.width >> i, 1) ||
            extent.height != std::max<std::size_t>(first.height >> i, 1) || shapes[i].format != shapes.front().format)
            return false;
    }
    return true;
}

// Returns the description of an array that holds the results. `of` describes the first input.
ArrayInfo info_for(std::span<const ImageShape> shapes, const ArrayInfo& of) {
    const ImageShape& first = shapes.front();
    ArrayInfo info{.format = first.format, .extent = first.extent};
    info.levels = is_chain(shapes) ? static_cast<int>(shapes.size()) : 1;
    if (first.extent.depth == 1) return info;
    const bool square = first.extent.width == first.extent.height;
    if (of.kind == ArrayKind::array_3d) {
        info.kind = ArrayKind::array_3d;
    } else if (square && first.extent.depth == 6) {
        info.kind = ArrayKind::cubemap;
        info.extent.depth = 1;
    } else {
        info.kind = ArrayKind::layered_2d;
        info.layers = first.extent.depth;
        info.extent.depth = 1;
    }
    return info;
}

}  // namespace

KernelResult run_kernel(const KernelChoice& choice, std::span<const std::shared_ptr<const Document>> inputs,
                        const std::optional<Sampler>& sampler) {
    const Kernel& kernel = kernel_named(choice.name);
    const Arguments arguments(kernel.info, choice.parameters);
    std::vector<Texture> textures;
    for (const auto& input : inputs) {
        for (int plane = 0; plane < input->planes(); ++plane)
            textures.push_back(input->texture(sampler ? *sampler : input->standard_sampler(plane), plane));
    }
    const std::vector<ImageShape> made = shapes(kernel, arguments, textures);
    const Device& device = inputs.front()->device();
    std::vector<Linear> memory;
    std::vector<View> views;
    for (const ImageShape& shape : made) {
        memory.emplace_back(device, shape.format, shape.extent);
        views.push_back(memory.back().view(shape.format, shape.extent));
    }
    const Stream stream(device);
    const auto begin = std::chrono::steady_clock::now();
    enqueue(kernel, stream, views, arguments, textures);
    stream.synchronize();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;

    Array array(device, info_for(made, inputs.front()->info()));
    for (int level = 0; level < array.info().levels; ++level)
        copy(array.view({.level = level}), views[static_cast<std::size_t>(level)]);
    return {Document::of(std::move(array), fmt::format("{} of {}", choice.name, inputs.front()->title()),
                         inputs.front().get()),
            took.count()};
}

}  // namespace texton::viewer

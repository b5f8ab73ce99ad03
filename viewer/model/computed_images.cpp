#include "viewer/model/computed_images.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/linear.h>

namespace texton::verify {
namespace {

// Returns whether the slices of an image can be an array of this kind.
bool can_be(ArrayKind kind, const Extent& image) {
    const bool square = image.width == image.height;
    switch (kind) {
        case ArrayKind::cubemap: return square && image.depth == 6;
        case ArrayKind::cubemap_layered: return square && image.depth % 6 == 0;
        case ArrayKind::layered_1d: return image.height == 1;
        case ArrayKind::array_3d:
        case ArrayKind::layered_2d: return true;
        case ArrayKind::array_1d:
        case ArrayKind::array_2d: break;
    }
    return false;
}

ArrayKind kind_of_slices(const Extent& image, std::span<const ArrayKind> accepted, ArrayKind preferred) {
    for (const ArrayKind kind : {preferred, ArrayKind::cubemap, ArrayKind::layered_2d, ArrayKind::array_3d}) {
        if (can_be(kind, image) && std::ranges::find(accepted, kind) != accepted.end()) return kind;
    }
    return ArrayKind::layered_2d;
}

}  // namespace

ComputedImages compute(const Device& device, const KernelRun& run, std::span<const Texture> inputs) {
    return compute(Stream(device), run, inputs);
}

ComputedImages compute(const Stream& stream, const KernelRun& run, std::span<const Texture> inputs) {
    const Arguments arguments(run.kernel->info, run.parameters);
    std::vector<ImageShape> made = shapes(*run.kernel, arguments, inputs);
    if (run.size && made.size() > 1)
        throw Error({.code = ErrorCode::bad_argument,
                     .object = "texton::" + run.kernel->info.name,
                     .problem = fmt::format("a size was given, but the kernel produces {} images", made.size()),
                     .remedy = "Omit the size."});
    ComputedImages images;
    for (ImageShape& shape : made) {
        if (run.size) shape.extent = run.size->of(shape.extent);
        if (run.format) shape.format = *run.format;
        images.views.push_back(Linear(stream.device(), shape.format, shape.extent).view(shape.format, shape.extent));
    }
    const auto begin = std::chrono::steady_clock::now();
    enqueue(*run.kernel, stream, images.views, arguments, inputs);
    stream.synchronize();
    images.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    return images;
}

std::vector<HostImage> host_images(std::span<const View> images) {
    std::vector<HostImage> copies;
    for (const View& image : images) {
        copies.emplace_back(image.format(), image.extent());
        copy(copies.back().view(), image);
    }
    return copies;
}

bool is_mip_chain(std::span<const View> images) {
    const Extent first = images.front().extent();
    for (std::size_t i = 0; i < images.size(); ++i) {
        const Extent extent = images[i].extent();
        if (extent.width != std::max<std::size_t>(first.width >> i, 1) ||
            extent.height != std::max<std::size_t>(first.height >> i, 1) ||
            images[i].format() != images.front().format())
            return false;
    }
    return true;
}

ArrayInfo input_info_of(Format format, const Extent& image, std::span<const ArrayKind> accepted, ArrayKind preferred) {
    ArrayInfo info{.format = format, .extent = image};
    if (image.depth > 1) info.kind = kind_of_slices(image, accepted, preferred);
    if (image.depth > 1 && info.kind != ArrayKind::array_3d) {
        info.extent.depth = 1;
        info.layers = is_cube(info.kind) ? image.depth / 6 : image.depth;
    }
    return info;
}

Array array_of(const Device& device, std::span<const View> images, std::span<const ArrayKind> accepted,
               ArrayKind preferred) {
    ArrayInfo info = input_info_of(images.front().format(), images.front().extent(), accepted, preferred);
    info.levels = is_mip_chain(images) ? static_cast<int>(images.size()) : 1;
    info.usage = usage_for_kernels(device, info);
    Array array(device, info);
    for (int level = 0; level < info.levels; ++level)
        copy(array.view({.level = level}), images[static_cast<std::size_t>(level)]);
    return array;
}

}  // namespace texton::verify

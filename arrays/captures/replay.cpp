#include <algorithm>

#include <texton/capture.h>
#include <texton/copy.h>
#include <texton/pitched.h>
#include <texton/sample.h>

#include "arrays/unit/texel_format.h"
#include "arrays/unit/texture_unit.h"
#include "core/parallel.h"

namespace texton {
namespace {

Extent whole_level(const ArrayInfo& array, int level) {
    Extent extent = level_extent(array, level);
    extent.depth = slice_count(array, level);
    return extent;
}

// Returns the packed texels as input of the model.
detail::TextureView model_view(const Capture& capture) {
    detail::TextureView view{};
    view.kind = capture.array.kind;
    view.format = detail::texel_format(capture.array.format);
    view.level_count = capture.array.levels;
    for (int level = 0; level < capture.array.levels; ++level) {
        const Extent extent = whole_level(capture.array, level);
        const std::size_t pitch = row_bytes(capture.array.format, extent.width);
        detail::LevelView& part = view.levels[level];
        part.data = reinterpret_cast<const unsigned char*>(capture.levels[static_cast<std::size_t>(level)].data());
        part.width = static_cast<std::int32_t>(extent.width);
        part.height = static_cast<std::int32_t>(extent.height);
        part.depth = static_cast<std::int32_t>(extent.depth);
        part.row_pitch = static_cast<std::int64_t>(pitch);
        part.slice_pitch = static_cast<std::int64_t>(pitch * row_count(capture.array.format, extent.height));
    }
    return view;
}

ConstView level_texels(const Capture& capture, int level) {
    return host_view(static_cast<const void*>(capture.levels[static_cast<std::size_t>(level)].data()),
                     capture.array.format, whole_level(capture.array, level));
}

}  // namespace

std::vector<Texel> replay(const Capture& capture) {
    const detail::TextureView view = model_view(capture);
    std::vector<Texel> texels(capture.points.size());
    constexpr std::size_t kPiece = 1024;  // points
    detail::run_in_parallel((texels.size() + kPiece - 1) / kPiece, [&](std::size_t piece) {
        const std::size_t end = std::min((piece + 1) * kPiece, texels.size());
        for (std::size_t i = piece * kPiece; i < end; ++i) {
            texels[i] =
                detail::fetch_point(view, capture.sampler, capture.points[i], capture.operation, capture.component);
        }
    });
    return texels;
}

std::vector<Texel> replay(const Capture& capture, const Device& device) {
    const SampleOptions options{.operation = capture.operation, .component = capture.component};
    if (capture.source == TextureSource::pitched) {
        const Pitched2D memory(device, capture.array.format, {capture.array.extent.width, capture.array.extent.height});
        copy(memory.view(), level_texels(capture, 0));
        return sample(Texture(memory.view(), capture.sampler), capture.points, options).texels;
    }
    const Array array(device, capture.array);
    for (int level = 0; level < capture.array.levels; ++level)
        copy(array.view({.level = level}), level_texels(capture, level));
    return sample(Texture(array, capture.sampler), capture.points, options).texels;
}

}  // namespace texton

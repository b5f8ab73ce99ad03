#include <algorithm>

#include <texton/copy.h>
#include <texton/pitched.h>
#include <texton/recording.h>
#include <texton/sample.h>

#include "arrays/captures/checks.h"
#include "arrays/unit/texel_format.h"
#include "arrays/unit/texture_unit.h"
#include "core/parallel.h"
#include "core/request.h"

namespace texton {
namespace {

constexpr const char* kReplay = "texton::replay";

Extent whole_level(const ArrayInfo& array, int level) {
    Extent extent = level_extent(array, level);
    extent.depth = slice_count(array, level);
    return extent;
}

// Returns the packed texels as input of the model.
detail::TextureView model_view(const Recording& recording) {
    detail::TextureView view{};
    view.kind = recording.array.kind;
    view.format = detail::texel_format(recording.array.format);
    view.level_count = recording.array.levels;
    for (int level = 0; level < recording.array.levels; ++level) {
        const Extent extent = whole_level(recording.array, level);
        const std::size_t pitch = row_bytes(recording.array.format, extent.width);
        detail::LevelView& part = view.levels[level];
        part.data = reinterpret_cast<const unsigned char*>(recording.levels[static_cast<std::size_t>(level)].data());
        part.width = static_cast<std::int32_t>(extent.width);
        part.height = static_cast<std::int32_t>(extent.height);
        part.depth = static_cast<std::int32_t>(extent.depth);
        part.row_pitch = static_cast<std::int64_t>(pitch);
        part.slice_pitch = static_cast<std::int64_t>(pitch * row_count(recording.array.format, extent.height));
    }
    return view;
}

ConstView level_texels(const Recording& recording, int level) {
    return host_view(static_cast<const void*>(recording.levels[static_cast<std::size_t>(level)].data()),
                     recording.array.format, whole_level(recording.array, level));
}

}  // namespace

std::vector<Texel> replay(const Recording& recording) try {
    detail::check_recording(recording, kReplay);
    const detail::TextureView view = model_view(recording);
    std::vector<Texel> texels(recording.points.size());
    constexpr std::size_t kPiece = 1024;  // points
    detail::run_in_parallel((texels.size() + kPiece - 1) / kPiece, [&](std::size_t piece) {
        const std::size_t end = std::min((piece + 1) * kPiece, texels.size());
        for (std::size_t i = piece * kPiece; i < end; ++i) {
            texels[i] = detail::fetch_point(view, recording.sampler, recording.points[i], recording.operation,
                                            recording.component);
        }
    });
    return texels;
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kReplay);
}

std::vector<Texel> replay(const Recording& recording, const Device& device) {
    detail::check_recording(recording, kReplay);
    const SampleOptions options{.operation = recording.operation, .component = recording.component};
    if (recording.source == TextureSource::pitched) {
        const Pitched2D memory(device, recording.array.format,
                               {recording.array.extent.width, recording.array.extent.height});
        copy(memory.view(), level_texels(recording, 0));
        return sample(Texture(memory.view(), recording.sampler), recording.points, options).texels;
    }
    const Array array(device, recording.array);
    for (int level = 0; level < recording.array.levels; ++level)
        copy(array.view({.level = level}), level_texels(recording, level));
    return sample(Texture(array, recording.sampler), recording.points, options).texels;
}

}  // namespace texton

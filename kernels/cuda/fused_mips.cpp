#include "kernels/cuda/fused_mips.h"

#include <algorithm>

#include "kernels/launch/aliasing.h"

namespace texton::mip {
namespace {

bool has_faces_or_layers_alone(ArrayKind kind) {
    switch (kind) {
        case ArrayKind::array_2d:
        case ArrayKind::layered_2d:
        case ArrayKind::cubemap:
        case ArrayKind::cubemap_layered: return true;
        case ArrayKind::array_1d:
        case ArrayKind::array_3d:
        case ArrayKind::layered_1d: return false;
    }
    return false;
}

bool is_half(const Step& step) {
    const Extent to = step.level.extent();
    return step.from.width == 2 * to.width && step.from.height == 2 * to.height;
}

}  // namespace

std::size_t levels_together(std::span<const Step> steps, const MipOptions& options) {
    if (options.filter == MipFilter::kaiser || !has_faces_or_layers_alone(steps[0].kind)) return 0;
    const auto first = steps.first(std::min<std::size_t>(steps.size(), kMaxFusedLevels));
    std::size_t count = 0;
    for (; count < first.size() && is_half(first[count]); ++count) {
        const View& level = first[count].level;
        const auto before = first.first(count);
        if (!detail::lies_apart(first[0].above, level.location())) break;
        if (!std::ranges::all_of(
                before, [&](const Step& step) { return detail::lies_apart(step.level.location(), level.location()); }))
            break;
    }
    return count;
}

}  // namespace texton::mip

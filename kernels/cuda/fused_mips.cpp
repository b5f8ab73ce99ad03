#include "kernels/cuda/fused_mips.h"

#include <algorithm>

#include "kernels/launch/aliasing.h"

namespace texton::mip {
namespace {

bool is_half(const Step& step) {
    const Extent to = step.level.extent();
    return step.from.width == 2 * to.width && (is_row(step) || step.from.height == 2 * to.height);
}

}  // namespace

bool is_row(const Step& step) { return step.from.height == 1; }

bool has_images(ArrayKind kind) {
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

std::size_t levels_apart(std::span<const Step> steps) {
    std::size_t count = 0;
    for (; count < std::min<std::size_t>(steps.size(), kMaxFusedLevels); ++count) {
        const View& level = steps[count].level;
        const auto before = steps.first(count);
        if (!detail::lies_apart(steps[0].above, level.location())) break;
        if (!std::ranges::all_of(
                before, [&](const Step& step) { return detail::lies_apart(step.level.location(), level.location()); }))
            break;
    }
    return count;
}

std::size_t levels_together(std::span<const Step> steps) {
    const auto first = steps.first(std::min<std::size_t>(steps.size(), kMaxFusedLevels));
    const auto other = std::ranges::find_if(
        first, [&](const Step& step) { return !is_half(step) || is_row(step) != is_row(steps[0]); });
    return levels_apart(first.first(static_cast<std::size_t>(other - first.begin())));
}

std::size_t levels_of_small(std::span<const Step> steps) {
    const Extent& from = steps[0].from;
    if (from.width > kSmallSide || from.height > kSmallSide) return 0;
    return levels_apart(steps.first(std::min<std::size_t>(steps.size(), kMaxSmallLevels)));
}

}  // namespace texton::mip

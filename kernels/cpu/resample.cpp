// Separable resampling filters on the CPU device.
#include <optional>
#include <utility>
#include <vector>

#include <texton/launch.h>

#include "kernels/cpu/byte_lattice.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/resample_weights.h"
#include "kernels/cpu/separable.h"
#include "kernels/launch/launch_state.h"

namespace texton::detail {
namespace {

// Returns the center of the texel of each pixel if each has the weight 1 of a single texel, and otherwise nothing.
std::optional<std::vector<float>> single_texels(const SumAxis& axis, std::size_t pixels, float unit) {
    std::vector<float> centers;
    for (std::size_t i = 0; i < pixels; ++i) {
        const SumAxis::Taps taps = axis.taps(i);
        for (std::size_t tap = 0; tap < taps.count; ++tap) {
            if (taps[tap] == 0) continue;
            if (taps[tap] != 1 || centers.size() > i) return std::nullopt;
            centers.push_back((static_cast<float>(taps.first + static_cast<std::int32_t>(tap)) + 0.5f) * unit);
        }
        if (centers.size() == i) return std::nullopt;
    }
    return centers;
}

constexpr std::size_t kFewRows = 8;  // copies take longer to prepare than sums of so many rows

// Returns the texels of an image whose pixels are texels, such as one of twice the size with the area filter. Returns
// nothing if the image has few rows.
std::optional<Lattice> single_texels(const SeparableSums& sums, const Extent& extent, const SourceShape& shape) {
    if (extent.height <= kFewRows) return std::nullopt;
    std::optional<std::vector<float>> x = single_texels(sums.x, extent.width, shape.x_unit);
    if (!x) return std::nullopt;
    std::optional<std::vector<float>> y = single_texels(sums.y, extent.height, shape.y_unit);
    return y ? std::optional(Lattice{*std::move(x), *std::move(y)}) : std::nullopt;
}

}  // namespace

bool CpuKernels::resample(Launch& launch, const resampling::Separable& filter) const {
    if (line_sums() == nullptr) return false;
    const Extent& extent = launch.state().image.extent;
    SeparableSums sums{resampling_sums(filter.filter, filter.grid.x, extent.width),
                       resampling_sums(filter.filter, filter.grid.y, extent.height)};
    std::optional<Lattice> texels = single_texels(sums, extent, launch.shape(0));
    launch.run_job([sums = std::move(sums), texels = std::move(texels)](const CpuJob& job) {
        // Sums have no negative zero.
        constexpr bool kPositiveZeros = true;
        if (texels && copy_texels_on_cpu(job, *texels, kPositiveZeros)) return;
        sum_separably(job, sums);
    });
    return true;
}

}  // namespace texton::detail

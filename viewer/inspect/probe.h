#pragma once
// Fetches by their numbers, and along a line.
#include <array>
#include <cstddef>
#include <vector>

#include "viewer/inspect/fetches.h"

namespace texton::viewer {

using ProbePoint = std::array<float, 3>;  ///< u, v, w

/// The probe's fetch at a point, in the coordinates that the sampler takes; the layer is the place's. With gradients a
/// pixel is a square as large as a texel of the probe's level of detail.
[[nodiscard]] Fetch probe_fetch(const Probe& probe, const ArrayInfo& info, const Place& place, const Sampler& sampler,
                                const ProbePoint& at);

/// From the line's point `share` (0 to 1) of the way.
[[nodiscard]] ProbePoint point_on_line(const Probe& probe, double share);

/// Samples at even distances on a part of the probe's line, both ends included.
struct ScanLine {
    double first = 0;  ///< shares of the line
    double last = 1;
    std::vector<Texel> texels;
    double share_of(std::size_t sample) const {
        return texels.size() < 2
                   ? first
                   : first + (last - first) * static_cast<double>(sample) / static_cast<double>(texels.size() - 1);
    }
};
[[nodiscard]] ScanLine scan(const Texture& texture, const ArrayInfo& info, const Place& place, const Probe& probe,
                            double first, double last, std::size_t samples);

/// Where a part of the line goes from one texel of a level to the next, in shares of the line. Empty if that is more
/// often than `most`.
[[nodiscard]] std::vector<double> texel_borders(const ArrayInfo& info, int level, const Probe& probe, double first,
                                                double last, std::size_t most = 512);

}  // namespace texton::viewer

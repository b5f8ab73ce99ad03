#pragma once
// Fetches at entered coordinates, and along a line.
#include <array>
#include <cstddef>
#include <vector>

#include "viewer/inspect/fetches.h"

namespace texton::viewer {

using ProbePoint = std::array<float, 3>;  ///< u, v, w: normalized coordinates, or a direction for cubemaps

/// Returns the probe's fetch at a point, in the coordinates that the sampler expects. The layer is that of
/// `subresource`. The gradients describe a pixel that is as large as a texel of the probe's level of detail.
[[nodiscard]] Fetch probe_fetch(const Probe& probe, const ArrayInfo& info, const SubresourceIndex& subresource,
                                const Sampler& sampler, const ProbePoint& at);

/// Returns a point of the probe's line: 0 is its start, 1 is its end.
[[nodiscard]] ProbePoint point_on_line(const Probe& probe, double share);

/// Evenly spaced samples on a part of the probe's line, including both ends.
struct ScanLine {
    double first = 0;  ///< start of the part, as a fraction of the line
    double last = 1;   ///< end of the part, as a fraction of the line
    std::vector<Texel> texels;
    /// Returns the position of a sample, as a fraction of the line.
    double share_of(std::size_t sample) const {
        return texels.size() < 2
                   ? first
                   : first + (last - first) * static_cast<double>(sample) / static_cast<double>(texels.size() - 1);
    }
};
/// Samples the texture along a part of the probe's line. Blocks until the device has finished. Throws the errors of
/// texton::sample().
[[nodiscard]] ScanLine scan(const Texture& texture, const ArrayInfo& info, const SubresourceIndex& subresource,
                            const Probe& probe, double first, double last, std::size_t samples);

/// Returns the positions where a part of the line crosses from one texel of a level to the next, in ascending order, as
/// fractions of the line. Returns an empty list if there are more than `maximum`.
[[nodiscard]] std::vector<double> texel_borders(const ArrayInfo& info, int level, const Probe& probe, double first,
                                                double last, std::size_t maximum = 512);

}  // namespace texton::viewer

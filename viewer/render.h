#pragma once
#include <cstdint>
#include <vector>

#include "viewer/document.h"
#include "viewer/view_state.h"

namespace texton::viewer {

constexpr std::uint32_t kBackground = 0xff1c1d20;  ///< around the picture

/// The canvas as width * height pixels 0xffRRGGBB: the visible part of the picture, sampled through the device.
/// Enlarged, each pixel shows the texel under its middle; reduced, the mean of up to 4 x 4 texels.
[[nodiscard]] std::vector<std::uint32_t> render(const Document& document, const ViewState& view, int width, int height);

}  // namespace texton::viewer

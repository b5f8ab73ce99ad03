#pragma once
// Conversion of rows of sRGB texels, with tables.
#include "arrays/cpu/pixel_rows.h"

namespace texton::detail {

/// Returns the function that decodes rows of an sRGB format with so many channels.
[[nodiscard]] RowDecode srgb_row_decoder(std::size_t channels);
/// Returns the function that encodes rows of an sRGB format with so many channels.
[[nodiscard]] RowEncode srgb_row_encoder(std::size_t channels);
/// Returns the function that decodes rows of an sRGB format with so many channels to separate channels.
[[nodiscard]] PlaneDecode srgb_plane_decoder(std::size_t channels);
/// Returns the function that encodes separate channels as rows of an sRGB format with so many channels.
[[nodiscard]] PlaneEncode srgb_plane_encoder(std::size_t channels);

}  // namespace texton::detail

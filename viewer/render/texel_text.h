#pragma once
#include <string>
#include <vector>

#include "viewer/model/document.h"

namespace texton::viewer {

/// The channels of each texel of a box as they are stored: codes of integers and normalized formats, floats by their value, or the
/// digits of their bits in hexadecimal. Block-compressed texels are what they decode to. Throws what Document::texels throws.
[[nodiscard]] std::vector<std::vector<std::string>> stored_words(const std::shared_ptr<const Document>& document,
                                                                 const Place& place, const TexelBox& box,
                                                                 bool hexadecimal, const StillWanted& wanted = {});

}  // namespace texton::viewer

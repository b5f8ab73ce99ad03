#pragma once
#include <string>
#include <vector>

#include "viewer/model/document.h"

namespace texton::viewer {

/// Returns the stored channels of each texel of a box as text: code values of integer and normalized formats, values of
/// floats, or the bits in hexadecimal. Block-compressed texels are decoded. Throws the errors of Document::texels().
[[nodiscard]] std::vector<std::vector<std::string>> stored_text(const std::shared_ptr<const Document>& document,
                                                                const SubresourceIndex& subresource,
                                                                const TexelBox& box, bool hexadecimal,
                                                                const CancellationToken& token = {});

}  // namespace texton::viewer

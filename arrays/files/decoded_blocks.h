#pragma once
// Block-compressed texels, decoded.
#include <texton/image_file.h>

#include "arrays/files/source.h"

namespace texton::detail {

/// Returns the format that holds all texels of a block-compressed format as a GPU decodes them. Returns other formats
/// unchanged.
[[nodiscard]] Format decoded_format(Format format) noexcept;

/// Returns a source of decoded texels. BlockDecoding::gpu gives decoded_format(). BlockDecoding::exact gives float32
/// values, which ImageSource::srgb() says to be encoded or not; BC6H and BC7 are decoded as with `gpu`, because their
/// specification leaves no choice.
[[nodiscard]] ImageSourcePtr decoded_blocks(ImageSourcePtr file, BlockDecoding decoding);

}  // namespace texton::detail

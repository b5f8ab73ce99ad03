#pragma once
// Streams of zlib (RFC 1950).
#include <memory>

#include "arrays/files/compressed_part.h"

namespace texton::detail {

/// Returns a decoder of one stream. Bytes after the stream are not read. Throws std::bad_alloc.
[[nodiscard]] std::unique_ptr<Decoder> zlib_decoder();

}  // namespace texton::detail

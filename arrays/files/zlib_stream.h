#pragma once
// Streams of zlib (RFC 1950).
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "arrays/files/compressed_part.h"

namespace texton::detail {

/// Returns a decoder of one stream. Bytes after the stream are not read. Throws std::bad_alloc.
[[nodiscard]] std::unique_ptr<Decoder> zlib_decoder();

/// The result of decompressing a whole stream.
enum class Decompressed : std::uint8_t {
    complete,
    damaged,  ///< the stream is invalid, or has too few bytes
    too_long  ///< it has more bytes than were expected
};
/// Decompresses a whole stream, which should have the bytes of `out`. Throws std::bad_alloc.
[[nodiscard]] Decompressed decompress_zlib(std::span<const std::byte> stream, std::span<std::byte> out);

/// Compresses whole streams with the level 6, one after the other.
class ZlibCompressor {
public:
    /// Throws std::bad_alloc.
    ZlibCompressor();
    ~ZlibCompressor();
    ZlibCompressor(const ZlibCompressor&) = delete;
    ZlibCompressor& operator=(const ZlibCompressor&) = delete;

    /// Returns true if libdeflate compresses, which takes about a third of zlib's time.
    [[nodiscard]] static bool is_fast() noexcept;
    /// Returns a stream. Throws std::bad_alloc.
    std::vector<std::byte> compress(std::span<const std::byte> bytes);

private:
    void* state_;
};

}  // namespace texton::detail

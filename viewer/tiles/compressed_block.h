#pragma once
// Texels that are compressed without loss: quickly, and about as well as TIFF and OpenEXR files with zip compression.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace texton::tiles {

/// Channels of the texels whose differences are compressed.
struct TexelLayout {
    std::size_t channel_bytes = 1;  ///< 1, 2 or 4
    std::size_t channels = 1;       ///< 1, 2 or 4
};

/// How bytes are stored.
enum class BlockCompression : std::uint8_t { none, zlib, zstd };

struct CompressedBlock {
    BlockCompression compression = BlockCompression::none;  ///< none if compression would not save bytes
    bool uses_row_above = false;  ///< the differences are those of differences from the row above
    std::vector<std::byte> bytes{};
};

/// Returns the compression that is used: zstd if the build has it.
[[nodiscard]] BlockCompression best_compression() noexcept;
/// Compresses rows of texels. `row_bytes` must divide the number of bytes. Throws std::bad_alloc.
[[nodiscard]] CompressedBlock compress_block(std::span<const std::byte> texels, std::size_t row_bytes,
                                             TexelLayout layout, BlockCompression compression = best_compression());
/// Decompresses a block to `texels`, which has the size of the rows. Returns false if the bytes are damaged, or if this
/// build cannot decompress them. Throws std::bad_alloc.
[[nodiscard]] bool decompress_block(const CompressedBlock& block, std::span<std::byte> texels, std::size_t row_bytes,
                                    TexelLayout layout);
/// Returns a checksum of bytes: CRC-32.
[[nodiscard]] std::uint32_t checksum_of(std::span<const std::byte> bytes) noexcept;

}  // namespace texton::tiles

#pragma once
// TIFF files with any header, for tests of damaged files.
#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/support/texels.h"

namespace texton::test {

/// An entry of the directory of a TIFF, with one value of 32 bits.
struct TiffEntry {
    std::uint16_t tag;
    std::uint32_t value;
};

/// Tags of TIFF 6.0, and the tile depth of SGI's extension.
enum TiffTag : std::uint16_t {
    kImageWidth = 256,
    kImageLength = 257,
    kBitsPerSample = 258,
    kCompression = 259,
    kPhotometric = 262,
    kStripOffsets = 273,
    kSamplesPerPixel = 277,
    kRowsPerStrip = 278,
    kStripByteCounts = 279,
    kTileWidth = 322,
    kTileLength = 323,
    kTileOffsets = 324,
    kTileByteCounts = 325,
    kTileDepth = 32998
};

/// Returns a little-endian TIFF: a header, one directory with these entries (in the order of their tags), and `data`.
inline Bytes tiff_file(const std::vector<TiffEntry>& entries, std::size_t data) {
    Bytes bytes;
    const auto put = [&bytes](auto value) {
        const std::size_t end = bytes.size();
        bytes.resize(end + sizeof value);
        std::memcpy(bytes.data() + end, &value, sizeof value);
    };
    put(std::uint32_t{0x002a4949});
    put(std::uint32_t{8});
    put(static_cast<std::uint16_t>(entries.size()));
    for (const TiffEntry& entry : entries) {
        put(entry.tag);
        put(std::uint16_t{4});  // LONG
        put(std::uint32_t{1});
        put(entry.value);
    }
    put(std::uint32_t{0});
    bytes.resize(bytes.size() + data);
    return bytes;
}

/// Returns the size of the file that tiff_file() returns without data.
inline std::uint32_t tiff_header_bytes(std::size_t entries) { return static_cast<std::uint32_t>(14 + 12 * entries); }

/// Returns an uncompressed gray TIFF of 8 bits that claims one tile of this size.
inline Bytes tiff_of_one_tile(std::uint32_t width, std::uint32_t height, std::uint32_t tile_width,
                              std::uint32_t tile_height, std::uint32_t tile_depth = 1) {
    return tiff_file({{kImageWidth, width},
                      {kImageLength, height},
                      {kBitsPerSample, 8},
                      {kCompression, 1},
                      {kPhotometric, 1},
                      {kSamplesPerPixel, 1},
                      {kTileWidth, tile_width},
                      {kTileLength, tile_height},
                      {kTileOffsets, tiff_header_bytes(11)},
                      {kTileByteCounts, 16},
                      {kTileDepth, tile_depth}},
                     16);
}

/// Returns an uncompressed gray TIFF of 8 bits that claims one strip of this size.
inline Bytes tiff_of_one_strip(std::uint32_t width, std::uint32_t height) {
    return tiff_file({{kImageWidth, width},
                      {kImageLength, height},
                      {kBitsPerSample, 8},
                      {kCompression, 1},
                      {kPhotometric, 1},
                      {kStripOffsets, tiff_header_bytes(9)},
                      {kSamplesPerPixel, 1},
                      {kRowsPerStrip, height},
                      {kStripByteCounts, 16}},
                     16);
}

}  // namespace texton::test

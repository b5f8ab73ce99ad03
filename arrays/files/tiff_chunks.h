#pragma once
// Texels of TIFF files that are compressed with deflate, the default of most writers, or with LZW, or not compressed.
//
// OpenImageIO decodes several strips or tiles at the same time only if all rows that are requested belong to whole
// strips and follow the rows that were read before. Files of this kind are common and large, so their strips and tiles
// are decoded here, each of them by one thread. OpenImageIO reads all others.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include "arrays/files/input_file.h"
#include "arrays/files/source.h"
#include "arrays/files/tiff_directory.h"

namespace texton::detail {

/// An image of a TIFF file.
struct TiffImage {
    Extent extent{};
    Extent chunk{};  ///< a tile, or a strip of rows
    bool is_tiled = false;
    unsigned channels = 0;
    unsigned channel_bytes = 0;
    bool is_float = false;  ///< the channels are floats, not unsigned integers
};

enum class TiffCompression : std::uint8_t { none, lzw, deflate };

/// Where the strips or tiles of an image are in a file.
class TiffChunks {
public:
    /// Converts texels of the file, with the channels that it stores, to packed texels. Called by several threads.
    using Store = std::function<void(const std::byte* stored, std::size_t texels, std::byte* packed)>;

    /// Finds the chunks of the current directory, which decides about their size and whether they are tiles. Returns
    /// nothing if it does not describe the image otherwise, or if the image has another compression, or texels that
    /// OpenImageIO changes on reading.
    static std::optional<TiffChunks> of(const TiffNumbers& directory, TiffImage image);

    const TiffImage& image() const noexcept { return image_; }
    TiffCompression compression() const noexcept { return compression_; }
    /// Returns true if rows are prepared by predict().
    bool is_predicted() const noexcept { return is_predicted_; }
    const TiffField& offsets() const noexcept { return offsets_; }  ///< of the chunks in the file
    const TiffField& sizes() const noexcept { return sizes_; }      ///< of the chunks in bytes

    /// Decodes a box. `texel_bytes` is the size of packed texels. Returns false, and some texels may be written, if the
    /// file cannot be read or OpenImageIO must read it. Throws DamagedPart, because OpenImageIO 2.4 does not notice
    /// that a strip is damaged, and std::bad_alloc.
    bool read(const std::filesystem::path& path, const FileIdentity& identity, const Region& box,
              std::size_t texel_bytes, std::byte* packed, const Store& store) const;

private:
    TiffChunks() = default;

    TiffImage image_;
    TiffCompression compression_ = TiffCompression::none;
    bool is_predicted_ = false;
    TiffField offsets_;
    TiffField sizes_;
};

}  // namespace texton::detail

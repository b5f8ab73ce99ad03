#pragma once
// Writes the texels of TIFF files that are compressed with deflate.
//
// OpenImageIO compresses strips with zlib, and several at the same time only if it gets rows of whole strips. Here, all
// threads compress strips or tiles.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "arrays/files/texel_writer.h"
#include "arrays/files/tiff_chunks.h"
#include "arrays/files/zlib_stream.h"
#include "core/new_file.h"

namespace texton::detail {

class TiffChunkWriter : public TexelWriter {
public:
    /// `chunks` are those of the file, whose directory has room for their offsets and sizes. Texels are written at its
    /// end. Throws Error{io} if the system does not tell the size of the file.
    TiffChunkWriter(NewFile& file, const TiffChunks& chunks);

    /// Returns true if the chunks are compressed with deflate, and the directory has numbers of enough bits for their
    /// offsets and sizes.
    [[nodiscard]] static bool can_write(const TiffChunks& chunks) noexcept;
    std::size_t chunk_rows() const noexcept override { return chunks_.image().chunk.height; }
    void write(std::size_t first_row, std::size_t rows, const std::byte* texels) override;
    /// Writes where the chunks are.
    void finish() override;

private:
    std::vector<std::byte> chunk_of(std::size_t column, std::size_t first_row, std::size_t rows,
                                    const std::byte* texels) const;
    void put(std::uint64_t at, std::span<const std::byte> bytes);
    void put_numbers(const TiffField& field, const std::vector<std::uint64_t>& numbers);

    NewFile& file_;
    const TiffChunks chunks_;
    std::uint64_t end_;  // of the file
    std::vector<std::uint64_t> offsets_;
    std::vector<std::uint64_t> sizes_;
    std::vector<std::unique_ptr<ZlibCompressor>> compressors_;  // of the threads
};

}  // namespace texton::detail

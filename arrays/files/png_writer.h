#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <texton/extent.h>

#include "arrays/files/texel_writer.h"
#include "core/new_file.h"

namespace texton::detail {

/// The texels of a PNG: 1 to 4 channels of 1 or 2 bytes.
struct PngTexels {
    Extent extent{};
    std::size_t channels = 1;
    std::size_t channel_bytes = 1;
};

/// Writes the texels of PNG files (ISO 15948). Each row is filtered as libpng does: by the filter with the smallest sum
/// of absolute values. Blocks of rows are compressed on all threads, each with the end of the block before as
/// dictionary. Where Texton is built with libdeflate, which takes a third of zlib's time but makes whole streams only,
/// images of at most 16 MiB are one block. The bytes of the file do not depend on the number of threads.
class PngWriter : public TexelWriter {
public:
    /// `frame` is a PNG of one row with the width, the channels and the metadata of the file. Throws Error{io} if it is
    /// none, or if the file cannot be written.
    PngWriter(NewFile& file, std::span<const std::byte> frame, const PngTexels& texels);
    ~PngWriter() override;

    std::size_t chunk_rows() const noexcept override { return chunk_rows_; }
    void write(std::size_t first_row, std::size_t rows, const std::byte* texels) override;
    void finish() override;

private:
    class BlockCompressor;
    void write_rows(std::size_t first_row, std::size_t rows, const std::byte* texels);
    void filter(std::size_t rows, const std::byte* texels);
    void compress(std::size_t rows, bool is_last);
    void put_chunk(const char* type, std::span<const std::byte> bytes);

    NewFile& file_;
    const PngTexels texels_;
    const std::size_t texel_bytes_;
    const std::size_t row_bytes_;
    std::size_t chunk_rows_;
    std::vector<std::byte> after_;                               // chunks that follow the texels
    std::vector<std::byte> rows_;                                // the row before, then rows as they are stored
    std::vector<std::byte> filtered_;                            // the end of the rows before, then filtered rows
    std::size_t dictionary_bytes_ = 0;                           // of the rows before in filtered_
    std::uint32_t checksum_ = 1;                                 // Adler-32 of all filtered rows
    std::vector<std::unique_ptr<BlockCompressor>> compressors_;  // of the threads
};

}  // namespace texton::detail

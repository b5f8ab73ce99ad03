#include "arrays/files/tiff_chunk_writer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "arrays/files/tiff_predictor.h"
#include "core/parallel.h"

namespace texton::detail {
namespace {

constexpr std::size_t kTexelsTogether = std::size_t{16} << 20;  // bytes that are compressed before they are written

std::size_t count_of(std::size_t length, std::size_t part) { return (length + part - 1) / part; }

std::size_t bytes_of_chunk(const TiffImage& image) {
    return image.chunk.width * image.chunk.height * image.channels * image.channel_bytes;
}

}  // namespace

TiffChunkWriter::TiffChunkWriter(NewFile& file, const TiffChunks& chunks)
    : file_(file), chunks_(chunks), offsets_(chunks.offsets().count), sizes_(chunks.sizes().count) {
    const std::optional<std::uint64_t> size = file_.size();
    if (!size) file_.fail(errno);
    end_ = *size;
}

bool TiffChunkWriter::can_write(const TiffChunks& chunks) noexcept {
    // deflate adds less than half of its input
    const bool has_small_chunks = bytes_of_chunk(chunks.image()) <= std::numeric_limits<std::uint16_t>::max() / 2;
    return chunks.compression() == TiffCompression::deflate && chunks.offsets().value_bytes >= 4 &&
           (chunks.sizes().value_bytes >= 4 || has_small_chunks);
}

// Returns the texels of a chunk as they are compressed. Tiles at the right edge repeat the last texel, and those at the
// bottom end with zeros.
std::vector<std::byte> TiffChunkWriter::chunk_of(std::size_t column, std::size_t first_row, std::size_t rows,
                                                 const std::byte* texels) const {
    const TiffImage& image = chunks_.image();
    const std::size_t texel = image.channels * image.channel_bytes;
    const std::size_t row_bytes = image.chunk.width * texel;
    const std::size_t left = column * image.chunk.width;
    const std::size_t width = std::min(image.chunk.width, image.extent.width - left);
    std::vector<std::byte> chunk((image.is_tiled ? image.chunk.height : rows) * row_bytes);
    for (std::size_t y = 0; y < rows; ++y) {
        std::byte* const row = chunk.data() + y * row_bytes;
        std::memcpy(row, texels + ((first_row + y) * image.extent.width + left) * texel, width * texel);
        for (std::size_t x = width; x < image.chunk.width; ++x)
            std::memcpy(row + x * texel, row + (width - 1) * texel, texel);
    }
    if (chunks_.is_predicted()) predict(image, chunk);
    return chunk;
}

void TiffChunkWriter::write(std::size_t first_row, std::size_t rows, const std::byte* texels) {
    const TiffImage& image = chunks_.image();
    const std::size_t across = count_of(image.extent.width, image.chunk.width);
    const std::size_t first = first_row / image.chunk.height * across;
    const std::size_t count = count_of(rows, image.chunk.height) * across;
    const std::size_t threads = std::min(cpu_cores(), count);
    while (compressors_.size() < threads) compressors_.push_back(std::make_unique<ZlibCompressor>());
    const std::size_t together = std::max(kTexelsTogether / bytes_of_chunk(image), 2 * threads);
    for (std::size_t done = 0; done < count; done += together) {
        std::vector<std::vector<std::byte>> streams(std::min(together, count - done));
        for_each_piece(threads, streams.size(), [&](std::size_t i, std::size_t thread) {
            const std::size_t top = (done + i) / across * image.chunk.height;
            const auto chunk = chunk_of((done + i) % across, top, std::min(image.chunk.height, rows - top), texels);
            streams[i] = compressors_[thread]->compress(chunk);
        });
        for (std::size_t i = 0; i < streams.size(); ++i) {
            offsets_[first + done + i] = end_;
            sizes_[first + done + i] = streams[i].size();
            put(end_, streams[i]);
            end_ += streams[i].size();
        }
    }
}

void TiffChunkWriter::finish() {
    put_numbers(chunks_.offsets(), offsets_);
    put_numbers(chunks_.sizes(), sizes_);
}

void TiffChunkWriter::put(std::uint64_t at, std::span<const std::byte> bytes) {
    if (const int error = file_.write_at(at, bytes); error != 0) file_.fail(error);
}

// The file has the byte order of the machine.
void TiffChunkWriter::put_numbers(const TiffField& field, const std::vector<std::uint64_t>& numbers) {
    std::vector<std::byte> bytes(numbers.size() * field.value_bytes);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (field.value_bytes < sizeof numbers[i] && numbers[i] >> (8 * field.value_bytes) != 0) file_.fail(EFBIG);
        std::memcpy(bytes.data() + i * field.value_bytes, &numbers[i], field.value_bytes);
    }
    put(field.at, bytes);
}

}  // namespace texton::detail

#include "arrays/files/png_writer.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include "arrays/files/zlib_stream.h"
#include "core/file_error.h"
#include "core/parallel.h"

namespace texton::detail {
namespace {

using Byte = std::uint8_t;

constexpr std::size_t kBlockBytes = std::size_t{256} << 10;    // of rows that are compressed together
constexpr std::size_t kOneBlockBytes = std::size_t{16} << 20;  // of images that are compressed in one block
constexpr std::size_t kWindowBytes = std::size_t{32} << 10;    // of deflate
constexpr std::size_t kSignatureBytes = 8;
constexpr std::size_t kHeaderBytes = 25;  // of the chunk IHDR
constexpr int kFilters = 5;

std::uint32_t number_at(std::span<const std::byte> bytes, std::size_t at) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < 4; ++i) number = number << 8 | std::to_integer<std::uint32_t>(bytes[at + i]);
    return number;
}

void put_number(std::byte* to, std::uint32_t number) {
    for (std::size_t i = 0; i < 4; ++i) to[i] = static_cast<std::byte>(number >> (24 - 8 * i));
}

std::uint32_t crc_of(std::span<const std::byte> bytes, std::uint32_t before = 0) {
    return static_cast<std::uint32_t>(::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::uint32_t checksum_of(std::span<const std::byte> bytes) {
    return static_cast<std::uint32_t>(::adler32_z(1, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// --- filters ---------------------------------------------------------------------------------------------------------

// Each returns the prediction of a byte from the byte of the texel before, the byte above, and that above the former.
struct None {
    std::int16_t operator()(std::int16_t, std::int16_t, std::int16_t) const { return 0; }
};
struct Left {
    std::int16_t operator()(std::int16_t left, std::int16_t, std::int16_t) const { return left; }
};
struct Above {
    std::int16_t operator()(std::int16_t, std::int16_t above, std::int16_t) const { return above; }
};
struct Average {
    std::int16_t operator()(std::int16_t left, std::int16_t above, std::int16_t) const {
        return static_cast<std::int16_t>((left + above) >> 1);
    }
};
struct Paeth {
    std::int16_t operator()(std::int16_t left, std::int16_t above, std::int16_t corner) const {
        const auto from_left = static_cast<std::int16_t>(std::abs(above - corner));
        const auto from_above = static_cast<std::int16_t>(std::abs(left - corner));
        const auto from_corner = static_cast<std::int16_t>(std::abs(left + above - 2 * corner));
        const std::int16_t vertical = from_above <= from_corner ? above : corner;
        const std::int16_t nearest = std::min(from_above, from_corner);
        return from_left <= nearest ? left : vertical;
    }
};

// Filters a row, and returns the sum of the absolute values of the results.
template <class Predict>
std::size_t filter_row(const Byte* __restrict row, const Byte* __restrict above, std::size_t bytes, std::size_t texel,
                       Byte* __restrict out) {
    const Predict predict;
    for (std::size_t i = 0; i < texel; ++i) out[i] = static_cast<Byte>(row[i] - predict(0, above[i], 0));
    for (std::size_t i = texel; i < bytes; ++i)
        out[i] = static_cast<Byte>(row[i] - predict(row[i - texel], above[i], above[i - texel]));
    // Sums of 256 bytes fit 16 bits.
    std::size_t sum = 0;
    for (std::size_t first = 0; first < bytes; first += 256) {
        std::uint16_t part = 0;
        const std::size_t end = std::min(first + 256, bytes);
        for (std::size_t i = first; i < end; ++i)
            part = static_cast<std::uint16_t>(part + std::min<Byte>(out[i], static_cast<Byte>(-out[i])));
        sum += part;
    }
    return sum;
}

constexpr std::array<decltype(&filter_row<None>), kFilters> kFilterRow{
    filter_row<None>, filter_row<Left>, filter_row<Above>, filter_row<Average>, filter_row<Paeth>};

// Writes the number of the best filter and the filtered row. `scratch` has the size of a row.
void filter_best(const Byte* row, const Byte* above, std::size_t bytes, std::size_t texel, std::vector<Byte>& scratch,
                 Byte* out) {
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (int filter = 0; filter < kFilters; ++filter) {
        const std::size_t sum = kFilterRow[static_cast<std::size_t>(filter)](row, above, bytes, texel, scratch.data());
        if (sum >= least) continue;
        least = sum;
        out[0] = static_cast<Byte>(filter);
        std::memcpy(out + 1, scratch.data(), bytes);
    }
}

}  // namespace

// --- compression -----------------------------------------------------------------------------------------------------

/// Compresses blocks of one stream.
class PngWriter::BlockCompressor {
public:
    BlockCompressor() {
        constexpr int kWithoutHeader = -MAX_WBITS;
        constexpr int kUsualMemory = 8;
        if (::deflateInit2(&stream_, 6, Z_DEFLATED, kWithoutHeader, kUsualMemory, Z_DEFAULT_STRATEGY) != Z_OK)
            throw std::bad_alloc();
    }
    ~BlockCompressor() { ::deflateEnd(&stream_); }
    BlockCompressor(const BlockCompressor&) = delete;
    BlockCompressor& operator=(const BlockCompressor&) = delete;

    /// Returns the block at the end of `bytes` after the first `before` ones, which the reader knows. The last block ends
    /// the stream, others end with a whole byte. Throws std::bad_alloc.
    std::vector<std::byte> compress(std::span<const std::byte> bytes, std::size_t before, bool is_last) {
        ::deflateReset(&stream_);
        auto* const first = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
        if (before > 0) ::deflateSetDictionary(&stream_, first, static_cast<uInt>(before));
        const std::size_t size = bytes.size() - before;
        std::vector<std::byte> out(::deflateBound(&stream_, static_cast<uLong>(size)) + 16);  // 16: the end of a block
        stream_.next_in = first + before;
        stream_.avail_in = static_cast<uInt>(size);
        stream_.next_out = reinterpret_cast<Bytef*>(out.data());
        stream_.avail_out = static_cast<uInt>(out.size());
        ::deflate(&stream_, is_last ? Z_FINISH : Z_SYNC_FLUSH);
        out.resize(out.size() - stream_.avail_out);
        return out;
    }

private:
    z_stream stream_{};
};

PngWriter::PngWriter(NewFile& file, std::span<const std::byte> frame, const PngTexels& texels)
    : file_(file),
      texels_(texels),
      texel_bytes_(texels.channels * texels.channel_bytes),
      row_bytes_(texels.extent.width * texel_bytes_),
      chunk_rows_(ZlibCompressor::is_fast() && row_bytes_ * texels.extent.height <= kOneBlockBytes
                      ? texels.extent.height
                      : std::clamp<std::size_t>(kBlockBytes / (1 + row_bytes_), 1, texels.extent.height)),
      rows_(row_bytes_) {
    if (frame.size() < kSignatureBytes + kHeaderBytes) file_.fail(EIO);
    std::vector<std::byte> before(frame.begin(), frame.begin() + kSignatureBytes + kHeaderBytes);
    std::byte* const header = before.data() + kSignatureBytes + 4;
    put_number(header + 8, static_cast<std::uint32_t>(texels.extent.height));
    put_number(header + 17, crc_of({header, 17}));
    bool is_after = false;
    for (std::size_t at = before.size(); at + 12 <= frame.size();) {
        const std::size_t size = std::size_t{number_at(frame, at)} + 12;
        if (size > frame.size() - at) file_.fail(EIO);
        const auto chunk = frame.subspan(at, size);
        if (std::memcmp(chunk.data() + 4, "IDAT", 4) == 0) {
            is_after = true;
        } else {
            std::vector<std::byte>& to = is_after ? after_ : before;
            to.insert(to.end(), chunk.begin(), chunk.end());
        }
        at += size;
    }
    file_.write(before);
}

PngWriter::~PngWriter() = default;

void PngWriter::put_chunk(const char* type, std::span<const std::byte> bytes) {
    std::array<std::byte, 8> begin;
    put_number(begin.data(), static_cast<std::uint32_t>(bytes.size()));
    std::memcpy(begin.data() + 4, type, 4);
    std::array<std::byte, 4> end;
    put_number(end.data(), crc_of(bytes, crc_of(std::span(begin).subspan(4))));
    file_.write(begin);
    file_.write(bytes);
    file_.write(end);
}

void PngWriter::write(std::size_t first_row, std::size_t rows, const std::byte* texels) {
    const std::size_t together = chunk_rows_ * std::max<std::size_t>(16, 2 * cpu_cores());
    for (std::size_t done = 0; done < rows; done += together)
        write_rows(first_row + done, std::min(together, rows - done), texels + done * row_bytes_);
}

void PngWriter::write_rows(std::size_t first_row, std::size_t rows, const std::byte* texels) {
    filter(rows, texels);
    compress(rows, first_row + rows == texels_.extent.height);
    // What the next rows need.
    std::memmove(rows_.data(), rows_.data() + rows * row_bytes_, row_bytes_);
    const std::size_t kept = std::min(filtered_.size(), kWindowBytes);
    filtered_.erase(filtered_.begin(), filtered_.end() - static_cast<std::ptrdiff_t>(kept));
    dictionary_bytes_ = kept;
}

// Appends filtered rows to filtered_.
void PngWriter::filter(std::size_t rows, const std::byte* texels) {
    rows_.resize((1 + rows) * row_bytes_);
    std::byte* const stored = rows_.data() + row_bytes_;
    if (texels_.channel_bytes == 1) {
        std::memcpy(stored, texels, rows * row_bytes_);
    } else {  // the most significant byte is first
        for (std::size_t i = 0; i < rows * row_bytes_; i += 2) {
            stored[i] = texels[i + 1];
            stored[i + 1] = texels[i];
        }
    }
    const std::size_t before = filtered_.size();
    filtered_.resize(before + rows * (1 + row_bytes_));
    const std::size_t together = std::max<std::size_t>(kBlockBytes / (1 + row_bytes_), 1);
    const std::size_t pieces = (rows + together - 1) / together;
    for_each_piece(std::min(cpu_cores(), pieces), pieces, [&](std::size_t piece, std::size_t) {
        std::vector<Byte> scratch(row_bytes_);
        for (std::size_t y = piece * together; y < std::min((piece + 1) * together, rows); ++y) {
            const auto* const above = reinterpret_cast<const Byte*>(rows_.data() + y * row_bytes_);
            auto* const out = reinterpret_cast<Byte*>(filtered_.data() + before + y * (1 + row_bytes_));
            filter_best(above + row_bytes_, above, row_bytes_, texel_bytes_, scratch, out);
        }
    });
}

// Compresses and writes the rows at the end of filtered_.
void PngWriter::compress(std::size_t rows, bool is_last) {
    const std::span<const std::byte> filtered = filtered_;
    const bool is_first = dictionary_bytes_ == 0;
    const std::size_t pieces = (rows + chunk_rows_ - 1) / chunk_rows_;
    if (is_first && is_last && pieces == 1) return put_chunk("IDAT", ZlibCompressor().compress(filtered));
    const std::size_t threads = std::min(cpu_cores(), pieces);
    while (compressors_.size() < threads) compressors_.push_back(std::make_unique<BlockCompressor>());
    struct Block {
        std::size_t bytes = 0;
        std::vector<std::byte> stream;
        std::uint32_t checksum = 0;
    };
    std::vector<Block> blocks(pieces);
    for_each_piece(threads, pieces, [&](std::size_t piece, std::size_t thread) {
        const std::size_t block_bytes = chunk_rows_ * (1 + row_bytes_);
        const std::size_t first = dictionary_bytes_ + piece * block_bytes;
        const std::size_t bytes = std::min(block_bytes, filtered.size() - first);
        const std::size_t before = std::min(first, kWindowBytes);
        blocks[piece] = {bytes,
                         compressors_[thread]->compress(filtered.subspan(first - before, before + bytes), before,
                                                        is_last && piece + 1 == pieces),
                         checksum_of(filtered.subspan(first, bytes))};
    });
    for (std::size_t piece = 0; piece < pieces; ++piece) {
        Block& block = blocks[piece];
        checksum_ =
            static_cast<std::uint32_t>(::adler32_combine(checksum_, block.checksum, static_cast<z_off_t>(block.bytes)));
        if (is_first && piece == 0) {
            constexpr std::array kHeader{std::byte{0x78}, std::byte{0x9c}};  // RFC 1950: the usual window and level
            block.stream.insert(block.stream.begin(), kHeader.begin(), kHeader.end());
        }
        if (is_last && piece + 1 == pieces) {
            block.stream.resize(block.stream.size() + 4);
            put_number(block.stream.data() + block.stream.size() - 4, checksum_);
        }
        put_chunk("IDAT", block.stream);
    }
}

void PngWriter::finish() { file_.write(after_); }

}  // namespace texton::detail

#include "arrays/files/tiff_chunks.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <vector>

#include <fmt/format.h>

#include "arrays/files/lzw.h"
#include "arrays/files/tiff_predictor.h"
#include "arrays/files/zlib_stream.h"
#include "core/parallel.h"

namespace texton::detail {
namespace {

// Tags and values of TIFF 6.0.
enum Tag : unsigned {
    kWidth = 256,
    kLength = 257,
    kBitsPerSample = 258,
    kCompression = 259,
    kPhotometric = 262,
    kFillOrder = 266,
    kStripOffsets = 273,
    kSamplesPerPixel = 277,
    kRowsPerStrip = 278,
    kStripByteCounts = 279,
    kPlanarConfiguration = 284,
    kPredictor = 317,
    kTileWidth = 322,
    kTileLength = 323,
    kTileOffsets = 324,
    kTileByteCounts = 325,
    kSampleFormat = 339
};
constexpr std::uint64_t kNoCompression = 1, kLzw = 5, kDeflate = 8, kOldDeflate = 32946;
constexpr std::uint64_t kBlackIsZero = 1, kRgb = 2;
constexpr std::uint64_t kNoPredictor = 1, kOfIntegers = 2, kOfFloats = 3;
constexpr std::uint64_t kUnsignedIntegers = 1, kFloats = 3;

constexpr std::size_t kLargestChunk = std::size_t{8} << 20;  // each thread holds one
constexpr std::size_t kMaxChannels = 64;

std::size_t count_of(std::size_t length, std::size_t part) { return (length + part - 1) / part; }

std::optional<TiffCompression> compression_of(std::optional<std::uint64_t> value) {
    if (value == kNoCompression) return TiffCompression::none;
    if (value == kLzw) return TiffCompression::lzw;
    if (value == kDeflate || value == kOldDeflate) return TiffCompression::deflate;
    return std::nullopt;
}

// Returns true if all channels have the same value of a field, or if the field is absent and `absent` is the value.
bool all_are(const TiffNumbers& directory, unsigned tag, unsigned channels, std::uint64_t value, std::uint64_t absent) {
    const TiffField* const field = directory.field(tag);
    if (field == nullptr) return value == absent;
    if (field->value_bytes == 0 || field->count == 0 || field->count > channels) return false;
    const auto values = directory.numbers(field->at, field->value_bytes, field->count);
    return values && std::ranges::all_of(*values, [&](std::uint64_t each) { return each == value; });
}

}  // namespace

std::optional<TiffChunks> TiffChunks::of(const TiffNumbers& directory, TiffImage image) {
    const auto side = [&](unsigned tag) { return static_cast<std::size_t>(directory.value(tag, 0).value_or(0)); };
    image.is_tiled = directory.field(kTileWidth) != nullptr;
    image.chunk = image.is_tiled ? Extent{side(kTileWidth), side(kTileLength)}
                                 : Extent{image.extent.width, std::min(side(kRowsPerStrip), image.extent.height)};
    const auto compression = compression_of(directory.value(kCompression, kNoCompression));
    const bool are_compressed = compression != TiffCompression::none;
    const auto photometric = directory.value(kPhotometric, 0);
    const auto predictor = directory.value(kPredictor, kNoPredictor);
    const bool has_known_size =
        image.channel_bytes == 2 || (image.is_float ? image.channel_bytes == 4 : image.channel_bytes == 1);
    const bool is_plain =
        !directory.is_big_endian() && image.channels >= 1 && image.channels <= kMaxChannels && has_known_size &&
        image.extent.depth <= 1 && compression && (photometric == kBlackIsZero || photometric == kRgb) &&
        (!are_compressed || predictor == kNoPredictor || predictor == (image.is_float ? kOfFloats : kOfIntegers)) &&
        directory.value(kFillOrder, 1) == 1 && directory.value(kPlanarConfiguration, 1) == 1 &&
        all_are(directory, kBitsPerSample, image.channels, image.channel_bytes * 8, 1) &&
        all_are(directory, kSampleFormat, image.channels, image.is_float ? kFloats : kUnsignedIntegers,
                kUnsignedIntegers);
    const bool is_same = directory.value(kWidth, 0) == image.extent.width &&
                         directory.value(kLength, 0) == image.extent.height &&
                         directory.value(kSamplesPerPixel, 1) == image.channels;
    if (!is_plain || !is_same || image.chunk.width == 0 || image.chunk.height == 0) return std::nullopt;
    const TiffField* const offsets = directory.field(image.is_tiled ? kTileOffsets : kStripOffsets);
    const TiffField* const sizes = directory.field(image.is_tiled ? kTileByteCounts : kStripByteCounts);
    const std::size_t chunks =
        count_of(image.extent.width, image.chunk.width) * count_of(image.extent.height, image.chunk.height);
    const auto has_all = [&](const TiffField* field) {
        return field != nullptr && field->value_bytes != 0 && field->count == chunks;
    };
    const std::size_t texel = image.channels * image.channel_bytes;
    const bool is_cut = !are_compressed && !image.is_tiled;  // see BoxReader
    const bool is_small = image.chunk.width <= kLargestChunk / texel &&
                          (is_cut || image.chunk.height <= kLargestChunk / (image.chunk.width * texel));
    if (!has_all(offsets) || !has_all(sizes) || !is_small) return std::nullopt;
    TiffChunks found;
    found.image_ = image;
    found.compression_ = *compression;
    found.is_predicted_ = are_compressed && predictor != kNoPredictor;
    found.offsets_ = *offsets;
    found.sizes_ = *sizes;
    return found;
}

namespace {

// Decodes the chunks that a box covers, on several threads. Strips without compression are cut into pieces, since they
// can be as large as the image. Other chunks are pieces themselves.
class BoxReader {
public:
    BoxReader(const TiffChunks& chunks, const InputFile& file, const Region& box, std::size_t texel_bytes,
              std::byte* packed, const TiffChunks::Store& store)
        : image_(chunks.image()),
          chunks_(chunks),
          file_(file),
          box_(box),
          texel_bytes_(texel_bytes),
          packed_(packed),
          store_(store),
          across_(count_of(image_.extent.width, image_.chunk.width)),
          left_(box.offset.x / image_.chunk.width),
          top_(box.offset.y / image_.chunk.height),
          columns_(count_of(box.offset.x + box.extent.width, image_.chunk.width) - left_),
          rows_(count_of(box.offset.y + box.extent.height, image_.chunk.height) - top_),
          stored_texel_(image_.channels * image_.channel_bytes),
          stored_row_(image_.chunk.width * stored_texel_),
          piece_rows_(chunks.compression() == TiffCompression::none && !image_.is_tiled
                          ? std::min(image_.chunk.height, kBytesOfPiece / stored_row_ + 1)
                          : image_.chunk.height),
          pieces_(count_of(image_.chunk.height, piece_rows_)) {}

    // Returns false if OpenImageIO must read the box.
    bool read(const TiffNumbers& numbers) {
        const auto values_of = [&](const TiffField& field) {
            const std::size_t first = top_ * across_ + left_;
            return numbers.numbers(field.at + first * field.value_bytes, field.value_bytes,
                                   (rows_ - 1) * across_ + columns_);
        };
        const auto offsets = values_of(chunks_.offsets()), sizes = values_of(chunks_.sizes());
        if (!offsets || !sizes) return false;
        offsets_ = *offsets;
        sizes_ = *sizes;
        damaged_ = rows_ * columns_;
        const std::size_t pieces = rows_ * columns_ * pieces_;
        // Starting a thread takes as long as decoding so much.
        constexpr std::size_t kLeastOfThread = std::size_t{64} << 10;
        const std::size_t threads =
            std::min({cpu_cores(), pieces, 1 + pieces * piece_rows_ * stored_row_ / kLeastOfThread});
        std::atomic<std::size_t> next = 0;
        run_in_parallel(threads, [&](std::size_t) {
            try {
                Buffers buffers;
                for (std::size_t piece = next++; piece < pieces; piece = next++) {
                    if (!decode(piece, buffers)) is_good_ = false;
                }
            } catch (const std::bad_alloc&) {
                has_memory_ = false;
            }
        });
        if (!has_memory_) throw std::bad_alloc();
        if (damaged_ < rows_ * columns_) {
            throw DamagedPart(fmt::format("contains a {} that cannot be decompressed, at column {} and row {}",
                                          image_.is_tiled ? "tile" : "strip",
                                          (left_ + damaged_ % columns_) * image_.chunk.width,
                                          (top_ + damaged_ / columns_) * image_.chunk.height));
        }
        return is_good_;
    }

private:
    static constexpr std::size_t kBytesOfPiece = std::size_t{512} << 10;

    struct Buffers {
        std::vector<std::byte> compressed, texels;
    };

    // Returns false if OpenImageIO must read the chunk.
    bool decode(std::size_t piece, Buffers& buffers) {
        const std::size_t index = piece / pieces_, skipped = piece % pieces_ * piece_rows_;
        const Extent chunk = image_.chunk;
        const std::size_t x = (left_ + index % columns_) * chunk.width;
        const std::size_t first_y = (top_ + index / columns_) * chunk.height;
        // Tiles at the edge are stored as a whole. The last strip has the rows that are left.
        const std::size_t rows =
            image_.is_tiled ? chunk.height : std::min(chunk.height, image_.extent.height - first_y);
        const std::size_t y = first_y + skipped;
        const std::size_t height = skipped < rows ? std::min(piece_rows_, rows - skipped) : 0;
        if (y + height <= box_.offset.y || y >= box_.offset.y + box_.extent.height) return true;
        const std::size_t number = index / columns_ * across_ + index % columns_;
        const std::uint64_t size = sizes_[number];
        buffers.texels.resize(height * stored_row_);
        if (chunks_.compression() == TiffCompression::none) {
            if (size != rows * stored_row_ || !has_read(offsets_[number] + skipped * stored_row_, buffers.texels))
                return false;
        } else {
            if (size > 2 * buffers.texels.size() + 1024) return false;  // compression adds less
            buffers.compressed.resize(std::max(buffers.compressed.size(), size));
            const std::span<std::byte> stream = std::span(buffers.compressed).first(size);
            if (!has_read(offsets_[number], stream)) return false;
            if (chunks_.compression() == TiffCompression::lzw && has_old_bit_order(stream)) return false;
            const Decompressed result = decompress(stream, buffers.texels);
            if (result == Decompressed::damaged) note_damaged(index);
            if (result != Decompressed::complete) return false;
        }
        if (chunks_.is_predicted()) undo_prediction(image_, buffers.texels);
        store_rows(x, y, height, buffers.texels);
        return true;
    }

    bool has_read(std::uint64_t at, std::span<std::byte> bytes) const {
        return file_.read_at(at, bytes) == bytes.size();
    }

    Decompressed decompress(std::span<const std::byte> stream, std::span<std::byte> texels) const {
        if (chunks_.compression() == TiffCompression::deflate) return decompress_zlib(stream, texels);
        return decompress_lzw(stream, texels) ? Decompressed::complete : Decompressed::damaged;
    }

    // Keeps the number of the first chunk.
    void note_damaged(std::size_t index) {
        std::size_t first = damaged_;
        while (index < first && !damaged_.compare_exchange_weak(first, index)) {
        }
    }

    void store_rows(std::size_t x, std::size_t y, std::size_t height, std::span<const std::byte> texels) const {
        const std::size_t begin_x = std::max(x, box_.offset.x), begin_y = std::max(y, box_.offset.y);
        const std::size_t end_x = std::min(x + image_.chunk.width, box_.offset.x + box_.extent.width);
        const std::size_t end_y = std::min(y + height, box_.offset.y + box_.extent.height);
        for (std::size_t row = begin_y; row < end_y; ++row) {
            store_(texels.data() + (row - y) * stored_row_ + (begin_x - x) * stored_texel_, end_x - begin_x,
                   packed_ + ((row - box_.offset.y) * box_.extent.width + begin_x - box_.offset.x) * texel_bytes_);
        }
    }

    const TiffImage& image_;
    const TiffChunks& chunks_;
    const InputFile& file_;
    const Region box_;
    const std::size_t texel_bytes_;
    std::byte* const packed_;
    const TiffChunks::Store& store_;
    const std::size_t across_;                     // chunks in a row of the image
    const std::size_t left_, top_;                 // chunk at the corner of the box
    const std::size_t columns_, rows_;             // of chunks
    const std::size_t stored_texel_, stored_row_;  // bytes in a chunk
    const std::size_t piece_rows_;
    const std::size_t pieces_;  // of a chunk
    std::vector<std::uint64_t> offsets_, sizes_;
    std::atomic<bool> is_good_ = true, has_memory_ = true;
    std::atomic<std::size_t> damaged_ = 0;
};

}  // namespace

bool TiffChunks::read(const std::filesystem::path& path, const FileIdentity& identity, const Region& box,
                      std::size_t texel_bytes, std::byte* packed, const Store& store) const {
    const TiffNumbers numbers(path);
    if (!numbers.file().is_open() || numbers.file().identity() != identity) return false;
    return BoxReader(*this, numbers.file(), box, texel_bytes, packed, store).read(numbers);
}

}  // namespace texton::detail

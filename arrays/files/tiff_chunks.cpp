#include "arrays/files/tiff_chunks.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <vector>

#include <fmt/format.h>

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
constexpr std::uint64_t kNoCompression = 1, kDeflate = 8, kOldDeflate = 32946;
constexpr std::uint64_t kBlackIsZero = 1, kRgb = 2;
constexpr std::uint64_t kNoPredictor = 1, kOfIntegers = 2, kOfFloats = 3;
constexpr std::uint64_t kUnsignedIntegers = 1, kFloats = 3;

constexpr std::size_t kLargestChunk = std::size_t{8} << 20;  // each thread holds one
constexpr std::size_t kBytesOfCut = std::size_t{512} << 10;
constexpr std::size_t kMaxChannels = 64;

std::size_t count_of(std::size_t length, std::size_t part) { return (length + part - 1) / part; }

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
    const auto compression = directory.value(kCompression, kNoCompression);
    const bool are_compressed = compression == kDeflate || compression == kOldDeflate;
    const auto photometric = directory.value(kPhotometric, 0);
    const auto predictor = directory.value(kPredictor, kNoPredictor);
    const bool has_known_size =
        image.channel_bytes == 2 || (image.is_float ? image.channel_bytes == 4 : image.channel_bytes == 1);
    const bool is_plain =
        !directory.is_big_endian() && image.channels >= 1 && image.channels <= kMaxChannels && has_known_size &&
        image.extent.depth <= 1 && (are_compressed || compression == kNoCompression) &&
        (photometric == kBlackIsZero || photometric == kRgb) &&
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
    const bool is_cut = !are_compressed && !image.is_tiled;  // see read()
    const bool is_small = image.chunk.width <= kLargestChunk / texel &&
                          (is_cut || image.chunk.height <= kLargestChunk / (image.chunk.width * texel));
    if (!has_all(offsets) || !has_all(sizes) || !is_small) return std::nullopt;
    TiffChunks found;
    found.image_ = image;
    found.are_compressed_ = are_compressed;
    found.is_predicted_ = are_compressed && predictor != kNoPredictor;
    found.offsets_ = *offsets;
    found.sizes_ = *sizes;
    return found;
}

bool TiffChunks::read(const std::filesystem::path& path, const FileIdentity& identity, const Region& box,
                      std::size_t texel_bytes, std::byte* packed, const Store& store) const {
    const TiffNumbers numbers(path);
    if (!numbers.file().is_open() || numbers.file().identity() != identity) return false;
    const Extent chunk = image_.chunk;
    const std::size_t across = count_of(image_.extent.width, chunk.width);
    const std::size_t left = box.offset.x / chunk.width, top = box.offset.y / chunk.height;
    const std::size_t columns = count_of(box.offset.x + box.extent.width, chunk.width) - left;
    const std::size_t rows = count_of(box.offset.y + box.extent.height, chunk.height) - top;
    const std::size_t first = top * across + left;
    const std::size_t spanned = (rows - 1) * across + columns;
    const auto values_of = [&](const TiffField& field) {
        return numbers.numbers(field.at + first * field.value_bytes, field.value_bytes, spanned);
    };
    const auto offsets = values_of(offsets_), sizes = values_of(sizes_);
    if (!offsets || !sizes) return false;
    const std::size_t stored_texel = image_.channels * image_.channel_bytes;
    const std::size_t stored_row = chunk.width * stored_texel;
    // Strips without compression are cut, since they can be as large as the image.
    const std::size_t rows_of_cut = are_compressed_ || image_.is_tiled ? chunk.height : kBytesOfCut / stored_row + 1;
    const std::size_t piece_rows = std::min(chunk.height, rows_of_cut);
    const std::size_t pieces = count_of(chunk.height, piece_rows);  // of a chunk

    std::atomic<bool> good = true, has_memory = true;
    std::atomic<std::size_t> damaged = rows * columns;  // the first chunk
    // Returns false if OpenImageIO must read the chunk.
    const auto decode = [&](std::size_t piece, std::vector<std::byte>& compressed, std::vector<std::byte>& texels) {
        const std::size_t index = piece / pieces, skipped = piece % pieces * piece_rows;
        const std::size_t x = (left + index % columns) * chunk.width, first_y = (top + index / columns) * chunk.height;
        const std::size_t number = index / columns * across + index % columns;
        // Tiles at the edge are stored as a whole. The last strip has the rows that are left.
        const std::size_t all_rows =
            image_.is_tiled ? chunk.height : std::min(chunk.height, image_.extent.height - first_y);
        const std::size_t y = first_y + skipped;
        const std::size_t height = skipped < all_rows ? std::min(piece_rows, all_rows - skipped) : 0;
        if (y + height <= box.offset.y || y >= box.offset.y + box.extent.height) return true;
        const std::uint64_t size = (*sizes)[number];
        texels.resize(height * stored_row);
        if (!are_compressed_) {
            const std::uint64_t at = (*offsets)[number] + skipped * stored_row;
            if (size != all_rows * stored_row || numbers.file().read_at(at, texels) != texels.size()) return false;
        } else {
            if (size > 2 * texels.size() + 1024) return false;  // deflate adds less
            compressed.resize(std::max(compressed.size(), size));
            const std::span<std::byte> stream = std::span(compressed).first(size);
            if (numbers.file().read_at((*offsets)[number], stream) != size) return false;
            const Decompressed result = decompress_zlib(stream, texels);
            if (result == Decompressed::damaged) {
                std::size_t first_damaged = damaged;
                while (index < first_damaged && !damaged.compare_exchange_weak(first_damaged, index)) {
                }
            }
            if (result != Decompressed::complete) return false;
        }
        if (is_predicted_) undo_prediction(image_, texels);
        const std::size_t begin_x = std::max(x, box.offset.x), begin_y = std::max(y, box.offset.y);
        const std::size_t end_x = std::min(x + chunk.width, box.offset.x + box.extent.width);
        const std::size_t end_y = std::min(y + height, box.offset.y + box.extent.height);
        for (std::size_t row = begin_y; row < end_y; ++row) {
            store(texels.data() + (row - y) * stored_row + (begin_x - x) * stored_texel, end_x - begin_x,
                  packed + ((row - box.offset.y) * box.extent.width + begin_x - box.offset.x) * texel_bytes);
        }
        return true;
    };

    const std::size_t all_pieces = rows * columns * pieces;
    // Starting a thread takes as long as decoding so much.
    constexpr std::size_t kLeastOfThread = std::size_t{64} << 10;
    const std::size_t threads =
        std::min({cpu_cores(), all_pieces, 1 + all_pieces * piece_rows * stored_row / kLeastOfThread});
    std::atomic<std::size_t> next = 0;
    const auto decode_next = [&](std::size_t) {
        try {
            std::vector<std::byte> compressed, texels;
            for (std::size_t piece = next++; piece < all_pieces; piece = next++) {
                if (!decode(piece, compressed, texels)) good = false;
            }
        } catch (const std::bad_alloc&) {
            has_memory = false;
        }
    };
    run_in_parallel(threads, decode_next);
    if (!has_memory) throw std::bad_alloc();
    if (damaged < rows * columns) {
        throw DamagedPart(fmt::format("contains a {} that cannot be decompressed, at column {} and row {}",
                                      image_.is_tiled ? "tile" : "strip", (left + damaged % columns) * chunk.width,
                                      (top + damaged / columns) * chunk.height));
    }
    return good;
}

}  // namespace texton::detail

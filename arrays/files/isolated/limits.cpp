#include "arrays/files/isolated/limits.h"

#include <algorithm>
#include <limits>

#include "arrays/files/compressed_part.h"
#include "arrays/files/formats.h"

// The limit of memory follows from two numbers: the texels that a file claims to have, and the texels that its bytes
// can hold at the largest compression of its kind. A small file that claims to be large therefore gets little memory.

namespace texton::detail {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kFixedBytes = 512 * kMiB;       // what decoders need in addition to the texels
constexpr std::uint64_t kUnboundedBytes = 4096 * kMiB;  // in place of what the bytes of an unbounded kind can hold
constexpr std::uint64_t kUnbounded = 0;
constexpr double kFixedSeconds = 10;
constexpr double kBytesPerSecond = 4 * static_cast<double>(kMiB);  // of the slowest decoders

// The largest expansion of each coding, in decoded bytes for one byte of the file:
// - deflate and Zstandard: max_expansion().
// - LZW (TIFF, GIF): 2,559. A code of 12 bits stands for at most 3,838 bytes.
// - PackBits and the run-length codes of TGA, IFF, OpenEXR and Softimage: 64. 2 bytes stand for 128 bytes.
// - Radiance: 64. 2 bytes stand for 127 bytes.
// - SGI: 8,192. The 8 bytes of a row in the table stand for a row of 65,535 texels, because rows can share their bytes.
// - OpenEXR: PXR24 is deflate of 3 of 4 bytes; B44A stores 16 half floats in 3 bytes, B44 in 14. PIZ codes runs of up
//   to 255 values of 16 bits in 9 bits.
// They are multiplied by the widening of decoded bytes to texels. A bit can be an index into a palette of colors, which
// become texels of 4 bytes: 32. Three channels become four: 4/3, here 2. RGBE becomes four floats, and three half floats
// beside a float become four floats: 4. An index of 8 bits into a palette becomes 4 bytes: 4.
constexpr std::uint64_t kDeflate = max_expansion(Supercompression::zlib);
constexpr std::uint64_t kZstd = max_expansion(Supercompression::zstd);
constexpr std::uint64_t kLzw = 2559, kRuns = 64;
constexpr std::uint64_t kFromBits = 32, kFromIndices = 4, kFromRgb = 2, kFromHalves = 4;

struct Row {
    std::string_view kind;
    std::string_view compression;  // empty: every other compression of the kind
    std::uint64_t ratio;
};
// Kinds that are not in the table are unbounded: JPEG (a progressive scan codes runs of 32,767 blocks in a few bits),
// JPEG 2000, WebP, HEIF, GIF (the canvas is larger than its frames), PSD (likewise), RLA (rows can share their bytes),
// camera raw, DICOM, movies, OpenVDB.
constexpr Row kRows[] = {
    {"dds", "", 8 * kFromRgb},  // BC1 and BC6H: 8 bytes for 1
    {"ktx2", "zstd", kZstd* kFromRgb},
    {"ktx2", "zlib", kDeflate* kFromRgb},
    {"ktx2", "", 8 * kFromRgb},
    {"png", "", kDeflate* kFromBits},
    {"bmp", "rle4", kUnbounded},  // skips of up to 255 rows, and an early end
    {"bmp", "rle8", kUnbounded},
    {"bmp", "", 1 * kFromBits},
    {"ico", "", kDeflate* kFromBits},
    {"tiff", "none", 1 * kFromBits},
    {"tiff", "lzw", kLzw* kFromBits},
    {"tiff", "zip", kDeflate* kFromBits},
    {"tiff", "zstd", kZstd* kFromBits},
    {"tiff", "packbits", kRuns* kFromBits},
    {"tiff", "", kUnbounded},  // CCITT (a row of any width in one bit), JPEG, WebP, LZMA, JBIG, SGILOG
    {"openexr", "none", 1 * kFromHalves},
    {"openexr", "rle", kRuns* kFromHalves},
    {"openexr", "zip", kDeflate* kFromHalves},
    {"openexr", "zips", kDeflate* kFromHalves},
    {"openexr", "piz", 454 * kFromHalves},
    {"openexr", "pxr24", kDeflate * 4 / 3 * kFromHalves},
    {"openexr", "b44", 3 * kFromHalves},
    {"openexr", "b44a", 11 * kFromHalves},
    {"openexr", "", kUnbounded},  // DWAA, DWAB
    {"hdr", "", kRuns* kFromHalves},
    {"targa", "", kRuns* kFromIndices},
    {"sgi", "", 8192 * kFromRgb},
    {"pnm", "", 1 * kFromBits},
    {"fits", "", 1 * kFromRgb},
    {"cineon", "", 2 * kFromRgb},  // 10 of 16 bits
    {"dpx", "rle", kUnbounded},    // runs of 32,767 texels
    {"dpx", "", 2 * kFromRgb},     // 10 of 16 bits
    {"iff", "", kRuns* kFromRgb},
    {"zfile", "", kDeflate* kFromRgb},
};

// Returns how many times the bytes of the texels a decoder needs. OpenJPEG has each channel as integers of 32 bits, twice
// while it decodes.
std::uint64_t copies_of(std::string_view kind) noexcept { return kind == "jpeg2000" ? 9 : 1; }

std::uint64_t product(std::uint64_t a, std::uint64_t b) noexcept {
    std::uint64_t result = 0;
    return __builtin_mul_overflow(a, b, &result) ? std::numeric_limits<std::uint64_t>::max() : result;
}

std::uint64_t sum(std::uint64_t a, std::uint64_t b) noexcept {
    std::uint64_t result = 0;
    return __builtin_add_overflow(a, b, &result) ? std::numeric_limits<std::uint64_t>::max() : result;
}

// Returns the texels of all levels in bytes.
std::uint64_t claimed_bytes(const Description& source) noexcept {
    const std::size_t side = block_side(source.format);
    const auto blocks = [side](std::size_t texels) { return (texels + side - 1) / side; };
    std::uint64_t all = 0;
    for (const DescribedLevel& level : source.levels) {
        const auto& [width, height, depth] = level.extent;
        all = sum(all, product(product(blocks(width), blocks(height)), product(depth, info(source.format).bytes)));
    }
    return all;
}

// Returns how often a channel is read on average: a channel that is read several times is stored once.
std::uint64_t repetitions_of(const std::vector<std::string>& read_channels) noexcept {
    std::size_t distinct = 0;
    for (auto name = read_channels.begin(); name != read_channels.end(); ++name)
        if (std::find(read_channels.begin(), name, *name) == name) ++distinct;
    return distinct == 0 ? 1 : (read_channels.size() + distinct - 1) / distinct;
}

std::string_view compression_of(const ImageMetadata& metadata) noexcept {
    for (const ImageAttribute& attribute : metadata.attributes) {
        if (attribute.name == "compression") return attribute.value;
    }
    return "";
}

}  // namespace

std::uint64_t largest_compression(std::string_view kind, std::string_view compression) noexcept {
    for (const Row& row : kRows) {
        if (row.kind == kind && (row.compression.empty() || row.compression == compression)) return row.ratio;
    }
    return kUnbounded;
}

Claim assumed_claim(const std::filesystem::path& path) {
    static constexpr std::string_view kDecodedWhenOpened[] = {".jp2",  ".j2k",  ".j2c", ".webp",
                                                              ".heic", ".heif", ".avif"};
    if (std::ranges::find(kDecodedWhenOpened, file_ending(path)) == std::end(kDecodedWhenOpened)) return {};
    return {.bytes = kUnboundedBytes, .decoded = kUnboundedBytes, .possible = kUnboundedBytes};
}

void add_claim(Claim& claim, const Description& source, std::uint64_t file_bytes) noexcept {
    const ImageMetadata& metadata = source.image.metadata;
    const std::uint64_t ratio = largest_compression(metadata.file_kind, compression_of(metadata));
    const bool bounded = ratio != kUnbounded && file_bytes != 0;
    const std::uint64_t claimed = claimed_bytes(source);
    const std::uint64_t possible = bounded ? product(file_bytes, ratio) : kUnboundedBytes;
    claim.bytes = sum(claim.bytes, claimed);
    claim.decoded = sum(claim.decoded, product(claimed, copies_of(metadata.file_kind)));
    claim.possible = std::max(claim.possible, possible);
    claim.is_possible = claim.is_possible && (!bounded || claimed / repetitions_of(metadata.read_channels) <= possible);
}

std::uint64_t memory_limit(const ReadLimits& limits, const Claim& claim) noexcept {
    return limits.bytes != 0 ? limits.bytes : sum(std::min(claim.decoded, claim.possible), kFixedBytes);
}

double time_limit(const ReadLimits& limits, const Claim& claim) noexcept {
    if (limits.seconds > 0) return limits.seconds;
    return kFixedSeconds + static_cast<double>(std::min(claim.bytes, claim.possible)) / kBytesPerSecond;
}

}  // namespace texton::detail

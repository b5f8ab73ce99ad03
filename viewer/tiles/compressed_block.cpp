// Neighboring texels are similar, so each channel is replaced by its difference from the texel to the left, as the
// horizontal predictor of TIFF does, or by the difference of this difference from that of the row above. The bytes of
// channels with several bytes are separated: the upper ones are mostly zero. The result is compressed at the fastest
// level, with Zstandard where the build has it.
#include "viewer/tiles/compressed_block.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>

#include "arrays/files/zstd_frames.h"

namespace texton::tiles {
namespace {

constexpr int kLevel = 1;

template <class Value>
Value value_at(const std::byte* row, std::size_t i) {
    Value value;
    std::memcpy(&value, row + i * sizeof(Value), sizeof(Value));
    return value;
}

// Writes the differences of a row: first the lowest bytes of the first channel of all texels, then those of the next
// channel, and so on.
template <class Value, std::size_t kChannels>
void subtract(const std::byte* row, const std::byte* above, std::byte* out, std::size_t values) {
    const std::size_t texels = values / kChannels;
    for (std::size_t channel = 0; channel < kChannels; ++channel) {
        Value left = 0;
        for (std::size_t texel = 0; texel < texels; ++texel) {
            const std::size_t i = texel * kChannels + channel;
            const auto value = static_cast<Value>(value_at<Value>(row, i) - value_at<Value>(above, i));
            const auto difference = static_cast<Value>(value - std::exchange(left, value));
            for (std::size_t byte = 0; byte < sizeof(Value); ++byte)
                out[byte * values + channel * texels + texel] = static_cast<std::byte>(difference >> (8 * byte));
        }
    }
}

template <class Value, std::size_t kChannels>
void add(const std::byte* differences, const std::byte* above, std::byte* row, std::size_t values) {
    const std::size_t texels = values / kChannels;
    for (std::size_t channel = 0; channel < kChannels; ++channel) {
        Value left = 0;
        for (std::size_t texel = 0; texel < texels; ++texel) {
            for (std::size_t byte = 0; byte < sizeof(Value); ++byte) {
                const auto part = static_cast<Value>(differences[byte * values + channel * texels + texel]);
                left = static_cast<Value>(left + (part << (8 * byte)));
            }
            const std::size_t i = texel * kChannels + channel;
            const auto value = static_cast<Value>(left + value_at<Value>(above, i));
            std::memcpy(row + i * sizeof(Value), &value, sizeof value);
        }
    }
}

// Returns the sum of the absolute differences of a row.
template <class Value, std::size_t kChannels>
double cost(const std::byte* row, const std::byte* above, std::size_t values) {
    double sum = 0;
    for (std::size_t i = kChannels; i < values; ++i) {
        const std::size_t left = i - kChannels;
        const auto difference = static_cast<Value>(value_at<Value>(row, i) - value_at<Value>(above, i) -
                                                   value_at<Value>(row, left) + value_at<Value>(above, left));
        sum += std::min<double>(difference, static_cast<Value>(-difference));
    }
    return sum;
}

// Functions of a row, the row above it and the number of its channel values.
struct RowFunctions {
    void (*subtract)(const std::byte*, const std::byte*, std::byte*, std::size_t);
    void (*add)(const std::byte*, const std::byte*, std::byte*, std::size_t);
    double (*cost)(const std::byte*, const std::byte*, std::size_t);
};

template <class Value, std::size_t kChannels>
constexpr RowFunctions kRow{subtract<Value, kChannels>, add<Value, kChannels>, cost<Value, kChannels>};
template <class Value>
constexpr std::array<RowFunctions, 3> kRows{kRow<Value, 1>, kRow<Value, 2>, kRow<Value, 4>};

// Returns the functions for a layout. Rows that are no multiple of its texels are differences of bytes.
const RowFunctions& functions_for(TexelLayout& layout, std::size_t row_bytes) {
    if (row_bytes % (layout.channel_bytes * layout.channels) != 0) layout = {};
    const std::size_t channels = layout.channels == 4 ? 2 : layout.channels - 1;
    switch (layout.channel_bytes) {
        case 4: return kRows<std::uint32_t>[channels];
        case 2: return kRows<std::uint16_t>[channels];
        default: return kRows<std::uint8_t>[channels];
    }
}

// Returns true if the rows of a block differ less from those above them, by a sample of rows.
bool resembles_row_above(std::span<const std::byte> texels, std::size_t row_bytes, TexelLayout layout) {
    constexpr std::size_t kSampled = 16;  // one of so many rows
    const RowFunctions& rows = functions_for(layout, row_bytes);
    const std::vector<std::byte> zeros(row_bytes);
    double left = 0;
    double both = 0;
    for (std::size_t at = row_bytes; at < texels.size(); at += kSampled * row_bytes) {
        const std::byte* const row = texels.data() + at;
        left += rows.cost(row, zeros.data(), row_bytes / layout.channel_bytes);
        both += rows.cost(row, row - row_bytes, row_bytes / layout.channel_bytes);
    }
    return both < left;
}

const Bytef* data_of(std::span<const std::byte> bytes) { return reinterpret_cast<const Bytef*>(bytes.data()); }

bool inflate_all(std::span<const std::byte> bytes, std::span<std::byte> out) {
    uLongf size = out.size();
    const int result = ::uncompress(reinterpret_cast<Bytef*>(out.data()), &size, data_of(bytes), bytes.size());
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    return result == Z_OK && size == out.size();
}

bool decompress_zstd(std::span<const std::byte> bytes, std::span<std::byte> out) try {
    if (!detail::has_zstd()) return false;
    const auto step = detail::zstd_decoder()->decode(bytes, out);
    return step.is_complete && step.taken == bytes.size() && step.written == out.size();
} catch (const detail::DamagedPart&) {
    return false;
}

}  // namespace

BlockCompression best_compression() noexcept {
    return detail::has_zstd() ? BlockCompression::zstd : BlockCompression::zlib;
}

CompressedBlock compress_block(std::span<const std::byte> texels, std::size_t row_bytes, TexelLayout layout,
                               BlockCompression compression) {
    std::vector<std::byte> differences(texels.size());
    const RowFunctions& rows = functions_for(layout, row_bytes);
    const std::vector<std::byte> zeros(row_bytes);
    CompressedBlock block{.compression = compression, .uses_row_above = resembles_row_above(texels, row_bytes, layout)};
    for (std::size_t at = 0; at < texels.size(); at += row_bytes) {
        const std::byte* const row = texels.data() + at;
        const std::byte* const above = block.uses_row_above && at > 0 ? row - row_bytes : zeros.data();
        rows.subtract(row, above, differences.data() + at, row_bytes / layout.channel_bytes);
    }
    if (compression == BlockCompression::zstd) {
        detail::ZstdWriter(kLevel, differences.size(), [&](std::span<const std::byte> bytes) {
            block.bytes.insert(block.bytes.end(), bytes.begin(), bytes.end());
        }).write(differences);
    } else if (compression == BlockCompression::zlib) {
        uLongf size = ::compressBound(differences.size());
        block.bytes.resize(size);
        if (::compress2(reinterpret_cast<Bytef*>(block.bytes.data()), &size, data_of(differences), differences.size(),
                        kLevel) != Z_OK)
            throw std::bad_alloc();
        block.bytes.resize(size);
    }
    if (compression == BlockCompression::none || block.bytes.size() >= texels.size()) {
        block.compression = BlockCompression::none;
        block.bytes.assign(texels.begin(), texels.end());
    }
    return block;
}

bool decompress_block(const CompressedBlock& block, std::span<std::byte> texels, std::size_t row_bytes,
                      TexelLayout layout) {
    if (block.compression == BlockCompression::none) {
        if (block.bytes.size() != texels.size()) return false;
        std::memcpy(texels.data(), block.bytes.data(), texels.size());
        return true;
    }
    std::vector<std::byte> differences(texels.size());
    const auto decompress = block.compression == BlockCompression::zstd ? decompress_zstd : inflate_all;
    if (!decompress(block.bytes, differences)) return false;
    const RowFunctions& rows = functions_for(layout, row_bytes);
    const std::vector<std::byte> zeros(row_bytes);
    for (std::size_t at = 0; at < texels.size(); at += row_bytes) {
        std::byte* const row = texels.data() + at;
        const std::byte* const above = block.uses_row_above && at > 0 ? row - row_bytes : zeros.data();
        rows.add(differences.data() + at, above, row, row_bytes / layout.channel_bytes);
    }
    return true;
}

std::uint32_t checksum_of(std::span<const std::byte> bytes) noexcept {
    return static_cast<std::uint32_t>(::crc32_z(0, data_of(bytes), bytes.size()));
}

}  // namespace texton::tiles

#include "arrays/files/tiff_predictor.h"

#include <cstdint>
#include <cstring>
#include <vector>

namespace texton::detail {
namespace {

std::size_t row_bytes_of(const TiffImage& image) { return image.chunk.width * image.channels * image.channel_bytes; }

// Calls change(row) for each row.
template <class Change>
void for_each_row(const TiffImage& image, std::span<std::byte> rows, const Change& change) {
    const std::size_t bytes = row_bytes_of(image);
    for (std::size_t at = 0; at + bytes <= rows.size(); at += bytes) change(rows.subspan(at, bytes));
}

// Replaces values by differences from the texel before.
template <class Value>
void subtract_before(std::span<std::byte> row, std::size_t channels) {
    auto* const values = reinterpret_cast<Value*>(row.data());
    for (std::size_t i = row.size() / sizeof(Value); i-- > channels;)
        values[i] = static_cast<Value>(values[i] - values[i - channels]);
}

// Replaces differences by values.
template <class Value>
void add_before(std::span<std::byte> row, std::size_t channels) {
    auto* const values = reinterpret_cast<Value*>(row.data());
    const std::size_t count = row.size() / sizeof(Value);
    for (std::size_t i = channels; i < count; ++i) values[i] = static_cast<Value>(values[i] + values[i - channels]);
}

// As add_before(), for bytes and a number of channels that is known: the sums stay in registers.
template <std::size_t kChannels>
void add_bytes_before(std::span<std::byte> row) {
    auto* value = reinterpret_cast<unsigned char*>(row.data());
    unsigned char sums[kChannels] = {};
    for (const auto* const end = value + row.size(); value < end; value += kChannels) {
        for (std::size_t i = 0; i < kChannels; ++i) value[i] = sums[i] = static_cast<unsigned char>(sums[i] + value[i]);
    }
}

void add_bytes_before(std::span<std::byte> row, std::size_t channels) {
    switch (channels) {
        case 1: return add_bytes_before<1>(row);
        case 3: return add_bytes_before<3>(row);
        case 4: return add_bytes_before<4>(row);
        default: return add_before<std::uint8_t>(row, channels);
    }
}

// Float is the unsigned integer of the size of a float.
template <class Float>
void split_into_planes(std::span<std::byte> row, std::vector<std::byte>& planes) {
    const std::size_t count = row.size() / sizeof(Float);
    const auto* const values = reinterpret_cast<const Float*>(row.data());
    for (std::size_t plane = 0; plane < sizeof(Float); ++plane) {
        const std::size_t shift = 8 * (sizeof(Float) - 1 - plane);
        std::byte* const out = planes.data() + plane * count;
        for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::byte>(values[i] >> shift);
    }
    std::memcpy(row.data(), planes.data(), row.size());
}

template <class Float>
void join_planes(std::span<std::byte> row, std::vector<std::byte>& planes) {
    const std::size_t count = row.size() / sizeof(Float);
    std::memcpy(planes.data(), row.data(), row.size());
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(planes.data());
    auto* const values = reinterpret_cast<Float*>(row.data());
    for (std::size_t i = 0; i < count; ++i) {
        unsigned value = 0;
        for (std::size_t plane = 0; plane < sizeof(Float); ++plane) value = value << 8 | bytes[plane * count + i];
        values[i] = static_cast<Float>(value);
    }
}

}  // namespace

void predict(const TiffImage& image, std::span<std::byte> rows) {
    std::vector<std::byte> planes(image.is_float ? row_bytes_of(image) : 0);
    for_each_row(image, rows, [&](std::span<std::byte> row) {
        if (image.is_float) {
            image.channel_bytes == 2 ? split_into_planes<std::uint16_t>(row, planes)
                                     : split_into_planes<std::uint32_t>(row, planes);
        }
        if (image.channel_bytes == 2 && !image.is_float) return subtract_before<std::uint16_t>(row, image.channels);
        subtract_before<std::uint8_t>(row, image.channels);
    });
}

void undo_prediction(const TiffImage& image, std::span<std::byte> rows) {
    std::vector<std::byte> planes(image.is_float ? row_bytes_of(image) : 0);
    for_each_row(image, rows, [&](std::span<std::byte> row) {
        if (image.channel_bytes == 2 && !image.is_float) return add_before<std::uint16_t>(row, image.channels);
        add_bytes_before(row, image.channels);
        if (image.is_float) {
            image.channel_bytes == 2 ? join_planes<std::uint16_t>(row, planes)
                                     : join_planes<std::uint32_t>(row, planes);
        }
    });
}

}  // namespace texton::detail

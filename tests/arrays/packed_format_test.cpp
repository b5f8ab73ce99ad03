#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/format.h>
#include <texton/pitched.h>
#include <texton/pixel_encode.h>
#include <texton/sample.h>
#include <texton/texture.h>

#include "arrays/cpu/texel_decoder.h"
#include "arrays/unit/texel_format.h"
#include "arrays/unit/texture_unit.h"
#include "tests/support/decode.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

// Tests every packed format of the table. A format that has only a row in core/format.cpp fails here, and the failure
// names the missing part.

namespace texton {
namespace {

using detail::Packed;
using detail::TexelFormat;
using test::Bytes;

class PackedFormatTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, PackedFormatTest, test::every_device(), test::device_label);

std::vector<FormatInfo> packed_rows() {
    std::vector<FormatInfo> rows;
    for (const FormatInfo& row : formats()) {
        if (row.layout == FormatLayout::packed) rows.push_back(row);
    }
    return rows;
}

/// Returns texels that contain every code of every channel. The bits of the other channels are pseudo-random.
std::vector<std::uint32_t> words_of_every_code(const FormatInfo& row) {
    std::vector<std::uint32_t> words;
    std::uint32_t drawn = 12345;
    for (int c = 0; c < row.channels; ++c) {
        const auto [first, count] = channel_bits(row.format, c);
        const std::uint32_t mask = (1U << count) - 1;
        for (std::uint32_t code = 0; code <= mask; ++code) {
            drawn = drawn * 1664525 + 1013904223;
            const std::uint32_t others = row.bytes == 4 ? drawn : drawn >> (32 - 8 * row.bytes);
            words.push_back((others & ~(mask << first)) | code << first);
        }
    }
    while (words.size() % 64 != 0) words.push_back(0);
    return words;
}

Bytes texels_of(const FormatInfo& row, const std::vector<std::uint32_t>& words) {
    Bytes bytes(words.size() * row.bytes);
    for (std::size_t i = 0; i < words.size(); ++i) std::memcpy(&bytes[i * row.bytes], &words[i], row.bytes);
    return bytes;
}

Texel point_read(const FormatInfo& row, const std::byte* texel) {
    const TexelFormat format = detail::texel_format(row.format);
    return unfiltered_texel(decode_texel(reinterpret_cast<const unsigned char*>(texel), format, 0, 0), format);
}

bool is_finite(const Texel& texel) {
    return std::all_of(std::begin(texel.channel), std::end(texel.channel),
                       [](std::uint32_t bits) { return std::isfinite(std::bit_cast<float>(bits)); });
}

TEST(PackedFormatTableTest, EveryPackedFormatHasADecoder) {
    EXPECT_FALSE(packed_rows().empty());
    for (const FormatInfo& row : packed_rows()) {
        const TexelFormat format = detail::texel_format(row.format);
        ASSERT_NE(format.packed, Packed::none) << row.name << " has no decoder in arrays/texton/packed_texel.h";
        EXPECT_EQ(static_cast<int>(format.encoding), static_cast<int>(row.kind)) << row.name;
        EXPECT_EQ(format.channels, row.channels) << row.name;
        EXPECT_EQ(format.bits, row.bits) << row.name;
        EXPECT_EQ(format.bytes, row.bytes) << row.name;
        for (int c = 0; c < 4; ++c) {
            const int bits = detail::packed_channel(0, format.packed, c).bits;
            EXPECT_EQ(bits, row.cuda.bits[static_cast<std::size_t>(c)]) << row.name << ", channel " << c;
            EXPECT_EQ(bits, channel_bits(row.format, c).count) << row.name << ", channel " << c;
        }
    }
}

TEST(PackedFormatTableTest, EveryDecoderBelongsToAPackedFormat) {
    for (int i = 0; i < static_cast<int>(Packed::none); ++i) {
        const Format format =
            detail::with_packed(static_cast<Packed>(i), [](auto fields) { return decltype(fields)::kFormat; });
        EXPECT_EQ(info(format).layout, FormatLayout::packed) << name(format);
        EXPECT_EQ(static_cast<int>(detail::texel_format(format).packed), i) << name(format);
    }
}

TEST(PackedFormatTableTest, EveryCodeRoundTripsThroughDecodingAndEncoding) {
    for (const FormatInfo& row : packed_rows()) {
        const TexelFormat format = detail::texel_format(row.format);
        const detail::TexelDecoder decoder = detail::texel_decoder(format);
        ASSERT_NE(decoder, nullptr) << row.name;
        const Bytes texels = texels_of(row, words_of_every_code(row));
        std::size_t wrong_values = 0, wrong_codes = 0, wrong_rows = 0;
        for (std::size_t at = 0; at < texels.size(); at += row.bytes) {
            const Texel texel = point_read(row, &texels[at]);
            if (test::can_decode(row.format)) {
                const auto expected = test::decode(row.format, std::span(texels).subspan(at, row.bytes));
                if (!std::equal(expected.begin(), expected.end(), texel.channel)) ++wrong_values;
            }
            if (!(decoder(reinterpret_cast<const unsigned char*>(&texels[at])) == texel)) ++wrong_rows;
            if (row.kind == FormatKind::floating && !is_finite(texel)) continue;
            const detail::Pixel pixel = detail::encode_pixel(texel, {format, row.kind == FormatKind::sint});
            if (row.kind != FormatKind::snorm && std::memcmp(pixel.word, &texels[at], row.bytes) != 0) ++wrong_codes;
        }
        EXPECT_EQ(wrong_values, 0U) << row.name;
        EXPECT_EQ(wrong_rows, 0U) << row.name;
        EXPECT_EQ(wrong_codes, 0U) << row.name;
    }
}

TEST_P(PackedFormatTest, FetchedAndStoredCodesMatchTheModel) {
    for (const FormatInfo& row : packed_rows()) {
        if (!on_cpu() && row.cuda.kind == 3) continue;  // cudaChannelFormatKindNone: CUDA has no arrays of this format
        SCOPED_TRACE(row.name);
        const std::vector<std::uint32_t> words = words_of_every_code(row);
        const Bytes texels = texels_of(row, words);
        const Extent extent{64, words.size() / 64};
        const Array array(device(), {.format = row.format, .extent = extent});
        test::upload(array.view(), texels);
        const Texture texture(array);
        std::vector<FetchPoint> points;
        for (std::size_t i = 0; i < words.size(); ++i)
            points.push_back({.x = static_cast<float>(i % 64) + 0.5F, .y = static_cast<float>(i / 64) + 0.5F});
        const Samples samples = sample(texture, points);
        std::size_t different = 0;
        for (std::size_t i = 0; i < words.size(); ++i) {
            if (!(samples.texels[i] == point_read(row, &texels[i * row.bytes]))) ++different;
        }
        EXPECT_EQ(different, 0U);
        const Pitched2D stored(device(), row.format, extent);
        sample(texture, AffineMap{}, stored.view());
        EXPECT_TRUE(test::same_bytes(test::download(stored.view()), texels));
        if (row.kind == FormatKind::uint || row.kind == FormatKind::sint) continue;
        const Pitched2D floats(device(), Format::rgba32_float, extent);
        sample(texture, AffineMap{}, floats.view());
        EXPECT_TRUE(test::same_bytes(test::download(floats.view()), std::as_bytes(std::span(samples.texels))));
    }
}

}  // namespace
}  // namespace texton

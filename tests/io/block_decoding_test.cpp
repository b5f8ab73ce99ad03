#include <array>
#include <cmath>
#include <random>

#include <texton/error.h>
#include <texton/image_file.h>
#include <texton/image_load.h>
#include <texton/image_save.h>
#include <texton/sample.h>
#include <texton/texture.h>

#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"

// Block-compressed files that are read in other formats: decoded as the texture unit does, or with exact fractions.

namespace texton {
namespace {

namespace fs = std::filesystem;
using test::Bytes;
using test::read_part;
using test::same_bytes;
using test::sentence_with;

constexpr Format kBlocks[] = {Format::bc1_unorm, Format::bc1_srgb,  Format::bc2_unorm,   Format::bc2_srgb,
                              Format::bc3_unorm, Format::bc3_srgb,  Format::bc4_unorm,   Format::bc4_snorm,
                              Format::bc5_unorm, Format::bc5_snorm, Format::bc6h_ufloat, Format::bc6h_sfloat,
                              Format::bc7_unorm, Format::bc7_srgb};
constexpr Extent kExtent{62, 38};  // ends inside blocks

Format decoded(Format blocks) {
    const FormatInfo& row = info(blocks);
    if (row.kind == FormatKind::floating) return Format::rgba16_float;
    if (row.channels == 4) return row.kind == FormatKind::srgb ? Format::rgba8_srgb : Format::rgba8_unorm;
    return with_channels(row.kind == FormatKind::snorm ? Format::r16_snorm : Format::r16_unorm, row.channels);
}

class BlockDecodingTest : public testing::Test {
protected:
    // Writes random blocks to a file. Half of the blocks of BC1 have their ends in the other order.
    fs::path stored(Format format, Extent extent = kExtent) const {
        std::mt19937 random(static_cast<unsigned>(format));
        Bytes blocks(packed_bytes(format, extent));
        for (std::byte& byte : blocks) byte = static_cast<std::byte>(random());
        const fs::path path = folder_.at("blocks.dds");
        save(path, host_view(blocks.data(), format, extent));
        return path;
    }
    test::ImageFolder folder_;
};

template <class Value>
std::vector<Value> values_of(const Bytes& bytes) {
    std::vector<Value> values(bytes.size() / sizeof(Value));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

// Returns what point fetches of all texels return, sRGB not decoded: the channels that the format has.
std::vector<float> fetched(const fs::path& path, std::size_t channels) {
    const Array array = load(Device::cpu(), open_image(path, {.color = ImageColor::linear}));
    std::vector<Point2> points;
    for (std::size_t y = 0; y < kExtent.height; ++y) {
        for (std::size_t x = 0; x < kExtent.width; ++x)
            points.push_back({static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f});
    }
    std::vector<float> values;
    for (const std::array<float, 4>& texel : sample(Texture(array, {.filter = Filter::point}), points))
        values.insert(values.end(), texel.begin(), texel.begin() + static_cast<std::ptrdiff_t>(channels));
    return values;
}

// Returns the numbers that codes of a plain format stand for, sRGB not decoded.
std::vector<float> numbers_of(Format format, const Bytes& texels) {
    std::vector<float> numbers;
    const auto add = [&](const auto& codes, auto number) {
        for (const auto code : codes) numbers.push_back(number(code));
    };
    const FormatInfo& row = info(format);
    if (row.kind == FormatKind::floating) {
        add(values_of<std::uint16_t>(texels), [](std::uint16_t code) {
            const float size =
                std::ldexp(static_cast<float>(code & 1023) / 1024 + ((code >> 10 & 31) != 0 ? 1.0f : 0.0f),
                           std::max(code >> 10 & 31, 1) - 15);
            return (code & 0x8000) != 0 ? -size : size;
        });
    } else if (row.bits == 8) {
        add(values_of<std::uint8_t>(texels), [](std::uint8_t code) { return static_cast<float>(code) / 255; });
    } else if (row.kind == FormatKind::snorm) {
        add(values_of<std::int16_t>(texels), [](std::int16_t code) { return static_cast<float>(code) / 32767; });
    } else {
        add(values_of<std::uint16_t>(texels), [](std::uint16_t code) { return static_cast<float>(code) / 65535; });
    }
    return numbers;
}

TEST_F(BlockDecodingTest, TexelsAreThoseThatTheTextureUnitFetches) {
    for (const Format format : kBlocks) {
        SCOPED_TRACE(name(format));
        const fs::path path = stored(format);
        const ImageFile image = open_image(path, {.format = decoded(format)});
        EXPECT_EQ(image.info(), (ArrayInfo{.format = decoded(format), .extent = kExtent}));
        EXPECT_NE(sentence_with(image.conversions(), "as a GPU decodes them"), "");
        const std::size_t channels = info(decoded(format)).channels;
        const std::vector<float> expected = fetched(path, channels);
        EXPECT_EQ(numbers_of(decoded(format), read_part(image)), expected);
        const Format floats = with_channels(Format::r32_float, static_cast<int>(channels));
        EXPECT_EQ(values_of<float>(read_part(open_image(path, {.format = floats, .color = ImageColor::linear}))),
                  expected);
    }
}

TEST_F(BlockDecodingTest, AnyBoxOfAnyLevelIsDecoded) {
    const Array array(
        Device::cpu(),
        {.format = Format::bc3_unorm, .extent = {30, 22}, .kind = ArrayKind::layered_2d, .layers = 2, .levels = 3});
    for (int level = 0; level < 3; ++level) {
        const View view = array.view({.level = level});
        test::upload(view, test::pattern(packed_bytes(view.format(), view.extent()), 5));
    }
    save(folder_.at("a.dds"), array);
    const ImageFile image = open_image(folder_.at("a.dds"), {.format = Format::rgba8_unorm});
    for (int level = 0; level < 3; ++level) {
        const Extent extent = level_extent(image.info(), level);
        const Bytes whole = read_part(image, {.level = level, .layer = 1});
        for (const Region& box : {Region{{1, 2}, {3, 1}}, Region{{3, 3}, {2, 2}}, Region{{0, 1}, {extent.width, 3}},
                                  Region{{extent.width - 1, extent.height - 1}, {1, 1}}}) {
            Bytes expected;
            for (std::size_t y = 0; y < box.extent.height; ++y) {
                const auto first =
                    whole.begin() + static_cast<std::ptrdiff_t>(((box.offset.y + y) * extent.width + box.offset.x) * 4);
                expected.insert(expected.end(), first, first + static_cast<std::ptrdiff_t>(box.extent.width * 4));
            }
            Bytes read(expected.size());
            image.read({.level = level, .layer = 1, .region = box}, read);
            EXPECT_TRUE(same_bytes(read, expected)) << level << ' ' << to_string(box.extent);
        }
    }
}

// --- exact fractions ---

// The fractions of the Khronos Data Format Specification, in double.
std::array<double, 4> exact_color(const unsigned char* block, unsigned texel, bool bc1) {
    const unsigned end0 = block[0] | unsigned{block[1]} << 8, end1 = block[2] | unsigned{block[3]} << 8;
    const unsigned code = block[4 + texel / 4] >> (2 * (texel % 4)) & 3;
    const auto blend = [&](double w0, double w1) {
        return std::array<double, 4>{w0 * (end0 >> 11) / 31 + w1 * (end1 >> 11) / 31,
                                     w0 * (end0 >> 5 & 63) / 63 + w1 * (end1 >> 5 & 63) / 63,
                                     w0 * (end0 & 31) / 31 + w1 * (end1 & 31) / 31, 1};
    };
    if (code == 0) return blend(1, 0);
    if (code == 1) return blend(0, 1);
    if (bc1 && end0 <= end1) return code == 2 ? blend(0.5, 0.5) : std::array<double, 4>{};
    return code == 2 ? blend(2 / 3.0, 1 / 3.0) : blend(1 / 3.0, 2 / 3.0);
}

double exact_channel(const unsigned char* block, unsigned texel, bool is_signed) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, block, 8);
    const unsigned code = bits >> (16 + 3 * texel) & 7;
    const auto end = [&](unsigned char value) {
        return is_signed ? std::max<int>(static_cast<signed char>(value), -127) / 127.0 : value / 255.0;
    };
    const double end0 = end(block[0]), end1 = end(block[1]);
    if (code == 0) return end0;
    if (code == 1) return end1;
    if (end0 > end1) return (end0 * (8 - code) + end1 * (code - 1)) / 7;
    if (code > 5) return code == 7 ? 1 : is_signed ? -1 : 0;
    return (end0 * (6 - code) + end1 * (code - 1)) / 5;
}

std::array<double, 4> exact_texel(Format format, const unsigned char* block, unsigned texel) {
    const bool is_signed = info(format).kind == FormatKind::snorm;
    if (format == Format::bc4_unorm || format == Format::bc4_snorm) return {exact_channel(block, texel, is_signed)};
    if (format == Format::bc5_unorm || format == Format::bc5_snorm)
        return {exact_channel(block, texel, is_signed), exact_channel(block + 8, texel, is_signed)};
    if (format == Format::bc1_unorm) return exact_color(block, texel, true);
    auto color = exact_color(block + 8, texel, false);
    color[3] = format == Format::bc2_unorm ? (block[texel / 2] >> (4 * (texel % 2)) & 15) / 15.0
                                           : exact_channel(block, texel, false);
    return color;
}

TEST_F(BlockDecodingTest, ExactFractionsAreRoundedOnce) {
    const Extent extent{64, 32};
    for (const Format format : {Format::bc1_unorm, Format::bc2_unorm, Format::bc3_unorm, Format::bc4_unorm,
                                Format::bc4_snorm, Format::bc5_unorm, Format::bc5_snorm}) {
        SCOPED_TRACE(name(format));
        const fs::path path = stored(format, extent);
        const Bytes blocks = read_part(open_image(path));
        const FormatInfo& row = info(format);
        const bool is_signed = row.kind == FormatKind::snorm;
        std::vector<float> floats;
        std::vector<std::int32_t> codes;  // of 16 bits
        for (std::size_t y = 0; y < extent.height; ++y) {
            for (std::size_t x = 0; x < extent.width; ++x) {
                const std::size_t at = (y / 4 * (extent.width / 4) + x / 4) * row.bytes;
                const auto texel = exact_texel(format, reinterpret_cast<const unsigned char*>(&blocks[at]),
                                               static_cast<unsigned>(y % 4 * 4 + x % 4));
                for (std::size_t c = 0; c < row.channels; ++c) {
                    floats.push_back(static_cast<float>(texel[c]));
                    codes.push_back(static_cast<std::int32_t>(std::lround(texel[c] * (is_signed ? 32767 : 65535))));
                }
            }
        }
        const auto read = [&](Format like) {
            const ImageFile image =
                open_image(path, {.format = with_channels(like, row.channels), .bc = BlockDecoding::exact});
            EXPECT_NE(sentence_with(image.conversions(), "exact fractions"), "");
            return read_part(image);
        };
        const auto seen = values_of<float>(read(Format::r32_float));
        ASSERT_EQ(seen.size(), floats.size());
        for (std::size_t i = 0; i < seen.size(); ++i) ASSERT_FLOAT_EQ(seen[i], floats[i]) << i;
        const Bytes wide = read(is_signed ? Format::r16_snorm : Format::r16_unorm);
        for (std::size_t i = 0; i < codes.size(); ++i) {
            const std::int32_t code = is_signed
                                          ? values_of<std::int16_t>(Bytes(&wide[i * 2], &wide[i * 2] + 2)).front()
                                          : values_of<std::uint16_t>(Bytes(&wide[i * 2], &wide[i * 2] + 2)).front();
            ASSERT_EQ(code, codes[i]) << i;
        }
    }
}

TEST_F(BlockDecodingTest, ExactFractionsDifferFromThoseOfAGpuByFewCodes) {
    for (const Format format : {Format::bc1_srgb, Format::bc3_srgb}) {
        const fs::path path = stored(format);
        const Bytes gpu = read_part(open_image(path, {.format = Format::rgba8_srgb}));
        const Bytes exact = read_part(open_image(path, {.format = Format::rgba8_srgb, .bc = BlockDecoding::exact}));
        int most = 0;
        for (std::size_t i = 0; i < gpu.size(); ++i)
            most = std::max(most, std::abs(static_cast<int>(gpu[i]) - static_cast<int>(exact[i])));
        EXPECT_GE(most, 1);
        EXPECT_LE(most, 6);
    }
}

TEST_F(BlockDecodingTest, BlocksWithoutAChoiceHaveOneResult) {
    for (const Format format : {Format::bc6h_sfloat, Format::bc7_unorm}) {
        const fs::path path = stored(format);
        const Bytes gpu = read_part(open_image(path, {.format = decoded(format)}));
        EXPECT_TRUE(
            same_bytes(read_part(open_image(path, {.format = decoded(format), .bc = BlockDecoding::exact})), gpu));
    }
}

TEST_F(BlockDecodingTest, SrgbIsDecodedToLinearFloats) {
    const fs::path path = stored(Format::bc1_srgb);
    for (const BlockDecoding bc : {BlockDecoding::gpu, BlockDecoding::exact}) {
        const auto encoded = values_of<float>(
            read_part(open_image(path, {.format = Format::rgba32_float, .bc = bc, .color = ImageColor::linear})));
        const ImageFile image = open_image(path, {.format = Format::rgba32_float, .bc = bc});
        EXPECT_NE(sentence_with(image.conversions(), "sRGB is decoded"), "");
        const auto linear = values_of<float>(read_part(image));
        for (std::size_t i = 0; i < linear.size(); ++i) {
            const double value = encoded[i];
            const double expected = i % 4 == 3 || value <= 0.04045 ? (i % 4 == 3 ? value : value / 12.92)
                                                                   : std::pow((value + 0.055) / 1.055, 2.4);
            ASSERT_FLOAT_EQ(linear[i], static_cast<float>(expected));
        }
    }
}

TEST_F(BlockDecodingTest, ConversionsOfBlocksSayWhatHappens) {
    using Sentences = std::vector<std::string>;
    EXPECT_EQ(open_image(stored(Format::bc4_snorm), {.format = Format::r8_unorm}).conversions(),
              (Sentences{"Blocks of bc4_snorm are decoded to r16_snorm, as a GPU decodes them.",
                         "Channels are converted from 16 bits to 8 bits.", "Values below 0 are clamped."}));
    EXPECT_EQ(open_image(stored(Format::bc6h_ufloat), {.format = Format::rgba16_float}).conversions(),
              (Sentences{"Blocks of bc6h_ufloat are decoded to rgba16_float, as a GPU decodes them.",
                         "Three channels are widened to four, with alpha 1."}));
    EXPECT_EQ(open_image(stored(Format::bc5_unorm), {.format = Format::rgba8_unorm, .bc = BlockDecoding::exact})
                  .conversions(),
              (Sentences{"Blocks of bc5_unorm are decoded with the exact fractions.",
                         "Two channels are widened to four, with blue 0 and alpha 1."}));
}

TEST_F(BlockDecodingTest, FormatsThatBlocksCannotBecomeAreRefused) {
    const fs::path path = stored(Format::bc1_unorm);
    for (const Format format : {Format::bc3_unorm, Format::rgba32_uint, Format::nv12}) {
        test::expect_error([&] { (void)open_image(path, {.format = format}); }, ErrorCode::unsupported,
                           "texton::open_image", {"blocks.dds", "bc1_unorm", name(format)});
    }
    EXPECT_EQ(open_image(path, {.format = Format::bc1_srgb}).info().format, Format::bc1_srgb);
    test::expect_error([&] { (void)open_image(path, {.format = Format::bc7_unorm}); }, ErrorCode::unsupported,
                       "texton::open_image", {"images are not encoded to blocks"});
}

}  // namespace
}  // namespace texton

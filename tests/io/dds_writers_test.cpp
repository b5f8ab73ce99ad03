#include <array>
#include <bit>
#include <cmath>

#include <texton/channel_codes.h>
#include <texton/error.h>
#include <texton/image_file.h>
#include <texton/image_load.h>
#include <texton/image_save.h>

#include "tests/io/dds_files.h"
#include "tests/support/dds_file.h"
#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"

// DDS files of other writers: channels of any width, formats that are converted, planar images, and headers with known
// errors.

namespace texton {
namespace {

namespace fs = std::filesystem;
using test::Bytes;
using test::read_part;
using test::same_bytes;
using test::sentence_with;
using namespace test::dds;
using Names = std::vector<std::string>;

class ImageDdsWritersTest : public test::DdsFilesTest {};

template <class Value>
std::vector<Value> values_of(const Bytes& bytes) {
    std::vector<Value> values(bytes.size() / sizeof(Value));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

template <class Value>
Bytes bytes_of(const std::vector<Value>& values) {
    Bytes bytes(values.size() * sizeof(Value));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

// Returns all values of a word of 16 bits.
Bytes all_words() {
    std::vector<std::uint16_t> words(65536);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::uint16_t>(i);
    return bytes_of(words);
}

std::uint8_t nearest(unsigned code, unsigned bits) {
    return static_cast<std::uint8_t>(std::lround(code * 255.0 / ((1u << bits) - 1)));
}

constexpr std::uint32_t kTop = 0xff000000, kLow10 = 0x3ff, kMid10 = 0xffc00, kHigh10 = 0x3ff00000;

// --- masks ---

TEST_F(ImageDdsWritersTest, MasksOfAnyWidthAndOrderAreRead) {
    struct Row {
        Masks masks;
        Bytes stored;
        Format format;
        Bytes read;
        Names channels;
    };
    const Names rgba{"R", "G", "B", "A"}, rgb{"R", "G", "B"}, rg{"R", "G"}, red{"R"}, gray{"Y"}, gray_alpha{"Y", "A"};
    const Row rows[] = {
        {{0x41, 32, 0xff, 0xff00, 0xff0000, kTop}, of({1, 2, 3, 4}), Format::rgba8_unorm, of({1, 2, 3, 4}), rgba},
        {{0x40, 32, 0xff, 0xff00, 0xff0000, 0}, of({1, 2, 3, 4}), Format::rgba8_unorm, of({1, 2, 3, 255}), rgb},
        {{0x41, 32, 0xff0000, 0xff00, 0xff, kTop}, of({1, 2, 3, 4}), Format::rgba8_unorm, of({3, 2, 1, 4}), rgba},
        {{0x40, 32, 0xff0000, 0xff00, 0xff, 0}, of({1, 2, 3, 4}), Format::rgba8_unorm, of({3, 2, 1, 255}), rgb},
        // A mask of alpha counts only with its flag.
        {{0x40, 32, 0xff0000, 0xff00, 0xff, kTop}, of({1, 2, 3, 4}), Format::rgba8_unorm, of({3, 2, 1, 255}), rgb},
        {{0x41, 32, kTop, 0xff0000, 0xff00, 0xff}, of({1, 2, 3, 4}), Format::rgba8_unorm, of({4, 3, 2, 1}), rgba},
        {{0x40, 24, 0xff0000, 0xff00, 0xff, 0}, of({1, 2, 3}), Format::rgba8_unorm, of({3, 2, 1, 255}), rgb},
        {{0x40, 24, 0xff, 0xff00, 0xff0000, 0}, of({1, 2, 3}), Format::rgba8_unorm, of({1, 2, 3, 255}), rgb},
        {{0x40, 16, 0xf800, 0x7e0, 0x1f, 0}, of({0x41, 0x29}), Format::rgba8_unorm, of({41, 40, 8, 255}), rgb},
        {{0x40, 16, 0x7c00, 0x3e0, 0x1f, 0}, of({0xff, 0x7f}), Format::rgba8_unorm, of({255, 255, 255, 255}), rgb},
        {{0x41, 16, 0xf00, 0xf0, 0xf, 0xf000}, of({0x21, 0x43}), Format::rgba8_unorm, of({51, 34, 17, 68}), rgba},
        {{0x40, 16, 0xf00, 0xf0, 0xf, 0}, of({0x21, 0x43}), Format::rgba8_unorm, of({51, 34, 17, 255}), rgb},
        {{0x41, 16, 0xe0, 0x1c, 0x3, 0xff00}, of({0xa9, 7}), Format::rgba8_unorm, of({182, 73, 85, 7}), rgba},
        {{0x40, 8, 0xe0, 0x1c, 0x3, 0}, of({0xa9}), Format::rgba8_unorm, of({182, 73, 85, 255}), rgb},
        {{0x41, 32, kLow10, kMid10, kHigh10, 0xc0000000},
         of({1, 2, 3, 4}),
         Format::rgb10a2_unorm,
         of({1, 2, 3, 4}),
         rgba},
        {{0x41, 32, kHigh10, kMid10, kLow10, 0xc0000000},
         of({0xff, 0x03, 0x10, 0x80}),
         Format::rgb10a2_unorm,
         of({1, 0, 0xf0, 0xbf}),
         rgba},
        {{0x40, 32, kLow10, kMid10, kHigh10, 0}, of({1, 0, 0, 0}), Format::rgb10a2_unorm, of({1, 0, 0, 0xc0}), rgb},
        {{0x40, 32, 0xffff, 0xffff0000, 0, 0}, of({1, 2, 3, 4}), Format::rg16_unorm, of({1, 2, 3, 4}), rg},
        {{0x40, 32, 0xffff0000, 0xffff, 0, 0}, of({1, 2, 3, 4}), Format::rg16_unorm, of({3, 4, 1, 2}), rg},
        {{0x40, 32, 0xffffffff, 0, 0, 0}, of({1, 2, 3, 4}), Format::r32_float, of({1, 2, 3, 4}), red},
        {{0x40, 16, 0xff, 0xff00, 0, 0}, of({1, 2}), Format::rg8_unorm, of({1, 2}), rg},
        // Colors without a mask are 0.
        {{0x40, 8, 0, 0xff, 0, 0}, of({1}), Format::rg8_unorm, of({0, 1}), {"G"}},
        {{0x40, 32, 0, 0xffff, 0, 0}, of({1, 2, 3, 4}), Format::rg16_unorm, of({0, 0, 1, 2}), {"G"}},
        {{0x40, 16, 0, 0xf, 0, 0}, of({0x21, 0x43}), Format::rg8_unorm, of({0, 17}), {"G"}},
        {{0x40, 24, 0xff00, 0, 0xff, 0}, of({1, 2, 3}), Format::rgba8_unorm, of({2, 0, 1, 255}), {"R", "B"}},
        {{0x41, 16, 0, 0, 0xff, 0xff00}, of({1, 2}), Format::rgba8_unorm, of({0, 0, 1, 2}), {"B", "A"}},
        {{0x20001, 16, 0xff, 0, 0, 0xff00}, of({1, 2}), Format::rg8_unorm, of({1, 2}), gray_alpha},
        {{0x20001, 8, 0xf, 0, 0, 0xf0}, of({0x21}), Format::rg8_unorm, of({17, 34}), gray_alpha},
        {{0x20000, 16, 0xffff, 0, 0, 0}, of({1, 2}), Format::r16_unorm, of({1, 2}), gray},
        {{0x20000, 16, 0xfff, 0, 0, 0}, of({0xff, 0x0f}), Format::r16_unorm, of({255, 255}), gray},
        {{0x20000, 8, 0xff, 0, 0, 0}, of({1}), Format::r8_unorm, of({1}), gray},
        {{0x40, 8, 0xff, 0xff, 0xff, 0}, of({1}), Format::r8_unorm, of({1}), gray},
        {{0x2, 8, 0, 0, 0, 0xff}, of({1}), Format::rgba8_unorm, of({0, 0, 0, 1}), {"A"}},
        {{0x2, 16, 0, 0, 0, 0xffff}, of({1, 2}), Format::rgba16_unorm, of({0, 0, 0, 0, 0, 0, 1, 2}), {"A"}},
        {{0x80000, 16, 0xff, 0xff00, 0, 0}, of({1, 2}), Format::rg8_snorm, of({1, 2}), rg},
        {{0x80000, 32, 0xff, 0xff00, 0xff0000, kTop}, of({1, 2, 3, 4}), Format::rgba8_snorm, of({1, 2, 3, 4}), rgba},
        {{0x80000, 32, 0xffff, 0xffff0000, 0, 0}, of({1, 2, 3, 4}), Format::rg16_snorm, of({1, 2, 3, 4}), rg},
        {{0x80000, 32, 0xff0000, 0xff00, 0xff, 0}, of({1, 2, 3, 4}), Format::rgba8_snorm, of({3, 2, 1, 127}), rgb},
        // Without flags, the masks show what the texels are.
        {{0, 32, 0xff0000, 0xff00, 0xff, kTop}, of({1, 2, 3, 4}), Format::rgba8_unorm, of({3, 2, 1, 4}), rgba},
        {{0, 8, 0xff, 0, 0, 0}, of({1}), Format::r8_unorm, of({1}), gray},
        {{0, 8, 0, 0, 0, 0xff}, of({1}), Format::rgba8_unorm, of({0, 0, 0, 1}), {"A"}},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(std::to_string(&row - rows));
        const ImageFile image = open(masked_header(1, 1, row.masks), row.stored);
        EXPECT_EQ(image.info().format, row.format);
        EXPECT_TRUE(same_bytes(read_part(image), row.read));
        EXPECT_EQ(image.metadata().channels, row.channels);
        EXPECT_EQ(image.metadata().alpha, row.channels.back() == "A" ? ImageAlpha::straight : ImageAlpha::none);
        EXPECT_EQ(image.conversions().empty(), row.stored == row.read);
    }
}

TEST_F(ImageDdsWritersTest, NarrowChannelsBecomeTheNearestCode) {
    const Bytes stored = all_words();
    const auto read =
        values_of<std::uint8_t>(read_part(open(masked_header(256, 256, {0x40, 16, 0xf800, 0x7e0, 0x1f, 0}), stored)));
    const auto with_alpha = values_of<std::uint8_t>(read_part(open(dxgi_header(256, 256, 86), stored)));
    ASSERT_EQ(read.size(), 65536u * 4);
    for (unsigned word = 0; word < 65536; ++word) {
        const std::array expected{nearest(word >> 11, 5), nearest(word >> 5 & 63, 6), nearest(word & 31, 5),
                                  std::uint8_t{255}};
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(), &read[word * 4])) << word;
        const std::array expected_alpha{nearest(word >> 10 & 31, 5), nearest(word >> 5 & 31, 5), nearest(word & 31, 5),
                                        nearest(word >> 15, 1)};
        ASSERT_TRUE(std::equal(expected_alpha.begin(), expected_alpha.end(), &with_alpha[word * 4])) << word;
    }
}

TEST_F(ImageDdsWritersTest, ConversionsSayWhatHappens) {
    const auto said = [&](const Masks& masks) {
        return open(masked_header(1, 1, masks), Bytes(masks.bits / 8)).conversions();
    };
    EXPECT_EQ(said({0x40, 16, 0xf800, 0x7e0, 0x1f, 0}),
              (Names{"B5G6R5 is converted to rgba8_unorm: values become the nearest code.",
                     "Three channels are widened to four, with alpha 1."}));
    EXPECT_EQ(said({0x41, 16, 0xf00, 0xf0, 0xf, 0xf000}),
              Names{"B4G4R4A4 is converted to rgba8_unorm, which holds all values."});
    EXPECT_EQ(said({0x41, 32, 0xff0000, 0xff00, 0xff, kTop}), Names{"BGRA is reordered to RGBA."});
    EXPECT_EQ(said({0x40, 32, 0xff0000, 0xff00, 0xff, 0}),
              (Names{"BGR is reordered to RGB.", "Three channels are widened to four, with alpha 1."}));
    EXPECT_EQ(said({0x2, 8, 0, 0, 0, 0xff}), Names{"Alpha is widened to four channels, with colors 0."});
    EXPECT_EQ(said({0x40, 8, 0, 0xff, 0, 0}), Names{"Colors that the file lacks become 0: R."});
    EXPECT_EQ(said({0x40, 24, 0xff, 0, 0xff00, 0}),
              (Names{"Colors that the file lacks become 0: G.", "Alpha becomes 1."}));
}

TEST_F(ImageDdsWritersTest, LevelsFacesAndRegionsOfNarrowTexelsAreRead) {
    auto words = masked_header(8, 8, {0x40, 16, 0xf800, 0x7e0, 0x1f, 0});
    words[kMipMapCount] = 4;
    words[kCaps2] = 0xfe00;
    constexpr std::size_t kFace = (64 + 16 + 4 + 1) * 2;
    const Bytes stored = test::pattern(6 * kFace, 3);
    const ImageFile cube = open(words, stored);
    EXPECT_EQ(cube.info(),
              (ArrayInfo{.format = Format::rgba8_unorm, .extent = {8, 8}, .kind = ArrayKind::cubemap, .levels = 4}));
    // The texels (1, 2) and (2, 2) of level 1 of face 4.
    const std::size_t first = 4 * kFace + 64 * 2 + (2 * 4 + 1) * 2;
    Bytes read(8);
    cube.read({.level = 1, .face = 4, .region = Region{{1, 2}, {2, 1}}}, read);
    const auto codes = values_of<std::uint16_t>(Bytes(stored.begin() + first, stored.begin() + first + 4));
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(static_cast<std::uint8_t>(read[i * 4]), nearest(codes[i] >> 11, 5));
        EXPECT_EQ(static_cast<std::uint8_t>(read[i * 4 + 2]), nearest(codes[i] & 31u, 5));
    }
}

TEST_F(ImageDdsWritersTest, GrayWithAlphaIsWidenedAsFromOtherFiles) {
    const ImageFile image =
        open(masked_header(1, 1, {0x20001, 16, 0xff, 0, 0, 0xff00}), of({9, 3}), {.format = Format::rgba8_unorm});
    EXPECT_TRUE(same_bytes(read_part(image), of({9, 9, 9, 3})));
}

TEST_F(ImageDdsWritersTest, InconsistentMasksAreRefused) {
    const Masks rows[] = {
        {0x40, 16, 0xf800, 0xfc0, 0x1f, 0},        // red and green overlap
        {0x40, 16, 0xf900, 0x7e0, 0x1f, 0},        // red is not consecutive
        {0x40, 16, 0xf80000, 0x7e0, 0x1f, 0},      // red lies outside the texel
        {0x40, 16, 0, 0, 0, 0},                    // no channels
        {0x40, 12, 0xf00, 0xf0, 0xf, 0},           // half bytes
        {0x40, 0, 0xff, 0xff00, 0xff0000, 0},      // no bits
        {0x40, 64, 0xff, 0xff00, 0xff0000, 0},     // larger than a mask
        {0x20000, 32, 0xffffff, 0, 0, 0},          // 24 bits have no format
        {0x80000, 16, 0x1f, 0x3e0, 0xfc00, 0},     // signed and unsigned channels
        {0x20, 4, 0xff, 0xff00, 0xff0000, 0},      // palette of 16 colors
        {0x200, 16, 0xff, 0xff00, 0xff0000, kTop}  // YUV
    };
    for (const Masks& masks : rows) {
        SCOPED_TRACE(std::to_string(&masks - rows));
        expect_refused(masked_header(1, 1, masks), Bytes(8), ErrorCode::unsupported, "bits with the masks");
    }
}

// --- formats of DXGI ---

TEST_F(ImageDdsWritersTest, SmallFloatsAreReadExactly) {
    const auto value = [](unsigned code, int digits) {
        const int exponent = static_cast<int>(code >> digits);
        const double fraction = std::ldexp(code & ((1u << digits) - 1), -digits);
        if (exponent == 31) return fraction == 0 ? INFINITY : NAN;
        return static_cast<float>(exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15));
    };
    std::vector<std::uint32_t> words;
    for (std::uint32_t code = 0; code < 2048; ++code) words.push_back(code | (2047 - code) << 11 | (code / 2) << 22);
    const ImageFile image = open(dxgi_header(64, 32, 26), bytes_of(words), {.format = Format::rgba32_float});
    const auto read = values_of<float>(read_part(image));
    const auto same = [](float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); };
    for (std::uint32_t code = 0; code < 2048; ++code) {
        EXPECT_TRUE(same(read[code * 4], value(code, 6))) << code;
        EXPECT_TRUE(same(read[code * 4 + 1], value(2047 - code, 6))) << code;
        EXPECT_TRUE(same(read[code * 4 + 2], value(code / 2, 5))) << code;
        EXPECT_EQ(read[code * 4 + 3], 1.0f);
    }
    EXPECT_EQ(open_image(at("a.dds")).info().format, Format::rgba16_float);
    EXPECT_EQ(open_image(at("a.dds")).metadata().channels, (Names{"R", "G", "B"}));
}

TEST_F(ImageDdsWritersTest, SharedExponentsAreReadExactly) {
    std::vector<std::uint32_t> words;
    for (std::uint32_t exponent = 0; exponent < 32; ++exponent) {
        for (std::uint32_t code = 0; code < 512; ++code)
            words.push_back(code | (511 - code) << 9 | (code ^ 0x155) << 18 | exponent << 27);
    }
    const auto read =
        values_of<float>(read_part(open(dxgi_header(512, 32, 67), bytes_of(words), {.format = Format::rgba32_float})));
    for (std::size_t i = 0; i < words.size(); ++i) {
        const int exponent = static_cast<int>(words[i] >> 27) - 24;
        for (unsigned c = 0; c < 3; ++c)
            ASSERT_EQ(read[i * 4 + c], std::ldexp(static_cast<float>(words[i] >> (9 * c) & 511), exponent)) << i;
        ASSERT_EQ(read[i * 4 + 3], 1.0f);
    }
    EXPECT_EQ(open_image(at("a.dds")).info().format, Format::rgba16_float);
}

TEST_F(ImageDdsWritersTest, OtherFormatsOfDxgiAreRead) {
    struct Row {
        std::uint32_t number;
        Bytes stored;
        Format format;
        Bytes read;
    };
    const auto one = [](auto value) { return bytes_of(std::vector{value}); };
    const auto joined = [](Bytes first, const Bytes& second) {
        first.insert(first.end(), second.begin(), second.end());
        return first;
    };
    const Bytes twelve = test::pattern(12, 5), two = of({7, 9});
    const Row rows[] = {
        {6, twelve, Format::rgba32_float, joined(twelve, one(1.0f))},
        {7, twelve, Format::rgba32_uint, joined(twelve, one(1u))},
        {8, twelve, Format::rgba32_sint, joined(twelve, one(1))},
        {25, one(5u | 1023u << 10 | 1u << 20 | 2u << 30), Format::rgba16_uint,
         bytes_of(std::vector<std::uint16_t>{5, 1023, 1, 2})},
        {40, of({1, 2, 3, 4}), Format::r32_float, of({1, 2, 3, 4})},
        {55, two, Format::r16_unorm, two},
        {65, of({7}), Format::rgba8_unorm, of({0, 0, 0, 7})},
        {115, of({0x21, 0x43}), Format::rgba8_unorm, of({51, 34, 17, 68})},
        {191, of({0x21, 0x43}), Format::rgba8_unorm, of({68, 51, 34, 17})},
        {88, of({1, 2, 3, 4}), Format::rgba8_unorm, of({3, 2, 1, 255})},
        {93, of({1, 2, 3, 4}), Format::rgba8_srgb, of({3, 2, 1, 255})},
        {27, of({1, 2, 3, 4}), Format::rgba8_unorm, of({1, 2, 3, 4})},
        {90, of({1, 2, 3, 4}), Format::rgba8_unorm, of({3, 2, 1, 4})},
        {70, test::pattern(8, 1), Format::bc1_unorm, test::pattern(8, 1)},
        {97, test::pattern(16, 1), Format::bc7_unorm, test::pattern(16, 1)},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.number);
        const ImageFile image = open(dxgi_header(1, 1, row.number), row.stored);
        EXPECT_EQ(image.info().format, row.format);
        EXPECT_TRUE(same_bytes(read_part(image), row.read));
    }
    for (const std::uint32_t number : {0u, 66u, 108u, 109u, 113u, 131u, 192u, 0xffffffffu}) {
        expect_refused(dxgi_header(4, 4, number), Bytes(256), ErrorCode::unsupported,
                       "DXGI format " + std::to_string(number));
    }
}

// --- planar images ---

struct PlanarRow {
    std::uint32_t number;
    Format format;
};
constexpr PlanarRow kPlanar[] = {{103, Format::nv12}, {104, Format::p010}, {105, Format::p016}, {130, Format::nv16}};

TEST_F(ImageDdsWritersTest, PlanarImagesAreReadAndWritten) {
    for (const PlanarRow& row : kPlanar) {
        SCOPED_TRACE(name(row.format));
        const Extent extent{10, 6};
        const Bytes texels = test::pattern(packed_bytes(row.format, extent), 7);
        const ImageFile image = open(dxgi_header(10, 6, row.number), texels);
        EXPECT_EQ(image.info(), (ArrayInfo{.format = row.format, .extent = extent}));
        EXPECT_EQ(image.metadata().channels, (Names{"Y", "Cb", "Cr"}));
        const std::size_t luma = packed_bytes(plane_info(row.format, 0).format, extent);
        EXPECT_TRUE(same_bytes(read_part(image.plane(0)), std::span(texels).first(luma)));
        EXPECT_TRUE(same_bytes(read_part(image.plane(1)), std::span(texels).subspan(luma)));
        save(at("again.dds"), load_planar(Device::cpu(), image));
        const Bytes again = test::file_bytes(at("again.dds"));
        EXPECT_TRUE(same_bytes(std::span(again).subspan(148), texels));
        EXPECT_EQ(open_image(at("again.dds")).info(), image.info());
        save(at("frame.yuv"), image);
        EXPECT_TRUE(same_bytes(test::file_bytes(at("frame.yuv")), texels));
    }
}

TEST_F(ImageDdsWritersTest, PlanarImagesInASeparateProcessAreTheSame) {
    setenv("TEXTON_READER", TEXTON_TEST_READER, 0);
    for (const PlanarRow& row : kPlanar) {
        const Bytes texels = test::pattern(packed_bytes(row.format, {10, 6}), 7);
        const ImageFile own = open(dxgi_header(10, 6, row.number), texels);
        const ImageFile isolated = open_image(at("a.dds"), {}, {.isolated = true});
        EXPECT_EQ(isolated.info(), own.info());
        for (int plane = 0; plane < 2; ++plane)
            EXPECT_TRUE(same_bytes(read_part(isolated.plane(plane)), read_part(own.plane(plane))));
    }
}

TEST_F(ImageDdsWritersTest, PlanarImagesThatDoNotFitAreRefused) {
    const Bytes texels(packed_bytes(Format::nv12, {8, 8}));
    expect_refused(dxgi_header(7, 8, 103), texels, ErrorCode::unsupported, "odd size");
    expect_refused(dxgi_header(8, 8, 103), Bytes(texels.size() - 1), ErrorCode::io, "too few");
    expect_refused(dxgi_header(0x7ffffffe, 0x7ffffffe, 103), texels, ErrorCode::io, "too few");
    auto words = dxgi_header(8, 8, 103);
    words[kArraySize] = 2;
    expect_refused(words, Bytes(2 * texels.size()), ErrorCode::unsupported, "layers");
    words[kArraySize] = 1;
    words[kMipMapCount] = 2;
    EXPECT_EQ(open(words, texels).conversions(), Names{"Only the first level of the planar image is read."});
    const auto refused = [&](const ImageOptions& options, std::string_view fragment) {
        test::expect_error([&] { (void)open_image(at("a.dds"), options); }, ErrorCode::unsupported,
                           "texton::open_image", {"a.dds", "nv12", fragment});
    };
    refused({.format = Format::rgba8_unorm}, "to_rgb");
    refused({.kind = ArrayKind::array_3d}, "array_2d");
    refused({.first_level = 1}, "levels");
    const std::vector<fs::path> both{at("a.dds"), at("a.dds")};
    test::expect_error([&] { (void)open_image(both); }, ErrorCode::unsupported, "texton::open_image",
                       {"a.dds", "one planar image at a time"});
}

// --- headers ---

TEST_F(ImageDdsWritersTest, HeadersWithKnownErrorsAreAccepted) {
    const Bytes texels = test::pattern(4 * 4 * 4, 3);
    const auto good = masked_header(4, 4, {0x41, 32, 0xff, 0xff00, 0xff0000, kTop});
    const ArrayInfo plain{.format = Format::rgba8_unorm, .extent = {4, 4}};
    const auto accepted = [&](std::vector<std::pair<int, std::uint32_t>> changes) {
        auto words = good;
        for (const auto& [word, value] : changes) words[static_cast<std::size_t>(word)] = value;
        return open(words, texels).info();
    };
    EXPECT_EQ(accepted({{kSize, 24}}), plain);
    EXPECT_EQ(accepted({{kPfSize, 24}}), plain);
    EXPECT_EQ(accepted({{kPfSize, 0}}), plain);
    EXPECT_EQ(accepted({{kFlags, 0}, {kCaps, 0}}), plain);
    EXPECT_EQ(accepted({{kPitch, 0xffffffff}}), plain);
    EXPECT_EQ(accepted({{kMipMapCount, 0}}), plain);
    ArrayInfo volume = plain;
    volume.kind = ArrayKind::array_3d;
    EXPECT_EQ(accepted({{kCaps2, 0x200000}, {kDepth, 0}}), volume);

    auto blocks = header(8, 8);  // no flags but a code, and one level more than there can be
    blocks[kFourCC] = four("DXT1");
    blocks[kMipMapCount] = 5;
    const ImageFile image = open(blocks, Bytes(32 + 8 + 8 + 8));
    EXPECT_EQ(image.info(), (ArrayInfo{.format = Format::bc1_unorm, .extent = {8, 8}, .levels = 4}));
    EXPECT_EQ(image.conversions(), Names{"The header specifies 5 levels, but 8 x 8 texels have 4."});

    auto cube = good;  // a cubemap without flags of its faces has all
    cube[kCaps2] = 0x200;
    EXPECT_EQ(open(cube, Bytes(6 * texels.size())).info().kind, ArrayKind::cubemap);
    cube[kCaps2] = 0x600;
    expect_refused(cube, Bytes(6 * texels.size()), ErrorCode::unsupported, "missing faces");
}

TEST_F(ImageDdsWritersTest, CountsOfLayersWithKnownErrorsAreAccepted) {
    const Bytes texels = test::pattern(4 * 4 * 4, 3);
    auto words = dxgi_header(4, 4, 28);
    words[kArraySize] = 0;
    EXPECT_EQ(open(words, texels).info(), (ArrayInfo{.format = Format::rgba8_unorm, .extent = {4, 4}}));
    words[kMisc] = 4;  // a cubemap whose faces are counted as layers
    words[kArraySize] = 6;
    const Bytes faces = test::pattern(6 * texels.size(), 3);
    const ImageFile cube = open(words, faces);
    EXPECT_EQ(cube.info(), (ArrayInfo{.format = Format::rgba8_unorm, .extent = {4, 4}, .kind = ArrayKind::cubemap}));
    EXPECT_EQ(cube.conversions(), Names{"The header specifies 6 cubes, but the file has 6 faces."});
    EXPECT_TRUE(same_bytes(read_part(cube), faces));
    EXPECT_EQ(open(words, Bytes(6 * faces.size())).info().layers, 6u);
    words[kArraySize] = 12;
    EXPECT_EQ(open(words, Bytes(2 * faces.size())).info().layers, 2u);
    expect_refused(words, Bytes(faces.size()), ErrorCode::io, "too few for 4 x 4 texels of rgba8_unorm in 72 slices");
}

TEST_F(ImageDdsWritersTest, HeadersOfDx10MustHaveTheirSizes) {
    for (const auto& [word, value] : {std::pair(kSize, 24u), {kPfSize, 24u}, {kPfSize, 0u}}) {
        auto words = dxgi_header(4, 4, 28);
        words[word] = value;
        expect_refused(words, Bytes(64), ErrorCode::io, "size fields");
    }
}

TEST_F(ImageDdsWritersTest, TruncatedTexelsAreRefused) {
    const auto words = masked_header(5, 3, {0x40, 16, 0xf800, 0x7e0, 0x1f, 0});
    EXPECT_NO_THROW((void)open(words, Bytes(30)));
    expect_refused(words, Bytes(29), ErrorCode::io, "too few for 5 x 3 texels of rgba8_unorm.");
    expect_refused(dxgi_header(0x7fffffff, 0x7fffffff, 6), Bytes(1000), ErrorCode::io, "too few");
}

}  // namespace
}  // namespace texton

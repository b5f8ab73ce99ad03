#include <texton/error.h>
#include <texton/image_file.h>
#include <texton/image_load.h>
#include <texton/image_save.h>

#include "tests/io/dds_files.h"
#include "tests/support/dds_file.h"
#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"

// DDS files whose texels are stored in pairs or as indices into a palette.

namespace texton {
namespace {

namespace fs = std::filesystem;
using test::Bytes;
using test::read_part;
using test::same_bytes;
using test::sentence_with;
using namespace test::dds;
using Names = std::vector<std::string>;

class ImageDdsPackedTest : public test::DdsFilesTest {
protected:
    static std::vector<std::uint32_t> coded_header(std::uint32_t width, std::uint32_t height, const char* code) {
        auto words = header(width, height);
        words[kPfFlags] = 4;
        words[kFourCC] = four(code);
        return words;
    }
    // Returns a palette whose entry i is (i, i + 1, i + 2, alpha), followed by the indices.
    static Bytes with_palette(int alpha, const Bytes& indices) {
        Bytes bytes;
        for (int i = 0; i < 256; ++i) {
            for (const int value : {i, i + 1, i + 2, alpha}) bytes.push_back(static_cast<std::byte>(value));
        }
        bytes.insert(bytes.end(), indices.begin(), indices.end());
        return bytes;
    }
};

TEST_F(ImageDdsPackedTest, TexelsThatShareRedAndBlueAreRead) {
    const Bytes stored = of({1, 2, 3, 4, 5, 6, 7, 8});
    const Bytes rgbg = of({1, 2, 3, 255, 1, 4, 3, 255, 5, 6, 7, 255, 5, 8, 7, 255});
    const Bytes grgb = of({2, 1, 4, 255, 2, 3, 4, 255, 6, 5, 8, 255, 6, 7, 8, 255});
    for (const auto& [words, texels] :
         {std::pair(dxgi_header(4, 1, 68), rgbg), std::pair(dxgi_header(4, 1, 69), grgb),
          std::pair(coded_header(4, 1, "RGBG"), rgbg), std::pair(coded_header(4, 1, "GRGB"), grgb)}) {
        const ImageFile image = open(words, stored);
        EXPECT_EQ(image.info(), (ArrayInfo{.format = Format::rgba8_unorm, .extent = {4, 1}}));
        EXPECT_TRUE(same_bytes(read_part(image), texels));
        EXPECT_EQ(image.metadata().channels, (Names{"R", "G", "B"}));
        EXPECT_EQ(image.metadata().alpha, ImageAlpha::none);
        EXPECT_NE(sentence_with(image.conversions(), "share red and blue"), "");
        EXPECT_NE(sentence_with(image.conversions(), "widened to four"), "");
    }
}

TEST_F(ImageDdsPackedTest, RegionsLevelsAndLayersOfPairedTexelsAreRead) {
    auto words = dxgi_header(5, 3, 68);  // rows of 3 pairs; level 1 has 2 x 1 texels, level 2 has 1 x 1
    words[kMipMapCount] = 3;
    words[kArraySize] = 2;
    constexpr std::size_t kLevel1 = 3 * 12, kLevel2 = kLevel1 + 4, kLayer = kLevel2 + 4;
    const Bytes stored = test::pattern(2 * kLayer, 9);
    const ImageFile image = open(words, stored);
    EXPECT_EQ(
        image.info(),
        (ArrayInfo{
            .format = Format::rgba8_unorm, .extent = {5, 3}, .kind = ArrayKind::layered_2d, .layers = 2, .levels = 3}));
    const auto texel = [&](std::size_t pair, std::size_t odd) {
        return Bytes{stored[pair], stored[pair + 1 + 2 * odd], stored[pair + 2], std::byte{255}};
    };
    const auto expect = [&](const Subresource& part, std::initializer_list<Bytes> texels) {
        Bytes expected;
        for (const Bytes& bytes : texels) expected.insert(expected.end(), bytes.begin(), bytes.end());
        EXPECT_TRUE(same_bytes(read_part(image, part), expected));
    };
    expect({.layer = 1, .region = Region{{1, 1}, {3, 1}}},
           {texel(kLayer + 12, 1), texel(kLayer + 16, 0), texel(kLayer + 16, 1)});
    expect({.layer = 1, .region = Region{{4, 1}, {1, 2}}}, {texel(kLayer + 20, 0), texel(kLayer + 32, 0)});
    expect({.level = 1, .layer = 0}, {texel(kLevel1, 0), texel(kLevel1, 1)});
    expect({.level = 2, .layer = 1}, {texel(kLayer + kLevel2, 0)});
    EXPECT_EQ(image.access().granule, (Extent{2, 1, 1}));
}

TEST_F(ImageDdsPackedTest, ColorsOfPairedTexelsCanBeSrgb) {
    const ImageFile image = open(coded_header(2, 1, "RGBG"), of({1, 2, 3, 4}), {.color = ImageColor::srgb});
    EXPECT_EQ(image.info().format, Format::rgba8_srgb);
    EXPECT_TRUE(same_bytes(read_part(image), of({1, 2, 3, 255, 1, 4, 3, 255})));
}

TEST_F(ImageDdsPackedTest, InterleavedLumaAndChromaAreReadAsPlanes) {
    const Bytes yuy2 = of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});  // 4 x 2 texels
    const Bytes uyvy = of({2, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11, 14, 13, 16, 15});
    for (const auto& [words, stored] :
         {std::pair(dxgi_header(4, 2, 107), yuy2), std::pair(coded_header(4, 2, "YUY2"), yuy2),
          std::pair(coded_header(4, 2, "UYVY"), uyvy)}) {
        const ImageFile image = open(words, stored);
        EXPECT_EQ(image.info().format, Format::nv16);
        EXPECT_EQ(image.info().extent, (Extent{4, 2}));
        EXPECT_EQ(image.metadata().channels, (Names{"Y", "Cb", "Cr"}));
        EXPECT_EQ(image.conversions(), Names{});
        EXPECT_TRUE(same_bytes(read_part(image.plane(0)), of({1, 3, 5, 7, 9, 11, 13, 15})));
        EXPECT_TRUE(same_bytes(read_part(image.plane(1)), of({2, 4, 6, 8, 10, 12, 14, 16})));
        EXPECT_TRUE(same_bytes(read_part(image.plane(0), {.region = Region{{1, 0}, {2, 2}}}), of({3, 5, 11, 13})));
        const PlanarArray loaded = load_planar(Device::cpu(), image);
        EXPECT_TRUE(same_bytes(test::download(loaded.frame().chroma), of({2, 4, 6, 8, 10, 12, 14, 16})));
        save(at("planes.dds"), image);
        EXPECT_EQ(open_image(at("planes.dds")).info().format, Format::nv16);
    }
    expect_refused(coded_header(3, 2, "YUY2"), Bytes(16), ErrorCode::unsupported, "odd size");
}

TEST_F(ImageDdsPackedTest, TexelsOfLumaChromaAndAlphaAreReadAsStored) {
    struct Case {
        std::uint32_t number;
        const char* code;
        Format format;
        Names channels;
    };
    const Case cases[] = {{100, "AYUV", Format::rgba8_unorm, {"Cr", "Cb", "Y", "A"}},
                          {101, "Y410", Format::rgb10a2_unorm, {"Cb", "Y", "Cr", "A"}},
                          {102, "Y416", Format::rgba16_unorm, {"Cb", "Y", "Cr", "A"}}};
    for (const Case& each : cases) {
        const std::size_t texel = info(each.format).bytes;
        const Bytes stored = test::pattern(3 * 2 * texel, each.number);
        for (const auto& words : {dxgi_header(3, 2, each.number), coded_header(3, 2, each.code)}) {
            const ImageFile image = open(words, stored);
            EXPECT_EQ(image.info(), (ArrayInfo{.format = each.format, .extent = {3, 2}})) << each.code;
            EXPECT_EQ(image.metadata().channels, each.channels) << each.code;
            EXPECT_EQ(image.metadata().alpha, ImageAlpha::straight) << each.code;
            EXPECT_NE(sentence_with(image.conversions(), "not converted to colors"), "") << each.code;
            EXPECT_TRUE(same_bytes(read_part(image), stored)) << each.code;
            expect_refused(words, Bytes(stored.size() - 1), ErrorCode::io, "too few");
        }
    }
}

TEST_F(ImageDdsPackedTest, IndicesAreReplacedByTheColorsOfThePalette) {
    const auto words = masked_header(3, 2, {0x20, 8, 0, 0, 0, 0});
    const ImageFile image = open(words, with_palette(77, of({0, 255, 7, 1, 2, 3})));
    EXPECT_EQ(image.info(), (ArrayInfo{.format = Format::rgba8_unorm, .extent = {3, 2}}));
    EXPECT_TRUE(same_bytes(read_part(image), of({0, 1, 2, 77, 255, 0, 1, 77, 7, 8, 9, 77,  //
                                                 1, 2, 3, 77, 2,   3, 4, 77, 3, 4, 5, 77})));
    EXPECT_TRUE(same_bytes(read_part(image, {.region = Region{{1, 0}, {1, 2}}}), of({255, 0, 1, 77, 2, 3, 4, 77})));
    EXPECT_EQ(image.metadata().alpha, ImageAlpha::straight);
    EXPECT_EQ(image.conversions(), Names{"Indices are replaced by the colors of the palette."});
    const auto with_rgb_flag = masked_header(1, 1, {0x60, 8, 0, 0, 0, 0});
    EXPECT_TRUE(same_bytes(read_part(open(with_rgb_flag, with_palette(5, of({9})))), of({9, 10, 11, 5})));
}

TEST_F(ImageDdsPackedTest, APaletteWithoutAlphaIsOpaque) {
    const ImageFile image = open(masked_header(1, 1, {0x20, 8, 0, 0, 0, 0}), with_palette(0, of({9})));
    EXPECT_TRUE(same_bytes(read_part(image), of({9, 10, 11, 255})));
    EXPECT_NE(sentence_with(image.conversions(), "alpha 0, which is read as 1"), "");
}

TEST_F(ImageDdsPackedTest, LevelsAndFacesOfIndicesAreRead) {
    auto words = masked_header(2, 2, {0x20, 8, 0, 0, 0, 0});
    words[kMipMapCount] = 2;
    words[kCaps2] = 0xfe00;
    Bytes indices;
    for (int i = 0; i < 30; ++i) indices.push_back(static_cast<std::byte>(i));
    const ImageFile cube = open(words, with_palette(255, indices));
    EXPECT_EQ(cube.info().kind, ArrayKind::cubemap);
    EXPECT_EQ(cube.info().levels, 2);
    EXPECT_TRUE(same_bytes(read_part(cube, {.level = 1, .face = 3}), of({19, 20, 21, 255})));
}

TEST_F(ImageDdsPackedTest, TruncatedFilesAreRefused) {
    const auto palette = masked_header(3, 2, {0x20, 8, 0, 0, 0, 0});
    const Bytes whole = with_palette(1, Bytes(6));
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1023}, std::size_t{1024}, whole.size() - 1}) {
        expect_refused(palette, Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)), ErrorCode::io,
                       "too few");
    }
    expect_refused(dxgi_header(5, 1, 68), Bytes(11), ErrorCode::io, "too few");
    EXPECT_EQ(open(dxgi_header(5, 1, 68), Bytes(12)).info().extent, (Extent{5, 1}));
    expect_refused(dxgi_header(4, 2, 107), Bytes(15), ErrorCode::io, "too few");
    expect_refused(dxgi_header(0x7ffffffe, 0x7ffffffe, 107), Bytes(15), ErrorCode::io, "too few");
    expect_refused(dxgi_header(0x7fffffff, 0x7fffffff, 68), Bytes(15), ErrorCode::io, "too few");
}

TEST_F(ImageDdsPackedTest, TexelsWithoutAFormatOfTheirOwnAreRefusedByName) {
    expect_refused(masked_header(1, 1, {0x21, 16, 0, 0, 0, 0xff00}), Bytes(1100), ErrorCode::unsupported,
                   "bits with the masks");  // an index and alpha
}

}  // namespace
}  // namespace texton

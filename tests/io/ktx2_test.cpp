#include <array>
#include <thread>

#include <texton/error.h>
#include <texton/image.h>
#include <texton/image_file.h>
#include <texton/image_save.h>

#include "arrays/files/ktx2.h"
#include "tests/support/arrays.h"
#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"
#include "tests/support/ktx2_file.h"
#include "tests/support/zstd.h"

// KTX2: round trips, files assembled by hand as other writers make them, and what is refused. Damaged files are in
// ktx2_damage_test.cpp.

namespace texton {
namespace {

namespace fs = std::filesystem;
using test::Bytes;
using test::Ktx2File;
using test::read_part;
using test::same_bytes;

class ImageKtx2Test : public testing::Test {
protected:
    fs::path at(const std::string& name) const { return folder_.at(name); }
    ImageFile opened(const Ktx2File& file, const ImageOptions& options = {}) const {
        return open_image(test::write_bytes(at("a.ktx2"), file.bytes()), options);
    }
    test::ImageFolder folder_;
};

Bytes of(std::initializer_list<int> values) {
    Bytes bytes;
    for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
    return bytes;
}

std::string value_of(const ImageFile& image, const std::string& name) {
    for (const ImageAttribute& attribute : image.metadata().attributes) {
        if (attribute.name == name) return attribute.type + " " + attribute.value;
    }
    return "";
}

TEST_F(ImageKtx2Test, EveryFormatAndKindRoundTripsBitForBit) {
    const Device device = Device::cpu();
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : test::array_formats()) {
            if (!test::has_arrays(kind, format)) continue;
            const test::ReferenceArray reference(test::small_info(kind, format), 7);
            const Array array(device, reference.info());
            test::upload(array, reference);
            for (const char* compression : {"", test::zstd_if_built()}) {
                SCOPED_TRACE(test::describe(reference.info()) + " " + compression);
                save(at("a.ktx2"), array, {.compression = compression});
                const ImageFile image = open_image(at("a.ktx2"));
                EXPECT_EQ(image.info(), reference.info());
                EXPECT_EQ(image.conversions(), std::vector<std::string>{});
                for (int level = 0; level < reference.info().levels; ++level) {
                    EXPECT_TRUE(same_bytes(read_part(image, {.level = level}), reference.level(level)));
                }
            }
        }
    }
    EXPECT_EQ(folder_.files(), 1);
}

// 3 x 2 texels and a level of 1 x 1, with the bytes that the specification prescribes.
TEST_F(ImageKtx2Test, AWrittenFileHasTheBytesOfTheSpecification) {
    const Array array(Device::cpu(), {.format = Format::rg8_srgb, .extent = {3, 2}, .levels = 2});
    const test::ReferenceArray reference(array.info(), 3);
    test::upload(array, reference);
    save(at("a.ktx2"), array);
    Ktx2File file{.vk_format = 22, .width = 3, .height = 2, .level_count = 2};
    file.descriptor = {60,         0, 2 | 56 << 16,
                       0x00020101, 0, 2,
                       0,  // RGBSDA, BT.709, sRGB; 2 bytes
                       0x00070000, 0, 0,
                       255,  // red: 8 bits at 0
                       0x01070008, 0, 0,
                       255};  // green: 8 bits at 8
    file.pairs = Ktx2File::pair("KTXwriter", std::string("Texton") + '\0');
    file.levels = {reference.level(0), reference.level(1)};
    Bytes expected = file.bytes();
    const auto second = static_cast<std::ptrdiff_t>(expected.size() - reference.level(0).size());
    expected.insert(expected.begin() + second, 2, std::byte{0});  // level 0 starts at a multiple of 4
    const std::uint64_t moved = static_cast<std::uint64_t>(second) + 2;
    std::memcpy(expected.data() + 80, &moved, sizeof(moved));
    EXPECT_TRUE(same_bytes(test::file_bytes(at("a.ktx2")), expected));
}

TEST_F(ImageKtx2Test, DescriptorsDescribeTheChannelsOfEachFormat) {
    using Words = std::vector<std::uint32_t>;
    struct Row {
        Format format;
        std::uint32_t vk_format, type_size, color, side, bytes;
        Words samples;
    };
    const Row rows[] = {
        {Format::r16_snorm, 71, 2, 0x00010101, 0, 2, {0x400f0000, 0, 0xffff8001, 0x7fff}},
        {Format::rg32_uint, 101, 4, 0x00000001, 0, 8, {0x001f0000, 0, 0, 1, 0x011f0020, 0, 0, 1}},
        {Format::r8_sint, 14, 1, 0x00000001, 0, 1, {0x40070000, 0, 0xffffffff, 1}},
        {Format::r16_float, 76, 2, 0x00010101, 0, 2, {0xc00f0000, 0, 0xbf800000, 0x3f800000}},
        {Format::rgb10a2_unorm,
         64,
         4,
         0x00010101,
         0,
         4,
         {0x00090000, 0, 0, 1023, 0x0109000a, 0, 0, 1023, 0x02090014, 0, 0, 1023, 0x0f01001e, 0, 0, 3}},
        {Format::rgba8_srgb,
         43,
         1,
         0x00020101,
         0,
         4,
         {0x00070000, 0, 0, 255, 0x01070008, 0, 0, 255, 0x02070010, 0, 0, 255, 0x1f070018, 0, 0, 255}},
        {Format::bc1_unorm, 133, 1, 0x00010180, 0x303, 8, {0x013f0000, 0, 0, 0xffffffff}},
        {Format::bc3_srgb, 138, 1, 0x00020182, 0x303, 16, {0x1f3f0000, 0, 0, 0xffffffff, 0x003f0040, 0, 0, 0xffffffff}},
        {Format::bc5_snorm,
         142,
         1,
         0x00010184,
         0x303,
         16,
         {0x403f0000, 0, 0x80000000, 0x7fffffff, 0x413f0040, 0, 0x80000000, 0x7fffffff}},
        {Format::bc6h_ufloat, 143, 1, 0x00010185, 0x303, 16, {0x807f0000, 0, 0, 0x3f800000}},
        {Format::bc6h_sfloat, 144, 1, 0x00010185, 0x303, 16, {0xc07f0000, 0, 0xbf800000, 0x3f800000}},
        {Format::bc7_srgb, 146, 1, 0x00020186, 0x303, 16, {0x007f0000, 0, 0, 0xffffffff}},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(name(row.format));
        const Bytes texels(packed_bytes(row.format, {4, 4}));
        save(at("a.ktx2"), host_view(texels.data(), row.format, {4, 4}));
        const auto block = static_cast<std::uint32_t>(24 + row.samples.size() * 4);
        Words expected{block + 4, 0, 2 | block << 16, row.color, row.side, row.bytes, 0};
        expected.insert(expected.end(), row.samples.begin(), row.samples.end());
        const Bytes file = test::file_bytes(at("a.ktx2"));
        ASSERT_GT(file.size(), 104 + expected.size() * 4);
        Words words(expected.size()), head(2);
        std::memcpy(words.data(), file.data() + 104, words.size() * 4);
        std::memcpy(head.data(), file.data() + 12, 8);
        EXPECT_EQ(words, expected);
        EXPECT_EQ(head, (Words{row.vk_format, row.type_size}));
    }
}

TEST_F(ImageKtx2Test, LevelsAreAlignedAndStoredFromTheSmallestOne) {
    for (const Format format : {Format::r8_unorm, Format::rg16_float, Format::rgba32_float, Format::bc1_unorm}) {
        SCOPED_TRACE(name(format));
        const Array array(
            Device::cpu(),
            {.format = format, .extent = {12, 12}, .kind = ArrayKind::layered_2d, .layers = 3, .levels = 4});
        save(at("a.ktx2"), array);
        const Bytes file = test::file_bytes(at("a.ktx2"));
        std::array<detail::Ktx2Level, 4> index;
        std::memcpy(index.data(), file.data() + 80, sizeof(index));
        for (std::size_t level = 0; level < index.size(); ++level) {
            EXPECT_EQ(index[level].offset % std::max<std::size_t>(4, info(format).bytes), 0u);
            EXPECT_EQ(index[level].bytes, index[level].decompressed);
            const std::size_t next = level > 0 ? index[level - 1].offset : file.size();
            EXPECT_LT(next - (index[level].offset + index[level].bytes), 16u);
        }
    }
}

// --- files of other writers ------------------------------------------------------------------------------------------

TEST_F(ImageKtx2Test, ChannelsInOtherOrdersAreReordered) {
    struct Row {
        std::uint32_t vk_format;
        Bytes stored;
        Format format;
        Bytes read;
        const char* sentence;
    };
    const Bytes one = of({0, 0, 0x80, 0x3f});
    const auto floats = [](int first, int third) { return of({first, 0, 0, 0x40, 2, 0, 0, 0x40, third, 0, 0, 0x40}); };
    const auto with = [](Bytes bytes, const Bytes& more) {
        bytes.insert(bytes.end(), more.begin(), more.end());
        return bytes;
    };
    const Row rows[] = {
        {23, of({1, 2, 3}), Format::rgba8_unorm, of({1, 2, 3, 255}), "Three channels are widened"},
        {24, of({1, 2, 3}), Format::rgba8_snorm, of({1, 2, 3, 127}), "Three channels are widened"},
        {27, of({1, 2, 3}), Format::rgba8_uint, of({1, 2, 3, 1}), "Three channels are widened"},
        {28, of({1, 2, 3}), Format::rgba8_sint, of({1, 2, 3, 1}), "Three channels are widened"},
        {29, of({1, 2, 3}), Format::rgba8_srgb, of({1, 2, 3, 255}), "Three channels are widened"},
        {30, of({1, 2, 3}), Format::rgba8_unorm, of({3, 2, 1, 255}), "BGR is reordered"},
        {36, of({1, 2, 3}), Format::rgba8_srgb, of({3, 2, 1, 255}), "BGR is reordered"},
        {44, of({1, 2, 3, 4}), Format::rgba8_unorm, of({3, 2, 1, 4}), "BGRA is reordered"},
        {50, of({1, 2, 3, 4}), Format::rgba8_srgb, of({3, 2, 1, 4}), "BGRA is reordered"},
        {51, of({1, 2, 3, 4}), Format::rgba8_unorm, of({1, 2, 3, 4}), ""},
        {58, of({0x01, 0x08, 0x30, 0xc0}), Format::rgb10a2_unorm, of({0x03, 0x08, 0x10, 0xc0}), "BGRA is reordered"},
        {64, of({1, 2, 3, 4}), Format::rgb10a2_unorm, of({1, 2, 3, 4}), ""},
        {84, of({1, 2, 3, 4, 5, 6}), Format::rgba16_unorm, of({1, 2, 3, 4, 5, 6, 255, 255}), "Three channels"},
        {85, of({1, 2, 3, 4, 5, 6}), Format::rgba16_snorm, of({1, 2, 3, 4, 5, 6, 255, 127}), "Three channels"},
        {88, of({1, 2, 3, 4, 5, 6}), Format::rgba16_uint, of({1, 2, 3, 4, 5, 6, 1, 0}), "Three channels"},
        {90, of({1, 2, 3, 4, 5, 6}), Format::rgba16_float, of({1, 2, 3, 4, 5, 6, 0, 0x3c}), "Three channels"},
        {104, floats(1, 3), Format::rgba32_uint, with(floats(1, 3), of({1, 0, 0, 0})), "Three channels"},
        {106, floats(1, 3), Format::rgba32_float, with(floats(1, 3), one), "Three channels"},
        {124, of({1, 2}), Format::r16_unorm, of({1, 2}), ""},
        {126, of({1, 2, 3, 4}), Format::r32_float, of({1, 2, 3, 4}), ""},
        {127, of({1}), Format::r8_uint, of({1}), ""},
        {1000470001, of({1}), Format::r8_unorm, of({1}), ""},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.vk_format);
        const ImageFile image = opened({.vk_format = row.vk_format, .levels = {row.stored}});
        EXPECT_EQ(image.info(), (ArrayInfo{.format = row.format, .extent = {1, 1}}));
        EXPECT_TRUE(same_bytes(read_part(image), row.read));
        EXPECT_EQ(image.conversions().empty(), row.sentence[0] == '\0');
        EXPECT_NE(test::sentence_with(image.conversions(), row.sentence), row.sentence[0] == '\0' ? "-" : "");
        const bool three = row.stored.size() % 3 == 0;
        const std::size_t channels = info(row.format).channels;
        EXPECT_EQ(image.metadata().channels.size(), three ? 3 : channels);
        EXPECT_EQ(image.metadata().alpha, !three && channels == 4 ? ImageAlpha::straight : ImageAlpha::none);
    }
}

TEST_F(ImageKtx2Test, KindsFollowFromTheCountsOfTheHeader) {
    struct Row {
        Ktx2File file;
        ArrayInfo info;
    };
    const auto file = [](std::uint32_t width, std::uint32_t height, std::uint32_t depth, std::uint32_t layers,
                         std::uint32_t faces, std::uint32_t levels) {
        return Ktx2File{.vk_format = 9,
                        .width = width,
                        .height = height,
                        .depth = depth,
                        .layer_count = layers,
                        .face_count = faces,
                        .level_count = levels};
    };
    const Row rows[] = {
        {file(5, 0, 0, 0, 1, 3), {.extent = {5, 1}, .kind = ArrayKind::array_1d, .levels = 3}},
        {file(5, 0, 0, 1, 1, 1), {.extent = {5, 1}, .kind = ArrayKind::layered_1d}},
        {file(5, 3, 0, 0, 1, 2), {.extent = {5, 3}, .levels = 2}},
        {file(5, 3, 0, 1, 1, 1), {.extent = {5, 3}, .kind = ArrayKind::layered_2d}},
        {file(5, 3, 0, 4, 1, 2), {.extent = {5, 3}, .kind = ArrayKind::layered_2d, .layers = 4, .levels = 2}},
        {file(4, 2, 5, 0, 1, 3), {.extent = {4, 2, 5}, .kind = ArrayKind::array_3d, .levels = 3}},
        {file(4, 4, 0, 0, 6, 3), {.extent = {4, 4}, .kind = ArrayKind::cubemap, .levels = 3}},
        {file(4, 4, 0, 2, 6, 3), {.extent = {4, 4}, .kind = ArrayKind::cubemap_layered, .layers = 2, .levels = 3}},
    };
    for (Row row : rows) {
        row.info.format = Format::r8_unorm;
        SCOPED_TRACE(test::describe(row.info));
        for (int level = 0; level < row.info.levels; ++level) {
            const Extent extent = level_extent(row.info, level);
            row.file.levels.push_back(test::pattern(extent.width * extent.height * slice_count(row.info, level),
                                                    static_cast<unsigned>(level) + 1));
        }
        const ImageFile image = opened(row.file);
        EXPECT_EQ(image.info(), row.info);
        for (int level = 0; level < row.info.levels; ++level)
            EXPECT_TRUE(
                same_bytes(read_part(image, {.level = level}), row.file.levels[static_cast<std::size_t>(level)]));
    }
    // Layers follow each other, each with all its faces.
    const Bytes smallest = test::pattern(12, 3);
    Ktx2File cubes = file(1, 1, 0, 2, 6, 1);
    cubes.levels = {smallest};
    EXPECT_EQ(read_part(opened(cubes), {.layer = 1, .face = 2}), of({std::to_integer<int>(smallest[8])}));
}

TEST_F(ImageKtx2Test, FilesThatWritersPadOrDescribeDifferentlyAreRead) {
    const Bytes texels = test::pattern(32, 5), small = test::pattern(8, 6);
    Ktx2File file{.width = 4, .height = 2, .level_count = 2, .levels = {texels, small}};
    for (const std::size_t padding : {0u, 1u, 16u, 100u}) {
        file.padding = padding;
        for (const std::size_t words : {0u, 1u, 7u}) {  // of the descriptor
            file.descriptor = Ktx2File::colors(1, 1, 1, 0);
            file.descriptor.resize(words);
            const ImageFile image = opened(file);
            EXPECT_EQ(image.info(), (ArrayInfo{.format = Format::rgba8_unorm, .extent = {4, 2}, .levels = 2}));
            EXPECT_TRUE(same_bytes(read_part(image), texels));
            EXPECT_TRUE(same_bytes(read_part(image, {.level = 1}), small));
            EXPECT_EQ(image.metadata().color_space, words == 7 ? "Linear" : "");
        }
    }
    // 0 levels: the reader may compute all but the first one.
    file = {.width = 4, .height = 2, .level_count = 0, .levels = {texels}};
    EXPECT_EQ(opened(file).info().levels, 1);
    EXPECT_TRUE(same_bytes(read_part(opened(file)), texels));
}

TEST_F(ImageKtx2Test, KeysAndValuesBecomeAttributes) {
    Ktx2File file{.levels = {of({1, 2, 3, 4})}};
    file.pairs = Ktx2File::pair("Artist", std::string("a \xc3\xa9") + '\0') + Ktx2File::pair("KTXwriter", "toktx v4") +
                 Ktx2File::pair("bytes", std::string("\0\1\377", 3)) + Ktx2File::pair("empty", "");
    const ImageFile image = opened(file);
    EXPECT_EQ(value_of(image, "Artist"), "string a \xc3\xa9");
    EXPECT_EQ(value_of(image, "KTXwriter"), "string toktx v4");
    EXPECT_EQ(value_of(image, "bytes"), "uint8[3] 0, 1, 255");
    EXPECT_EQ(value_of(image, "empty"), "string ");

    save(at("b.ktx2"), image, {.attributes = {{"Added", "1.5", "float"}, {"KTXother", "1"}}});
    const ImageFile again = open_image(at("b.ktx2"));
    EXPECT_EQ(value_of(again, "KTXwriter"), "string Texton");
    EXPECT_EQ(value_of(again, "Added"), "string 1.5");
    EXPECT_EQ(value_of(again, "KTXother"), "");
    EXPECT_EQ(value_of(again, "Artist"), "string a \xc3\xa9");
    EXPECT_EQ(value_of(again, "bytes"), "uint8[3] 0, 1, 255");
    std::vector<std::string> names;
    for (const ImageAttribute& attribute : again.metadata().attributes) names.push_back(attribute.name);
    EXPECT_EQ(names, (std::vector<std::string>{"Added", "Artist", "KTXwriter", "bytes", "empty"}));
}

TEST_F(ImageKtx2Test, ColorsFollowTheDescriptor) {
    Ktx2File file{.vk_format = 91, .descriptor = Ktx2File::colors(1, 4, 2, 1), .levels = {test::pattern(8, 1)}};
    const ImageFile image = opened(file);
    EXPECT_EQ(image.metadata().color_space, "sRGB");
    EXPECT_EQ(image.metadata().alpha, ImageAlpha::premultiplied);
    EXPECT_EQ(value_of(image, "ktx:primaries"), "string BT2020");
    EXPECT_NE(test::sentence_with(image.conversions(), "sRGB and are not converted"), "");
    save(at("b.ktx2"), image);
    const ImageFile again = open_image(at("b.ktx2"));
    EXPECT_EQ(again.metadata().color_space, "sRGB");
    EXPECT_EQ(again.metadata().alpha, ImageAlpha::premultiplied);
    EXPECT_EQ(value_of(again, "ktx:primaries"), "string BT2020");

    file = {.vk_format = 37, .descriptor = Ktx2File::colors(1, 1, 2, 0), .levels = {of({1, 2, 3, 4})}};
    EXPECT_EQ(opened(file).info().format, Format::rgba8_srgb);  // the file says that the values are encoded
    EXPECT_EQ(opened(file, {.color = ImageColor::linear}).info().format, Format::rgba8_unorm);
    file.descriptor = Ktx2File::colors(1, 1, 3, 0);
    EXPECT_NE(test::sentence_with(opened(file).conversions(), "color space Rec709"), "");
    save(at("b.ktx2"), opened(file));
    EXPECT_EQ(open_image(at("b.ktx2")).metadata().color_space, "Rec709");
    file.vk_format = 43;
    file.descriptor.clear();
    EXPECT_EQ(opened(file).metadata().color_space, "sRGB");
    EXPECT_EQ(opened(file, {.color = ImageColor::linear}).info().format, Format::rgba8_unorm);
    EXPECT_EQ(opened(file, {.format = Format::rgba16_float}).info().format, Format::rgba16_float);
    save(at("b.ktx2"), opened(file, {.format = Format::rgba16_float}));
    EXPECT_EQ(open_image(at("b.ktx2")).metadata().color_space, "Linear");  // floats were decoded
}

TEST_F(ImageKtx2Test, Bc1WithoutAlphaStaysWithoutAlpha) {
    const Bytes block = test::pattern(8, 2);
    const ImageFile image = opened({.vk_format = 132, .width = 4, .height = 4, .levels = {block}});
    EXPECT_EQ(image.info().format, Format::bc1_srgb);
    EXPECT_EQ(image.metadata().alpha, ImageAlpha::none);
    EXPECT_NE(test::sentence_with(image.conversions(), "BC1 without alpha"), "");
    save(at("b.ktx2"), image);
    std::uint32_t vk_format = 0;
    std::memcpy(&vk_format, test::file_bytes(at("b.ktx2")).data() + 12, 4);
    EXPECT_EQ(vk_format, 132u);
    EXPECT_TRUE(same_bytes(read_part(open_image(at("b.ktx2"))), block));
}

TEST_F(ImageKtx2Test, ImagesAreTurnedUprightUnlessTheirTexelsCannotBe) {
    const std::string upwards = Ktx2File::pair("KTXorientation", std::string("ru") + '\0');
    const Ktx2File file{.vk_format = 9, .width = 2, .height = 2, .pairs = upwards, .levels = {of({1, 2, 3, 4})}};
    const ImageFile image = opened(file);
    EXPECT_EQ(read_part(image), of({3, 4, 1, 2}));
    EXPECT_NE(test::sentence_with(image.conversions(), "turned upright"), "");
    EXPECT_EQ(image.metadata().orientation, 4);
    save(at("b.ktx2"), image);
    EXPECT_EQ(read_part(open_image(at("b.ktx2"))), of({3, 4, 1, 2}));
    EXPECT_EQ(open_image(at("b.ktx2")).metadata().orientation, 1);

    const ImageFile stored = opened(file, {.upright = false});
    EXPECT_EQ(read_part(stored), of({1, 2, 3, 4}));
    save(at("b.ktx2"), stored);
    EXPECT_EQ(read_part(open_image(at("b.ktx2"), {.upright = false})), of({1, 2, 3, 4}));
    EXPECT_EQ(open_image(at("b.ktx2")).metadata().orientation, 4);

    Ktx2File other = file;
    other.pairs = Ktx2File::pair("KTXorientation", "ld");
    EXPECT_EQ(read_part(opened(other)), of({2, 1, 4, 3}));
    other.pairs = Ktx2File::pair("KTXorientation", "lu");
    EXPECT_EQ(read_part(opened(other)), of({4, 3, 2, 1}));
    other.layer_count = 2;
    other.levels = {of({1, 2, 3, 4, 5, 6, 7, 8})};
    EXPECT_EQ(read_part(opened(other)), of({4, 3, 2, 1, 8, 7, 6, 5}));

    const Bytes block = test::pattern(16, 2);
    const ImageFile blocks = opened({.vk_format = 145, .width = 4, .height = 4, .pairs = upwards, .levels = {block}});
    EXPECT_TRUE(same_bytes(read_part(blocks), block));
    EXPECT_NE(test::sentence_with(blocks.conversions(), "not turned upright from the orientation 'ru'"), "");
    save(at("b.ktx2"), blocks);
    EXPECT_EQ(value_of(open_image(at("b.ktx2")), "KTXorientation"), "string ru");
}

TEST_F(ImageKtx2Test, KeysThatAreNotAppliedAreStated) {
    Ktx2File file{.vk_format = 9, .levels = {of({1})}};
    file.pairs = Ktx2File::pair("KTXswizzle", "rrr1");
    EXPECT_NE(test::sentence_with(opened(file).conversions(), "swizzle 'rrr1' is not applied"), "");
    save(at("b.ktx2"), opened(file));
    EXPECT_EQ(value_of(open_image(at("b.ktx2")), "KTXswizzle"), "string rrr1");
    file.pairs = Ktx2File::pair("KTXswizzle", "r001");
    EXPECT_EQ(opened(file).conversions(), std::vector<std::string>{});
    file.layer_count = 2;
    file.levels = {of({1, 2})};
    file.pairs = Ktx2File::pair("KTXcubemapIncomplete", "\3");
    EXPECT_NE(test::sentence_with(opened(file).conversions(), "incomplete cubemap"), "");
}

TEST_F(ImageKtx2Test, ReadImageReadsTheFirstImage) {
    const auto first = [&](const Ktx2File& file) { return read_image(test::write_bytes(at("a.ktx2"), file.bytes())); };
    const Bytes texels = test::pattern(24, 1);
    const Image widened = first({.vk_format = 29, .width = 2, .height = 2, .layer_count = 2, .levels = {texels}});
    EXPECT_EQ(widened.format, Format::rgba8_unorm);
    EXPECT_EQ(widened.extent, (Extent{2, 2}));
    EXPECT_EQ(widened.file_channels, 3);
    EXPECT_EQ(widened.texels[8], texels[6]);
    const Image volume = first({.vk_format = 9, .width = 2, .height = 3, .depth = 4, .levels = {texels}});
    EXPECT_EQ(volume.extent, (Extent{2, 3, 4}));
    EXPECT_TRUE(same_bytes(volume.texels, texels));
    test::expect_error([&] { (void)first({.vk_format = 133, .width = 4, .height = 4, .levels = {Bytes(8)}}); },
                       ErrorCode::io, "texton::read_image", {"a.ktx2", "bc1_unorm", "open_image()"});
}

// --- Zstandard and zlib ----------------------------------------------------------------------------------------------

TEST_F(ImageKtx2Test, FramesOfZstandardAreDecompressed) {
    if (!detail::has_zstd()) GTEST_SKIP() << "This build lacks libzstd";
    Ktx2File file{.width = 4, .height = 4, .level_count = 2, .scheme = 2};
    file.levels = {test::zstd_frame_of(64, 7), test::zstd_frame_of(16, 9)};
    file.uncompressed_bytes = {64, 16};
    EXPECT_EQ(read_part(opened(file)), Bytes(64, std::byte{7}));
    EXPECT_EQ(read_part(opened(file), {.level = 1}), Bytes(16, std::byte{9}));
    EXPECT_EQ(value_of(opened(file), "compression"), "string zstd");
    EXPECT_EQ(opened(file).access(), (ImageAccess{{4, 1, 1}, true}));

    // Several frames, and one to skip.
    Bytes frames = test::zstd_frame_of(32, 7);
    const Bytes skipped = of({0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 1, 1}), second = test::zstd_frame_of(32, 8);
    frames.insert(frames.end(), skipped.begin(), skipped.end());
    frames.insert(frames.end(), second.begin(), second.end());
    file.levels[0] = frames;
    Bytes expected(32, std::byte{7});
    expected.resize(64, std::byte{8});
    EXPECT_EQ(read_part(opened(file)), expected);
}

TEST_F(ImageKtx2Test, StreamsOfZlibAreDecompressed) {
    Ktx2File file{.width = 4, .height = 4, .level_count = 2, .scheme = 3};
    // The streams of 64 times 7 and 16 times 9 as zlib writes them.
    file.levels = {of({0x78, 0x9c, 0x63, 0x67, 0xa7, 0x0c, 0, 0, 0x39, 0x20, 0x01, 0xc1}),
                   of({0x78, 0x9c, 0xe3, 0xe4, 0x44, 0x05, 0, 0x04, 0xd8, 0, 0x91})};
    file.uncompressed_bytes = {64, 16};
    EXPECT_EQ(read_part(opened(file)), Bytes(64, std::byte{7}));
    EXPECT_EQ(read_part(opened(file), {.level = 1}), Bytes(16, std::byte{9}));
    EXPECT_EQ(value_of(opened(file), "compression"), "string zlib");
    EXPECT_EQ(opened(file).access(), (ImageAccess{{4, 1, 1}, true}));
}

TEST_F(ImageKtx2Test, PartsOfLevelsThatZlibCompressedAreReadInAnyOrder) {
    const Bytes texels = test::pattern(100 * 80 * 4, 4);
    Ktx2File file{.width = 100, .height = 80, .scheme = 3};
    file.levels = {test::zlib_stream_of(texels)};
    file.uncompressed_bytes = {texels.size()};
    const ImageFile image = opened(file);
    for (const Region& box : {Region{{0, 0}, {100, 3}}, Region{{7, 3}, {50, 70}}, Region{{99, 0}, {1, 80}}}) {
        Bytes expected;
        for (std::size_t y = box.offset.y; y < box.offset.y + box.extent.height; ++y) {
            const auto row = texels.begin() + static_cast<std::ptrdiff_t>((y * 100 + box.offset.x) * 4);
            expected.insert(expected.end(), row, row + static_cast<std::ptrdiff_t>(box.extent.width * 4));
        }
        EXPECT_TRUE(same_bytes(read_part(image, {.region = box}), expected)) << to_string(box);
    }
}

TEST_F(ImageKtx2Test, ABuildWithoutLibzstdRefusesZstandardAndSaysSo) {
    if (detail::has_zstd()) GTEST_SKIP() << "This build has libzstd";
    Ktx2File file{.width = 4, .height = 4, .scheme = 2, .levels = {test::zstd_frame_of(64, 7)}};
    file.uncompressed_bytes = {64};
    test::expect_error([&] { (void)opened(file); }, ErrorCode::unsupported, "texton::open_image",
                       {"a.ktx2", "lacks libzstd", "TEXTON_ZSTD"});
    const Bytes texels(64);
    for (const char* compression : {"zstd", "zstd:3"}) {
        test::expect_error(
            [&] {
                save(at("b.ktx2"), host_view(texels.data(), Format::rgba8_unorm, {4, 4}), {.compression = compression});
            },
            ErrorCode::unsupported, "texton::save", {"b.ktx2", "lacks libzstd", "TEXTON_ZSTD"});
    }
}

TEST_F(ImageKtx2Test, PartsOfCompressedLevelsAreReadInAnyOrder) {
    const ArrayInfo info{
        .format = Format::rgba8_unorm, .extent = {300, 200}, .kind = ArrayKind::layered_2d, .layers = 3, .levels = 2};
    const Array array(Device::cpu(), info);
    const test::ReferenceArray reference(info, 4);
    test::upload(array, reference);
    save(at("a.ktx2"), array, {.compression = detail::has_zstd() ? "zstd:19" : "none"});
    const ImageFile image = open_image(at("a.ktx2"));
    const Region boxes[] = {{{0, 0, 0}, {300, 10, 1}},  {{0, 10, 0}, {300, 50, 1}}, {{20, 70, 0}, {30, 40, 2}},
                            {{0, 0, 2}, {300, 200, 1}}, {{299, 199, 2}, {1, 1, 1}}, {{0, 0, 0}, {1, 1, 3}},
                            {{5, 5, 1}, {100, 100, 1}}};
    for (const Region& box : boxes) {
        EXPECT_TRUE(same_bytes(read_part(image, {.region = box}), reference.read(0, box))) << to_string(box);
    }
    EXPECT_TRUE(same_bytes(read_part(image, {.level = 1}), reference.level(1)));

    std::vector<std::thread> threads;
    std::vector<Bytes> layers(8);
    for (std::size_t i = 0; i < layers.size(); ++i)
        threads.emplace_back(
            [&, i] { layers[i] = read_part(image, {.level = static_cast<int>(i % 2), .layer = i % 3}); });
    for (std::thread& thread : threads) thread.join();
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const Extent extent = level_extent(info, static_cast<int>(i % 2));
        EXPECT_TRUE(same_bytes(layers[i], reference.read(static_cast<int>(i % 2), {{0, 0, i % 3}, extent})));
    }
}

TEST_F(ImageKtx2Test, ReorderedChannelsOfCompressedLevelsAreRead) {
    Ktx2File file{.vk_format = 30, .width = 8, .height = 4, .scheme = 3};
    file.levels = {test::zlib_stream_of(Bytes(96, std::byte{5}))};
    file.uncompressed_bytes = {96};
    Bytes expected;
    for (int i = 0; i < 6; ++i) {
        const Bytes texel = of({5, 5, 5, 255});
        expected.insert(expected.end(), texel.begin(), texel.end());
    }
    EXPECT_EQ(read_part(opened(file), {.region = Region{{3, 1}, {3, 2}}}), expected);
}

// --- what is refused -------------------------------------------------------------------------------------------------

TEST_F(ImageKtx2Test, FormatsAndCompressionsThatAreNotSupportedAreNamed) {
    const auto refused = [&](const Ktx2File& file, std::string_view name) {
        SCOPED_TRACE(name);
        test::expect_error([&] { (void)opened(file); }, ErrorCode::unsupported, "texton::open_image", {"a.ktx2", name});
    };
    const Bytes texel = of({1, 2, 3, 4});
    refused({.vk_format = 0, .scheme = 1, .levels = {texel}}, "BasisLZ");
    refused({.vk_format = 0, .descriptor = Ktx2File::colors(163, 1, 2, 0), .levels = {texel}}, "ETC1S");
    refused({.vk_format = 0, .scheme = 2, .descriptor = Ktx2File::colors(166, 1, 2, 0), .levels = {texel}}, "UASTC");
    refused({.vk_format = 0, .levels = {texel}}, "undefined format");
    refused({.scheme = 0x10000, .levels = {texel}}, "65536");
    refused({.vk_format = 157, .levels = {texel}}, "ASTC (VkFormat 157)");
    refused({.vk_format = 147, .levels = {texel}}, "ETC2");
    refused({.vk_format = 122, .levels = {texel}}, "B10G11R11");
    refused({.vk_format = 12345, .levels = {texel}}, "VkFormat 12345");
    refused({.depth = 1, .layer_count = 1, .levels = {texel}}, "layers of volumes");
}

TEST_F(ImageKtx2Test, ImagesThatKtx2CannotHoldAreRefused) {
    const PlanarArray planar(Device::cpu(), Format::nv12, {8, 8});
    test::expect_error([&] { save(at("a.ktx2"), planar); }, ErrorCode::io, "texton::save",
                       {"a.ktx2", "nv12", "to_rgb()"});
    const Bytes blocks(16);
    save(at("a.dds"), host_view(blocks.data(), Format::bc1_unorm, {8, 1}));
    const ImageFile line = open_image(at("a.dds"), {.kind = ArrayKind::array_1d});
    test::expect_error([&] { save(at("a.ktx2"), line); }, ErrorCode::io, "texton::save",
                       {"a.ktx2", "bc1_unorm in one dimension", "ImageOptions::kind = array_2d"});
    for (const char* compression : {"zip", "zstd:0", "zstd:23", "zstd:", "zstd:1 "}) {
        if (!detail::has_zstd()) break;
        test::expect_error([&] { save(at("a.ktx2"), open_image(at("a.dds")), {.compression = compression}); },
                           ErrorCode::bad_argument, "texton::save", {"a.ktx2", compression, "zstd:1 to zstd:22"});
    }
    EXPECT_EQ(folder_.files(), 1);
}

TEST_F(ImageKtx2Test, ADdsFileRefersToKtx2ForFormatsThatItLacks) {
    const Bytes texels = test::pattern(16, 1);
    const auto view = host_view(texels.data(), Format::rg8_srgb, {4, 2});
    test::expect_error([&] { save(at("a.dds"), view); }, ErrorCode::io, "texton::save", {"Use .ktx2"});
    save(at("a.ktx2"), view);
    EXPECT_TRUE(same_bytes(read_part(open_image(at("a.ktx2"))), texels));
}

}  // namespace
}  // namespace texton

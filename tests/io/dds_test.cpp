#include <random>

#include <texton/error.h>
#include <texton/image_file.h>
#include <texton/image_save.h>

#include "tests/support/arrays.h"
#include "tests/support/dds_file.h"
#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"

// DDS: round trips, old headers, and invalid headers. Variants of other writers are in dds_writers_test.cpp.

namespace texton {
namespace {

namespace fs = std::filesystem;
using test::Bytes;
using test::read_part;
using test::same_bytes;
using namespace test::dds;

class ImageDdsTest : public testing::Test {
protected:
    fs::path at(const std::string& name) const { return folder_.at(name); }
    test::ImageFolder folder_;
};

bool dxgi_has(Format format) {
    return info(format).layout != FormatLayout::planar && format != Format::r8_srgb && format != Format::rg8_srgb;
}

TEST_F(ImageDdsTest, EveryFormatAndKindRoundTripsBitForBit) {
    const Device device = Device::cpu();
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : test::array_formats()) {
            if (!test::has_arrays(kind, format) || !dxgi_has(format)) continue;
            const test::ReferenceArray reference(test::small_info(kind, format), 7);
            SCOPED_TRACE(test::describe(reference.info()));
            const Array array(device, reference.info());
            test::upload(array, reference);
            save(at("a.dds"), array);
            const ImageFile image = open_image(at("a.dds"));
            EXPECT_EQ(image.info(), reference.info());
            EXPECT_EQ(image.conversions(), std::vector<std::string>{});
            for (int level = 0; level < reference.info().levels; ++level) {
                EXPECT_TRUE(same_bytes(read_part(image, {.level = level}), reference.level(level)));
            }
        }
    }
    EXPECT_EQ(folder_.files(), 1);
}

TEST_F(ImageDdsTest, FormatsMissingInDxgiAreRefusedAndNamed) {
    const Bytes texels(16);
    const auto view = host_view(texels.data(), Format::rg8_srgb, {4, 2});
    test::expect_error([&] { save(at("a.dds"), view); }, ErrorCode::io, "texton::save", {"a.dds", "rg8_srgb"});
    EXPECT_EQ(folder_.files(), 0);
}

TEST_F(ImageDdsTest, RegionsOfBlockFormatsAreRead) {
    const Bytes texels = test::pattern(packed_bytes(Format::bc7_unorm, {22, 18}), 4);
    save(at("a.dds"), host_view(texels.data(), Format::bc7_unorm, {22, 18}));
    const ImageFile image = open_image(at("a.dds"));
    Bytes expected;
    for (std::size_t row = 1; row < 3; ++row) {
        const auto first = texels.begin() + static_cast<std::ptrdiff_t>((row * 6 + 4) * 16);
        expected.insert(expected.end(), first, first + 32);
    }
    Bytes read(64);
    image.read({.region = Region{{16, 4, 0}, {6, 8}}}, read);
    EXPECT_TRUE(same_bytes(read, expected));
    test::expect_error(
        [&] {
            image.read({.region = Region{{2, 4, 0}, {8, 8}}}, read);
        },
        ErrorCode::bad_argument, "texton::ImageFile", {"whole 4 x 4 blocks"});
}

TEST_F(ImageDdsTest, LegacyFourCcCodesAreSupported) {
    struct Row {
        std::uint32_t code;
        Format format;
    };
    const Row rows[] = {
        {four("DXT1"), Format::bc1_unorm}, {four("DXT2"), Format::bc2_unorm}, {four("DXT3"), Format::bc2_unorm},
        {four("DXT4"), Format::bc3_unorm}, {four("DXT5"), Format::bc3_unorm}, {four("ATI1"), Format::bc4_unorm},
        {four("BC4U"), Format::bc4_unorm}, {four("BC4S"), Format::bc4_snorm}, {four("ATI2"), Format::bc5_unorm},
        {four("BC5U"), Format::bc5_unorm}, {four("BC5S"), Format::bc5_snorm}, {36, Format::rgba16_unorm},
        {110, Format::rgba16_snorm},       {111, Format::r16_float},          {112, Format::rg16_float},
        {113, Format::rgba16_float},       {114, Format::r32_float},          {115, Format::rg32_float},
        {116, Format::rgba32_float}};
    for (const Row& row : rows) {
        SCOPED_TRACE(name(row.format));
        auto words = header(10, 6);
        words[kPfFlags] = 4;
        words[kFourCC] = row.code;
        const Bytes texels = test::pattern(packed_bytes(row.format, {10, 6}), 3);
        const ImageFile image = open_image(test::write_bytes(at("a.dds"), file(words, texels)));
        EXPECT_EQ(image.info(), (ArrayInfo{.format = row.format, .extent = {10, 6}}));
        EXPECT_TRUE(same_bytes(read_part(image), texels));
        const bool premultiplied = row.code == four("DXT2") || row.code == four("DXT4");
        if (info(row.format).channels == 4) {
            EXPECT_EQ(image.metadata().alpha, premultiplied ? ImageAlpha::premultiplied : ImageAlpha::straight);
        }
    }
}

TEST_F(ImageDdsTest, LegacyCubesAndVolumesHaveTheirLevels) {
    auto words = header(4, 4);
    words[kPfFlags] = 0x20000;
    words[kBits] = 8;
    words[kR] = 0xff;
    words[kMipMapCount] = 3;
    words[kCaps2] = 0xfe00;
    const Bytes texels = test::pattern(6 * 21, 3);
    const ImageFile cube = open_image(test::write_bytes(at("a.dds"), file(words, texels)));
    EXPECT_EQ(cube.info(),
              (ArrayInfo{.format = Format::r8_unorm, .extent = {4, 4}, .kind = ArrayKind::cubemap, .levels = 3}));
    EXPECT_TRUE(same_bytes(read_part(cube, {.level = 1, .face = 4}), std::span(texels).subspan(4 * 21 + 16, 4)));

    words[kCaps2] = 0x200000;
    words[kDepth] = 5;
    const Bytes block = test::pattern(80 + 8 + 1, 3);
    const ImageFile volume = open_image(test::write_bytes(at("a.dds"), file(words, block)));
    EXPECT_EQ(volume.info(),
              (ArrayInfo{.format = Format::r8_unorm, .extent = {4, 4, 5}, .kind = ArrayKind::array_3d, .levels = 3}));
    EXPECT_TRUE(same_bytes(read_part(volume, {.level = 1}), std::span(block).subspan(80, 8)));
}

TEST_F(ImageDdsTest, SeveralFilesBecomeLayersOrFaces) {
    std::vector<fs::path> paths;
    Bytes all;
    for (unsigned face = 0; face < 6; ++face) {
        const Bytes texels = test::pattern(packed_bytes(Format::bc3_srgb, {8, 8}), face);
        all.insert(all.end(), texels.begin(), texels.end());
        paths.push_back(at("face" + std::to_string(face) + ".dds"));
        save(paths.back(), host_view(texels.data(), Format::bc3_srgb, {8, 8}));
    }
    EXPECT_EQ(open_image(paths).info().layers, 6u);
    const ImageFile cube = open_image(paths, {.kind = ArrayKind::cubemap});
    EXPECT_EQ(cube.info(), (ArrayInfo{.format = Format::bc3_srgb, .extent = {8, 8}, .kind = ArrayKind::cubemap}));
    EXPECT_TRUE(same_bytes(read_part(cube), all));
    EXPECT_EQ(open_image(paths, {.color = ImageColor::linear}).info().format, Format::bc3_unorm);
}

// --- invalid headers -------------------------------------------------------------------------------------------------

class ImageDdsDamageTest : public ImageDdsTest {
protected:
    // Returns a valid file: a BC1 cubemap with levels and a DX10 header.
    Bytes good() const {
        auto words = dxgi_header(16, 16, 71);
        words[kMipMapCount] = 5;
        words[kMisc] = 4;
        return file(words, test::pattern(6 * (128 + 32 + 8 + 8 + 8), 3));
    }
    // True if the whole file can be read. Otherwise an Error must name the file.
    bool holds(std::span<const std::byte> bytes) const {
        const fs::path path = test::write_bytes(at("damaged.dds"), bytes);
        try {
            const ImageFile image = open_image(path);
            EXPECT_LE(packed_bytes(image.info()), 4 * bytes.size() + 4096);  // alpha of 8 bits becomes RGBA
            for (int level = 0; level < image.info().levels; ++level) (void)read_part(image, {.level = level});
            return true;
        } catch (const Error& error) {
            EXPECT_TRUE(error.code() == ErrorCode::io || error.code() == ErrorCode::unsupported) << error.what();
            EXPECT_NE(error.problem().find("damaged.dds"), std::string::npos) << error.what();
            return false;
        }
    }
    void set(Bytes& bytes, int word, std::uint32_t value) const {
        std::memcpy(bytes.data() + static_cast<std::size_t>(word) * 4, &value, 4);
    }
};

TEST_F(ImageDdsDamageTest, AFileTruncatedAnywhereIsRefused) {
    const Bytes whole = good();
    EXPECT_TRUE(holds(whole));
    for (std::size_t bytes = 4; bytes < whole.size(); ++bytes) {
        EXPECT_FALSE(holds(std::span(whole).first(bytes))) << bytes << " bytes";
    }
}

TEST_F(ImageDdsDamageTest, ImpossibleHeaderValuesAreRefused) {
    for (const int word : {kHeight, kWidth, kMipMapCount, kDxgi, kDimension, kArraySize, kSize, kPfSize}) {
        for (const std::uint32_t value : {0u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
            if ((word == kMipMapCount || word == kArraySize) && value == 0) continue;  // 0 means 1
            Bytes bytes = good();
            set(bytes, word, value);
            EXPECT_FALSE(holds(bytes)) << "word " << word << " is " << value;
        }
    }
    Bytes bytes = good();
    set(bytes, kHeight, 0xffffffff);
    set(bytes, kWidth, 0xffffffff);
    set(bytes, kArraySize, 0xffffffff);
    EXPECT_FALSE(holds(bytes));
}

TEST_F(ImageDdsDamageTest, EveryChangedBitOfTheHeaderGivesAnErrorOrTexels) {
    std::size_t opened = 0;
    for (std::size_t position = 4; position < 148; ++position) {
        for (unsigned bit = 0; bit < 8; ++bit) {
            Bytes bytes = good();
            bytes[position] ^= static_cast<std::byte>(1u << bit);
            opened += holds(bytes) ? 1 : 0;
        }
    }
    EXPECT_GT(opened, 100u);
    EXPECT_LT(opened, 1100u);
}

TEST_F(ImageDdsDamageTest, HeadersWithRandomChangesGiveAnErrorOrTexels) {
    std::mt19937 random(5);
    Bytes old = good();
    set(old, kFourCC, four("DXT1"));
    std::size_t opened = 0;
    for (int round = 0; round < 6000; ++round) {
        Bytes bytes = round % 2 == 0 ? good() : old;
        for (unsigned change = 0; change < 1 + random() % 4; ++change) {
            const std::size_t position = random() % 148;
            if (position < 4) continue;  // the file would have another type
            bytes[position] =
                random() % 2 == 0 ? static_cast<std::byte>(random()) : static_cast<std::byte>(1u << random() % 8);
        }
        opened += holds(bytes) ? 1 : 0;
    }
    EXPECT_GT(opened, 500u);
    EXPECT_LT(opened, 5500u);
}

}  // namespace
}  // namespace texton

#include <random>

#include <texton/error.h>
#include <texton/image_file.h>
#include <texton/image_save.h>

#include "tests/support/arrays.h"
#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"

// DDS: round trips, old headers, and invalid headers.

namespace texton {
namespace {

namespace fs = std::filesystem;
using test::Bytes;
using test::read_part;
using test::same_bytes;

class ImageDdsTest : public testing::Test {
protected:
    fs::path at(const std::string& name) const { return folder_.at(name); }
    test::ImageFolder folder_;
};

constexpr std::uint32_t four(const char* text) {
    std::uint32_t value = 0;
    for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(text[i]);
    return value;
}

// 32-bit words of the header, named as in the documentation of DDS.
enum Word {
    kSize = 1,
    kFlags,
    kHeight,
    kWidth,
    kPitch,
    kDepth,
    kMipMapCount,
    kPfSize = 19,
    kPfFlags,
    kFourCC,
    kBits,
    kR,
    kG,
    kB,
    kA,
    kCaps,
    kCaps2,
    kDxgi = 32,
    kDimension,
    kMisc,
    kArraySize,
    kMisc2
};

std::vector<std::uint32_t> header(std::uint32_t width, std::uint32_t height) {
    std::vector<std::uint32_t> words(32);
    words[0] = four("DDS ");
    words[kSize] = 124;
    words[kFlags] = 0x1007;
    words[kHeight] = height;
    words[kWidth] = width;
    words[kPfSize] = 32;
    words[kCaps] = 0x1000;
    return words;
}

Bytes file(const std::vector<std::uint32_t>& words, const Bytes& texels) {
    Bytes bytes(words.size() * 4);
    std::memcpy(bytes.data(), words.data(), bytes.size());
    bytes.insert(bytes.end(), texels.begin(), texels.end());
    return bytes;
}

Bytes of(std::initializer_list<int> values) {
    Bytes bytes;
    for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
    return bytes;
}

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

TEST_F(ImageDdsTest, LegacyChannelMasksAreSupported) {
    struct Row {
        std::uint32_t flags, bits, r, g, b, a;
        Bytes stored;
        Format format;
        Bytes read;
    };
    const std::uint32_t top = 0xff000000;
    const Row rows[] = {
        {0x41, 32, 0xff, 0xff00, 0xff0000, top, of({1, 2, 3, 4}), Format::rgba8_unorm, of({1, 2, 3, 4})},
        {0x40, 32, 0xff, 0xff00, 0xff0000, 0, of({1, 2, 3, 4}), Format::rgba8_unorm, of({1, 2, 3, 255})},
        {0x41, 32, 0xff0000, 0xff00, 0xff, top, of({1, 2, 3, 4}), Format::rgba8_unorm, of({3, 2, 1, 4})},
        {0x40, 32, 0xff0000, 0xff00, 0xff, 0, of({1, 2, 3, 4}), Format::rgba8_unorm, of({3, 2, 1, 255})},
        {0x40, 24, 0xff0000, 0xff00, 0xff, 0, of({1, 2, 3}), Format::rgba8_unorm, of({3, 2, 1, 255})},
        {0x40, 24, 0xff, 0xff00, 0xff0000, 0, of({1, 2, 3}), Format::rgba8_unorm, of({1, 2, 3, 255})},
        {0x41, 32, 0x3ff, 0xffc00, 0x3ff00000, 0xc0000000, of({1, 2, 3, 4}), Format::rgb10a2_unorm, of({1, 2, 3, 4})},
        {0x40, 32, 0xffff, 0xffff0000, 0, 0, of({1, 2, 3, 4}), Format::rg16_unorm, of({1, 2, 3, 4})},
        {0x20001, 16, 0xff, 0, 0, 0xff00, of({1, 2}), Format::rg8_unorm, of({1, 2})},
        {0x20000, 16, 0xffff, 0, 0, 0, of({1, 2}), Format::r16_unorm, of({1, 2})},
        {0x20000, 8, 0xff, 0, 0, 0, of({1}), Format::r8_unorm, of({1})},
        {0x2, 8, 0, 0, 0, 0xff, of({1}), Format::r8_unorm, of({1})},
        {0x80000, 16, 0xff, 0xff00, 0, 0, of({1, 2}), Format::rg8_snorm, of({1, 2})},
        {0x80000, 32, 0xff, 0xff00, 0xff0000, top, of({1, 2, 3, 4}), Format::rgba8_snorm, of({1, 2, 3, 4})},
    };
    for (const Row& row : rows) {
        auto words = header(1, 1);
        words[kPfFlags] = row.flags;
        words[kBits] = row.bits;
        words[kR] = row.r;
        words[kG] = row.g;
        words[kB] = row.b;
        words[kA] = row.a;
        SCOPED_TRACE(std::to_string(&row - rows));
        const ImageFile image = open_image(test::write_bytes(at("a.dds"), file(words, row.stored)));
        EXPECT_EQ(image.info().format, row.format);
        EXPECT_TRUE(same_bytes(read_part(image), row.read));
        EXPECT_EQ(image.conversions().empty(), row.stored == row.read);
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
        auto words = header(16, 16);
        words.resize(37);
        words[kPfFlags] = 4;
        words[kFourCC] = four("DX10");
        words[kMipMapCount] = 5;
        words[kDxgi] = 71;
        words[kDimension] = 3;
        words[kMisc] = 4;
        words[kArraySize] = 1;
        return file(words, test::pattern(6 * (128 + 32 + 8 + 8 + 8), 3));
    }
    // True if the whole file can be read. Otherwise an Error must name the file.
    bool holds(std::span<const std::byte> bytes) const {
        const fs::path path = test::write_bytes(at("damaged.dds"), bytes);
        try {
            const ImageFile image = open_image(path);
            EXPECT_LE(packed_bytes(image.info()), 4 * bytes.size() + 4096);  // 24 bits are converted to 32
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
            if (word == kMipMapCount && value == 0) continue;  // 0 means one level
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

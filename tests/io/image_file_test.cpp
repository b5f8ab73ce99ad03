#include <texton/image_file.h>

#include <cmath>

#include <texton/error.h>
#include <texton/image.h>

#include "tests/support/configured_path.h"
#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"

// Image files: the array that each file corresponds to, conversion of its texels, and reads of parts.

namespace texton {
namespace {

namespace fs = std::filesystem;
using OIIO::TypeDesc;
using test::Bytes;
using test::read_part;
using test::same_bytes;
using test::store;
using test::stored_chain;
using test::stored_image;
using test::StoredImage;
using Sentences = std::vector<std::string>;

const fs::path kFiles = test::configured_path("TEXTON_TEST_FILES", TEXTON_TEST_FILES);

class ImageFileTest : public testing::Test {
protected:
    fs::path at(const std::string& name) const { return folder_.at(name); }
    fs::path one(const std::string& name, const StoredImage& image) const { return store(at(name), {image}); }

    test::ImageFolder folder_;
};

// Returns a box of packed texels, copied texel by texel.
Bytes box(const Bytes& texels, Extent extent, std::size_t texel, const Region& region) {
    Bytes out;
    for (std::size_t z = 0; z < region.extent.depth; ++z) {
        for (std::size_t y = 0; y < region.extent.height; ++y) {
            const std::size_t row = (region.offset.z + z) * extent.height + region.offset.y + y;
            const auto first = static_cast<std::ptrdiff_t>((row * extent.width + region.offset.x) * texel);
            out.insert(out.end(), texels.begin() + first,
                       texels.begin() + first + static_cast<std::ptrdiff_t>(region.extent.width * texel));
        }
    }
    return out;
}

template <class T>
std::vector<T> values(const Bytes& bytes) {
    std::vector<T> out(bytes.size() / sizeof(T));
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
}

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
    Bytes out(values.size() * sizeof(T));
    std::memcpy(out.data(), values.data(), out.size());
    return out;
}

// --- types and formats ---

TEST_F(ImageFileTest, EachFileTypeHasItsFormat) {
    struct Row {
        const char* name;
        TypeDesc type;
        int channels;
        Format format;
    };
    const Row rows[] = {
        {"a.tif", TypeDesc::UINT8, 1, Format::r8_unorm},      {"b.tif", TypeDesc::INT8, 2, Format::rg8_sint},
        {"c.tif", TypeDesc::UINT16, 4, Format::rgba16_unorm}, {"d.tif", TypeDesc::INT16, 1, Format::r16_sint},
        {"e.tif", TypeDesc::UINT32, 2, Format::rg32_uint},    {"f.tif", TypeDesc::INT32, 4, Format::rgba32_sint},
        {"g.exr", TypeDesc::HALF, 4, Format::rgba16_float},   {"h.exr", TypeDesc::FLOAT, 1, Format::r32_float},
        {"i.exr", TypeDesc::UINT32, 1, Format::r32_uint}};
    for (const Row& row : rows) {
        SCOPED_TRACE(row.name);
        const StoredImage stored = stored_image(13, 7, row.channels, row.type, 5);
        const ImageFile image = open_image(one(row.name, stored));
        EXPECT_EQ(image.info(), (ArrayInfo{.format = row.format, .extent = {13, 7}}));
        EXPECT_EQ(image.conversions(), Sentences{});
        EXPECT_TRUE(same_bytes(read_part(image), stored.levels[0]));
    }
}

TEST_F(ImageFileTest, ImagesBeyondTheLimitOfOpenImageIOAreRead) {
    const StoredImage stored = stored_image(1100, 1000, 1, TypeDesc::UINT8, 5);
    const fs::path path = one("a.tif", stored);
    OIIO::attribute("limits:imagesize_MB", 1);  // its default is 32 GiB, or the memory of the machine
    EXPECT_TRUE(same_bytes(read_part(open_image(path)), stored.levels[0]));
}

TEST_F(ImageFileTest, WideningThreeChannelsIsReportedAsAConversion) {
    const StoredImage stored = stored_image(5, 3, 3, TypeDesc::UINT16, 1);
    const ImageFile image = open_image(one("a.tif", stored));
    EXPECT_EQ(image.info().format, Format::rgba16_unorm);
    EXPECT_EQ(image.conversions(), Sentences{"Three channels are widened to four, with alpha 1."});
    const auto in = values<std::uint16_t>(stored.levels[0]);
    const auto out = values<std::uint16_t>(read_part(image));
    ASSERT_EQ(out.size(), 60u);
    for (std::size_t texel = 0; texel < 15; ++texel) {
        for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(out[texel * 4 + c], in[texel * 3 + c]);
        EXPECT_EQ(out[texel * 4 + 3], 0xffff);
    }
}

TEST_F(ImageFileTest, DroppingTheFifthChannelIsReportedAsAConversion) {
    const ImageFile image = open_image(one("a.tif", stored_image(2, 2, 5, TypeDesc::UINT8, 1)));
    EXPECT_EQ(image.info().format, Format::rgba8_unorm);
    EXPECT_EQ(image.conversions(),
              Sentences{"Only 4 of 5 channels are read: R, G, B, A. ImageOptions::channels selects others."});
}

TEST_F(ImageFileTest, SrgbFollowsTheMetadataOrTheOptions) {
    StoredImage stored = stored_image(4, 4, 4, TypeDesc::UINT8, 2);
    stored.spec.attribute("oiio:ColorSpace", "sRGB");
    const fs::path path = one("a.png", stored);
    EXPECT_EQ(open_image(path).info().format, Format::rgba8_srgb);
    EXPECT_EQ(open_image(path).metadata().color_space, "sRGB");
    EXPECT_EQ(open_image(path, {.color = ImageColor::linear}).info().format, Format::rgba8_unorm);
    const fs::path plain = one("b.tif", stored_image(4, 4, 1, TypeDesc::UINT8, 2));
    EXPECT_EQ(open_image(plain).info().format, Format::r8_unorm);
    EXPECT_EQ(open_image(plain, {.color = ImageColor::srgb}).info().format, Format::r8_srgb);
    const ImageFile wide =
        open_image(one("c.tif", stored_image(4, 4, 1, TypeDesc::UINT16, 2)), {.color = ImageColor::srgb});
    EXPECT_EQ(wide.info().format, Format::r16_unorm);
    EXPECT_EQ(wide.conversions(),
              Sentences{"Values are sRGB and are not converted: the texture unit does not decode r16_unorm."});
}

TEST_F(ImageFileTest, AFormatOfTheSameSizeReinterpretsTheBits) {
    const StoredImage stored = stored_image(6, 5, 4, TypeDesc::UINT8, 3);
    const fs::path path = one("a.tif", stored);
    for (const Format format : {Format::rgba8_uint, Format::rgba8_sint, Format::rgba8_snorm, Format::rgba8_srgb}) {
        const ImageFile image = open_image(path, {.format = format});
        EXPECT_EQ(image.info().format, format);
        EXPECT_EQ(image.conversions(),
                  Sentences{"The stored bits are reinterpreted as " + std::string(name(format)) + "."});
        EXPECT_TRUE(same_bytes(read_part(image), stored.levels[0]));
    }
}

TEST_F(ImageFileTest, ConversionsToOtherUnormAndFloatFormatsAreReported) {
    const Bytes bytes = bytes_of<std::uint8_t>({0, 1, 127, 255});
    StoredImage stored = stored_image(4, 1, 1, TypeDesc::UINT8, 1);
    stored.levels[0] = bytes;
    const fs::path path = one("a.tif", stored);
    const ImageFile wide = open_image(path, {.format = Format::r16_unorm});
    EXPECT_EQ(values<std::uint16_t>(read_part(wide)), (std::vector<std::uint16_t>{0, 257, 127 * 257, 65535}));
    EXPECT_EQ(wide.conversions(), Sentences{"Channels are converted from 8 bits to 16 bits."});
    const ImageFile floats = open_image(path, {.format = Format::r32_float});
    EXPECT_EQ(values<float>(read_part(floats)), (std::vector<float>{0, 1 / 255.0f, 127 / 255.0f, 1}));
    EXPECT_EQ(floats.conversions(), Sentences{"Channels are converted from 8 bits to 32 bits (float)."});

    StoredImage high = stored_image(4, 1, 1, TypeDesc::FLOAT, 1);
    high.levels[0] = bytes_of<float>({-1.0f, 0.5f, 1.0f, 7.0f});
    const ImageFile clamped = open_image(one("b.exr", high), {.format = Format::r8_unorm});
    EXPECT_EQ(values<std::uint8_t>(read_part(clamped)), (std::vector<std::uint8_t>{0, 128, 255, 255}));
    EXPECT_EQ(clamped.conversions(),
              (Sentences{"Channels are converted from 32 bits to 8 bits.", "Values below 0 and above 1 are clamped."}));
    const ImageFile half = open_image(at("b.exr"), {.format = Format::r16_float});
    EXPECT_EQ(values<std::uint16_t>(read_part(half)), (std::vector<std::uint16_t>{0xbc00, 0x3800, 0x3c00, 0x4700}));
}

TEST_F(ImageFileTest, SrgbConversionLeavesAlphaUnchanged) {
    StoredImage stored = stored_image(1, 1, 4, TypeDesc::UINT8, 1);
    stored.levels[0] = bytes_of<std::uint8_t>({0, 10, 188, 188});
    const fs::path path = one("a.tif", stored);
    const ImageFile image = open_image(path, {.format = Format::rgba32_float, .color = ImageColor::srgb});
    const auto linear = values<float>(read_part(image));
    EXPECT_EQ(linear[0], 0.0f);
    EXPECT_FLOAT_EQ(linear[1], static_cast<float>(10 / 255.0 / 12.92));
    EXPECT_FLOAT_EQ(linear[2], static_cast<float>(std::pow((188 / 255.0 + 0.055) / 1.055, 2.4)));
    EXPECT_EQ(linear[3], 188 / 255.0f);
    EXPECT_EQ(test::sentence_with(image.conversions(), "decoded"), "sRGB is decoded to linear values.");

    StoredImage back = stored_image(1, 1, 4, TypeDesc::FLOAT, 1);
    back.levels[0] = bytes_of(linear);
    const ImageFile again = open_image(one("b.exr", back), {.format = Format::rgba8_srgb});
    EXPECT_EQ(values<std::uint8_t>(read_part(again)), (std::vector<std::uint8_t>{0, 10, 188, 188}));
    EXPECT_EQ(test::sentence_with(again.conversions(), "encoded"), "Linear values are encoded as sRGB.");
}

TEST_F(ImageFileTest, ChannelsAreAddedOrDroppedForTheRequestedFormat) {
    const auto read = [&](int channels, bool alpha, std::vector<std::uint8_t> texel, Format format,
                          const char* sentence) {
        StoredImage stored = stored_image(1, 1, channels, TypeDesc::UINT8, 1);
        if (alpha) {
            stored.spec.channelnames = {"Y", "A"};
            stored.spec.alpha_channel = 1;
        }
        stored.levels[0] = bytes_of(texel);
        const ImageFile image =
            open_image(one(alpha ? "a.png" : "a.tif", stored), {.format = format, .color = ImageColor::linear});
        EXPECT_NE(test::sentence_with(image.conversions(), sentence), "") << sentence;
        return values<std::uint8_t>(read_part(image));
    };
    using Texel = std::vector<std::uint8_t>;
    EXPECT_EQ(read(1, false, {9}, Format::rgba8_unorm, "Gray is widened"), (Texel{9, 9, 9, 255}));
    EXPECT_EQ(read(2, true, {9, 3}, Format::rgba8_unorm, "Gray is widened"), (Texel{9, 9, 9, 3}));
    EXPECT_EQ(read(2, false, {9, 3}, Format::rgba8_unorm, "blue 0"), (Texel{9, 3, 0, 255}));
    EXPECT_EQ(read(1, false, {9}, Format::rg8_unorm, "the second channel is 1"), (Texel{9, 255}));
    EXPECT_EQ(read(4, false, {9, 8, 7, 6}, Format::r8_unorm, "The image has 4 channels, of which the first is kept."),
              (Texel{9}));
    EXPECT_EQ(read(3, false, {9, 8, 7}, Format::rg8_unorm, "the first two are kept"), (Texel{9, 8}));
}

TEST_F(ImageFileTest, UnsupportedFormatConversionsAreRefusedAndNamed) {
    const fs::path floats = one("floats.exr", stored_image(2, 2, 4, TypeDesc::FLOAT, 1));
    for (const Format format : {Format::rgba32_uint, Format::bc1_unorm, Format::nv12}) {
        test::expect_error([&] { (void)open_image(floats, {.format = format}); }, ErrorCode::unsupported,
                           "texton::open_image", {"floats.exr", "rgba32_float", name(format)});
    }
}

TEST_F(ImageFileTest, AlphaIsKeptAsStoredAndReported) {
    StoredImage stored = stored_image(1, 1, 4, TypeDesc::UINT8, 1);
    stored.levels[0] = bytes_of<std::uint8_t>({200, 100, 50, 0});
    stored.spec.attribute("oiio:UnassociatedAlpha", 1);
    const ImageFile straight = open_image(one("a.png", stored));
    EXPECT_EQ(straight.metadata().alpha, ImageAlpha::straight);
    EXPECT_TRUE(same_bytes(read_part(straight), stored.levels[0]));
    const ImageFile half = open_image(one("a.exr", stored_image(1, 1, 4, TypeDesc::HALF, 1)));
    EXPECT_EQ(half.metadata().alpha, ImageAlpha::premultiplied);
    EXPECT_EQ(open_image(one("b.exr", stored_image(1, 1, 1, TypeDesc::HALF, 1))).metadata().alpha, ImageAlpha::none);
}

TEST_F(ImageFileTest, MetadataMatchesTheFile) {
    StoredImage stored = stored_image(9, 4, 3, TypeDesc::HALF, 1);
    stored.spec.attribute("Artist", "somebody");
    stored.spec.attribute("PixelAspectRatio", 2.0f);
    const ImageMetadata metadata = open_image(one("a.exr", stored)).metadata();
    EXPECT_EQ(metadata.file_kind, "openexr");
    EXPECT_EQ(metadata.channels, (std::vector<std::string>{"R", "G", "B"}));
    EXPECT_EQ(metadata.parts, 1u);
    const auto has = [&](const ImageAttribute& attribute) {
        return std::find(metadata.attributes.begin(), metadata.attributes.end(), attribute) !=
               metadata.attributes.end();
    };
    EXPECT_TRUE(has({"Artist", "somebody", "string"}));
    EXPECT_TRUE(has({"PixelAspectRatio", "2", "float"}));
}

// --- parts of an image -----------------------------------------------------------------------------------------------

TEST_F(ImageFileTest, AnyRegionIsReadFromRowsAndTiles) {
    StoredImage tiled = stored_image(100, 70, 4, TypeDesc::UINT16, 4);
    tiled.spec.tile_width = 32;
    tiled.spec.tile_height = 16;
    StoredImage strips = tiled;
    strips.spec.tile_width = strips.spec.tile_height = 0;
    StoredImage moved = tiled;
    moved.spec.x = moved.spec.full_x = -11;
    moved.spec.y = moved.spec.full_y = 5;
    for (const fs::path& path : {one("tiled.tif", tiled), one("rows.tif", strips), one("rows.png", strips)}) {
        SCOPED_TRACE(path.string());
        const ImageFile image = open_image(path);
        for (const Region& region :
             {Region{{0, 0, 0}, {100, 70}}, Region{{33, 17, 0}, {1, 1}}, Region{{99, 69, 0}, {1, 1}},
              Region{{0, 5, 0}, {100, 20}}, Region{{31, 15, 0}, {34, 18}}, Region{{64, 16, 0}, {32, 16}}}) {
            SCOPED_TRACE(to_string(region));
            EXPECT_TRUE(same_bytes(read_part(image, {.region = region}), box(tiled.levels[0], {100, 70}, 8, region)));
        }
    }
    StoredImage half = stored_image(100, 70, 4, TypeDesc::HALF, 4);
    half.spec.tile_width = half.spec.tile_height = 32;
    half.spec.x = half.spec.full_x = -11;
    half.spec.y = half.spec.full_y = 5;
    const Region region{{30, 31, 0}, {40, 3}};
    EXPECT_TRUE(same_bytes(read_part(open_image(one("moved.exr", half)), {.region = region}),
                           box(half.levels[0], {100, 70}, 8, region)));
}

TEST_F(ImageFileTest, MissingSubresourcesAreRefusedAndNamed) {
    const ImageFile image = open_image(one("a.tif", stored_image(8, 8, 1, TypeDesc::UINT8, 1)));
    Bytes bytes(64);
    const auto refused = [&](const Subresource& part, ErrorCode code, std::string_view fragment) {
        test::expect_error([&] { image.read(part, bytes); }, code, "texton::ImageFile", {"a.tif", fragment});
    };
    refused({.level = 1}, ErrorCode::out_of_bounds, "level 1");
    refused({.layer = 0}, ErrorCode::bad_argument, "layer 0 of an image of kind array_2d");
    refused({.face = 0}, ErrorCode::bad_argument, "face 0 of an image of kind array_2d");
    refused({.region = Region{{0, 0, 0}, {4, 4}}}, ErrorCode::bad_argument, "64 bytes do not match 4 x 4 texels");
    test::expect_error(
        [&] {
            image.read({.region = Region{{4, 4, 0}, {8, 8}}}, bytes);
        },
        ErrorCode::out_of_bounds, "texton::ImageFile");
    test::expect_error([&] { (void)image.plane(0); }, ErrorCode::bad_argument, "texton::ImageFile",
                       {"a.tif", "plane 0"});
    test::expect_error([] { (void)ImageFile().info(); }, ErrorCode::released, "texton::ImageFile");
}

// --- levels ---

TEST_F(ImageFileTest, MipChainsOfTiledFilesBecomeLevels) {
    for (const std::string name : {"a.tif", "a.tx", "a.exr"}) {
        SCOPED_TRACE(name);
        const TypeDesc type = name == "a.exr" ? TypeDesc::HALF : TypeDesc::UINT8;
        const StoredImage stored = stored_chain(150, 37, 4, type, 3, 16);
        const ImageFile image = open_image(one(name, stored));
        ASSERT_EQ(image.info().levels, 8);
        EXPECT_EQ(image.info().extent, (Extent{150, 37}));
        for (int level = 0; level < 8; ++level) {
            EXPECT_TRUE(same_bytes(read_part(image, {.level = level}), stored.levels[static_cast<std::size_t>(level)]));
        }
        const ImageFile part = open_image(at(name), {.first_level = 2, .levels = 3});
        EXPECT_EQ(part.info().extent, (Extent{37, 9}));
        ASSERT_EQ(part.info().levels, 3);
        EXPECT_TRUE(same_bytes(read_part(part, {.level = 1}), stored.levels[3]));
        test::expect_error([&] { (void)open_image(at(name), {.first_level = 8}); }, ErrorCode::out_of_bounds,
                           "texton::open_image", {name, "8 levels"});
    }
}

// --- several images --------------------------------------------------------------------------------------------------

TEST_F(ImageFileTest, SeveralFilesBecomeLayersOrSlices) {
    std::vector<fs::path> paths;
    Bytes all;
    for (unsigned index = 0; index < 40; ++index) {  // more than the number of files kept open
        const StoredImage stored = stored_image(9, 6, 2, TypeDesc::UINT16, index);
        paths.push_back(one("slice." + std::to_string(1008 + index) + ".tif", stored));
        all.insert(all.end(), stored.levels[0].begin(), stored.levels[0].end());
    }
    (void)one("slice.1050.tif", stored_image(9, 6, 2, TypeDesc::UINT16, 1));  // not the next number of the sequence
    EXPECT_EQ(numbered_files(paths.front()), paths);
    const ImageFile layers = open_image(paths);
    EXPECT_EQ(layers.info(),
              (ArrayInfo{.format = Format::rg16_unorm, .extent = {9, 6}, .kind = ArrayKind::layered_2d, .layers = 40}));
    EXPECT_TRUE(same_bytes(read_part(layers), all));
    const ImageFile volume = open_image(paths, {.kind = ArrayKind::array_3d});
    EXPECT_EQ(volume.info(),
              (ArrayInfo{.format = Format::rg16_unorm, .extent = {9, 6, 40}, .kind = ArrayKind::array_3d}));
    const Region region{{2, 1, 5}, {4, 3, 30}};
    EXPECT_TRUE(same_bytes(read_part(volume, {.region = region}), box(all, {9, 6, 40}, 4, region)));
}

// The voxels (x, y, z) from (13, 2, 11) to (18, 6, 16) have the value x + 100 y + 10000 z; all others are 0.
TEST_F(ImageFileTest, TiledVolumesAreReadCompletelyOrByRegion) {
    const ImageFile image = open_image(kFiles / "ramp.vdb");
    ASSERT_EQ(image.info(),
              (ArrayInfo{.format = Format::r32_float, .extent = {17, 9, 17}, .kind = ArrayKind::array_3d}));
    const ImageFrame data = image.metadata().data;
    EXPECT_EQ(data.x, 8);
    EXPECT_EQ(data.y, 0);
    std::vector<float> expected;
    for (int z = 8; z < 25; ++z) {
        for (int y = 0; y < 9; ++y) {
            for (int x = 8; x < 25; ++x) {
                const bool stored = x >= 13 && x <= 18 && y >= 2 && y <= 6 && z >= 11 && z <= 16;
                expected.push_back(stored ? static_cast<float>(x + 100 * y + 10000 * z) : 0);
            }
        }
    }
    EXPECT_EQ(values<float>(read_part(image)), expected);
    const Region across_tiles{{3, 1, 6}, {9, 7, 5}};
    EXPECT_TRUE(same_bytes(read_part(image, {.region = across_tiles}),
                           box(bytes_of(expected), {17, 9, 17}, sizeof(float), across_tiles)));
}

TEST_F(ImageFileTest, ATiffOfVolumeSlicesIsRefused) {
    for (const char* name : {"slices.tif", "slices_big.tif"}) {
        test::expect_error([&] { (void)open_image(kFiles / name); }, ErrorCode::io, "texton::open_image",
                           {name, "slices"});
    }
}

TEST_F(ImageFileTest, FileNumbersCanGainADigit) {
    std::vector<fs::path> paths;
    for (const char* name : {"9.tif", "10.tif", "11.tif"})
        paths.push_back(one(name, stored_image(1, 1, 1, TypeDesc::UINT8, 1)));
    EXPECT_EQ(numbered_files(paths[0]), paths);
    const fs::path alone = one("none.tif", stored_image(1, 1, 1, TypeDesc::UINT8, 1));
    EXPECT_EQ(numbered_files(alone), std::vector<fs::path>{alone});
}

TEST_F(ImageFileTest, PartsOfAFileBecomeLayersOnRequest) {
    for (const std::string name : {"a.exr", "a.tif"}) {
        SCOPED_TRACE(name);
        std::vector<StoredImage> parts;
        for (unsigned index = 0; index < 3; ++index) {
            parts.push_back(stored_image(12, 5, 1, TypeDesc::FLOAT, index));
            parts.back().spec.attribute("oiio:subimagename", "part " + std::to_string(index));
        }
        const fs::path path = store(at(name), parts);
        EXPECT_EQ(open_image(path).info().kind, ArrayKind::array_2d);
        EXPECT_EQ(open_image(path).metadata().parts, 3u);
        EXPECT_TRUE(same_bytes(read_part(open_image(path, {.part = 1})), parts[1].levels[0]));
        const auto says = [](const ImageFile& image, const std::string& sentence) {
            return std::ranges::find(image.conversions(), sentence) != image.conversions().end();
        };
        EXPECT_TRUE(says(open_image(path), "Only part 0 of 3 parts is read."));
        if (path.extension() == ".exr") {  // OpenImageIO reads the names of EXR only
            const ImageFile named = open_image(path, {.part_name = "part 2"});
            EXPECT_TRUE(same_bytes(read_part(named), parts[2].levels[0]));
            EXPECT_TRUE(says(named, "Only part 2 of 3 parts is read."));
            test::expect_error([&] { (void)open_image(path, {.part_name = "part 9"}); }, ErrorCode::io,
                               "texton::open_image",
                               {"no part with the name 'part 9'", "'part 0', 'part 1', 'part 2'"});
        }
        EXPECT_TRUE(says(open_image(path, {.part = 1}), "Only part 1 of 3 parts is read."));
        EXPECT_FALSE(says(open_image(path, {.kind = ArrayKind::layered_2d}), "Only part 0 of 3 parts is read."));
        const ImageFile layers = open_image(path, {.kind = ArrayKind::layered_2d});
        ASSERT_EQ(layers.info().layers, 3u);
        for (std::size_t layer = 0; layer < 3; ++layer) {
            EXPECT_TRUE(same_bytes(read_part(layers, {.layer = layer}), parts[layer].levels[0]));
        }
        EXPECT_EQ(open_image(path, {.kind = ArrayKind::array_3d}).info().extent, (Extent{12, 5, 3}));
        test::expect_error([&] { (void)open_image(path, {.part = 3}); }, ErrorCode::io, "texton::open_image",
                           {name, "part 3"});
    }
}

TEST_F(ImageFileTest, RowsBecomeLayersOfAOneDimensionalArray) {
    const StoredImage stored = stored_image(31, 6, 1, TypeDesc::UINT8, 6);
    const ImageFile image = open_image(one("a.tif", stored), {.kind = ArrayKind::layered_1d});
    EXPECT_EQ(image.info(),
              (ArrayInfo{.format = Format::r8_unorm, .extent = {31}, .kind = ArrayKind::layered_1d, .layers = 6}));
    EXPECT_EQ(image.conversions(), Sentences{"Each row becomes a layer."});
    EXPECT_TRUE(same_bytes(read_part(image), stored.levels[0]));
    EXPECT_TRUE(same_bytes(read_part(image, {.layer = 4}), box(stored.levels[0], {31, 6}, 1, {{0, 4, 0}, {31, 1}})));
    const ImageFile line =
        open_image(one("b.tif", stored_image(31, 1, 1, TypeDesc::UINT8, 6)), {.kind = ArrayKind::array_1d});
    EXPECT_EQ(line.info(), (ArrayInfo{.format = Format::r8_unorm, .extent = {31}, .kind = ArrayKind::array_1d}));
    test::expect_error([&] { (void)open_image(at("a.tif"), {.kind = ArrayKind::array_1d}); }, ErrorCode::unsupported,
                       "texton::open_image", {"a.tif", "31 x 6", "array_1d"});
}

TEST_F(ImageFileTest, MismatchedFilesAreRefusedAndNamed) {
    const std::vector<fs::path> sides{one("a.tif", stored_image(4, 4, 1, TypeDesc::UINT8, 1)),
                                      one("b.tif", stored_image(4, 5, 1, TypeDesc::UINT8, 1))};
    test::expect_error([&] { (void)open_image(sides); }, ErrorCode::io, "texton::open_image",
                       {"b.tif", "4 x 5", "4 x 4"});
    const std::vector<fs::path> types{sides[0], one("c.tif", stored_image(4, 4, 1, TypeDesc::UINT16, 1))};
    test::expect_error([&] { (void)open_image(types); }, ErrorCode::io, "texton::open_image",
                       {"c.tif", "r16_unorm", "r8_unorm"});
    const std::vector<fs::path> two{sides[0], sides[0]};
    test::expect_error([&] { (void)open_image(two, {.kind = ArrayKind::array_2d}); }, ErrorCode::unsupported,
                       "texton::open_image", {"a.tif", "2 slices"});
    test::expect_error([&] { (void)open_image(std::span<const fs::path>{}); }, ErrorCode::bad_argument,
                       "texton::open_image");
}

// --- orientation and windows -----------------------------------------------------------------------------------------

// Positions from the Exif specification: where row 0 and column 0 of the file appear in the upright image.
TEST_F(ImageFileTest, EveryExifOrientationIsRotatedUpright) {
    constexpr std::size_t kWidth = 5, kHeight = 3;
    for (int orientation = 1; orientation <= 8; ++orientation) {
        SCOPED_TRACE(orientation);
        StoredImage stored = stored_image(kWidth, kHeight, 1, TypeDesc::UINT16, 9);
        stored.spec.attribute("Orientation", orientation);
        const fs::path path = one("a.tif", stored);
        const auto in = values<std::uint16_t>(stored.levels[0]);
        const bool swapped = orientation >= 5;
        const std::size_t width = swapped ? kHeight : kWidth, height = swapped ? kWidth : kHeight;
        std::vector<std::uint16_t> expected(in.size());
        for (std::size_t row = 0; row < kHeight; ++row) {
            for (std::size_t column = 0; column < kWidth; ++column) {
                const std::size_t last_row = kHeight - 1 - row, last_column = kWidth - 1 - column;
                const std::size_t positions[8][2] = {
                    {column, row}, {last_column, row}, {last_column, last_row}, {column, last_row},
                    {row, column}, {last_row, column}, {last_row, last_column}, {row, last_column}};
                const auto& [x, y] = positions[orientation - 1];
                expected[y * width + x] = in[row * kWidth + column];
            }
        }
        const ImageFile image = open_image(path);
        EXPECT_EQ(image.info().extent, (Extent{width, height}));
        EXPECT_EQ(values<std::uint16_t>(read_part(image)), expected);
        for (std::size_t y = 0; y < height; ++y) {
            for (std::size_t x = 0; x + 1 < width; ++x) {
                const auto pair = values<std::uint16_t>(read_part(image, {.region = Region{{x, y, 0}, {2, 1}}}));
                EXPECT_EQ(pair, (std::vector<std::uint16_t>{expected[y * width + x], expected[y * width + x + 1]}));
            }
        }
        const std::string sentence =
            "The image is turned upright from Exif orientation " + std::to_string(orientation) + ".";
        EXPECT_EQ(image.conversions(), orientation == 1 ? Sentences{} : Sentences{sentence});
        EXPECT_EQ(image.metadata().orientation, orientation);
        EXPECT_TRUE(same_bytes(read_part(open_image(path, {.upright = false})), stored.levels[0]));
    }
}

TEST_F(ImageFileTest, TheDisplayWindowIsPaddedWithZerosAndCropsTheData) {
    struct Row {
        ImageFrame data, display;
    };
    for (const Row& row :
         {Row{{3, 2, 6, 4}, {0, 0, 16, 9}}, Row{{-2, -1, 6, 4}, {0, 0, 16, 9}}, Row{{-5, -5, 40, 30}, {1, 2, 7, 5}},
          Row{{100, 100, 4, 4}, {0, 0, 6, 6}}, Row{{14, 7, 6, 4}, {0, 0, 16, 9}}}) {
        StoredImage stored = stored_image(row.data.width, row.data.height, 1, TypeDesc::FLOAT, 4);
        stored.spec.x = row.data.x;
        stored.spec.y = row.data.y;
        stored.spec.full_x = row.display.x;
        stored.spec.full_y = row.display.y;
        stored.spec.full_width = row.display.width;
        stored.spec.full_height = row.display.height;
        const fs::path path = one("a.exr", stored);
        const auto in = values<std::uint32_t>(stored.levels[0]);
        std::vector<std::uint32_t> expected;
        for (int y = row.display.y; y < row.display.y + row.display.height; ++y) {
            for (int x = row.display.x; x < row.display.x + row.display.width; ++x) {
                const int u = x - row.data.x, v = y - row.data.y;
                const bool there = u >= 0 && v >= 0 && u < row.data.width && v < row.data.height;
                expected.push_back(there ? in[static_cast<std::size_t>(v * row.data.width + u)] : 0u);
            }
        }
        const ImageFile image = open_image(path, {.window = ImageWindow::display});
        EXPECT_EQ(image.metadata().data, row.data);
        EXPECT_EQ(image.metadata().display, row.display);
        EXPECT_EQ(values<std::uint32_t>(read_part(image)), expected);
        EXPECT_NE(test::sentence_with(image.conversions(), "are 0."), "");
        EXPECT_TRUE(same_bytes(read_part(open_image(path)), stored.levels[0]));
        EXPECT_NE(test::sentence_with(open_image(path).conversions(), "is read."), "");
    }
}

// --- raw frames ---

TEST_F(ImageFileTest, RawFramesStoreTheirPlanesConsecutively) {
    struct Row {
        Format format;
        std::size_t luma, chroma;  // bytes
    };
    for (const Row& row : {Row{Format::nv12, 96, 48}, Row{Format::p010, 192, 96}, Row{Format::p016, 192, 96},
                           Row{Format::nv16, 96, 96}}) {
        SCOPED_TRACE(name(row.format));
        const std::size_t frame = row.luma + row.chroma;
        const Bytes bytes = test::pattern(3 * frame, 8);
        const fs::path path = test::write_bytes(at("a.yuv"), bytes);
        const ImageFile image = open_image(path, {.raw = RawFrames{row.format, {12, 8}, 1}});
        EXPECT_EQ(image.info(), (ArrayInfo{.format = row.format, .extent = {12, 8}}));
        EXPECT_EQ(image.metadata().frames, 3u);
        EXPECT_TRUE(same_bytes(read_part(image.plane(0)), std::span(bytes).subspan(frame, row.luma)));
        EXPECT_TRUE(same_bytes(read_part(image.plane(1)), std::span(bytes).subspan(frame + row.luma, row.chroma)));
        const auto refused = [&](const RawFrames& raw, ErrorCode code, std::string_view fragment) {
            test::expect_error([&] { (void)open_image(path, {.raw = raw}); }, code, "texton::open_image",
                               {"a.yuv", fragment});
        };
        refused({row.format, {12, 8}, 3}, ErrorCode::out_of_bounds, "3 frames");
        refused({row.format, {14, 8}}, ErrorCode::io, "not a multiple of the frame size");
        refused({row.format, {11, 8}}, ErrorCode::bad_argument, "11 x 8");
        refused({row.format, {0, 8}}, ErrorCode::bad_argument, "0 x 8");
        refused({Format::rgba8_unorm, {12, 8}}, ErrorCode::bad_argument, "rgba8_unorm");
        Bytes part(1);
        test::expect_error([&] { image.read({}, part); }, ErrorCode::bad_argument, "texton::ImageFile",
                           {"a.yuv", "planes"});
    }
}

// --- damaged files ---------------------------------------------------------------------------------------------------

TEST_F(ImageFileTest, NonImageFilesAreRefusedAndNamed) {
    const auto refused = [&](const fs::path& path, std::string_view fragment) {
        test::expect_error([&] { (void)open_image(path); }, ErrorCode::io, "texton::open_image",
                           {path.filename().string(), fragment});
    };
    refused(at("nowhere.png"), "does not exist");
    refused(folder_.path(), "is a folder");
    for (const std::string content : {"", "no image\n", "DDS"}) {
        for (const std::string name : {"empty.png", "empty.exr", "empty.tif", "empty.jpg", "empty.dds", "empty"}) {
            std::ofstream(at(name)) << content;
            refused(at(name), "");
        }
    }
}

TEST_F(ImageFileTest, TruncatedFilesFailAtTheirEndAndAreNamed) {
    for (const std::string name : {"a.tif", "a.png", "a.exr"}) {
        const TypeDesc type = name == "a.exr" ? TypeDesc::HALF : TypeDesc::UINT8;
        const Bytes whole = test::file_bytes(one(name, stored_image(64, 64, 4, type, 1)));
        for (const std::size_t bytes :
             {std::size_t{4}, std::size_t{30}, whole.size() / 2, whole.size() - whole.size() / 8}) {
            SCOPED_TRACE(name + " " + std::to_string(bytes));
            const fs::path part = test::write_bytes(at("cut" + name.substr(1)), std::span(whole).first(bytes));
            test::expect_error([&] { (void)read_part(open_image(part)); }, ErrorCode::io, "texton::", {"cut"});
        }
    }
}

// A file of 100 bytes whose header claims 30,000 x 33,333 texels.
TEST_F(ImageFileTest, AHeaderClaimingABillionTexelsAllocatesNoMemory) {
    const auto claim = [&](const std::string& name, TypeDesc type) {
        const fs::path path = at(name);
        const auto out = OIIO::ImageOutput::create(path.string());
        OIIO::ImageSpec spec(30000, 33333, 4, type);
        spec.attribute("compression", "zip");
        EXPECT_TRUE(out && out->open(path.string(), spec));
        const Bytes row(30000 * spec.pixel_bytes());
        for (int y = 0; y < 64; ++y) EXPECT_TRUE(out->write_scanline(y, 0, type, row.data()));
        (void)out->close();
        return path;
    };
    for (const fs::path& path : {claim("claim.tif", TypeDesc::UINT8), claim("claim.exr", TypeDesc::FLOAT)}) {
        SCOPED_TRACE(path.string());
        test::expect_error([&] { (void)read_image(path); }, ErrorCode::io, "texton::read_image",
                           {path.filename().string()});
        test::expect_error(
            [&] {
                const ImageFile image = open_image(path);
                Bytes row(30000 * info(image.info().format).bytes);
                image.read({.region = Region{{0, 33332, 0}, {30000, 1}}}, row);
            },
            ErrorCode::io, "texton::", {path.filename().string()});
    }
}

TEST_F(ImageFileTest, AccessReportsTheUnitThatAFileDecodesAtOnce) {
    const auto access = [&](const fs::path& path, const ImageOptions& options = {}, int level = 0) {
        return open_image(path, options).access(level);
    };
    StoredImage strips = stored_image(90, 60, 4, TypeDesc::UINT8, 1);
    strips.spec.attribute("tiff:RowsPerStrip", 8);
    const fs::path chain = one("chain.tif", stored_chain(90, 60, 4, TypeDesc::UINT8, 1, 32));
    const ImageAccess tiles{{32, 32, 1}}, rows{{90, 8, 1}}, in_order{{90, 1, 1}, true};
    EXPECT_EQ(access(chain), tiles);
    EXPECT_EQ(access(chain, {}, 2), tiles);
    EXPECT_EQ(access(one("strips.tif", strips)), rows);
    const fs::path png = one("a.png", stored_image(90, 60, 4, TypeDesc::UINT8, 1));
    EXPECT_EQ(access(png), in_order);
    EXPECT_EQ(access(png, {.format = Format::rgba32_float}), in_order) << "converted";
    strips.spec.attribute("Orientation", 6);
    const ImageAccess columns{{8, 90, 1}};
    EXPECT_EQ(access(one("turned.tif", strips)), columns);
    const ImageFile image = open_image(png);
    test::expect_error([&] { (void)image.access(1); }, ErrorCode::out_of_bounds, "texton::ImageFile", {"level 1"});
    test::write_bytes(at("a.yuv"), Bytes(24));
    const ImageFile raw = open_image(at("a.yuv"), {.raw = RawFrames{Format::nv12, {4, 4}}});
    test::expect_error([&] { (void)raw.access(); }, ErrorCode::bad_argument, "texton::ImageFile", {"nv12"});
    EXPECT_NO_THROW((void)raw.plane(1).access());
}

TEST_F(ImageFileTest, FilesRemovedOrChangedAfterOpeningFailAndAreNamed) {
    const StoredImage stored = stored_image(64, 64, 4, TypeDesc::UINT8, 1);
    std::vector<fs::path> paths;
    for (int index = 0; index < 40; ++index) paths.push_back(one("a" + std::to_string(index) + ".tif", stored));
    const ImageFile image = open_image(paths);  // the first files are no longer open
    fs::remove(paths[0]);
    (void)one("a1.tif", stored_image(64, 32, 4, TypeDesc::UINT8, 1));
    test::expect_error([&] { (void)read_part(image, {.layer = 0}); }, ErrorCode::io, "texton::ImageFile",
                       {"a0.tif", "does not exist"});
    test::expect_error([&] { (void)read_part(image, {.layer = 1}); }, ErrorCode::io, "texton::ImageFile",
                       {"a1.tif", "has changed"});
    EXPECT_TRUE(same_bytes(read_part(image, {.layer = 2}), stored.levels[0]));

    test::write_bytes(at("a.yuv"), Bytes(24));
    const ImageFile raw = open_image(at("a.yuv"), {.raw = RawFrames{Format::nv12, {4, 4}}});
    fs::resize_file(at("a.yuv"), 10);
    test::expect_error([&] { (void)read_part(raw.plane(0)); }, ErrorCode::io, "texton::ImageFile",
                       {"a.yuv", "has changed"});
    fs::remove(at("a.yuv"));
    test::expect_error([&] { (void)read_part(raw.plane(0)); }, ErrorCode::io, "texton::ImageFile",
                       {"a.yuv", "can no longer be opened"});
}

}  // namespace
}  // namespace texton

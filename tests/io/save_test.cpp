#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include <texton/error.h>
#include <texton/fill.h>
#include <texton/image.h>
#include <texton/image_load.h>
#include <texton/image_save.h>
#include <texton/linear.h>
#include <texton/pitched.h>

#include "arrays/files/alpha.h"
#include "tests/support/arrays.h"
#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"
#include "tests/support/on_every_device.h"

// Saves arrays to files and loads them again, and tests failures to write.

namespace texton {
namespace {

namespace fs = std::filesystem;
using OIIO::TypeDesc;
using test::Bytes;
using test::read_part;
using test::same_bytes;
using test::StoredImage;

class ImageSaveTest : public test::OnEveryDevice {
protected:
    fs::path at(const std::string& name) const { return folder_.at(name); }
    test::ImageFolder folder_;
};

struct Kept {
    const char* ending;
    Format format;
};

// File types with formats that they store unchanged and that are read again in the same format.
const std::vector<Kept>& kept() {
    static const std::vector<Kept> all{
        {".tif", Format::r8_unorm},     {".tif", Format::rg8_unorm},    {".tif", Format::rgba8_unorm},
        {".tif", Format::r16_unorm},    {".tif", Format::rgba16_unorm}, {".tif", Format::rgba16_sint},
        {".tif", Format::rg32_uint},    {".tif", Format::rgba32_float}, {".exr", Format::r16_float},
        {".exr", Format::rgba16_float}, {".exr", Format::rg32_float},   {".exr", Format::r32_uint}};
    return all;
}

TEST_P(ImageSaveTest, EveryKindRoundTripsBitForBit) {
    for (const ArrayKind kind : test::all_kinds()) {
        for (const auto& [ending, format] : kept()) {
            const test::ReferenceArray reference(test::flat_info(kind, format), 3);
            SCOPED_TRACE(test::describe(reference.info()) + ending);
            const Array array(device(), reference.info());
            test::upload(array, reference);
            const fs::path path = at(std::string("a") + ending);
            save(path, array);
            const Array loaded = load(device(), open_image(path, {.kind = kind}));
            EXPECT_EQ(loaded.info(), reference.info());
            EXPECT_TRUE(test::holds(loaded, reference));
            EXPECT_EQ(folder_.files(), 1);
            fs::remove(path);
        }
    }
}

TEST_P(ImageSaveTest, MipChainsAreSavedTiledAndRoundTrip) {
    for (const char* name : {"a.tif", "a.tx", "a.exr"}) {
        SCOPED_TRACE(name);
        const bool exr = fs::path(name).extension() == ".exr";
        const ArrayInfo info{
            .format = exr ? Format::rgba16_float : Format::rgba8_unorm, .extent = {150, 70}, .levels = 8};
        const test::ReferenceArray reference(info, 3);
        const Array array(device(), info);
        test::upload(array, reference);
        save(at(name), array, {.tile = Extent{32, 32}});
        EXPECT_TRUE(test::holds(load(device(), open_image(at(name))), reference));
        const auto in = OIIO::ImageInput::open(at(name).string());
        ASSERT_TRUE(in);
        EXPECT_EQ(in->spec().tile_width, 32);
        EXPECT_TRUE(in->seek_subimage(0, 7));
        EXPECT_EQ(in->spec().width, 1);
    }
}

TEST_P(ImageSaveTest, EachImageOfATiffNamesItsColorSpace) {
    const test::ReferenceArray reference(test::flat_info(ArrayKind::layered_2d, Format::rgba8_srgb), 3);
    const Array array(device(), reference.info());
    test::upload(array, reference);
    save(at("a.tif"), array);
    for (std::size_t layer = 0; layer < reference.info().layers; ++layer) {
        const ImageFile image = open_image(at("a.tif"), {.part = static_cast<int>(layer)});
        EXPECT_EQ(image.info().format, Format::rgba8_srgb) << layer;
        EXPECT_TRUE(same_bytes(read_part(image), test::download(array.view({.layer = layer})))) << layer;
    }
}

TEST_P(ImageSaveTest, LevelsOfColorsAreSavedToATiff) {
    const ArrayInfo info{.format = Format::rgba8_srgb, .extent = {150, 70}, .levels = 8};
    const test::ReferenceArray reference(info, 3);
    const Array array(device(), info);
    test::upload(array, reference);
    save(at("a.tif"), array);
    const ImageFile image = open_image(at("a.tif"));
    EXPECT_EQ(image.info().format, Format::rgba8_srgb);
    EXPECT_TRUE(test::holds(load(device(), image), reference));
}

// OpenImageIO writes icons without alpha so that its reader writes beyond the end of its memory.
TEST_P(ImageSaveTest, IconsHaveAlpha) {
    test::store(at("colors.png"), {test::stored_image(37, 21, 3, TypeDesc::UINT8, 1)});
    const ImageFile colors = open_image(at("colors.png"));
    for (const SavedAlpha alpha : {SavedAlpha::automatic, SavedAlpha::unless_opaque, SavedAlpha::kept}) {
        save(at("a.ico"), colors, {.alpha = alpha});
        EXPECT_TRUE(same_bytes(read_part(open_image(at("a.ico"))), read_part(colors)));
    }
    test::expect_error([&] { save(at("a.ico"), colors, {.alpha = SavedAlpha::dropped}); }, ErrorCode::io,
                       "texton::save", {"a.ico", "3 channels"});
    test::store(at("gray.png"), {test::stored_image(37, 21, 1, TypeDesc::UINT8, 1)});
    test::expect_error([&] { save(at("a.ico"), open_image(at("gray.png"))); }, ErrorCode::io, "texton::save",
                       {"a.ico", "rgba8_srgb"});
}

// Writers of OpenImageIO that report no error: their files could not be read, or had another size.
TEST_P(ImageSaveTest, FilesThatCannotBeReadAreNotWritten) {
    const auto save_size = [&](const char* name, Format format, const Extent& extent) {
        const Array array(device(), {.format = format, .extent = extent});
        const test::ReferenceArray reference(array.info(), 3);
        test::upload(array, reference);
        save(at(name), array, {.alpha = SavedAlpha::kept});
        EXPECT_TRUE(test::holds(load(device(), open_image(at(name), {.format = format})), reference)) << name;
    };
    const auto refuse_size = [&](const char* name, Format format, const Extent& extent) {
        test::expect_error([&] { save_size(name, format, extent); }, ErrorCode::io, "texton::save", {name});
        EXPECT_FALSE(std::filesystem::exists(at(name))) << name;
    };
    save_size("a.jp2", Format::rgba8_unorm, {32, 40});
    refuse_size("b.jp2", Format::rgba8_unorm, {31, 40});
    refuse_size("b.jp2", Format::r16_unorm, {300, 1});
    save_size("a.fits", Format::r8_unorm, {40, 1});
    save_size("a2.fits", Format::rgba8_unorm, {40, 2});
    refuse_size("b.fits", Format::rgba8_unorm, {40, 1});
    save_size("a.ico", Format::rgba8_unorm, {256, 1});
    refuse_size("b.ico", Format::rgba16_unorm, {256, 1});
    refuse_size("b.null", Format::rgba8_unorm, {40, 40});
}

TEST_P(ImageSaveTest, AnOrientationDoesNotChangeWhereTexelsAreStored) {
    const test::ReferenceArray reference(test::flat_info(ArrayKind::array_2d, Format::rgba8_unorm), 3);
    const Array array(device(), reference.info());
    test::upload(array, reference);
    for (const char* name : {"a.tif", "a.png", "a.dpx", "a.iff", "a.tga"}) {
        for (int orientation = 1; orientation <= 8; ++orientation) {
            save(at(name), array,
                 {.attributes = {{"Orientation", std::to_string(orientation), "int"}}, .alpha = SavedAlpha::kept});
            const ImageFile image = open_image(at(name), {.format = Format::rgba8_unorm, .upright = false});
            EXPECT_TRUE(test::holds(load(device(), image), reference)) << name << ' ' << orientation;
        }
    }
}

TEST_P(ImageSaveTest, AttributesDoNotConvertValues) {
    const test::ReferenceArray reference(test::flat_info(ArrayKind::array_2d, Format::rgba16_unorm), 3);
    const Array array(device(), reference.info());
    test::upload(array, reference);
    for (const char* name : {"a.tif", "a.png", "a.dpx"}) {
        save(at(name), array, {.attributes = {{"oiio:BitsPerSample", "8", "int"}}, .alpha = SavedAlpha::kept});
        EXPECT_TRUE(test::holds(load(device(), open_image(at(name))), reference)) << name;
    }
}

TEST_P(ImageSaveTest, AnySubresourceCanBeSaved) {
    const test::ReferenceArray reference(test::small_info(ArrayKind::layered_2d, Format::rgba16_unorm), 3);
    const Array array(device(), reference.info());
    test::upload(array, reference);
    const View part = array.view({.level = 1, .layer = 1});
    save(at("a.png"), part);
    EXPECT_TRUE(same_bytes(read_image(at("a.png")).texels, test::download(part)));
    save(at("a.tif"), array.view({.level = 1}));
    const ImageFile layers = open_image(at("a.tif"), {.kind = ArrayKind::layered_2d});
    EXPECT_EQ(layers.info().layers, reference.info().layers);
    EXPECT_TRUE(same_bytes(read_part(layers), reference.level(1)));
}

TEST_P(ImageSaveTest, MemoryOutsideArraysCanBeSaved) {
    const Pitched2D pitched(device(), Format::rgba8_unorm, {33, 17});
    const Bytes texels = test::pattern(33 * 17 * 4, 5);
    test::upload(pitched.view(), texels);
    save(at("a.dds"), pitched.view());
    EXPECT_TRUE(same_bytes(read_part(open_image(at("a.dds"))), texels));
    save(at("a.png"), pitched.view());
    EXPECT_TRUE(same_bytes(read_image(at("a.png")).texels, texels));
}

TEST_P(ImageSaveTest, SavingALoadedFileKeepsItsMetadata) {
    StoredImage stored = test::stored_image(20, 10, 4, TypeDesc::HALF, 3);
    stored.spec.x = 3;
    stored.spec.y = -4;
    stored.spec.full_width = 40;
    stored.spec.full_height = 30;
    stored.spec.attribute("Artist", "somebody");
    stored.spec.attribute("PixelAspectRatio", 2.0f);
    const ImageFile image = open_image(test::store(at("a.exr"), {stored}));
    save(at("b.exr"), image, {.attributes = {{"Copyright", "nobody"}, {"answer", "42", "int"}}});
    const ImageFile again = open_image(at("b.exr"));
    EXPECT_EQ(again.metadata().data, (ImageFrame{3, -4, 20, 10}));
    EXPECT_EQ(again.metadata().display, (ImageFrame{0, 0, 40, 30}));
    EXPECT_TRUE(same_bytes(read_part(again), stored.levels[0]));
    const auto& attributes = again.metadata().attributes;
    for (const ImageAttribute& attribute :
         {ImageAttribute{"Artist", "somebody"}, ImageAttribute{"PixelAspectRatio", "2", "float"},
          ImageAttribute{"Copyright", "nobody"}, ImageAttribute{"answer", "42", "int"}}) {
        EXPECT_NE(std::find(attributes.begin(), attributes.end(), attribute), attributes.end()) << attribute.name;
    }
}

TEST_P(ImageSaveTest, EqualImagesHaveEqualFilesAtAnyTime) {
    const Array color(device(), {.format = Format::rgba8_unorm, .extent = {20, 10}});
    const Array light(device(), {.format = Format::rgba32_float, .extent = {20, 10}, .levels = 2});
    fill(color.view(), std::uint8_t{255});
    for (const int level : {0, 1}) fill(light.view({.level = level}), std::uint8_t{5});
    const auto contents = [&](const char* name, const Array& array) {
        save(at(name), array);
        std::ifstream file(at(name), std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    const auto all = [&] {
        std::vector<std::string> files;
        for (const char* name : {"a.tif", "a.png", "a.jpg", "a.tga", "a.bmp", "a.dds", "a.ktx2", "a.dpx", "a.sgi"})
            files.push_back(contents(name, color));
        for (const char* name : {"b.exr", "b.tif", "b.dds", "b.ktx2"}) files.push_back(contents(name, light));
        return files;
    };
    const std::vector<std::string> first = all();
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // times in files have whole seconds
    const std::vector<std::string> second = all();
    for (std::size_t i = 0; i < first.size(); ++i) EXPECT_TRUE(first[i] == second[i]) << "file " << i;
    EXPECT_STREQ(contents("name.dpx", color).c_str() + 36, "name.dpx");
    EXPECT_STREQ(contents("name.sgi", color).c_str() + 24, "name.sgi");
}

TEST_P(ImageSaveTest, SrgbAndAlphaRoundTrip) {
    const Bytes texels = test::pattern(8 * 8 * 4, 5);
    save(at("a.png"), host_view(texels.data(), Format::rgba8_srgb, {8, 8}));
    const ImageFile png = open_image(at("a.png"));
    EXPECT_EQ(png.info().format, Format::rgba8_srgb);
    EXPECT_EQ(png.metadata().alpha, ImageAlpha::straight);
    EXPECT_TRUE(same_bytes(read_part(png), texels));
}

TEST_P(ImageSaveTest, ImagesRotatedOnReadingAreSavedUpright) {
    StoredImage stored = test::stored_image(6, 4, 1, TypeDesc::UINT8, 3);
    stored.spec.attribute("Orientation", 6);
    const fs::path path = test::store(at("a.tif"), {stored});
    const ImageFile upright = open_image(path);
    save(at("b.tif"), upright);
    EXPECT_EQ(open_image(at("b.tif")).metadata().orientation, 1);
    EXPECT_TRUE(same_bytes(read_part(open_image(at("b.tif"))), read_part(upright)));
    save(at("c.tif"), open_image(path, {.upright = false}));
    EXPECT_EQ(open_image(at("c.tif")).metadata().orientation, 6);
    EXPECT_TRUE(same_bytes(read_part(open_image(at("c.tif"))), read_part(upright)));
}

// Returns an 8 x 8 image whose alpha is 1, the maximum code value, except in one texel if `opaque` is false.
Bytes colors_with_alpha(Format format, bool opaque) {
    Bytes texels = test::pattern(packed_bytes(format, {8, 8}), 3);
    detail::set_alpha_to_one(format, texels);
    if (!opaque) texels.back() = std::byte{1};
    return texels;
}

TEST_P(ImageSaveTest, OpaqueAlphaIsNotWrittenWhereTheKindOfFileCannotHoldIt) {
    const struct {
        const char* name;
        Format format;
    } rows[] = {{"a.jpg", Format::rgba8_unorm},
                {"a.ppm", Format::rgba8_unorm},
                {"b.jpg", Format::rgba8_srgb},
                {"a.hdr", Format::rgba32_float},
                {"c.ppm", Format::rgba8_srgb}};
    for (const auto& [name, format] : rows) {
        SCOPED_TRACE(name);
        Bytes texels = colors_with_alpha(format, true);
        if (format == Format::rgba32_float) std::ranges::fill(texels, std::byte{0});
        detail::set_alpha_to_one(format, texels);
        const ConstView opaque = host_view(std::as_const(texels).data(), format, {8, 8});
        save(at(name), opaque);
        EXPECT_EQ(open_image(at(name)).metadata().channels, (std::vector<std::string>{"R", "G", "B"}));
        const bool is_exact = fs::path(name).extension() == ".ppm";
        EXPECT_TRUE(!is_exact || same_bytes(read_part(open_image(at(name), {.format = format})), texels));
        test::expect_error([&] { save(at(name), opaque, {.alpha = SavedAlpha::kept}); }, ErrorCode::io, "texton::save",
                           {name});
        texels.back() = std::byte{1};
        test::expect_error([&] { save(at(name), opaque); }, ErrorCode::io, "texton::save",
                           {name, "alpha, which is not 1 in all texels"});
        save(at(name), opaque, {.alpha = SavedAlpha::dropped});
        EXPECT_EQ(open_image(at(name)).metadata().channels.size(), 3u);
    }
}

TEST_P(ImageSaveTest, ImagesFromThreeChannelsAreWrittenWithThree) {
    for (const char* name : {"a.png", "a.tif", "a.tga", "a.exr"}) {
        SCOPED_TRACE(name);
        const bool is_exr = std::string_view(name) == "a.exr";
        const Format format = is_exr ? Format::rgba16_float : Format::rgba8_unorm;
        const auto channels = [&](const fs::path& path) { return open_image(path).metadata().channels.size(); };
        const auto saved = [&](const Bytes& texels, SavedAlpha alpha) {
            save(at(name), host_view(texels.data(), format, {8, 8}), {.alpha = alpha});
            return channels(at(name));
        };
        const Bytes opaque = colors_with_alpha(format, true), other = colors_with_alpha(format, false);
        EXPECT_EQ(saved(opaque, SavedAlpha::automatic), 4u);
        EXPECT_EQ(saved(other, SavedAlpha::unless_opaque), 4u);
        EXPECT_TRUE(same_bytes(read_part(open_image(at(name), {.format = format})), other));
        EXPECT_EQ(saved(other, SavedAlpha::dropped), 3u);
        EXPECT_EQ(saved(opaque, SavedAlpha::unless_opaque), 3u);
        EXPECT_TRUE(same_bytes(read_part(open_image(at(name), {.format = format})), opaque));
        // Read from three channels, and written as read.
        const fs::path copy = at(std::string("copy") + name);
        save(copy, open_image(at(name)));
        EXPECT_EQ(channels(copy), 3u);
        save(copy, open_image(at(name)), {.alpha = SavedAlpha::kept});
        EXPECT_EQ(channels(copy), 4u);
        EXPECT_TRUE(same_bytes(read_part(open_image(copy, {.format = format})), opaque));
    }
}

TEST_P(ImageSaveTest, UnsupportedContentsAreRefusedAndTheOldFileStays) {
    const Bytes old = test::pattern(100, 5);
    const auto refused = [&](const std::string& name, const Array& array, std::string_view fragment,
                             const SaveOptions& options = {}) {
        SCOPED_TRACE(name);
        test::write_bytes(at(name), old);
        test::expect_error([&] { save(at(name), array, options); }, ErrorCode::io, "texton::save", {name, fragment});
        EXPECT_TRUE(same_bytes(test::file_bytes(at(name)), old));
        fs::remove(at(name));
    };
    const auto array = [&](Format format, ArrayKind kind, int levels = 1) {
        ArrayInfo info{.format = format, .extent = {8, 8}, .kind = kind, .levels = levels};
        if (kind == ArrayKind::layered_2d) info.layers = 3;
        return Array(device(), info);
    };
    refused("a.png", array(Format::rgba32_float, ArrayKind::array_2d), "ImageOptions::format = rgba8_srgb");
    refused("a.exr", array(Format::r8_unorm, ArrayKind::array_2d), "ImageOptions::format = r16_float");
    refused("a.exr", array(Format::rgba8_sint, ArrayKind::array_2d), "rgba8_sint. Use .tif");
    refused("a.jpg", array(Format::rgba8_unorm, ArrayKind::array_2d), "alpha, which is not 1 in all texels");
    refused("a.jpg", array(Format::rg8_unorm, ArrayKind::array_2d), "ImageOptions::format = rgba8_unorm");
    refused("a.png", array(Format::rgba8_unorm, ArrayKind::layered_2d), "ImageOptions::layer");
    refused("a.png", array(Format::rgba8_unorm, ArrayKind::array_2d, 3), "ImageOptions::levels = 1");
    refused("b.png", array(Format::rgba8_unorm, ArrayKind::array_2d), "tiles", {.tile = Extent{16, 16}});
    refused("a.gif", Array(device(), {.format = Format::rgba8_unorm, .extent = {4097, 4096}}), "2^24 texels. Use .png");
    refused("a.tif", array(Format::bc1_unorm, ArrayKind::array_2d),
            "Use .dds or .ktx2, or open the image with ImageOptions::format = rgba8_unorm.");
    refused("a.tif", array(Format::rgba8_unorm, ArrayKind::layered_2d, 3), "levels of layers");
    refused("a.rla", array(Format::rgba8_unorm, ArrayKind::array_2d), "rgba8_unorm. Use .tif");
    refused("a.yuv", array(Format::rgba8_unorm, ArrayKind::array_2d), "planar");
    refused("a.nokind", array(Format::rgba8_unorm, ArrayKind::array_2d), "an extension that OpenImageIO cannot write");
    refused("a", array(Format::rgba8_unorm, ArrayKind::array_2d), "");
    refused("a.tif", array(Format::rgba8_unorm, ArrayKind::array_2d), "multiple of 16", {.tile = Extent{17, 5}});
    const PlanarArray planar(device(), Format::nv12, {8, 8});
    test::expect_error([&] { save(at("a.png"), planar); }, ErrorCode::io, "texton::save",
                       {"a.png", "nv12", ".yuv", "to_rgb"});
    EXPECT_EQ(folder_.files(), 0);
}

TEST_P(ImageSaveTest, ACanceledSaveKeepsTheOldFile) {
    const Array array(
        device(), {.format = Format::rgba8_unorm, .extent = {2048, 2048}, .kind = ArrayKind::layered_2d, .layers = 3});
    fill(array.view(), std::uint32_t{7});
    for (const char* name : {"a.dds", "a.ktx2", "a.tif"}) {
        const Bytes old = test::pattern(100, 5);
        test::write_bytes(at(name), old);
        EXPECT_THROW(
            save(at(name), array,
                 {.progress = [](const ImageProgress& progress) { return progress.done < progress.total / 2; }}),
            Canceled);
        EXPECT_TRUE(same_bytes(test::file_bytes(at(name)), old));
        EXPECT_EQ(folder_.files(), 1);
        fs::remove(at(name));
    }
}

TEST_P(ImageSaveTest, AnUnwritableFolderIsRefusedAndNamed) {
    const Bytes texels(64);
    const auto view = host_view(texels.data(), Format::r8_unorm, {8, 8});
    for (const char* name :
         {"nofolder/a.dds", "nofolder/a.ktx2", "nofolder/a.tif", "nofolder/a.png", "nofolder/a.exr"}) {
        test::expect_error([&] { save(at(name), view); }, ErrorCode::io, "texton::save", {name});
    }
    if (geteuid() == 0) return;  // root may write to every folder
    fs::permissions(folder_.path(), fs::perms::owner_read | fs::perms::owner_exec);
    for (const char* name : {"a.dds", "a.ktx2", "a.tif", "a.png", "a.exr"}) {
        test::expect_error([&] { save(at(name), view); }, ErrorCode::io, "texton::save", {name});
    }
}

// OpenImageIO writes the default in place of a method that it does not know.
TEST_P(ImageSaveTest, UnknownCompressionIsRefusedAndTheKnownOnesAreNamed) {
    const std::vector<float> texels(4 * 4 * 4, 0.5f);
    const ConstView view = host_view(texels.data(), Format::rgba32_float, {4, 4});
    for (const char* compression : {"foo", "zstd", "piz ", ":9"}) {
        SCOPED_TRACE(compression);
        const auto refuses = [&](const char* name, const char* known) {
            test::expect_error([&] { save(at(name), view, {.compression = compression}); }, ErrorCode::bad_argument,
                               "texton::save", {name, compression, known});
        };
        refuses("a.tif", "none, lzw, packbits, zip, deflate or jpeg");
        refuses("a.exr", "none, rle, zips, zip, piz, pxr24, b44, b44a, dwaa or dwab");
    }
    EXPECT_EQ(folder_.files(), 0);
    for (const char* compression : {"none", "ZIP", "zip:9", "lzw"})
        save(at("a.tif"), view, {.compression = compression});
    for (const char* compression : {"piz", "dwaa:45", "zips"}) save(at("a.exr"), view, {.compression = compression});
    EXPECT_EQ(folder_.files(), 2);
}

// The image is read while its own file is replaced. Rows of .dds and .ktx2 are read from the file each time.
TEST_P(ImageSaveTest, AnImageIsSavedOverItsOwnFile) {
    for (const std::string name : {"a.dds", "a.ktx2", "a.tif", "a.png"}) {
        SCOPED_TRACE(name);
        const std::size_t rows = name == "a.png" ? 16 : 2500;  // without compression, in two bands
        const Bytes texels = test::pattern(2048 * rows * 4, 5);
        save(at(name), host_view(texels.data(), Format::rgba8_unorm, {2048, rows}), {.compression = "none"});
        save(at(name), open_image(at(name)), {.compression = "none"});
        EXPECT_TRUE(same_bytes(read_part(open_image(at(name))), texels));
        fs::create_symlink(name, at("link" + fs::path(name).extension().string()));
        save(at("link" + fs::path(name).extension().string()), open_image(at(name)), {.compression = "none"});
        EXPECT_TRUE(same_bytes(read_part(open_image(at(name))), texels));
    }
    EXPECT_EQ(folder_.files(), 8);
}

// An image that was opened before its file was replaced must not return texels of the new file.
TEST_P(ImageSaveTest, AReplacedFileIsNotReadWithTheOldHeader) {
    const Bytes texels = test::pattern(64 * 64 * 4, 5);
    for (const char* name : {"a.dds", "a.ktx2"}) {
        save(at(name), host_view(texels.data(), Format::rgba8_unorm, {64, 64}));
        const ImageFile old = open_image(at(name));
        save(at(name), host_view(texels.data(), Format::r8_unorm, {256, 64}));
        test::expect_error([&] { (void)read_part(old); }, ErrorCode::io, "texton::ImageFile", {name, "has changed"});
    }
    save(at("a.yuv"), PlanarArray(device(), Format::nv12, {8, 8}));
    const ImageFile frame = open_image(at("a.yuv"), {.raw = RawFrames{Format::nv12, {8, 8}}});
    save(at("a.yuv"), PlanarArray(device(), Format::nv12, {16, 16}));
    test::expect_error([&] { (void)read_part(frame.plane(0)); }, ErrorCode::io, "texton::ImageFile",
                       {"a.yuv", "has changed"});
}

// Returns the attribute of an ICC profile of the color space, which has a header, no tags, and padding.
ImageAttribute profile_of(const char* color_space, std::size_t size = 700) {
    Bytes bytes = test::pattern(size, 7);  // libpng refuses profiles that take only a few bytes in the file
    std::fill_n(bytes.begin(), 132, std::byte{0});
    const auto put = [&](std::size_t at, std::string_view text) {
        std::transform(text.begin(), text.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at),
                       [](char c) { return static_cast<std::byte>(c); });
    };
    bytes[2] = static_cast<std::byte>(size >> 8);
    bytes[3] = static_cast<std::byte>(size);
    put(8, "\x02\x40");
    put(12, "mntr");
    put(16, color_space);
    put(20, "XYZ ");
    put(36, "acsp");
    put(70, "\xf6\xd6");  // the illuminant D50
    put(73, "\x01");
    put(78, "\xd3\x2d");
    std::string text;
    for (const std::byte byte : bytes) text += fmt::format("{}{}", text.empty() ? "" : ", ", static_cast<int>(byte));
    return {"ICCProfile", text, fmt::format("uint8[{}]", size)};
}

std::optional<ImageAttribute> profile_in(const ImageFile& image) {
    const auto& attributes = image.metadata().attributes;
    const auto found = std::ranges::find(attributes, "ICCProfile", &ImageAttribute::name);
    return found == attributes.end() ? std::nullopt : std::optional(*found);
}

TEST_P(ImageSaveTest, ColorProfilesAreKeptWithEveryByte) {
    const Bytes texels = test::pattern(8 * 8 * 4, 5);
    for (const char* name : {"a.png", "a.tif", "a.jpg"}) {
        const bool has_alpha = name != std::string_view("a.jpg");
        save(at(name), host_view(texels.data(), Format::rgba8_unorm, {8, 8}),
             {.attributes = {profile_of("RGB ")}, .alpha = has_alpha ? SavedAlpha::automatic : SavedAlpha::dropped});
        const ImageFile image = open_image(at(name));
        EXPECT_EQ(profile_in(image), profile_of("RGB ")) << name;
        const std::string copy = std::string("copy_") + name;
        save(at(copy), image, {.alpha = has_alpha ? SavedAlpha::automatic : SavedAlpha::dropped});
        EXPECT_EQ(profile_in(open_image(at(copy))), profile_of("RGB ")) << name;
    }
}

TEST_P(ImageSaveTest, ColorProfilesOfOtherColorSpacesAreLeftOut) {
    const Bytes texels = test::pattern(8 * 8 * 4, 5);
    const auto saved = [&](Format format, const char* color_space) {
        save(at("a.png"), host_view(texels.data(), format, {8, 8}), {.attributes = {profile_of(color_space)}});
        return profile_in(open_image(at("a.png"))).has_value();
    };
    EXPECT_TRUE(saved(Format::rgba8_unorm, "RGB "));
    EXPECT_TRUE(saved(Format::r8_unorm, "GRAY"));
    EXPECT_FALSE(saved(Format::r8_unorm, "RGB "));
    EXPECT_FALSE(saved(Format::rgba8_unorm, "GRAY"));
    EXPECT_FALSE(saved(Format::rgba8_unorm, "CMYK"));
}

// The writer of PNG checks the length that a color profile states.
TEST_P(ImageSaveTest, AnAttributeThatTheKindOfFileRefusesIsNamed) {
    StoredImage stored = test::stored_image(8, 8, 4, TypeDesc::UINT8, 3);
    const Bytes profile(200, std::byte{1});
    stored.spec.attribute("ICCProfile", TypeDesc(TypeDesc::UINT8, 200), profile.data());
    const ImageFile image = open_image(test::store(at("a.tif"), {stored}));
    const Error error = test::expect_error([&] { save(at("a.png"), image); }, ErrorCode::io, "texton::save",
                                           {"a.png", "profile", "attributes"});
    EXPECT_EQ(std::string_view(error.what()).find("folder"), std::string_view::npos) << error.what();
    EXPECT_EQ(folder_.files(), 1);
}

TEST_P(ImageSaveTest, PermissionsOfTheOldFileAreKept) {
    const Bytes texels = test::pattern(8 * 8 * 4, 5);
    for (const char* name : {"a.dds", "a.ktx2", "a.tif", "a.png", "a.sgi"}) {
        test::write_bytes(at(name), texels);
        fs::permissions(at(name), fs::perms::owner_read | fs::perms::owner_write);
        save(at(name), host_view(texels.data(), Format::rgba8_unorm, {8, 8}));
        EXPECT_EQ(fs::status(at(name)).permissions(), fs::perms::owner_read | fs::perms::owner_write) << name;
        EXPECT_TRUE(same_bytes(read_part(open_image(at(name))), texels)) << name;
    }
}

// Limits files to 64 KiB, which has the effect of a full disk.
class FullDiskTest : public ImageSaveTest {
protected:
    void SetUp() override {
        ImageSaveTest::SetUp();
        getrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, SIG_IGN);
    }
    void TearDown() override {
        setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, SIG_DFL);
        ImageSaveTest::TearDown();
    }
    void fill_disk() const {
        rlimit small = before_;
        small.rlim_cur = 64 << 10;
        setrlimit(RLIMIT_FSIZE, &small);
    }

private:
    rlimit before_{};
};

TEST_P(FullDiskTest, AFullDiskGivesAnErrorAndKeepsTheOldFile) {
    const Bytes texels = test::pattern(256 * 256 * 4, 5);
    const auto view = host_view(texels.data(), Format::rgba8_unorm, {256, 256});
    const auto half = host_view(texels.data(), Format::rgba16_float, {128, 256});
    const auto floats = host_view(texels.data(), Format::rgba32_float, {128, 128});
    const auto gray = host_view(texels.data(), Format::r8_unorm, {512, 512});
    struct Row {
        const char* name;
        ConstView view;
    };
    for (const Row& row : {Row{"a.dds", view}, Row{"a.ktx2", view}, Row{"a.tif", view}, Row{"a.png", view},
                           Row{"a.exr", half}, Row{"b.tif", floats}, Row{"a.tga", view}, Row{"a.sgi", view},
                           Row{"a.fits", gray}, Row{"a.rla", view}, Row{"a.bmp", view}, Row{"a.jpg", gray}}) {
        SCOPED_TRACE(row.name);
        const Bytes old = test::pattern(100, 5);
        test::write_bytes(at(row.name), old);
        fill_disk();
        test::expect_error([&] { save(at(row.name), row.view); }, ErrorCode::io, "texton::save", {row.name});
        const std::string ending = fs::path(row.name).extension();
        if (row.view.format() == Format::rgba8_unorm && ending != ".dds" && ending != ".ktx2") {
            test::expect_error([&] { write_image(at(row.name), row.view.format(), row.view.extent(), texels); },
                               ErrorCode::io, "texton::write_image", {row.name});
        }
        EXPECT_TRUE(same_bytes(test::file_bytes(at(row.name)), old));
        EXPECT_EQ(folder_.files(), 1);
        fs::remove(at(row.name));
    }
}

INSTANTIATE_TEST_SUITE_P(Devices, ImageSaveTest, test::every_device(), test::device_label);
INSTANTIATE_TEST_SUITE_P(Devices, FullDiskTest, test::every_device(), test::device_label);

}  // namespace
}  // namespace texton

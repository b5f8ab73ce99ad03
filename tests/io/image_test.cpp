#include <texton/image.h>
#include <texton/image_file.h>

#include <OpenImageIO/imageio.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/configured_path.h"
#include "tests/support/expect_error.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

namespace fs = std::filesystem;
using test::Bytes;

// Works in a temporary folder.
class ImageTest : public testing::Test {
protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "texton-image-XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override { fs::remove_all(folder_); }

    fs::path at(const std::string& name) const { return folder_ / name; }
    std::ptrdiff_t files() const { return std::distance(fs::directory_iterator(folder_), fs::directory_iterator()); }

    // Writes the first `bytes` bytes of a file to another file.
    fs::path cut(const fs::path& from, std::size_t bytes) const {
        std::ifstream in(from, std::ios::binary);
        std::string content(std::istreambuf_iterator<char>(in), {});
        EXPECT_GT(content.size(), bytes);
        content.resize(bytes);
        fs::path to = at("cut" + from.extension().string());
        std::ofstream(to, std::ios::binary) << content;
        return to;
    }

    template <class T>
    fs::path store(const std::string& name, int channels, OIIO::TypeDesc type, const std::vector<T>& values) const {
        const std::string path = at(name).string();
        const auto out = OIIO::ImageOutput::create(path);
        const int width = static_cast<int>(values.size()) / channels;
        EXPECT_TRUE(out && out->open(path, OIIO::ImageSpec(width, 1, channels, type)));
        EXPECT_TRUE(out->write_image(OIIO::BaseTypeFromC<T>::value, values.data()) && out->close());
        return path;
    }

    fs::path folder_;
};

const fs::path kAssets = test::configured_path("TEXTON_TEST_ASSETS", TEXTON_TEST_ASSETS);

template <class T>
T value(const Image& image, std::size_t index) {
    T out;
    std::memcpy(&out, image.texels.data() + index * sizeof(T), sizeof(T));
    return out;
}

TEST_F(ImageTest, ThreeByteChannelsAreWidenedWithAlphaOne) {
    const Image image = read_image(kAssets / "card.png");
    EXPECT_EQ(image.format, Format::rgba8_unorm);
    EXPECT_EQ(image.extent, (Extent{481, 321}));
    EXPECT_EQ(image.file_channels, 3);
    ASSERT_EQ(image.texels.size(), 481u * 321 * 4);
    const std::vector<std::uint8_t> red{255, 0, 0, 255};
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(value<std::uint8_t>(image, i), red[i]);
    std::size_t opaque = 0;
    for (std::size_t i = 3; i < image.texels.size(); i += 4) opaque += image.texels[i] == std::byte{255};
    EXPECT_EQ(opaque, 481u * 321);
}

TEST_F(ImageTest, ThreeFloat16ChannelsAreWidenedWithAlphaOne) {
    const Image image = read_image(kAssets / "sky.exr");
    EXPECT_EQ(image.format, Format::rgba16_float);
    EXPECT_EQ(image.extent, (Extent{203, 131}));
    EXPECT_EQ(image.file_channels, 3);
    for (std::size_t i = 3; i < image.texels.size() / 2; i += 4) ASSERT_EQ(value<std::uint16_t>(image, i), 0x3c00);
}

TEST_F(ImageTest, VolumesOfDdsAreReadAsOpenImageReadsThem) {
    const Image image = read_image(kAssets / "phantom.dds");
    const ImageFile file = open_image(kAssets / "phantom.dds");
    EXPECT_EQ(image.format, file.info().format);
    EXPECT_EQ(image.extent, file.info().extent);
    EXPECT_GT(image.extent.depth, 1u);
    std::vector<std::byte> texels(packed_bytes(file.info()));
    file.read({}, texels);
    EXPECT_EQ(image.texels, texels);
}

TEST_F(ImageTest, ThreeWiderChannelsAreWidenedWithAlphaOneOfTheirType) {
    const Image shorts = read_image(store<std::uint16_t>("a.png", 3, OIIO::TypeDesc::UINT16, {1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(shorts.format, Format::rgba16_unorm);
    EXPECT_EQ(value<std::uint16_t>(shorts, 6), 6);
    EXPECT_EQ(value<std::uint16_t>(shorts, 7), 0xffff);
    const Image floats = read_image(store<float>("a.exr", 3, OIIO::TypeDesc::FLOAT, {0.25f, -2.0f, 3e9f}));
    EXPECT_EQ(floats.format, Format::rgba32_float);
    EXPECT_EQ(value<float>(floats, 2), 3e9f);
    EXPECT_EQ(value<float>(floats, 3), 1.0f);
    const Image ints = read_image(store<std::int32_t>("a.tif", 3, OIIO::TypeDesc::INT32, {-7, 8, 9}));
    EXPECT_EQ(ints.format, Format::rgba32_sint);
    EXPECT_EQ(value<std::int32_t>(ints, 0), -7);
    EXPECT_EQ(value<std::int32_t>(ints, 3), 1);
}

TEST_F(ImageTest, OnlyTheFirstFourOfFiveChannelsAreRead) {
    const std::vector<std::uint8_t> values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    const Image image = read_image(store("five.tif", 5, OIIO::TypeDesc::UINT8, values));
    EXPECT_EQ(image.format, Format::rgba8_unorm);
    EXPECT_EQ(image.file_channels, 5);
    ASSERT_EQ(image.texels.size(), 8u);
    EXPECT_EQ(value<std::uint8_t>(image, 3), 4);
    EXPECT_EQ(value<std::uint8_t>(image, 4), 6);
}

TEST_F(ImageTest, ChannelsOf64BitsAreRefusedAndNamed) {
    const fs::path path = store<double>("double.tif", 1, OIIO::TypeDesc::DOUBLE, {0.1, 1e30});
    test::expect_error([&] { (void)read_image(path); }, ErrorCode::io, "texton::read_image",
                       {"double.tif", "type double"});
}

struct RoundTrip {
    Format format;
    const char* ending;
    friend void PrintTo(const RoundTrip& trip, std::ostream* out) { *out << name(trip.format) << trip.ending; }
};

class ImageRoundTripTest : public ImageTest, public testing::WithParamInterface<RoundTrip> {};

// Random texels include every alpha value, also alpha 0 with a color, and all bit patterns of floats.
TEST_P(ImageRoundTripTest, WrittenImagesRoundTripBitForBit) {
    const auto [format, ending] = GetParam();
    const Extent extent{37, 23};
    const Bytes texels = test::pattern(packed_bytes(format, extent), 7);
    const fs::path path = at(std::string("image") + ending);
    write_image(path, format, extent, texels);
    const Image image = read_image(path);
    EXPECT_EQ(name(image.format), name(format));
    EXPECT_EQ(image.extent, extent);
    EXPECT_EQ(image.file_channels, info(format).channels);
    EXPECT_TRUE(test::same_bytes(image.texels, texels));
    EXPECT_EQ(files(), 1);
}

INSTANTIATE_TEST_SUITE_P(Files, ImageRoundTripTest,
                         testing::Values(RoundTrip{Format::r8_unorm, ".png"}, RoundTrip{Format::rg8_unorm, ".png"},
                                         RoundTrip{Format::rgba8_unorm, ".png"}, RoundTrip{Format::r16_unorm, ".png"},
                                         RoundTrip{Format::rgba16_unorm, ".png"},
                                         RoundTrip{Format::rgba8_unorm, ".tif"}, RoundTrip{Format::rg16_unorm, ".tif"},
                                         RoundTrip{Format::r8_sint, ".tif"}, RoundTrip{Format::rgba16_sint, ".tif"},
                                         RoundTrip{Format::rgba32_sint, ".tif"}, RoundTrip{Format::rg32_uint, ".tif"},
                                         RoundTrip{Format::rgba32_float, ".tif"}, RoundTrip{Format::r16_float, ".exr"},
                                         RoundTrip{Format::rgba16_float, ".exr"}, RoundTrip{Format::r32_float, ".exr"},
                                         RoundTrip{Format::rgba32_float, ".exr"}, RoundTrip{Format::r32_uint, ".exr"}),
                         [](const auto& test) {
                             return std::string(name(test.param.format)) + "_" + (test.param.ending + 1);
                         });

// Rows of tiles have more than 16 MiB, so that they are read in several boxes which do not have whole rows.
TEST_F(ImageTest, LargeImagesOfStripsAndTilesAreReadCompletely) {
    const Extent extent{20'000, 350};
    const Bytes texels = test::pattern(packed_bytes(Format::rgba8_unorm, extent), 5);
    for (const int tile : {0, 256}) {
        SCOPED_TRACE(tile);
        const std::string path = at("large.tif").string();
        OIIO::ImageSpec spec(static_cast<int>(extent.width), static_cast<int>(extent.height), 4, OIIO::TypeDesc::UINT8);
        spec.attribute("compression", "none");
        spec.attribute("oiio:UnassociatedAlpha", 1);
        spec.tile_width = spec.tile_height = tile;
        const auto out = OIIO::ImageOutput::create(path);
        ASSERT_TRUE(out && out->open(path, spec));
        ASSERT_TRUE(out->write_image(OIIO::TypeDesc::UINT8, texels.data()) && out->close());
        EXPECT_TRUE(test::same_bytes(read_image(path).texels, texels));
    }
}

TEST_F(ImageTest, SrgbTexelsAreWrittenUnchanged) {
    const Extent extent{5, 3};
    const Bytes texels = test::pattern(packed_bytes(Format::rgba8_srgb, extent), 3);
    write_image(at("srgb.png"), Format::rgba8_srgb, extent, texels);
    EXPECT_TRUE(test::same_bytes(read_image(at("srgb.png")).texels, texels));
}

TEST_F(ImageTest, ReadingMissingFilesAndFoldersIsRefusedAndNamed) {
    test::expect_error([&] { (void)read_image(at("nowhere.png")); }, ErrorCode::io, "texton::read_image",
                       {"nowhere.png", "does not exist"});
    test::expect_error([&] { (void)read_image(folder_); }, ErrorCode::io, "texton::read_image",
                       {folder_.filename().string(), "is a folder"});
}

TEST_F(ImageTest, ReadingNonImageFilesIsRefusedAndNamed) {
    for (const std::string content : {"", "no image\n"}) {
        for (const std::string name : {"empty.png", "empty.exr", "empty.tif", "empty.jpg", "empty"}) {
            std::ofstream(at(name)) << content;
            test::expect_error([&] { (void)read_image(at(name)); }, ErrorCode::io, "texton::read_image", {name});
        }
    }
}

TEST_F(ImageTest, TruncatedFilesAreRefusedAndNamed) {
    const Image card = read_image(kAssets / "card.png");
    write_image(at("card.tif"), card.format, card.extent, card.texels);
    for (const fs::path& path : {kAssets / "card.png", kAssets / "sky.exr", at("card.tif")}) {
        const auto size = static_cast<std::size_t>(fs::file_size(path));
        for (const std::size_t bytes : {std::size_t{4}, std::size_t{30}, size / 2, size - size / 8}) {
            const fs::path part = cut(path, bytes);
            SCOPED_TRACE(part.string() + ", " + std::to_string(bytes) + " bytes");
            test::expect_error([&] { (void)read_image(part); }, ErrorCode::io, "texton::read_image",
                               {part.filename().string()});
        }
    }
}

TEST_F(ImageTest, WritingToUnknownFileTypesAndMissingFoldersIsRefusedAndNamed) {
    const Bytes texels(4);
    const auto write = [&](const fs::path& path) { write_image(path, Format::rgba8_unorm, {1}, texels); };
    test::expect_error([&] { write(at("picture.nokind")); }, ErrorCode::io, "texton::write_image", {"picture.nokind"});
    test::expect_error([&] { write(at("image")); }, ErrorCode::io, "texton::write_image", {"image"});
    test::expect_error([&] { write(at("nofolder/a.png")); }, ErrorCode::io, "texton::write_image", {"nofolder/a.png"});
    EXPECT_EQ(files(), 0);
}

TEST_F(ImageTest, UnsupportedFormatsAreRefusedAndTheOldFileStays) {
    const Extent extent{4, 4};
    const Bytes old = test::pattern(packed_bytes(Format::rgba8_unorm, extent), 1);
    write_image(at("old.png"), Format::rgba8_unorm, extent, old);
    const Bytes floats(packed_bytes(Format::rgba32_float, extent));
    test::expect_error([&] { write_image(at("old.png"), Format::rgba32_float, extent, floats); }, ErrorCode::io,
                       "texton::write_image", {"old.png", "rgba32_float"});
    EXPECT_TRUE(test::same_bytes(read_image(at("old.png")).texels, old));
    test::expect_error([&] { write_image(at("new.jpg"), Format::rgba8_unorm, extent, old); }, ErrorCode::io,
                       "texton::write_image", {"new.jpg", "rgba8_unorm"});
    test::expect_error(
        [&] {
            write_image(at("new.png"), Format::r8_unorm, {2, 2, 4}, std::span(old).first(16));
        },
        ErrorCode::io, "texton::write_image", {"new.png", "volume"});
    EXPECT_EQ(files(), 1);
}

TEST_F(ImageTest, ARefusalNamesAKindOfFileThatHoldsTheFormat) {
    constexpr Extent kExtent{4, 4, 1};
    int refusals = 0;
    for (const FormatInfo& row : formats()) {
        if (row.oiio.empty()) continue;
        const Bytes texels(packed_bytes(row.format, kExtent));
        for (const char* ending :
             {".jpg", ".png", ".hdr", ".tif", ".exr", ".dpx", ".bmp", ".tga", ".sgi", ".webp", ".ppm"}) {
            SCOPED_TRACE(std::string(row.name) + " in " + ending);
            try {
                write_image(at(std::string("image") + ending), row.format, kExtent, texels);
            } catch (const Error& error) {
                if (!error.remedy().starts_with("Use ")) continue;  // OpenImageIO has refused to open the file
                ++refusals;
                const std::string kind = error.remedy().substr(4, 4);
                EXPECT_NO_THROW(write_image(at("other" + kind), row.format, kExtent, texels)) << error.what();
            }
        }
    }
    EXPECT_GT(refusals, 30);
}

TEST_F(ImageTest, InvalidArgumentsAreRefusedAndNamed) {
    const Bytes texels(64);
    const auto refused = [&](Format format, Extent extent, std::string_view fragment) {
        test::expect_error([&] { write_image(at("a.tif"), format, extent, texels); }, ErrorCode::bad_argument,
                           "texton::write_image", {fragment});
    };
    refused(Format::rgba8_unorm, {4, 3}, "64 bytes do not match 4 x 3 texels of rgba8_unorm");
    refused(Format::rgba8_unorm, {0, 4}, "0 x 4");
    refused(Format::rgba8_unorm, {std::size_t{1} << 40, 1}, "rgba8_unorm");
    refused(Format::bc1_unorm, {16, 8}, "bc1_unorm");
    refused(Format::nv12, {8, 4}, "nv12");
    refused(Format::rgb10a2_unorm, {4, 4}, "rgb10a2_unorm");
    EXPECT_EQ(files(), 0);
}

}  // namespace
}  // namespace texton

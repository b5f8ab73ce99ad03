// JPEG files that are decoded at a part of their size. Built only with libjpeg.
#include "arrays/files/reduced_jpeg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <set>

#include <jpeglib.h>

#include <texton/image.h>

#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"

namespace texton {
namespace {

namespace fs = std::filesystem;
using test::Bytes;
using test::read_part;
using test::same_bytes;

ImageFile open_reduced(const fs::path& path, const ImageOptions& options, Extent target) {
    return detail::open_reduced(path, options, target).image;
}

using Settings = std::function<void(jpeg_compress_struct&)>;

void no_settings(jpeg_compress_struct&) {}
void set_arithmetic(jpeg_compress_struct& info) { info.arith_code = TRUE; }
void set_progressive(jpeg_compress_struct& info) { jpeg_simple_progression(&info); }
void set_rgb(jpeg_compress_struct& info) { jpeg_set_colorspace(&info, JCS_RGB); }

// Writes a smooth image, whose channels have 64 to 192.
fs::path write_jpeg(const fs::path& path, Extent extent, J_COLOR_SPACE space = JCS_RGB,
                    const Settings& settings = no_settings, const Bytes& exif = {}) {
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    jpeg_error_mgr errors;
    jpeg_compress_struct info;
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    jpeg_stdio_dest(&info, file);
    info.image_width = static_cast<JDIMENSION>(extent.width);
    info.image_height = static_cast<JDIMENSION>(extent.height);
    info.input_components = space == JCS_GRAYSCALE ? 1 : space == JCS_CMYK ? 4 : 3;
    info.in_color_space = space;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, 95, TRUE);
    settings(info);
    jpeg_start_compress(&info, TRUE);
    if (!exif.empty())
        jpeg_write_marker(&info, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(exif.data()),
                          static_cast<unsigned>(exif.size()));
    const auto channels = static_cast<std::size_t>(info.input_components);
    std::vector<JSAMPLE> row(extent.width * channels);
    for (std::size_t y = 0; y < extent.height; ++y) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            const double x = static_cast<double>(i / channels) / static_cast<double>(extent.width);
            const double phase = 4 * x + 3 * static_cast<double>(y) / static_cast<double>(extent.height);
            row[i] = static_cast<JSAMPLE>(128 + 64 * std::sin(phase + static_cast<double>(i % channels)));
        }
        JSAMPROW start = row.data();
        jpeg_write_scanlines(&info, &start, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    std::fclose(file);
    return path;
}

// Returns the segment of Exif data that contains nothing but an orientation.
Bytes exif_orientation(unsigned orientation) {
    Bytes bytes;
    for (const unsigned byte :
         {0x45U, 0x78U, 0x69U, 0x66U, 0U, 0U, 0x49U, 0x49U, 0x2aU,       0U, 8U, 0U, 0U, 0U, 1U, 0U,
          0x12U, 0x01U, 3U,    0U,    1U, 0U, 0U,    0U,    orientation, 0U, 0U, 0U, 0U, 0U, 0U, 0U})
        bytes.push_back(static_cast<std::byte>(byte));
    return bytes;
}

class ReducedJpegTest : public testing::Test {
protected:
    fs::path at(const std::string& name) const { return folder_.at(name); }

    test::ImageFolder folder_;
};

// Compares texels with the means of squares of the image that is decoded in full.
void expect_means(const fs::path& path, std::size_t divisor, int tolerance) {
    const ImageFile full = open_image(path);
    const Extent extent = full.info().extent;
    const ImageFile reduced = open_reduced(path, {}, {extent.width / divisor / 2, extent.height / divisor / 2});
    const Extent small{(extent.width + divisor - 1) / divisor, (extent.height + divisor - 1) / divisor, 1};
    ASSERT_EQ(reduced.info().extent, small) << path;
    ASSERT_EQ(reduced.info().format, full.info().format) << path;
    const Bytes texels = read_part(full), means = read_part(reduced);
    const std::size_t channels = info(full.info().format).bytes;
    int largest = 0;
    for (std::size_t i = 0; i < means.size(); ++i) {
        const std::size_t x = i / channels % small.width * divisor, y = i / channels / small.width * divisor;
        int sum = 0, count = 0;
        for (std::size_t v = y; v < std::min(y + divisor, extent.height); ++v) {
            for (std::size_t u = x; u < std::min(x + divisor, extent.width); ++u, ++count)
                sum += std::to_integer<int>(texels[(v * extent.width + u) * channels + i % channels]);
        }
        largest = std::max(largest, std::abs(std::to_integer<int>(means[i]) - (sum + count / 2) / count));
    }
    EXPECT_LE(largest, tolerance) << path << ", 1/" << divisor;
}

TEST_F(ReducedJpegTest, TheSmallestSizeThatIsTwiceTheTargetIsDecoded) {
    const fs::path path = write_jpeg(at("a.jpg"), {640, 480});
    const auto size = [&](std::size_t width, std::size_t height) {
        const Extent extent = open_reduced(path, {}, {width, height}).info().extent;
        return std::pair(extent.width, extent.height);
    };
    EXPECT_EQ(size(640, 480), std::pair(640UL, 480UL));
    EXPECT_EQ(size(161, 120), std::pair(640UL, 480UL));
    EXPECT_EQ(size(160, 121), std::pair(640UL, 480UL));
    EXPECT_EQ(size(160, 120), std::pair(320UL, 240UL));
    EXPECT_EQ(size(81, 60), std::pair(320UL, 240UL));
    EXPECT_EQ(size(80, 60), std::pair(160UL, 120UL));
    EXPECT_EQ(size(40, 30), std::pair(80UL, 60UL));
    EXPECT_EQ(size(1, 1), std::pair(80UL, 60UL));
}

// Images end inside a block, and chroma is stored at half the size unless set_rgb() prevents that.
TEST_F(ReducedJpegTest, TexelsOfASmoothImageAreTheMeansWithinThreeCodes) {
    for (const std::size_t divisor : {2U, 4U, 8U}) {
        expect_means(write_jpeg(at("rgb.jpg"), {645, 483}), divisor, 3);
        expect_means(write_jpeg(at("gray.jpg"), {645, 483}, JCS_GRAYSCALE), divisor, 3);
        expect_means(write_jpeg(at("stored_rgb.jpg"), {645, 483}, JCS_RGB, set_rgb), divisor, 3);
        expect_means(write_jpeg(at("arithmetic.jpg"), {645, 483}, JCS_RGB, set_arithmetic), divisor, 3);
    }
}

TEST_F(ReducedJpegTest, PartsAreReadInAnyOrder) {
    const ImageFile image = open_reduced(write_jpeg(at("a.jpg"), {400, 320}), {}, {100, 80});
    const Bytes all = read_part(image);
    const std::size_t row = image.info().extent.width * 4;
    EXPECT_TRUE(image.access().in_order);
    for (const std::size_t y : {150UL, 20UL, 21UL, 90UL, 0UL}) {
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(y * row);
        EXPECT_TRUE(same_bytes(read_part(image, {.region = Region{{0, y, 0}, {200, 10, 1}}}),
                               Bytes(begin, begin + static_cast<std::ptrdiff_t>(10 * row))));
        const Bytes part = read_part(image, {.region = Region{{33, y, 0}, {50, 1, 1}}});
        EXPECT_TRUE(same_bytes(part, Bytes(begin + 33 * 4, begin + 83 * 4)));
    }
}

TEST_F(ReducedJpegTest, TheTargetIsThatOfTheUprightImage) {
    const fs::path path = write_jpeg(at("a.jpg"), {400, 160}, JCS_RGB, no_settings, exif_orientation(6));
    const ImageFile upright = open_image(path), reduced = open_reduced(path, {}, {40, 100});
    EXPECT_EQ(upright.info().extent, (Extent{160, 400}));
    EXPECT_EQ(reduced.info().extent, (Extent{80, 200}));
    EXPECT_EQ(open_reduced(path, {}, {100, 40}).info().extent, (Extent{160, 400}));
    const Bytes all = read_part(upright), small = read_part(reduced);
    for (const std::size_t x : {0UL, 79UL}) {
        for (const std::size_t y : {0UL, 199UL}) {
            const int full = std::to_integer<int>(all[(2 * y * 160 + 2 * x) * 4]);
            EXPECT_NEAR(std::to_integer<int>(small[(y * 80 + x) * 4]), full, 4) << x << ", " << y;
        }
    }
}

TEST_F(ReducedJpegTest, AnImageThatEndsInsideATexelHasARegion) {
    const auto region = [&](Extent extent, unsigned orientation) {
        const fs::path path = write_jpeg(at("a.jpg"), extent, JCS_RGB, no_settings, exif_orientation(orientation));
        return detail::open_reduced(path, {}, {30, 30}).region;
    };
    EXPECT_FALSE(region({324, 244}, 1));
    EXPECT_EQ(region({323, 244}, 1), (std::vector<double>{0, 0, 80.75, 61}));
    EXPECT_EQ(region({323, 241}, 1), (std::vector<double>{0, 0, 80.75, 60.25}));
    EXPECT_EQ(region({323, 241}, 3), (std::vector<double>{0.25, 0.75, 80.75, 60.25}));
    EXPECT_EQ(region({323, 241}, 6), (std::vector<double>{0.75, 0, 60.25, 80.75}));
    EXPECT_EQ(region({323, 241}, 8), (std::vector<double>{0, 0.25, 60.25, 80.75}));
}

TEST_F(ReducedJpegTest, MetadataAreThoseOfTheFile) {
    const fs::path path = write_jpeg(at("a.jpg"), {400, 160}, JCS_RGB, no_settings, exif_orientation(3));
    const ImageMetadata full = open_image(path).metadata(), reduced = open_reduced(path, {}, {100, 40}).metadata();
    EXPECT_EQ(reduced.file_kind, "jpeg");
    EXPECT_EQ(reduced.orientation, 3);
    EXPECT_EQ(reduced.color_space, full.color_space);
    EXPECT_EQ(reduced.channels, full.channels);
    EXPECT_EQ(reduced.attributes, full.attributes);
    EXPECT_EQ(reduced.data, (ImageFrame{0, 0, 200, 80}));
    EXPECT_EQ(reduced.display, reduced.data);
    EXPECT_EQ(test::sentence_with(open_reduced(path, {}, {100, 40}).conversions(), "1/2"),
              "The image of 400 x 160 texels is decoded at 1/2 of its size.");
}

TEST_F(ReducedJpegTest, OtherKindsOfFileAreReadInFull) {
    const Extent extent{256, 192};
    write_image(at("a.png"), Format::rgba8_unorm, extent, test::pattern(extent.width * extent.height * 4, 1));
    for (const fs::path& path : {at("a.png"), write_jpeg(at("progressive.jpg"), extent, JCS_RGB, set_progressive),
                                 write_jpeg(at("cmyk.jpg"), extent, JCS_CMYK)}) {
        const ImageFile full = open_image(path), reduced = open_reduced(path, {}, {16, 12});
        EXPECT_EQ(reduced.info(), full.info()) << path;
        EXPECT_EQ(reduced.conversions(), full.conversions()) << path;
        EXPECT_TRUE(same_bytes(read_part(reduced), read_part(full))) << path;
    }
}

TEST_F(ReducedJpegTest, SelectedChannelsAreReadInFull) {
    const fs::path path = write_jpeg(at("a.jpg"), {256, 192});
    const ImageOptions green{.channels = {"G"}};
    EXPECT_TRUE(same_bytes(read_part(open_reduced(path, green, {16, 12})), read_part(open_image(path, green))));
}

TEST_F(ReducedJpegTest, DamagedFilesHaveTheErrorsOfFullDecoding) {
    const Bytes whole = test::file_bytes(write_jpeg(at("a.jpg"), {256, 192}));
    // Texels are missing.
    const fs::path cut = test::write_bytes(at("cut.jpg"), std::span(whole).first(whole.size() / 2));
    for (const ImageFile& image : {open_image(cut), open_reduced(cut, {}, {16, 12})}) {
        test::expect_error([&] { (void)read_part(image); }, ErrorCode::io, "texton::ImageFile",
                           {"cut.jpg", "cannot be read completely", "Premature end of JPEG file"});
    }
    // The bits of the texels are damaged, here by a marker.
    Bytes damaged = whole;
    damaged[whole.size() / 2] = std::byte{0xff};
    damaged[whole.size() / 2 + 1] = std::byte{0xd3};
    const ImageFile image = open_reduced(test::write_bytes(at("damaged.jpg"), damaged), {}, {16, 12});
    for (int attempt = 0; attempt < 2; ++attempt) {
        test::expect_error([&] { (void)read_part(image); }, ErrorCode::io, "texton::ImageFile",
                           {"damaged.jpg", "cannot be read completely"});
    }
    // A header without anything, a frame of 12 bits, and no header.
    Bytes deep = whole;
    const std::array marker{std::byte{0xff}, std::byte{0xc0}};
    *(std::search(deep.begin(), deep.end(), marker.begin(), marker.end()) + 4) = std::byte{12};
    for (const Bytes& bytes :
         {Bytes(whole.begin(), whole.begin() + 30), deep, Bytes(whole.begin() + 30, whole.end())}) {
        const fs::path path = test::write_bytes(at("header.jpg"), bytes);
        std::string expected;
        try {
            (void)open_image(path);
        } catch (const Error& error) {
            expected = error.what();
        }
        test::expect_error(
            [&] {
                (void)open_reduced(path, {}, {16, 12});
            },
            ErrorCode::io, "texton::open_image", {expected});
        EXPECT_NE(expected, "");
    }
}

TEST_F(ReducedJpegTest, AFileThatChangesAfterItWasOpenedIsNotRead) {
    const fs::path path = write_jpeg(at("a.jpg"), {256, 192});
    const ImageFile image = open_reduced(path, {}, {16, 12});
    write_jpeg(path, {256, 200});
    test::expect_error([&] { (void)read_part(image); }, ErrorCode::io, "texton::ImageFile",
                       {"a.jpg", "has changed since it was opened"});
}

// Every byte of the header and of the first texels is replaced. A sanitizer sees what libjpeg does with them.
TEST_F(ReducedJpegTest, NoDamagedByteEndsTheProcess) {
    const Bytes whole = test::file_bytes(write_jpeg(at("a.jpg"), {64, 48}));
    std::set<std::string> ends;
    for (std::size_t at_byte = 0; at_byte < whole.size(); ++at_byte) {
        Bytes damaged = whole;
        damaged[at_byte] ^= std::byte{0xff};
        const fs::path path = test::write_bytes(at("damaged.jpg"), damaged);
        try {
            const ImageFile image = open_reduced(path, {}, {8, 6});
            if (image.info().extent.width <= 1024 && image.info().extent.height <= 1024) (void)read_part(image);
            ends.insert("read");
        } catch (const Error& error) {
            ends.insert(std::string(name(error.code())));
        }
    }
    EXPECT_EQ(ends, (std::set<std::string>{"io", "read"}));
}

}  // namespace
}  // namespace texton

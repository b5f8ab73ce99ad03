#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <numbers>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <texton/error.h>
#include <texton/image_file.h>
#include <texton/image_save.h>

#include "arrays/files/convert.h"
#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"

// Reads the same six faces from images of every layout, and faces from panoramas.

// Defined only in programs with a sanitizer.
extern "C" __attribute__((weak)) void __asan_init();
extern "C" __attribute__((weak)) void __tsan_init();

namespace texton {
namespace {

namespace fs = std::filesystem;
using OIIO::TypeDesc;
using test::Bytes;
using test::read_part;
using test::same_bytes;
using test::StoredImage;

class ImageCubeTest : public testing::Test {
protected:
    fs::path at(const std::string& name) const { return folder_.at(name); }
    test::ImageFolder folder_;
};

constexpr std::size_t kSide = 4;
using Texels = std::vector<std::uint16_t>;

// The value of a texel encodes its face, row and column.
std::uint16_t texel(std::size_t face, std::size_t row, std::size_t column) {
    return static_cast<std::uint16_t>((face + 1) * 256 + row * 16 + column);
}

Texels cube() {
    Texels texels;
    for (std::size_t face = 0; face < 6; ++face) {
        for (std::size_t row = 0; row < kSide; ++row) {
            for (std::size_t column = 0; column < kSide; ++column) texels.push_back(texel(face, row, column));
        }
    }
    return texels;
}

Texels values(const Bytes& bytes) {
    Texels out(bytes.size() / 2);
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
}

// Returns an image of a layout given as rows of letters: one face per letter, lower case rotated by 180 degrees, dots
// empty.
Texels drawn(const std::vector<std::string>& rows) {
    const std::string names = "ABCDEF", turned = "abcdef";
    Texels texels;
    for (const std::string& row : rows) {
        for (std::size_t y = 0; y < kSide; ++y) {
            for (const char cell : row) {
                for (std::size_t x = 0; x < kSide; ++x) {
                    const std::size_t upright = names.find(cell), other = turned.find(cell);
                    if (upright != std::string::npos) {
                        texels.push_back(texel(upright, y, x));
                    } else if (other != std::string::npos) {
                        texels.push_back(texel(other, kSide - 1 - y, kSide - 1 - x));
                    } else {
                        texels.push_back(0);
                    }
                }
            }
        }
    }
    return texels;
}

StoredImage stored(std::size_t width, std::size_t height, const Texels& texels) {
    StoredImage image = test::stored_image(static_cast<int>(width), static_cast<int>(height), 1, TypeDesc::UINT16, 0);
    std::memcpy(image.levels[0].data(), texels.data(), texels.size() * 2);
    return image;
}

struct Layout {
    CubeLayout layout;
    std::vector<std::string> rows;
};
const Layout kLayouts[] = {
    {CubeLayout::vertical_strip, {"A", "B", "C", "D", "E", "F"}},
    {CubeLayout::horizontal_strip, {"ABCDEF"}},
    {CubeLayout::horizontal_cross, {".C..", "BEAF", ".D.."}},
    {CubeLayout::vertical_cross, {".C.", "BEA", ".D.", ".f."}},
};

TEST_F(ImageCubeTest, EveryCubeLayoutIsDetectedBySizeAndGivesTheSameFaces) {
    for (const auto& [layout, rows] : kLayouts) {
        SCOPED_TRACE(rows[0]);
        const Texels image = drawn(rows);
        const fs::path path = test::store(at("a.tif"), {stored(rows[0].size() * kSide, rows.size() * kSide, image)});
        for (const ImageOptions& options : {ImageOptions{.kind = ArrayKind::cubemap}, ImageOptions{.cube = layout}}) {
            const ImageFile faces = open_image(path, options);
            EXPECT_EQ(faces.info(),
                      (ArrayInfo{.format = Format::r16_unorm, .extent = {kSide, kSide}, .kind = ArrayKind::cubemap}));
            EXPECT_EQ(values(read_part(faces)), cube());
            const Texels all = cube();
            EXPECT_EQ(values(read_part(faces, {.face = 5})), Texels(all.end() - kSide * kSide, all.end()));
            EXPECT_NE(test::sentence_with(faces.conversions(), "six faces"), "");
        }
    }
}

TEST_F(ImageCubeTest, SixFilesOrPartsBecomeFaces) {
    std::vector<fs::path> paths;
    std::vector<StoredImage> parts;
    for (std::size_t face = 0; face < 6; ++face) {
        const Texels all = cube();
        const auto first = all.begin() + static_cast<std::ptrdiff_t>(face * kSide * kSide);
        parts.push_back(stored(kSide, kSide, Texels(first, first + kSide * kSide)));
        paths.push_back(test::store(at("face" + std::to_string(face) + ".tif"), {parts.back()}));
    }
    EXPECT_EQ(values(read_part(open_image(paths, {.kind = ArrayKind::cubemap}))), cube());
    EXPECT_EQ(values(read_part(open_image(test::store(at("parts.tif"), parts), {.kind = ArrayKind::cubemap}))), cube());
    test::expect_error([&] { (void)open_image(std::span(paths).first(5), {.kind = ArrayKind::cubemap}); },
                       ErrorCode::unsupported, "texton::open_image", {"face0.tif", "5 faces"});

    const std::vector<fs::path> first = paths;
    paths.insert(paths.end(), first.begin(), first.end());
    const ImageFile layered = open_image(paths, {.kind = ArrayKind::cubemap_layered});
    EXPECT_EQ(layered.info().layers, 2u);
    EXPECT_EQ(values(read_part(layered, {.layer = 1})), cube());
    const Texels all = cube();
    EXPECT_EQ(values(read_part(layered, {.layer = 1, .face = 2})),
              Texels(all.begin() + 2 * kSide * kSide, all.begin() + 3 * kSide * kSide));
}

TEST_F(ImageCubeTest, SeveralCubeImagesBecomeLayers) {
    const auto& rows = kLayouts[2].rows;
    const fs::path path = test::store(at("a.tif"), {stored(rows[0].size() * kSide, rows.size() * kSide, drawn(rows))});
    const std::vector<fs::path> paths{path, path, path};
    const ImageFile cubes = open_image(paths, {.kind = ArrayKind::cubemap_layered});
    EXPECT_EQ(cubes.info().layers, 3u);
    EXPECT_EQ(values(read_part(cubes, {.layer = 2})), cube());
}

TEST_F(ImageCubeTest, SizesThatMatchNoCubeLayoutAreRefusedAndNamed) {
    const fs::path path = test::store(at("a.tif"), {stored(7, 5, Texels(35))});
    test::expect_error([&] { (void)open_image(path, {.kind = ArrayKind::cubemap}); }, ErrorCode::unsupported,
                       "texton::open_image", {"a.tif", "7 x 5"});
    test::expect_error([&] { (void)open_image(path, {.cube = CubeLayout::vertical_cross}); }, ErrorCode::unsupported,
                       "texton::open_image", {"a.tif", "vertical_cross"});
}

TEST_F(ImageCubeTest, AnErrorAboutOneOfSeveralFilesNamesThatFile) {
    const Texels zeros(2 * kSide * kSide);
    const auto store = [&](const fs::path& path, Format format, Extent extent) {
        save(path, host_view(zeros.data(), format, extent));
    };
    std::vector<fs::path> paths;
    for (int file = 0; file < 6; ++file) {
        paths.push_back(at("file" + std::to_string(file) + ".dds"));
        store(paths.back(), Format::r16_unorm, {kSide, kSide});
    }
    const std::vector<ImageOptions> cubes{{.kind = ArrayKind::cubemap}, {.kind = ArrayKind::cubemap_layered}};
    const std::vector<ImageOptions> all{cubes[0], cubes[1], {}, {.kind = ArrayKind::array_3d}};
    for (const ImageOptions& options : all) ASSERT_NO_THROW((void)open_image(paths, options));

    const auto expect_named = [&](const std::vector<ImageOptions>& requests, ErrorCode code, std::string_view why) {
        for (const ImageOptions& options : requests) {
            const Error error = test::expect_error([&] { (void)open_image(paths, options); }, code,
                                                   "texton::open_image", {"file2.dds", why});
            EXPECT_TRUE(error.problem().starts_with(paths[2].string())) << error.what();
        }
    };
    store(paths[2], Format::r16_unorm, {kSide, kSide + 1});
    expect_named(all, ErrorCode::io, "has 4 x 5 texels");
    store(paths[2], Format::r8_unorm, {kSide, kSide});
    expect_named(all, ErrorCode::io, "texels of r8_unorm");
    fs::resize_file(paths[2], 100);
    expect_named(all, ErrorCode::io, "the header ends after 100 bytes");
    fs::remove(paths[2]);
    expect_named(all, ErrorCode::io, "does not exist");
    store(paths[2], Format::r16_unorm, {kSide, kSide, 2});
    expect_named(cubes, ErrorCode::unsupported, "has 2 faces");
}

TEST_F(ImageCubeTest, LevelsOfACubeImageBecomeCubemapLevels) {
    StoredImage image = test::stored_image(8, 48, 1, TypeDesc::UINT16, 0);
    image.spec.tile_width = image.spec.tile_height = 16;
    image.spec.attribute("textureformat", "Plain Texture");
    for (int side = 4; side >= 1; side /= 2)
        image.levels.push_back(test::pattern(static_cast<std::size_t>(side * side * 12), 5));
    const ImageFile faces = open_image(test::store(at("a.tif"), {image}), {.kind = ArrayKind::cubemap});
    EXPECT_EQ(faces.info().levels, 4);
    for (int level = 0; level < 4; ++level) {
        EXPECT_TRUE(same_bytes(read_part(faces, {.level = level}), image.levels[static_cast<std::size_t>(level)]));
    }
}

TEST_F(ImageCubeTest, CubesSavedInEachLayoutRoundTrip) {
    const Texels faces = cube();
    const Array array(Device::cpu(),
                      {.format = Format::r16_unorm, .extent = {kSide, kSide}, .kind = ArrayKind::cubemap});
    test::upload(array.view(), std::as_bytes(std::span(faces)));
    for (const auto& [layout, rows] : kLayouts) {
        save(at("a.tif"), array, {.cube = layout});
        EXPECT_EQ(values(read_part(open_image(at("a.tif")))), drawn(rows));
    }
    save(at("parts.tif"), array, {.cube = CubeLayout::faces});
    EXPECT_EQ(values(read_part(open_image(at("parts.tif"), {.kind = ArrayKind::cubemap}))), faces);
    save(at("a.dds"), array);
    EXPECT_EQ(values(read_part(open_image(at("a.dds")))), faces);
}

// ImfEnvmap.h shows the strip with the corners of the cube numbered x + 2 * y + 4 * (1 - z), where x, y and z are 0 or
// 1.
TEST_F(ImageCubeTest, OpenExrCubesAreDetectedByTheirHeaderAndMirrored) {
    constexpr int kCorners[6][4] = {{3, 7, 1, 5}, {6, 2, 4, 0}, {6, 7, 2, 3}, {0, 1, 4, 5}, {7, 6, 5, 4}, {2, 3, 0, 1}};
    StoredImage strip = test::stored_image(2, 12, 1, TypeDesc::FLOAT, 0);
    std::vector<float> corners;
    for (const auto& face : kCorners) {
        for (const int corner : face) corners.push_back(static_cast<float>(corner));
    }
    std::memcpy(strip.levels[0].data(), corners.data(), corners.size() * 4);
    strip.spec.attribute("textureformat", "CubeFace Environment");
    const fs::path path = test::store(at("a.exr"), {strip});
    EXPECT_EQ(open_image(path).info().kind, ArrayKind::array_2d);
    const ImageFile faces = open_image(path, {.kind = ArrayKind::cubemap});
    const Bytes bytes = read_part(faces);
    std::vector<float> read(24);
    std::memcpy(read.data(), bytes.data(), bytes.size());
    for (std::size_t face = 0; face < 6; ++face) {
        for (std::size_t row = 0; row < 2; ++row) {
            for (std::size_t column = 0; column < 2; ++column) {
                const double s = column == 0 ? -0.5 : 0.5, t = row == 0 ? -0.5 : 0.5;
                const double directions[6][3] = {{1, -t, -s}, {-1, -t, s}, {s, 1, t},
                                                 {s, -1, -t}, {s, -t, 1},  {-s, -t, -1}};
                const auto& d = directions[face];
                const int corner = (d[0] > 0 ? 1 : 0) + (d[1] > 0 ? 2 : 0) + (d[2] > 0 ? 4 : 0);
                EXPECT_EQ(read[face * 4 + row * 2 + column], static_cast<float>(corner))
                    << face << " " << row << " " << column;
            }
        }
    }
    const Array array(Device::cpu(), faces.info());
    test::upload(array.view(), bytes);
    save(at("b.exr"), array, {.cube = CubeLayout::openexr_cube});
    EXPECT_TRUE(same_bytes(read_part(open_image(at("b.exr"))), strip.levels[0]));
    EXPECT_TRUE(same_bytes(read_part(open_image(at("b.exr"), {.kind = ArrayKind::cubemap})), bytes));
}

// --- panoramas -------------------------------------------------------------------------------------------------------

// Reference implementation of the conversion that the header specifies: a bilinear blend for each texel.
std::vector<float> around(const std::vector<float>& image, std::size_t width, std::size_t height, std::size_t side,
                          bool openexr) {
    std::vector<float> out;
    const auto fetch = [&](long column, long row) {
        const long w = static_cast<long>(width);
        const long y = std::min(std::max(row, 0L), static_cast<long>(height) - 1);
        return static_cast<double>(image[static_cast<std::size_t>(y * w + (column % w + w) % w)]);
    };
    for (std::size_t face = 0; face < 6; ++face) {
        for (std::size_t j = 0; j < side; ++j) {
            for (std::size_t i = 0; i < side; ++i) {
                const double n = static_cast<double>(side);
                const double s = 2 * (static_cast<double>(i) + 0.5) / n - 1,
                             t = 2 * (static_cast<double>(j) + 0.5) / n - 1;
                const double directions[6][3] = {{1, -t, -s}, {-1, -t, s}, {s, 1, t},
                                                 {s, -1, -t}, {s, -t, 1},  {-s, -t, -1}};
                const auto& [x, y, z] = directions[face];
                const double pi = std::numbers::pi;
                const double turn = std::atan2(x, z) / (2 * pi);
                const double down = std::acos(y / std::sqrt(x * x + y * y + z * z)) / pi;
                const double w = static_cast<double>(width), h = static_cast<double>(height);
                const double u = openexr ? (0.5 - turn) * (w - 1) : (0.5 + turn) * w - 0.5;
                const double v = openexr ? down * (h - 1) : down * h - 0.5;
                const long left = std::lround(std::floor(u)), top = std::lround(std::floor(v));
                const double a = u - std::floor(u), b = v - std::floor(v);
                const double sum = (1 - b) * (1 - a) * fetch(left, top) + (1 - b) * a * fetch(left + 1, top) +
                                   b * (1 - a) * fetch(left, top + 1) + b * a * fetch(left + 1, top + 1);
                out.push_back(static_cast<float>(sum));
            }
        }
    }
    return out;
}

TEST_F(ImageCubeTest, EquirectangularImagesAreInterpolatedAsTheHeaderSpecifies) {
    constexpr std::size_t kWidth = 32, kHeight = 16;
    StoredImage image = test::stored_image(kWidth, kHeight, 1, TypeDesc::FLOAT, 0);
    std::vector<float> texels(kWidth * kHeight);
    for (std::size_t at = 0; at < texels.size(); ++at) texels[at] = static_cast<float>(at * at % 977) / 8.0f;
    std::memcpy(image.levels[0].data(), texels.data(), texels.size() * 4);
    const fs::path path = test::store(at("a.exr"), {image});
    for (const bool openexr : {false, true}) {
        ImageOptions options{.kind = ArrayKind::cubemap};
        if (openexr) options.cube = CubeLayout::openexr_latlong;
        for (const std::size_t side : {0u, 5u}) {
            options.cube_side = side;
            const ImageFile faces = open_image(path, options);
            EXPECT_EQ(faces.info().extent.width, side == 0 ? 8 : side);
            const Bytes bytes = read_part(faces);
            std::vector<float> read(bytes.size() / 4);
            std::memcpy(read.data(), bytes.data(), bytes.size());
            EXPECT_EQ(read, around(texels, kWidth, kHeight, faces.info().extent.width, openexr));
            EXPECT_NE(test::sentence_with(faces.conversions(), "resampled"), "");
        }
    }
}

// A panorama of half floats that says it can be read completely by reading its last row. The value of a texel is its
// column modulo kPeriod, which a half float holds.
class LastRow : public detail::ImageSource {
public:
    static constexpr std::size_t kPeriod = 2001;
    explicit LastRow(Extent extent) : ImageSource(Format::r16_float, false, {extent}), halves_(kPeriod) {
        std::vector<float> values(halves_.size());
        for (std::size_t at = 0; at < values.size(); ++at) values[at] = static_cast<float>(at);
        OIIO::convert_pixel_values(TypeDesc::FLOAT, values.data(), TypeDesc::HALF, halves_.data(), kPeriod);
    }
    void read(int, const Region& box, std::byte* packed) const override {
        for (std::size_t x = 0; x < box.extent.width; ++x) {
            std::memcpy(packed + x * 2, &halves_[(box.offset.x + x) % kPeriod], 2);
        }
    }
    std::vector<Region> boxes(int, std::size_t) const override {
        const Extent all = level(0);
        return {{{0, all.height - 1, 0}, {all.width, 1, 1}}};
    }

private:
    std::vector<std::uint16_t> halves_;
};

// The panorama has more than 2^31 values. Only the addresses of the rows that are not read are reserved.
TEST_F(ImageCubeTest, APanoramaOfMoreThanTwoThousandMillionTexelsIsInterpolated) {
    if (__asan_init != nullptr || __tsan_init != nullptr) GTEST_SKIP() << "a sanitizer needs memory for addresses";
    constexpr std::size_t kWidth = std::size_t{1} << 22, kHeight = 514;
    const auto faces = detail::faces_around(std::make_shared<LastRow>(Extent{kWidth, kHeight}),
                                            CubeLayout::equirectangular, 3, "panorama");
    Bytes half(2);
    try {
        faces->read(0, {{1, 1, 3}, {1, 1, 1}}, half.data());
    } catch (const std::bad_alloc&) {
        GTEST_SKIP() << "the system does not reserve 8 GiB of addresses";
    }
    float value = 0;
    OIIO::convert_pixel_values(TypeDesc::HALF, half.data(), TypeDesc::FLOAT, &value, 1);
    // The center of face 3 lies between the last and the first column of the last row.
    EXPECT_EQ(value, static_cast<float>((kWidth - 1) % LastRow::kPeriod) / 2);
}

TEST_F(ImageCubeTest, TheCenterOfAnEquirectangularImageIsPositiveZ) {
    StoredImage image = test::stored_image(16, 8, 1, TypeDesc::FLOAT, 0);
    std::vector<float> texels(128);
    for (std::size_t at = 0; at < texels.size(); ++at) {
        const std::size_t column = at % 16, row = at / 16;
        texels[at] = row == 0                      ? 3.0f
                     : row == 7                    ? 4.0f
                     : column >= 10 && column < 14 ? 1.0f
                     : column >= 6 && column < 10  ? 5.0f
                                                   : 0.0f;
    }
    std::memcpy(image.levels[0].data(), texels.data(), texels.size() * 4);
    const ImageFile faces = open_image(test::store(at("a.exr"), {image}), {.kind = ArrayKind::cubemap, .cube_side = 1});
    std::vector<float> read(6);
    const Bytes bytes = read_part(faces);
    std::memcpy(read.data(), bytes.data(), bytes.size());
    EXPECT_EQ(read, (std::vector<float>{1, 0, 3, 4, 5, 0}));
}

TEST_F(ImageCubeTest, SrgbIsInterpolatedInLinearLight) {
    StoredImage image = test::stored_image(2, 1, 1, TypeDesc::UINT8, 0);
    image.levels[0] = Bytes{std::byte{0}, std::byte{255}};
    image.spec.attribute("oiio:ColorSpace", "sRGB");
    const ImageFile faces = open_image(test::store(at("a.png"), {image}), {.kind = ArrayKind::cubemap, .cube_side = 1});
    EXPECT_EQ(faces.info().format, Format::r8_srgb);
    EXPECT_EQ(read_part(faces, {.face = 4}), Bytes{std::byte{188}});  // half of the linear light
}

}  // namespace
}  // namespace texton

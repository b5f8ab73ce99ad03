// Images of assets/: texton-make-assets writes the same images again, and their contents match their names.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include <gmock/gmock.h>

#include <texton/array.h>
#include <texton/copy.h>
#include <texton/image.h>
#include <texton/sample.h>
#include <texton/texture.h>

#include "tests/support/configured_path.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

namespace fs = std::filesystem;
using test::Bytes;

const fs::path kAssets = test::configured_path("TEXTON_TEST_ASSETS", TEXTON_TEST_ASSETS);

Bytes bytes_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file) << path;
    std::vector<char> read{std::istreambuf_iterator<char>(file), {}};
    const auto bytes = std::as_bytes(std::span(read));
    return {bytes.begin(), bytes.end()};
}

Image asset(const std::string& name) { return read_image(kAssets / name); }

/// Returns the bytes after the DX10 header.
Bytes dds_texels(const std::string& name) {
    constexpr std::size_t kHeader = 148;
    const Bytes all = bytes_of(kAssets / name);
    EXPECT_GT(all.size(), kHeader) << name;
    return {all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), kHeader)), all.end()};
}

/// Returns a 32-bit field of the headers, by its index from the start of the file.
std::uint32_t dds_field(const std::string& name, std::size_t index) {
    const Bytes all = bytes_of(kAssets / name);
    std::uint32_t value = 0;
    if (all.size() >= 4 * index + 4) std::memcpy(&value, all.data() + 4 * index, 4);
    return value;
}

std::set<std::string> files_in(const fs::path& folder) {
    std::set<std::string> out;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.is_directory()) continue;  // the pictures of kernels, which KernelPicturesTest compares
        const std::string ending = entry.path().extension().string();
        const bool source = ending == ".cpp" || ending == ".h" || ending == ".md";
        const fs::path name = entry.path().filename();
        const bool is_screenshot = name == "viewer.png" || name == "review.png" || name == "live.png";
        if (!source && !is_screenshot) out.insert(name.string());
    }
    return out;
}

TEST(AssetsTest, GeneratorReproducesAllAssets) {
    const fs::path folder = fs::path(testing::TempDir()) / "texton_assets_made_again";
    fs::remove_all(folder);
    fs::create_directories(folder);
    const std::string maker = test::configured_path("TEXTON_MAKE_ASSETS", TEXTON_MAKE_ASSETS);
    ASSERT_EQ(std::system(("'" + maker + "' '" + folder.string() + "' >/dev/null").c_str()), 0);
    EXPECT_EQ(files_in(folder), files_in(kAssets));
    for (const std::string& name : files_in(folder)) {
        SCOPED_TRACE(name);
        if (name.ends_with(".dds") || name.ends_with(".yuv")) {
            EXPECT_TRUE(test::same_bytes(bytes_of(folder / name), bytes_of(kAssets / name)));
            continue;
        }
        // Another version of zlib may compress the texels to other bytes.
        const Image made = read_image(folder / name), kept = read_image(kAssets / name);
        EXPECT_EQ(made.format, kept.format);
        ASSERT_EQ(made.extent, kept.extent);
        EXPECT_TRUE(test::same_bytes(made.texels, kept.texels));
    }
    fs::remove_all(folder);
}

TEST(AssetsTest, AssetsAreSmallerThanEightMebibytes) {
    std::uintmax_t all = 0;
    for (const auto& entry : fs::recursive_directory_iterator(kAssets)) {
        if (entry.is_regular_file()) all += entry.file_size();
    }
    EXPECT_LT(all, 8U << 20);
}

TEST(AssetsTest, OddImagesHaveTheSizeGivenInTheirFileNames) {
    EXPECT_EQ(asset("odd_1x1.png").extent, (Extent{1, 1}));
    EXPECT_EQ(asset("odd_2x1.png").extent, (Extent{2, 1}));
    EXPECT_EQ(asset("odd_1x3.png").extent, (Extent{1, 3}));
    EXPECT_EQ(asset("odd_3x2.png").extent, (Extent{3, 2}));
    EXPECT_EQ(asset("odd_5x3.png").extent, (Extent{5, 3}));
    EXPECT_EQ(asset("odd_7x5.png").extent, (Extent{7, 5}));
}

TEST(AssetsTest, SpecialFloatImageContainsAllKindsOfSpecialValues) {
    const Image image = asset("nan_and_inf.exr");
    ASSERT_EQ(image.format, Format::r32_float);
    std::vector<float> values(image.extent.width * image.extent.height);
    ASSERT_EQ(values.size() * 4, image.texels.size());
    std::memcpy(values.data(), image.texels.data(), image.texels.size());
    const auto count = [&](auto is) { return std::count_if(values.begin(), values.end(), is); };
    EXPECT_EQ(count([](float v) { return std::isnan(v); }), 4);
    EXPECT_EQ(count([](float v) { return v == INFINITY; }), 4);
    EXPECT_EQ(count([](float v) { return v == -INFINITY; }), 4);
    EXPECT_EQ(count([](float v) { return v == 0 && std::signbit(v); }), 1);
    EXPECT_EQ(count([](float v) { return std::fpclassify(v) == FP_SUBNORMAL; }), 2);
}

TEST(AssetsTest, RampsGoFromZeroToOne) {
    const Image srgb = asset("ramp_srgb.png"), linear = asset("ramp_linear.exr");
    ASSERT_EQ(srgb.extent, (Extent{256, 32}));
    ASSERT_EQ(linear.extent, (Extent{256, 32}));
    ASSERT_EQ(linear.format, Format::rgba32_float);
    for (std::size_t x = 0; x < 256; ++x) {
        EXPECT_EQ(srgb.texels[4 * x], static_cast<std::byte>(x));
        float value = 0;
        std::memcpy(&value, linear.texels.data() + 16 * x, 4);
        EXPECT_EQ(value, static_cast<float>(x) / 255);
    }
}

TEST(AssetsTest, TheSunIsFarBrighterThanTheSky) {
    const Image sky = asset("sky_equirectangular.exr");
    EXPECT_EQ(sky.extent, (Extent{256, 128}));
    ASSERT_EQ(sky.format, Format::rgba16_float);
    std::uint16_t brightest = 0;
    for (std::size_t i = 0; i < sky.texels.size(); i += 8) {
        std::uint16_t red = 0;
        std::memcpy(&red, sky.texels.data() + i, 2);
        brightest = std::max(brightest, red);
    }
    EXPECT_GT(brightest, 0x6400);  // 1024
    EXPECT_LT(brightest, 0x7c00);  // finite
}

TEST(AssetsTest, CubemapContainsTheFacesOfTheFaceImages) {
    const Bytes cube = dds_texels("cube.dds");
    constexpr std::size_t kFace = 4 * (4096 + 1024 + 256 + 64 + 16 + 4 + 1);
    ASSERT_EQ(cube.size(), 6 * kFace);
    std::size_t at = 0;
    for (const char* name :
         {"cube_px.png", "cube_nx.png", "cube_py.png", "cube_ny.png", "cube_pz.png", "cube_nz.png"}) {
        const Image face = asset(name);
        ASSERT_EQ(face.extent, (Extent{64, 64}));
        EXPECT_TRUE(test::same_bytes(std::span(cube).subspan(at, face.texels.size()), face.texels)) << name;
        at += kFace;
    }
}

TEST(AssetsTest, DdsHeadersDescribeTheTexelsThatFollow) {
    struct Row {
        const char* name;
        std::uint32_t width, height, depth, levels, dxgi, dimension, cube, layers;
        std::size_t bytes;
    };
    constexpr std::size_t kBlocks = 256 + 64 + 16 + 4 + 1 + 1 + 1;
    for (const Row& row : {Row{"cube.dds", 64, 64, 1, 7, 28, 3, 4, 1, 6 * 21844},
                           {"layers.dds", 48, 32, 1, 1, 28, 3, 0, 5, 5 * 48 * 32 * 4},
                           {"levels.dds", 128, 64, 1, 8, 28, 3, 0, 1, 4 * (8192 + 2048 + 512 + 128 + 32 + 8 + 2 + 1)},
                           {"phantom.dds", 48, 60, 36, 1, 56, 4, 0, 1, 48 * 60 * 36 * 2},
                           {"bc1.dds", 64, 64, 1, 7, 71, 3, 0, 1, 8 * kBlocks},
                           {"bc2.dds", 64, 64, 1, 7, 74, 3, 0, 1, 16 * kBlocks},
                           {"bc3.dds", 64, 64, 1, 7, 77, 3, 0, 1, 16 * kBlocks},
                           {"bc4.dds", 64, 64, 1, 7, 80, 3, 0, 1, 8 * kBlocks},
                           {"bc5_snorm.dds", 64, 64, 1, 7, 84, 3, 0, 1, 16 * kBlocks},
                           {"bc6h.dds", 64, 64, 1, 7, 95, 3, 0, 1, 16 * kBlocks},
                           {"bc7.dds", 64, 64, 1, 7, 98, 3, 0, 1, 16 * kBlocks}}) {
        SCOPED_TRACE(row.name);
        EXPECT_EQ(dds_field(row.name, 0), 0x20534444U);
        EXPECT_EQ(dds_field(row.name, 21), 0x30315844U);
        EXPECT_EQ(dds_field(row.name, 4), row.width);
        EXPECT_EQ(dds_field(row.name, 3), row.height);
        EXPECT_EQ(dds_field(row.name, 6), row.depth);
        EXPECT_EQ(dds_field(row.name, 7), row.levels);
        EXPECT_EQ(dds_field(row.name, 32), row.dxgi);
        EXPECT_EQ(dds_field(row.name, 33), row.dimension);
        EXPECT_EQ(dds_field(row.name, 34), row.cube);
        EXPECT_EQ(dds_field(row.name, 35), row.layers);
        EXPECT_EQ(dds_texels(row.name).size(), row.bytes);
    }
}

/// Returns the first level of a block-compressed file, as the CPU device's texture unit decodes it.
std::vector<std::array<float, 4>> decoded(const std::string& name, Format format) {
    constexpr Extent kExtent{64, 64};
    const Bytes blocks = dds_texels(name);
    const Array array(Device::cpu(), {.format = format, .extent = kExtent});
    copy(array.view(), host_view(static_cast<const void*>(blocks.data()), format, kExtent));
    std::vector<Point2> points;
    for (int i = 0; i < 64 * 64; ++i)
        points.push_back({static_cast<float>(i % 64) + 0.5f, static_cast<float>(i / 64) + 0.5f});
    return sample(Texture(array, {.filter = Filter::point}), points);
}

TEST(AssetsTest, CompressedBlocksResembleTheSourceImage) {
    const Image ball = asset("ball.png");
    ASSERT_EQ(ball.extent, (Extent{64, 64}));
    const auto psnr = [&](const std::vector<std::array<float, 4>>& texels, std::size_t first, std::size_t channels) {
        double squares = 0;
        std::size_t count = 0;
        for (std::size_t i = 0; i < texels.size(); ++i) {
            if (std::to_integer<int>(ball.texels[4 * i + 3]) < 128)
                continue;  // BC1 stores no color for transparent texels
            for (std::size_t c = first; c < first + channels; ++c, ++count)
                squares += std::pow(texels[i][c] - std::to_integer<int>(ball.texels[4 * i + c]) / 255.0, 2);
        }
        return 10 * std::log10(static_cast<double>(count) / squares);
    };
    EXPECT_GT(psnr(decoded("bc1.dds", Format::bc1_unorm), 0, 3), 34);
    EXPECT_GT(psnr(decoded("bc2.dds", Format::bc2_unorm), 0, 3), 34);
    EXPECT_GT(psnr(decoded("bc3.dds", Format::bc3_unorm), 0, 3), 34);
    EXPECT_GT(psnr(decoded("bc7.dds", Format::bc7_unorm), 0, 3), 36);
    EXPECT_GT(psnr(decoded("bc2.dds", Format::bc2_unorm), 3, 1), 34);
    EXPECT_GT(psnr(decoded("bc3.dds", Format::bc3_unorm), 3, 1), 36);
    EXPECT_GT(psnr(decoded("bc7.dds", Format::bc7_unorm), 3, 1), 36);
    EXPECT_GT(psnr(decoded("bc4.dds", Format::bc4_unorm), 0, 1), 45);
    // BC1 makes the rim of the ball fully transparent.
    const auto bc1 = decoded("bc1.dds", Format::bc1_unorm);
    for (std::size_t i = 0; i < bc1.size(); ++i)
        EXPECT_EQ(bc1[i][3], std::to_integer<int>(ball.texels[4 * i + 3]) < 128 ? 0 : 1) << i;
}

TEST(AssetsTest, SignedAndHdrBlocksDecodeToTheExpectedValues) {
    const auto slopes = decoded("bc5_snorm.dds", Format::bc5_snorm);
    const auto light = decoded("bc6h.dds", Format::bc6h_ufloat);
    constexpr float kHalfStep = 1.01f / 14;  // of a block with values from 0 to 1
    float brightest = 0;
    for (int i = 0; i < 64 * 64; ++i) {
        const float x = (static_cast<float>(i % 64) + 0.5f) / 32 - 1, y = (static_cast<float>(i / 64) + 0.5f) / 32 - 1;
        const auto at = static_cast<std::size_t>(i);
        if (std::hypot(x, y) <= 0.85f) {
            EXPECT_NEAR(slopes[at][0], x / 0.85f, kHalfStep) << i;
            EXPECT_NEAR(slopes[at][1], y / 0.85f, kHalfStep) << i;
        }
        brightest = std::max(brightest, light[at][1]);
    }
    EXPECT_GT(brightest, 8);
    EXPECT_LT(brightest, 17);
}

TEST(AssetsTest, TenBitFramesMatchTheEightBitFramesWithMorePrecision) {
    const Bytes eight = bytes_of(kAssets / "nv12_128x72.yuv"), ten = bytes_of(kAssets / "p010_128x72.yuv");
    ASSERT_EQ(eight.size(), packed_bytes(Format::nv12, {128, 72}));
    ASSERT_EQ(ten.size(), packed_bytes(Format::p010, {128, 72}));
    for (std::size_t i = 0; i < eight.size(); ++i) {
        std::uint16_t code = 0;
        std::memcpy(&code, ten.data() + 2 * i, 2);
        ASSERT_EQ(code & 63, 0) << i;  // the lower six bits are zero
        ASSERT_NEAR(code >> 6, 4 * std::to_integer<int>(eight[i]), 2.01) << i;
    }
    EXPECT_EQ(std::to_integer<int>(eight[0]), 180);  // luma of 75 % white in video range
}

TEST(AssetsTest, ScanHasNumberedSlices) {
    for (int z = 0; z < 8; ++z) {
        const Image slice = asset("phantom_" + std::to_string(z) + ".png");
        EXPECT_EQ(slice.format, Format::r16_unorm);
        EXPECT_EQ(slice.extent, (Extent{40, 40}));
    }
}

}  // namespace
}  // namespace texton

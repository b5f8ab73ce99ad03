// Streamed textures of image files.
#include <texton/image_pyramid.h>

#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <set>

#include <gmock/gmock.h>

#include <texton/image_load.h>
#include <texton/image_save.h>
#include <texton/sample.h>

#include "tests/support/arrays.h"
#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"
#include "tests/support/on_every_device.h"
#include "tests/support/streamed_pyramid.h"

namespace texton {
namespace {

namespace fs = std::filesystem;
using OIIO::TypeDesc;
using test::Bytes;
using test::expect_error;
using test::level_sampler;
using test::settle;
using test::store;
using test::stored_chain;

class ImagePyramidTest : public test::OnEveryDevice {
protected:
    // Requests everything and compares all levels with those that load() reads.
    void expect_like_loaded(const TilePyramid& pyramid, const Array& loaded) {
        const Stream stream(device());
        StreamedTexture texture(device(), pyramid, {.sampler = level_sampler(Filter::point), .threads = 3});
        std::vector<StreamedView> views;
        for (int level = 0; level < texture.info().levels; ++level) {
            for (std::size_t layer = 0; layer < texture.info().layers; ++layer)
                views.push_back({.level = level, .layer = layer});
        }
        texture.request(views);
        EXPECT_TRUE(settle(texture, stream).complete());
        stream.synchronize();
        for (int level = 0; level < texture.info().levels; ++level) {
            EXPECT_TRUE(test::same_bytes(test::download(texture.array().array().view({.level = level})),
                                         test::download(loaded.view({.level = level}))))
                << "level " << level;
        }
        EXPECT_GT(texture.resident_level(), 0);
    }
    void expect_like_loaded(const fs::path& path) {
        SCOPED_TRACE(path.filename());
        const Array loaded = load(device(), open_image(path));
        expect_like_loaded(open_pyramid(path), loaded);
        expect_like_loaded(pyramid_of(open_image(path)), loaded);
    }

    fs::path at(const std::string& name) const { return folder_.at(name); }

    test::ImageFolder folder_;
};
INSTANTIATE_TEST_SUITE_P(Devices, ImagePyramidTest, test::every_device(), test::device_label);

TEST_P(ImagePyramidTest, TiledFilesWithLevelsAreStreamed) {
    expect_like_loaded(store(at("a.tx"), {stored_chain(700, 300, 4, TypeDesc::UINT8, 1, 64)}));
    expect_like_loaded(store(at("b.tif"), {stored_chain(301, 405, 3, TypeDesc::UINT16, 2, 32)}));
    expect_like_loaded(store(at("c.exr"), {stored_chain(500, 260, 4, TypeDesc::HALF, 3, 64)}));
    expect_like_loaded(store(at("d.exr"), {stored_chain(300, 200, 1, TypeDesc::FLOAT, 4, 128)}));
}

TEST_P(ImagePyramidTest, FilesOfBlocksLayersAndVolumesAreStreamed) {
    unsigned seed = 1;
    for (const char* ending : {"dds", "ktx2"}) {
        for (const ArrayInfo& info : {test::pyramid_info(Format::bc7_unorm, {1000, 600}),
                                      test::pyramid_info(Format::rgba16_float, {200, 300}, ArrayKind::layered_2d, 3),
                                      test::pyramid_info(Format::rgba32_float, {50, 40, 40}, ArrayKind::array_3d)}) {
            const Array array(device(), info);
            test::upload(array, test::ReferenceArray(info, seed++));
            const fs::path path = at(std::string(name(info.kind)) + "." + ending);
            save(path, array);
            expect_like_loaded(path);
        }
    }
}

TEST_P(ImagePyramidTest, CubemapsAreStreamedAsLayers) {
    ArrayInfo info{
        .format = Format::rgba32_float, .extent = {150, 150}, .kind = ArrayKind::cubemap_layered, .layers = 2};
    info.levels = full_levels(info);
    const Array cubes(device(), info);
    test::upload(cubes, test::ReferenceArray(info, 3));
    save(at("cubes.dds"), cubes);
    const TilePyramid pyramid = open_pyramid(at("cubes.dds"));
    EXPECT_EQ(pyramid.info.kind, ArrayKind::layered_2d);
    EXPECT_EQ(pyramid.info.layers, 12u);
    expect_like_loaded(pyramid, cubes);
}

TEST_P(ImagePyramidTest, ADamagedTileIsNamedAndTheImageStaysCoarseThere) {
    const fs::path path = store(at("a.tx"), {stored_chain(1024, 512, 4, TypeDesc::FLOAT, 5, 64)});
    const Array whole = load(device(), open_image(path));
    {
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(200000);  // in level 0, which comes first
        file << std::string(3000, '\x55');
    }
    const Stream stream(device());
    const Sampler sampler = level_sampler(Filter::point, Filter::point);
    StreamedTexture texture(device(), open_pyramid(path), {.sampler = sampler});
    texture.request(std::vector<StreamedView>{{}});
    const StreamingProgress progress = settle(texture, stream);
    EXPECT_GE(progress.failed, 1u);
    EXPECT_LE(progress.failed, 4u);
    EXPECT_EQ(progress.missing, progress.failed);
    for (const StreamingFailure& failure : texture.failures()) {
        EXPECT_EQ(failure.box.level, 0);
        EXPECT_THAT(failure.message, testing::HasSubstr("a.tx"));
        const Offset& corner = failure.box.region.offset;
        const FetchPoint point{.x = (static_cast<float>(corner.x) + 9.5f) / 1024,
                               .y = (static_cast<float>(corner.y) + 9.5f) / 512};
        const StreamedSamples found = texture.sample({&point, 1});
        EXPECT_EQ(found.clamps.at(0), 1);
        Sampler coarse = sampler;
        coarse.mip_min = 1;
        EXPECT_EQ(found.texels, sample(Texture(whole, coarse), {&point, 1}, {.operation = FetchOperation::lod}).texels);
    }
}

TEST_P(ImagePyramidTest, AFileThatChangesWhileItIsStreamedIsNamed) {
    const fs::path path = store(at("a.tx"), {stored_chain(600, 500, 4, TypeDesc::FLOAT, 6, 64)});
    const Stream stream(device());
    StreamedTexture texture(device(), open_pyramid(path), {.sampler = level_sampler()});
    texture.request(std::vector<StreamedView>{{.level = 1}});
    EXPECT_TRUE(settle(texture, stream).complete());
    const std::size_t before = texture.statistics().resident_tiles;
    store(path, {stored_chain(600, 500, 4, TypeDesc::FLOAT, 60, 64)});
    fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(2));
    texture.request(std::vector<StreamedView>{{}});
    const StreamingProgress progress = settle(texture, stream);
    EXPECT_EQ(progress.failed, progress.missing);
    EXPECT_EQ(progress.missing, 80u);
    EXPECT_THAT(texture.failures().at(0).message, testing::HasSubstr("has changed since it was opened"));
    EXPECT_EQ(texture.statistics().resident_tiles, before);
    fs::remove(path);
    texture.invalidate();
    EXPECT_EQ(settle(texture, stream).loaded, 0u);
    EXPECT_GE(texture.failures().size(), 80u);
}

TEST_P(ImagePyramidTest, FilesWithoutLevelsNeedABudgetForTheWholeImage) {
    const fs::path path = store(at("a.exr"), {test::stored_image(700, 500, 4, TypeDesc::FLOAT, 7)});
    const TilePyramid pyramid = open_pyramid(path);
    EXPECT_EQ(pyramid.info.levels, 1);
    const Error error = expect_error([&] { StreamedTexture texture(device(), pyramid, {.budget = 1 << 20}); },
                                     ErrorCode::bad_argument, "texton::StreamedTexture", {"smaller levels"});
    EXPECT_EQ(test::number_of(error, "required"), 11 * 8 * kTileBytes);
}

// --- levels that are computed ---

TEST_P(ImagePyramidTest, MissingLevelsAreMeansOfTheLevelAbove) {
    const fs::path path = store(at("a.tif"), {test::stored_image(2048, 1024, 1, TypeDesc::UINT16, 8)});
    std::size_t done = 0;
    std::size_t total = 0;
    const TilePyramid pyramid = add_levels(open_pyramid(path), folder_.path(), [&](const ImageProgress& progress) {
        done = progress.done;
        total = progress.total;
        return true;
    });
    EXPECT_EQ(done, total);
    EXPECT_EQ(pyramid.info.levels, 12);
    EXPECT_EQ(pyramid.info.extent, (Extent{2048, 1024}));
    const auto level = [&](int index) {
        const Extent extent = level_extent(pyramid.info, index);
        Bytes texels(extent.width * extent.height * 2);
        pyramid.read({index, 0, {{}, extent}}, texels, {});
        return texels;
    };
    for (int i = 1; i < pyramid.info.levels; ++i) {
        const Extent extent = level_extent(pyramid.info, i);
        const Array above(Device::cpu(), {.format = Format::r16_unorm, .extent = level_extent(pyramid.info, i - 1)});
        test::upload(above.view(), level(i - 1));
        const Texture texture(above, {.filter = Filter::linear, .normalized_coordinates = true});
        std::vector<Point2> centers;
        for (std::size_t y = 0; y < extent.height; ++y) {
            for (std::size_t x = 0; x < extent.width; ++x) {
                centers.push_back({(static_cast<float>(x) + 0.5f) / static_cast<float>(extent.width),
                                   (static_cast<float>(y) + 0.5f) / static_cast<float>(extent.height)});
            }
        }
        const auto means = sample(texture, centers);
        const Array made(Device::cpu(), {.format = Format::r16_unorm, .extent = extent});
        test::upload(made.view(), level(i));
        const auto found = sample(Texture(made, {.normalized_coordinates = true}), centers);
        EXPECT_TRUE(found == means) << "level " << i;
    }
    const Stream stream(device());
    StreamedTexture texture(device(), pyramid, {.sampler = level_sampler()});
    texture.request(std::vector<StreamedView>{{.level = 1}, {.region = Region{{700, 300, 0}, {300, 300, 1}}}});
    EXPECT_TRUE(settle(texture, stream).complete());
    stream.synchronize();
    EXPECT_TRUE(test::same_bytes(test::download(texture.array().array().view({.level = 1})), level(1)));
}

TEST_P(ImagePyramidTest, LayersAndOddSizesGetLevels) {
    ArrayInfo info{.format = Format::rgba8_srgb, .extent = {613, 397}, .kind = ArrayKind::layered_2d, .layers = 3};
    info.levels = 2;
    test::MemoryPyramid memory(info, 9);
    const TilePyramid pyramid = add_levels(memory.pyramid(), folder_.path());
    EXPECT_EQ(folder_.files(), 1);
    info.levels = full_levels(info);
    EXPECT_EQ(pyramid.info, info);
    // A level of one color stays so.
    for (std::size_t layer = 0; layer < 3; ++layer) {
        Bytes texels(153 * 99 * 4);
        pyramid.read({2, layer, {{}, {153, 99}}}, texels, {});
        const std::set<std::byte> values(texels.begin(), texels.end());
        EXPECT_GT(values.size(), 20u);
        const Bytes twice = texels;
        pyramid.read({2, layer, {{}, {153, 99}}}, texels, {});
        EXPECT_EQ(texels, twice);
    }
    const TilePyramid plain{{.format = Format::r8_uint, .extent = {613, 397}},
                            [](const PyramidBox&, std::span<std::byte> texels, const std::stop_token&) {
                                std::ranges::fill(texels, std::byte{77});
                            }};
    const TilePyramid gray = add_levels(plain, folder_.path());
    for (int level = 1; level < gray.info.levels; ++level) {
        const Extent extent = level_extent(gray.info, level);
        Bytes texels(extent.width * extent.height);
        gray.read({level, 0, {{}, extent}}, texels, {});
        EXPECT_TRUE(test::all_bytes(texels, 77)) << level;
    }
}

TEST_P(ImagePyramidTest, TheTemporaryFileIsRemovedWithThePyramid) {
    test::MemoryPyramid memory({.format = Format::r8_unorm, .extent = {600, 500}}, 10);
    {
        const TilePyramid pyramid = add_levels(memory.pyramid(), folder_.path());
        EXPECT_EQ(folder_.files(), 1);
    }
    EXPECT_EQ(folder_.files(), 0);
    EXPECT_THROW((void)add_levels(memory.pyramid(), folder_.path(), [](const ImageProgress&) { return false; }),
                 Canceled);
    EXPECT_EQ(folder_.files(), 0);
    expect_error([&] { (void)add_levels(memory.pyramid(), at("none")); }, ErrorCode::io, "texton::add_levels",
                 {"none"});
    // A pyramid that has all levels needs no file.
    test::MemoryPyramid whole(test::pyramid_info(Format::r8_unorm, {60, 50}), 11);
    const TilePyramid same = add_levels(whole.pyramid(), at("none"));
    EXPECT_EQ(same.info, whole.info());
    for (const ArrayInfo& info :
         {ArrayInfo{.format = Format::bc1_unorm, .extent = {64, 64}},
          ArrayInfo{.format = Format::r8_unorm, .extent = {64, 64, 4}, .kind = ArrayKind::array_3d}}) {
        test::MemoryPyramid other(info, 12);
        expect_error([&] { (void)add_levels(other.pyramid(), folder_.path()); }, ErrorCode::unsupported,
                     "texton::add_levels");
    }
}

TEST_P(ImagePyramidTest, AFullDiskIsAnErrorThatNamesTheFile) {
    // A limit of the file size stands for the full disk.
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limited{300000, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limited);
    test::MemoryPyramid memory({.format = Format::rgba32_float, .extent = {600, 500}}, 13);
    expect_error([&] { (void)add_levels(memory.pyramid(), folder_.path()); }, ErrorCode::io, "texton::add_levels",
                 {"texton_levels.tmp"});
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    EXPECT_EQ(folder_.files(), 0);
}

TEST_P(ImagePyramidTest, WhatCannotBeStreamedIsRefused) {
    expect_error([&] { (void)open_pyramid(at("none.tx")); }, ErrorCode::io, "texton::open_pyramid", {"none.tx"});
    expect_error([] { (void)pyramid_of(ImageFile()); }, ErrorCode::released, "texton::ImageFile");
    std::ofstream(at("a_64x48.yuv"), std::ios::binary) << std::string(64 * 48 * 3 / 2, 'x');
    expect_error([&] { (void)open_pyramid(at("a_64x48.yuv")); }, ErrorCode::bad_argument, "texton::pyramid_of",
                 {"planar", "nv12"});
}

}  // namespace
}  // namespace texton

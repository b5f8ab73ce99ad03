// Streamed textures of image files.
#include <texton/image_pyramid.h>

#include <fstream>
#include <thread>

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

TEST_P(ImagePyramidTest, WhatCannotBeStreamedIsRefused) {
    expect_error([&] { (void)open_pyramid(at("none.tx")); }, ErrorCode::io, "texton::open_pyramid", {"none.tx"});
    expect_error([] { (void)pyramid_of(ImageFile()); }, ErrorCode::released, "texton::ImageFile");
    std::ofstream(at("a_64x48.yuv"), std::ios::binary) << std::string(64 * 48 * 3 / 2, 'x');
    expect_error([&] { (void)open_pyramid(at("a_64x48.yuv")); }, ErrorCode::bad_argument, "texton::pyramid_of",
                 {"planar", "nv12"});
}

}  // namespace
}  // namespace texton

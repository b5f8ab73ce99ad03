// Texels of files that are too large for the device. They are read in pieces, which are cached up to a limit.
#include "viewer/model/file_texels.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/error.h>
#include <texton/image_save.h>

#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"

namespace texton::viewer {
namespace {

using OIIO::TypeDesc;
using test::Bytes;
using test::same_bytes;

class FileTexelsTest : public testing::Test {
protected:
    std::filesystem::path stored(const char* name, int width, int height, int tile = 0, int strip = 0) const {
        test::StoredImage image = test::stored_image(width, height, 4, TypeDesc::UINT8, 5);
        image.spec.tile_width = image.spec.tile_height = tile;
        image.spec.tile_depth = tile > 0 ? 1 : 0;
        if (strip > 0) image.spec.attribute("tiff:RowsPerStrip", strip);
        return test::store(folder_.at(name), {image});
    }
    static Bytes part(const ImageFile& image, const TexelBox& box) {
        return test::read_part(image, {.region = Region{{box.x, box.y, 0}, {box.width, box.height}}});
    }

    test::ImageFolder folder_;
};

TEST_F(FileTexelsTest, BoxesMatchTheFileForTilesStripsAndRows) {
    const std::vector<std::filesystem::path> files{
        stored("tiles.tif", 701, 523, 64), stored("strips.tif", 701, 523, 0, 7), stored("rows.png", 701, 523),
        stored("whole.tif", 701, 523, 0, 523), stored("large.tif", 701, 523, 1024)};
    for (const std::filesystem::path& file : files) {
        const ImageFile image = open_image(file);
        const FileTexels texels(image);
        for (const TexelBox& box : {TexelBox{0, 0, 1, 1}, TexelBox{700, 522, 1, 1}, TexelBox{250, 250, 13, 11},
                                    TexelBox{3, 500, 690, 23}, TexelBox{0, 0, 701, 523}}) {
            EXPECT_TRUE(same_bytes(texels.read({}, box), part(image, box))) << file << " " << box.x << " " << box.y;
            EXPECT_EQ(texels.kept({}, box), texels.read({}, box)) << file;
        }
    }
}

TEST_F(FileTexelsTest, LevelsLayersFacesSlicesAndPlanesMatchTheFile) {
    const auto holds = [](const ImageFile& image, const SubresourceIndex& subresource, const Subresource& part) {
        const FileTexels texels(image);
        const Extent extent = level_extent(image.info(), subresource.level);
        Subresource slice = part;
        if (image.info().kind == ArrayKind::array_3d)
            slice.region = Region{{0, 0, subresource.slice}, {extent.width, extent.height, 1}};
        return same_bytes(texels.read(subresource, {0, 0, extent.width, extent.height}), test::read_part(image, slice));
    };
    const auto saved = [&](const ArrayInfo& info) {
        const Array array(Device::cpu(), info);
        for (int level = 0; level < info.levels; ++level) {
            const View view = array.view({.level = level});
            test::upload(view, test::pattern(packed_bytes(info.format, view.extent()), static_cast<unsigned>(level)));
        }
        save(folder_.at("a.dds"), array);
        return open_image(folder_.at("a.dds"));
    };
    EXPECT_TRUE(holds(saved({.extent = {300, 5}, .levels = 3}), {.level = 1}, {.level = 1}));
    EXPECT_TRUE(
        holds(saved({.extent = {300, 5}, .kind = ArrayKind::layered_2d, .layers = 3}), {.layer = 2}, {.layer = 2}));
    EXPECT_TRUE(holds(saved({.extent = {260, 260}, .kind = ArrayKind::cubemap}), {.face = 4}, {.face = 4}));
    EXPECT_TRUE(holds(saved({.extent = {30, 20, 10}, .kind = ArrayKind::array_3d, .levels = 2}),
                      {.level = 1, .slice = 3}, {.level = 1}));
    EXPECT_TRUE(holds(saved({.format = Format::bc1_unorm, .extent = {301, 299}}), {}, {}));
    std::filesystem::path raw = folder_.at("a.yuv");
    test::write_bytes(raw, test::pattern(64 * 32 * 3 / 2, 1));
    const ImageFile planar = open_image(raw, {.raw = RawFrames{.extent = {64, 32}}});
    const FileTexels texels(planar);
    EXPECT_TRUE(same_bytes(texels.read({.plane = 1}, {0, 0, 32, 16}), test::read_part(planar.plane(1))));
}

TEST_F(FileTexelsTest, SequentialReadCachesTheRowsAboveTheBox) {
    const ImageFile image = open_image(stored("a.png", 2000, 900));
    ASSERT_TRUE(image.access().in_order);
    const FileTexels texels(image);
    (void)texels.read({}, {1000, 880, 20, 10});
    EXPECT_TRUE(texels.kept({}, {1000, 0, 20, 890}));
    EXPECT_FALSE(texels.kept({}, {0, 880, 20, 10})) << "this part was not requested";
    EXPECT_TRUE(same_bytes(texels.read({}, {0, 20, 20, 10}), part(image, {0, 20, 20, 10})))
        << "reads again from the top";
    const FileTexels others(open_image(stored("a.tif", 2000, 900)));
    (void)others.read({}, {1000, 880, 20, 10});
    EXPECT_FALSE(others.kept({}, {1000, 0, 20, 10})) << "strips can be read in any order";
}

TEST_F(FileTexelsTest, CacheStaysWithinItsLimitAndDropsClosedImages) {
    const Array array(Device::cpu(), {.format = Format::rgba32_float, .extent = {4096, 5120}});
    const std::size_t before = FileTexels::kept_bytes();
    {
        const FileTexels texels(image_of(array));
        for (std::size_t y = 0; y < 5120; y += 512) {
            (void)texels.read({}, {0, y, 4096, 512});
            EXPECT_LE(FileTexels::kept_bytes(), FileTexels::kMaxBytes);
        }
        EXPECT_GT(FileTexels::kept_bytes(), FileTexels::kMaxBytes * 3 / 4) << "otherwise the limit was not tested";
        EXPECT_TRUE(texels.kept({}, {0, 5119, 4096, 1})) << "the last piece is cached";
        EXPECT_FALSE(texels.kept({}, {0, 0, 4096, 1})) << "the first piece is not";
    }
    EXPECT_LE(FileTexels::kept_bytes(), before);
}

TEST_F(FileTexelsTest, CancellationStopsReadingBetweenPieces) {
    const ImageFile image = open_image(stored("a.png", 300, 2600));
    const FileTexels texels(image);
    int asked = 0;
    EXPECT_THROW((void)texels.read({}, {0, 2500, 10, 10}, CancellationToken([&] { return ++asked >= 4; })), Canceled);
    EXPECT_EQ(asked, 4);
    EXPECT_TRUE(texels.kept({}, {0, 0, 10, 500})) << "rows that were decoded are cached";
    EXPECT_TRUE(same_bytes(texels.read({}, {0, 2500, 10, 10}), part(image, {0, 2500, 10, 10})));
}

TEST_F(FileTexelsTest, CancellationStopsWaitingForAnotherReader) {
    const ImageFile image = open_image(stored("a.png", 300, 600));
    const FileTexels texels(image);
    std::atomic<bool> reads = false, stopped = false;
    std::thread first([&] {
        (void)texels.read({}, {0, 300, 10, 10}, CancellationToken([&] {
                              reads = true;
                              while (!stopped) std::this_thread::yield();
                              return false;
                          }));
    });
    while (!reads) std::this_thread::yield();
    EXPECT_THROW((void)texels.read({}, {0, 500, 10, 10}, CancellationToken([] { return true; })), Canceled);
    stopped = true;
    first.join();
}

TEST_F(FileTexelsTest, MissingFileIsNamedInTheError) {
    const Array array(Device::cpu(), {.extent = {64, 64}});
    save(folder_.at("a.dds"), array);
    const FileTexels texels(open_image(folder_.at("a.dds")));
    std::filesystem::remove(folder_.at("a.dds"));
    test::expect_error(
        [&] {
            (void)texels.read({}, {0, 0, 4, 4});
        },
        ErrorCode::io, "texton::ImageFile", {"a.dds", "can no longer be opened"});
}

}  // namespace
}  // namespace texton::viewer

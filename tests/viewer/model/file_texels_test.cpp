// Texels of files that are too large for the device. They are read in pieces, which are cached up to a limit.
#include "viewer/model/file_texels.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/error.h>
#include <texton/picture_save.h>

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
        test::StoredPicture picture = test::stored_picture(width, height, 4, TypeDesc::UINT8, 5);
        picture.spec.tile_width = picture.spec.tile_height = tile;
        picture.spec.tile_depth = tile > 0 ? 1 : 0;
        if (strip > 0) picture.spec.attribute("tiff:RowsPerStrip", strip);
        return test::store(folder_.at(name), {picture});
    }
    static Bytes part(const Picture& picture, const TexelBox& box) {
        return test::read_part(picture, {.region = Region{{box.x, box.y, 0}, {box.width, box.height}}});
    }

    test::PictureFolder folder_;
};

TEST_F(FileTexelsTest, BoxesMatchTheFileForTilesStripsAndRows) {
    const std::vector<std::filesystem::path> files{
        stored("tiles.tif", 701, 523, 64), stored("strips.tif", 701, 523, 0, 7), stored("rows.png", 701, 523),
        stored("whole.tif", 701, 523, 0, 523), stored("large.tif", 701, 523, 1024)};
    for (const std::filesystem::path& file : files) {
        const Picture picture = open_picture(file);
        const FileTexels texels(picture);
        for (const TexelBox& box : {TexelBox{0, 0, 1, 1}, TexelBox{700, 522, 1, 1}, TexelBox{250, 250, 13, 11},
                                    TexelBox{3, 500, 690, 23}, TexelBox{0, 0, 701, 523}}) {
            EXPECT_TRUE(same_bytes(texels.read({}, box), part(picture, box))) << file << " " << box.x << " " << box.y;
            EXPECT_EQ(texels.kept({}, box), texels.read({}, box)) << file;
        }
    }
}

TEST_F(FileTexelsTest, LevelsLayersFacesSlicesAndPlanesMatchTheFile) {
    const auto holds = [](const Picture& picture, const Place& place, const Subresource& part) {
        const FileTexels texels(picture);
        const Extent extent = level_extent(picture.info(), place.level);
        Subresource slice = part;
        if (picture.info().kind == ArrayKind::array_3d)
            slice.region = Region{{0, 0, place.slice}, {extent.width, extent.height, 1}};
        return same_bytes(texels.read(place, {0, 0, extent.width, extent.height}), test::read_part(picture, slice));
    };
    const auto saved = [&](const ArrayInfo& info) {
        const Array array(Device::cpu(), info);
        for (int level = 0; level < info.levels; ++level) {
            const View view = array.view({.level = level});
            test::upload(view, test::pattern(packed_bytes(info.format, view.extent()), static_cast<unsigned>(level)));
        }
        save(folder_.at("a.dds"), array);
        return open_picture(folder_.at("a.dds"));
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
    const Picture planar = open_picture(raw, {.raw = RawFrames{.extent = {64, 32}}});
    const FileTexels texels(planar);
    EXPECT_TRUE(same_bytes(texels.read({.plane = 1}, {0, 0, 32, 16}), test::read_part(planar.plane(1))));
}

TEST_F(FileTexelsTest, SequentialReadCachesTheRowsAboveTheBox) {
    const Picture picture = open_picture(stored("a.png", 2000, 900));
    ASSERT_TRUE(picture.access().in_order);
    const FileTexels texels(picture);
    (void)texels.read({}, {1000, 880, 20, 10});
    EXPECT_TRUE(texels.kept({}, {1000, 0, 20, 890}));
    EXPECT_FALSE(texels.kept({}, {0, 880, 20, 10})) << "this part was not requested";
    EXPECT_TRUE(same_bytes(texels.read({}, {0, 20, 20, 10}), part(picture, {0, 20, 20, 10})))
        << "reads again from the top";
    const FileTexels others(open_picture(stored("a.tif", 2000, 900)));
    (void)others.read({}, {1000, 880, 20, 10});
    EXPECT_FALSE(others.kept({}, {1000, 0, 20, 10})) << "strips can be read in any order";
}

TEST_F(FileTexelsTest, CacheStaysWithinItsLimitAndDropsClosedImages) {
    const Array array(Device::cpu(), {.format = Format::rgba32_float, .extent = {4096, 5120}});
    const std::size_t before = FileTexels::kept_bytes();
    {
        const FileTexels texels(picture_of(array));
        for (std::size_t y = 0; y < 5120; y += 512) {
            (void)texels.read({}, {0, y, 4096, 512});
            EXPECT_LE(FileTexels::kept_bytes(), FileTexels::kMostBytes);
        }
        EXPECT_GT(FileTexels::kept_bytes(), FileTexels::kMostBytes * 3 / 4) << "otherwise the limit was not tested";
        EXPECT_TRUE(texels.kept({}, {0, 5119, 4096, 1})) << "the last piece is cached";
        EXPECT_FALSE(texels.kept({}, {0, 0, 4096, 1})) << "the first piece is not";
    }
    EXPECT_LE(FileTexels::kept_bytes(), before);
}

TEST_F(FileTexelsTest, CancellationStopsReadingBetweenPieces) {
    const Picture picture = open_picture(stored("a.png", 300, 2600));
    const FileTexels texels(picture);
    int asked = 0;
    EXPECT_THROW((void)texels.read({}, {0, 2500, 10, 10}, [&] { return ++asked < 4; }), Cancelled);
    EXPECT_EQ(asked, 4);
    EXPECT_TRUE(texels.kept({}, {0, 0, 10, 500})) << "rows that were decoded are cached";
    EXPECT_TRUE(same_bytes(texels.read({}, {0, 2500, 10, 10}), part(picture, {0, 2500, 10, 10})));
}

TEST_F(FileTexelsTest, CancellationStopsWaitingForAnotherReader) {
    const Picture picture = open_picture(stored("a.png", 300, 600));
    const FileTexels texels(picture);
    std::atomic<bool> reads = false, stopped = false;
    std::thread first([&] {
        (void)texels.read({}, {0, 300, 10, 10}, [&] {
            reads = true;
            while (!stopped) std::this_thread::yield();
            return true;
        });
    });
    while (!reads) std::this_thread::yield();
    EXPECT_THROW((void)texels.read({}, {0, 500, 10, 10}, [] { return false; }), Cancelled);
    stopped = true;
    first.join();
}

TEST_F(FileTexelsTest, MissingFileIsNamedInTheError) {
    const Array array(Device::cpu(), {.extent = {64, 64}});
    save(folder_.at("a.dds"), array);
    const FileTexels texels(open_picture(folder_.at("a.dds")));
    std::filesystem::remove(folder_.at("a.dds"));
    test::expect_error(
        [&] {
            (void)texels.read({}, {0, 0, 4, 4});
        },
        ErrorCode::io, "texton::Picture", {"a.dds", "can no longer be opened"});
}

}  // namespace
}  // namespace texton::viewer

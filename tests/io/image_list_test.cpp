#include <texton/image_list.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <texton/error.h>

#include "arrays/files/isolated/bands.h"
#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"
#include "tests/support/own_helper.h"
#include "tests/support/reader_processes.h"

namespace texton {
namespace {

namespace fs = std::filesystem;
using OIIO::TypeDesc;

constexpr ReadOptions kOwn{};
constexpr ReadOptions kReused{.isolated = true, .reuses_process = true};

class ImageListTest : public testing::Test {
protected:
    fs::path at(const std::string& name) const { return folder_.at(name); }
    fs::path stored(const std::string& name, unsigned seed) const {
        return test::store(at(name), {test::stored_image(8 + static_cast<int>(seed), 8, 4, TypeDesc::UINT8, seed)});
    }
    // Returns files, some of which are damaged or missing. They are enough for several processes.
    std::vector<fs::path> mixed() const {
        std::vector<fs::path> paths;
        for (unsigned i = 0; i < 140; ++i) {
            const std::string name = std::to_string(i);
            paths.push_back(i % 7 == 3 ? at("missing" + name) : stored(name + (i % 2 == 0 ? ".png" : ".tif"), i));
            if (i % 11 == 5 && i % 7 != 3) fs::resize_file(paths.back(), 20);
        }
        paths.push_back(fs::path(test::configured_path("TEXTON_TEST_FILES", TEXTON_TEST_FILES)) / "damaged" /
                        "palette32bit-corrupt.bmp");
        paths.push_back(paths.front());
        paths.push_back(paths.front());
        return paths;
    }
    // Returns a description of each file, or its error.
    static std::vector<std::string> all_of(ImageList list) {
        std::vector<std::string> out;
        while (list.left() > 0) {
            std::string& text = out.emplace_back();
            try {
                const ImageFile image = list.open_next();
                text = to_string(image.info().extent) + ' ' + std::to_string(image.metadata().parts) + ' ';
                std::uint32_t hash = 0;
                for (const std::byte value : test::read_part(image))
                    hash = hash * 31 + std::to_integer<unsigned>(value);
                text += std::to_string(hash);
            } catch (const Error& error) {
                text += error.what();
            }
        }
        return out;
    }

    test::ImageFolder folder_;
    const test::OwnHelper helper_{folder_.path(), test::configured_path("TEXTON_READER", TEXTON_TEST_READER)};
};

TEST_F(ImageListTest, FilesOfAListAreTheSameAsFilesThatAreOpenedAlone) {
    const std::vector<fs::path> paths = mixed();
    const auto reused = all_of(ImageList(paths, {}, kReused)), alone = all_of(ImageList(paths, {}, {.isolated = true}));
    ASSERT_EQ(reused.size(), paths.size());
    ASSERT_EQ(alone.size(), paths.size());
    for (std::size_t i = 0; i < paths.size(); ++i) {
        const auto expected = all_of(ImageList(std::span(paths).subspan(i, 1), {}, kReused));
        EXPECT_EQ(reused[i], expected.front());
        EXPECT_EQ(alone[i], expected.front());
    }
}

TEST_F(ImageListTest, AListInTheProcessOfTheCallerGivesTheSame) {
    std::vector<fs::path> paths = mixed();
    paths.pop_back();
    std::erase_if(paths, [](const fs::path& path) { return path.extension() == ".bmp"; });  // ends the process
    EXPECT_EQ(all_of(ImageList(paths, {}, kReused)), all_of(ImageList(paths, {}, kOwn)));
}

TEST_F(ImageListTest, RelativeAndAbsolutePathsCanBeMixed) {
    const fs::path before = fs::current_path();
    std::vector<fs::path> paths{stored("a.png", 1), stored("b.png", 2), stored("c.png", 3)};
    const auto expected = all_of(ImageList(paths, {}, kOwn));
    fs::current_path(folder_.path());
    EXPECT_EQ(all_of(ImageList(std::vector<fs::path>{"a.png", "b.png", "c.png"}, {}, kReused)), expected);
    EXPECT_EQ(all_of(ImageList(std::vector<fs::path>{"a.png", paths[1], "c.png"}, {}, kReused)), expected);
    fs::current_path(before);
}

TEST_F(ImageListTest, KilledProcessesAreReplaced) {
    std::vector<fs::path> paths;
    for (unsigned i = 0; i < 140; ++i) paths.push_back(stored(std::to_string(i) + ".png", i));
    ImageList list(paths, {}, kReused);
    for (unsigned i = 0; i < 140; ++i) {
        if (i % 10 == 4) {
            for (const pid_t reader : test::readers()) ::kill(reader, SIGKILL);
        }
        EXPECT_EQ(list.open_next().info().extent.width, 8 + i);
    }
    test::expect_error([&] { (void)list.open_next(); }, ErrorCode::out_of_bounds, "texton::open_image", {"all files"});
}

TEST_F(ImageListTest, AListThatIsNotReadToTheEndLeavesNoProcessThatAnswersForIt) {
    std::vector<fs::path> paths;
    for (unsigned i = 0; i < 70; ++i) paths.push_back(stored(std::to_string(i) + ".png", i));
    for (int round = 0; round < 5; ++round) {
        ImageList list(paths, {}, kReused);
        (void)list.open_next();
        ImageList moved = std::move(list);
        EXPECT_EQ(moved.left(), 69u);
        EXPECT_EQ(list.left(), 0u);  // NOLINT(bugprone-use-after-move)
        EXPECT_EQ(moved.open_next().info().extent.width, 9u);
    }
    EXPECT_EQ(open_image(paths[7], {}, kReused).info().extent.width, 15u);
}

// The texels of small files come with their descriptions, once the first ones were read.
TEST_F(ImageListTest, TexelsOfAListThatWereDecodedAheadAreThoseOfTheFiles) {
    std::vector<fs::path> paths;
    for (unsigned i = 0; i < 24; ++i) {
        const int side = i % 3 == 0 ? 300 : i % 3 == 1 ? 200 : 8;  // more, fewer and few bytes
        paths.push_back(
            test::store(at(std::to_string(i) + ".png"), {test::stored_image(side, side, 4, TypeDesc::UINT8, i)}));
    }
    ImageList list(paths, {}, kReused);
    std::vector<ImageFile> images;
    for (unsigned i = 0; i < 24; ++i) {
        images.push_back(list.open_next());
        if (i % 5 != 4) {
            EXPECT_EQ(test::read_part(images.back()), test::read_part(open_image(paths[i])));
        }
    }
    for (const pid_t reader : test::readers()) ::kill(reader, SIGKILL);
    for (unsigned i = 0; i < 24; ++i) EXPECT_EQ(test::read_part(images[i]), test::read_part(open_image(paths[i])));
}

TEST_F(ImageListTest, AFileThatChangedSinceItWasOpenedAheadIsOpenedAgain) {
    std::vector<fs::path> paths;
    for (unsigned i = 0; i < 20; ++i) paths.push_back(stored(std::to_string(i) + ".png", 0));
    ImageList list(paths, {}, kReused);
    for (unsigned i = 0; i < 20; ++i) {
        const ImageFile image = list.open_next();
        EXPECT_EQ(test::read_part(image), test::read_part(open_image(paths[i])));
        if (i < 19) (void)stored(std::to_string(i + 1) + ".png", i % 3 == 0 ? i + 1 : 0);
        if (i < 16) (void)stored(std::to_string(i + 4) + ".png", i % 4 == 0 ? i + 1 : 0);
    }
}

// The texels exceed those that are kept until all files were opened.
TEST_F(ImageListTest, ManyFilesOfALayeredImageGiveTheirTexels) {
    std::vector<fs::path> paths;
    test::Bytes expected;
    const test::StoredImage stored = test::stored_image(256, 256, 4, TypeDesc::UINT8, 1);
    const fs::path first = test::store(at("first.png"), {stored});
    for (unsigned i = 0; i < 180; ++i) {
        paths.push_back(i % 30 == 7 ? test::store(at(std::to_string(i) + ".png"),
                                                  {test::stored_image(256, 256, 4, TypeDesc::UINT8, i)})
                                    : first);
        const test::Bytes texels = test::read_part(open_image(paths.back()));
        expected.insert(expected.end(), texels.begin(), texels.end());
    }
    const ImageFile layers = open_image(paths, {}, kReused);
    ASSERT_EQ(layers.info().layers, 180);
    EXPECT_TRUE(test::same_bytes(test::read_part(layers), expected));
}

// A description of a file can be longer than a packet, and the process sends those of the next files meanwhile.
TEST_F(ImageListTest, LongMetadataOfTheFilesOfAListAreNotMixedUp) {
    std::vector<fs::path> paths;
    for (unsigned i = 0; i < 20; ++i) {
        test::StoredImage image = test::stored_image(8, 8, 4, TypeDesc::UINT8, i);
        for (const char* name : {"ImageDescription", "Copyright"})
            image.spec.attribute(name, std::string(100'000, static_cast<char>('a' + i)));
        paths.push_back(test::store(at(std::to_string(i) + ".tif"), {image}));
    }
    ImageList list(paths, {}, kReused);
    for (unsigned i = 0; i < 20; ++i) {
        const ImageFile image = list.open_next();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));  // the process is ahead
        const ImageFile alone = open_image(paths[i]);
        EXPECT_GT(alone.metadata().attributes.size(), 1u);
        EXPECT_EQ(image.metadata().attributes, alone.metadata().attributes);
    }
}

// --- bands ---

test::Bytes texels_of(const ImageFile& image, const Region& region) {
    return test::read_part(image, {.region = region});
}

TEST_F(ImageListTest, PartsOfLargeImagesAreReadInBands) {
    test::StoredImage rows = test::stored_image(1200, 1100, 4, TypeDesc::FLOAT, 3);  // 20 MiB
    rows.spec.attribute("tiff:RowsPerStrip", 7);
    test::StoredImage tiles = rows;
    tiles.spec.tile_width = 64;
    tiles.spec.tile_height = 48;
    for (const auto& [name, image] : {std::pair{"rows.tif", rows}, {"tiles.tif", tiles}, {"rows.exr", rows}}) {
        SCOPED_TRACE(name);
        const fs::path path = test::store(at(name), {image});
        const ImageFile own = open_image(path), isolated = open_image(path, {}, kReused);
        for (const Region& region :
             {Region{{}, {1200, 1100}}, Region{{0, 5}, {1200, 1090}}, Region{{13, 50}, {700, 999}},
              Region{{0, 1099}, {1200, 1}}, Region{{1199, 0}, {1, 1100}}}) {
            EXPECT_TRUE(test::same_bytes(texels_of(isolated, region), texels_of(own, region))) << to_string(region);
        }
    }
}

TEST_F(ImageListTest, BandsCoverABoxInTheOrderOfItsTexels) {
    for (const Region& box : {Region{{0, 0, 0}, {3000, 2000, 1}}, Region{{5, 7, 3}, {1000, 900, 9}},
                              Region{{0, 0, 0}, {64, 64, 3000}}, Region{{0, 0, 0}, {1, 1, 1}}}) {
        for (const Extent& granule : {Extent{1, 1, 1}, Extent{3000, 16, 1}, Extent{64, 64, 4}, Extent{9, 5000, 1}}) {
            Region next{box.offset, {}};
            std::size_t texels = 0;
            const std::vector<Region> bands = detail::bands_of(Format::rgba8_unorm, box, granule);
            for (std::size_t i = 0; i < bands.size(); ++i) {
                const Region& band = bands[i];
                EXPECT_EQ(band.offset.x, box.offset.x);
                EXPECT_EQ(band.extent.width, box.extent.width);
                EXPECT_EQ(band.offset.y, next.offset.y);
                EXPECT_EQ(band.offset.z, next.offset.z);
                const std::size_t bottom = band.offset.y + band.extent.height;
                const bool is_last_of_slice = bottom == box.offset.y + box.extent.height;
                EXPECT_TRUE(is_last_of_slice || bottom % granule.height == 0);
                next.offset.y = is_last_of_slice ? box.offset.y : bottom;
                next.offset.z += is_last_of_slice ? band.extent.depth : 0;
                texels += band.extent.width * band.extent.height * band.extent.depth;
            }
            EXPECT_EQ(texels, box.extent.width * box.extent.height * box.extent.depth);
        }
    }
}

}  // namespace
}  // namespace texton

// Images that are streamed: the texels that are seen become those of the file, within a budget.
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>

#include <texton/error.h>

#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"
#include "tests/support/on_every_device.h"
#include "tests/support/streamed_pyramid.h"
#include "viewer/inspect/inspected_texel.h"
#include "viewer/model/streamed_image.h"
#include "viewer/render/render.h"
#include "viewer/render/streamed_texels.h"

namespace texton::viewer {
namespace {

using namespace std::chrono_literals;
using test::Bytes;
using test::MemoryPyramid;
using test::pyramid_info;
using testing::HasSubstr;

// Waits until nothing is being read for what is seen.
void settle(const StreamedImage& image) {
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (!image.settled() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    ASSERT_TRUE(image.settled());
}

Region region_of(const TexelBox& box) { return {{box.x, box.y, 0}, {box.width, box.height, 1}}; }

// Blocks reads of a level until open().
class ReadGate {
public:
    explicit ReadGate(int level) : level_(level) {}
    ~ReadGate() { open(); }
    void open() {
        const std::lock_guard lock(mutex_);
        is_open_ = true;
        changed_.notify_all();
    }
    void pass(const PyramidBox& box, const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        if (box.level == level_ && !changed_.wait(lock, stop, [this] { return is_open_; }))
            throw std::runtime_error("stopped");
    }

private:
    const int level_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    bool is_open_ = false;
};

class StreamedImageTest : public test::OnEveryDevice {
protected:
    // The overview begins with the level that has at most 512 texels a side; finer levels need the window.
    static constexpr StreamedImageOptions kSmall{.budget = std::size_t{8} << 20, .max_side = 512, .window_side = 1024};

    static void expect_texels(const StreamedImage& image, MemoryPyramid& memory, const StreamedPart& part) {
        const auto found = image.texels(part);
        ASSERT_TRUE(found) << "level " << part.level << " at " << part.box.x << ", " << part.box.y;
        Region region = region_of(part.box);
        if (is_layered(memory.info().kind)) region.offset.z = part.layer;
        EXPECT_EQ(*found, memory.texels().read(part.level, region)) << "level " << part.level;
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, StreamedImageTest, test::every_device(), test::device_label);

TEST_P(StreamedImageTest, VisibleTexelsOfEveryLevelBecomeThoseOfThePyramid) {
    MemoryPyramid memory(pyramid_info(Format::rgba8_unorm, {2001, 1003}), 5);
    StreamedImage image(device(), memory.pyramid(), kSmall);
    EXPECT_EQ(image.first_level(), 2);
    // A corner, the middle, the last texels, and coarser levels that the overview has.
    for (const StreamedPart& part :
         {StreamedPart{0, 0, {0, 0, 300, 200}}, StreamedPart{0, 0, {900, 500, 333, 77}},
          StreamedPart{0, 0, {1700, 800, 301, 203}}, StreamedPart{1, 0, {600, 300, 400, 201}},
          StreamedPart{2, 0, {3, 5, 480, 240}}, StreamedPart{5, 0, {0, 0, 62, 31}}}) {
        image.look({part});
        settle(image);
        expect_texels(image, memory, part);
        EXPECT_TRUE(image.is_final(part));
        const StreamedStatus status = image.status();
        EXPECT_TRUE(status.failures.empty());
        EXPECT_TRUE(std::ranges::all_of(status.tiles, &StreamedTile::is_resident));
        EXPECT_LE(status.counts.resident_bytes, kSmall.budget);
        EXPECT_GT(status.counts.misses + status.counts.hits, 0u);
    }
}

TEST_P(StreamedImageTest, WindowFollowsTheViewAndStaysWhileItContainsIt) {
    MemoryPyramid memory(pyramid_info(Format::r8_unorm, {8000, 3000}), 6);
    StreamedImage image(device(), memory.pyramid(), kSmall);
    const auto window_at = [&](std::size_t x, std::size_t y) {
        const StreamedPart part{0, 0, {x, y, 200, 200}};
        image.look({part});
        settle(image);
        expect_texels(image, memory, part);
        return image.status().window.value();
    };
    const StreamedPart first = window_at(4000, 1500);
    EXPECT_EQ(window_at(4100, 1600), first);
    const StreamedPart second = window_at(5200, 1500);
    EXPECT_NE(second, first);
    EXPECT_EQ(second.box.width, 1024u);
    const StreamedPart last = window_at(7800, 2800);
    EXPECT_EQ(last.box.x + last.box.width, 8000u);
    EXPECT_EQ(last.box.y + last.box.height, 3000u);
    EXPECT_FALSE(image.texels({0, 0, {4000, 1500, 200, 200}})) << "another window";
}

TEST_P(StreamedImageTest, LayersAreReadFromTheirOwnTexels) {
    MemoryPyramid memory(pyramid_info(Format::rg8_unorm, {1500, 900}, ArrayKind::layered_2d, 3), 7);
    StreamedImage image(device(), memory.pyramid(), kSmall);
    for (const std::size_t layer : {0u, 2u, 1u}) {
        for (const StreamedPart& part :
             {StreamedPart{0, layer, {700, 300, 300, 300}}, StreamedPart{2, layer, {10, 10, 300, 200}}}) {
            image.look({part});
            settle(image);
            expect_texels(image, memory, part);
        }
    }
}

TEST_P(StreamedImageTest, TilesThatCannotBeReadAreListedAndTheOthersBecomeResident) {
    MemoryPyramid memory(pyramid_info(Format::rgba8_unorm, {1024, 1024}), 8);
    const auto is_damaged = [](const PyramidBox& box) {
        const Offset& at = box.region.offset;
        return box.level == 0 && at.x <= 300 && 300 < at.x + box.region.extent.width && at.y <= 300 &&
               300 < at.y + box.region.extent.height;
    };
    StreamedImage image(device(), memory.pyramid([&](const PyramidBox& box, const std::stop_token&) {
        if (is_damaged(box)) throw std::runtime_error("checksum error");
    }),
                        kSmall);
    const StreamedPart part{0, 0, {256, 256, 400, 400}};
    image.look({part});
    settle(image);
    EXPECT_FALSE(image.texels(part));
    EXPECT_TRUE(image.is_final(part)) << "no more of its tiles will be read";
    expect_texels(image, memory, {0, 0, {512, 512, 128, 128}});
    expect_texels(image, memory, {1, 0, {128, 128, 200, 200}});
    const StreamedStatus status = image.status();
    ASSERT_EQ(status.failures.size(), 1u);
    EXPECT_EQ(status.failures[0].message, "checksum error");
    EXPECT_EQ(status.failures[0].box.level, 0);
    EXPECT_EQ(status.failures[0].box.region.offset, (Offset{256, 256, 0}));
    EXPECT_EQ(std::ranges::count_if(status.tiles, &StreamedTile::failed), 1);
    EXPECT_EQ(std::ranges::count_if(status.tiles, [](const StreamedTile& tile) { return !tile.is_resident(); }), 1);
}

TEST_P(StreamedImageTest, ViewLargerThanTheBudgetSettlesCoarserWithinTheBudget) {
    MemoryPyramid memory(pyramid_info(Format::rgba32_float, {1024, 1024}), 9);
    const StreamedImageOptions options{.budget = std::size_t{4} << 20, .window_side = 1024};
    StreamedImage image(device(), memory.pyramid(), options);
    const StreamedPart part{0, 0, {0, 0, 1024, 1024}};  // 16 MiB
    image.look({part});
    settle(image);
    const StreamedStatus status = image.status();
    EXPECT_GT(status.unfit, 0u);
    EXPECT_LE(status.counts.resident_bytes, options.budget);
    EXPECT_FALSE(image.texels(part));
    EXPECT_TRUE(image.is_final(part));
}

TEST_P(StreamedImageTest, ImageThatIsNotSeenReleasesItsTiles) {
    MemoryPyramid memory(pyramid_info(Format::rgba8_unorm, {2048, 2048}), 10);
    StreamedImage image(device(), memory.pyramid(), kSmall);
    image.look({{0, 0, {1000, 1000, 500, 400}}});
    settle(image);
    ASSERT_GT(image.status().counts.resident_tiles, 0u);
    image.look({});
    settle(image);
    EXPECT_EQ(image.status().counts.resident_tiles, 0u);
    EXPECT_FALSE(image.status().window);
    const StreamedPart part{0, 0, {1000, 1000, 500, 400}};
    image.look({part});
    settle(image);
    expect_texels(image, memory, part);
}

TEST_P(StreamedImageTest, LookingDoesNotWaitForReadsAndTellsWhenTheyArrive) {
    MemoryPyramid memory(pyramid_info(Format::rgba8_unorm, {512, 512}), 11);
    ReadGate gate(0);
    StreamedImage image(
        device(), memory.pyramid([&](const PyramidBox& box, const std::stop_token& stop) { gate.pass(box, stop); }));
    std::atomic<int> changes = 0;
    image.on_change([&] { ++changes; });
    const StreamedPart part{0, 0, {0, 0, 512, 512}};
    image.look({part});
    EXPECT_FALSE(image.settled());
    EXPECT_FALSE(image.texels(part)) << "the file is still being read";
    EXPECT_FALSE(image.is_final(part));
    gate.open();
    settle(image);
    EXPECT_GT(changes, 0);
    expect_texels(image, memory, part);
    image.on_change({});
}

TEST_P(StreamedImageTest, DestructionStopsReads) {
    MemoryPyramid memory(pyramid_info(Format::rgba8_unorm, {512, 512}), 12);
    ReadGate gate(0);
    {
        StreamedImage image(device(), memory.pyramid([&](const PyramidBox& box, const std::stop_token& stop) {
            gate.pass(box, stop);
        }));
        image.look({{0, 0, {0, 0, 512, 512}}});
    }
    EXPECT_TRUE(std::ranges::none_of(memory.reads(), [](const PyramidBox& box) { return box.level == 0; }));
}

TEST(StreamedImageOptionsTest, WrongOptionsAreRefused) {
    MemoryPyramid memory(pyramid_info(Format::rgba8_unorm, {512, 512}), 13);
    const auto make = [&](const StreamedImageOptions& options) {
        return [&memory, options] { StreamedImage(Device::cpu(), memory.pyramid(), options); };
    };
    test::expect_error(make({.window_side = 1000}), ErrorCode::bad_argument, "texton::viewer::StreamedImage",
                       {"1000 texels"});
    test::expect_error(make({.budget = 1}), ErrorCode::bad_argument, "texton::StreamedTexture", {"budget of 1 bytes"});
}

// --- documents and pixels --------------------------------------------------------------------------------------------

class StreamedDocumentTest : public testing::Test {
protected:
    static constexpr std::size_t kWidth = 1500, kHeight = 900;

    static void SetUpTestSuite() {
        folder_ = new test::ImageFolder;
        chain_ = new test::StoredImage(test::stored_chain(kWidth, kHeight, 1, OIIO::TypeDesc::UINT8, 3, 64));
        test::store(folder_->at("chain.tif"), {*chain_});
    }
    static void TearDownTestSuite() {
        delete chain_;
        delete folder_;
    }
    // Streams all files with more than 64 KiB. The array has level 3, of 187 x 112 texels.
    static std::shared_ptr<const Document> open(const std::string& name = "chain.tif", std::size_t budget = 128 << 10) {
        return Document::open({.paths = {folder_->at(name)}}, Device::cpu(), {},
                              StreamingOptions{.budget = budget, .max_loaded = std::size_t{64} << 10});
    }
    static float code(int level, std::size_t x, std::size_t y) {
        const std::size_t width = std::max<std::size_t>(kWidth >> level, 1);
        return static_cast<float>(
                   std::to_integer<int>(chain_->levels[static_cast<std::size_t>(level)][y * width + x])) /
               255.0f;
    }
    static Scene scene(const std::shared_ptr<const Document>& document, double zoom, Position center) {
        Scene out{.session = {}, .shown = document, .against = {}, .width = 64, .height = 64};
        out.session.view = {zoom, center};
        out.session.fits = false;
        return out;
    }
    // Makes the texels of the scene resident.
    static void see(const Scene& scene) {
        scene.shown->streamed()->look(streamed_parts(scene));
        settle(*scene.shown->streamed());
    }
    static Values values(const Scene& scene) {
        const PlanePixel at = canvas_origin(scene);
        return values_of(scene, {at.x, at.y, scene.width, scene.height}, Quality::full);
    }

    static test::ImageFolder* folder_;
    static test::StoredImage* chain_;
};
test::ImageFolder* StreamedDocumentTest::folder_ = nullptr;
test::StoredImage* StreamedDocumentTest::chain_ = nullptr;

TEST_F(StreamedDocumentTest, ArrayHasACoarseLevelAndPositionsReferToTheFile) {
    const auto document = open("chain.tif", std::size_t{1} << 20);
    ASSERT_NE(document->streamed(), nullptr);
    EXPECT_GT(document->halvings(), 0);
    EXPECT_EQ(document->whole().extent, (Extent{kWidth, kHeight}));
    EXPECT_LE(packed_bytes(document->info()), std::size_t{256} << 10);
    EXPECT_THAT(halving_text(*document), HasSubstr("Streamed: of 1500 x 900 texels"));
    EXPECT_EQ(Document::open({.paths = {folder_->at("chain.tif")}}, Device::cpu())->streamed(), nullptr);
    const auto small = Document::open({.paths = {folder_->at("chain.tif")}}, Device::cpu(), {}, StreamingOptions{});
    EXPECT_EQ(small->streamed(), nullptr) << "it fits";
    EXPECT_EQ(small->halvings(), 0);
}

TEST_F(StreamedDocumentTest, PixelsShowTheLevelThatSuitsTheZoom) {
    const auto document = open("chain.tif", std::size_t{1} << 20);
    for (const int level : {0, 1}) {
        const Scene now = scene(document, std::ldexp(1.0, -level), {700, 400});
        see(now);
        const Values seen = values(now);
        EXPECT_EQ(seen.quality, Quality::full);
        const PlanePixel at = canvas_origin(now);
        for (std::size_t y = 0; y < 64; ++y) {
            for (std::size_t x = 0; x < 64; ++x) {
                ASSERT_EQ(seen.values[y * 64 + x][0],
                          code(level, static_cast<std::size_t>(at.x) + x, static_cast<std::size_t>(at.y) + y))
                    << "level " << level << " at " << x << ", " << y;
            }
        }
    }
    // Several texels of a level are averaged.
    const Scene reduced = scene(document, 0.75, {700, 400});
    ASSERT_EQ(streamed_parts(reduced).size(), 1u);
    EXPECT_EQ(streamed_parts(reduced)[0].level, 0);
    // The array is fine enough.
    EXPECT_TRUE(streamed_parts(scene(document, std::ldexp(1.0, -document->halvings()), {700, 400})).empty());
}

TEST_F(StreamedDocumentTest, CoarserTexelsAreShownUntilTheirTilesAreRead) {
    const auto document = open("chain.tif", std::size_t{1} << 20);
    const Scene now = scene(document, 1, {700, 400});
    const Values before = values(now);
    EXPECT_EQ(before.quality, Quality::quick);
    const int level = document->halvings();
    const PlanePixel at = canvas_origin(now);
    const std::size_t x = static_cast<std::size_t>(at.x), y = static_cast<std::size_t>(at.y);
    EXPECT_EQ(before.values[0][0], code(level, x >> level, y >> level));
    EXPECT_THAT(words_of(*document, {}, x, y), testing::StartsWith("about "));
    EXPECT_EQ(inspect_texel(now, {}, x, y).stored[0].decimal,
              std::to_string(std::to_integer<int>(chain_->levels[0][y * kWidth + x])))
        << "the inspector reads the file";
    EXPECT_THAT(inspect_texel(now, {}, x + 1000, y).display_problem, HasSubstr("coarser texel"));
    see(now);
    EXPECT_EQ(values(now).quality, Quality::full);
    EXPECT_EQ(words_of(*document, {}, x, y), fmt::format("{:.4f}", code(0, x, y)));
    EXPECT_EQ(inspect_texel(now, {}, x, y).display_problem, "");
}

TEST_F(StreamedDocumentTest, FilesThatCannotBeStreamedAreLoadedAndTheReasonIsTold) {
    const auto document = open("chain.tif", 1);
    EXPECT_EQ(document->streamed(), nullptr);
    EXPECT_THAT(document->streaming_problem(), HasSubstr("budget"));
    EXPECT_THAT(halving_text(*document), HasSubstr("not streamed"));
    // Without levels there is nothing to stream.
    const test::StoredImage flat = test::stored_image(700, 500, 1, OIIO::TypeDesc::UINT8, 4);
    test::store(folder_->at("flat.tif"), {flat});
    EXPECT_EQ(open("flat.tif")->streamed(), nullptr);
}

TEST_F(StreamedDocumentTest, TilesOfAChangedFileFailAndSayWhy) {
    std::filesystem::copy_file(folder_->at("chain.tif"), folder_->at("changes.tif"));
    const auto document = open("changes.tif", std::size_t{1} << 20);
    test::store(folder_->at("changes.tif"), {test::stored_chain(kWidth + 1, kHeight, 1, OIIO::TypeDesc::UINT8, 9, 64)});
    see(scene(document, 1, {700, 400}));
    const StreamedStatus status = document->streamed()->status();
    ASSERT_FALSE(status.failures.empty());
    EXPECT_THAT(status.failures[0].message, HasSubstr("has changed"));
    EXPECT_NO_THROW((void)values(scene(document, 1, {700, 400})));
}

}  // namespace
}  // namespace texton::viewer

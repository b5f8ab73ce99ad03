#include <texton/image_load.h>

#include <algorithm>
#include <thread>

#include <texton/deferred_array.h>
#include <texton/error.h>
#include <texton/fill.h>
#include <texton/image_save.h>

#include "tests/support/arrays.h"
#include "tests/support/default_stream.h"
#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"
#include "tests/support/on_every_device.h"
#include "tests/support/zstd.h"

// Loads files into arrays of every kind on every device.

// Defined only in programs with a sanitizer.
extern "C" __attribute__((weak)) void __asan_init();
extern "C" __attribute__((weak)) void __tsan_init();

namespace texton {
namespace {

namespace fs = std::filesystem;
using OIIO::TypeDesc;
using test::Bytes;
using test::download;
using test::same_bytes;
using test::StoredImage;

class ImageLoadTest : public test::OnEveryDevice {
protected:
    fs::path at(const std::string& name) const { return folder_.at(name); }
    test::ImageFolder folder_;
};

TEST_P(ImageLoadTest, EveryKindIsLoadedFromDdsAndKtx2BitForBit) {
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : test::formats_of_every_size()) {
            if (!test::has_arrays(kind, format)) continue;
            const test::ReferenceArray reference(test::small_info(kind, format), 3);
            SCOPED_TRACE(test::describe(reference.info()));
            const Array source(Device::cpu(), reference.info());
            test::upload(source, reference);
            save(at("a.dds"), source);
            save(at("a.ktx2"), source);
            save(at("compressed.ktx2"), source, {.compression = test::zstd_if_built()});
            for (const char* name : {"a.dds", "a.ktx2", "compressed.ktx2"}) {
                const Array loaded = load(device(), open_image(at(name)));
                EXPECT_EQ(loaded.device(), device());
                EXPECT_TRUE(test::holds(loaded, reference)) << name;
            }
        }
    }
}

TEST_P(ImageLoadTest, MipChainsWidenedChannelsAndRotatedImagesAreLoaded) {
    StoredImage chain = test::stored_chain(300, 200, 3, TypeDesc::UINT8, 3, 32);
    chain.spec.attribute("Orientation", 6);
    const ImageFile image = open_image(test::store(at("a.tif"), {chain}));
    ASSERT_EQ(image.info().levels, 9);
    ASSERT_EQ(image.info().extent, (Extent{200, 300}));
    const Array loaded = load(device(), image, {.usage = {.surface = true}});
    EXPECT_TRUE(loaded.info().usage.surface);
    for (int level = 0; level < 9; ++level) {
        EXPECT_TRUE(same_bytes(download(loaded.view({.level = level})), test::read_part(image, {.level = level})));
    }
}

TEST_P(ImageLoadTest, ALoadIsOrderedAfterTheDefaultStream) {
    const ImageFile image = open_image(test::store(at("a.tif"), {test::stored_image(64, 48, 4, TypeDesc::UINT8, 3)}));
    const Array there(device(), {.format = image.info().format, .extent = image.info().extent});
    test::after_default_stream(
        device(), [&](const Stream& standard) { fill(there.view(), std::uint8_t{7}, standard); },
        [&] { load(there, image); });
    EXPECT_TRUE(same_bytes(download(there.view()), test::read_part(image)));
}

TEST_P(ImageLoadTest, CrossesAndEquirectangularImagesAreLoadedAsCubes) {
    const fs::path cross = test::store(at("a.tif"), {test::stored_image(64, 48, 4, TypeDesc::UINT16, 3)});
    const fs::path around = test::store(at("b.exr"), {test::stored_image(64, 32, 4, TypeDesc::UINT16, 3)});
    for (const fs::path& path : {cross, around}) {
        const ImageFile image = open_image(path, {.kind = ArrayKind::cubemap});
        EXPECT_TRUE(same_bytes(download(load(device(), image).view()), test::read_part(image)));
    }
}

TEST_P(ImageLoadTest, PlanarFramesRoundTrip) {
    for (const Format format : {Format::nv12, Format::p010, Format::p016, Format::nv16}) {
        SCOPED_TRACE(name(format));
        const Extent extent{64, 36};
        const Bytes frames = test::pattern(2 * packed_bytes(format, extent), 3);
        const ImageFile image =
            open_image(test::write_bytes(at("a.yuv"), frames), {.raw = RawFrames{format, extent, 1}});
        const PlanarArray loaded = load_planar(device(), image);
        EXPECT_EQ(loaded.format(), format);
        save(at("b.yuv"), loaded);
        EXPECT_TRUE(same_bytes(test::file_bytes(at("b.yuv")), std::span(frames).subspan(frames.size() / 2)));
        const PlanarArray there(device(), format, extent);
        load(there, image);
        EXPECT_TRUE(same_bytes(download(there.plane(1).view()), test::read_part(image.plane(1))));
        EXPECT_TRUE(same_bytes(download(load(device(), image.plane(0)).view()), test::read_part(image.plane(0))));
        test::expect_error([&] { (void)load(device(), image); }, ErrorCode::bad_argument, "texton::load",
                           {"a.yuv", name(format)});
        const PlanarArray other(device(), format, {64, 38});
        test::expect_error([&] { load(other, image); }, ErrorCode::bad_argument, "texton::load", {"a.yuv", "64 x 38"});
    }
}

TEST_P(ImageLoadTest, AnExistingArrayIsFilledIfItMatchesTheImage) {
    const StoredImage stored = test::stored_image(40, 30, 2, TypeDesc::UINT16, 3);
    const ImageFile image = open_image(test::store(at("a.tif"), {stored}));
    const Array array(device(), {.format = Format::rg16_unorm, .extent = {40, 30}, .usage = {.gather = true}});
    load(array, image);
    EXPECT_TRUE(same_bytes(download(array.view()), stored.levels[0]));
    for (const ArrayInfo& info :
         {ArrayInfo{.format = Format::rg16_uint, .extent = {40, 30}},
          ArrayInfo{.format = Format::rg16_unorm, .extent = {40, 31}},
          ArrayInfo{.format = Format::rg16_unorm, .extent = {40, 30}, .levels = 2},
          ArrayInfo{.format = Format::rg16_unorm, .extent = {40, 30}, .kind = ArrayKind::layered_2d}}) {
        const Array other(device(), info);
        test::expect_error([&] { load(other, image); }, ErrorCode::bad_argument, "texton::load", {"a.tif"});
    }
}

TEST_P(ImageLoadTest, ADeferredArrayIsRefusedBeforeMappingAndFilledAfterwards) {
    const StoredImage stored = test::stored_image(40, 30, 4, TypeDesc::UINT8, 3);
    const ImageFile image = open_image(test::store(at("a.tif"), {stored}));
    DeferredArray array(device(), image.info());
    test::expect_error([&] { load(array.array(), image); }, ErrorCode::not_mapped, "texton::");
    TilePool pool(device());
    const Tiles tiles = pool.allocate(array.requirements().bytes / kTileBytes);
    const Stream stream(device());
    array.map(tiles, stream);
    load(array.array(), image);
    EXPECT_TRUE(same_bytes(download(array.array().view()), stored.levels[0]));
}

// 40 MiB in rows, so all buffers are used several times.
class LargeImageLoadTest : public ImageLoadTest {
protected:
    static constexpr int kSide = 2560;
    ImageFile large(const std::string& name, bool tiled) const {
        StoredImage stored = test::stored_image(kSide, kSide, 3, TypeDesc::UINT16, 3);
        if (tiled) stored.spec.tile_width = stored.spec.tile_height = 128;
        stored.spec.attribute("compression", "none");
        return open_image(test::store(at(name), {stored}));
    }
};

TEST_P(LargeImageLoadTest, AllBandsAreLoadedAndTheTimingCoversEachBand) {
    for (const bool tiled : {false, true}) {
        const ImageFile image = large("a.tif", tiled);
        LoadTiming timing;
        const Array loaded = load(device(), image, {.timing = &timing});
        EXPECT_TRUE(same_bytes(download(loaded.view()), test::read_part(image)));
        ASSERT_GT(timing.steps.size(), 3u);
        std::size_t bytes = 0;
        for (const LoadStep& step : timing.steps) {
            bytes += step.bytes;
            EXPECT_LE(step.decode_begin + step.convert, step.decode_end);
            EXPECT_LE(step.decode_end, step.copy_begin + 0.01);  // CUDA events measure time in float
            EXPECT_LE(step.copy_begin, step.copy_end);
            EXPECT_LE(step.copy_end, timing.total + 0.01);
        }
        EXPECT_EQ(bytes, packed_bytes(image.info()));
        EXPECT_LE(timing.peak, std::size_t{48} << 20);
        const std::string text = to_string(timing);
        EXPECT_NE(text.find("decoded at"), std::string::npos);
        EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), timing.steps.size() + 2);
    }
}

TEST_P(LargeImageLoadTest, TheTimingSeparatesConversionsFromDecoding) {
    (void)large("a.tif", false);
    // Other programs can delay a load, so the shortest of several counts.
    const auto converting = [&](const ImageOptions& options) {
        const ImageFile image = open_image(at("a.tif"), options);
        double shortest = 1e9;
        for (int round = 0; round < 5; ++round) {
            LoadTiming timing;
            (void)load(device(), image, {.timing = &timing});
            double sum = 0;
            for (const LoadStep& step : timing.steps) sum += step.convert;
            shortest = std::min(shortest, sum);
        }
        return shortest;
    };
    EXPECT_GT(converting({.format = Format::rgba32_float}), 2 * converting({}));
}

TEST_P(LargeImageLoadTest, ProgressGrowsToTheTotal) {
    const ImageFile image = large("a.tif", false);
    std::vector<std::size_t> done;
    (void)load(device(), image, {.progress = [&](const ImageProgress& progress) {
                   EXPECT_EQ(progress.total, packed_bytes(image.info()));
                   done.push_back(progress.done);
                   return true;
               }});
    ASSERT_GT(done.size(), 3u);
    EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
    EXPECT_EQ(done.back(), packed_bytes(image.info()));
}

// The fixture checks that no device memory leaks.
TEST_P(LargeImageLoadTest, ACanceledLoadLeaksNothing) {
    const ImageFile image = large("a.tif", false);
    int calls = 0;
    try {
        (void)load(device(), image, {.progress = [&](const ImageProgress&) { return ++calls < 2; }});
        FAIL() << "nothing was thrown";
    } catch (const Canceled& canceled) {
        test::expect_well_formed(canceled);
        EXPECT_NE(canceled.problem().find("a.tif"), std::string::npos);
    }
    EXPECT_EQ(calls, 2);
    (void)load(device(), image);
    EXPECT_THROW((void)load(device(), image, {.progress = [](const ImageProgress&) -> bool { throw 5; }}), int);
}

TEST_P(LargeImageLoadTest, ATruncatedFileFailsAndIsNamed) {
    (void)large("a.tif", false);
    const Bytes whole = test::file_bytes(at("a.tif"));
    const fs::path cut = test::write_bytes(at("cut.tif"), std::span(whole).first(whole.size() / 2));
    test::expect_error([&] { (void)load(device(), open_image(cut)); }, ErrorCode::io, "texton::", {"cut.tif"});
}

TEST_P(ImageLoadTest, ImagesBeyondTheDeviceLimitsAreRefusedAndNamed) {
    const StoredImage wide = test::stored_image(32769, 2, 1, TypeDesc::UINT8, 3);
    const ImageFile image = open_image(test::store(at("wide.tif"), {wide}), {.kind = ArrayKind::layered_2d});
    test::expect_error([&] { (void)load(device(), image); }, ErrorCode::overflow, "texton::load",
                       {"wide.tif", "32769"});
}

// Besides the array, load() may hold at most the memory that its header states. The test reads the memory of the
// process from /proc.
class MemoryBoundTest : public ImageLoadTest {
protected:
    static std::size_t status(const char* key) {
        std::ifstream in("/proc/self/status");
        for (std::string line; std::getline(in, line);) {
            if (line.starts_with(key)) return std::stoul(line.substr(line.find(':') + 1)) << 10;
        }
        return 0;
    }
    // Returns the peak of the process memory during the action, minus the memory before.
    template <class Action>
    static std::size_t growth(Action action) {
        std::ofstream("/proc/self/clear_refs") << 5;
        const std::size_t before = status("VmRSS");
        action();
        return status("VmHWM") - std::min(before, status("VmHWM"));
    }
    // TEXTON_LONG_RUN uses an image of 16 GiB.
    static int side() { return std::getenv("TEXTON_LONG_RUN") != nullptr ? 65536 : 8192; }
    // A compressed file: all texels are zeros, so it takes little disk space.
    fs::path huge(int side) const {
        const fs::path path = at("huge.tif");
        const auto out = OIIO::ImageOutput::create(path.string());
        OIIO::ImageSpec spec(side, side, 4, TypeDesc::UINT8);
        spec.tile_width = spec.tile_height = 256;
        spec.attribute("compression", "zip");
        EXPECT_TRUE(out->open(path.string(), spec));
        const Bytes tile(256 * 256 * 4);
        for (int y = 0; y < side; y += 256) {
            for (int x = 0; x < side; x += 256) EXPECT_TRUE(out->write_tile(x, y, 0, TypeDesc::UINT8, tile.data()));
        }
        EXPECT_TRUE(out->close());
        return path;
    }
};

TEST_P(MemoryBoundTest, ALoadStaysWithinItsDocumentedMemoryBound) {
    if (__asan_init != nullptr || __tsan_init != nullptr) GTEST_SKIP() << "a sanitizer keeps freed memory";
    const auto across = static_cast<std::size_t>(side());
    const ImageFile image = open_image(huge(side()));
    const std::size_t texels = packed_bytes(image.info());
    ASSERT_EQ(texels, across * across * 4);
    const std::size_t reading = growth([&] {
        Bytes band(across * 256 * 4);
        for (std::size_t y = 0; y < across; y += 256) image.read({.region = Region{{0, y, 0}, {across, 256}}}, band);
    });
    std::size_t loading = growth([&] { (void)load(device(), image); });
    if (on_cpu()) loading -= std::min(loading, texels);
    RecordProperty("megabytes_to_read", static_cast<int>(reading >> 20));
    RecordProperty("megabytes_to_load", static_cast<int>(loading >> 20));
    EXPECT_LE(reading, across * 256 * 4 + (std::size_t{64} << 20));
    EXPECT_LE(loading, std::size_t{(48 + 64)} << 20);
}

TEST_P(ImageLoadTest, ManyThreadsReadOneImageConcurrently) {
    StoredImage stored = test::stored_image(256, 256, 1, TypeDesc::UINT16, 3);
    stored.spec.tile_width = stored.spec.tile_height = 32;
    const ImageFile image = open_image(test::store(at("a.tif"), {stored}));
    std::vector<Bytes> read(4, Bytes(stored.levels[0].size()));
    std::vector<std::thread> threads;
    for (Bytes& bytes : read) {
        threads.emplace_back([&] {
            for (std::size_t y = 0; y < 256; y += 16) {
                image.read({.region = Region{{0, y, 0}, {256, 16}}}, std::span(bytes).subspan(y * 512, 16 * 512));
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const Bytes& bytes : read) EXPECT_TRUE(same_bytes(bytes, stored.levels[0]));
}

INSTANTIATE_TEST_SUITE_P(Devices, ImageLoadTest, test::every_device(), test::device_label);
INSTANTIATE_TEST_SUITE_P(Devices, LargeImageLoadTest, test::every_device(), test::device_label);
INSTANTIATE_TEST_SUITE_P(Devices, MemoryBoundTest, test::every_device(), test::device_label);

}  // namespace
}  // namespace texton

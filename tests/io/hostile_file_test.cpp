#include <OpenImageIO/imageio.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <new>
#include <span>
#include <string>
#include <vector>

#include <texton/image.h>
#include <texton/image_file.h>
#include <texton/image_load.h>
#include <texton/image_save.h>

#include "tests/support/avi_file.h"
#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"
#include "tests/support/tiff_file.h"

// Files that claim more than they contain, and reads from tasks.

extern "C" __attribute__((weak)) void __asan_init();
extern "C" __attribute__((weak)) void __tsan_init();

namespace texton {
namespace {

namespace fs = std::filesystem;
using test::Bytes;

class HostileFileTest : public testing::Test {
protected:
    fs::path at(const std::string& name) const { return folder_.at(name); }

    // Expects an Error that names the file from each function that reads texels.
    void expect_refused(const fs::path& path) const {
        const std::string name = path.filename().string();
        const auto refused = [&](const char* how, const std::function<void()>& action) {
            SCOPED_TRACE(how);
            try {
                action();
                ADD_FAILURE() << name << " was read";
            } catch (const Error& error) {
                test::expect_well_formed(error);
                EXPECT_NE(error.problem().find(name), std::string::npos) << error.what();
            }
        };
        refused("read_image", [&] { (void)read_image(path); });
        refused("open_image and read", [&] {
            const ImageFile image = open_image(path);
            Bytes row(row_bytes(image.info().format, image.info().extent.width));
            image.read({.region = Region{{}, {image.info().extent.width, 1}}}, row);
        });
        refused("load", [&] { (void)load(Device::cpu(), open_image(path)); });
    }

    test::ImageFolder folder_;
};

std::size_t memory_status(const char* key) {
    std::ifstream in("/proc/self/status");
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with(key)) return std::stoul(line.substr(line.find(':') + 1)) << 10;
    }
    return 0;
}

// Returns the peak of the process memory during the action, minus the memory before.
std::size_t memory_growth(const std::function<void()>& action) {
    std::ofstream("/proc/self/clear_refs") << 5;
    const std::size_t before = memory_status("VmRSS");
    action();
    return memory_status("VmHWM") - std::min(before, memory_status("VmHWM"));
}

TEST_F(HostileFileTest, TilesWhoseBytesExceed64BitsAreRefused) {
    constexpr std::uint32_t kLong = 1u << 30;
    for (const auto& [length, depth] : {std::pair{kLong, kLong}, {kLong, 1u}, {1u << 20, 1u << 20}, {16u, kLong}}) {
        SCOPED_TRACE(std::to_string(length) + " x " + std::to_string(depth));
        expect_refused(test::write_bytes(at("tiles.tif"), test::tiff_of_one_tile(16, 16, 16, length, depth)));
    }
}

// Both files have less than 200 bytes.
TEST_F(HostileFileTest, AClaimedSizeTakesNoMemory) {
    if (__asan_init != nullptr || __tsan_init != nullptr) GTEST_SKIP() << "a sanitizer keeps freed memory";
    expect_refused(test::write_bytes(at("first.tif"), test::tiff_of_one_tile(16, 16, 16, 16)));  // starts the threads
    for (const auto& [name, bytes] : {std::pair{"tile.tif", test::tiff_of_one_tile(24000, 24000, 24000, 24000)},
                                      {"strip.tif", test::tiff_of_one_strip(24000, 24000)},
                                      {"row.tif", test::tiff_of_one_strip(1u << 30, 1)},
                                      {"column.tif", test::tiff_of_one_strip(1, 1u << 30)}}) {
        const fs::path path = test::write_bytes(at(name), bytes);
        EXPECT_LT(memory_growth([&] { expect_refused(path); }), std::size_t{64} << 20) << name;
    }
}

// Waits of threads for each other would end only with the time limit of the test program.
TEST_F(HostileFileTest, FacesOfAPanoramaAreReadFromManyTasks) {
    const Bytes texels = test::pattern(2048 * 1024 * 4, 3);
    save(at("panorama.dds"), host_view(texels.data(), Format::rgba8_unorm, {2048, 1024}));
    const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, 8);
    tbb::task_arena arena(8);
    for (int round = 0; round < 10; ++round) {
        const ImageFile cube = open_image(
            at("panorama.dds"), {.kind = ArrayKind::cubemap, .cube = CubeLayout::equirectangular, .cube_side = 16});
        std::vector<Bytes> faces(64, Bytes(16 * 16 * 4));
        arena.execute([&] {
            tbb::parallel_for(std::size_t{0}, faces.size(),
                              [&](std::size_t i) { cube.read({.face = static_cast<int>(i % 6)}, faces[i]); });
        });
        for (std::size_t i = 6; i < faces.size(); ++i) EXPECT_EQ(faces[i], faces[i % 6]);
    }
}

TEST_F(HostileFileTest, SizesThatDoNotFitInAnIntAreRefused) {
    const Bytes texels(16);
    save(at("long.dds"), host_view(texels.data(), Format::r8_unorm, {16, 1}));
    Bytes bytes = test::file_bytes(at("long.dds"));
    const std::uint32_t width = 1u << 31;
    std::memcpy(bytes.data() + 16, &width, sizeof width);
    test::write_bytes(at("long.dds"), bytes);
    fs::resize_file(at("long.dds"), bytes.size() + width);  // sparse
    test::expect_error([&] { (void)open_image(at("long.dds")); }, ErrorCode::io, "texton::open_image", {"long.dds"});

    const RawFrames frames{Format::nv12, {std::size_t{1} << 32, 2}};
    test::write_bytes(at("frames.yuv"), Bytes(24));
    test::expect_error([&] { (void)open_image(at("frames.yuv"), {.raw = frames}); }, ErrorCode::bad_argument,
                       "texton::open_image", {"frames.yuv"});
    const RawFrames huge{Format::nv12, {std::size_t{1} << 40, std::size_t{1} << 40}};
    test::expect_error([&] { (void)open_image(at("frames.yuv"), {.raw = huge}); }, ErrorCode::bad_argument,
                       "texton::open_image", {"frames.yuv"});

    const auto view = host_view(texels.data(), Format::r8_unorm, {4, 4});
    for (const Extent tile : {Extent{(std::size_t{1} << 32) + 16, 16}, Extent{0, 16}, Extent{16, std::size_t{1} << 40}})
        test::expect_error([&] { save(at("tiles.tif"), view, {.tile = tile}); }, ErrorCode::bad_argument,
                           "texton::save", {"tiles.tif", "tile"});
}

// A TIFF whose left edge is so far to the right that its right edge exceeds the range of int.
TEST_F(HostileFileTest, WindowsBeyondTheLargestCoordinateAreRefused) {
    for (const std::uint32_t left : {2147483520u, 2147483000u}) {
        Bytes bytes = test::tiff_of_one_tile(4096, 16, 16, 16);
        const std::uint32_t entry[3] = {286u | 4u << 16, 1, left};  // XPosition in place of TileDepth
        std::memcpy(bytes.data() + 10 + 12 * 10, entry, sizeof entry);
        const fs::path path = test::write_bytes(at("window.tif"), bytes);
        test::expect_error([&] { (void)open_image(path); }, ErrorCode::io, "texton::open_image", {"window.tif"});
    }
}

// OpenImageIO takes the number of frames from the header of the movie.
TEST_F(HostileFileTest, AMovieThatClaimsMoreFramesThanItHasBytesIsRefused) {
    setenv("TEXTON_READER", TEXTON_TEST_READER, 0);
    const std::vector<std::uint8_t> frame(16 * 8 * 3);
    const auto movie = [&](const std::string& name, std::uint32_t claimed) {
        const std::vector<std::uint8_t> bytes = test::avi_file(16, 8, "", {frame, frame}, claimed);
        return test::write_bytes(at(name), std::as_bytes(std::span(bytes)));
    };
    const fs::path good = movie("good.avi", 2), bad = movie("bad.avi", 5000000);
    for (const bool isolated : {false, true}) {
        SCOPED_TRACE(isolated);
        EXPECT_EQ(open_image(good, {}, {.isolated = isolated}).metadata().parts, 2u);
        test::expect_error([&] { (void)open_image(bad, {}, {.isolated = isolated}); }, ErrorCode::io,
                           "texton::open_image", {"bad.avi", "more than 1048 images"});
    }
}

TEST_F(HostileFileTest, RawFramesThatAreNotCompleteAreRefused) {
    const RawFrames frames{Format::nv12, {4, 4}};
    for (std::size_t bytes = 0; bytes < 48; ++bytes) {
        test::write_bytes(at("frames.yuv"), Bytes(bytes));
        if (bytes == 24) continue;  // one frame
        test::expect_error([&] { (void)open_image(at("frames.yuv"), {.raw = frames}); }, ErrorCode::io,
                           "texton::open_image", {"frames.yuv"});
    }
}

TEST_F(HostileFileTest, AMemoryTooWideForAnImageIsRefused) {
    const std::byte texel{};
    const std::size_t width = std::size_t{1} << 32;  // never read
    test::expect_error(
        [&] {
            (void)image_of(host_view(&texel, Format::r8_unorm, {width, 1}));
        },
        ErrorCode::overflow, "texton::image_of", {"4294967296"});
}

TEST_F(HostileFileTest, ExceptionsOfCallbacksPassUnchanged) {
    const fs::path path = test::store(at("a.tif"), {test::stored_image(8, 8, 1, OIIO::TypeDesc::UINT8, 1)});
    const ImageFile image = open_image(path);
    const auto throwing = [](auto thrown) { return [thrown](const ImageProgress&) -> bool { throw thrown; }; };
    EXPECT_THROW((void)load(Device::cpu(), image, {.progress = throwing(5)}), int);
    EXPECT_THROW((void)load(Device::cpu(), image, {.progress = throwing(std::bad_alloc())}), std::bad_alloc);
    for (const char* name : {"b.tif", "b.dds", "b.png"}) {
        EXPECT_THROW(save(at(name), image, {.progress = throwing(5)}), int);
        EXPECT_THROW(save(at(name), image, {.progress = throwing(std::length_error("mine"))}), std::length_error);
        EXPECT_THROW(save(at(name), image, {.progress = throwing(std::bad_alloc())}), std::bad_alloc);
    }
    EXPECT_EQ(folder_.files(), 1);
}

TEST_F(HostileFileTest, AnExrThatSpecifiesStripsWithoutRowsIsRefused) {
    test::StoredImage image = test::stored_image(8, 8, 4, OIIO::TypeDesc::HALF, 3);
    image.spec.attribute("user:RowsPerStrip", 7);  // the writer leaves attributes of TIFF out
    const fs::path path = test::store(at("strips.exr"), {image});
    Bytes bytes = test::file_bytes(path);
    const std::string name("user:RowsPerStrip\0int\0\4\0\0\0", 26);
    const auto found = std::search(bytes.begin(), bytes.end(), name.begin(), name.end(),
                                   [](std::byte a, char b) { return a == static_cast<std::byte>(b); });
    ASSERT_NE(found, bytes.end());
    std::copy_n(reinterpret_cast<const std::byte*>("tiff"), 4, found);  // OpenImageIO divides by it for every kind
    *(found + 26) = std::byte{0};
    test::write_bytes(path, bytes);
    test::expect_error([&] { (void)read_image(path); }, ErrorCode::io, "texton::read_image",
                       {"strips.exr", "strips of 0 rows"});
    test::expect_error([&] { (void)open_image(path); }, ErrorCode::io, "texton::open_image", {"strips of 0 rows"});
}

}  // namespace
}  // namespace texton

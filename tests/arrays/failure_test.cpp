// What remains after a call of the device has failed: each call of an operation is made to fail in turn.
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/deferred_array.h>
#include <texton/error.h>
#include <texton/fill.h>
#include <texton/graph.h>
#include <texton/linear.h>
#include <texton/managed.h>
#include <texton/physical.h>
#include <texton/pinned.h>
#include <texton/pitched.h>
#include <texton/planar_array.h>
#include <texton/pool.h>
#include <texton/registered.h>
#include <texton/sample.h>
#include <texton/sparse_array.h>
#include <texton/surface.h>
#include <texton/texture.h>
#include <texton/tile_pool.h>

#include "tests/support/expect_error.h"
#include "tests/support/failing_device.h"
#include "tests/support/pages.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::download;
using test::pattern;
using test::same_bytes;
using test::upload;

class FailureTest : public testing::Test {
protected:
    // Never destroyed, like other devices.
    static test::FailingDevice& failing() {
        static auto& made = *new test::FailingDevice(Device::cpu());
        return made;
    }
    static Device device() { return failing().device(); }
    static std::size_t free_bytes() { return Device::cpu().memory().free; }

    // Calls `operation` with its first, second, ... call of the device failing, until none fails any more, and then
    // with the first call of each function failing, because the calls can depend on what an operation before has left.
    // Each time `check` is called with the result: true if the operation threw Error. Returns how many calls failed.
    static int each_failure(const std::function<void()>& operation, const std::function<void(bool)>& check) {
        int failures = 0;
        while (fails(operation, check, failures)) ++failures;
        for (const std::string& function : std::set(failing().called())) {
            if (fails(operation, check, 0, function)) ++failures;
        }
        return failures;
    }

private:
    static bool fails(const std::function<void()>& operation, const std::function<void(bool)>& check, int calls,
                      const std::string& function = {}) {
        bool threw = false;
        failing().fail_after(calls, function);
        try {
            operation();
        } catch (const Error& error) {
            threw = true;
            EXPECT_EQ(error.code(), ErrorCode::device_failure) << error.what();
        }
        const std::string failed = failing().finish();
        SCOPED_TRACE(failed.empty() ? "no call failed" : failed + " failed");
        EXPECT_FALSE(failed.empty() && threw);
        check(threw);
        return !failed.empty();
    }
};

TEST_F(FailureTest, AnObjectThatCannotBeCreatedLeavesNoMemoryAllocated) {
    const ArrayInfo info{.format = Format::rgba8_uint, .extent = {64, 64}, .levels = 3, .usage = {.surface = true}};
    const std::size_t unit = Physical::granularity(device());
    const test::Pages pages(1);
    const std::vector<std::pair<const char*, std::function<void()>>> makers{
        {"Linear", [] { const Linear made(device(), 4096); }},
        {"Linear::async", [] { (void)Linear::async(4096, Stream(device())); }},
        {"Pitched2D",
         [] {
             const Pitched2D made(device(), Format::r8_uint, {64, 64});
         }},
        {"Pitched3D",
         [] {
             const Pitched3D made(device(), Format::r8_uint, {64, 64, 2});
         }},
        {"Pinned", [] { const Pinned made(device(), 4096); }},
        {"Registered", [&] { const Registered made(device(), pages.all()); }},
        {"Managed", [] { const Managed made(device(), 4096); }},
        {"Pool", [] { (void)Pool(device()).allocate(4096, Stream(device())); }},
        {"AddressRange",
         [&] {
             AddressRange range(device(), 2 * unit);
             range.map(0, Physical(device(), unit));
             range.map(unit, Physical(device(), unit));
             range.set_access();
             (void)range.view(Format::r8_uint, {2 * unit});
             range.unmap(0);
         }},
        {"Graph",
         [] {
             const Stream stream(device());
             const Linear memory(device(), 4096);
             Graph::capture(stream, [&] {
                 const Linear inner = Linear::async(64, stream);
                 fill(inner.view(), std::uint8_t{1}, stream);
                 fill(memory.view(), std::uint8_t{1}, stream);
             }).launch(stream);
             stream.synchronize();
         }},
        {"Array", [&] { const Array made(device(), info); }},
        {"Texture", [&] { const Texture made(Array(device(), info), {.normalized_coordinates = true}); }},
        {"Surface", [&] { const Surface made{Array(device(), info)}; }},
        {"PlanarArray",
         [] {
             const PlanarArray made(device(), Format::nv12, {64, 64});
         }},
        {"memory_requirements", [&] { (void)memory_requirements(device(), info); }},
        {"DeferredArray",
         [&] {
             DeferredArray array(device(), info);
             const TilePool pool(device());
             const Stream stream(device());
             array.map(pool.allocate_bytes(array.requirements().bytes), stream);
             array.move(pool.allocate_bytes(array.requirements().bytes), stream);
             array.unmap(stream);
         }},
        {"SparseArray",
         [] {
             SparseArray array(device(), {Format::rgba8_uint, {256, 256}});
             const TilePool pool(device());
             const Stream stream(device());
             array.map({.extent = {2, 1, 1}}, pool.allocate(2), stream);
             array.unmap_all(stream);
         }},
    };
    for (const auto& [name, make] : makers) {
        SCOPED_TRACE(name);
        make();  // creates what the process keeps, for example default pools
        Device::cpu().synchronize();
        const std::size_t free = free_bytes();
        EXPECT_GT(each_failure(make,
                               [&](bool) {
                                   Device::cpu().synchronize();
                                   EXPECT_EQ(free_bytes(), free);
                               }),
                  0);
    }
}

TEST_F(FailureTest, ADeferredArrayKeepsItsMemoryAndItsTexelsIfAChangeFails) {
    const Stream stream(device());
    const TilePool pool(device());
    DeferredArray array(device(), {.format = Format::rgba8_uint, .extent = {200, 100}, .levels = 2});
    const std::size_t slots = array.requirements().bytes / kTileBytes;
    const test::Bytes bytes = pattern(200 * 100 * 4, 1);
    const auto texels = [&] { return download(array.array().view()); };
    Tiles current = pool.allocate(slots);
    Tiles other = pool.allocate(slots);
    array.map(current, stream);
    upload(array.array().view(), bytes);
    stream.synchronize();

    // Overwrites the memory of tiles that no array should be mapped to.
    const auto spoil = [&](const Tiles& tiles) {
        DeferredArray writer(device(), array.array().info());
        writer.map(tiles, stream);
        fill(writer.array().view(), std::uint8_t{0xEE}, stream);
        stream.synchronize();
    };
    // Expects that `moved` says which of the two has the array's memory, and makes that the current one.
    const auto check_tiles = [&](bool moved) {
        EXPECT_EQ(current.mapped(), moved ? 0u : slots);
        EXPECT_EQ(other.mapped(), moved ? slots : 0u);
        if (moved) std::swap(current, other);
    };
    EXPECT_GT(each_failure([&] { array.move(other, stream); },
                           [&](bool threw) {
                               check_tiles(!threw);
                               spoil(other);
                               EXPECT_TRUE(same_bytes(texels(), bytes));
                           }),
              0);
    array.move(other, stream);  // the array is still usable
    check_tiles(true);
    spoil(other);
    EXPECT_TRUE(same_bytes(texels(), bytes));
    EXPECT_GT(each_failure([&] { array.map(other, stream); },
                           [&](bool threw) {
                               check_tiles(!threw);
                               EXPECT_TRUE(threw ? same_bytes(texels(), bytes) : test::all_bytes(texels(), 0xEE));
                               if (threw) return;
                               array.map(other, stream);  // back to the memory with the texels
                               check_tiles(true);
                           }),
              0);
    EXPECT_GT(each_failure([&] { array.unmap(stream); },
                           [&](bool threw) {
                               EXPECT_EQ(array.mapped(), threw);
                               EXPECT_EQ(current.mapped(), threw ? slots : 0u);
                               array.map(current, stream);
                               EXPECT_TRUE(same_bytes(texels(), bytes));
                           }),
              0);
}

TEST_F(FailureTest, ASparseArrayKeepsItsTilesIfAChangeFails) {
    const Stream stream(device());
    const TilePool pool(device());
    SparseArray array(device(), {.format = Format::rgba8_uint, .extent = {256, 256}});
    const TileBox box{.extent = {1, 1, 1}};
    const Tiles tiles = pool.allocate(1);
    const View view = array.array().view({.region = Region{{}, {128, 128}}});
    const test::Bytes bytes = pattern(128 * 128 * 4, 1);
    array.map(box, tiles, stream);
    upload(view, bytes);
    array.unmap(box, stream);
    EXPECT_GT(each_failure([&] { array.map(box, tiles, stream); },
                           [&](bool threw) {
                               stream.synchronize();
                               EXPECT_EQ(array.resident(box), !threw);
                               EXPECT_EQ(tiles.mapped(), threw ? 0u : 1u);
                               EXPECT_TRUE(same_bytes(download(view), threw ? test::Bytes(bytes.size()) : bytes));
                               if (!threw) array.unmap(box, stream);
                           }),
              0);
    array.map(box, tiles, stream);
    EXPECT_GT(each_failure([&] { array.unmap(box, stream); },
                           [&](bool threw) {
                               stream.synchronize();
                               EXPECT_EQ(array.resident(box), threw);
                               EXPECT_EQ(tiles.mapped(), threw ? 1u : 0u);
                               EXPECT_TRUE(same_bytes(download(view), threw ? bytes : test::Bytes(bytes.size())));
                               if (!threw) array.map(box, tiles, stream);
                           }),
              0);
}

// A stream that stays in a capture would take all later work into a graph that nobody has.
TEST_F(FailureTest, ACaptureThatCannotEndLeavesTheStreamUsable) {
    const Stream stream(device());
    const Linear memory(device(), 64);
    EXPECT_GT(each_failure([&] { (void)Graph::capture(stream, [&] { fill(memory.view(), std::uint8_t{1}, stream); }); },
                           [&](bool) {
                               EXPECT_FALSE(stream.capturing());
                               fill(memory.view(), std::uint8_t{2}, stream);
                               stream.synchronize();
                               EXPECT_TRUE(test::all_bytes(download(memory.view()), 2));
                               fill(memory.view(), std::uint8_t{3});
                           }),
              0);
}

TEST_F(FailureTest, AGraphThatCannotFreeItsMemoryIsRefused) {
    const Stream stream(device());
    const std::size_t before = free_bytes();
    failing().fail_after(0, "free_async");
    test::expect_error(
        [&] { (void)Graph::capture(stream, [&] { fill(Linear::async(64, stream).view(), std::uint8_t{1}, stream); }); },
        ErrorCode::device_failure, "texton::Graph");
    EXPECT_EQ(failing().finish(), "free_async");
    stream.synchronize();
    EXPECT_EQ(free_bytes(), before);
}

TEST_F(FailureTest, AUseThatCannotBeRecordedIsWaitedFor) {
    const Stream stream(device());
    const Stream other(device());
    const TilePool pool(device());
    DeferredArray array(device(), {.format = Format::rgba8_uint, .extent = {200, 100}});
    array.map(pool.allocate_bytes(array.requirements().bytes), stream);
    fill(array.array().view(), std::uint8_t{1}, stream);
    stream.synchronize();
    failing().fail_after(0, "record_event");
    fill(array.array().view(), std::uint8_t{2}, other);
    EXPECT_EQ(failing().finish(), "record_event");
    EXPECT_TRUE(other.idle()) << "a later unmapping cannot wait for work that was not recorded";
    EXPECT_TRUE(test::all_bytes(download(array.array().view()), 2));
}

}  // namespace
}  // namespace texton

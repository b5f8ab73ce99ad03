// Requests that arrays, textures, surfaces and mappings reject, and valid requests at the limit that they accept. The
// errors that are the same on every device are in support/wrong_uses_*.cpp. This file tests the messages, the maximum
// sizes, and objects of different devices.
#include <texton/array.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/deferred_array.h>
#include <texton/fill.h>
#include <texton/linear.h>
#include <texton/pitched.h>
#include <texton/sample.h>
#include <texton/sparse_array.h>
#include <texton/surface.h>
#include <texton/texture.h>
#include <texton/tile_pool.h>

#include "tests/support/arrays.h"
#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/wrong_uses.h"

namespace texton {
namespace {

using test::Bytes;
using test::describe;
using test::expect_error;
using test::number_of;

class ArrayRefusalTest : public test::OnEveryDevice {
protected:
    void expect_refused(const ArrayInfo& info, ErrorCode code, std::initializer_list<std::string_view> fragments,
                        test::Caller where = test::Caller::here()) {
        SCOPED_TRACE(describe(info));
        const Error error = expect_error([&] { Array array(device(), info); }, code, "texton::Array", fragments, where);
        EXPECT_EQ(error.call(), "") << "the request reached the driver";
    }
    void expect_refused(const ArrayInfo& info, const Sampler& sampler,
                        std::initializer_list<std::string_view> fragments, test::Caller where = test::Caller::here()) {
        const Array array(device(), info);
        const Error error = expect_error([&] { Texture texture(array, sampler); }, ErrorCode::bad_argument,
                                         "texton::Texture", fragments, where);
        EXPECT_EQ(error.call(), "") << "the request reached the driver";
    }
    // Creates the array and writes the texel in its last corner.
    void expect_taken(const ArrayInfo& info) {
        SCOPED_TRACE(describe(info));
        const Array array(device(), info);
        const Extent box = test::level_box(info, 0);
        const View corner = array.view().region({{box.width - 1, box.height - 1, box.depth - 1}, {1, 1, 1}});
        const Bytes texel = test::pattern(texton::info(info.format).bytes, 1);
        test::upload(corner, texel);
        EXPECT_TRUE(test::same_bytes(test::download(corner), texel));
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, ArrayRefusalTest, test::every_device(), test::device_label);

// An array with one dimension or its number of layers at the device's limit, and the field to increment.
struct Edge {
    ArrayInfo info;
    std::size_t ArrayInfo::*layers = nullptr;
    std::size_t Extent::*side = nullptr;
    std::size_t limit = 0;
};

std::vector<Edge> edges(const DeviceLimits& limits) {
    constexpr Format kFormat = Format::r8_uint;
    std::vector<Edge> all;
    const auto side = [&](ArrayKind kind, std::size_t Extent::*which, std::size_t limit, int levels = 1,
                          ArrayUsage usage = {}) {
        ArrayInfo info{kFormat, {1, 1, 1}, kind, 1, levels, usage};
        info.extent.*which = limit;
        all.push_back({info, nullptr, which, limit});
    };
    const auto layers = [&](ArrayKind kind, std::size_t limit) {
        all.push_back({{kFormat, {1, 1, 1}, kind, limit}, &ArrayInfo::layers, nullptr, limit});
    };
    side(ArrayKind::array_1d, &Extent::width, limits.texture_1d);
    side(ArrayKind::array_2d, &Extent::width, limits.texture_2d[0]);
    side(ArrayKind::array_2d, &Extent::height, limits.texture_2d[1]);
    side(ArrayKind::array_3d, &Extent::width, limits.texture_3d[0]);
    side(ArrayKind::array_3d, &Extent::height, limits.texture_3d[1]);
    side(ArrayKind::array_3d, &Extent::depth, limits.texture_3d[2]);
    side(ArrayKind::layered_1d, &Extent::width, limits.texture_1d_layered[0]);
    side(ArrayKind::layered_2d, &Extent::width, limits.texture_2d_layered[0]);
    side(ArrayKind::layered_2d, &Extent::height, limits.texture_2d_layered[1]);
    side(ArrayKind::array_1d, &Extent::width, limits.mipmap_1d, 2);
    side(ArrayKind::array_2d, &Extent::width, limits.mipmap_2d[0], 2);
    side(ArrayKind::array_2d, &Extent::height, limits.mipmap_2d[1], 2);
    side(ArrayKind::array_2d, &Extent::width, limits.gather[0], 1, {.gather = true});
    side(ArrayKind::array_2d, &Extent::height, limits.gather[1], 1, {.gather = true});
    layers(ArrayKind::layered_1d, limits.texture_1d_layered[1]);
    layers(ArrayKind::layered_2d, limits.texture_2d_layered[2]);
    return all;
}

TEST_P(ArrayRefusalTest, SizesUpToTheLimitAreAcceptedAndTheErrorNamesTheLimit) {
    for (Edge edge : edges(device().limits())) {
        expect_taken(edge.info);
        if (edge.side != nullptr) {
            edge.info.extent.*edge.side += 1;
        } else {
            edge.info.*edge.layers += 1;
        }
        expect_refused(edge.info, ErrorCode::overflow, {std::to_string(edge.limit), std::to_string(edge.limit + 1)});
    }
    // The limit counts faces as layers.
    const std::size_t cubes = device().limits().cubemap_layered[1] / 6;
    ArrayInfo many{Format::r8_uint, {1, 1}, ArrayKind::cubemap_layered, cubes};
    expect_taken(many);
    many.layers = cubes + 1;
    expect_refused(many, ErrorCode::overflow, {std::to_string(cubes)});
    ArrayInfo wide{Format::r8_uint, {32768}, ArrayKind::array_1d, 1, 1, {.surface = true}};
    expect_taken(wide);
    wide.extent.width += 1;
    expect_refused(wide, ErrorCode::overflow, {"32768", "surface"});
}

TEST_P(ArrayRefusalTest, AFullMipChainIsAcceptedAndOneMoreLevelIsRefused) {
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : {Format::r8_uint, Format::bc1_unorm}) {
            if (!test::has_arrays(kind, format)) continue;
            ArrayInfo info = test::small_info(kind, format);
            ASSERT_EQ(info.levels, 4) << describe(info);
            ASSERT_EQ(full_levels(info), 4) << describe(info);
            { const Array array(device(), info); }
            info.levels = 5;
            expect_refused(info, ErrorCode::bad_argument, {"5", "4"});
        }
    }
}

TEST_P(ArrayRefusalTest, ErrorMessagesNameTheRequest) {
    ArrayInfo info{.format = Format::bc3_unorm, .extent = {8, 8}, .usage = {.surface = true}};
    expect_refused(info, ErrorCode::unsupported, {"bc3_unorm", "surface"});
    expect_refused({.extent = {8, 9}, .kind = ArrayKind::cubemap}, ErrorCode::bad_argument, {"8 x 9", "cube"});
    expect_refused({.extent = {8, 8}, .layers = 3}, ErrorCode::bad_argument, {"3", "array_2d"});
    expect_refused({.extent = {8, 8, 2}}, ErrorCode::bad_argument, {"8 x 8 x 2"});
    expect_refused({.extent = {8, 8, 8}, .kind = ArrayKind::array_3d, .usage = {.gather = true}},
                   ErrorCode::unsupported, {"gather", "array_3d"});
    expect_refused({.format = Format::p010, .extent = {8, 8}}, ErrorCode::unsupported, {"p010", "PlanarArray"});

    const Array array(device(), {.extent = {16, 8}, .kind = ArrayKind::layered_2d, .layers = 3, .levels = 2});
    const Error level =
        expect_error([&] { (void)array.view({.level = 7}); }, ErrorCode::out_of_bounds, "texton::Array", {"7", "2"});
    EXPECT_EQ(number_of(level, "level"), 7u);
    const Error layer =
        expect_error([&] { (void)array.view({.layer = 5}); }, ErrorCode::out_of_bounds, "texton::Array", {"5", "3"});
    EXPECT_EQ(number_of(layer, "layer"), 5u);
    expect_error([&] { (void)array.view({.face = 1}); }, ErrorCode::bad_argument, "texton::Array", {"layered_2d"});
    expect_error(
        [&] {
            (void)array.view({.level = 1, .region = Region{{7, 0, 0}, {2, 1, 1}}});
        },
        ErrorCode::out_of_bounds, "texton::Array", {"2 x 1 at (7, 0)", "8 x 4"});
}

TEST_P(ArrayRefusalTest, ErrorMessagesNameTheSamplerField) {
    const ArrayInfo colors{.extent = {8, 8}};
    expect_refused({.format = Format::rgba8_uint, .extent = {8, 8}}, {.filter = Filter::linear},
                   {"rgba8_uint", "linear"});
    expect_refused(colors, {.address = {AddressMode::wrap, AddressMode::clamp, AddressMode::clamp}},
                   {"wrap", "normalized"});
    expect_refused(colors, {.address = {AddressMode::clamp, AddressMode::mirror, AddressMode::clamp}},
                   {"mirror", "normalized"});
    expect_refused({.extent = {8, 8}, .kind = ArrayKind::cubemap}, Sampler{}, {"cubemap", "normalized"});
    expect_refused({.extent = {8, 8}, .levels = 3}, Sampler{}, {"level", "normalized"});
    expect_refused(colors, {.normalized_coordinates = true, .max_anisotropy = 17}, {"max_anisotropy", "17", "16"});
    const float nan = std::numeric_limits<float>::quiet_NaN();
    expect_refused(colors, {.normalized_coordinates = true, .mip_bias = nan}, {"mip_bias"});
    expect_refused(colors, {.normalized_coordinates = true, .mip_min = nan}, {"mip_min"});
    expect_refused(colors, {.normalized_coordinates = true, .mip_max = nan}, {"mip_max"});
    // Values at the limit are accepted.
    const Array array(device(), colors);
    Texture(array, {.filter = Filter::linear, .normalized_coordinates = true, .max_anisotropy = 16});
    Texture(array,
            {.address = {AddressMode::border, AddressMode::clamp, AddressMode::clamp}, .filter = Filter::linear});
    Texture(array, {.address = {AddressMode::wrap, AddressMode::mirror}, .normalized_coordinates = true});
}

TEST_P(ArrayRefusalTest, ErrorMessagesOfMappingsNameTheRequiredTiles) {
    const TilePool pool(device(), {.chunk_bytes = std::size_t{2} << 20});
    const Stream stream(device());
    DeferredArray later(device(), {.extent = {1024, 1024}});
    const std::size_t needed = later.requirements().bytes / kTileBytes;
    ASSERT_GE(needed, 64u);
    const Error few = expect_error([&] { later.map(pool.allocate(needed - 1), stream); }, ErrorCode::bad_argument,
                                   "texton::DeferredArray", {std::to_string(needed), std::to_string(needed - 1)});
    EXPECT_FALSE(few.numbers().empty());
    EXPECT_FALSE(later.mapped());
    later.map(pool.allocate(needed), stream);
    EXPECT_TRUE(later.mapped());

    SparseArray sparse(device(), {.extent = {256, 256}});
    expect_error(
        [&] {
            sparse.map({.extent = {2, 2, 1}}, pool.allocate(3), stream);
        },
        ErrorCode::out_of_bounds, "texton::SparseArray", {"3", "4"});
    expect_error(
        [&] {
            sparse.map({.offset = {1, 2, 0}}, pool.allocate(1), stream);
        },
        ErrorCode::out_of_bounds, "texton::SparseArray", {"(1, 2)", "2 x 2"});
    EXPECT_EQ(sparse.resident_slots(), 0u);
    stream.synchronize();
}

TEST_P(ArrayRefusalTest, AFailedMapChangesNothing) {
    const TilePool pool(device(), {.chunk_bytes = std::size_t{2} << 20});
    const Stream stream(device());
    SparseArray sparse(device(), {.extent = {256, 256}});
    const Tiles first = pool.allocate(2);
    const Tiles second = pool.allocate(2);
    sparse.map({.extent = {2, 1, 1}}, first, stream);
    const Bytes texels = test::pattern(256 * 128 * 4, 1);
    test::upload(sparse.array().view({.region = Region{{0, 0, 0}, {256, 128, 1}}}), texels);
    // The second box of the call is invalid, so the first must not be mapped either.
    const TileMapping mappings[] = {{{.extent = {2, 1, 1}}, second, 0}, {{.offset = {2, 1, 0}}, second, 1}};
    expect_error([&] { sparse.map(mappings, stream); }, ErrorCode::out_of_bounds, "texton::SparseArray");
    EXPECT_EQ(first.mapped(), 2u);
    EXPECT_EQ(second.mapped(), 0u);
    EXPECT_EQ(sparse.residency(0), (std::vector<bool>{true, true, false, false}));
    EXPECT_TRUE(
        test::same_bytes(test::download(sparse.array().view({.region = Region{{0, 0, 0}, {256, 128, 1}}})), texels));
    sparse.unmap_all(stream);
    stream.synchronize();
}

TEST_P(ArrayRefusalTest, ARefusedCopyLeavesTheArrayUnchanged) {
    const ArrayInfo info{.extent = {16, 16}, .kind = ArrayKind::layered_2d, .layers = 2};
    const Array array(device(), info);
    const test::ReferenceArray reference(info, 2);
    test::upload(array, reference);
    Bytes host(16 * 16 * 4);
    const auto wrong = host_view(static_cast<const void*>(host.data()), Format::rgba8_unorm, {16, 16});
    expect_error([&] { copy(array.view(), wrong); }, ErrorCode::bad_argument, "texton::copy", {"16 x 16 x 2"});
    expect_error([&] { copy(array.view({.layer = 0}), array.view({.layer = 0})); }, ErrorCode::overlap, "texton::copy");
    expect_error([&] { fill(array.view(), Bytes(3)); }, ErrorCode::bad_argument, "texton::fill", {"3"});
    EXPECT_TRUE(test::holds(array, reference));
    // Regions that touch but share no texel do not overlap.
    copy(array.view({.layer = 0, .region = Region{{0, 0, 0}, {8, 16, 1}}}),
         array.view({.layer = 0, .region = Region{{8, 0, 0}, {8, 16, 1}}}));
}

TEST(ArrayDevicesTest, ObjectsOfAnotherDeviceAreRefused) {
    const std::vector<Device> devices = Device::list();
    if (devices.size() < 2) GTEST_SKIP() << "needs a second device";
    for (const Device& here : devices) {
        for (const Device& there : devices) {
            if (here == there) continue;
            SCOPED_TRACE(here.name() + ", " + there.name());
            const Stream foreign(there);
            const TilePool pool(here, {.chunk_bytes = std::size_t{2} << 20});
            const TilePool foreign_pool(there, {.chunk_bytes = std::size_t{2} << 20});
            SparseArray sparse(here, {.extent = {256, 256}});
            DeferredArray deferred(here, {.extent = {64, 64}});
            const Stream own(here);
            const Tiles tiles = pool.allocate(1);
            const Tiles foreign_tiles = foreign_pool.allocate(1);
            const auto code = ErrorCode::wrong_device;
            expect_error([&] { sparse.map(TileBox{}, tiles, foreign); }, code, "texton::SparseArray");
            expect_error([&] { sparse.map(TileBox{}, foreign_tiles, own); }, code, "texton::SparseArray");
            expect_error([&] { sparse.unmap(TileBox{}, foreign); }, code, "texton::SparseArray");
            expect_error([&] { deferred.map(tiles, foreign); }, code, "texton::DeferredArray");
            expect_error([&] { deferred.map(foreign_tiles, own); }, code, "texton::DeferredArray");
            expect_error([&] { deferred.unmap(foreign); }, code, "texton::DeferredArray");
            const Array array(here, {.extent = {8, 8}});
            expect_error([&] { fill(array.view(), std::uint8_t{1}, foreign); }, code, "texton::fill");
            Bytes host(8 * 8 * 4);
            const View view = host_view(static_cast<void*>(host.data()), Format::rgba8_unorm, {8, 8});
            expect_error([&] { copy(view, array.view(), foreign); }, code, "texton::copy");
        }
    }
}

}  // namespace
}  // namespace texton

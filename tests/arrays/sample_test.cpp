#include <texton/sample.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <gmock/gmock.h>

#include <texton/copy.h>
#include <texton/deferred_array.h>
#include <texton/error.h>
#include <texton/graph.h>
#include <texton/linear.h>
#include <texton/pitched.h>
#include <texton/planar_array.h>
#include <texton/sparse_array.h>

#include "tests/support/arrays.h"
#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/symbols.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::all_kinds;
using test::Bytes;
using test::expect_error;
using testing::Each;
using testing::ElementsAre;

Sampler normalized(Filter filter = Filter::point) { return {.filter = filter, .normalized_coordinates = true}; }

/// Returns 8-bit texels; texel i has the value i.
Bytes counted(std::size_t count) {
    Bytes bytes(count);
    for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i);
    return bytes;
}

Bytes bytes_of(const Texel& texel, std::size_t count) {
    Bytes bytes(count);
    std::memcpy(bytes.data(), texel.channel, count);
    return bytes;
}

/// Returns the direction to the center of texel (x, y) of a cube face.
FetchPoint towards(int face, std::size_t x, std::size_t y, std::size_t size) {
    const float s = static_cast<float>(2 * x + 1) / static_cast<float>(size) - 1.0F;
    const float t = static_cast<float>(2 * y + 1) / static_cast<float>(size) - 1.0F;
    switch (face) {
        case 0: return {1, -t, -s};
        case 1: return {-1, -t, s};
        case 2: return {s, 1, t};
        case 3: return {s, -1, -t};
        case 4: return {s, -t, 1};
        default: return {-s, -t, -1};
    }
}

/// Returns the center of the texel in normalized coordinates; z counts slices, layers or faces.
FetchPoint center_of(const ArrayInfo& info, int level, std::size_t x, std::size_t y, std::size_t z) {
    const Extent extent = test::level_box(info, level);
    const auto center = [](std::size_t at, std::size_t side) {
        return (static_cast<float>(at) + 0.5F) / static_cast<float>(side);
    };
    FetchPoint point{center(x, extent.width), center(y, extent.height), center(z, extent.depth)};
    if (is_cube(info.kind)) point = towards(static_cast<int>(z % 6), x, y, extent.width);
    point.layer = static_cast<std::int32_t>(is_cube(info.kind) ? z / 6 : z);
    point.lod = static_cast<float>(level);
    return point;
}

class SampleTest : public test::OnEveryDevice {
protected:
    Array filled(const ArrayInfo& info, std::span<const std::byte> texels) const {
        Array array(device(), info);
        test::upload(array.view(), texels);
        return array;
    }
    std::vector<float> reds(const Texture& texture, const std::vector<FetchPoint>& points,
                            const SampleOptions& options = {}) const {
        std::vector<float> values;
        for (const Texel& texel : sample(texture, points, options).texels) values.push_back(texel.as_float(0));
        return values;
    }
    void refused(const Texture& texture, const SampleOptions& options,
                 std::initializer_list<std::string_view> fragments, test::Caller where = test::Caller::here()) const {
        const FetchPoint point;
        expect_error([&] { (void)sample(texture, std::span(&point, 1), options); }, ErrorCode::bad_argument,
                     "texton::sample", fragments, where);
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, SampleTest, test::every_device(), test::device_label);

// --- arrays ----------------------------------------------------------------------------------------------------------

TEST_P(SampleTest, EveryTexelOfEveryKindAndLevelIsFetchedAtItsCoordinate) {
    for (const ArrayKind kind : all_kinds()) {
        for (const Format format : {Format::rgba8_uint, Format::rg32_uint}) {
            const ArrayInfo info = test::small_info(kind, format);
            SCOPED_TRACE(test::describe(info));
            const Array array(device(), info);
            const test::ReferenceArray reference(info, 3);
            test::upload(array, reference);
            std::vector<FetchPoint> points;
            std::vector<Bytes> expected;
            for (int level = 0; level < info.levels; ++level) {
                const Extent extent = reference.extent(level);
                for (std::size_t z = 0; z < extent.depth; ++z) {
                    for (std::size_t y = 0; y < extent.height; ++y) {
                        for (std::size_t x = 0; x < extent.width; ++x) {
                            points.push_back(center_of(info, level, x, y, z));
                            expected.push_back(reference.read(level, {{x, y, z}, {1, 1, 1}}));
                        }
                    }
                }
            }
            const Samples samples = sample(Texture(array, normalized()), points, {.operation = FetchOperation::lod});
            ASSERT_EQ(samples.texels.size(), points.size());
            EXPECT_TRUE(samples.resident.empty());
            std::size_t different = 0;
            for (std::size_t i = 0; i < points.size(); ++i) {
                Bytes channels;  // as stored
                const auto bytes = static_cast<std::size_t>(texton::info(format).bits / 8);
                for (int c = 0; c < texton::info(format).channels; ++c) {
                    const auto* at = reinterpret_cast<const std::byte*>(&samples.texels[i].channel[c]);
                    channels.insert(channels.end(), at, at + bytes);
                }
                if (channels != expected[i]) ++different;
            }
            EXPECT_EQ(different, 0U);
        }
    }
}

TEST_P(SampleTest, LayersOutOfRangeReadTheLastLayer) {
    const Array array =
        filled({.format = Format::r8_uint, .extent = {1, 1}, .kind = ArrayKind::layered_2d, .layers = 4}, counted(4));
    std::vector<FetchPoint> points;
    for (const std::int32_t layer : {0, 3, 4, 1000, -1, std::numeric_limits<std::int32_t>::min()}) {
        points.push_back({.layer = layer});
    }
    std::vector<std::uint32_t> values;
    for (const Texel& texel : sample(Texture(array), points).texels) values.push_back(texel.channel[0]);
    EXPECT_THAT(values, ElementsAre(0, 3, 3, 3, 3, 3));
}

TEST_P(SampleTest, ARangeStartsAtItsFirstLevelAndLayer) {
    for (const ArrayKind kind : {ArrayKind::layered_1d, ArrayKind::layered_2d, ArrayKind::cubemap_layered}) {
        const ArrayInfo info{.format = Format::r32_uint,
                             .extent = {8, kind == ArrayKind::layered_1d ? 1U : 8U},
                             .kind = kind,
                             .layers = 4,
                             .levels = 4};
        SCOPED_TRACE(test::describe(info));
        const Array array(device(), info);
        const test::ReferenceArray reference(info, 4);
        test::upload(array, reference);
        const Texture whole(array, normalized());
        const Texture part(array, normalized(), {.first_level = 1, .levels = 2, .first_layer = 1, .layers = 2});
        const Texture one_level(array, normalized(), {.first_level = 2, .levels = 1, .first_layer = 3});
        FetchPoint at = center_of(info, 0, 2, 0, 0);
        const auto fetched = [&](const Texture& texture, float lod, std::int32_t layer) {
            at.lod = lod;
            at.layer = layer;
            return sample(texture, std::span(&at, 1), {.operation = FetchOperation::lod}).texels.at(0);
        };
        EXPECT_EQ(fetched(part, 0, 0), fetched(whole, 1, 1));
        EXPECT_EQ(fetched(part, 1, 1), fetched(whole, 2, 2));
        EXPECT_EQ(fetched(part, 7, 7), fetched(whole, 2, 2));
        EXPECT_EQ(fetched(one_level, 0, 0), fetched(whole, 2, 3));
        EXPECT_EQ(fetched(one_level, 3, 1), fetched(whole, 2, 3));
        EXPECT_FALSE(fetched(whole, 1, 1) == fetched(whole, 2, 3));
    }
}

TEST_P(SampleTest, ASingleLevelIsReadWithUnnormalizedCoordinates) {
    const ArrayInfo info{.format = Format::r8_uint, .extent = {16, 8}, .levels = 3};
    const Array array(device(), info);
    test::upload(array.view({.level = 1}), counted(8 * 4));
    const Texture texture(array, {}, {.first_level = 1, .levels = 1});
    const std::vector<Point2> points{{0.5F, 0.5F}, {7.5F, 0.5F}, {3.5F, 2.5F}, {99.0F, 99.0F}};
    std::vector<float> values;
    for (const auto& texel : sample(texture, points)) values.push_back(texel[0]);
    EXPECT_THAT(values, ElementsAre(0, 7, 19, 31));
}

TEST_P(SampleTest, TexelsAreReadInTheRequestedFormat) {
    const Bytes texel{std::byte{0}, std::byte{51}, std::byte{255}, std::byte{128}};
    const Array array = filled({Format::rgba8_unorm, {1, 1}}, texel);
    const auto as = [&](Format format) {
        const FetchPoint point;
        return sample(Texture(array, {}, {.format = format}), std::span(&point, 1)).texels.at(0);
    };
    EXPECT_THAT(as(Format::rgba8_uint).channel, ElementsAre(0, 51, 255, 128));
    EXPECT_THAT(as(Format::rgba8_sint).channel, ElementsAre(0, 51, 0xFFFFFFFFU, 0xFFFFFF80U));
    EXPECT_EQ(as(Format::r32_uint).channel[0], 0x80FF3300U);
    EXPECT_EQ(as(Format::rgba8_unorm).as_float(1), 0.2F);
    EXPECT_EQ(as(Format::rgba8_snorm).as_float(3), -1.0F);
    EXPECT_EQ(as(Format::rgba8_srgb).as_float(2), 1.0F);
    EXPECT_LT(as(Format::rgba8_srgb).as_float(1), 0.04F);            // decoded to linear light
    EXPECT_EQ(as(Format::rgba8_srgb).as_float(3), 128.0F / 255.0F);  // alpha is not decoded
}

TEST_P(SampleTest, LinearFilteringBlendsTexelsAndBorderColors) {
    const Bytes ramp = [] {
        Bytes bytes(16);
        for (std::size_t i = 0; i < 4; ++i) {
            const auto value = static_cast<float>(i) * 8;
            std::memcpy(&bytes[4 * i], &value, 4);
        }
        return bytes;
    }();
    const Array array = filled({Format::r32_float, {4, 1}}, ramp);
    Sampler sampler{.filter = Filter::linear};
    const std::vector<FetchPoint> points{{0.5F, 0.5F}, {1.0F, 0.5F}, {1.25F, 0.5F}, {4.0F, 0.5F}, {-3.0F, 0.5F}};
    EXPECT_THAT(reds(Texture(array, sampler), points), ElementsAre(0, 4, 6, 24, 0));
    sampler.address[0] = AddressMode::border;
    sampler.border[0] = 100;
    EXPECT_THAT(reds(Texture(array, sampler), points), ElementsAre(0, 4, 6, 62, 100));
}

TEST_P(SampleTest, GatherReturnsOneComponentOfTheFourSurroundingTexels) {
    Bytes texels(8 * 8 * 4);
    for (std::size_t i = 0; i < 64; ++i) {
        for (std::size_t c = 0; c < 4; ++c) texels[4 * i + c] = static_cast<std::byte>(i + 64 * c);
    }
    const Array array = filled({.format = Format::rgba8_uint, .extent = {8, 8}, .usage = {.gather = true}}, texels);
    const Texture texture(array);
    const std::vector<FetchPoint> points{{3.0F, 5.0F}, {0.0F, 0.0F}};  // between (2, 4) and (3, 5); the corner
    for (const int component : {0, 1, 2, 3}) {
        const auto base = static_cast<std::uint32_t>(64 * component);
        const Samples samples = sample(texture, points, {.operation = FetchOperation::gather, .component = component});
        EXPECT_THAT(samples.texels[0].channel, ElementsAre(base + 42, base + 43, base + 35, base + 34));
        EXPECT_THAT(samples.texels[1].channel, Each(base));
    }
}

TEST_P(SampleTest, ChannelsMissingInTheFormatAreZero) {
    const FetchPoint point;
    for (const Format format : {Format::r8_unorm, Format::rg16_float, Format::r32_sint}) {
        const Array array = filled({format, {1, 1}}, Bytes(info(format).bytes, std::byte{1}));
        const Texel texel = sample(Texture(array), std::span(&point, 1)).texels.at(0);
        for (std::size_t c = 0; c < 4; ++c) EXPECT_EQ(texel.channel[c] != 0, c < info(format).channels) << name(format);
    }
    const Array blocks = filled({Format::bc4_unorm, {4, 4}}, Bytes(8, std::byte{0x55}));
    const Texel texel = sample(Texture(blocks), std::span(&point, 1)).texels.at(0);
    EXPECT_THAT(texel.channel, ElementsAre(testing::Ne(0U), 0U, 0U, std::bit_cast<std::uint32_t>(1.0F)));
}

TEST_P(SampleTest, EachPlaneOfAPlanarArrayIsRead) {
    const PlanarArray frame(device(), Format::nv12, {8, 4});
    test::upload(frame.plane(0).view(), counted(32));
    test::upload(frame.plane(1).view(), counted(16));
    const Texture luma(frame.plane(0), {}, {.format = Format::r8_uint});
    const Texture chroma(frame.plane(1));
    const FetchPoint at{2.5F, 1.5F};
    EXPECT_EQ(sample(luma, std::span(&at, 1)).texels.at(0).channel[0], 10U);
    const Texel both = sample(chroma, std::span(&at, 1)).texels.at(0);
    EXPECT_EQ(both.as_float(0), 12.0F / 255.0F);
    EXPECT_EQ(both.as_float(1), 13.0F / 255.0F);
    EXPECT_EQ(chroma.extent(), (Extent{4, 2}));
}

// --- memory ----------------------------------------------------------------------------------------------------------

TEST_P(SampleTest, TexelsOfLinearMemoryAreFetchedByIndex) {
    constexpr std::size_t kTexels = 100;
    for (const FormatInfo& row : formats()) {
        const bool as_stored = row.kind == FormatKind::uint || row.kind == FormatKind::sint ||
                               (row.kind == FormatKind::floating && row.bits == 32);
        if (row.layout != FormatLayout::plain || !as_stored) continue;
        SCOPED_TRACE(row.name);
        const Linear memory(device(), row.format, {kTexels});
        const Bytes texels = test::pattern(kTexels * row.bytes, 6);
        test::upload(memory.view(row.format, {kTexels}), texels);
        std::vector<FetchPoint> points;
        for (std::int32_t i = -3; i < 104; ++i) points.push_back({.layer = i});
        points.push_back({.layer = std::numeric_limits<std::int32_t>::min()});
        points.push_back({.layer = std::numeric_limits<std::int32_t>::max()});
        const Samples samples =
            sample(Texture(memory.view(row.format, {kTexels})), points, {.operation = FetchOperation::texel});
        for (std::size_t i = 0; i < points.size(); ++i) {
            Texel expected{};
            const std::int32_t texel = points[i].layer;
            for (std::size_t c = 0; texel >= 0 && texel < 100 && c < row.channels; ++c) {
                const std::size_t bytes = row.bits / 8;
                std::memcpy(&expected.channel[c], &texels[static_cast<std::size_t>(texel) * row.bytes + c * bytes],
                            bytes);
                const int unused = 32 - row.bits;
                if (row.kind == FormatKind::sint) {
                    expected.channel[c] =
                        static_cast<std::uint32_t>(static_cast<std::int32_t>(expected.channel[c] << unused) >> unused);
                }
            }
            ASSERT_EQ(bytes_of(samples.texels[i], 16), bytes_of(expected, 16)) << "texel " << texel;
        }
    }
}

TEST_P(SampleTest, ADeviceSymbolIsReadAsLinearMemory) {
    const auto symbol = test::symbol_of(device(), 0);
    const std::size_t alignment = device().limits().texture_alignment;
    const std::size_t past = reinterpret_cast<std::uintptr_t>(symbol.address()) % alignment;
    const View view = symbol.view(past == 0 ? 0 : alignment - past, 256);
    test::upload(view, counted(256));
    const std::vector<FetchPoint> points{{.layer = 0}, {.layer = 77}, {.layer = 255}, {.layer = 256}};
    std::vector<std::uint32_t> values;
    for (const Texel& texel : sample(Texture(view), points, {.operation = FetchOperation::texel}).texels) {
        values.push_back(texel.channel[0]);
    }
    EXPECT_THAT(values, ElementsAre(0, 77, 255, 0));
}

TEST_P(SampleTest, PitchedMemoryAndAnArrayOfTheSameTexelsReadEqually) {
    const Extent extent{13, 7};
    for (const Format format : {Format::r32_float, Format::rgba8_unorm, Format::rgba8_srgb, Format::rg16_uint,
                                Format::r8_snorm, Format::rgb10a2_unorm}) {
        SCOPED_TRACE(name(format));
        test::Random random(8);
        const Bytes texels = test::random_texels(random, format, packed_bytes(format, extent));
        const Array array = filled({format, extent}, texels);
        const Pitched2D memory(device(), format, extent);
        test::upload(memory.view(), texels);
        std::vector<FetchPoint> points;
        for (int i = 0; i < 500; ++i) points.push_back({random.unit() * 3 - 1, random.unit() * 3 - 1});
        for (const AddressMode mode :
             {AddressMode::clamp, AddressMode::wrap, AddressMode::mirror, AddressMode::border}) {
            for (const Filter filter : {Filter::point, Filter::linear}) {
                const bool filters =
                    info(format).kind != FormatKind::uint && info(format).layout == FormatLayout::plain;
                if (filter == Filter::linear && !filters) continue;
                Sampler sampler = normalized(filter);
                sampler.address[0] = sampler.address[1] = mode;
                EXPECT_EQ(sample(Texture(memory.view(), sampler), points).texels,
                          sample(Texture(array, sampler), points).texels);
            }
        }
    }
}

// --- sparse and deferred memory --------------------------------------------------------------------------------------

TEST_P(SampleTest, UnmappedTilesReadAsZeroAndAreNotResident) {
    const Stream stream(device());
    const TilePool pool(device());
    SparseArray sparse(device(), {.format = Format::r32_float, .extent = {256, 256}, .levels = 1});
    sparse.map({.extent = {1, 1, 1}}, pool.allocate(1), stream);  // the first of 2 x 2 tiles of 128 x 128 texels
    stream.synchronize();
    Bytes fives(128 * 128 * 4);
    const float five = 5;
    for (std::size_t i = 0; i < fives.size(); i += 4) std::memcpy(&fives[i], &five, 4);
    test::upload(sparse.array().view().region({{0, 0, 0}, {128, 128, 1}}), fives);
    const auto fetched = [&](Filter filter, const std::vector<FetchPoint>& points) {
        const Texture texture(sparse.array(), {.filter = filter});
        const Samples samples = sample(texture, points, {.residency = true});
        std::vector<std::pair<float, int>> pairs;
        for (std::size_t i = 0; i < points.size(); ++i) {
            pairs.emplace_back(samples.texels[i].as_float(0), samples.resident[i]);
        }
        EXPECT_EQ(sample(texture, points).texels, samples.texels);
        return pairs;
    };
    using P = std::pair<float, int>;
    EXPECT_THAT(
        fetched(Filter::point, {{10.5F, 10.5F}, {127.9F, 127.9F}, {128.0F, 10.5F}, {200.5F, 10.5F}, {-5.0F, 3.0F}}),
        ElementsAre(P(5, 1), P(5, 1), P(0, 0), P(0, 0), P(5, 1)));
    // Texels with weight 0 need no memory.
    EXPECT_THAT(fetched(Filter::linear,
                        {{127.5F, 10.5F}, {127.75F, 10.5F}, {128.0F, 10.5F}, {128.5F, 10.5F}, {128.0F, 128.0F}}),
                ElementsAre(P(5, 1), P(3.75F, 0), P(2.5F, 0), P(0, 0), P(1.25F, 0)));
    sparse.unmap_all(stream);
    stream.synchronize();
    EXPECT_THAT(fetched(Filter::point, {{10.5F, 10.5F}}), ElementsAre(P(0, 0)));
}

TEST_P(SampleTest, EachLevelAndLayerOfASparseArrayHasItsOwnResidency) {
    const Stream stream(device());
    const TilePool pool(device());
    SparseArray sparse(device(), {.format = Format::r32_uint,
                                  .extent = {256, 256},
                                  .kind = ArrayKind::layered_2d,
                                  .layers = 2,
                                  .levels = full_levels({.extent = {256, 256}})});
    const int tail = sparse.properties().first_tail_level;
    ASSERT_EQ(tail, 2);
    const Extent tiles = sparse.tiles(0);
    sparse.map({.level = 0, .layer = 1, .extent = tiles}, pool.allocate(tiles.width * tiles.height), stream);
    sparse.map(TileBox::mip_tail(0), pool.allocate_bytes(sparse.properties().tail_bytes), stream);
    stream.synchronize();
    const test::ReferenceArray reference(sparse.array().info(), 9);
    test::upload(sparse.array(), reference);  // writes to unmapped texels are dropped
    const Texture texture(sparse.array(), normalized());
    for (int level = 0; level < sparse.array().info().levels; ++level) {
        for (const std::size_t layer : {0U, 1U}) {
            SCOPED_TRACE("level " + std::to_string(level) + ", layer " + std::to_string(layer));
            const FetchPoint point = center_of(sparse.array().info(), level, 0, 0, layer);
            const Samples samples =
                sample(texture, std::span(&point, 1), {.operation = FetchOperation::lod, .residency = true});
            const bool mapped = level == 0 ? layer == 1 : level >= tail && layer == 0;
            EXPECT_EQ(samples.resident.at(0), mapped ? 1 : 0);
            const Bytes stored = reference.read(level, {{0, 0, layer}, {1, 1, 1}});
            EXPECT_EQ(bytes_of(samples.texels.at(0), 4), mapped ? stored : Bytes(4));
        }
    }
    sparse.unmap_all(stream);
    stream.synchronize();
}

TEST_P(SampleTest, AnUnmappedSliceAffectsResidencyOnlyIfItHasWeight) {
    const Stream stream(device());
    const TilePool pool(device());
    SparseArray sparse(device(),
                       {.format = Format::r32_float, .extent = {64, 64, 64}, .kind = ArrayKind::array_3d, .levels = 1});
    ASSERT_EQ(sparse.properties().tile, (Extent{32, 32, 16}));
    sparse.map({.extent = {2, 2, 1}}, pool.allocate(4), stream);
    stream.synchronize();
    const Texture texture(sparse.array(), {.filter = Filter::linear});
    const std::vector<FetchPoint> points{
        {10.5F, 10.5F, 5.5F}, {10.5F, 10.5F, 15.5F}, {10.5F, 10.5F, 16.0F}, {40, 40, 30}};
    EXPECT_THAT(sample(texture, points, {.residency = true}).resident, ElementsAre(1, 1, 0, 0));
    sparse.unmap_all(stream);
    stream.synchronize();
}

TEST_P(SampleTest, GatherNeedsAllFourTexelsToBeResident) {
    const Stream stream(device());
    const TilePool pool(device());
    SparseArray sparse(device(), {.format = Format::r32_float, .extent = {256, 256}, .usage = {.gather = true}});
    sparse.map({.extent = {1, 1, 1}}, pool.allocate(1), stream);
    stream.synchronize();
    const std::vector<FetchPoint> points{{10.5F, 10.5F}, {127.5F, 10.5F}, {128.0F, 10.5F}, {200.0F, 10.5F}};
    const Samples samples =
        sample(Texture(sparse.array()), points, {.operation = FetchOperation::gather, .residency = true});
    EXPECT_THAT(samples.resident, ElementsAre(1, 0, 0, 0));
    sparse.unmap_all(stream);
    stream.synchronize();
}

TEST_P(SampleTest, PlainArraysAreFullyResident) {
    for (const ArrayKind kind : {ArrayKind::array_2d, ArrayKind::array_3d, ArrayKind::layered_2d}) {
        SCOPED_TRACE(name(kind));
        const Array array(device(), test::flat_info(kind, Format::rgba8_unorm));
        const std::vector<FetchPoint> points{{0.5F, 0.5F, 0.5F}, {-9.0F, 100.0F, 3.0F}};
        EXPECT_THAT(sample(Texture(array), points, {.residency = true}).resident, ElementsAre(1, 1));
    }
}

TEST_P(SampleTest, ADeferredArrayIsFetchedOnlyWhileItIsMapped) {
    const Stream stream(device());
    const TilePool pool(device());
    const ArrayInfo info{.format = Format::r8_uint, .extent = {16, 16}, .usage = {.surface = true}};
    DeferredArray deferred(device(), info);
    const Texture texture(deferred.array());
    const std::vector<FetchPoint> points{{3.5F, 2.5F}};
    const auto refused_both = [&] {
        expect_error([&] { (void)sample(texture, points); }, ErrorCode::not_mapped, "texton::sample");
        expect_error([&] { (void)texture.handle(); }, ErrorCode::not_mapped, "texton::Texture");
    };
    const auto fetched = [&] { return sample(texture, points).texels.at(0).channel[0]; };
    const auto here = pool.allocate_bytes(deferred.requirements().bytes);
    const auto there = pool.allocate_bytes(deferred.requirements().bytes);
    refused_both();
    deferred.map(here, stream);
    stream.synchronize();
    test::upload(deferred.array().view(), Bytes(256, std::byte{1}));
    EXPECT_EQ(fetched(), 1U);
    deferred.map(there, stream);
    stream.synchronize();
    test::upload(deferred.array().view(), Bytes(256, std::byte{2}));
    EXPECT_EQ(fetched(), 2U);
    deferred.map(here, stream);
    stream.synchronize();
    EXPECT_EQ(fetched(), 1U);
    EXPECT_EQ(Texture(deferred.array()), texture);
    deferred.unmap(stream);
    stream.synchronize();
    refused_both();
    const Array after(device(), info);  // the device still works
    EXPECT_NO_THROW((void)sample(Texture(after), points));
}

// --- batches ---------------------------------------------------------------------------------------------------------

TEST_P(SampleTest, FetchesInABatchMatchSingleFetches) {
    const Array array = filled({Format::r32_uint, {64, 64}}, test::pattern(64 * 64 * 4, 2));
    const Texture texture(array);
    test::Random random(3);
    std::vector<FetchPoint> points(300'000);
    for (FetchPoint& point : points) point = {random.unit() * 70 - 3, random.unit() * 70 - 3};
    const Samples all = sample(texture, points);
    ASSERT_EQ(all.texels.size(), points.size());
    for (std::size_t i = 0; i < points.size(); i += 2999) {
        EXPECT_EQ(sample(texture, std::span(&points[i], 1)).texels.at(0), all.texels[i]) << i;
    }
    EXPECT_TRUE(sample(texture, std::span<const FetchPoint>()).texels.empty());
}

TEST_P(SampleTest, TwoDimensionalPointsReturnFloats) {
    const auto fetched = [&](Format format, const auto& channels) {
        const Array array = filled({format, {1, 1}}, std::as_bytes(std::span(channels)));
        const std::vector<Point2> points{{0.5F, 0.5F}};
        return sample(Texture(array), points).at(0);
    };
    using U8 = std::vector<std::uint8_t>;
    using U16 = std::vector<std::uint16_t>;
    EXPECT_THAT(fetched(Format::rgba8_unorm, U8{0, 51, 128, 255}), ElementsAre(0, 0.2F, 128 / 255.0F, 1));
    EXPECT_THAT(fetched(Format::rgba8_uint, U8{0, 51, 128, 255}), ElementsAre(0, 51, 128, 255));
    EXPECT_THAT(fetched(Format::rg8_sint, U8{0x80, 0x7F}), ElementsAre(-128, 127, 0, 1));
    EXPECT_THAT(fetched(Format::rg8_snorm, U8{0x80, 0x7F}), ElementsAre(-1, 1, 0, 1));
    EXPECT_THAT(fetched(Format::r16_unorm, U16{65535}), ElementsAre(1, 0, 0, 1));
    EXPECT_THAT(fetched(Format::rg16_float, U16{0x3C00, 0xFC00}), ElementsAre(1, -INFINITY, 0, 1));
    EXPECT_THAT(fetched(Format::r32_float, std::vector<float>{-2.5F}), ElementsAre(-2.5F, 0, 0, 1));
    EXPECT_THAT(fetched(Format::r32_uint, std::vector<std::uint32_t>{0x80000000U}),
                ElementsAre(2147483648.0F, 0, 0, 1));
    EXPECT_THAT(fetched(Format::r32_sint, std::vector<std::int32_t>{-70000}), ElementsAre(-70000, 0, 0, 1));
    EXPECT_THAT(fetched(Format::rgb10a2_unorm, std::vector<std::uint32_t>{0x800FFC01U}),
                ElementsAre(1.0F / 1023.0F, 1, 0, 2.0F / 3.0F));
    EXPECT_THAT(fetched(Format::rgba8_srgb, U8{0, 255, 188, 51}), ElementsAre(0, 1, 129.0F / 256.0F, 0.2F));
    EXPECT_TRUE(std::isnan(fetched(Format::r16_float, U16{0x7E01})[0]));
}

TEST_P(SampleTest, TwoDimensionalPointsReadTheNearestTexelAndClampToTheEdge) {
    const Array array = filled({Format::r8_uint, {4, 3}}, counted(12));
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<Point2> points{{0.5F, 0.5F},  {1.0F, 0.5F},  {0.99F, 1.0F},  {3.5F, 2.5F}, {-5.0F, 1.5F},
                                     {9.0F, -1.0F}, {2.5F, 99.0F}, {1e30F, 1e30F}, {nan, 0.0F},  {INFINITY, -INFINITY}};
    std::vector<float> values;
    for (const auto& texel : sample(Texture(array), points)) values.push_back(texel[0]);
    EXPECT_THAT(values, ElementsAre(0, 1, 4, 11, 4, 3, 10, 11, 0, 3));
}

TEST_P(SampleTest, AnyNumberOfTwoDimensionalPointsCanBeFetched) {
    const Array array(device(), {Format::r32_float, {64, 64}});
    Bytes bytes(64 * 64 * 4);
    for (std::size_t i = 0; i < 64 * 64; ++i) {
        const auto value = static_cast<float>(i);
        std::memcpy(&bytes[i * 4], &value, 4);
    }
    test::upload(array.view(), bytes);
    const Texture texture(array);
    EXPECT_TRUE(sample(texture, std::span<const Point2>()).empty());
    for (const std::size_t count : {std::size_t{1}, std::size_t{255}, std::size_t{600'003}}) {
        std::vector<Point2> points(count);
        for (std::size_t i = 0; i < count; ++i) {
            points[i] = {static_cast<float>(i * 7 % 64) + 0.25F, static_cast<float>(i * 13 % 64) + 0.75F};
        }
        const auto seen = sample(texture, points);
        ASSERT_EQ(seen.size(), count);
        for (std::size_t i = 0; i < count; ++i) {
            ASSERT_EQ(seen[i][0], static_cast<float>(i * 13 % 64 * 64 + i * 7 % 64)) << i;
        }
    }
}

// --- invalid requests ------------------------------------------------------------------------------------------------

TEST_P(SampleTest, UnsupportedOperationsAreRefusedAndNamed) {
    using enum FetchOperation;
    for (const ArrayKind kind : all_kinds()) {
        SCOPED_TRACE(name(kind));
        const Texture texture(Array(device(), test::flat_info(kind, Format::rgba8_unorm)), normalized());
        refused(texture, {.operation = texel}, {"texel fetches", "an array"});
        refused(texture, {.operation = gather}, {"gather"});
        const bool has_residency =
            kind == ArrayKind::array_2d || kind == ArrayKind::array_3d || kind == ArrayKind::layered_2d;
        if (!has_residency) refused(texture, {.residency = true}, {"residency", name(kind)});
    }
    const Array gathers(device(), {.extent = {8, 8}, .usage = {.gather = true}});
    refused(Texture(gathers), {.operation = gather, .component = 4}, {"component 4"});
    refused(Texture(gathers), {.operation = gather, .component = -1}, {"component -1"});
    const Linear memory(device(), 4096);
    const Texture row(memory.view());
    refused(row, {}, {"plain fetches", "a row of memory"});
    refused(row, {.operation = lod}, {"a level of detail", "a row of memory"});
    refused(row, {.operation = gradients}, {"gradients"});
    refused(row, {.operation = gather}, {"gather"});
    refused(row, {.operation = texel, .residency = true}, {"residency"});
    const Pitched2D rows(device(), Format::r8_unorm, {64, 8});
    const Texture pitched(rows.view());
    refused(pitched, {.operation = texel}, {"texel fetches"});
    refused(pitched, {.operation = lod}, {"a level of detail", "rows of memory"});
    refused(pitched, {.operation = gradients}, {"gradients"});
    refused(pitched, {.operation = gather}, {"gather"});
    refused(pitched, {.residency = true}, {"residency"});
}

TEST_P(SampleTest, TwoDimensionalPointsNeedATwoDimensionalTexture) {
    const std::vector<Point2> points(1);
    for (const ArrayKind kind : all_kinds()) {
        if (kind == ArrayKind::array_2d) continue;
        const Texture texture(Array(device(), test::flat_info(kind, Format::rgba8_unorm)), normalized());
        expect_error([&] { (void)sample(texture, points); }, ErrorCode::bad_argument, "texton::sample", {name(kind)});
    }
}

TEST_P(SampleTest, SamplingIsRefusedDuringACapture) {
    const Array array = filled({Format::r8_uint, {4, 4}}, counted(16));
    const Texture texture(array);
    const std::vector<Point2> points(1);
    const Graph graph = Graph::capture(Stream(device()), [&] {
        expect_error([&] { (void)sample(texture, points); }, ErrorCode::capturing, "texton::sample");
    });
    EXPECT_EQ(sample(texture, points).size(), 1U);
}

}  // namespace
}  // namespace texton

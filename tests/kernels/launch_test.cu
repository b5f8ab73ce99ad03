// launch() of functors on both devices.
#include <array>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/copy.h>
#include <texton/deferred_array.h>
#include <texton/fill.h>
#include <texton/graph.h>
#include <texton/launch.h>
#include <texton/linear.h>
#include <texton/pinned.h>
#include <texton/pitched.h>
#include <texton/planar_array.h>
#include <texton/sample.h>
#include <texton/sparse_array.h>
#include <texton/tile_pool.h>

#include "tests/support/arrays.h"
#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::Bytes;
using test::download;
using test::expect_error;
using test::Random;
using test::same_bytes;
using test::upload;

// --- functors --------------------------------------------------------------------------------------------------------

struct Shift {
    float by = 0;
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        return source.fetch(at.center_x() + by, at.center_y());
    }
};

struct Halved {
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        return source.fetch(at.center_x(), at.center_y()) * 0.5f;
    }
};

/// Returns the position of the pixel.
struct PixelCoordinates {
    TEXTON_HD Float4 operator()(PixelPosition at) const {
        return {static_cast<float>(at.x), static_cast<float>(at.y), static_cast<float>(at.z), 1};
    }
};

/// One pixel per thread.
struct Row {
    static constexpr unsigned kPixels = 1;
    TEXTON_HD Float4 operator()(PixelPosition at) const { return {static_cast<float>(at.y), 0, 0, 0}; }
};

/// Fetches at positions read from the first texture.
struct Follow {
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& positions, const Source& image) const {
        const Float4 position = positions.fetch(at.center_x(), at.center_y());
        const Float4 there = image.fetch(position.x, position.y);
        return there + image.fetch(position.y + there.x, position.x);
    }
};

/// The number of fetches and their texture and layer depend on the pixel's position.
struct Uneven {
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& flat, const Source& layered) const {
        Float4 sum{};
        for (int i = 0; i < (at.x * 7 + at.y) % 5; ++i) {
            const auto shift = static_cast<float>(i);
            if ((at.x + i) % 3 == 0) {
                sum += flat.fetch(at.center_x() + shift, at.center_y());
            } else {
                sum += layered.fetch_layer((at.y + i) % 3, at.center_x(), at.center_y() - shift) * 0.5f;
            }
        }
        return sum;
    }
};

struct Doubled {
    static constexpr bool kPointwise = true;
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        return source.fetch(at.center_x(), at.center_y()) * 2.0f;
    }
};

/// Ninety fetches per pixel: more than the implementation batches.
struct Many {
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        Float4 sum{};
        for (int i = 0; i < 90; ++i)
            sum += source.fetch(at.center_x() + static_cast<float>(i % 10), at.center_y() + static_cast<float>(i / 10));
        return sum;
    }
};

/// Searches along the row for a texel above 0.5.
struct Search {
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        float x = at.center_x();
        while (!(source.fetch(x, at.center_y()).x > 0.5f) && x < 64.0f) x += 1.0f;
        return {x, 0, 0, 0};
    }
};

struct EveryFetch {
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& flat, const Source& volume, const Source& cube) const {
        const float x = at.center_x() / 8, y = at.center_y() / 8;
        const FetchPoint slanted{.x = x, .y = y, .dx = {0.3f, 0.1f, 0}, .dy = {0.05f, 0.2f, 0}};
        Float4 sum =
            flat.fetch_lod(x, y, 0.75f) + volume.fetch(x, y, x * y) + cube.fetch_cube(x - 0.5f, y - 0.5f, 0.25f);
        sum += flat.template get<ArrayKind::array_2d, FetchOperation::gradients>(slanted);
        return sum;
    }
};

/// The same functor, whose fetches the CPU device may record.
template <class Functor>
struct Promising : Functor {
    static constexpr bool kMayBeCalledWithZeros = true;
};

struct Gathered {
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        return source.gather(at.center_x() + 0.5f, at.center_y() + 0.5f, 1);
    }
};

/// Selects a texture for each row.
struct Rows {
    template <std::size_t count, class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const SourceArray<Source, count>& images) const {
        const auto index = static_cast<std::size_t>(at.y) % count;
        return images[index].at_texel(at.center_x(), 0.5f) + images[count - 1 - index].at_texel(0.5f, 0.5f);
    }
};
struct PointwiseRows {
    static constexpr bool kPointwise = true;
    template <std::size_t count, class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const SourceArray<Source, count>& images) const {
        return images[static_cast<std::size_t>(at.y) % count].at_texel(at.center_x(), at.center_y());
    }
};

// --- tests -----------------------------------------------------------------------------------------------------------

class LaunchTest : public test::OnEveryDevice {
protected:
    Array filled(const ArrayInfo& info, unsigned seed) const {
        Random random(seed);
        Array array(device(), info);
        for (int level = 0; level < info.levels; ++level) {
            const View view = array.view({.level = level});
            upload(view, test::random_texels(random, info.format,
                                             test::box_bytes(info.format, test::level_box(info, level))));
        }
        return array;
    }
    Texture texture(Format format, Extent extent, unsigned seed, const Sampler& sampler = {}) const {
        return Texture(filled({format, extent}, seed), sampler);
    }
    /// Returns the packed pixels of an image that the functor computes. The CPU device computes them in two ways.
    template <class Functor, class... Textures>
    Bytes made(Format format, Extent extent, const Functor& functor, const Textures&... textures) const {
        const Bytes bytes = launched(format, extent, functor, textures...);
        if constexpr (sizeof...(textures) > 0) {
            if (on_cpu()) {
                EXPECT_TRUE(same_bytes(launched(format, extent, Promising<Functor>{functor}, textures...), bytes));
            }
        }
        return bytes;
    }

private:
    template <class Functor, class... Textures>
    Bytes launched(Format format, Extent extent, const Functor& functor, const Textures&... textures) const {
        const Linear memory(device(), format, extent);
        const View image = memory.view(format, extent);
        const Stream stream(device());
        launch(stream, image, functor, textures...);
        stream.synchronize();
        return download(image);
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, LaunchTest, test::every_device(), test::device_label);

TEST_P(LaunchTest, EveryPixelIsTheResultOfTheFunctor) {
    const Bytes bytes = made(Format::rgba32_float, {130, 37, 3}, PixelCoordinates{});
    std::vector<float> floats(130 * 37 * 3 * 4);
    ASSERT_EQ(bytes.size(), floats.size() * 4);
    std::memcpy(floats.data(), bytes.data(), bytes.size());
    std::size_t i = 0;
    for (int z = 0; z < 3; ++z) {
        for (int y = 0; y < 37; ++y) {
            for (int x = 0; x < 130; ++x, i += 4) {
                ASSERT_EQ(floats[i], static_cast<float>(x));
                ASSERT_EQ(floats[i + 1], static_cast<float>(y));
                ASSERT_EQ(floats[i + 2], static_cast<float>(z));
                ASSERT_EQ(floats[i + 3], 1.0f);
            }
        }
    }
}

TEST_P(LaunchTest, FetchesAndPixelsMatchSample) {
    for (const Format format : {Format::rgba8_unorm, Format::rgba8_srgb, Format::r16_snorm, Format::rg16_float,
                                Format::rgba32_float, Format::rgb10a2_unorm}) {
        for (const Filter filter : {Filter::point, Filter::linear}) {
            const Texture source = texture(format, {61, 19}, 1, {.filter = filter});
            for (const FormatInfo& row : formats()) {
                const bool stores = row.layout == FormatLayout::plain || row.layout == FormatLayout::packed;
                if (!stores || row.kind == FormatKind::uint || row.kind == FormatKind::sint) continue;
                SCOPED_TRACE(std::string(row.name));
                const Linear memory(device(), row.format, {200, 21});
                const View image = memory.view(row.format, {200, 21});
                sample(source, AffineMap{.x0 = 0.3f}, image);
                EXPECT_TRUE(same_bytes(made(row.format, {200, 21}, Shift{0.3f}, source), download(image)));
            }
        }
    }
}

TEST_P(LaunchTest, AFunctorSelectsTexturesOfAnArrayByTheirIndex) {
    constexpr std::size_t kWidth = 40, kHeight = 7;
    std::vector<std::vector<float>> texels(3, std::vector<float>(kWidth * kHeight));
    Random random(9);
    std::vector<Texture> textures;
    for (std::vector<float>& own : texels) {
        for (float& texel : own) texel = random.unit();
        const Array array(device(), {Format::r32_float, {kWidth, kHeight}});
        upload(array.view(), std::as_bytes(std::span(own)));
        textures.emplace_back(array);
    }
    const std::array all{textures[0], textures[1], textures[2]};
    std::vector<float> selected, own;
    for (std::size_t i = 0; i < kWidth * kHeight; ++i) {
        const std::size_t row = i / kWidth;
        selected.push_back(texels[row % 3][i % kWidth] + texels[2 - row % 3][0]);
        own.push_back(texels[row % 3][i]);
    }
    const Extent extent{kWidth, kHeight};
    EXPECT_TRUE(same_bytes(made(Format::r32_float, extent, Rows{}, all), std::as_bytes(std::span(selected))));
    EXPECT_TRUE(same_bytes(made(Format::r32_float, extent, PointwiseRows{}, all), std::as_bytes(std::span(own))));
}

TEST_P(LaunchTest, IntegersAreFetchedAsFloatsAndStoredRoundedAndClamped) {
    const Array array(device(), {Format::r16_sint, {4, 1}});
    const std::int16_t values[4] = {-3, -200, 77, 300};
    upload(array.view(), std::as_bytes(std::span(values)));
    const Bytes bytes = made(Format::r8_sint, {4, 1}, Halved{}, Texture(array));
    const std::int8_t expected[4] = {-2, -100, 39, 127};
    EXPECT_TRUE(same_bytes(bytes, std::as_bytes(std::span(expected))));
}

TEST_P(LaunchTest, AFetchCanReturnTheCoordinateOfTheNextFetch) {
    Random random(3);
    Array positions(device(), {Format::rg32_float, {50, 20}});
    std::vector<float> where(50 * 20 * 2);
    for (float& value : where) value = random.unit() * 40;
    upload(positions.view(), std::as_bytes(std::span(where)));
    const Texture image = texture(Format::r32_float, {41, 40}, 4, {.filter = Filter::linear});
    const Bytes bytes = made(Format::r32_float, {50, 20}, Follow{}, Texture(positions), image);
    std::vector<FetchPoint> first;
    for (std::size_t i = 0; i < where.size(); i += 2) first.push_back({.x = where[i], .y = where[i + 1]});
    const std::vector<Texel> there = sample(image, first).texels;
    std::vector<FetchPoint> second;
    for (std::size_t i = 0; i < first.size(); ++i)
        second.push_back({.x = first[i].y + there[i].as_float(0), .y = first[i].x});
    const std::vector<Texel> then = sample(image, second).texels;
    std::vector<float> expected;
    for (std::size_t i = 0; i < first.size(); ++i) expected.push_back(there[i].as_float(0) + then[i].as_float(0));
    EXPECT_TRUE(same_bytes(bytes, std::as_bytes(std::span(expected))));
}

TEST_P(LaunchTest, PixelsCanFetchDifferentlyFromSeveralTexturesAndLayers) {
    const Texture flat = texture(Format::r32_float, {33, 9}, 5);
    const Array layers =
        filled({.format = Format::r32_float, .extent = {33, 9}, .kind = ArrayKind::layered_2d, .layers = 3}, 6);
    const Texture layered(layers);
    const Bytes bytes = made(Format::r32_float, {33, 9}, Uneven{}, flat, layered);
    std::vector<float> expected;
    for (int y = 0; y < 9; ++y) {
        for (int x = 0; x < 33; ++x) {
            float sum = 0;
            for (int i = 0; i < (x * 7 + y) % 5; ++i) {
                FetchPoint at{.x = static_cast<float>(x) + 0.5f, .y = static_cast<float>(y) + 0.5f};
                if ((x + i) % 3 == 0) {
                    at.x += static_cast<float>(i);
                    sum += sample(flat, std::span(&at, 1)).texels[0].as_float(0);
                } else {
                    at.y -= static_cast<float>(i);
                    at.layer = (y + i) % 3;
                    sum += sample(layered, std::span(&at, 1)).texels[0].as_float(0) * 0.5f;
                }
            }
            expected.push_back(sum);
        }
    }
    EXPECT_TRUE(same_bytes(bytes, std::as_bytes(std::span(expected))));
}

TEST_P(LaunchTest, AFunctorCanFetchMoreOftenThanTheBatchSize) {
    const Array ones(device(), {Format::r8_unorm, {16, 16}});
    fill(ones.view(), std::uint8_t{255});
    const Bytes bytes = made(Format::r32_float, {20, 4}, Many{}, Texture(ones));
    const std::vector<float> expected(80, 90.0f);
    EXPECT_TRUE(same_bytes(bytes, std::as_bytes(std::span(expected))));
}

TEST_P(LaunchTest, ALoopCanEndDependingOnAFetch) {
    const Array line(device(), {Format::r8_unorm, {64, 1}});
    Bytes texels(64, std::byte{0});
    texels[40] = std::byte{255};
    upload(line.view(), texels);
    const Bytes bytes = made(Format::r32_float, {64, 1}, Search{}, Texture(line));
    std::vector<float> expected;
    for (int x = 0; x < 64; ++x) expected.push_back(x <= 40 ? 40.5f : 64.5f);
    EXPECT_TRUE(same_bytes(bytes, std::as_bytes(std::span(expected))));
}

TEST_P(LaunchTest, FunctorsFetchLevelsVolumesAndCubes) {
    const Sampler sampler{.filter = Filter::linear, .mip_filter = Filter::linear, .normalized_coordinates = true};
    const Texture flat(filled({.format = Format::rgba16_float, .extent = {16, 16}, .levels = 5}, 7), sampler);
    const Texture volume(filled({.format = Format::rgba16_float, .extent = {5, 6, 7}, .kind = ArrayKind::array_3d}, 8),
                         sampler);
    const Texture cube(filled({.format = Format::rgba16_float, .extent = {6, 6}, .kind = ArrayKind::cubemap}, 9),
                       sampler);
    const Bytes bytes = made(Format::rgba32_float, {8, 8}, EveryFetch{}, flat, volume, cube);
    std::vector<float> expected;
    for (int j = 0; j < 8; ++j) {
        for (int i = 0; i < 8; ++i) {
            const float x = (static_cast<float>(i) + 0.5f) / 8, y = (static_cast<float>(j) + 0.5f) / 8;
            const FetchPoint points[4] = {{.x = x, .y = y, .lod = 0.75f},
                                          {.x = x, .y = y, .z = x * y},
                                          {.x = x - 0.5f, .y = y - 0.5f, .z = 0.25f},
                                          {.x = x, .y = y, .dx = {0.3f, 0.1f, 0}, .dy = {0.05f, 0.2f, 0}}};
            const Texel texels[4] = {
                sample(flat, std::span(points, 1), {.operation = FetchOperation::lod}).texels[0],
                sample(volume, std::span(points + 1, 1)).texels[0], sample(cube, std::span(points + 2, 1)).texels[0],
                sample(flat, std::span(points + 3, 1), {.operation = FetchOperation::gradients}).texels[0]};
            for (int c = 0; c < 4; ++c)
                expected.push_back(((texels[0].as_float(c) + texels[1].as_float(c)) + texels[2].as_float(c)) +
                                   texels[3].as_float(c));
        }
    }
    EXPECT_TRUE(same_bytes(bytes, std::as_bytes(std::span(expected))));
}

TEST_P(LaunchTest, GathersReturnFourTexels) {
    const Array array = filled({.format = Format::rgba8_unorm, .extent = {9, 7}, .usage = {.gather = true}}, 10);
    const Texture texture(array, {.filter = Filter::linear});
    const Bytes bytes = made(Format::rgba32_float, {9, 7}, Gathered{}, texture);
    std::vector<FetchPoint> points;
    for (int i = 0; i < 63; ++i)
        points.push_back({.x = static_cast<float>(i % 9) + 1, .y = static_cast<float>(i / 9) + 1});
    const std::vector<Texel> texels =
        sample(texture, points, {.operation = FetchOperation::gather, .component = 1}).texels;
    EXPECT_TRUE(same_bytes(bytes, std::as_bytes(std::span(texels))));
}

// --- destinations ----------------------------------------------------------------------------------------------------

TEST_P(LaunchTest, TheDestinationCanBeALevelOfAnArrayOfAnyKind) {
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format :
             {Format::r8_unorm, Format::rg8_unorm, Format::rgba8_unorm, Format::rgba16_float, Format::rgba32_float}) {
            ArrayInfo info = test::small_info(kind, format);
            info.usage.surface = true;
            SCOPED_TRACE(test::describe(info));
            const Array array(device(), info);
            for (int level = 0; level < info.levels; ++level) {
                const View image = array.view({.level = level});
                const Stream stream(device());
                launch(stream, image, PixelCoordinates{});
                stream.synchronize();
                EXPECT_TRUE(same_bytes(download(image), made(format, image.extent(), PixelCoordinates{})));
            }
        }
    }
}

TEST_P(LaunchTest, OnlyTheRegionIsWritten) {
    const Array array(device(), {.format = Format::r32_float, .extent = {20, 10}, .usage = {.surface = true}});
    const Pitched2D memory(device(), Format::r32_float, {20, 10});
    for (const View& whole : {array.view(), memory.view()}) {
        fill(whole, std::uint8_t{0});
        const View part = whole.region({{3, 2}, {9, 5}});
        const Stream stream(device());
        launch(stream, part, PixelCoordinates{});
        stream.synchronize();
        EXPECT_TRUE(same_bytes(download(part), made(Format::r32_float, {9, 5}, PixelCoordinates{})));
        fill(part, std::uint8_t{0});
        EXPECT_TRUE(test::all_bytes(download(whole), 0));
    }
}

/// A thread block of a GPU writes eight rows here, and a grid has at most 65535 blocks in y.
TEST_P(LaunchTest, TheDestinationCanBeTallerThanAGrid) {
    constexpr Extent kExtent{3, 8 * 65535 + 11};
    const Bytes bytes = made(Format::r32_float, kExtent, Row{});
    std::vector<float> rows(kExtent.width * kExtent.height);
    ASSERT_EQ(bytes.size(), rows.size() * sizeof(float));
    std::memcpy(rows.data(), bytes.data(), bytes.size());
    for (std::size_t i = 0; i < rows.size(); ++i) ASSERT_EQ(rows[i], static_cast<float>(i / kExtent.width));
}

TEST_P(LaunchTest, PixelsNeedNoAlignment) {
    const Linear memory(device(), 4096);
    const View image = borrowed_view(device(), memory.data() + 3, Format::rgba16_float, {11, 4}, 97);
    const Stream stream(device());
    launch(stream, image, PixelCoordinates{});
    stream.synchronize();
    EXPECT_TRUE(same_bytes(download(image), made(Format::rgba16_float, {11, 4}, PixelCoordinates{})));
}

TEST_P(LaunchTest, WritingToSparseAndPlanarArraysIsRefused) {
    const Stream stream(device());
    SparseArray sparse(device(), {.format = Format::rgba8_unorm, .extent = {256, 128}});
    sparse.map(TileBox{}, TilePool(device()).allocate(1), stream);
    const PlanarArray planar(device(), Format::nv12, {64, 64});
    for (const View& image : {sparse.array().view(), planar.plane(0).view(), planar.plane(1).view()}) {
        expect_error([&] { launch(stream, image, PixelCoordinates{}); }, ErrorCode::unsupported, "texton::launch",
                     {"surfaces"});
    }
}

TEST_P(LaunchTest, ADeferredArrayIsRefusedUnmappedAndWrittenMapped) {
    const Stream stream(device());
    DeferredArray deferred(device(), {.format = Format::r32_float, .extent = {64, 64}, .usage = {.surface = true}});
    expect_error([&] { launch(stream, deferred.array().view(), PixelCoordinates{}); }, ErrorCode::not_mapped,
                 "texton::launch");
    deferred.map(TilePool(device()).allocate_bytes(deferred.requirements().bytes), stream);
    launch(stream, deferred.array().view(), PixelCoordinates{});
    stream.synchronize();
    EXPECT_TRUE(same_bytes(download(deferred.array().view()), made(Format::r32_float, {64, 64}, PixelCoordinates{})));
}

TEST_P(LaunchTest, AFunctorOfItsOwnTexelCanWriteToItsSource) {
    const Pitched2D memory(device(), Format::r32_float, {300, 20});
    std::vector<float> values(6000);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    upload(memory.view(), std::as_bytes(std::span(values)));
    const Texture texture(memory.view());
    const Stream stream(device());
    launch(stream, memory.view(), Doubled{}, texture);
    stream.synchronize();
    for (float& value : values) value *= 2;
    EXPECT_TRUE(same_bytes(download(memory.view()), std::as_bytes(std::span(values))));
    expect_error([&] { launch(stream, memory.view(), Shift{}, texture); }, ErrorCode::overlap, "texton::launch",
                 {"shares bytes"});
    expect_error(
        [&] {
            launch(stream, memory.view().region({{1, 0}, {299, 20}}), Doubled{}, texture);
        },
        ErrorCode::overlap, "texton::launch", {"shares bytes"});
}

TEST_P(LaunchTest, WritingTheLevelsOfTheSourceIsRefused) {
    const Array array(device(),
                      {.format = Format::r32_float, .extent = {16, 16}, .levels = 3, .usage = {.surface = true}});
    const Texture texture(array, {}, {.first_level = 1, .levels = 1});
    const Stream stream(device());
    launch(stream, array.view({.level = 2}), Shift{}, texture);
    launch(stream, array.view({.level = 0}), Shift{}, texture);
    stream.synchronize();
    expect_error([&] { launch(stream, array.view({.level = 1}), Shift{}, texture); }, ErrorCode::overlap,
                 "texton::launch", {"shares a level"});
}

TEST_P(LaunchTest, OneLaunchWritesManyImages) {
    const Stream stream(device());
    std::vector<LaunchJob<Shift, 1>> jobs;
    std::vector<Linear> memory;
    std::vector<Bytes> expected;
    for (unsigned i = 0; i < 120; ++i) {
        const Extent extent{1 + i % 70, 1 + i % 33};
        const Format format = i % 2 == 0 ? Format::rgba8_unorm : Format::r32_float;
        const Texture source = texture(Format::rgba8_unorm, {20, 20}, i);
        memory.emplace_back(device(), format, extent);
        jobs.push_back({memory.back().view(format, extent), {static_cast<float>(i % 5)}, {source}});
        expected.push_back(made(format, extent, jobs.back().functor, source));
    }
    launch(stream, jobs);
    stream.synchronize();
    for (std::size_t i = 0; i < jobs.size(); ++i) EXPECT_TRUE(same_bytes(download(jobs[i].image), expected[i])) << i;
}

TEST_P(LaunchTest, ABatchCanHaveOneImage) {
    const Extent extent{100, 90};
    const Texture source = texture(Format::rgba8_unorm, {20, 20}, 1);
    const Linear memory(device(), Format::rgba8_unorm, extent);
    const std::vector<LaunchJob<Shift, 1>> jobs{{memory.view(Format::rgba8_unorm, extent), {3}, {source}}};
    const Stream stream(device());
    launch(stream, jobs);
    stream.synchronize();
    EXPECT_TRUE(same_bytes(download(jobs[0].image), made(Format::rgba8_unorm, extent, Shift{3}, source)));
}

TEST_P(LaunchTest, ABatchWithAnInvalidJobEnqueuesNothing) {
    const Stream stream(device());
    const Texture source = texture(Format::rgba8_unorm, {8, 8}, 1);
    const Linear memory(device(), Format::rgba8_unorm, {8, 8});
    const View image = memory.view(Format::rgba8_unorm, {8, 8});
    fill(image, std::uint8_t{9});
    Bytes host(256);
    const std::vector<LaunchJob<Shift, 1>> jobs{{image, {}, {source}},
                                                {host_view(host.data(), Format::rgba8_unorm, {8, 8}), {}, {source}}};
    expect_error([&] { launch(stream, jobs); }, ErrorCode::bad_argument, "texton::launch", {"pageable"});
    stream.synchronize();
    EXPECT_TRUE(test::all_bytes(download(image), 9));
}

// --- streams ---------------------------------------------------------------------------------------------------------

TEST_P(LaunchTest, ACapturedLaunchReadsTheTexelsAtGraphLaunch) {
    const Array array(device(), {Format::r32_float, {8, 8}});
    const Texture source(array);
    const Linear memory(device(), Format::r32_float, {8, 8});
    const View image = memory.view(Format::r32_float, {8, 8});
    const Stream stream(device());
    const Graph graph = Graph::capture(stream, [&] { launch(stream, image, Shift{}, source); });
    for (const unsigned seed : {1u, 2u}) {
        Random random(seed);
        const Bytes texels = test::random_texels(random, Format::r32_float, 256);
        upload(array.view(), texels);
        graph.launch(stream);
        stream.synchronize();
        EXPECT_TRUE(same_bytes(download(image), texels));
    }
}

// --- invalid requests ------------------------------------------------------------------------------------------------

TEST_P(LaunchTest, InvalidArgumentsAreRefusedAndNamed) {
    const Stream stream(device());
    Bytes host(64);
    expect_error(
        [&] {
            launch(stream, host_view(host.data(), Format::r8_unorm, {8, 8}), PixelCoordinates{});
        },
        ErrorCode::bad_argument, "texton::launch", {"pageable"});
    const Array blocks(device(), {Format::bc1_unorm, {8, 8}});
    expect_error([&] { launch(stream, blocks.view(), PixelCoordinates{}); }, ErrorCode::bad_argument, "texton::launch",
                 {"bc1_unorm"});
    Linear gone(device(), Format::r8_unorm, {8, 8});
    const View image = gone.view(Format::r8_unorm, {8, 8});
    gone = Linear();
    const Pitched2D memory(device(), Format::r8_unorm, {8, 8});
    if (const std::optional<Device> other = peer()) {
        const Stream far(*other);
        expect_error([&] { launch(far, memory.view(), PixelCoordinates{}); }, ErrorCode::wrong_device,
                     "texton::launch");
        expect_error(
            [&] {
                launch(far, Linear(*other, 64).view(), Shift{}, texture(Format::r8_unorm, {8, 8}, 1));
            },
            ErrorCode::wrong_device, "texton::launch", {"texture 0"});
    }
}

}  // namespace
}  // namespace texton

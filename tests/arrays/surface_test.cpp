#include <texton/surface.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include <texton/error.h>
#include <texton/graph.h>

#include "tests/support/arrays.h"
#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"

namespace texton {
namespace {

using test::all_kinds;
using test::expect_error;
using test::same_bytes;

constexpr Format kFormats[] = {Format::r8_uint, Format::rg8_snorm, Format::rgba8_unorm, Format::rg32_float,
                               Format::rgba32_sint};

ArrayInfo surfaced(ArrayKind kind, Format format) {
    ArrayInfo info = test::small_info(kind, format);
    info.usage.surface = true;
    return info;
}

std::size_t index_of(const SurfacePoint& at, Extent extent) {
    return (static_cast<std::size_t>(at.z) * extent.height + static_cast<std::size_t>(at.y)) * extent.width +
           static_cast<std::size_t>(at.x);
}

bool inside(const SurfacePoint& at, Extent extent) {
    const auto in = [](std::int32_t position, std::size_t side) {
        return position >= 0 && static_cast<std::size_t>(position) < side;
    };
    return in(at.x, extent.width) && in(at.y, extent.height) && in(at.z, extent.depth);
}

std::int32_t clamped(std::int32_t position, std::size_t side) {
    return std::clamp<std::int32_t>(position, 0, static_cast<std::int32_t>(side) - 1);
}

SurfacePoint clamped(const SurfacePoint& at, Extent extent) {
    return {clamped(at.x, extent.width), clamped(at.y, extent.height), clamped(at.z, extent.depth)};
}

/// Returns every texel, from the last to the first.
std::vector<SurfacePoint> every_point(Extent extent) {
    std::vector<SurfacePoint> points;
    for (std::size_t z = extent.depth; z-- > 0;) {
        for (std::size_t y = extent.height; y-- > 0;) {
            for (std::size_t x = extent.width; x-- > 0;) {
                points.push_back(
                    {static_cast<std::int32_t>(x), static_cast<std::int32_t>(y), static_cast<std::int32_t>(z)});
            }
        }
    }
    return points;
}

/// Returns every combination of coordinates inside, at each edge, one beyond it and far outside.
std::vector<SurfacePoint> points_around(Extent extent) {
    const auto positions = [](std::size_t side) {
        const auto last = static_cast<std::int32_t>(side) - 1;
        return std::vector<std::int32_t>{0,
                                         last / 2,
                                         last,
                                         last + 1,
                                         -1,
                                         std::numeric_limits<std::int32_t>::min(),
                                         std::numeric_limits<std::int32_t>::max()};
    };
    std::vector<SurfacePoint> points;
    for (const std::int32_t z : positions(extent.depth)) {
        for (const std::int32_t y : positions(extent.height)) {
            for (const std::int32_t x : positions(extent.width)) points.push_back({x, y, z});
        }
    }
    return points;
}

class SurfaceTest : public test::OnEveryDevice {
protected:
    Array drawable(Extent extent = {8, 8}, Format format = Format::r8_uint) const {
        return Array(device(), {.format = format, .extent = extent, .usage = {.surface = true}});
    }
    /// Calls body(array, reference, level, info) for every kind, format and level.
    template <class Body>
    void for_all(const Body& body) const {
        for (const ArrayKind kind : all_kinds()) {
            for (const Format format : kFormats) {
                const ArrayInfo info = surfaced(kind, format);
                SCOPED_TRACE(test::describe(info));
                const Array array(device(), info);
                test::ReferenceArray reference(info, 7);
                test::upload(array, reference);
                for (int level = 0; level < info.levels; ++level) {
                    SCOPED_TRACE("level " + std::to_string(level));
                    body(array, reference, level);
                }
                EXPECT_TRUE(test::holds(array, reference));
            }
        }
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, SurfaceTest, test::every_device(), test::device_label);

TEST_P(SurfaceTest, EveryTexelOfEveryKindIsReadAtItsCoordinate) {
    for_all([](const Array& array, test::ReferenceArray& reference, int level) {
        const Surface surface(array, level);
        const Extent extent = reference.extent(level);
        EXPECT_EQ(surface.extent(), extent);
        EXPECT_EQ(surface.kind(), array.info().kind);
        EXPECT_EQ(surface.format(), array.info().format);
        EXPECT_EQ(surface.device(), array.device());
        const auto points = every_point(extent);
        const std::size_t bytes = info(surface.format()).bytes;
        test::Bytes expected(points.size() * bytes);
        for (std::size_t i = 0; i < points.size(); ++i) {
            std::memcpy(&expected[i * bytes], &reference.level(level)[index_of(points[i], extent) * bytes], bytes);
        }
        EXPECT_TRUE(same_bytes(read(surface, points), expected));
    });
}

TEST_P(SurfaceTest, WritesChangeOnlyTheTexelsAtTheirCoordinates) {
    unsigned seed = 100;
    for_all([&](const Array& array, test::ReferenceArray& reference, int level) {
        const Extent extent = reference.extent(level);
        std::vector<SurfacePoint> points = every_point(extent);
        for (std::size_t i = 0; i + 1 < points.size(); ++i)
            points.erase(points.begin() + static_cast<std::ptrdiff_t>(i));
        const std::size_t bytes = info(array.info().format).bytes;
        const test::Bytes texels = test::pattern(points.size() * bytes, ++seed);
        write(Surface(array, level), points, texels);
        for (std::size_t i = 0; i < points.size(); ++i) {
            const Offset at{static_cast<std::size_t>(points[i].x), static_cast<std::size_t>(points[i].y),
                            static_cast<std::size_t>(points[i].z)};
            reference.write(level, {at, {1, 1, 1}}, std::span(texels).subspan(i * bytes, bytes));
        }
    });
}

TEST_P(SurfaceTest, ReadsOutOfBoundsReturnTheNearestTexelOrZero) {
    for_all([](const Array& array, test::ReferenceArray& reference, int level) {
        const Extent extent = reference.extent(level);
        const auto points = points_around(extent);
        const std::size_t bytes = info(array.info().format).bytes;
        test::Bytes nearest(points.size() * bytes);
        test::Bytes zeros(nearest.size());
        for (std::size_t i = 0; i < points.size(); ++i) {
            const test::Bytes& texels = reference.level(level);
            std::memcpy(&nearest[i * bytes], &texels[index_of(clamped(points[i], extent), extent) * bytes], bytes);
            if (inside(points[i], extent)) {
                std::memcpy(&zeros[i * bytes], &texels[index_of(points[i], extent) * bytes], bytes);
            }
        }
        const Surface surface(array, level);
        EXPECT_TRUE(same_bytes(read(surface, points, Boundary::clamp), nearest));
        EXPECT_TRUE(same_bytes(read(surface, points, Boundary::zero), zeros));
    });
}

TEST_P(SurfaceTest, WritesOutOfBoundsChangeTheNearestTexelOrNone) {
    unsigned seed = 200;
    for_all([&](const Array& array, test::ReferenceArray& reference, int level) {
        const Extent extent = reference.extent(level);
        const std::size_t bytes = info(array.info().format).bytes;
        // All points write the same value, because writes to the same texel are not ordered.
        const test::Bytes texel = test::pattern(bytes, ++seed);
        std::vector<SurfacePoint> outside;
        for (const SurfacePoint& at : points_around(extent)) {
            if (!inside(at, extent)) outside.push_back(at);
        }
        test::Bytes texels;
        for (std::size_t i = 0; i < outside.size(); ++i) texels.insert(texels.end(), texel.begin(), texel.end());
        const Surface surface(array, level);
        write(surface, outside, texels, Boundary::zero);
        EXPECT_TRUE(same_bytes(read(surface, every_point(extent)), [&] {
            test::Bytes all;
            for (const SurfacePoint& at : every_point(extent)) {
                const auto* from = &reference.level(level)[index_of(at, extent) * bytes];
                all.insert(all.end(), from, from + bytes);
            }
            return all;
        }()));
        write(surface, outside, texels, Boundary::clamp);
        for (const SurfacePoint& point : outside) {
            const SurfacePoint at = clamped(point, extent);
            reference.write(
                level,
                {{static_cast<std::size_t>(at.x), static_cast<std::size_t>(at.y), static_cast<std::size_t>(at.z)},
                 {1, 1, 1}},
                texel);
        }
    });
}

TEST_P(SurfaceTest, TrapModeNamesTheFirstPointOutOfBoundsAndWritesNothing) {
    const Array array = drawable({8, 4});
    const test::Bytes before = test::pattern(32, 1);
    test::upload(array.view(), before);
    const Surface surface(array);
    const std::vector<SurfacePoint> points{{0, 0, 0}, {7, 3, 0}, {7, 4, 0}, {-1, 0, 0}};
    const Error read_error = expect_error([&] { (void)read(surface, points); }, ErrorCode::out_of_bounds,
                                          "texton::read", {"point 2", "(7, 4, 0)", "8 x 4"});
    EXPECT_EQ(test::number_of(read_error, "point"), 2U);
    EXPECT_TRUE(read_error.call().empty());
    const test::Bytes texels(4, std::byte{0xEE});
    expect_error([&] { write(surface, points, texels); }, ErrorCode::out_of_bounds, "texton::write", {"point 2"});
    EXPECT_TRUE(same_bytes(test::download(array.view()), before));
    expect_error(
        [&] {
            (void)read(surface, std::vector<SurfacePoint>{{0, 0, 1}});
        },
        ErrorCode::out_of_bounds, "texton::read", {"(0, 0, 1)"});
}

TEST_P(SurfaceTest, EmptyRequestsAreAcceptedAndEachPointNeedsOneTexel) {
    const Array array = drawable({8, 8}, Format::rgba8_unorm);
    const Surface surface(array);
    EXPECT_TRUE(read(surface, {}).empty());
    EXPECT_NO_THROW(write(surface, {}, {}));
    const std::vector<SurfacePoint> points(2);
    const test::Bytes texels(16);
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{4}, std::size_t{7}, std::size_t{16}}) {
        expect_error([&] { write(surface, points, std::span(texels).first(bytes)); }, ErrorCode::bad_argument,
                     "texton::write", {"8 bytes", std::to_string(bytes) + " were given"});
    }
}

TEST_P(SurfaceTest, ManyPointsAreReadAndWritten) {
    const Extent extent{300, 200};
    const Array array = drawable(extent, Format::r32_uint);
    const Surface surface(array);
    const auto points = every_point(extent);
    const test::Bytes texels = test::pattern(points.size() * 4, 5);
    write(surface, points, texels);
    EXPECT_TRUE(same_bytes(read(surface, points), texels));
    test::Bytes forward(texels.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
        std::memcpy(&forward[index_of(points[i], extent) * 4], &texels[i * 4], 4);
    }
    EXPECT_TRUE(same_bytes(test::download(array.view()), forward));
}

TEST_P(SurfaceTest, WritesToTheSameTexelStoreOneOfTheValues) {
    const Array array = drawable({4, 4}, Format::rgba32_uint);
    const Surface surface(array);
    const std::vector<SurfacePoint> points(5000, SurfacePoint{1, 2, 0});
    test::Bytes texels(points.size() * 16);
    for (std::size_t i = 0; i < points.size(); ++i) std::memset(&texels[i * 16], static_cast<int>(i % 251), 16);
    write(surface, points, texels);
    const auto left = read(surface, std::span(points).first(1));
    EXPECT_TRUE(test::all_bytes(left, static_cast<unsigned>(left.front())));  // one whole value, not a mix of two
}

TEST_P(SurfaceTest, ASurfaceKeepsItsArrayAlive) {
    const Surface surface = [&] {
        const Array array = drawable();
        test::upload(array.view(), test::Bytes(64, std::byte{9}));
        return Surface(array);
    }();
    EXPECT_EQ(read(surface, std::vector<SurfacePoint>{{3, 3, 0}}).at(0), std::byte{9});
    const Surface copied = surface;  // NOLINT(performance-unnecessary-copy-initialization)
    EXPECT_EQ(copied, surface);
    EXPECT_EQ(copied.handle(), surface.handle());
    EXPECT_NE(surface.handle(), 0U);
}

TEST_P(SurfaceTest, ArraysWithoutSurfaceUsageAndInvalidLevelsAreRefused) {
    const Array plain(device(), {Format::r8_uint, {8, 8}});
    expect_error([&] { Surface surface(plain); }, ErrorCode::not_permitted, "texton::Surface", {"ArrayUsage::surface"});
    const Array levels(device(), {.extent = {8, 8}, .levels = 2, .usage = {.surface = true}});
    expect_error([&] { Surface surface(levels, 2); }, ErrorCode::out_of_bounds, "texton::Surface",
                 {"level 2", "has 2"});
    expect_error([&] { Surface surface(levels, -1); }, ErrorCode::out_of_bounds, "texton::Surface");
    expect_error([&] { Surface surface{Array()}; }, ErrorCode::released, "texton::Surface");
}

TEST_P(SurfaceTest, ReadingAndWritingAreRefusedDuringACapture) {
    const Array array = drawable();
    const Surface surface(array);
    const std::vector<SurfacePoint> points(1);
    const test::Bytes texel(1);
    const Graph graph = Graph::capture(Stream(device()), [&] {
        expect_error([&] { (void)read(surface, points); }, ErrorCode::capturing, "texton::read");
        expect_error([&] { write(surface, points, texel); }, ErrorCode::capturing, "texton::write");
        expect_error([&] { Surface other(array); }, ErrorCode::capturing, "texton::Surface");
    });
    EXPECT_NO_THROW((void)read(surface, points));
}

}  // namespace
}  // namespace texton

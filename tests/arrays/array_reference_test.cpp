// Fetches and surface accesses of arrays of every kind on each device, compared with a plain implementation on bytes.
// Point reads have an exact definition. TextureUnitTest and ArrayParityTest cover filtered reads.
#include <texton/array.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <texton/sample.h>
#include <texton/surface.h>
#include <texton/texture.h>

#include "tests/support/arrays.h"
#include "tests/support/decode.h"
#include "tests/support/on_every_device.h"

namespace texton {
namespace {

using test::Bytes;
using test::describe;
using test::Random;
using test::ReferenceArray;

using Index = std::int64_t;

// Position of a texel in a level; z counts slices, layers or faces.
struct TexelPosition {
    Index x = 0;
    Index y = 0;
    Index z = 0;
};

Region one_texel(const TexelPosition& at) {
    return {{static_cast<std::size_t>(at.x), static_cast<std::size_t>(at.y), static_cast<std::size_t>(at.z)},
            {1, 1, 1}};
}

Index signed_of(std::size_t value) { return static_cast<Index>(value); }

// Returns the texel that address mode `mode` selects for texel i of n, or no value for the border.
std::optional<Index> addressed(Index i, Index n, AddressMode mode) {
    switch (mode) {
        case AddressMode::clamp: return std::clamp<Index>(i, 0, n - 1);
        case AddressMode::border: return i >= 0 && i < n ? std::optional(i) : std::nullopt;
        case AddressMode::wrap: return (i % n + n) % n;
        case AddressMode::mirror: {
            const Index at = (i % (2 * n) + 2 * n) % (2 * n);
            return at < n ? at : 2 * n - 1 - at;
        }
    }
    return std::nullopt;
}

// A fetch and the texel that it must return; no texel means the border.
struct Fetch {
    FetchPoint point;
    std::optional<TexelPosition> texel;
};

// Sets the direction to the center of a texel of a cube face. s, t and the major axis follow the face table in the CUDA
// programming guide.
void aim(FetchPoint& point, Index face, double s, double t) {
    const double directions[6][3] = {{1, -t, -s}, {-1, -t, s}, {s, 1, t}, {s, -1, -t}, {s, -t, 1}, {-s, -t, -1}};
    const auto& direction = directions[face];
    point.x = static_cast<float>(direction[0]);
    point.y = static_cast<float>(direction[1]);
    point.z = static_cast<float>(direction[2]);
}

// Returns random fetches around the texels of a level. Coordinates that the kind does not have are NaN, because they
// must not be read.
std::vector<Fetch> random_fetches(Random& random, const ArrayInfo& info, int level, const Sampler& sampler,
                                  std::size_t count) {
    const Extent box = test::level_box(info, level);
    const auto coordinate = [&](Index i, Index n) {
        // Inside the texel, away from its edges, because normalized coordinates are rounded.
        const double center = static_cast<double>(i) + 0.25 + 0.5 * random.unit();
        return static_cast<float>(sampler.normalized_coordinates ? center / static_cast<double>(n) : center);
    };
    const auto around = [&](std::size_t n) { return signed_of(random.below(3 * n + 6)) - signed_of(n) - 3; };
    const float nobody = std::numeric_limits<float>::quiet_NaN();
    std::vector<Fetch> fetches;
    while (fetches.size() < count) {
        Fetch fetch;
        FetchPoint& point = fetch.point;
        point.lod = static_cast<float>(level);
        if (is_cube(info.kind)) {
            const TexelPosition texel{signed_of(random.below(box.width)), signed_of(random.below(box.height)),
                                      signed_of(random.below(box.depth))};
            const auto n = static_cast<double>(box.width);
            aim(point, texel.z % 6, (2 * static_cast<double>(texel.x) + 1) / n - 1,
                (2 * static_cast<double>(texel.y) + 1) / n - 1);
            point.layer = static_cast<std::int32_t>(texel.z / 6);
            fetch.texel = texel;
            fetches.push_back(fetch);
            continue;
        }
        const Index x = around(box.width);
        const Index y = is_flat(info.kind) ? 0 : around(box.height);
        const bool volume = info.kind == ArrayKind::array_3d;
        const Index z = volume ? around(box.depth) : 0;
        point.x = coordinate(x, signed_of(box.width));
        point.y = is_flat(info.kind) ? nobody : coordinate(y, signed_of(box.height));
        point.z = volume ? coordinate(z, signed_of(box.depth)) : nobody;
        const auto in_x = addressed(x, signed_of(box.width), sampler.address[0]);
        const auto in_y =
            is_flat(info.kind) ? std::optional<Index>(0) : addressed(y, signed_of(box.height), sampler.address[1]);
        auto in_z = volume ? addressed(z, signed_of(box.depth), sampler.address[2]) : std::optional<Index>(0);
        if (is_layered(info.kind)) {
            // Layer indices are unsigned: a negative index selects the last layer.
            point.layer = static_cast<std::int32_t>(random.below(box.depth + 4)) - 2;
            in_z = point.layer < 0 ? signed_of(box.depth) - 1 : std::min<Index>(point.layer, signed_of(box.depth) - 1);
        }
        if (in_x && in_y && in_z) fetch.texel = TexelPosition{*in_x, *in_y, *in_z};
        fetches.push_back(fetch);
    }
    return fetches;
}

class ArrayReferenceTest : public test::OnEveryDevice {
protected:
    // Fetches all points and compares the channels that the format has. Texels outside the level read as 0.
    static void expect_fetched(const Texture& texture, const ReferenceArray& reference, int level,
                               const std::vector<Fetch>& fetches, FetchOperation operation) {
        std::vector<FetchPoint> points;
        for (const Fetch& fetch : fetches) points.push_back(fetch.point);
        const Samples seen = sample(texture, points, {.operation = operation});
        ASSERT_EQ(seen.texels.size(), fetches.size());
        EXPECT_TRUE(seen.resident.empty());
        const Format format = reference.info().format;
        for (std::size_t i = 0; i < fetches.size(); ++i) {
            std::array<std::uint32_t, 4> expected{};
            if (fetches[i].texel) {
                expected = test::decode(format, reference.read(level, one_texel(*fetches[i].texel)));
            }
            for (std::size_t c = 0; c < info(format).channels; ++c) {
                ASSERT_EQ(seen.texels[i].channel[c], expected[c])
                    << "channel " << c << " at (" << points[i].x << ", " << points[i].y << ", " << points[i].z
                    << "), layer " << points[i].layer;
            }
        }
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, ArrayReferenceTest, test::every_device(), test::device_label);

TEST_P(ArrayReferenceTest, PointFetchesReturnTheTexelSelectedByTheAddressMode) {
    Random random(1);
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : test::array_formats()) {
            if (!test::can_decode(format)) continue;
            const ArrayInfo info = test::flat_info(kind, format);
            const Array array(device(), info);
            const ReferenceArray reference(info, 2);
            test::upload(array, reference);
            for (const bool normalized : {false, true}) {
                if (is_cube(kind) && !normalized) continue;
                for (const AddressMode mode :
                     {AddressMode::clamp, AddressMode::border, AddressMode::wrap, AddressMode::mirror}) {
                    if (!normalized && (mode == AddressMode::wrap || mode == AddressMode::mirror)) continue;
                    const Sampler sampler{.address = {mode, mode, mode}, .normalized_coordinates = normalized};
                    SCOPED_TRACE(describe(info) + ", address mode " + std::to_string(static_cast<int>(mode)) +
                                 (normalized ? ", normalized" : ""));
                    expect_fetched(Texture(array, sampler), reference, 0, random_fetches(random, info, 0, sampler, 24),
                                   FetchOperation::plain);
                    if (HasFatalFailure()) return;
                }
            }
        }
    }
}

TEST_P(ArrayReferenceTest, AnAddressModeAffectsOnlyItsOwnAxis) {
    Random random(3);
    using enum AddressMode;
    for (const ArrayKind kind : {ArrayKind::array_2d, ArrayKind::array_3d, ArrayKind::layered_2d}) {
        const ArrayInfo info = test::flat_info(kind, Format::rgba16_uint);
        const Array array(device(), info);
        const ReferenceArray reference(info, 4);
        test::upload(array, reference);
        for (const Sampler& sampler : {Sampler{.address = {wrap, clamp, border}, .normalized_coordinates = true},
                                       Sampler{.address = {border, mirror, wrap}, .normalized_coordinates = true},
                                       Sampler{.address = {clamp, border, mirror}, .normalized_coordinates = true},
                                       Sampler{.address = {mirror, wrap, clamp}, .normalized_coordinates = true}}) {
            expect_fetched(Texture(array, sampler), reference, 0, random_fetches(random, info, 0, sampler, 200),
                           FetchOperation::plain);
            if (HasFatalFailure()) return;
        }
    }
}

TEST_P(ArrayReferenceTest, EachLevelIsFetchedByItsIndex) {
    Random random(5);
    const Sampler sampler{.normalized_coordinates = true};
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : {Format::r8_uint, Format::rg16_snorm, Format::rgba32_float, Format::rgb10a2_unorm}) {
            const ArrayInfo info = test::small_info(kind, format);
            const Array array(device(), info);
            const ReferenceArray reference(info, 6);
            test::upload(array, reference);
            const Texture texture(array, sampler);
            ASSERT_EQ(texture.levels(), info.levels);
            for (int level = 0; level < info.levels; ++level) {
                SCOPED_TRACE(describe(info) + ", level " + std::to_string(level));
                expect_fetched(texture, reference, level, random_fetches(random, info, level, sampler, 32),
                               FetchOperation::lod);
                if (HasFatalFailure()) return;
            }
        }
    }
}

TEST_P(ArrayReferenceTest, ATextureRangeStartsAtItsFirstLevelAndLayer) {
    Random random(7);
    const Sampler sampler{.normalized_coordinates = true};
    for (const ArrayKind kind : test::all_kinds()) {
        const ArrayInfo info = test::small_info(kind, Format::r32_uint);
        const Array array(device(), info);
        const ReferenceArray whole(info, 8);
        test::upload(array, whole);
        const std::size_t first_layer = is_layered(kind) ? 1 : 0;
        const Texture texture(array, sampler, {.first_level = 1, .levels = 2, .first_layer = first_layer});
        EXPECT_EQ(texture.levels(), 2);
        EXPECT_EQ(texture.layers(), info.layers - first_layer);
        EXPECT_EQ(texture.extent(), level_extent(info, 1));
        // The part must have the same texels as an array of its own.
        ArrayInfo part_info = info;
        part_info.extent = level_extent(info, 1);
        part_info.levels = 2;
        part_info.layers = info.layers - first_layer;
        ReferenceArray part(part_info, 9);
        for (int level = 0; level < 2; ++level) {
            const Extent box = part.extent(level);
            const std::size_t skipped = first_layer * (is_cube(kind) ? 6 : 1);
            part.write(level, {{}, box}, whole.read(level + 1, {{0, 0, skipped}, box}));
        }
        for (int level = 0; level < 2; ++level) {
            SCOPED_TRACE(describe(info) + ", level " + std::to_string(level) + " of the range");
            expect_fetched(texture, part, level, random_fetches(random, part_info, level, sampler, 48),
                           FetchOperation::lod);
            if (HasFatalFailure()) return;
        }
    }
}

TEST_P(ArrayReferenceTest, GatherReturnsTheFourSurroundingTexels) {
    Random random(10);
    for (const Format format : test::array_formats()) {
        if (!test::can_decode(format)) continue;
        // These formats are widened to 16 bits in the filter: see TextureUnitTest.
        if (info(format).kind == FormatKind::snorm || info(format).layout == FormatLayout::packed) continue;
        ArrayInfo info = test::flat_info(ArrayKind::array_2d, format);
        info.usage.gather = true;
        const Array array(device(), info);
        const ReferenceArray reference(info, 11);
        test::upload(array, reference);
        const Texture texture(array);
        std::vector<FetchPoint> points;
        std::vector<TexelPosition> first;
        for (int i = 0; i < 40; ++i) {
            const TexelPosition corner{signed_of(random.below(info.extent.width + 4)) - 3,
                                       signed_of(random.below(info.extent.height + 4)) - 3, 0};
            // Between the centers of the four texels.
            points.push_back({.x = static_cast<float>(corner.x) + 0.75f + 0.5f * random.unit(),
                              .y = static_cast<float>(corner.y) + 0.75f + 0.5f * random.unit()});
            first.push_back(corner);
        }
        for (int component = 0; component < texton::info(format).channels; ++component) {
            const Samples seen = sample(texture, points, {.operation = FetchOperation::gather, .component = component});
            ASSERT_EQ(seen.texels.size(), points.size());
            for (std::size_t i = 0; i < points.size(); ++i) {
                constexpr Index kOrder[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
                for (int corner = 0; corner < 4; ++corner) {
                    const Index x =
                        std::clamp<Index>(first[i].x + kOrder[corner][0], 0, signed_of(info.extent.width) - 1);
                    const Index y =
                        std::clamp<Index>(first[i].y + kOrder[corner][1], 0, signed_of(info.extent.height) - 1);
                    const auto expected = test::decode(format, reference.read(0, one_texel({x, y, 0})));
                    ASSERT_EQ(seen.texels[i].channel[corner], expected[static_cast<std::size_t>(component)])
                        << describe(info) << ", component " << component << " at (" << points[i].x << ", "
                        << points[i].y << "), corner " << corner;
                }
            }
        }
    }
}

// --- surfaces --------------------------------------------------------------------------------------------------------

SurfacePoint random_point(Random& random, Extent box) {
    const auto around = [&](std::size_t n) {
        if (random.below(20) == 0) {
            return random.coin() ? std::numeric_limits<std::int32_t>::max() : std::numeric_limits<std::int32_t>::min();
        }
        return static_cast<std::int32_t>(random.below(n + 4)) - 2;
    };
    return {around(box.width), around(box.height), around(box.depth)};
}

bool inside(const SurfacePoint& point, Extent box) {
    return point.x >= 0 && signed_of(box.width) > point.x && point.y >= 0 && signed_of(box.height) > point.y &&
           point.z >= 0 && signed_of(box.depth) > point.z;
}

TexelPosition nearest(const SurfacePoint& point, Extent box) {
    const auto clamp = [](Index value, std::size_t n) { return std::clamp<Index>(value, 0, signed_of(n) - 1); };
    return {clamp(point.x, box.width), clamp(point.y, box.height), clamp(point.z, box.depth)};
}

TEST_P(ArrayReferenceTest, SurfacesReadAndWriteTheTexelsOfTheirLevel) {
    Random random(12);
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : test::array_formats()) {
            if (test::is_block_compressed(format)) continue;
            ArrayInfo info = test::small_info(kind, format);
            info.usage.surface = true;
            const Array array(device(), info);
            ReferenceArray reference(info, 13);
            test::upload(array, reference);
            for (int level = 0; level < info.levels; ++level) {
                const Extent box = reference.extent(level);
                const Surface surface(array, level);
                ASSERT_EQ(surface.extent(), box);
                for (const Boundary boundary : {Boundary::trap, Boundary::clamp, Boundary::zero}) {
                    SCOPED_TRACE(describe(info) + ", level " + std::to_string(level) + ", boundary " +
                                 std::to_string(static_cast<int>(boundary)));
                    std::vector<SurfacePoint> points;
                    std::set<std::tuple<Index, Index, Index>> targets;
                    for (int i = 0; i < 24; ++i) {
                        const SurfacePoint point = random_point(random, box);
                        const TexelPosition target = nearest(point, box);
                        if (boundary == Boundary::trap && !inside(point, box)) continue;
                        // Writes to the same texel are not ordered.
                        if (!targets.insert({target.x, target.y, target.z}).second) continue;
                        points.push_back(point);
                    }
                    const std::size_t texel = texton::info(format).bytes;
                    Bytes expected;
                    for (const SurfacePoint& point : points) {
                        const Bytes held = boundary == Boundary::zero && !inside(point, box)
                                               ? Bytes(texel)
                                               : reference.read(level, one_texel(nearest(point, box)));
                        expected.insert(expected.end(), held.begin(), held.end());
                    }
                    ASSERT_TRUE(test::same_bytes(read(surface, points, boundary), expected));

                    const Bytes written = test::pattern(points.size() * texel, static_cast<unsigned>(level));
                    write(surface, points, written, boundary);
                    for (std::size_t i = 0; i < points.size(); ++i) {
                        if (boundary == Boundary::zero && !inside(points[i], box)) continue;
                        reference.write(level, one_texel(nearest(points[i], box)),
                                        std::span(written).subspan(i * texel, texel));
                    }
                }
            }
            ASSERT_TRUE(test::holds(array, reference)) << describe(info);
        }
    }
}

}  // namespace
}  // namespace texton

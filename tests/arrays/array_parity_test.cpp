// Compares fetches on the CPU device and on a GPU bit by bit, and compares the tiling of sparse arrays and the size of
// deferred arrays with the values of an H200.
#include <texton/array.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/sample.h>
#include <texton/texture.h>

#include "tests/support/arrays.h"
#include "tests/support/on_every_device.h"

namespace texton {
namespace {

using test::describe;
using test::Random;
using test::ReferenceArray;

// Integer formats have no linear filter; wrap and mirror need normalized coordinates.
bool is_taken(const ArrayInfo& info, const Sampler& sampler) {
    const FormatKind kind = texton::info(info.format).kind;
    const bool integers = kind == FormatKind::uint || kind == FormatKind::sint;
    if (integers && (sampler.filter == Filter::linear || sampler.mip_filter == Filter::linear)) return false;
    if (sampler.normalized_coordinates) return true;
    if (is_cube(info.kind) || info.levels > 1) return false;
    for (const AddressMode mode : sampler.address) {
        if (mode == AddressMode::wrap || mode == AddressMode::mirror) return false;
    }
    return true;
}

float hostile_coordinate(Random& random, std::size_t side, bool normalized) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    static const std::vector<float> kHostile{std::numeric_limits<float>::quiet_NaN(),
                                             kInfinity,
                                             -kInfinity,
                                             std::numeric_limits<float>::max(),
                                             std::numeric_limits<float>::lowest(),
                                             std::numeric_limits<float>::denorm_min(),
                                             -std::numeric_limits<float>::min(),
                                             0.0f,
                                             -0.0f,
                                             2147483648.0f,
                                             -2147483904.0f,
                                             16777217.0f,
                                             1e9f,
                                             -1e9f,
                                             1.0f,
                                             std::nextafter(1.0f, 0.0f),
                                             std::nextafter(1.0f, 2.0f)};
    const auto size = static_cast<float>(side);
    float texels = 0;
    switch (random.below(6)) {
        case 0: return random.of(kHostile);
        // Ties: between texels, at centers, and halfway between two weights.
        case 1: texels = static_cast<float>(random.below(2 * side + 4)) - 2; break;
        case 2: texels = static_cast<float>(random.below(2 * side + 4)) - 1.5f; break;
        case 3: texels = size * random.unit() + 1.0f / 512; break;
        case 4: texels = (random.unit() * 7 - 3) * size; break;
        default: texels = size * random.unit(); break;
    }
    return normalized ? texels / size : texels;
}

FetchPoint hostile_point(Random& random, const ArrayInfo& info, const Sampler& sampler) {
    const bool normalized = sampler.normalized_coordinates;
    FetchPoint point;
    if (is_cube(info.kind)) {
        point.x = random.unit() * 2 - 1;
        point.y = random.unit() * 2 - 1;
        point.z = random.unit() * 2 - 1;
        if (random.below(16) == 0) point.y = hostile_coordinate(random, info.extent.width, true);
        // An edge of the cube. After a division by a value that is not a power of two, the coordinate may lie one step
        // inside the face.
        if (random.below(16) == 0) point.x = point.z = random.coin() ? 1.0f : -0.5f;
    } else {
        point.x = hostile_coordinate(random, info.extent.width, normalized);
        point.y = hostile_coordinate(random, info.extent.height, normalized);
        point.z = hostile_coordinate(random, info.extent.depth, normalized);
    }
    point.layer = static_cast<std::int32_t>(random.below(info.layers + 4)) - 2;
    point.lod = random.unit() * static_cast<float>(info.levels + 2) - 1;
    for (int axis = 0; axis < 3; ++axis) {
        point.dx[axis] = (random.unit() - 0.5f) / 4;
        point.dy[axis] = (random.unit() - 0.5f) / 4;
    }
    return point;
}

std::vector<Sampler> all_samplers() {
    std::vector<Sampler> samplers;
    const AddressMode modes[][3] = {{AddressMode::clamp, AddressMode::clamp, AddressMode::clamp},
                                    {AddressMode::border, AddressMode::border, AddressMode::border},
                                    {AddressMode::wrap, AddressMode::wrap, AddressMode::wrap},
                                    {AddressMode::mirror, AddressMode::mirror, AddressMode::mirror},
                                    {AddressMode::clamp, AddressMode::wrap, AddressMode::mirror},
                                    {AddressMode::border, AddressMode::clamp, AddressMode::border}};
    for (const auto& mode : modes) {
        for (const Filter filter : {Filter::point, Filter::linear}) {
            for (const Filter mip_filter : {Filter::point, Filter::linear}) {
                for (const bool normalized : {false, true}) {
                    samplers.push_back({.address = {mode[0], mode[1], mode[2]},
                                        .filter = filter,
                                        .mip_filter = mip_filter,
                                        .normalized_coordinates = normalized,
                                        .border = {0.25f, -0.5f, 0.75f, 1.0f}});
                }
            }
        }
    }
    return samplers;
}

std::string describe(const Sampler& sampler) {
    std::string text = sampler.filter == Filter::linear ? "linear" : "point";
    text += sampler.mip_filter == Filter::linear ? ", linear between levels" : "";
    text += sampler.normalized_coordinates ? ", normalized, address" : ", in texels, address";
    for (const AddressMode mode : sampler.address) text += ' ' + std::to_string(static_cast<int>(mode));
    return text;
}

std::string describe(const FetchPoint& point) {
    std::string text = "(" + std::to_string(point.x) + ", " + std::to_string(point.y) + ", " + std::to_string(point.z) +
                       ") layer " + std::to_string(point.layer);
    return text + " lod " + std::to_string(point.lod);
}

class ArrayParityTest : public testing::Test {
protected:
    void SetUp() override {
        if (Device::why_no_cuda().empty()) return;
        if (test::gpu_required()) FAIL() << "TEXTON_REQUIRE_GPU is 1, but there is no CUDA device";
        GTEST_SKIP() << "no CUDA device: " << Device::why_no_cuda();
    }

    void compare(const ArrayInfo& info, const std::vector<FetchOperation>& operations, std::size_t points_each) {
        const ReferenceArray reference(info, 1);
        const Array model(Device::cpu(), info);
        const Array hardware(Device::cuda(), info);
        test::upload(model, reference);
        test::upload(hardware, reference);
        for (const Sampler& sampler : all_samplers()) {
            if (!is_taken(info, sampler)) continue;
            for (const FetchOperation operation : operations) {
                std::vector<FetchPoint> points;
                for (std::size_t i = 0; i < points_each; ++i) points.push_back(hostile_point(random_, info, sampler));
                const SampleOptions options{
                    .operation = operation,
                    .component = operation == FetchOperation::gather
                                     ? static_cast<int>(random_.below(texton::info(info.format).channels))
                                     : 0};
                const Samples expected = sample(Texture(hardware, sampler), points, options);
                const Samples actual = sample(Texture(model, sampler), points, options);
                ASSERT_EQ(expected.texels.size(), points.size());
                ASSERT_EQ(actual.texels.size(), points.size());
                std::size_t different = 0;
                std::size_t first = 0;
                for (std::size_t i = points.size(); i-- > 0;) {
                    if (actual.texels[i] == expected.texels[i]) continue;
                    ++different;
                    first = i;
                }
                compared_ += points.size();
                EXPECT_EQ(different, 0u) << describe(info) << ", " << describe(sampler) << ", operation "
                                         << static_cast<int>(operation) << ": of " << points.size() << " the first at "
                                         << describe(points[first]) << ": " << actual.texels[first].channel[0]
                                         << ", on the GPU " << expected.texels[first].channel[0];
            }
        }
    }

    std::size_t compared() const { return compared_; }

private:
    Random random_{17};
    std::size_t compared_ = 0;
};

TEST_F(ArrayParityTest, FetchesOfEveryKindAndFormatAreBitIdentical) {
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : test::array_formats()) {
            if (test::has_arrays(kind, format)) compare(test::flat_info(kind, format), {FetchOperation::plain}, 128);
        }
    }
    EXPECT_GT(compared(), 100'000u);
}

TEST_F(ArrayParityTest, FetchesByLevelAndGradientAreBitIdentical) {
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : test::array_formats()) {
            if (!test::has_arrays(kind, format)) continue;
            compare(test::small_info(kind, format),
                    {FetchOperation::plain, FetchOperation::lod, FetchOperation::gradients}, 64);
            compare(test::flat_info(kind, format), {FetchOperation::lod, FetchOperation::gradients}, 32);
        }
    }
    EXPECT_GT(compared(), 100'000u);
}

TEST_F(ArrayParityTest, GathersAreBitIdentical) {
    for (const Format format : test::array_formats()) {
        ArrayInfo info = test::flat_info(ArrayKind::array_2d, format);
        info.usage.gather = true;
        compare(info, {FetchOperation::gather}, 128);
    }
    EXPECT_GT(compared(), 10'000u);
}

// --- sizes -----------------------------------------------------------------------------------------------------------

struct Cut {
    Format format;
    Extent extent;
    std::size_t layers;  // 0: not layered
    int levels;          // 0: all
    int first_tail_level;
    std::size_t tail_kib;
    bool per_layer;
};

ArrayInfo info_of(Format format, Extent extent, std::size_t layers, int levels) {
    ArrayInfo info{.format = format, .extent = extent};
    if (extent.depth > 1) info.kind = ArrayKind::array_3d;
    if (layers > 0) info.kind = ArrayKind::layered_2d;
    info.layers = layers > 0 ? layers : 1;
    info.levels = levels > 0 ? levels : full_levels(info);
    return info;
}

class ArraySizesTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, ArraySizesTest, test::every_device(), test::device_label);

TEST_P(ArraySizesTest, SparseTileAndTailSizesMatchAnH200) {
    using enum Format;
    const Cut cuts[] = {
        {r8_uint, {1024, 1024}, 0, 0, 3, 64, true},        {r8_uint, {5000, 300}, 0, 0, 1, 896, true},
        {r8_uint, {100, 100}, 0, 1, 0, 64, false},         {r8_uint, {255, 255}, 0, 0, 0, 128, false},
        {r8_uint, {300, 200}, 2, 1, 0, 192, false},        {r8_uint, {256, 256, 256}, 0, 0, 3, 128, true},
        {r16_uint, {3000, 1700}, 0, 0, 4, 128, true},      {r16_uint, {128, 4096}, 0, 0, 0, 1472, false},
        {r16_uint, {300, 200}, 2, 0, 1, 64, true},         {r32_uint, {4096, 4096}, 0, 0, 6, 64, true},
        {r32_uint, {3000, 1700}, 0, 0, 4, 192, true},      {r32_uint, {255, 255}, 0, 2, 1, 64, true},
        {r32_uint, {4096, 4096}, 0, 3, 3, 0, true},        {r32_uint, {300, 200}, 2, 1, 1, 0, true},
        {r32_uint, {100, 100}, 4, 1, 0, 256, false},       {r32_uint, {256, 256, 256}, 0, 0, 4, 64, true},
        {r32_uint, {200, 100, 50}, 0, 0, 2, 192, true},    {rg32_uint, {3000, 1700}, 0, 0, 5, 128, true},
        {rgba32_uint, {300, 5000}, 0, 0, 3, 576, true},    {rgba32_uint, {128, 4096}, 0, 3, 2, 512, true},
        {rgba32_uint, {200, 100, 50}, 0, 3, 2, 448, true}, {rgba8_unorm, {1024, 1024}, 3, 0, 4, 64, true},
        {rgb10a2_unorm, {1024, 1024}, 0, 0, 4, 64, true},  {bc1_unorm, {3000, 1700}, 0, 0, 3, 128, true},
        {bc1_unorm, {300, 5000}, 0, 1, 0, 832, false},     {bc3_unorm, {4096, 4096}, 0, 0, 5, 64, true},
        {bc3_unorm, {640, 480}, 0, 1, 1, 0, true},         {bc3_unorm, {255, 255}, 0, 1, 0, 64, false},
        {bc3_unorm, {255, 255}, 0, 0, 1, 64, false},       {bc3_unorm, {200, 100, 50}, 0, 0, 1, 320, true}};
    for (const Cut& cut : cuts) {
        const ArrayInfo info = info_of(cut.format, cut.extent, cut.layers, cut.levels);
        SCOPED_TRACE(describe(info));
        const SparseProperties seen = sparse_properties(device(), info);
        EXPECT_EQ(seen.tile, tile_extent(info.format, info.kind == ArrayKind::array_3d ? 3 : 2));
        EXPECT_EQ(seen.first_tail_level, cut.first_tail_level);
        EXPECT_EQ(seen.tail_bytes, cut.tail_kib << 10);
        if (cut.tail_kib > 0) {
            EXPECT_EQ(seen.tail_per_layer, cut.per_layer);
        }
    }
}

struct Requirement {
    ArrayInfo info;
    std::size_t tiles;  // tiles of 64 KiB
};

TEST_P(ArraySizesTest, DeferredArraysNeedAsMuchMemoryAsOnAnH200) {
    using enum Format;
    using enum ArrayKind;
    const Requirement requirements[] = {{{r8_uint, {64}, array_1d}, 1},
                                        {{r8_uint, {131072}, array_1d}, 16},
                                        {{rgba32_uint, {32768}, array_1d}, 64},
                                        {{r32_uint, {1024}, layered_1d, 4}, 2},
                                        {{r32_uint, {20000}, layered_1d, 7}, 69},
                                        {{r8_uint, {257, 256}}, 2},
                                        {{r32_uint, {129, 129}}, 3},
                                        {{r32_uint, {1000, 1000}}, 63},
                                        {{r32_uint, {1000, 1000}, array_2d, 1, 1, {.surface = true}}, 63},
                                        {{r32_uint, {1000, 1000}, array_2d, 1, 1, {.gather = true}}, 63},
                                        {{r32_uint, {3000, 1700}}, 329},
                                        {{r16_uint, {3000, 1700}}, 165},
                                        {{rgba32_uint, {3000, 1700}}, 1313},
                                        {{bc1_unorm, {3000, 1700}}, 47},
                                        {{bc3_unorm, {3001, 1701}}, 94},
                                        {{r32_uint, {4096, 100}}, 32},
                                        {{r32_uint, {300, 200}, layered_2d, 5}, 24},
                                        {{r8_uint, {40, 20}, layered_2d, 100}, 4},
                                        {{r32_uint, {256, 256}, cubemap}, 24},
                                        {{r32_uint, {100, 100}, cubemap_layered, 2}, 11},
                                        {{r32_uint, {40, 50, 20}, array_3d}, 6},
                                        {{r8_uint, {200, 100, 50}, array_3d}, 26},
                                        {{r32_uint, {33, 33, 17}, array_3d}, 4},
                                        {{r32_uint, {1024}, array_1d, 1, 11}, 2},
                                        {{r32_uint, {1024, 1024}, array_2d, 1, 11}, 86},
                                        {{r32_uint, {1024, 1024}, array_2d, 1, 2}, 80},
                                        {{r32_uint, {3000, 1700}, array_2d, 1, 12}, 443},
                                        {{bc1_unorm, {3000, 1700}, array_2d, 1, 12}, 63},
                                        {{r32_uint, {300, 200}, layered_2d, 5, 9}, 33},
                                        {{r32_uint, {128, 128}, cubemap_layered, 2, 8}, 17},
                                        {{r32_uint, {200, 100, 50}, array_3d, 1, 8}, 100},
                                        {{r32_uint, {200, 100, 50}, array_3d, 1, 3}, 99}};
    for (const Requirement& requirement : requirements) {
        SCOPED_TRACE(describe(requirement.info));
        const MemoryRequirements seen = memory_requirements(device(), requirement.info);
        EXPECT_EQ(seen.bytes, requirement.tiles * kTileBytes);
        EXPECT_EQ(seen.alignment, kTileBytes);
        EXPECT_GE(seen.bytes, packed_bytes(requirement.info));
    }
}

TEST_F(ArrayParityTest, MemorySizesOfRandomArraysAreEqual) {
    Random random(18);
    for (int round = 0; round < 400; ++round) {
        const ArrayKind kind = test::all_kinds()[random.below(test::all_kinds().size())];
        const Format format = test::formats_of_every_size()[random.below(test::formats_of_every_size().size())];
        if (!test::has_arrays(kind, format)) continue;
        const auto side = [&] {
            return random.between(1, random.coin() ? 60 : kind == ArrayKind::array_3d ? 200 : 2500);
        };
        ArrayInfo info{format, {side(), side(), 1}, kind};
        if (is_flat(kind)) info.extent.height = 1;
        if (is_cube(kind)) info.extent.height = info.extent.width;
        if (kind == ArrayKind::array_3d) info.extent.depth = side();
        if (is_layered(kind)) info.layers = random.between(1, 9);
        info.levels =
            random.coin() ? 1 : static_cast<int>(random.between(1, static_cast<std::size_t>(full_levels(info))));
        SCOPED_TRACE(describe(info));
        EXPECT_EQ(memory_requirements(Device::cpu(), info), memory_requirements(Device::cuda(), info));
        if (kind != ArrayKind::array_2d && kind != ArrayKind::array_3d && kind != ArrayKind::layered_2d) continue;
        EXPECT_EQ(sparse_properties(Device::cpu(), info), sparse_properties(Device::cuda(), info));
    }
}

}  // namespace
}  // namespace texton

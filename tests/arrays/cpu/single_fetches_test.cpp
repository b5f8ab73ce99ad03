// Compares single fetches with the model bit by bit: every kind of texture, operation and filter, and every format.
#include "arrays/cpu/single_fetches.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/format.h>

#include "arrays/unit/texel_format.h"
#include "arrays/unit/texture_unit.h"
#include "tests/support/random_texels.h"

namespace texton::detail {
namespace {

using test::below;
using Random = test::Generator;

struct LeveledTexture {
    std::vector<unsigned char> bytes[3];
    TextureView view{};
};

/// A small texture with random texels. Volumes, cubemaps and layers have as many slices as `depth` says.
LeveledTexture make_texture(ArrayKind kind, Format format, Random& random) {
    LeveledTexture texture;
    const TexelFormat stored = texel_format(format);
    texture.view.kind = kind;
    texture.view.format = stored;
    texture.view.level_count = 1 + below(random, 3);
    int width = 4 + below(random, 14);
    int height = is_flat(kind) ? 1 : is_cube(kind) ? width : 4 + below(random, 9);
    int depth = kind == ArrayKind::array_3d ? 1 + below(random, 6) : is_layered(kind) ? 1 + below(random, 3) : 1;
    if (is_cube(kind)) depth *= 6;
    const int style = below(random, test::kStyles);
    const int side = stored.packing >= Packing::bc1 ? 4 : 1;  // of a block
    for (int i = 0; i < texture.view.level_count; ++i) {
        const std::int64_t pitch = std::int64_t{(width + side - 1) / side} * stored.bytes;
        const std::int64_t slice = pitch * ((height + side - 1) / side);
        std::vector<unsigned char>& bytes = texture.bytes[i];
        bytes.resize(static_cast<std::size_t>(slice * depth + 3) / 4 * 4);
        test::fill_randomly(bytes, stored, random, style);
        texture.view.levels[i] = {bytes.data(), width, height, depth, pitch, slice};
        width = std::max(1, width / 2);
        height = std::max(1, height / 2);
        if (kind == ArrayKind::array_3d) depth = std::max(1, depth / 2);
    }
    return texture;
}

Sampler random_sampler(const TextureView& view, Random& random) {
    Sampler sampler;
    const auto filter = [&] { return below(random, 4) == 0 ? Filter::point : Filter::linear; };
    sampler.filter = filter();
    sampler.mip_filter = filter();
    sampler.normalized_coordinates = is_cube(view.kind) || view.level_count > 1 || below(random, 2) == 0;
    for (AddressMode& mode : sampler.address) {
        mode = static_cast<AddressMode>(below(random, kAddressModeCount));
        if (!sampler.normalized_coordinates && address_rule(mode).repeats()) mode = AddressMode::clamp;
    }
    sampler.seamless_cubemap = below(random, 2) == 0;
    sampler.trilinear_optimization = below(random, 2) == 0;
    if (below(random, 2) == 0) sampler.max_anisotropy = static_cast<std::uint8_t>(1 + below(random, 16));
    if (below(random, 3) == 0) sampler.mip_bias = std::uniform_real_distribution(-2.0f, 2.0f)(random);
    for (float& channel : sampler.border) channel = std::uniform_real_distribution(-0.5f, 1.5f)(random);
    return sampler;
}

FetchPoint random_point(const TextureView& view, const Sampler& sampler, Random& random) {
    const LevelView& level = view.levels[0];
    const bool normalized = sampler.normalized_coordinates;
    const auto coordinate = [&](int size) {
        if (!is_cube(view.kind)) return test::random_coordinate(random, size, normalized);
        return below(random, 9) == 0 ? test::hostile_coordinate(random)
                                     : std::uniform_real_distribution(-1.0f, 1.0f)(random);
    };
    const auto gradient = [&](int size) {
        if (below(random, 12) == 0) return test::hostile_coordinate(random);
        const float texels = std::exp2(std::uniform_real_distribution(-2.0f, 4.0f)(random));
        return (below(random, 2) == 0 ? texels : -texels) / (normalized ? static_cast<float>(size) : 1.0f);
    };
    FetchPoint point;
    point.x = coordinate(level.width);
    point.y = coordinate(level.height);
    point.z = coordinate(level.depth);
    point.layer = below(random, 5) - 1;
    point.lod = std::uniform_real_distribution(-1.0f, 3.0f)(random);
    for (int axis = 0; axis < 3; ++axis) {
        point.dx[axis] = gradient(axis == 0 ? level.width : level.height);
        point.dy[axis] = gradient(axis == 0 ? level.width : level.height);
    }
    return point;
}

class SingleFetchesTest : public testing::TestWithParam<ArrayKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, SingleFetchesTest,
                         testing::Values(ArrayKind::array_1d, ArrayKind::array_2d, ArrayKind::array_3d,
                                         ArrayKind::layered_1d, ArrayKind::layered_2d, ArrayKind::cubemap,
                                         ArrayKind::cubemap_layered),
                         [](const auto& kind) { return std::string(name(kind.param)); });

TEST_P(SingleFetchesTest, EveryOperationReturnsTheTexelsOfTheModel) {
    constexpr FetchOperation kOperations[] = {FetchOperation::plain, FetchOperation::lod, FetchOperation::gradients};
    Random random(7);
    for (const FormatInfo& format : formats()) {
        if (format.layout == FormatLayout::planar) continue;
        for (int round = 0; round < 12; ++round) {
            const LeveledTexture texture = make_texture(GetParam(), format.format, random);
            const Sampler sampler = random_sampler(texture.view, random);
            const SingleFetches single(texture.view, sampler);
            for (int i = 0; i < 60; ++i) {
                const FetchPoint point = random_point(texture.view, sampler, random);
                const FetchOperation operation = kOperations[i % 3];
                const Texel expected = fetch_point(texture.view, sampler, point, operation, 0);
                const Texel actual = single.fetch(point, operation, 0);
                for (int c = 0; c < 4; ++c) {
                    ASSERT_EQ(actual.channel[c], expected.channel[c])
                        << format.name << ", operation " << static_cast<int>(operation) << ", channel " << c << ", ("
                        << point.x << ", " << point.y << ", " << point.z << "), anisotropy "
                        << static_cast<int>(sampler.max_anisotropy) << ", levels " << texture.view.level_count;
                }
            }
        }
    }
}

}  // namespace
}  // namespace texton::detail

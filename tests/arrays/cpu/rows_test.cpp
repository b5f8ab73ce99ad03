// Compares vectorized fetches with the model bit by bit, for each instruction set that this CPU supports, and single
// fetches too.
#include "arrays/cpu/rows.h"

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <texton/format.h>

#include "arrays/cpu/single_fetches.h"
#include "arrays/unit/affine_map.h"
#include "arrays/unit/texel_format.h"
#include "arrays/unit/texture_unit.h"
#include "tests/support/random_texels.h"
#include "tests/support/texels.h"

namespace texton::detail {
namespace {

using test::below;
using test::kStyles;
using test::random_coordinate;
using Random = test::Generator;

class RowSamplerTest : public testing::TestWithParam<std::int64_t> {
protected:
    void SetUp() override { choose(GetParam()); }
    void TearDown() override { choose(0); }

    static void choose(std::int64_t target) {
        hwy::SetSupportedTargetsForTest(target);
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    }
};

INSTANTIATE_TEST_SUITE_P(Targets, RowSamplerTest, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& target) { return std::string(hwy::TargetName(target.param)); });

// --- textures --------------------------------------------------------------------------------------------------------

struct TestTexture {
    Format format = Format::r8_uint;
    std::vector<unsigned char> bytes;
    TextureView view{};
};

TestTexture make_texture(Format format, int width, int height, int layers = 0) {
    TestTexture texture;
    texture.format = format;
    const TexelFormat stored = texel_format(format);
    const std::int64_t pitch = (std::int64_t{width} * stored.bytes + 31) / 16 * 16;
    texture.bytes.resize(static_cast<std::size_t>(pitch * height * std::max(layers, 1)));
    texture.view.kind = layers == 0 ? ArrayKind::array_2d : ArrayKind::layered_2d;
    texture.view.format = stored;
    texture.view.level_count = 1;
    texture.view.levels[0] = {texture.bytes.data(), width, height, std::max(layers, 1), pitch, pitch * height};
    return texture;
}

template <class Code>
Code& texel(TestTexture& texture, int x, int y, int channel = 0) {
    const LevelView& level = texture.view.levels[0];
    const auto position = static_cast<std::size_t>(y * level.row_pitch + std::int64_t{x} * texture.view.format.bytes);
    return reinterpret_cast<Code*>(&texture.bytes[position])[channel];
}

void fill_randomly(TestTexture& texture, Random& random, int style) {
    test::fill_randomly(texture.bytes, texture.view.format, random, style);
}

void make_positive(TestTexture& texture) {
    const std::size_t bytes = texture.view.format.bits / 8U;  // of a channel
    for (std::size_t i = bytes - 1; i < texture.bytes.size(); i += bytes) texture.bytes[i] &= 0x7f;
}

// --- coordinates -----------------------------------------------------------------------------------------------------

struct Positions {
    std::vector<float> x;
    std::vector<float> y;
};

Positions random_positions(Random& random, const TextureView& view, bool normalized, std::size_t count) {
    Positions positions;
    for (std::size_t i = 0; i < count; ++i) {
        positions.x.push_back(random_coordinate(random, view.levels[0].width, normalized));
        positions.y.push_back(random_coordinate(random, view.levels[0].height, normalized));
    }
    return positions;
}

// Returns positions inside the texture, for one or more blocks.
Positions inner_positions(Random& random, const TextureView& view, std::size_t count) {
    Positions positions;
    const auto inner = [&](int size) {
        return std::uniform_real_distribution(0.5f, static_cast<float>(size) - 0.51f)(random);
    };
    for (std::size_t i = 0; i < count; ++i) {
        positions.x.push_back(inner(view.levels[0].width));
        positions.y.push_back(inner(view.levels[0].height));
    }
    return positions;
}

// --- comparison with the model ---------------------------------------------------------------------------------------

std::string describe(const TestTexture& texture, const Sampler& sampler, float x, float y) {
    const LevelView& level = texture.view.levels[0];
    return std::string(name(texture.format)) + ' ' + std::to_string(level.width) + 'x' + std::to_string(level.height) +
           (sampler.filter == Filter::linear ? " linear" : " point") +
           (sampler.normalized_coordinates ? " normalized" : "") + " modes " +
           std::to_string(static_cast<int>(sampler.address[0])) + ' ' +
           std::to_string(static_cast<int>(sampler.address[1])) + " at " + std::to_string(x) + ' ' + std::to_string(y);
}

std::vector<Texel> texels_of_model(const TestTexture& texture, const Sampler& sampler, const Positions& positions,
                                   int layer = 0) {
    std::vector<Texel> texels;
    for (std::size_t i = 0; i < positions.x.size(); ++i)
        texels.push_back(fetch(texture.view, sampler, {positions.x[i], positions.y[i], 0, layer}));
    return texels;
}

void expect_texels_of_model(const TestTexture& texture, const Sampler& sampler, const Positions& positions,
                            int layer = 0) {
    const std::vector<Texel> expected = texels_of_model(texture, sampler, positions, layer);
    std::vector<Texel> actual(expected.size());
    RowSampler(texture.view, sampler, layer)
        .fetch(positions.x.data(), positions.y.data(), actual.size(), actual.data());
    const SingleFetches single(texture.view, sampler);
    for (std::size_t i = 0; i < actual.size(); ++i) {
        const Texel alone = single.fetch(positions.x[i], positions.y[i], layer);
        for (int c = 0; c < 4; ++c) {
            ASSERT_EQ(actual[i].channel[c], expected[i].channel[c])
                << describe(texture, sampler, positions.x[i], positions.y[i]) << ", channel " << c;
            ASSERT_EQ(alone.channel[c], expected[i].channel[c])
                << "alone: " << describe(texture, sampler, positions.x[i], positions.y[i]) << ", channel " << c;
        }
    }
}

void expect_pixels_of_model(const TestTexture& texture, const Sampler& sampler, const Positions& positions,
                            Format image) {
    const FormatKind kind = info(texture.format).kind;
    const PixelFormat format{texel_format(image), kind == FormatKind::sint};
    const std::size_t bytes = format.stored.bytes;
    const std::vector<Texel> texels = texels_of_model(texture, sampler, positions);
    std::vector<std::byte> actual(texels.size() * bytes);
    RowSampler(texture.view, sampler)
        .fetch(positions.x.data(), positions.y.data(), texels.size(), format, actual.data());
    for (std::size_t i = 0; i < texels.size(); ++i) {
        const Pixel expected = encode_pixel(texels[i], format);
        ASSERT_EQ(std::memcmp(&actual[i * bytes], expected.word, bytes), 0)
            << describe(texture, sampler, positions.x[i], positions.y[i]) << " as " << name(image);
    }
}

bool is_plain_or_packed(const FormatInfo& row) {
    return row.layout == FormatLayout::plain || row.layout == FormatLayout::packed;
}

bool returns_integers(const FormatInfo& row) { return row.kind == FormatKind::uint || row.kind == FormatKind::sint; }

std::vector<AddressMode> address_modes(bool normalized) {
    std::vector<AddressMode> modes;
    for (int i = 0; i < kAddressModeCount; ++i) {
        const auto mode = static_cast<AddressMode>(i);
        if (normalized || !address_rule(mode).repeats()) modes.push_back(mode);
    }
    return modes;
}

Sampler random_sampler(Random& random, const FormatInfo& row) {
    Sampler sampler;
    sampler.filter = !returns_integers(row) && below(random, 3) > 0 ? Filter::linear : Filter::point;
    sampler.normalized_coordinates = below(random, 2) == 0;
    for (AddressMode& mode : sampler.address) {
        const std::vector<AddressMode> modes = address_modes(sampler.normalized_coordinates);
        mode = modes[static_cast<std::size_t>(below(random, static_cast<int>(modes.size())))];
    }
    for (float& border : sampler.border) {
        border = below(random, 3) == 0 ? std::bit_cast<float>(static_cast<std::uint32_t>(random()))
                                       : std::uniform_real_distribution(-0.5f, 1.5f)(random);
    }
    return sampler;
}

struct Size {
    int width;
    int height;
};

Size random_size(Random& random) {
    constexpr Size kSizes[] = {{1, 1}, {1, 9}, {7, 1}, {2, 2}, {3, 5}, {64, 64}, {61, 37}, {200, 3}, {300, 130}};
    return kSizes[below(random, std::size(kSizes))];
}

TEST_P(RowSamplerTest, FetchesOfEveryFormatAndPositionMatchTheModel) {
    Random random(1);
    for (const FormatInfo& row : formats()) {
        if (!is_plain_or_packed(row)) continue;
        for (int i = 0; i < 48 && !HasFatalFailure(); ++i) {
            const Size size = random_size(random);
            TestTexture texture = make_texture(row.format, size.width, size.height);
            fill_randomly(texture, random, i % kStyles);
            const Sampler sampler = random_sampler(random, row);
            const auto count = static_cast<std::size_t>(1 + below(random, 400));
            expect_texels_of_model(texture, sampler,
                                   random_positions(random, texture.view, sampler.normalized_coordinates, count));
        }
    }
}

TEST_P(RowSamplerTest, FetchesOfOneDimensionalTexturesMatchTheModel) {
    Random random(12);
    for (const FormatInfo& row : formats()) {
        if (!is_plain_or_packed(row)) continue;
        for (int i = 0; i < 12 && !HasFatalFailure(); ++i) {
            TestTexture texture = make_texture(row.format, 1 + below(random, 300), 1);
            texture.view.kind = ArrayKind::array_1d;
            fill_randomly(texture, random, i % kStyles);
            const Sampler sampler = random_sampler(random, row);
            Positions positions = random_positions(random, texture.view, sampler.normalized_coordinates, 200);
            std::ranges::fill(positions.y, 0.0f);
            expect_texels_of_model(texture, sampler, positions);
        }
    }
}

TEST_P(RowSamplerTest, BlocksInsideTheTextureMatchTheModel) {
    Random random(2);
    for (const FormatInfo& row : formats()) {
        if (!is_plain_or_packed(row) || returns_integers(row)) continue;
        for (int style = 0; style < kStyles && !HasFatalFailure(); ++style) {
            TestTexture texture = make_texture(row.format, 90, 70);
            fill_randomly(texture, random, style);
            for (const Filter filter : {Filter::point, Filter::linear})
                expect_texels_of_model(texture, {.filter = filter},
                                       inner_positions(random, texture.view, 6 * kRowBlock));
        }
    }
}

TEST_P(RowSamplerTest, EncodedPixelsOfEveryFormatMatchTheModel) {
    Random random(3);
    for (const FormatInfo& row : formats()) {
        if (!is_plain_or_packed(row)) continue;
        for (const FormatInfo& image : formats()) {
            if (!is_plain_or_packed(image) || returns_integers(row) != returns_integers(image)) continue;
            for (int i = 0; i < (row.format == image.format ? 12 : 1) && !HasFatalFailure(); ++i) {
                TestTexture texture = make_texture(row.format, 90, 70);
                fill_randomly(texture, random, i % kStyles);
                const Sampler sampler = random_sampler(random, row);
                const auto count = static_cast<std::size_t>(1 + below(random, 200));
                expect_pixels_of_model(texture, sampler,
                                       random_positions(random, texture.view, sampler.normalized_coordinates, count),
                                       image.format);
                if (returns_integers(row)) continue;
                expect_pixels_of_model(texture, {.filter = Filter::linear},
                                       inner_positions(random, texture.view, count), image.format);
            }
        }
    }
}

// Between texels with codes k and k + 1 the weighted sum takes every value from 256 k to 256 (k + 1).
TEST_P(RowSamplerTest, RoundedSumsOf8BitTexelsMatchTheModel) {
    for (const Format format : {Format::r8_unorm, Format::r8_srgb}) {
        TestTexture texture = make_texture(format, 256, 1);
        for (int x = 0; x < 256; ++x) texel<unsigned char>(texture, x, 0) = static_cast<unsigned char>(x);
        Positions positions;
        for (int sum = 0; sum <= 255 * 256; ++sum) {
            positions.x.push_back(0.5f + static_cast<float>(sum) / 256);
            positions.y.push_back(0.5f);
        }
        const Sampler linear{.filter = Filter::linear};
        expect_texels_of_model(texture, linear, positions);
        expect_pixels_of_model(texture, linear, positions, format);
    }
}

// Codes that are far apart have different exponents in the filter.
TEST_P(RowSamplerTest, BlendsOfAllPairsOfColorsMatchTheModel) {
    Random random(13);
    TestTexture texture = make_texture(Format::rg8_srgb, 512, 256);
    Positions positions;
    for (int i = 0; i < 65536; ++i) {
        const int x = 2 * (i % 256), y = i / 256;
        for (int c = 0; c < 2; ++c) {
            texel<unsigned char>(texture, x, y, c) = static_cast<unsigned char>(i % 256);
            texel<unsigned char>(texture, x + 1, y, c) = static_cast<unsigned char>(y);
        }
        positions.x.push_back(static_cast<float>(x) + 0.5f + static_cast<float>(below(random, 256)) / 256);
        positions.y.push_back(static_cast<float>(y) + 0.5f);
    }
    const Sampler linear{.filter = Filter::linear};
    expect_texels_of_model(texture, linear, positions);
    expect_pixels_of_model(texture, linear, positions, Format::rg8_srgb);
}

TEST_P(RowSamplerTest, All16BitTexelsMatchTheModel) {
    for (const Format format : {Format::r16_unorm, Format::r16_float}) {
        TestTexture texture = make_texture(format, 256, 256);
        Positions positions;
        for (int i = 0; i < 65536; ++i) {
            texel<std::uint16_t>(texture, i % 256, i / 256) = static_cast<std::uint16_t>(i);
            positions.x.push_back(static_cast<float>(i % 256) + 0.5f);
            positions.y.push_back(static_cast<float>(i / 256) + 0.5f);
        }
        for (const Filter filter : {Filter::point, Filter::linear}) {
            expect_texels_of_model(texture, {.filter = filter}, positions);
            expect_pixels_of_model(texture, {.filter = filter}, positions, format);
        }
    }
}

// Rows with steps of a whole number of texels, as translations and mip chains have, and rows with a single irregular
// step.
TEST_P(RowSamplerTest, RowsWithUniformStepsMatchTheModel) {
    Random random(4);
    for (const FormatInfo& row : formats()) {
        if (!is_plain_or_packed(row) || returns_integers(row)) continue;
        TestTexture texture = make_texture(row.format, 400, 3);
        fill_randomly(texture, random, 1);
        for (const float step : {1.0f, 2.0f, 3.0f, -1.0f, -2.0f}) {
            for (const int odd : {-1, 5, 63}) {
                const float fraction = below(random, 2) == 0 ? 0.0f : 0.3f;
                Positions positions;
                for (int i = 0; i < 2 * static_cast<int>(kRowBlock); ++i) {
                    const float start = step < 0 ? 390.0f : 1.0f;
                    positions.x.push_back(start + fraction + step * static_cast<float>(i) + (i == odd ? 1.0f : 0.0f));
                    positions.y.push_back(i == odd + 1 ? 0.6f : 1.7f);
                }
                for (const Filter filter : {Filter::point, Filter::linear}) {
                    expect_texels_of_model(texture, {.filter = filter}, positions);
                    expect_pixels_of_model(texture, {.filter = filter}, positions, row.format);
                }
            }
        }
    }
}

TEST_P(RowSamplerTest, PreparedColumnsMatchTheModel) {
    Random random(12);
    std::uniform_real_distribution<float> position(-2, 52);
    for (int i = 0; i < 240; ++i) {
        TestTexture texture = make_texture(Format::rgba32_float, 50, 8);
        fill_randomly(texture, random, i % kStyles);
        if (i % 4 < 2) make_positive(texture);
        const bool normalized = below(random, 2) == 0;
        const auto mode = static_cast<AddressMode>(below(random, 4));
        const Sampler sampler{
            .address = {normalized ? mode : AddressMode::clamp, normalized ? mode : AddressMode::clamp},
            .filter = Filter::linear,
            .normalized_coordinates = normalized};
        const bool centers[] = {below(random, 3) == 0, below(random, 3) == 0};  // at texel centers along x and y
        const auto along = [&](int axis, float size) {
            const float texels = centers[axis] ? std::floor(position(random)) + 0.5f : position(random);
            const float at = axis == 0 ? texels : texels / 6;
            return normalized ? at / size : at;
        };
        std::vector<float> x(static_cast<std::size_t>(1 + below(random, 70)));
        for (float& at : x) at = along(0, 50);
        if (below(random, 2) == 0) {
            constexpr float kSteps[] = {1, 0.5f, 2, 2 / 3.0f, 1.7f};
            const float step = kSteps[below(random, std::size(kSteps))] / (normalized ? 50.0f : 1.0f);
            for (std::size_t k = 1; k < x.size(); ++k) x[k] = x[0] + static_cast<float>(k) * step;
        }
        const RowSampler rows(texture.view, sampler);
        RowColumns columns = rows.columns(x.data(), x.size());
        for (int j = 0; j < 4; ++j) {
            const float y = centers[1] ? static_cast<float>(j) + 0.5f : along(1, 8);
            std::vector<Texel> texels(x.size());
            if (!rows.fetch(columns, rows.rows({&y, 1})[0], texels.data())) {
                ASSERT_TRUE(GetParam() == HWY_SCALAR || GetParam() == HWY_EMU128 || mode == AddressMode::border);
                continue;
            }
            for (std::size_t k = 0; k < x.size(); ++k) {
                const Texel expected = fetch(texture.view, sampler, Coordinates{x[k], y, 0, 0});
                for (int c = 0; c < 4; ++c)
                    ASSERT_EQ(texels[k].channel[c], expected.channel[c]) << i << ": (" << x[k] << ", " << y << ")";
            }
        }
    }
}

TEST(NeighborsTest, PairsAreNearIfEachStepOfPixelsReadsFewTexelsInAscendingOrder) {
    constexpr std::int32_t kWidth = 200, kNear = 32;
    std::int32_t first[kRowBlock], second[kRowBlock];
    const auto neighbors = [&](std::int32_t begin, float step, std::int32_t width, std::int32_t near) {
        for (std::size_t i = 0; i < kRowBlock; ++i) {
            first[i] = begin + static_cast<std::int32_t>(std::floor(static_cast<float>(i) * step));
            second[i] = first[i] + 1;
        }
        return find_neighbors(first, second, width, near);
    };
    EXPECT_EQ(neighbors(3, 1.5f, kWidth, kNear), Neighbors::near);
    EXPECT_EQ(neighbors(3, 1.5f, kWidth, 0), Neighbors::pairs);  // no lookups
    EXPECT_EQ(neighbors(3, 2, kWidth, kNear), Neighbors::all_pairs);
    EXPECT_EQ(neighbors(3, 2.1f, kWidth, kNear),
              Neighbors::pairs);  // the 16th pixel reads texel 31 and the one after it
    EXPECT_EQ(neighbors(103, -1.5f, kWidth, kNear), Neighbors::pairs);
    EXPECT_EQ(neighbors(-1, 1.5f, kWidth, kNear), Neighbors::any);
    // At the end of the row, the texels of a lookup start before the first one.
    EXPECT_EQ(neighbors(kWidth - 27, 0.4f, kWidth, kNear), Neighbors::near);
    EXPECT_EQ(first_near(first + 48, kWidth, kNear), kWidth - kNear);
    EXPECT_EQ(neighbors(3, 0.4f, kNear - 1, kNear), Neighbors::pairs);
    second[20] = 0;
    EXPECT_EQ(find_neighbors(first, second, kWidth, kNear), Neighbors::any);
}

// Rows of texels are read by several rows of fetches, at columns of one or more blocks.
TEST_P(RowSamplerTest, PreparedColumnsOfEveryFormatMatchTheModel) {
    Random random(14);
    constexpr float kSteps[] = {1, 0.5f, 2, 2 / 3.0f, 1.7f, 3.3f, -1};
    for (const FormatInfo& row : formats()) {
        if (row.layout != FormatLayout::plain || returns_integers(row)) continue;
        const PixelFormat format{texel_format(row.format), false};
        for (int i = 0; i < 24 && !HasFatalFailure(); ++i) {
            TestTexture texture = make_texture(row.format, 150, 6);
            fill_randomly(texture, random, i % kStyles);
            if (row.kind == FormatKind::floating && i % 2 == 0) make_positive(texture);
            Sampler sampler = random_sampler(random, row);
            sampler.filter = Filter::linear;
            const bool normalized = sampler.normalized_coordinates;
            Positions positions;
            const auto count = static_cast<std::size_t>(1 + below(random, 200));
            const float first = std::uniform_real_distribution<float>(-5, 120)(random);
            const float step = kSteps[below(random, std::size(kSteps))];
            for (std::size_t k = 0; k < count; ++k)
                positions.x.push_back((first + static_cast<float>(k) * step) / (normalized ? 150.0f : 1.0f));
            const RowSampler rows(texture.view, sampler);
            RowColumns columns = rows.columns(positions.x.data(), count);
            for (int j = 0; j < 6; ++j) {
                const float y = (0.3f + 0.8f * static_cast<float>(j)) / (normalized ? 6.0f : 1.0f);
                const FetchedRow at = rows.rows({&y, 1})[0];
                std::vector<Texel> texels(count);
                std::vector<std::byte> pixels(count * format.stored.bytes);
                if (!rows.fetch(columns, at, texels.data())) continue;
                ASSERT_TRUE(rows.fetch(columns, at, format, pixels.data(), false));
                for (std::size_t k = 0; k < count; ++k) {
                    const Texel expected = fetch(texture.view, sampler, Coordinates{positions.x[k], y, 0, 0});
                    const Pixel pixel = encode_pixel(expected, format);
                    for (int c = 0; c < 4; ++c)
                        ASSERT_EQ(texels[k].channel[c], expected.channel[c])
                            << describe(texture, sampler, positions.x[k], y);
                    ASSERT_EQ(std::memcmp(&pixels[k * format.stored.bytes], pixel.word, format.stored.bytes), 0)
                        << describe(texture, sampler, positions.x[k], y);
                }
            }
        }
    }
}

TEST_P(RowSamplerTest, TapsAlongAnAxisMatchTheModel) {
    Random random(15);
    for (int i = 0; i < 200 && !HasFatalFailure(); ++i) {
        const FormatInfo& row = info(i % 2 == 0 ? Format::rgba8_unorm : Format::rg16_float);
        const Size size = random_size(random);
        const TestTexture texture = make_texture(row.format, size.width, size.height);
        const Sampler sampler = random_sampler(random, row);
        const Positions positions =
            random_positions(random, texture.view, sampler.normalized_coordinates, static_cast<std::size_t>(1 + i));
        const RowSampler rows(texture.view, sampler);
        const AxisKind kind = flat_axis_kind(texture.view, Split::fixed_point);
        for (const int axis : {0, 1}) {
            const std::vector<float>& along = axis == 0 ? positions.x : positions.y;
            const std::vector<AxisTaps> taps = rows.taps(axis, along);
            for (std::size_t k = 0; k < along.size(); ++k) {
                const AxisTaps expected = axis_taps(along[k], axis == 0 ? size.width : size.height, kind, sampler, axis,
                                                    Split::fixed_point, 0);
                const bool has_share = expected.texel[0] != expected.texel[1];
                ASSERT_EQ(has_share ? taps[k].weight : 0, has_share ? expected.weight : 0)
                    << describe(texture, sampler, along[k], along[k]);
                for (int side = 0; side < 2; ++side)
                    ASSERT_EQ(taps[k].texel[side], expected.texel[side])
                        << describe(texture, sampler, along[k], along[k]) << ", side " << side;
            }
        }
    }
}

TEST_P(RowSamplerTest, RowsOfAnImageAreFetchedAtMappedCoordinates) {
    Random random(10);
    TestTexture texture = make_texture(Format::rgba8_unorm, 300, 200);
    fill_randomly(texture, random, 0);
    const PixelFormat format{texture.view.format, false};
    const Sampler linear{.address = {AddressMode::border, AddressMode::border}, .filter = Filter::linear};
    std::uniform_real_distribution<float> number(-1, 1);
    for (int i = 0; i < 50; ++i) {
        const AffineMap map{number(random), number(random), 150 + 99 * number(random),
                            number(random), number(random), 100 + 99 * number(random)};
        const auto first = static_cast<std::uint32_t>(below(random, 100));
        const auto row = static_cast<std::uint32_t>(below(random, 100));
        std::vector<std::uint32_t> pixels(static_cast<std::size_t>(1 + below(random, 1200)));
        RowSampler(texture.view, linear)
            .fetch_row(map, first, row, pixels.size(), format, reinterpret_cast<std::byte*>(pixels.data()));
        for (std::size_t x = 0; x < pixels.size(); ++x) {
            const Coordinates at = position_of_pixel(map, first + static_cast<std::uint32_t>(x), row);
            ASSERT_EQ(pixels[x], encode_pixel(fetch(texture.view, linear, at), format).word[0]) << "pixel " << x;
        }
    }
}

TEST_P(RowSamplerTest, LayersOutOfRangeReadTheLastLayer) {
    Random random(5);
    TestTexture texture = make_texture(Format::rgba8_unorm, 40, 30, 3);
    fill_randomly(texture, random, 0);
    for (const int layer : {0, 1, 2, 3, -1}) {
        for (const Filter filter : {Filter::point, Filter::linear})
            expect_texels_of_model(texture, {.filter = filter}, inner_positions(random, texture.view, 100), layer);
    }
}

TEST_P(RowSamplerTest, TheWidestTexturesAreReadUpToTheLastTexel) {
    Random random(6);
    for (const int width : {16384, 32768, 131072}) {
        TestTexture texture = make_texture(Format::r8_unorm, width, 2);
        fill_randomly(texture, random, 0);
        for (const AddressMode mode : address_modes(true)) {
            for (const Filter filter : {Filter::point, Filter::linear}) {
                Sampler sampler{.address = {mode, mode}, .filter = filter, .normalized_coordinates = true};
                expect_texels_of_model(texture, sampler, random_positions(random, texture.view, true, 2000));
                if (address_rule(mode).repeats()) continue;
                sampler.normalized_coordinates = false;
                expect_texels_of_model(texture, sampler, random_positions(random, texture.view, false, 2000));
            }
        }
    }
}

TEST_P(RowSamplerTest, BorderColorsOutsideTheFloat16RangeMatchTheModel) {
    Random random(7);
    TestTexture texture = make_texture(Format::rgba16_float, 20, 20);
    fill_randomly(texture, random, 1);
    const float infinity = std::numeric_limits<float>::infinity();
    for (const float value : {0.0f, -0.0f, 0.25f, 1e-5f, 1e-6f, 65504.0f, 65536.0f, 1e30f, infinity}) {
        for (const Filter filter : {Filter::point, Filter::linear}) {
            const Sampler sampler{.address = {AddressMode::border, AddressMode::border},
                                  .filter = filter,
                                  .border = {value, -value, value / 3, 1}};
            expect_texels_of_model(texture, sampler, random_positions(random, texture.view, false, 300));
        }
    }
}

// Fetches of snorm and packed texels use another code path if the filter takes part.
TEST_P(RowSamplerTest, PointFetchesThroughTheFilterUnitMatchTheModel) {
    Random random(8);
    for (const Format format : {Format::rgba8_snorm, Format::rgb10a2_unorm, Format::rgba16_float}) {
        TestTexture texture = make_texture(format, 32, 32);
        fill_randomly(texture, random, 3);
        const Positions positions = random_positions(random, texture.view, true, 300);
        expect_texels_of_model(texture, {.normalized_coordinates = true, .max_anisotropy = 4}, positions);
        texture.view.level_count = 2;
        texture.view.levels[1] = texture.view.levels[0];
        expect_texels_of_model(texture, {.mip_filter = Filter::linear, .normalized_coordinates = true}, positions);
    }
}

// Tests denormal texels and sums that round up.
TEST_P(RowSamplerTest, ResultsDoNotDependOnFloatingPointModesOfTheThread) {
    Random random(9);
    for (const Format format : {Format::rgba32_float, Format::rgba16_float, Format::rgba8_srgb}) {
        TestTexture texture = make_texture(format, 50, 50);
        fill_randomly(texture, random, 2);
        const Positions positions = inner_positions(random, texture.view, 500);
        const Sampler linear{.filter = Filter::linear};
        std::vector<Texel> expected(500);
        std::vector<Texel> actual(500);
        const auto fetch = [&](std::vector<Texel>& texels) {
            RowSampler(texture.view, linear)
                .fetch(positions.x.data(), positions.y.data(), texels.size(), texels.data());
        };
        fetch(expected);
        std::fesetround(FE_UPWARD);
        fetch(actual);
        const int mode = std::fegetround();
        std::fesetround(FE_TONEAREST);
        EXPECT_EQ(mode, FE_UPWARD) << "the caller's rounding mode was not kept";
        EXPECT_TRUE(actual == expected) << name(format);
    }
}

}  // namespace
}  // namespace texton::detail

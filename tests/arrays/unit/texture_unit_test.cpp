// Tests of the texture unit model for single fetches. capture_test.cpp replays recordings of the hardware.
#include "arrays/unit/texture_unit.h"
#include "arrays/unit/texel_format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/sample.h>

#include "tests/support/arrays.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

class TextureModelTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, TextureModelTest, test::every_device(), test::device_label);

detail::TexelFormat model_format(const FormatInfo& row) {
    using detail::Encoding;
    using detail::Packing;
    static const std::map<FormatKind, Encoding> encodings{
        {FormatKind::uint, Encoding::uint},   {FormatKind::sint, Encoding::sint},
        {FormatKind::unorm, Encoding::unorm}, {FormatKind::snorm, Encoding::snorm},
        {FormatKind::srgb, Encoding::srgb},   {FormatKind::floating, Encoding::floating}};
    static const std::map<Format, Packing> blocks{{Format::bc3_unorm, Packing::bc3}, {Format::bc5_snorm, Packing::bc5}};
    const auto block = blocks.find(row.format);
    if (row.layout == FormatLayout::packed) return detail::texel_format(row.format);
    return {encodings.at(row.kind), block != blocks.end() ? block->second : Packing::plain, row.channels,
            block != blocks.end() ? std::uint8_t{8} : row.bits, row.bytes};
}

float as_float(std::uint32_t bits, FormatKind kind) {
    if (kind == FormatKind::uint) return static_cast<float>(bits);
    if (kind == FormatKind::sint) return static_cast<float>(static_cast<std::int32_t>(bits));
    return std::bit_cast<float>(bits);
}

// Random bits in every plain and packed format: a texture of the device must return the same as the model.
TEST_P(TextureModelTest, DecodedTexelsOfEveryFormatMatchTheDevice) {
    const Extent extent{64, 64};
    std::vector<Point2> points;
    for (int i = 0; i < 64 * 64; ++i) {
        points.push_back({static_cast<float>(i % 64) + 0.5F, static_cast<float>(i / 64) + 0.5F});
    }
    for (const FormatInfo& row : formats()) {
        if (row.layout != FormatLayout::plain && row.layout != FormatLayout::packed) continue;
        SCOPED_TRACE(row.name);
        const test::Bytes bytes = test::pattern(packed_bytes(row.format, extent), 11);
        const Array array(device(), {row.format, extent});
        copy(array.view(), host_view(bytes.data(), row.format, extent));
        const auto returned = sample(Texture(array), points);

        detail::TextureView view{};
        view.kind = ArrayKind::array_2d;
        view.format = model_format(row);
        view.level_count = 1;
        view.levels[0] = {
            reinterpret_cast<const unsigned char*>(bytes.data()), 64, 64, 1, 64 * row.bytes, 64 * 64 * row.bytes};
        Sampler sampler{};
        for (auto& mode : sampler.address) mode = AddressMode::clamp;
        int different = 0;
        for (std::size_t i = 0; i < points.size(); ++i) {
            const Texel texel = fetch(view, sampler, {points[i].x, points[i].y, 0, 0});
            for (std::size_t c = 0; c < row.channels; ++c) {
                const float computed = as_float(texel.channel[c], row.kind);
                if (!(std::isnan(computed) && std::isnan(returned[i][c])) && computed != returned[i][c]) ++different;
            }
        }
        EXPECT_EQ(different, 0);
    }
}

// --- single rules, with the results of an H200 -----------------------------------------------------------------------

/// An array of one texel value.
Array uniform(const Device& device, const ArrayInfo& info, std::span<const std::byte> texel) {
    Array array(device, info);
    for (int level = 0; level < info.levels; ++level) fill(array.view({.level = level}), texel);
    return array;
}

std::uint32_t first_word(const Texture& texture, const FetchPoint& point, const SampleOptions& options = {}) {
    return sample(texture, std::span(&point, 1), options).texels.front().channel[0];
}

TEST_P(TextureModelTest, TheMipFilterIsIgnoredForOneLevel) {
    const std::byte texel[] = {std::byte{53}, std::byte{53}};
    const Sampler sampler{.mip_filter = Filter::linear, .normalized_coordinates = true};
    const FetchPoint center{.x = 0.5f, .y = 0.5f};
    const Array one = uniform(device(), {.format = Format::rg8_snorm, .extent = {8, 8}}, texel);
    EXPECT_EQ(first_word(Texture(one, sampler), center), 0x3ED5AB57U);  // 53 / 127
    const Array more = uniform(device(), {.format = Format::rg8_sint, .extent = {8, 8}, .levels = 3}, texel);
    const auto levels = [&](int first, int count) {
        return first_word(Texture(more, sampler, {.format = Format::rg8_snorm, .first_level = first, .levels = count}),
                          center);
    };
    EXPECT_EQ(levels(0, 3), 0x3ED5A9ABU);  // widened to 16 bits
    EXPECT_EQ(levels(1, 2), 0x3ED5A9ABU);
    EXPECT_EQ(levels(1, 1), 0x3ED5AB57U);
}

TEST_P(TextureModelTest, TenBitTexelsAreWidenedTo16BitsOnlyByFilteringAndGathering) {
    const std::uint32_t texel = 179;
    const Array array =
        uniform(device(), {.format = Format::rgb10a2_unorm, .extent = {4, 4}, .usage = {.gather = true}},
                std::as_bytes(std::span(&texel, 1)));
    const FetchPoint center{.x = 2.25f, .y = 2.25f};
    const std::uint32_t narrow = std::bit_cast<std::uint32_t>(179.0f / 1023.0f);
    const std::uint32_t wide = std::bit_cast<std::uint32_t>(11467.0f / 65535.0f);
    EXPECT_EQ(first_word(Texture(array), center), narrow);
    EXPECT_EQ(first_word(Texture(array, {.filter = Filter::linear}), center), wide);
    EXPECT_EQ(first_word(Texture(array), center, {.operation = FetchOperation::gather}), wide);
}

TEST_P(TextureModelTest, CubeFaceEdgesUseTheAddressModeUnlessTheSamplerIsSeamless) {
    const ArrayInfo info{.format = Format::r32_float, .extent = {4, 4}, .kind = ArrayKind::cubemap};
    const Array array(device(), info);
    std::vector<float> texels(6 * 16);
    for (std::size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<float>(i);
    test::upload(array.view(), std::as_bytes(std::span(texels)));
    const FetchPoint edge{.x = 1, .y = -0.1f, .z = 1};  // the right edge of +Z, in its third row
    const auto fetched = [&](AddressMode mode, Filter filter, bool seamless) {
        return std::bit_cast<float>(first_word(Texture(array, {.address = {mode, AddressMode::clamp, mode},
                                                               .filter = filter,
                                                               .normalized_coordinates = true,
                                                               .seamless_cubemap = seamless,
                                                               .border = {1000}}),
                                               edge));
    };
    constexpr float kRow = 4 * 16 + 2 * 4;
    EXPECT_EQ(fetched(AddressMode::clamp, Filter::point, false), kRow + 3);
    EXPECT_EQ(fetched(AddressMode::mirror, Filter::point, false), kRow + 3);
    EXPECT_EQ(fetched(AddressMode::wrap, Filter::point, false), kRow);
    EXPECT_EQ(fetched(AddressMode::border, Filter::point, false), 1000);
    for (const AddressMode mode : {AddressMode::wrap, AddressMode::clamp, AddressMode::mirror, AddressMode::border}) {
        EXPECT_EQ(fetched(mode, Filter::point, true), kRow + 3);
    }
    EXPECT_GT(fetched(AddressMode::border, Filter::linear, false), 500);
}

TEST_P(TextureModelTest, OneDimensionalTexturesBlendTheBorderInYUnlessLayered) {
    const float one = 1;
    for (const ArrayKind kind : {ArrayKind::array_1d, ArrayKind::layered_1d}) {
        const Array array = uniform(device(), {.format = Format::r32_float, .extent = {8}, .kind = kind},
                                    std::as_bytes(std::span(&one, 1)));
        const Texture texture(array, {.address = {AddressMode::border, AddressMode::border, AddressMode::border},
                                      .filter = Filter::linear});
        EXPECT_EQ(std::bit_cast<float>(first_word(texture, {.x = 4})), kind == ArrayKind::array_1d ? 0.5f : 1.0f);
    }
}

TEST_P(TextureModelTest, BorderColorsAreQuantizedToTheBitsOfTheFormat) {
    const auto border = [&](Format format) {
        const Array array(device(), {.format = format, .extent = {4, 4}});
        const Sampler sampler{.address = {AddressMode::border, AddressMode::border, AddressMode::border},
                              .border = {0.25f, 0.25f, 0.25f, 0.33f}};
        const FetchPoint outside{.x = -4, .y = 1};
        const Texel texel = sample(Texture(array, sampler), std::span(&outside, 1)).texels.front();
        return std::vector<float>{texel.as_float(0), texel.as_float(1), texel.as_float(2), texel.as_float(3)};
    };
    constexpr float kOf8 = 64.0f / 255.0f;
    constexpr float kOf16 = 16384.0f / 65535.0f;
    EXPECT_EQ(border(Format::rgba8_unorm), (std::vector{kOf8, kOf8, kOf8, 84.0f / 255.0f}));
    EXPECT_EQ(border(Format::bc1_unorm), (std::vector{kOf8, kOf8, kOf8, 84.0f / 255.0f}));
    EXPECT_EQ(border(Format::bc7_unorm), (std::vector{kOf8, kOf8, kOf8, 84.0f / 255.0f}));
    EXPECT_EQ(border(Format::bc4_unorm), (std::vector{kOf16, 0.0f, 0.0f, 1.0f}));
    EXPECT_EQ(border(Format::bc5_unorm), (std::vector{kOf16, kOf16, 0.0f, 1.0f}));
    EXPECT_EQ(border(Format::bc4_snorm), (std::vector{8192.0f / 32767.0f, 0.0f, 0.0f, 1.0f}));
    EXPECT_EQ(border(Format::bc6h_ufloat), (std::vector{0.25f, 0.25f, 0.25f, 1.0f}));
    constexpr float kOf10 = 256.0f / 1023.0f;
    EXPECT_EQ(border(Format::rgb10a2_unorm), (std::vector{kOf10, kOf10, kOf10, 21627.0f / 65535.0f}));
}

// --- all kinds, operations, filters and address modes: the library compared with the model ---------------------------

/// Returns texels whose weighted sums are exact in any order: small whole numbers in float formats, random bits in all
/// others.
test::Bytes exact_texels(Format format, std::size_t count, unsigned seed) {
    const FormatInfo& row = info(format);
    test::Bytes bytes = test::pattern(count, seed);
    if (row.kind != FormatKind::floating || row.layout != FormatLayout::plain) return bytes;
    for (std::size_t i = 0; i < count; i += row.bits / 8) {
        const auto whole = static_cast<float>(static_cast<unsigned>(bytes[i]) % 64);
        const std::uint32_t wide = std::bit_cast<std::uint32_t>(whole);
        const auto half = static_cast<std::uint16_t>(wide == 0 ? 0 : (wide >> 13) - (112U << 10));
        if (row.bits == 32) std::memcpy(&bytes[i], &wide, 4);
        if (row.bits == 16) std::memcpy(&bytes[i], &half, 2);
    }
    return bytes;
}

/// An array on the device, and the same texels for the model.
struct Both {
    Both(const Device& device, const ArrayInfo& info, unsigned seed) : array(device, info) {
        view.kind = info.kind;
        view.format = model_format(texton::info(info.format));
        view.level_count = info.levels;
        for (int level = 0; level < info.levels; ++level) {
            const Extent extent = test::level_box(info, level);
            const test::Bytes& bytes =
                levels.emplace_back(exact_texels(info.format, test::box_bytes(info.format, extent), seed++));
            test::upload(array.view({.level = level}), bytes);
            const std::size_t row = row_bytes(info.format, extent.width);
            view.levels[level] = {reinterpret_cast<const unsigned char*>(bytes.data()),
                                  static_cast<std::int32_t>(extent.width),
                                  static_cast<std::int32_t>(extent.height),
                                  static_cast<std::int32_t>(extent.depth),
                                  static_cast<std::int64_t>(row),
                                  static_cast<std::int64_t>(row * row_count(info.format, extent.height))};
        }
    }

    Array array;
    detail::TextureView view{};
    std::deque<test::Bytes> levels;
};

/// Returns points in steps of 1/512 around the texture. For cubemaps, directions whose largest component is a power of
/// two. Pixels map to squares.
std::vector<FetchPoint> steady_points(ArrayKind kind, std::size_t count, unsigned seed) {
    test::Random random(seed);
    const auto position = [&] { return static_cast<float>(random.between(0, 1536)) / 512.0F - 1.0F; };
    std::vector<FetchPoint> points(count);
    for (FetchPoint& point : points) {
        point = {position(), position(), position(), static_cast<std::int32_t>(random.below(5)) - 1};
        if (is_cube(kind)) {
            float* const axes[] = {&point.x, &point.y, &point.z};
            for (float* axis : axes) *axis /= 2;
            *axes[random.below(3)] = random.coin() ? 2.0F : -2.0F;
        }
        point.lod = static_cast<float>(random.below(40)) / 8.0F - 0.5F;
        const float step = std::ldexp(1.0F, -static_cast<int>(random.below(5)));
        point.dx[0] = step;
        point.dy[1] = step;
    }
    return points;
}

Texel model_fetch(const Both& both, const Sampler& sampler, const FetchPoint& point, const SampleOptions& options) {
    return detail::fetch_point(both.view, sampler, point, options.operation, options.component);
}

class FetchTest : public testing::TestWithParam<std::tuple<DeviceKind, ArrayKind>> {};

TEST_P(FetchTest, EveryOperationFilterAndAddressModeMatchesTheModel) {
    const auto [device_kind, kind] = GetParam();
    const auto devices = test::one_of_each_kind();
    if (device_kind == DeviceKind::cuda && devices.size() < 2) {
        if (test::gpu_required()) FAIL() << "TEXTON_REQUIRE_GPU is 1, but there is no CUDA device";
        GTEST_SKIP() << "no CUDA device: " << Device::why_no_cuda();
    }
    const Device& device = device_kind == DeviceKind::cpu ? devices.front() : devices.back();
    using enum FetchOperation;
    std::size_t fetches = 0;
    for (const Format format : {Format::r32_float, Format::rgba8_unorm, Format::rg16_snorm, Format::rgba16_float,
                                Format::rgba8_srgb, Format::rgba8_uint, Format::bc3_unorm, Format::bc5_snorm}) {
        if (!test::has_arrays(kind, format)) continue;
        ArrayInfo info = test::small_info(kind, format);
        info.usage.gather = kind == ArrayKind::array_2d;
        const Both both(device, info, 21);
        const auto points = steady_points(kind, 40, 22);
        const bool integers = texton::info(format).kind == FormatKind::uint;
        for (const AddressMode mode :
             {AddressMode::wrap, AddressMode::clamp, AddressMode::mirror, AddressMode::border}) {
            for (int filters = 0; filters < (integers ? 1 : 4); ++filters) {
                for (const FetchOperation operation : {plain, lod, gradients, gather}) {
                    if (operation == gather && !info.usage.gather) continue;
                    Sampler sampler{.address = {mode, mode, mode}, .normalized_coordinates = true};
                    sampler.filter = (filters & 1) != 0 ? Filter::linear : Filter::point;
                    sampler.mip_filter = (filters & 2) != 0 ? Filter::linear : Filter::point;
                    sampler.seamless_cubemap = is_cube(kind) && mode == AddressMode::wrap;
                    sampler.mip_bias = 0.25F;
                    sampler.border[0] = 0.25F;
                    sampler.border[1] = 1.0F;
                    SCOPED_TRACE(testing::Message()
                                 << test::describe(info) << ", operation " << static_cast<int>(operation)
                                 << ", filters " << filters << ", address " << static_cast<int>(mode));
                    const SampleOptions options{.operation = operation, .component = 1};
                    const Samples samples = sample(Texture(both.array, sampler), points, options);
                    std::size_t different = 0;
                    for (std::size_t i = 0; i < points.size(); ++i) {
                        if (!(samples.texels[i] == model_fetch(both, sampler, points[i], options))) ++different;
                    }
                    EXPECT_EQ(different, 0U);
                    fetches += points.size();
                }
            }
        }
    }
    EXPECT_GT(fetches, 1000U);
}

INSTANTIATE_TEST_SUITE_P(Devices, FetchTest,
                         testing::Combine(test::every_device(),
                                          testing::ValuesIn(test::all_kinds().begin(), test::all_kinds().end())),
                         [](const auto& info) {
                             return std::string(std::get<0>(info.param) == DeviceKind::cpu ? "cpu_" : "cuda_") +
                                    std::string(name(std::get<1>(info.param)));
                         });

}  // namespace
}  // namespace texton

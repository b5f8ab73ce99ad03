// Mip chains: compares every level with the filter applied to the level above, in double precision.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/graph.h>
#include <texton/kernel.h>
#include <texton/linear.h>
#include <texton/mips.h>
#include <texton/pitched.h>
#include <texton/sample.h>

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

using Values = std::array<double, 4>;

/// The texels of a level as numbers.
struct Level {
    Extent sides;
    std::vector<Values> texels;

    const Values& at(std::size_t x, std::size_t y, std::size_t z) const {
        return texels.at((z * sides.height + y) * sides.width + x);
    }
};

struct Tap {
    std::size_t texel;
    double weight;
};

/// Returns the weights of the texels that a pixel covers along one dimension.
std::vector<Tap> box_taps(std::size_t from, std::size_t to, std::size_t pixel) {
    const double ratio = static_cast<double>(from) / static_cast<double>(to);
    const double low = static_cast<double>(pixel) * ratio;
    std::vector<Tap> taps;
    for (std::size_t i = 0; i < from; ++i) {
        const auto left = static_cast<double>(i);
        const double share = std::min(low + ratio, left + 1) - std::max(low, left);
        if (share > 1e-9) taps.push_back({i, share / ratio});
    }
    return taps;
}

std::size_t addressed(long texel, std::size_t size, AddressMode mode) {
    const auto sides = static_cast<long>(size);
    if (mode == AddressMode::clamp) return static_cast<std::size_t>(std::clamp(texel, 0L, sides - 1));
    const long period = mode == AddressMode::mirror ? 2 * sides : sides;
    const long rest = (texel % period + period) % period;
    return static_cast<std::size_t>(rest < sides ? rest : period - 1 - rest);
}

std::vector<Tap> kaiser_taps(std::size_t from, std::size_t to, std::size_t pixel, const MipOptions& options) {
    if (from == to) return {{pixel, 1}};
    const double ratio = static_cast<double>(from) / static_cast<double>(to);
    const double width = static_cast<double>(options.kaiser_width);
    std::vector<Tap> taps;
    double total = 0;
    for (long i = -100; i < static_cast<long>(from) + 100; ++i) {
        const double x = (static_cast<double>(i) + 0.5) / ratio - (static_cast<double>(pixel) + 0.5);
        if (std::abs(x) > width) continue;
        const double angle = std::numbers::pi * x;
        const double window = std::sqrt(1 - x * x / (width * width));
        const double weight = (x == 0 ? 1 : std::sin(angle) / angle) *
                              std::cyl_bessel_i(0.0, static_cast<double>(options.kaiser_alpha) * window);
        taps.push_back({addressed(i, from, options.address), weight});
        total += weight;
    }
    for (Tap& tap : taps) tap.weight /= total;
    return taps;
}

using VisitTap = std::function<void(const Values& texel, double weight)>;

/// Calls `visit` for each texel of `above` that contributes to a texel of the smaller level.
void each_tap(const Level& above, const Extent& sides, std::array<std::size_t, 3> at, const MipOptions& options,
              const VisitTap& visit) {
    const auto taps = [&](std::size_t from, std::size_t to, std::size_t pixel) {
        return options.filter == MipFilter::kaiser ? kaiser_taps(from, to, pixel, options) : box_taps(from, to, pixel);
    };
    for (const Tap& z : taps(above.sides.depth, sides.depth, at[2])) {
        for (const Tap& y : taps(above.sides.height, sides.height, at[1])) {
            for (const Tap& x : taps(above.sides.width, sides.width, at[0]))
                visit(above.at(x.texel, y.texel, z.texel), x.weight * y.weight * z.weight);
        }
    }
}

Values mean_of(const Level& above, const Extent& sides, std::array<std::size_t, 3> at, const MipOptions& options) {
    Values plain{};
    Values by_alpha{};
    each_tap(above, sides, at, options, [&](const Values& texel, double weight) {
        for (std::size_t c = 0; c < 4; ++c) {
            plain[c] += texel[c] * weight;
            by_alpha[c] += texel[c] * texel[3] * weight;
        }
    });
    if (!options.alpha_weighted || plain[3] <= 0) return plain;
    return {by_alpha[0] / plain[3], by_alpha[1] / plain[3], by_alpha[2] / plain[3], plain[3]};
}

Values extreme_of(const Level& above, const Extent& sides, std::array<std::size_t, 3> at, const MipOptions& options) {
    std::vector<Values> all;
    each_tap(above, sides, at, options, [&](const Values& texel, double) { all.push_back(texel); });
    Values found = all.at(0);
    for (const Values& texel : all) {
        for (std::size_t c = 0; c < 4; ++c) {
            const bool better = options.filter == MipFilter::max ? texel[c] > found[c] : texel[c] < found[c];
            if (better) found[c] = texel[c];
        }
    }
    return found;
}

/// Returns half a step of the format around the value, plus the rounding of float32 sums of a few terms up to 1 (or up
/// to the maximum of an integer format).
double tolerance(Format format, double value) {
    const FormatInfo& row = info(format);
    constexpr double kSums = 4e-6;
    switch (row.kind) {
        case FormatKind::uint:
        case FormatKind::sint: return 0.5 + 1e-3;
        case FormatKind::floating: return kSums + (row.bits == 16 ? std::abs(value) * 0x1p-11 + 0x1p-25 : 0);
        case FormatKind::unorm: return kSums + 0.5 / (row.bits == 8 ? 255.0 : 65535.0);
        case FormatKind::snorm: return kSums + 0.5 / (row.bits == 8 ? 127.0 : 32767.0);
        // Half of the last step, 1 / 255 of a curve with slope 2.3 there, plus the error of the texture unit's curve.
        case FormatKind::srgb: return 0.0066;
    }
    return 0;
}

Bytes bytes_of(const std::vector<float>& values) {
    Bytes bytes(values.size() * 4);
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

std::vector<float> floats_of(const Bytes& bytes) {
    std::vector<float> values(bytes.size() / 4);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

/// Returns random bits for unorm, sRGB and integer formats, and floats between -1 and 1.
Bytes random_level(Random& random, Format format, std::size_t bytes) {
    Bytes texels(bytes);
    const bool floats = info(format).kind == FormatKind::floating;
    if (!floats) {
        for (std::byte& byte : texels) byte = static_cast<std::byte>(random.bits());
    } else if (info(format).bits == 32) {
        for (std::size_t i = 0; i < bytes; i += 4) {
            const float value = 2 * random.unit() - 1;
            std::memcpy(&texels[i], &value, 4);
        }
    } else {
        for (std::size_t i = 0; i < bytes; i += 2) {
            const auto code = static_cast<std::uint16_t>((random.bits() & 0x83FFU) | (8 + random.below(6)) << 10);
            std::memcpy(&texels[i], &code, 2);
        }
    }
    return texels;
}

class MipsTest : public test::OnEveryDevice {
protected:
    Array filled(ArrayInfo info, unsigned seed = 1) const {
        info.usage.surface = true;
        Array array(device(), info);
        Random random(seed);
        const Extent sides = array.view().extent();
        upload(array.view(), random_level(random, info.format, packed_bytes(info.format, sides)));
        return array;
    }
    /// Creates a 2D array with one channel of floats.
    Array of_floats(Format format, Extent extent, const std::vector<float>& values, int levels) const {
        Array array(device(), {.format = format, .extent = extent, .levels = levels, .usage = {.surface = true}});
        upload(array.view(), bytes_of(values));
        return array;
    }
    void make(const Array& array, const MipOptions& options = {}) const {
        const Stream stream(device());
        make_mips(stream, array, options);
        stream.synchronize();
    }
    Bytes bytes_of_level(const Array& array, int level) const { return download(array.view({.level = level})); }

    /// Reads a level with point fetches of a copy; slices, layers and faces become layers.
    Level level_of(const Array& array, int level) const {
        const View view = array.view({.level = level});
        const Extent sides = view.extent();
        const Array copied(device(), {.format = array.info().format,
                                      .extent = {sides.width, sides.height},
                                      .kind = ArrayKind::layered_2d,
                                      .layers = sides.depth});
        copy(copied.view(), view);
        std::vector<FetchPoint> points;
        for (std::size_t z = 0; z < sides.depth; ++z) {
            for (std::size_t y = 0; y < sides.height; ++y) {
                for (std::size_t x = 0; x < sides.width; ++x)
                    points.push_back({.x = static_cast<float>(x) + 0.5F,
                                      .y = static_cast<float>(y) + 0.5F,
                                      .layer = static_cast<std::int32_t>(z)});
            }
        }
        Level read{sides, {}};
        const Format format = array.info().format;
        for (const Texel& texel : sample(Texture(copied), points).texels) {
            Values values{};
            for (int c = 0; c < 4; ++c) {
                const std::uint32_t word = texel.channel[c];
                values[static_cast<std::size_t>(c)] = info(format).kind == FormatKind::uint ? static_cast<double>(word)
                                                      : info(format).kind == FormatKind::sint
                                                          ? static_cast<double>(static_cast<std::int32_t>(word))
                                                          : static_cast<double>(texel.as_float(c));
            }
            read.texels.push_back(values);
        }
        return read;
    }

    /// Checks that every level equals the filter applied to the stored level above.
    void expect_filtered(const Array& array, const MipOptions& options) const {
        const bool exact = options.filter == MipFilter::min || options.filter == MipFilter::max;
        const Format format = array.info().format;
        Level above = level_of(array, 0);
        for (int i = 1; i < array.info().levels; ++i) {
            Level level = level_of(array, i);
            for (std::size_t t = 0; t < level.texels.size(); ++t) {
                const std::array<std::size_t, 3> at{t % level.sides.width, t / level.sides.width % level.sides.height,
                                                    t / level.sides.width / level.sides.height};
                const Values expected =
                    exact ? extreme_of(above, level.sides, at, options) : mean_of(above, level.sides, at, options);
                for (std::size_t c = 0; c < info(format).channels; ++c) {
                    const double bound = exact ? 0 : tolerance(format, expected[c]);
                    ASSERT_NEAR(level.texels[t][c], clamped(format, expected[c]), bound)
                        << "level " << i << " at " << at[0] << ", " << at[1] << ", " << at[2] << ", channel " << c;
                }
            }
            above = std::move(level);
        }
    }
    /// A filter with negative lobes may leave the range of unorm and snorm.
    static double clamped(Format format, double value) {
        const FormatKind kind = info(format).kind;
        if (kind == FormatKind::unorm || kind == FormatKind::srgb) return std::clamp(value, 0.0, 1.0);
        return kind == FormatKind::snorm ? std::clamp(value, -1.0, 1.0) : value;
    }

    void refused(const Array& array, const MipOptions& options, std::initializer_list<std::string_view> fragments,
                 test::Caller where = test::Caller::here()) const {
        const Stream stream(device());
        expect_error([&] { make_mips(stream, array, options); }, ErrorCode::bad_argument, "texton::make_mips",
                     fragments, where);
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, MipsTest, test::every_device(), test::device_label);

constexpr Format kFormats[] = {Format::rgba8_unorm, Format::r32_float,   Format::rgba32_float, Format::rgba16_float,
                               Format::rgba8_srgb,  Format::rg16_snorm,  Format::r8_uint,      Format::rgba16_sint,
                               Format::r16_unorm,   Format::rgba16_unorm};

// --- filters ---------------------------------------------------------------------------------------------------------

TEST_P(MipsTest, BoxFilteredTexelsAreTheMeanOfTheirArea) {
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : kFormats) {
            const Array array = filled(test::small_info(kind, format));
            SCOPED_TRACE(test::describe(array.info()));
            make(array);
            expect_filtered(array, {});
        }
    }
}

TEST_P(MipsTest, ImagesOfEverySizeAreHalved) {
    for (const Extent& extent :
         {Extent{2, 2}, Extent{3, 3}, Extent{1, 9}, Extent{17, 1}, Extent{5, 8}, Extent{37, 23}}) {
        const ArrayInfo info{.format = Format::rgba32_float, .extent = extent};
        const Array array = filled({.format = info.format, .extent = extent, .levels = full_levels(info)});
        SCOPED_TRACE(test::describe(array.info()));
        make(array);
        expect_filtered(array, {});
    }
}

TEST_P(MipsTest, MinimumAndMaximumFiltersAreExact) {
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : {Format::rgba8_unorm, Format::r32_float, Format::rgba16_sint}) {
            for (const MipFilter filter : {MipFilter::min, MipFilter::max}) {
                const Array array = filled(test::small_info(kind, format));
                SCOPED_TRACE(test::describe(array.info()));
                make(array, {.filter = filter});
                expect_filtered(array, {.filter = filter});
            }
        }
    }
}

TEST_P(MipsTest, TheKaiserFilterUsesAWindowedSinc) {
    for (const ArrayKind kind : {ArrayKind::array_1d, ArrayKind::array_2d, ArrayKind::layered_2d, ArrayKind::cubemap}) {
        const Array array = filled(test::small_info(kind, Format::rgba32_float));
        SCOPED_TRACE(test::describe(array.info()));
        make(array, {.filter = MipFilter::kaiser});
        expect_filtered(array, {.filter = MipFilter::kaiser});
    }
    const Array volume =
        filled({.format = Format::r16_unorm, .extent = {5, 4, 6}, .kind = ArrayKind::array_3d, .levels = 2});
    make(volume, {.filter = MipFilter::kaiser});
    expect_filtered(volume, {.filter = MipFilter::kaiser});
}

TEST_P(MipsTest, TheKaiserWindowCanBeWiderAndFollowsTheAddressMode) {
    for (const AddressMode address : {AddressMode::clamp, AddressMode::wrap, AddressMode::mirror}) {
        for (const float width : {1.0F, 2.5F, 4.0F}) {
            const MipOptions options{
                .filter = MipFilter::kaiser, .kaiser_width = width, .kaiser_alpha = 2 * width, .address = address};
            const Array array = filled({.format = Format::r32_float, .extent = {11, 3}, .levels = 4});
            make(array, options);
            expect_filtered(array, options);
        }
    }
}

TEST_P(MipsTest, TheBoxFilterAddsInTheDocumentedOrder) {
    const Array array = filled({.format = Format::r32_float, .extent = {8, 5}, .levels = 2});
    const std::vector<float> above = floats_of(bytes_of_level(array, 0));
    make(array);
    std::vector<float> expected;
    for (std::size_t j = 0; j < 2; ++j) {
        for (std::size_t i = 0; i < 4; ++i) {
            const float weights[] = {static_cast<float>(2 - j), 2, static_cast<float>(j + 1)};
            float plane = 0;
            for (std::size_t k = 0; k < 3; ++k) {
                const float row = above[(2 * j + k) * 8 + 2 * i] + above[(2 * j + k) * 8 + 2 * i + 1];
                const float product = row * weights[k];  // a separate variable prevents fused multiply-add
                plane += product;
            }
            expected.push_back(plane / 10);
        }
    }
    EXPECT_TRUE(same_bytes(bytes_of_level(array, 1), bytes_of(expected)));
}

TEST_P(MipsTest, SrgbColorsAreAveragedInLinearLight) {
    Array array(device(), {.format = Format::rgba8_srgb, .extent = {2, 2}, .levels = 2, .usage = {.surface = true}});
    Bytes texels(16, std::byte{0});
    for (const std::size_t white : {0U, 3U})
        std::fill_n(texels.begin() + static_cast<long>(4 * white), 4, std::byte{255});
    upload(array.view(), texels);
    make(array);
    const Bytes half{std::byte{188}, std::byte{188}, std::byte{188}, std::byte{128}};
    EXPECT_TRUE(same_bytes(bytes_of_level(array, 1), half));
}

TEST_P(MipsTest, IntegersRoundToNearestWithHalvesAwayFromZero) {
    Array array(device(), {.format = Format::r8_sint, .extent = {8, 1}, .levels = 2, .usage = {.surface = true}});
    Bytes texels;
    for (const int value : {1, 2, -1, -2, 127, 127, -128, -127}) texels.push_back(static_cast<std::byte>(value & 255));
    upload(array.view(), texels);
    make(array);
    const Bytes expected{std::byte{2}, std::byte{256 - 2}, std::byte{127}, std::byte{256 - 128}};
    EXPECT_TRUE(same_bytes(bytes_of_level(array, 1), expected));
}

TEST_P(MipsTest, AUniformImageKeepsItsColor) {
    for (const MipFilter filter : {MipFilter::box, MipFilter::kaiser, MipFilter::min, MipFilter::max}) {
        for (const Extent& extent : {Extent{16, 16}, Extent{13, 7}}) {
            Array array(device(), {.format = Format::rgba8_unorm,
                                   .extent = extent,
                                   .levels = full_levels({.extent = extent}),
                                   .usage = {.surface = true}});
            upload(array.view(), Bytes(4 * extent.width * extent.height, std::byte{77}));
            make(array, {.filter = filter});
            for (int level = 1; level < array.info().levels; ++level)
                EXPECT_TRUE(test::all_bytes(bytes_of_level(array, level), 77));
        }
    }
}

// --- alpha -----------------------------------------------------------------------------------------------------------

TEST_P(MipsTest, ColorsAreWeightedByAlpha) {
    for (const MipFilter filter : {MipFilter::box, MipFilter::kaiser}) {
        const Array array = filled({.format = Format::rgba16_unorm, .extent = {13, 10}, .levels = 4});
        make(array, {.filter = filter, .alpha_weighted = true});
        // The alpha means are far from 0, so the division does not amplify rounding errors.
        expect_filtered(array, {.filter = filter, .alpha_weighted = true});
    }
}

TEST_P(MipsTest, TransparentTexelsLeaveNoFringe) {
    const std::vector<float> texels{
        1, 0, 0, 1, 0, 1, 0, 0, 0.5F, 0, 0, 0, 1,    0, 0, 0,  // red beside transparent texels; two transparent texels
        1, 0, 0, 1, 0, 1, 0, 0, 0.5F, 0, 0, 0, 0.5F, 0, 0, 0,
    };
    const Array array = of_floats(Format::rgba32_float, {4, 2}, texels, 2);
    make(array, {.alpha_weighted = true});
    EXPECT_EQ(floats_of(bytes_of_level(array, 1)), (std::vector<float>{1, 0, 0, 0.5F, 0.625F, 0, 0, 0}));
}

// --- kinds of chains -------------------------------------------------------------------------------------------------

TEST_P(MipsTest, ChainsInMemoryMatchChainsInArrays) {
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : {Format::rgba8_unorm, Format::r16_sint, Format::rgba8_srgb, Format::r32_float}) {
            const Array array = filled(test::small_info(kind, format));
            SCOPED_TRACE(test::describe(array.info()));
            make(array);
            const Stream stream(device());
            std::vector<Linear> memory;
            std::vector<View> levels;
            for (int i = 1; i < array.info().levels; ++i) {
                const Extent sides = array.view({.level = i}).extent();
                memory.emplace_back(device(), format, sides);
                levels.push_back(memory.back().view(format, sides));
            }
            const Texture finest(array, {.normalized_coordinates = true}, {.levels = 1});
            make_mips(stream, levels, finest);
            stream.synchronize();
            for (std::size_t i = 0; i < levels.size(); ++i)
                EXPECT_TRUE(same_bytes(download(levels[i]), bytes_of_level(array, static_cast<int>(i) + 1)));
        }
    }
}

TEST_P(MipsTest, ChainsInPitchedMemoryMatchChainsInArrays) {
    const auto expect_chain = [&](Format format, const Extent& extent, const MipOptions& options) {
        const Array array = filled({.format = format, .extent = extent, .levels = 5});
        SCOPED_TRACE(test::describe(array.info()));
        make(array, options);
        std::vector<Pitched2D> memory;
        std::vector<View> views;
        for (int i = 0; i < 5; ++i) {
            memory.emplace_back(device(), format, array.view({.level = i}).extent());
            views.push_back(memory.back().view());
        }
        upload(views[0], bytes_of_level(array, 0));
        const Stream stream(device());
        make_mips(stream, std::span(views).subspan(1), Texture(views[0]), options);
        stream.synchronize();
        for (std::size_t i = 1; i < 5; ++i)
            EXPECT_TRUE(same_bytes(download(views[i]), bytes_of_level(array, static_cast<int>(i))));
    };
    expect_chain(Format::rgba8_unorm, {37, 23}, {.filter = MipFilter::kaiser});
    for (const Extent& extent : {Extent{37, 23}, Extent{208, 64}, Extent{100, 16}, Extent{17, 150}}) {
        for (const Format format : {Format::r8_unorm, Format::rgba8_unorm, Format::rgba8_srgb, Format::r16_sint,
                                    Format::rgba16_float, Format::rg32_float, Format::rgba32_float})
            expect_chain(format, extent, {});
    }
}

TEST_P(MipsTest, ARowOfMemoryCanBeHalved) {
    const Array array = filled({.format = Format::r32_float, .extent = {9}, .kind = ArrayKind::array_1d, .levels = 2});
    make(array);
    const Linear row(device(), Format::r32_float, {9});
    const Linear half(device(), Format::r32_float, {4});
    copy(row.view(Format::r32_float, {9}), array.view());
    const View level = half.view(Format::r32_float, {4});
    const Stream stream(device());
    make_mips(stream, {&level, 1}, Texture(row.view(Format::r32_float, {9})));
    stream.synchronize();
    EXPECT_TRUE(same_bytes(download(level), bytes_of_level(array, 1)));
}

TEST_P(MipsTest, ASingleTexelOrLevelNeedsNoMips) {
    const Array one = filled({.extent = {1, 1}});
    make(one);
    const Array flat = filled({.extent = {8, 8}});
    const Bytes before = bytes_of_level(flat, 0);
    make(flat);
    EXPECT_TRUE(same_bytes(bytes_of_level(flat, 0), before));
    make_mips(Stream(device()), {}, Texture(flat));
}

TEST_P(MipsTest, AChainCanBeCapturedAfterItsFirstRun) {
    const Array array = filled({.extent = {16, 16}, .levels = 5});
    make(array);
    const Stream stream(device());
    const Graph graph = Graph::capture(stream, [&] { make_mips(stream, array); });
    upload(array.view(), test::pattern(1024, 9));
    graph.launch(stream);
    stream.synchronize();
    expect_filtered(array, {});
}

// --- by name ---------------------------------------------------------------------------------------------------------

TEST_P(MipsTest, TheNamedKernelMakesAllOrTheRequestedLevels) {
    const Kernel& kernel = kernel_named("mips");
    const Array array = filled(
        {.format = Format::rgba8_unorm, .extent = {12, 5}, .kind = ArrayKind::layered_2d, .layers = 3, .levels = 4});
    make(array, {.filter = MipFilter::max});
    const std::vector<Texture> inputs{Texture(array, {.normalized_coordinates = true}, {.levels = 1})};
    const Arguments all(kernel.info, {{"filter", std::string("max")}});
    std::vector<Linear> memory;
    std::vector<View> images;
    for (const ImageShape& shape : shapes(kernel, all, inputs)) {
        EXPECT_EQ(shape.format, Format::rgba8_unorm);
        memory.emplace_back(device(), shape.format, shape.extent);
        images.push_back(memory.back().view(shape.format, shape.extent));
    }
    ASSERT_EQ(images.size(), 3U);
    const Stream stream(device());
    enqueue(kernel, stream, images, all, inputs);
    stream.synchronize();
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_TRUE(same_bytes(download(images[i]), bytes_of_level(array, static_cast<int>(i) + 1)));
    EXPECT_EQ(shapes(kernel, Arguments(kernel.info, {{"level_count", 2.0}}), inputs).size(), 2U);
}

// --- invalid requests ------------------------------------------------------------------------------------------------

TEST_P(MipsTest, OptionsOutOfRangeAreRefusedAndNamed) {
    const Array floats = filled({.format = Format::rgba8_unorm, .extent = {4, 4}, .levels = 2});
    const Array integers = filled({.format = Format::rgba8_uint, .extent = {4, 4}, .levels = 2});
    const Array narrow = filled({.format = Format::rg8_unorm, .extent = {4, 4}, .levels = 2});
    refused(floats, {.filter = MipFilter::kaiser, .kaiser_width = 0.5F}, {"kaiser_width is 0.5", "1 to 4"});
    refused(floats, {.filter = MipFilter::kaiser, .kaiser_width = NAN}, {"kaiser_width is nan"});
    refused(floats, {.filter = MipFilter::kaiser, .kaiser_alpha = 11}, {"kaiser_alpha is 11", "0 to 10"});
    refused(floats, {.filter = MipFilter::kaiser, .address = AddressMode::border}, {"address is border"});
    refused(floats, {.filter = MipFilter::min, .alpha_weighted = true}, {"alpha_weighted"});
    refused(integers, {.filter = MipFilter::kaiser}, {"rgba8_uint reads as integers"});
    refused(integers, {.alpha_weighted = true}, {"rgba8_uint has no alpha"});
    refused(narrow, {.alpha_weighted = true}, {"rg8_unorm has no alpha"});
}

TEST_P(MipsTest, LevelsThatFormNoChainAreRefusedAndNamed) {
    const Array array = filled({.format = Format::rgba8_unorm, .extent = {9, 6}, .levels = 4});
    const Texture finest(array, {.normalized_coordinates = true}, {.levels = 1});
    const Stream stream(device());
    const auto refuse = [&](const std::vector<View>& levels, std::initializer_list<std::string_view> fragments,
                            test::Caller where = test::Caller::here()) {
        expect_error([&] { make_mips(stream, levels, finest); }, ErrorCode::bad_argument, "texton::make_mips",
                     fragments, where);
    };
    const Linear memory(device(), 4096);
    const auto level = [&](Extent extent) { return memory.view(Format::rgba8_unorm, extent); };
    const View half = level({4, 3});
    refuse({level({5, 3})}, {"levels[0] is 5 x 3", "4 x 3"});
    refuse({half, level({2, 2})}, {"levels[1] is 2 x 2", "2 x 1"});
    refuse({array.view({.level = 1}), level({2, 1})}, {"levels[0]", "part of an array"});
    refuse({borrowed_view(device(), memory.data(), Format::rgba8_unorm, {4, 3}), level({2, 1})},
           {"levels[0]", "does not own"});
    const View later = memory.view(Format::rgba8_unorm, {16, 4}).region({{2, 1}, {4, 3}});
    expect_error(
        [&] {
            make_mips(stream, std::vector{later, level({2, 1})}, finest);
        },
        ErrorCode::bad_argument, "texton::Texture", {"first texel"});
}

TEST_P(MipsTest, AChainWithAnInvalidLevelIsRefusedBeforeAnyWrite) {
    const Array array = filled({.format = Format::rgba8_unorm, .extent = {8, 8}});
    const Stream stream(device());
    const Linear memory(device(), 64);
    const View half = memory.view(Format::rgba8_unorm, {4, 4});
    const Bytes before = test::pattern(64, 5);
    upload(half, before);
    const View inside = memory.view(Format::rgba8_unorm, {2, 2});  // overlaps the level it is computed from
    expect_error(
        [&] {
            make_mips(stream, std::vector{half, inside}, Texture(array));
        },
        ErrorCode::overlap, "texton::make_mips", {"2 x 2"});
    stream.synchronize();
    EXPECT_TRUE(same_bytes(download(half), before));
}

}  // namespace
}  // namespace texton

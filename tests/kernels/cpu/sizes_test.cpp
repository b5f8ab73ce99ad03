// Compares the CPU device's specialized resampling, filter and mip kernels with functors that implement the same in a
// plain form. Results must be bit-identical.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/float_math.h>
#include <texton/launch.h>
#include <texton/linear.h>
#include <texton/mips.h>
#include <texton/pitched.h>
#include <texton/pixel_encode.h>
#include <texton/resample.h>

#include "tests/support/scenes.h"

namespace texton {
namespace {

using test::any_bits;
using test::Bytes;
using test::center_at;
using test::download;
using test::expect_same;
using test::kFormats;
using test::made;
using test::Make;
using test::on_every_scene;
using test::Random;
using test::same_bytes;
using test::samplers;
using test::Scene;
using test::texel_at;
using test::upload;

// --- plain implementations -------------------------------------------------------------------------------------------

struct Position2 {
    float x_step;
    float y_step;
    Crop crop;
    bool layered;

    float x(PixelPosition at) const { return at.center_x() * x_step + crop.x; }
    float y(PixelPosition at) const { return at.center_y() * y_step + crop.y; }
};

struct NearestTexel {
    Position2 position;

    template <class Source>
    Float4 operator()(PixelPosition at, const Source& source) const {
        return texel_at(source, position.layered, at, std::floor(position.x(at)) + 0.5f,
                        std::floor(position.y(at)) + 0.5f);
    }
};

struct LinearFetch {
    Position2 position;

    template <class Source>
    Float4 operator()(PixelPosition at, const Source& source) const {
        return texel_at(source, position.layered, at, position.x(at), position.y(at));
    }
};

/// The texels along an axis that a pixel sums.
struct Taps {
    int first;
    std::vector<float> weights;

    void divide_by_total() {
        float total = 0;
        for (const float weight : weights) total += weight;
        if (total == 0)
            weights = {1};
        else
            for (float& weight : weights) weight /= total;
    }
};

/// Rows of texels times weights, then the column of these sums times weights, fused. `TapsOf` returns the taps of a
/// pixel: TapsOf{}(pixel, step, begin).
template <class TapsOf>
struct Separable {
    Position2 position;

    template <class Source>
    Float4 operator()(PixelPosition at, const Source& source) const {
        const Taps x = TapsOf{}(at.x, position.x_step, position.crop.x);
        const Taps y = TapsOf{}(at.y, position.y_step, position.crop.y);
        Float4 sum{};
        for (std::size_t j = 0; j < y.weights.size(); ++j) {
            if (y.weights[j] == 0) continue;
            Float4 row{};
            for (std::size_t i = 0; i < x.weights.size(); ++i) {
                if (x.weights[i] == 0) continue;
                const Float4 texel = center_at(source, position.layered, at, x.first + static_cast<int>(i),
                                               y.first + static_cast<int>(j));
                row = fma(texel, x.weights[i], row);
            }
            sum = fma(row, y.weights[j], sum);
        }
        return sum;
    }
};

struct CatmullRomTaps {
    Taps operator()(int pixel, float step, float begin) const {
        const float position = (static_cast<float>(pixel) + 0.5f) * step + begin;
        const float left = std::floor(position - 0.5f);
        const float t = position - (left + 0.5f);
        return {static_cast<int>(left) - 1,
                {t * (t * (1.0f - 0.5f * t) - 0.5f), t * t * (1.5f * t - 2.5f) + 1.0f,
                 t * (t * (2.0f - 1.5f * t) + 0.5f), t * t * (0.5f * t - 0.5f)}};
    }
};

struct AreaTaps {
    Taps operator()(int pixel, float step, float begin) const {
        const float low = static_cast<float>(pixel) * step + begin;
        const float high = static_cast<float>(pixel + 1) * step + begin;
        Taps taps{static_cast<int>(std::floor(low)), {}};
        for (int i = taps.first; i < static_cast<int>(std::ceil(high)); ++i) {
            const auto left = static_cast<float>(i);
            taps.weights.push_back(std::max(0.0f, std::min(high, left + 1.0f) - std::max(low, left)));
        }
        taps.divide_by_total();
        return taps;
    }
};

struct LanczosTaps {
    Taps operator()(int pixel, float step, float begin) const {
        const float position = (static_cast<float>(pixel) + 0.5f) * step + begin;
        const float scale = step > 1.0f ? 1.0f / step : 1.0f;
        Taps taps{static_cast<int>(std::floor(position - 3.0f / scale)), {}};
        for (int i = taps.first; i < static_cast<int>(std::ceil(position + 3.0f / scale)); ++i) {
            const float x = (static_cast<float>(i) + 0.5f - position) * scale;
            const float angle = 3.14159265f * x;
            const float sines = 3.0f * sine_cosine_of(x).sine * sine_cosine_of(x / 3.0f).sine;
            taps.weights.push_back(x == 0 ? 1 : std::abs(x) >= 3.0f ? 0 : sines / (angle * angle));
        }
        taps.divide_by_total();
        return taps;
    }
};

using CatmullRom = Separable<CatmullRomTaps>;
using Area = Separable<AreaTaps>;
using Lanczos = Separable<LanczosTaps>;

/// The box filter of levels with dimensions that are even, 1 or 3.
struct Halved {
    int across;  // texels that a pixel covers
    int down;
    bool layered;

    template <class Source>
    Float4 operator()(PixelPosition at, const Source& source) const {
        Float4 sum{};
        for (int j = 0; j < down; ++j) {
            Float4 row{};
            for (int i = 0; i < across; ++i)
                row += center_at(source, layered, at, at.x * across + i, at.y * down + j) * 1;
            sum += row * 1;
        }
        const auto total = static_cast<float>(across * down);
        return {sum.x / total, sum.y / total, sum.z / total, sum.w / total};
    }
};

// --- comparisons -----------------------------------------------------------------------------------------------------

/// A destination size and a part of the texture to resample. Some parts reach beyond the edges.
struct Sizes {
    Extent extent;
    Crop crop;

    Sizes(Random& random, const Extent& from)
        : extent{random.between(1, 2 * from.width), random.between(1, 2 * from.height)} {
        if (random.coin()) {
            extent = {(from.width + 1) / 2, (from.height + 1) / 2};
        } else if (random.coin()) {
            crop = {random.unit() * 9 - 6, random.unit() * 9 - 6, 1 + random.unit() * 60, 1 + random.unit() * 60};
        }
    }
};

/// Calls `expect` with both implementations.
template <class Functor, class Expect>
void compare_resample(const Scene& scene, ResampleFilter filter, const Extent& extent, const Crop& crop,
                      const Expect& expect) {
    const auto step = [](float side, std::size_t from, float begin, std::size_t pixels) {
        return (side != 0 ? side : static_cast<float>(from) - begin) / static_cast<float>(pixels);
    };
    const Functor functor{{step(crop.width, scene.extent.width, crop.x, extent.width),
                           step(crop.height, scene.extent.height, crop.y, extent.height), crop, scene.layered()}};
    expect([&](const Stream& stream,
               const View& image) { resample(stream, image, scene.texture, {.filter = filter, .crop = crop}); },
           [&](const Stream& stream, const View& image) {
               launch(stream, image, functor, filter == ResampleFilter::linear ? scene.texture : scene.texels());
           });
}

/// Writes to a region of memory in the texture's own format.
template <class Functor>
void expect_resample(const Scene& scene, ResampleFilter filter, const Extent& extent, const Crop& crop) {
    const Extent around{extent.width + 3, extent.height + 2};
    const Linear memory(Device::cpu(), scene.format, around);
    compare_resample<Functor>(scene, filter, extent, crop, [&](const Make& fast, const Make& plain) {
        expect_same(memory.view(scene.format, around), extent, fast, plain);
    });
}

template <class Functor>
void expect_resamples(ResampleFilter filter, Filter of_sampler) {
    Random random(3);
    on_every_scene(of_sampler, [&](const Scene& scene) {
        const Sizes to(random, scene.extent);
        compare_resample<Functor>(scene, filter, to.extent, to.crop, [&](const Make& fast, const Make& plain) {
            expect_same(scene, to.extent, fast, plain);
        });
    });
}

constexpr std::array kByteFormats{Format::rgba8_unorm, Format::rg8_unorm, Format::r8_unorm};

/// Steps between pixels that cover every method of loading texels, in rows of many vectors.
template <class Functor>
void expect_resamples_of_rows(ResampleFilter filter, Filter of_sampler, std::span<const Format> formats) {
    constexpr Extent kFrom{150, 6};
    struct Size {
        Extent extent;
        Crop crop;
    };
    constexpr std::array kSizes{
        Size{{75, 3}, {}},  Size{{75, 3}, {0.25f, 0.75f, 150, 6}}, Size{{75, 6}, {}},
        Size{{225, 9}, {}}, Size{{208, 9}, {0, 0.5f, 100.2f, 5}},  Size{{97, 5}, {-20.5f, -2, 190, 9}},
        Size{{50, 2}, {}},  Size{{33, 1}, {7, 1, 143, 5}},         Size{{101, 5}, {31, 1, 101, 5}}};
    Random random(4);
    for (const Format format : formats) {
        for (const Sampler& sampler : samplers(of_sampler)) {
            const Array array(Device::cpu(), {.format = format, .extent = kFrom});
            upload(array.view(), any_bits(random, test::box_bytes(format, kFrom)));
            for (const Size& size : kSizes) {
                SCOPED_TRACE("to " + std::to_string(size.extent.width) + ", address " +
                             std::to_string(static_cast<int>(sampler.address[0])));
                expect_resample<Functor>({Texture(array, sampler), kFrom, 1, format}, filter, size.extent, size.crop);
            }
        }
    }
}

// --- tests -----------------------------------------------------------------------------------------------------------

TEST(CpuResampleTest, NearestResamplingMatchesTheFunctor) {
    expect_resamples<NearestTexel>(ResampleFilter::nearest, Filter::point);
    expect_resamples<NearestTexel>(ResampleFilter::nearest, Filter::linear);
}

TEST(CpuResampleTest, LinearResamplingMatchesTheFunctor) {
    expect_resamples<LinearFetch>(ResampleFilter::linear, Filter::linear);
}

TEST(CpuResampleTest, CatmullRomResamplingMatchesTheFunctor) {
    expect_resamples<CatmullRom>(ResampleFilter::catmull_rom, Filter::linear);
}

/// Returns floats of similar magnitude, whose sums over a footprint are nearly exact, and some that are not: zeros,
/// denormals, infinities and NaN.
Bytes alike_floats(Random& random, std::size_t count, bool signs) {
    std::vector<std::uint32_t> floats(count);
    for (std::uint32_t& bits : floats) {
        const auto exponent = static_cast<std::uint32_t>(125 + random.below(random.below(8) == 0 ? 7 : 3));
        bits = exponent << 23 | (static_cast<std::uint32_t>(random.bits()) & 0x7fffff);
        if (random.below(8) == 0) bits &= 0xfff00000;
        if (signs && random.coin()) bits |= 0x80000000;
        constexpr std::array<std::uint32_t, 8> kOdd{0,          0x80000000, 1,          0x807fffff,
                                                    0x7f800000, 0xff800000, 0x7fc01234, 0x7f7fffff};
        if (random.below(100) == 0) bits = kOdd[random.below(kOdd.size())];
    }
    Bytes bytes(count * sizeof(std::uint32_t));
    std::memcpy(bytes.data(), floats.data(), bytes.size());
    return bytes;
}

TEST(CpuResampleTest, LinearResamplingOfSimilarFloatsMatchesTheFunctor) {
    Random random(11);
    for (const Sampler& sampler : samplers(Filter::linear)) {
        for (const Extent to : {Extent{90, 70}, Extent{30, 24}, Extent{61, 47}, Extent{7, 200}}) {
            constexpr Extent kFrom{61, 47};
            const Array array(Device::cpu(), {.format = Format::rgba32_float, .extent = kFrom});
            upload(array.view(), alike_floats(random, 4 * kFrom.width * kFrom.height, random.coin()));
            const Texture texture(array, sampler);
            const Crop crop = random.coin() ? Crop{} : Crop{-2.3f, 1.5f, 50, 48.25f};
            const Position2 position{(crop.width != 0 ? crop.width : 61) / static_cast<float>(to.width),
                                     (crop.height != 0 ? crop.height : 47) / static_cast<float>(to.height), crop,
                                     false};
            SCOPED_TRACE(to_string(to) + ", address " + std::to_string(static_cast<int>(sampler.address[0])));
            const auto check = [&](ResampleFilter filter, const auto& functor) {
                for (const Format format : {Format::rgba32_float, Format::rgba16_float, Format::rgba8_unorm}) {
                    const Extent around{to.width + 3, to.height + 2};
                    const Linear memory(Device::cpu(), format, around);
                    expect_same(
                        memory.view(format, around), to,
                        [&](const Stream& stream, const View& image) {
                            resample(stream, image, texture, {.filter = filter, .crop = crop});
                        },
                        [&](const Stream& stream, const View& image) {
                            launch(stream, image, functor,
                                   filter == ResampleFilter::linear ? texture : detail::by_points(texture));
                        });
                }
            };
            check(ResampleFilter::linear, LinearFetch{position});
            check(ResampleFilter::catmull_rom, CatmullRom{position});
        }
    }
}

/// Returns positive floats within three exponents for nearly all groups of pixels, with many ties among the sums, one
/// channel that is 0 in most rows, and a few odd values.
Bytes floats_alike_in_groups(Random& random, const Extent& extent) {
    std::vector<float> floats;
    for (std::size_t i = 0; i < 4 * extent.width * extent.height; ++i) {
        const std::size_t mantissa = random.coin() ? random.below(1 << 23) : random.below(8) << 20 | random.below(2);
        const bool is_zero = i % 4 == 2 && i / 4 / extent.width % 8 < 5;
        float value = is_zero ? 0.0f : std::ldexp(1 + std::ldexp(static_cast<float>(mantissa), -23), -3);
        if (!is_zero && random.below(8) == 0) value *= random.coin() ? 2.0f : 4.0f;
        constexpr std::array kOdd{-1.0f, -0.0f, 0.0f, 1e-30f, 1e-42f, 1e6f, INFINITY, NAN};
        if (random.below(1500) == 0) value = kOdd[random.below(kOdd.size())];
        floats.push_back(value);
    }
    Bytes bytes(floats.size() * sizeof(float));
    std::memcpy(bytes.data(), floats.data(), bytes.size());
    return bytes;
}

/// Steps that cover every method of loading texels: consecutive texels, texels within one or two vectors, and texels
/// further apart, also beyond the edges.
TEST(CpuResampleTest, FloatResamplingWithAllStepsMatchesTheFunctor) {
    constexpr Extent kFrom{150, 40};
    constexpr std::array<Crop, 3> kCrops{Crop{}, Crop{0.25f, 0.75f, 150, 40}, Crop{-20.5f, -3, 190, 46}};
    Random random(19);
    for (const Sampler& sampler : samplers(Filter::linear)) {
        const Array array(Device::cpu(), {.format = Format::rgba32_float, .extent = kFrom});
        upload(array.view(), floats_alike_in_groups(random, kFrom));
        const Scene scene{Texture(array, sampler), kFrom, 1, Format::rgba32_float};
        for (const Crop& crop : kCrops) {
            for (const Extent to : {Extent{150, 40}, Extent{75, 20}, Extent{225, 60}, Extent{40, 9}, Extent{700, 55}}) {
                SCOPED_TRACE(to_string(to) + ", address " + std::to_string(static_cast<int>(sampler.address[0])));
                expect_resample<LinearFetch>(scene, ResampleFilter::linear, to, crop);
                expect_resample<CatmullRom>(scene, ResampleFilter::catmull_rom, to, crop);
            }
        }
    }
}

/// Steps that cover every method of staging pairs of texels: pairs that follow each other, pairs further apart, and
/// texels beyond the edges, in rows of several blocks.
TEST(CpuResampleTest, LinearResamplingOfEveryFormatWithAllStepsMatchesTheFunctor) {
    constexpr Extent kFrom{150, 40};
    Random random(31);
    for (const Format format :
         {Format::r32_float, Format::rg32_float, Format::r16_float, Format::rg16_float, Format::rgba16_float,
          Format::r16_unorm, Format::rg16_unorm, Format::rgba16_unorm, Format::rgba8_srgb}) {
        for (const Sampler& sampler : samplers(Filter::linear)) {
            const Array array(Device::cpu(), {.format = format, .extent = kFrom});
            const std::size_t bytes = test::box_bytes(format, kFrom);
            const bool alike = info(format).bits == 32 && random.coin();
            Bytes texels = alike ? floats_alike_in_groups(random, kFrom) : any_bits(random, bytes);
            texels.resize(bytes);
            upload(array.view(), texels);
            const Scene scene{Texture(array, sampler), kFrom, 1, format};
            for (const Crop& crop : {Crop{}, Crop{0.25f, 0.75f, 150, 40}, Crop{-20.5f, -3, 190, 46}}) {
                for (const Extent to : {Extent{75, 20}, Extent{225, 60}, Extent{150, 43}, Extent{40, 9}}) {
                    SCOPED_TRACE(std::string(name(format)) + " to " + to_string(to) + ", address " +
                                 std::to_string(static_cast<int>(sampler.address[0])));
                    expect_resample<LinearFetch>(scene, ResampleFilter::linear, to, crop);
                }
            }
        }
    }
}

/// Every fourth row begins at a cache line.
TEST(CpuResampleTest, FloatImagesLargerThanTheCacheMatchTheFunctor) {
    constexpr Extent kFrom{150, 40};
    constexpr Extent kTo{2050, 2060};  // more than 64 MiB
    constexpr Extent kAround{2053, 2062};
    Random random(20);
    const Array array(Device::cpu(), {.format = Format::rgba32_float, .extent = kFrom});
    upload(array.view(), floats_alike_in_groups(random, kFrom));
    const Texture texture(array, {.filter = Filter::linear});
    const Position2 position{150 / 2050.0f, 40 / 2060.0f, {}, false};
    const Linear memory(Device::cpu(), Format::rgba32_float, kAround);
    const auto check = [&](ResampleFilter filter, const auto& functor) {
        expect_same(
            memory.view(Format::rgba32_float, kAround), kTo,
            [&](const Stream& stream, const View& image) { resample(stream, image, texture, {.filter = filter}); },
            [&](const Stream& stream, const View& image) {
                launch(stream, image, functor, filter == ResampleFilter::linear ? texture : detail::by_points(texture));
            });
    };
    check(ResampleFilter::linear, LinearFetch{position});
    check(ResampleFilter::catmull_rom, CatmullRom{position});
    check(ResampleFilter::area, Area{position});
}

/// Every 16th row begins at a cache line.
TEST(CpuResampleTest, ByteImagesLargerThanTheCacheMatchTheFunctor) {
    constexpr Extent kFrom{4160, 4096};  // more than 64 MiB
    Random random(26);
    const Array array(Device::cpu(), {.format = Format::rgba8_unorm, .extent = kFrom});
    upload(array.view(), any_bits(random, test::box_bytes(Format::rgba8_unorm, kFrom)));
    const Texture texture(array, {.filter = Filter::linear});
    const auto check = [&](ResampleFilter filter, Extent to, const auto& functor_of) {
        const Extent around{to.width + 1, to.height + 1};
        const Linear memory(Device::cpu(), Format::rgba8_unorm, around);
        const Position2 position{static_cast<float>(kFrom.width) / static_cast<float>(to.width),
                                 static_cast<float>(kFrom.height) / static_cast<float>(to.height),
                                 {},
                                 false};
        expect_same(
            memory.view(Format::rgba8_unorm, around), to,
            [&](const Stream& stream, const View& image) { resample(stream, image, texture, {.filter = filter}); },
            [&](const Stream& stream, const View& image) { launch(stream, image, functor_of(position), texture); });
    };
    const auto nearest = [](const Position2& position) { return NearestTexel{position}; };
    const auto linear = [](const Position2& position) { return LinearFetch{position}; };
    const auto area = [](const Position2& position) { return Area{position}; };
    check(ResampleFilter::nearest, {2080, 1024}, nearest);
    check(ResampleFilter::nearest, {321, 8192}, nearest);
    check(ResampleFilter::linear, {2080, 2048}, linear);
    check(ResampleFilter::linear, {700, 1500}, linear);
    check(ResampleFilter::area, {2080, 1024}, area);
    check(ResampleFilter::area, {3000, 600}, area);
}

TEST(CpuResampleTest, AreaResamplingMatchesTheFunctor) {
    expect_resamples<Area>(ResampleFilter::area, Filter::point);
    expect_resamples<Area>(ResampleFilter::area, Filter::linear);
}

TEST(CpuResampleTest, AreaResamplingToHalfTheWidthMatchesTheFunctor) {
    constexpr Extent kFrom{66, 30};
    Random random(24);
    const Array array(Device::cpu(), {.format = Format::rgba32_float, .extent = kFrom});
    upload(array.view(), any_bits(random, test::box_bytes(Format::rgba32_float, kFrom)));
    const Scene scene{Texture(array), kFrom, 1, Format::rgba32_float};
    for (const std::size_t rows : {15, 30, 20, 7, 1})
        expect_resample<Area>(scene, ResampleFilter::area, {33, rows}, {});
}

TEST(CpuResampleTest, ByteResamplingWithAllStepsMatchesTheFunctor) {
    expect_resamples_of_rows<NearestTexel>(ResampleFilter::nearest, Filter::point, kByteFormats);
    expect_resamples_of_rows<NearestTexel>(ResampleFilter::nearest, Filter::linear, kByteFormats);
    expect_resamples_of_rows<LinearFetch>(ResampleFilter::linear, Filter::linear, kByteFormats);
    expect_resamples_of_rows<CatmullRom>(ResampleFilter::catmull_rom, Filter::linear, kByteFormats);
    expect_resamples_of_rows<Area>(ResampleFilter::area, Filter::point, kByteFormats);
}

// Where each pixel reads a single texel, it is copied.
TEST(CpuResampleTest, LinearResamplingOfOtherFormatsWithAllStepsMatchesTheFunctor) {
    constexpr std::array kOthers{Format::r16_unorm, Format::rg16_unorm, Format::rgba16_unorm, Format::rgba8_srgb,
                                 Format::r8_srgb,   Format::r16_float,  Format::rg16_float,   Format::rgba16_float,
                                 Format::r32_float, Format::rg32_float, Format::rgba32_float, Format::rgba8_snorm};
    expect_resamples_of_rows<LinearFetch>(ResampleFilter::linear, Filter::linear, kOthers);
}

/// Returns codes with few or many sums halfway between two codes: noise, ramps, black and white texels, and rows of
/// each code.
Bytes codes_of(Random& random, int kind, std::size_t row_bytes, std::size_t rows) {
    Bytes bytes(row_bytes * rows);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const std::size_t x = i % row_bytes, y = i / row_bytes, noise = random.below(256);
        const std::size_t codes[] = {noise, x / 4 + y + noise % 16, noise % 2 * 255, y};
        bytes[i] = static_cast<std::byte>(codes[kind]);
    }
    return bytes;
}

/// Replaces each fifth channel of a floating format by a negative zero.
test::Bytes with_negative_zeros(test::Bytes texels, Format format) {
    if (info(format).kind != FormatKind::floating) return texels;
    const std::size_t size = static_cast<std::size_t>(info(format).bits) / 8;
    for (std::size_t i = 0; i + size <= texels.size(); i += 5 * size) {
        std::fill_n(&texels[i], size, test::Bytes::value_type{});
        texels[i + size - 1] = test::Bytes::value_type{0x80};
    }
    return texels;
}

/// Pixels that are single texels in both directions, in one, or in none, also beyond the edges.
TEST(CpuResampleTest, PixelsOfSingleTexelsMatchTheFunctor) {
    constexpr Extent kFrom{37, 21};
    struct Size {
        Extent extent;
        Crop crop;
    };
    const Size sizes[] = {{{74, 42}, {}},
                          {{148, 21}, {}},
                          {{37, 21}, {}},
                          {{74, 31}, {}},
                          {{40, 30}, {-2, -3, 20, 15}},
                          {{30, 24}, {25, 12, 15, 12}},
                          {{37, 21}, {0.5f, 0, 37, 21}}};
    Random random(30);
    for (const Format format : kFormats) {
        for (const Sampler& sampler : samplers(Filter::point)) {
            const Array array(Device::cpu(), {.format = format, .extent = kFrom});
            upload(array.view(), with_negative_zeros(any_bits(random, test::box_bytes(format, kFrom)), format));
            const Scene scene{Texture(array, sampler), kFrom, 1, format};
            for (const Size& size : sizes) {
                SCOPED_TRACE(std::string(name(format)) + " to " + to_string(size.extent) + ", address " +
                             std::to_string(static_cast<int>(sampler.address[0])));
                expect_resample<Area>(scene, ResampleFilter::area, size.extent, size.crop);
                expect_resample<CatmullRom>(scene, ResampleFilter::catmull_rom, size.extent, size.crop);
            }
        }
    }
}

TEST(CpuResampleTest, ReducedCodesMatchTheFunctor) {
    constexpr Extent kFrom{403, 264};
    struct Size {
        Extent extent;
        Crop crop;
    };
    // Whole factors of 3 to 16, others, and parts of the texture whose pixels reach beyond its edges.
    const Size sizes[] = {{{100, 66}, {0, 0, 400, 264}},
                          {{50, 33}, {1, 0, 400, 264}},
                          {{133, 88}, {2, 0, 399, 264}},
                          {{25, 16}, {0, 3, 400, 256}},
                          {{101, 66}, {}},
                          {{120, 79}, {}},
                          {{113, 40}, {-1.5f, -2, 405, 268}},
                          {{7, 5}, {}},
                          {{80, 44}, {0, 0, 400, 264}},
                          {{31, 60}, {300.25f, 0, 110, 264.5f}}};
    Random random(29);
    for (const Format format : {Format::r8_unorm, Format::rg8_unorm, Format::rgba8_unorm}) {
        const Array array(Device::cpu(), {.format = format, .extent = kFrom});
        for (int kind = 0; kind < 4; ++kind) {
            const std::size_t row_bytes = kFrom.width * static_cast<std::size_t>(info(format).bytes);
            upload(array.view(), codes_of(random, kind, row_bytes, kFrom.height));
            for (const Size& size : sizes) {
                SCOPED_TRACE("content " + std::to_string(kind) + " to " + to_string(size.extent));
                const Scene scene{Texture(array, {.filter = Filter::linear}), kFrom, 1, format};
                expect_resample<Area>(scene, ResampleFilter::area, size.extent, size.crop);
            }
        }
    }
}

TEST(CpuResampleTest, NearestResamplingOfLongFloatRowsMatchesTheFunctor) {
    constexpr Extent kFrom{1700, 3};
    Random random(27);
    for (const Format format : {Format::r32_float, Format::rg32_float, Format::rgba32_float}) {
        const Array array(Device::cpu(), {.format = format, .extent = kFrom});
        upload(array.view(), any_bits(random, test::box_bytes(format, kFrom)));
        const Scene scene{Texture(array), kFrom, 1, format};
        for (const Extent to : {Extent{2550, 4}, Extent{1700, 3}, Extent{850, 2}})
            expect_resample<NearestTexel>(scene, ResampleFilter::nearest, to, {});
    }
}

/// Tiles after the first read other texels of a row.
TEST(CpuResampleTest, ByteResamplingOfSeveralTilesMatchesTheFunctor) {
    constexpr Extent kFrom{3000, 3};
    constexpr Extent kTo{4500, 4};
    Random random(14);
    for (const Format format : {Format::r8_unorm, Format::rg8_unorm}) {
        const Array array(Device::cpu(), {.format = format, .extent = kFrom});
        upload(array.view(), any_bits(random, test::box_bytes(format, kFrom)));
        const Scene scene{Texture(array, {.filter = Filter::linear}), kFrom, 1, format};
        expect_resample<LinearFetch>(scene, ResampleFilter::linear, kTo, {});
        expect_resample<CatmullRom>(scene, ResampleFilter::catmull_rom, kTo, {});
    }
}

TEST(CpuResampleTest, MeansOfFourBytesMatchTheFunctor) {
    constexpr Extent kFrom{512, 512};
    Random random(6);
    const Array array(Device::cpu(), {.format = Format::rgba8_unorm, .extent = kFrom});
    upload(array.view(), any_bits(random, test::box_bytes(Format::rgba8_unorm, kFrom)));
    const Scene scene{Texture(array), kFrom, 1, Format::rgba8_unorm};
    expect_resample<Area>(scene, ResampleFilter::area, {256, 256}, {});
}

/// With nearly equal weights the last bits of sums and quotients decide which code the result rounds to.
TEST(CpuResampleTest, WeightedAveragesOfBytesMatchTheFunctor) {
    constexpr Extent kFrom{2048, 20};
    Random random(23);
    const Array array(Device::cpu(), {.format = Format::rgba8_unorm, .extent = kFrom});
    upload(array.view(), any_bits(random, test::box_bytes(Format::rgba8_unorm, kFrom)));
    const Scene scene{Texture(array), kFrom, 1, Format::rgba8_unorm};
    for (const Extent to : {Extent{3072, 30}, Extent{2731, 33}, Extent{1365, 13}, Extent{900, 7}}) {
        SCOPED_TRACE(to_string(to));
        expect_resample<Area>(scene, ResampleFilter::area, to, {});
    }
}

TEST(CpuResampleTest, MeansOfFourFloatsBeyondTheCacheSizeMatchTheFunctor) {
    constexpr Extent kFrom{2600, 1400};  // more than 64 MiB together with the destination
    Random random(22);
    const Array array(Device::cpu(), {.format = Format::rgba32_float, .extent = kFrom});
    upload(array.view(), any_bits(random, test::box_bytes(Format::rgba32_float, kFrom)));
    expect_resample<Area>({Texture(array), kFrom, 1, Format::rgba32_float}, ResampleFilter::area, {1300, 700}, {});
}

// If positions are so close that floats cannot distinguish them, some pixels have a total weight of zero or nearly
// zero.
TEST(CpuResampleTest, AreasWithoutSizeReadTheFirstTexel) {
    constexpr Extent kFrom{31, 12};
    constexpr Extent kTo{40, 3};
    Random random(2);
    for (const Format from : {Format::rgba32_float, Format::rgba8_unorm}) {
        const Array array(Device::cpu(), {.format = from, .extent = kFrom});
        upload(array.view(), test::random_texels(random, from, test::box_bytes(from, kFrom)));
        const Texture texture(array);
        for (const Crop& crop : {Crop{30, 7.5f, 1e-5f, 2}, Crop{0, 7.5f, 1e-14f, 2}, Crop{0, 0, 1e-20f, 1e-20f}}) {
            const Area functor{{crop.width / 40, crop.height / 3, crop, false}};
            for (const Format format : {Format::rgba32_float, Format::rgba8_unorm}) {
                SCOPED_TRACE("width " + std::to_string(crop.width));
                const Extent around{kTo.width + 3, kTo.height + 2};
                const Linear memory(Device::cpu(), format, around);
                expect_same(
                    memory.view(format, around), kTo,
                    [&](const Stream& stream, const View& image) {
                        resample(stream, image, texture, {.filter = ResampleFilter::area, .crop = crop});
                    },
                    [&](const Stream& stream, const View& image) { launch(stream, image, functor, texture); });
            }
        }
    }
}

TEST(CpuResampleTest, All16BitCodesAreFetchedAsTheirFractions) {
    constexpr Extent kExtent{256, 256};
    Bytes codes(2 * 65536);
    std::vector<float> fractions(65536);
    for (std::size_t i = 0; i < fractions.size(); ++i) {
        const auto code = static_cast<std::uint16_t>(i);
        std::memcpy(&codes[2 * i], &code, 2);
        fractions[i] = static_cast<float>(i) / 65535;
    }
    Bytes expected(4 * fractions.size());
    std::memcpy(expected.data(), fractions.data(), expected.size());
    const Array array(Device::cpu(), {.format = Format::r16_unorm, .extent = kExtent});
    upload(array.view(), codes);
    const Texture texture(array, {.filter = Filter::linear});
    const Linear memory(Device::cpu(), Format::r32_float, kExtent);
    const View image = memory.view(Format::r32_float, kExtent);
    const Bytes fetched = made(image, image, [&](const Stream& stream, const View& view) {
        resample(stream, view, texture, {.filter = ResampleFilter::linear});
    });
    EXPECT_TRUE(same_bytes(fetched, expected));
}

/// All values of float sums of codes, indexed by the integer sum of the codes.
using CodeSums = std::vector<std::set<float>>;

template <class Sum>
CodeSums added(const CodeSums& a, const CodeSums& b, const Sum& sum) {
    CodeSums sums(a.size() + b.size() - 1);
    for (std::size_t i = 0; i < a.size(); ++i) {
        for (std::size_t j = 0; j < b.size(); ++j) {
            for (const float x : a[i]) {
                for (const float y : b[j]) sums[i + j].insert(sum(x, y));
            }
        }
    }
    return sums;
}

TEST(CpuResampleTest, MeansOfFourCodesRoundLikeTheirIntegerSum) {
    CodeSums codes(256);
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = {static_cast<float>(i) / 255.0f};
    const auto check = [&](const auto& sum, float divisor) {
        const CodeSums pairs = added(codes, codes, sum);
        const CodeSums all = added(pairs, pairs, sum);
        for (std::size_t i = 0; i < all.size(); ++i) {
            for (const float value : all[i]) ASSERT_EQ(detail::unorm_code_of(value / divisor, 255), (i + 2) / 4) << i;
        }
    };
    check([](float a, float b) { return a + b; }, 4);                                       // mips
    check([](float a, float b) { return std::fma(b, 0.5f, std::fma(a, 0.5f, 0.0f)); }, 1);  // resample() by area
}

TEST(CpuResampleTest, EveryHalfIsReadAndStoredAsTheFunctorDoes) {
    constexpr Extent kExtent{256, 256};
    constexpr Extent kAround{259, 258};
    Bytes codes(2 * 65536);
    for (std::size_t i = 0; i < 65536; ++i) {
        const auto code = static_cast<std::uint16_t>(i);
        std::memcpy(&codes[2 * i], &code, 2);
    }
    const Array halves(Device::cpu(), {.format = Format::r16_float, .extent = kExtent});
    upload(halves.view(), codes);
    Random random(31);
    const Array floats(Device::cpu(), {.format = Format::r32_float, .extent = kExtent});
    upload(floats.view(), any_bits(random, 4 * 65536));
    for (const Array& array : {halves, floats}) {
        const Scene scene{Texture(array), kExtent, 1, array.info().format};
        for (const Format format : {Format::r16_float, Format::r32_float, Format::rgba16_float}) {
            const Linear memory(Device::cpu(), format, kAround);
            compare_resample<Area>(scene, ResampleFilter::area, kExtent, {}, [&](const Make& fast, const Make& plain) {
                expect_same(memory.view(format, kAround), kExtent, fast, plain);
            });
        }
    }
}

/// Far more rows of texels per pixel than are kept, and pixels that share them.
TEST(CpuResampleTest, StrongReductionsMatchTheFunctor) {
    constexpr Extent kFrom{300, 700};
    Random random(32);
    for (const Format format : {Format::r8_unorm, Format::rgba32_float}) {
        const Array array(Device::cpu(), {.format = format, .extent = kFrom});
        upload(array.view(), any_bits(random, test::box_bytes(format, kFrom)));
        const Scene scene{Texture(array), kFrom, 1, format};
        for (const Extent to : {Extent{37, 20}, Extent{3, 7}, Extent{1, 1}}) {
            SCOPED_TRACE(to_string(to));
            expect_resample<Lanczos>(scene, ResampleFilter::lanczos3, to, {});
            expect_resample<Area>(scene, ResampleFilter::area, to, {});
        }
    }
}

/// Rows of texels that several rows of pixels need, or of which some are skipped.
TEST(CpuResampleTest, RowsThatAreSummedTogetherMatchTheFunctor) {
    constexpr Extent kFrom{70, 97};
    Random random(33);
    for (const Format format : {Format::r8_unorm, Format::r16_float, Format::rg16_unorm, Format::r32_float,
                                Format::rg32_float, Format::rgba32_float}) {
        const Array array(Device::cpu(), {.format = format, .extent = kFrom});
        upload(array.view(), any_bits(random, test::box_bytes(format, kFrom)));
        for (const Sampler& sampler : samplers(Filter::point)) {
            const Scene scene{Texture(array, sampler), kFrom, 1, format};
            for (const std::size_t rows : {5u, 12u, 13u, 31u, 68u, 96u, 145u, 194u}) {
                SCOPED_TRACE(std::string(name(format)) + " to " + std::to_string(rows) + " rows, address " +
                             std::to_string(static_cast<int>(sampler.address[0])));
                const Crop crop = random.coin() ? Crop{} : Crop{-5.5f, -9.3f, 75, 113};
                expect_resample<CatmullRom>(scene, ResampleFilter::catmull_rom, {53, rows}, crop);
                expect_resample<Lanczos>(scene, ResampleFilter::lanczos3, {53, rows}, crop);
                expect_resample<Area>(scene, ResampleFilter::area, {53, rows}, crop);
            }
        }
    }
}

TEST(CpuResampleTest, LongRowsThatAreSummedTogetherMatchTheFunctor) {
    constexpr Extent kFrom{1100, 13};
    Random random(34);
    for (const Format format : {Format::r16_unorm, Format::r32_float, Format::rgba32_float}) {
        const Array array(Device::cpu(), {.format = format, .extent = kFrom});
        upload(array.view(), any_bits(random, test::box_bytes(format, kFrom)));
        const Scene scene{Texture(array), kFrom, 1, format};
        for (const Extent to : {Extent{1040, 9}, Extent{1203, 20}}) {
            SCOPED_TRACE(std::string(name(format)) + " to " + to_string(to));
            expect_resample<CatmullRom>(scene, ResampleFilter::catmull_rom, to, {});
            expect_resample<Area>(scene, ResampleFilter::area, to, {});
        }
    }
}

TEST(CpuResampleTest, LanczosResamplingMatchesTheFunctor) {
    expect_resamples<Lanczos>(ResampleFilter::lanczos3, Filter::point);
}

TEST(CpuResampleTest, MeansOfFourColorsMatchTheFunctor) {
    Random random(31);
    for (const Format format : {Format::r8_srgb, Format::rg8_srgb, Format::rgba8_srgb}) {
        for (const std::size_t width : {1, 15, 16, 17, 256, 300}) {
            const Extent from{2 * width, 6};
            const Array array(Device::cpu(), {.format = format, .extent = from});
            upload(array.view(), any_bits(random, test::box_bytes(format, from)));
            SCOPED_TRACE(std::string(name(format)) + ", " + std::to_string(width));
            expect_resample<Area>({Texture(array), from, 1, format}, ResampleFilter::area, {width, 3}, {});
        }
    }
}

TEST(CpuResampleTest, BoxFilteredLevelsMatchTheFunctor) {
    Random random(9);
    std::vector<Format> formats(kFormats.begin(), kFormats.end());
    formats.insert(formats.end(), {Format::r8_srgb, Format::rg8_srgb});
    for (const Format format : formats) {
        for (const Extent extent : {Extent{64, 48}, Extent{1030, 6}, Extent{3, 3}, Extent{1, 300}}) {
            const ArrayInfo info{
                .format = format, .extent = extent, .kind = ArrayKind::layered_2d, .layers = 2, .levels = 2};
            SCOPED_TRACE(test::describe(info));
            const Array array(Device::cpu(), info);
            upload(array.view(), any_bits(random, test::box_bytes(format, test::level_box(info, 0))));
            const auto covered = [](std::size_t side) { return side == 1 ? 1 : side == 3 ? 3 : 2; };
            const Halved functor{covered(extent.width), covered(extent.height), true};
            const Stream stream(Device::cpu());
            make_mips(stream, array);
            stream.synchronize();
            const Bytes fast = download(array.view({.level = 1}));
            const Texture above(array, {.normalized_coordinates = true}, {.first_level = 0, .levels = 1});
            launch(stream, array.view({.level = 1}), functor, above);
            stream.synchronize();
            EXPECT_TRUE(same_bytes(fast, download(array.view({.level = 1}))));
        }
    }
}

}  // namespace
}  // namespace texton

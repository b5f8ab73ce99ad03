#pragma once
// Plain implementations of resampling, and comparisons of the CPU device's kernels with them. Results must be
// bit-identical.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <texton/array.h>
#include <texton/float_math.h>
#include <texton/launch.h>
#include <texton/linear.h>
#include <texton/resample.h>

#include "tests/support/scenes.h"

namespace texton::test {

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

/// A destination size and a part of the texture to resample.
struct Size {
    Extent extent;
    Crop crop;
};

/// Returns any size and part. Some parts reach beyond the edges.
inline Size random_size(Random& random, const Extent& from) {
    Size size{{random.between(1, 2 * from.width), random.between(1, 2 * from.height)}, {}};
    if (random.coin()) {
        size.extent = {(from.width + 1) / 2, (from.height + 1) / 2};
    } else if (random.coin()) {
        size.crop = {random.unit() * 9 - 6, random.unit() * 9 - 6, 1 + random.unit() * 60, 1 + random.unit() * 60};
    }
    return size;
}

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
        const Size to = random_size(random, scene.extent);
        compare_resample<Functor>(scene, filter, to.extent, to.crop, [&](const Make& fast, const Make& plain) {
            expect_same(scene, to.extent, fast, plain);
        });
    });
}

/// Steps between pixels that cover every method of loading texels, in rows of many vectors.
template <class Functor>
void expect_resamples_of_rows(ResampleFilter filter, Filter of_sampler, std::span<const Format> formats) {
    constexpr Extent kFrom{150, 6};
    constexpr std::array kSizes{
        Size{{75, 3}, {}},  Size{{75, 3}, {0.25f, 0.75f, 150, 6}}, Size{{75, 6}, {}},
        Size{{225, 9}, {}}, Size{{208, 9}, {0, 0.5f, 100.2f, 5}},  Size{{97, 5}, {-20.5f, -2, 190, 9}},
        Size{{50, 2}, {}},  Size{{33, 1}, {7, 1, 143, 5}},         Size{{101, 5}, {31, 1, 101, 5}}};
    Random random(4);
    for (const Format format : formats) {
        for (const Sampler& sampler : samplers(of_sampler)) {
            const Array array(Device::cpu(), {.format = format, .extent = kFrom});
            upload(array.view(), any_bits(random, box_bytes(format, kFrom)));
            for (const Size& size : kSizes) {
                SCOPED_TRACE("to " + std::to_string(size.extent.width) + ", address " +
                             std::to_string(static_cast<int>(sampler.address[0])));
                expect_resample<Functor>({Texture(array, sampler), kFrom, 1, format}, filter, size.extent, size.crop);
            }
        }
    }
}

/// Returns positive floats within three exponents for nearly all groups of pixels, with many ties among the sums, one
/// channel that is 0 in most rows, and a few odd values.
inline Bytes floats_alike_in_groups(Random& random, const Extent& extent) {
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

}  // namespace texton::test

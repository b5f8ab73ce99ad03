#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/copy.h>
#include <texton/float4.h>
#include <texton/linear.h>
#include <texton/sample.h>
#include <texton/texture.h>

#include "tests/support/arrays.h"

namespace texton::test {

using Colors = std::vector<Float4>;

/// Returns colors whose channels lie between `low` and `high`.
[[nodiscard]] inline Colors random_colors(Random& random, std::size_t count, float low = 0, float high = 1) {
    Colors colors(count);
    const auto one = [&] { return low + (high - low) * random.unit(); };
    for (Float4& color : colors) color = {one(), one(), one(), one()};
    return colors;
}

/// Creates an array of the given kind with these rgba32_float texels (packed).
[[nodiscard]] inline Array color_array(const Device& device, Extent extent, const Colors& colors,
                                       ArrayKind kind = ArrayKind::array_2d, std::size_t layers = 1) {
    Array array(device, {.format = Format::rgba32_float, .extent = extent, .kind = kind, .layers = layers});
    upload(array.view(), std::as_bytes(std::span(colors)));
    return array;
}

[[nodiscard]] inline Colors colors_of(const ConstView& image) {
    Colors colors(image.extent().width * image.extent().height * image.extent().depth);
    const Bytes bytes = download(image);
    EXPECT_EQ(bytes.size(), colors.size() * sizeof(Float4));
    std::memcpy(colors.data(), bytes.data(), bytes.size());
    return colors;
}

/// Returns the pixels of an rgba32_float image that `enqueue` writes.
[[nodiscard]] inline Colors made_colors(const Device& device, Extent extent,
                                        const std::function<void(const Stream&, const View&)>& enqueue) {
    const Linear memory(device, Format::rgba32_float, extent);
    const View image = memory.view(Format::rgba32_float, extent);
    const Stream stream(device);
    enqueue(stream, image);
    stream.synchronize();
    return colors_of(image);
}

/// Returns all texels of a 2D or layered texture, fetched one by one.
[[nodiscard]] inline Colors fetched_colors(const Texture& texture) {
    const Sampler& sampler = texture.sampler();
    const Extent extent = texture.extent();
    const float x_unit = sampler.normalized_coordinates ? 1.0f / static_cast<float>(extent.width) : 1.0f;
    const float y_unit = sampler.normalized_coordinates ? 1.0f / static_cast<float>(extent.height) : 1.0f;
    std::vector<FetchPoint> points;
    for (std::size_t z = 0; z < (is_layered(texture.kind()) ? texture.layers() : 1); ++z) {
        for (std::size_t y = 0; y < extent.height; ++y) {
            for (std::size_t x = 0; x < extent.width; ++x) {
                points.push_back({.x = (static_cast<float>(x) + 0.5f) * x_unit,
                                  .y = (static_cast<float>(y) + 0.5f) * y_unit,
                                  .layer = static_cast<std::int32_t>(z)});
            }
        }
    }
    Colors colors;
    for (const Texel& texel : sample(texture, points).texels)
        colors.push_back({texel.as_float(0), texel.as_float(1), texel.as_float(2), texel.as_float(3)});
    return colors;
}

/// Checks that each channel is within `bound` of the expected value (relative to the value if that is above 1). Names
/// the first channel that is not.
[[nodiscard]] inline testing::AssertionResult near_colors(const Colors& actual, const Colors& expected, double bound) {
    if (actual.size() != expected.size())
        return testing::AssertionFailure() << actual.size() << " colors instead of " << expected.size();
    for (std::size_t i = 0; i < actual.size(); ++i) {
        const float* is = &actual[i].x;
        const float* reference = &expected[i].x;
        for (std::size_t c = 0; c < 4; ++c) {
            const double error = std::abs(static_cast<double>(is[c]) - reference[c]);
            if (error <= bound * std::max(1.0, std::abs(static_cast<double>(reference[c])))) continue;
            return testing::AssertionFailure() << "color " << i << ", channel " << c << " is " << is[c]
                                               << " instead of " << reference[c] << ": difference " << error;
        }
    }
    return testing::AssertionSuccess();
}

}  // namespace texton::test

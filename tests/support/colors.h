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

/// Each channel from low to high.
[[nodiscard]] inline Colors random_colors(Random& random, std::size_t count, float low = 0, float high = 1) {
    Colors colors(count);
    const auto one = [&] { return low + (high - low) * random.unit(); };
    for (Float4& color : colors) color = {one(), one(), one(), one()};
    return colors;
}

/// An array of that kind that holds rgba32_float texels, packed.
[[nodiscard]] inline Array color_array(const Device& device, Extent extent, const Colors& colors,
                                       ArrayKind kind = ArrayKind::array_2d, std::size_t layers = 1) {
    Array array(device, {.format = Format::rgba32_float, .extent = extent, .kind = kind, .layers = layers});
    upload(array.view(), std::as_bytes(std::span(colors)));
    return array;
}

[[nodiscard]] inline Colors colors_of(const ConstView& picture) {
    Colors colors(picture.extent().width * picture.extent().height * picture.extent().depth);
    const Bytes bytes = download(picture);
    EXPECT_EQ(bytes.size(), colors.size() * sizeof(Float4));
    std::memcpy(colors.data(), bytes.data(), bytes.size());
    return colors;
}

/// What `enqueue` makes of an rgba32_float picture.
[[nodiscard]] inline Colors made_colors(const Device& device, Extent extent,
                                        const std::function<void(const Stream&, const View&)>& enqueue) {
    const Linear memory(device, Format::rgba32_float, extent);
    const View picture = memory.view(Format::rgba32_float, extent);
    const Stream stream(device);
    enqueue(stream, picture);
    stream.synchronize();
    return colors_of(picture);
}

/// All texels of a 2D or layered texture, by a fetch for each.
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

/// Each channel within `bound` of what it must be, or that much of it where it is above 1; the first that is not.
[[nodiscard]] inline testing::AssertionResult near_colors(const Colors& actual, const Colors& expected, double bound) {
    if (actual.size() != expected.size())
        return testing::AssertionFailure() << actual.size() << " colours instead of " << expected.size();
    for (std::size_t i = 0; i < actual.size(); ++i) {
        const float* is = &actual[i].x;
        const float* wanted = &expected[i].x;
        for (std::size_t c = 0; c < 4; ++c) {
            const double error = std::abs(static_cast<double>(is[c]) - wanted[c]);
            if (error <= bound * std::max(1.0, std::abs(static_cast<double>(wanted[c])))) continue;
            return testing::AssertionFailure() << "colour " << i << ", channel " << c << " is " << is[c]
                                               << " instead of " << wanted[c] << ": apart by " << error;
        }
    }
    return testing::AssertionSuccess();
}

}  // namespace texton::test

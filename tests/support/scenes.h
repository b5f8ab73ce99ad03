#pragma once
// Support for tests of the CPU device's specialized implementations of sampling functors: textures of every kind, and a
// check that two implementations produce bit-identical images.
#include <array>
#include <cstddef>
#include <functional>
#include <vector>

#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>

#include "arrays/texture_state.h"
#include "tests/support/arrays.h"
#include "tests/support/texels.h"

namespace texton::test {

/// The texture of a layered scene is read at the layer of the pixel.
template <class Source, class Position>
auto texel_at(const Source& source, bool layered, const Position& at, float x, float y) {
    return layered ? source.layer_at_texel(at.z, x, y) : source.at_texel(x, y);
}

template <class Source, class Position>
auto center_at(const Source& source, bool layered, const Position& at, int x, int y) {
    return texel_at(source, layered, at, static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f);
}

struct Scene {
    Texture texture;
    Extent extent;
    std::size_t layers;
    Format format;
    bool layered() const { return texture.kind() == ArrayKind::layered_2d; }
    /// Returns the texture as kernels read it that read whole texels.
    Texture texels() const { return detail::by_points(texture); }
};

/// Formats that the specialized implementations distinguish, and some that they leave to the functor.
inline constexpr std::array kFormats{
    Format::rgba8_unorm, Format::rg8_unorm,    Format::r8_unorm,   Format::rgba32_float, Format::r32_float,
    Format::rg32_float,  Format::rgba16_float, Format::rgba8_srgb, Format::rgba8_snorm,  Format::rgba16_unorm};

/// All address modes: two with unnormalized and two with normalized coordinates.
[[nodiscard]] std::vector<Sampler> samplers(Filter filter);

/// Returns random bits. As floats these include all magnitudes, infinities and NaN.
[[nodiscard]] Bytes any_bits(Random& random, std::size_t count);

/// Calls `check` for every format and address mode, with and without layers, for extents smaller than a tile and of
/// several tiles.
void on_every_scene(Filter filter, const std::function<void(const Scene&)>& check);

using Make = std::function<void(const Stream& stream, const View& image)>;

/// Returns all bytes of `whole` after `make` has written the image, which is a region of `whole`.
[[nodiscard]] Bytes made(const View& whole, const View& image, const Make& make);

/// Compares the two implementations, writing to a region of a larger image.
void expect_same(const View& whole, const Extent& extent, const Make& fast, const Make& plain);
/// Compares the two implementations, writing to memory of several formats and to an array.
void expect_same(const Scene& scene, Extent extent, const Make& fast, const Make& plain);

}  // namespace texton::test

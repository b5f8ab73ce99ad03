// Blending of textures, and the layers of a layered texture. The functor contains the weights of the layers, so they
// are passed in the arguments of the CUDA kernel.
#include <texton/layers.h>

#include <algorithm>
#include <array>

#include <texton/float_math.h>
#include <texton/launch.h>

#include "kernels/functors/pointwise.h"
#include "kernels/launch/registry.h"

namespace texton {
namespace {

constexpr const char* kBlend = "texton::blend";
constexpr const char* kLayer = "texton::layer";
constexpr const char* kLayerSum = "texton::layer_sum";

// --- blend -----------------------------------------------------------------------------------------------------------

TEXTON_HD inline float union_of(float bottom_alpha, float top_alpha) {
    return bottom_alpha + top_alpha - bottom_alpha * top_alpha;
}

/// Returns the color of two texels. Arguments and results are premultiplied.
TEXTON_HD inline Float4 blended(BlendMode mode, const Float4& bottom, const Float4& layer, float opacity) {
    if (mode == BlendMode::lerp) return mix(bottom, layer, opacity);
    const Float4 top = layer * opacity;
    if (mode == BlendMode::over) return top + bottom * (1.0f - top.w);
    if (mode == BlendMode::add) return bottom + top;
    if (mode == BlendMode::screen) return bottom + top - bottom * top;
    Float4 color = mode == BlendMode::multiply
                       ? bottom * top + top * (1.0f - bottom.w) + bottom * (1.0f - top.w)
                       : bottom + top - min(bottom * top.w, top * bottom.w) * 2.0f;  // difference
    color.w = union_of(bottom.w, top.w);
    return color;
}

template <BlendMode mode>
struct KnownMode {
    TEXTON_HD constexpr operator BlendMode() const { return mode; }
};

/// `Mode` is BlendMode, or a KnownMode.
template <class Mode>
struct Blend {
    static constexpr bool kPointwise = true;
    detail::PointwiseTexel bottom;
    detail::PointwiseTexel top;
    detail::PointwiseTexel mask;
    float opacity;
    Mode mode;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& below, const Source& above) const {
        return blended(mode, bottom.with_alpha(at, below), top.with_alpha(at, above), opacity);
    }
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& below, const Source& above,
                                const Source& shares) const {
        return blended(mode, bottom.with_alpha(at, below), top.with_alpha(at, above), mask(at, shares).x * opacity);
    }
};

/// Calls a function with the KnownMode of a mode.
template <class Action>
void with_known_mode(BlendMode mode, const Action& action) {
    switch (mode) {
        case BlendMode::over: return action(KnownMode<BlendMode::over>());
        case BlendMode::add: return action(KnownMode<BlendMode::add>());
        case BlendMode::multiply: return action(KnownMode<BlendMode::multiply>());
        case BlendMode::screen: return action(KnownMode<BlendMode::screen>());
        case BlendMode::difference: return action(KnownMode<BlendMode::difference>());
        case BlendMode::lerp: return action(KnownMode<BlendMode::lerp>());
    }
}

template <class... Masks>
void enqueue_blend(const Stream& stream, const View& image, const BlendOptions& options, const Texture& bottom,
                   const Texture& top, const Masks&... mask) {
    constexpr std::size_t kTextures = 2 + sizeof...(Masks);
    detail::check_range(kBlend, "opacity", options.opacity, 0, 1);
    const detail::PointwiseTexel below = detail::pointwise_texel(kBlend, image, "bottom", bottom);
    const detail::PointwiseTexel above = detail::pointwise_texel(kBlend, image, "top", top);
    detail::PointwiseTexel shares{};
    ((shares = detail::pointwise_texel(kBlend, image, "mask", mask)), ...);
    const std::array<Texture, kTextures> textures{bottom, top, mask...};
    detail::Launch launch(kBlend, stream, image, textures, detail::overlap_of<Blend<BlendMode>>());
    const auto functor = [&](auto mode) { return Blend<decltype(mode)>{below, above, shares, options.opacity, mode}; };
    if (options.mode == BlendMode::over) return detail::run<kTextures>(launch, functor(KnownMode<BlendMode::over>()));
    // On CUDA devices the other modes share their kernels, since the code of all formats and modes would be large.
    if (!launch.on_cpu()) return detail::run_for_cuda<kTextures>(launch, functor(options.mode));
    // The loops of the CPU device are only vectorized if the mode is known.
    with_known_mode(options.mode, [&](auto mode) { detail::run_for_cpu<kTextures>(launch, functor(mode)); });
}

// --- layers ----------------------------------------------------------------------------------------------------------

struct OneLayer {
    static constexpr bool kMayBeCalledWithZeros = true;
    std::int32_t layer;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        return source.layer_at_texel(layer, at.center_x(), at.center_y());
    }
};

struct TwoLayers {
    static constexpr bool kMayBeCalledWithZeros = true;
    std::int32_t first;
    float share;  // weight of the second layer

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        return mix(source.layer_at_texel(first, at.center_x(), at.center_y()),
                   source.layer_at_texel(first + 1, at.center_x(), at.center_y()), share);
    }
};

struct LayerSum {
    static constexpr bool kMayBeCalledWithZeros = true;
    static constexpr unsigned kPixels = 1;
    std::int32_t layers;
    float weight[kMaxSummedLayers];

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        Float4 sum{};
        for (std::int32_t i = 0; i < layers; ++i)
            sum += source.layer_at_texel(i, at.center_x(), at.center_y()) * weight[i];
        return sum;
    }
};

/// Throws Error{bad_argument} unless the texture is layered and the image has one slice of its size.
void check_layered(const char* object, const View& image, const Texture& texture) {
    detail::check_kind(object, "texture", texture, {ArrayKind::layered_2d});
    detail::check_same_size(object, image, "texture", texture);
    if (image.extent().depth != 1)
        detail::refuse_argument(object, "the destination image has " + std::to_string(image.extent().depth) + " slices",
                                "Pass an image with one slice.");
}

}  // namespace

// --- functions -------------------------------------------------------------------------------------------------------

void blend(const Stream& stream, const View& image, const Texture& bottom, const Texture& top,
           const BlendOptions& options) try {
    enqueue_blend(stream, image, options, bottom, top);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::blend");
}

void blend(const Stream& stream, const View& image, const Texture& bottom, const Texture& top, const Texture& mask,
           const BlendOptions& options) try {
    enqueue_blend(stream, image, options, bottom, top, mask);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::blend");
}

void layer(const Stream& stream, const View& image, const Texture& texture, float layer) try {
    check_layered(kLayer, image, texture);
    detail::check_range(kLayer, "layer", layer, 0, static_cast<double>(texture.layers() - 1));
    const float whole = floorf(layer);
    const auto first = static_cast<std::int32_t>(whole);
    if (layer == whole) return detail::launch_as(kLayer, stream, image, OneLayer{first}, texture);
    detail::check_floats(kLayer, "texture", texture);
    detail::launch_as(kLayer, stream, image, TwoLayers{first, layer - whole}, texture);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::layer");
}

void layer_sum(const Stream& stream, const View& image, const Texture& texture, std::span<const float> weights) try {
    check_layered(kLayerSum, image, texture);
    detail::check_floats(kLayerSum, "texture", texture);
    const std::size_t layers = texture.layers();
    detail::check_range(kLayerSum, "the texture's number of layers", static_cast<double>(layers), 1,
                        static_cast<double>(kMaxSummedLayers));
    LayerSum sum{static_cast<std::int32_t>(layers), {}};
    if (weights.empty()) {
        std::fill_n(sum.weight, layers, 1.0f / static_cast<float>(layers));
    } else {
        if (weights.size() != layers)
            detail::refuse_argument(kLayerSum,
                                    std::to_string(weights.size()) + " weights were passed, but the texture has " +
                                        std::to_string(layers) + " layers",
                                    "Pass one weight per layer, or none for the mean.");
        for (const float weight : weights) detail::check_finite(kLayerSum, "a weight", weight);
        std::copy(weights.begin(), weights.end(), sum.weight);
    }
    detail::launch_as(kLayerSum, stream, image, sum, texture);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::layer_sum");
}

// --- named kernels ---------------------------------------------------------------------------------------------------

namespace {

const std::vector<ArrayKind> kFlatOrLayered{ArrayKind::array_2d, ArrayKind::layered_2d};

std::vector<ParameterInfo> blend_parameters() {
    return {{.name = "mode",
             .kind = ParameterKind::choice,
             .summary = "how the premultiplied colors are combined",
             .standard = "over",
             .choices = {"over", "add", "multiply", "screen", "difference", "lerp"}},
            {.name = "opacity", .summary = "opacity of the top", .standard = 1.0, .lowest = 0, .highest = 1}};
}

BlendOptions blend_options(const Arguments& arguments) {
    return {arguments.choice<BlendMode>("mode"), static_cast<float>(arguments.number("opacity"))};
}

std::vector<ImageShape> like_bottom(const Arguments&, std::span<const Texture> inputs) {
    return {detail::shape_like(inputs[0])};
}

std::vector<ImageShape> one_layer_of(const Arguments&, std::span<const Texture> inputs) {
    ImageShape shape = detail::shape_like(inputs[0]);
    shape.extent.depth = 1;
    return {shape};
}

}  // namespace

Kernel detail::blend_kernel() {
    return {{"blend",
             "layers",
             "blends an image over another",
             {{"bottom", "lower image", kFlatOrLayered}, {"top", "upper image", kFlatOrLayered}},
             blend_parameters()},
            like_bottom,
            [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
               std::span<const Texture> inputs) {
                blend(stream, images[0], inputs[0], inputs[1], blend_options(arguments));
            }};
}

Kernel detail::blend_masked_kernel() {
    return {{"blend_masked",
             "layers",
             "blends an image over another, with the opacity of a mask",
             {{"bottom", "lower image", kFlatOrLayered},
              {"top", "upper image", kFlatOrLayered},
              {"mask", "image whose red channel is multiplied with the opacity of the top", kFlatOrLayered}},
             blend_parameters()},
            like_bottom,
            [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
               std::span<const Texture> inputs) {
                blend(stream, images[0], inputs[0], inputs[1], inputs[2], blend_options(arguments));
            }};
}

Kernel detail::layer_kernel() {
    return {{"layer",
             "layers",
             "copies a layer, or interpolates two adjacent layers",
             {{"layers", "layered image", {ArrayKind::layered_2d}}},
             {{.name = "layer",
               .summary = "number of the layer, counted from 0; 1.25 is 0.75 of layer 1 and 0.25 of layer 2",
               .standard = 0.0,
               .lowest = 0}}},
            one_layer_of,
            [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
               std::span<const Texture> inputs) {
                layer(stream, images[0], inputs[0], static_cast<float>(arguments.number("layer")));
            }};
}

Kernel detail::layer_sum_kernel() {
    return {{"layer_sum",
             "layers",
             "computes the weighted sum of all layers",
             {{"layers", "layered image whose layers are summed", {ArrayKind::layered_2d}}},
             {{.name = "weights",
               .kind = ParameterKind::numbers,
               .summary = "one weight per layer; an empty list gives the mean",
               .standard = std::vector<double>{}}}},
            one_layer_of,
            [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
               std::span<const Texture> inputs) {
                const std::vector<double>& numbers = arguments.numbers("weights");
                const std::vector<float> weights(numbers.begin(), numbers.end());
                layer_sum(stream, images[0], inputs[0], weights);
            }};
}

}  // namespace texton

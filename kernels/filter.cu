// Convolution, Gaussian blur, unsharp masking and the bilateral filter.
//
// Separable filters first sum along rows, into floats in scratch memory. The scratch memory has additional rows above
// and below the image: those that the sums along columns read beyond the edges. So the sampler defines the texels
// beyond all four edges in every address mode, and no intermediate value is rounded to the image's format.
#include <texton/filter.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <texton/launch.h>
#include <texton/linear.h>

#include "arrays/texture_state.h"
#include "kernels/functors/filter_functors.h"
#include "kernels/launch/dispatch.h"
#include "kernels/launch/launch_state.h"
#include "kernels/launch/registry.h"
#include "kernels/launch/scratch.h"

namespace texton {
namespace {

using namespace filters;

constexpr int kMaxRadius = kMaxWeights / 2;
constexpr int kMaxBilateralRadius = 64;

// --- separable filters ----------------------------------------------------------------------------------------------

/// Enqueues the first pass, which writes to scratch memory, and calls enqueue(functor of the second pass).
template <class Enqueue>
void in_two_passes(const detail::Launch& launch, const Separable& filter, const std::optional<Pool>& scratch,
                   const Enqueue& enqueue) {
    const detail::LaunchState& state = launch.state();
    Extent extent = state.image.extent;
    extent.height += static_cast<std::size_t>(2 * filter.down.radius);
    const Linear memory = detail::scratch_of(scratch, packed_bytes(Format::rgba32_float, extent), state.stream);
    detail::launch_as(state.object, state.stream, memory.view(Format::rgba32_float, extent),
                      Across{filter.texels, filter.down.radius, filter.across}, state.textures[0]);
    const SumsAcross sums{reinterpret_cast<const SumsAcross::Sum*>(memory.data()),
                          static_cast<std::int64_t>(extent.width), static_cast<std::int64_t>(extent.height)};
    enqueue(Down{sums, filter.down});
}

Separable separable(const char* object, const View& image, const Texture& texture, std::span<const float> across,
                    std::span<const float> down) {
    const NumberedTexels texels = detail::texels_of(object, image, texture);
    detail::check_floats(object, "texture", texture);
    return {texels, weights_of(across), weights_of(down)};
}

void convolve_as(const char* object, const Stream& stream, const View& image, const Texture& texture,
                 std::span<const float> across, std::span<const float> down, const std::optional<Pool>& scratch) {
    const Separable filter = separable(object, image, texture, across, down);
    const Texture texels = detail::by_points(texture);
    detail::Launch launch(object, stream, image, {&texels, 1}, detail::Overlap::allowed);
    if (detail::device_kernels(launch).convolve(launch, filter, nullptr)) return;
    in_two_passes(launch, filter, scratch, [&](const Down& functor) { detail::run<0>(launch, functor); });
}

std::vector<float> gaussian_weights_as(const char* object, float sigma, int radius) {
    detail::check_positive(object, "sigma", sigma);
    detail::check_range(object, "radius", radius, 0, kMaxRadius);
    if (radius == 0) {
        detail::check_range(object, "sigma", sigma, 0, kMaxRadius / 3.0);
        radius = static_cast<int>(std::ceil(3 * sigma));
    }
    std::vector<double> curve;
    double sum = 0;
    for (int i = -radius; i <= radius; ++i) {
        const double distance = i / static_cast<double>(sigma);
        curve.push_back(std::exp(-0.5 * distance * distance));
        sum += curve.back();
    }
    std::vector<float> weights;
    for (const double height : curve) weights.push_back(static_cast<float>(height / sum));
    return weights;
}

constexpr const char* kConvolve = "texton::convolve";
constexpr const char* kGaussian = "texton::gaussian";
constexpr const char* kUnsharp = "texton::unsharp";
constexpr const char* kBilateral = "texton::bilateral";

}  // namespace

void convolve(const Stream& stream, const View& image, const Texture& texture, std::span<const float> across,
              std::span<const float> down, const std::optional<Pool>& scratch) try {
    detail::check_weights(kConvolve, "across", across, kMaxWeights);
    detail::check_weights(kConvolve, "down", down, kMaxWeights);
    convolve_as(kConvolve, stream, image, texture, across, down, scratch);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::convolve");
}

std::vector<float> gaussian_weights(float sigma, int radius) try {
    return gaussian_weights_as("texton::gaussian_weights", sigma, radius);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::gaussian_weights");
}

void gaussian(const Stream& stream, const View& image, const Texture& texture, const GaussianOptions& options) try {
    const std::vector<float> weights = gaussian_weights_as(kGaussian, options.sigma, options.radius);
    convolve_as(kGaussian, stream, image, texture, weights, weights, options.scratch);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::gaussian");
}

void unsharp(const Stream& stream, const View& image, const Texture& texture, const UnsharpOptions& options) try {
    detail::check_finite(kUnsharp, "amount", options.amount);
    detail::check_range(kUnsharp, "threshold", options.threshold, 0, std::numeric_limits<float>::max());
    const std::vector<float> weights = gaussian_weights_as(kUnsharp, options.sigma, 0);
    const Separable filter = separable(kUnsharp, image, texture, weights, weights);
    const Sharpen sharpen{options.amount, options.threshold};
    const Texture texels = detail::by_points(texture);
    detail::Launch launch(kUnsharp, stream, image, {&texels, 1}, detail::overlap_of<Unsharp>());
    if (detail::device_kernels(launch).convolve(launch, filter, &sharpen)) return;
    in_two_passes(launch, filter, options.scratch, [&](const Down& blur) {
        detail::run<1>(launch, Unsharp{filter.texels, blur, sharpen});
    });
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::unsharp");
}

void bilateral(const Stream& stream, const View& image, const Texture& texture, const BilateralOptions& options) try {
    detail::check_positive(kBilateral, "sigma_space", options.sigma_space);
    detail::check_positive(kBilateral, "sigma_range", options.sigma_range);
    detail::check_range(kBilateral, "radius", options.radius, 0, kMaxBilateralRadius);
    int radius = options.radius;
    if (radius == 0) {
        detail::check_range(kBilateral, "sigma_space", options.sigma_space, 0, kMaxBilateralRadius / 2.0);
        radius = static_cast<int>(std::ceil(2 * options.sigma_space));
    }
    const NumberedTexels numbered = detail::texels_of(kBilateral, image, texture);
    detail::check_floats(kBilateral, "texture", texture);
    // If sigma is so small that the exponent is beyond the floats, the lowest float is used: then every difference
    // other than 0 gets the weight 0.
    const auto exponent = [](float sigma) {
        const double lowest = std::numeric_limits<float>::lowest();
        return static_cast<float>(std::max(lowest, -0.5 * std::numbers::log2e / (static_cast<double>(sigma) * sigma)));
    };
    const Bilateral filter{numbered, radius, exponent(options.sigma_space), exponent(options.sigma_range)};
    const Texture texels = detail::by_points(texture);
    detail::Launch launch(kBilateral, stream, image, {&texels, 1}, detail::Overlap::refused);
    if (!detail::device_kernels(launch).bilateral(launch, filter)) detail::run<1>(launch, filter);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::bilateral");
}

// --- named kernels ---------------------------------------------------------------------------------------------------

namespace {

using Enqueue = decltype(Kernel::enqueue);

Kernel filter_kernel(std::string name, std::string summary, std::vector<ParameterInfo> parameters, Enqueue enqueue) {
    KernelInfo info;
    info.name = std::move(name);
    info.group = "filter";
    info.summary = std::move(summary);
    info.inputs = {{"image", "image to filter", {ArrayKind::array_2d, ArrayKind::layered_2d}}};
    info.parameters = std::move(parameters);
    return {std::move(info), detail::shapes_like_input, std::move(enqueue)};
}

ParameterInfo sigma_parameter(const char* name, const char* summary, double standard) {
    return {.name = name, .summary = summary, .standard = standard, .lowest = 0};
}

ParameterInfo radius_parameter(const char* summary, double maximum) {
    return {.name = "radius",
            .kind = ParameterKind::integer,
            .summary = summary,
            .standard = 0.0,
            .lowest = 0,
            .highest = maximum};
}

ParameterInfo weights_parameter(const char* name, const char* summary) {
    return {.name = name,
            .kind = ParameterKind::numbers,
            .summary = summary,
            .standard = std::vector<double>{0.25, 0.5, 0.25}};
}

float number(const Arguments& arguments, const char* name) { return static_cast<float>(arguments.number(name)); }

std::vector<float> numbers(const Arguments& arguments, const char* name) {
    std::vector<float> floats;
    for (const double value : arguments.numbers(name)) floats.push_back(static_cast<float>(value));
    return floats;
}

}  // namespace

Kernel detail::convolve_kernel() {
    return filter_kernel("convolve", "convolves an image with weights for rows and for columns",
                         {weights_parameter("across", "weights from left to right; their number is odd"),
                          weights_parameter("down", "weights from top to bottom; their number is odd")},
                         [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
                            std::span<const Texture> inputs) {
                             convolve(stream, images[0], inputs[0], numbers(arguments, "across"),
                                      numbers(arguments, "down"));
                         });
}

Kernel detail::gaussian_kernel() {
    return filter_kernel(
        "gaussian", "blurs an image with a Gaussian",
        {sigma_parameter("sigma", "standard deviation, in texels", 1),
         radius_parameter("texels on each side that have weight; 0 means three times sigma, rounded up", kMaxRadius)},
        [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
           std::span<const Texture> inputs) {
            gaussian(stream, images[0], inputs[0], {number(arguments, "sigma"), arguments.integer("radius")});
        });
}

Kernel detail::unsharp_kernel() {
    return filter_kernel(
        "unsharp", "sharpens an image by adding its difference from a blurred image",
        {{.name = "amount", .summary = "factor of the difference", .standard = 1.0},
         sigma_parameter("sigma", "standard deviation of the blur, in texels", 1),
         {.name = "threshold",
          .summary = "channels that the blur changes by less than this stay unchanged",
          .standard = 0.0,
          .lowest = 0}},
        [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
           std::span<const Texture> inputs) {
            unsharp(stream, images[0], inputs[0],
                    {number(arguments, "amount"), number(arguments, "sigma"), number(arguments, "threshold")});
        });
}

Kernel detail::bilateral_kernel() {
    return filter_kernel(
        "bilateral", "blurs an image but keeps edges",
        {sigma_parameter("sigma_space", "standard deviation of the distance, in texels", 2),
         sigma_parameter("sigma_range", "standard deviation of the difference of values", 0.1),
         radius_parameter("texels on each side that have weight; 0 means two times sigma_space, rounded up",
                          kMaxBilateralRadius)},
        [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
           std::span<const Texture> inputs) {
            bilateral(
                stream, images[0], inputs[0],
                {number(arguments, "sigma_space"), number(arguments, "sigma_range"), arguments.integer("radius")});
        });
}

}  // namespace texton

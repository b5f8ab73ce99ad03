#pragma once
// How a kernel finds the implementation of its device.
//
// A kernel is defined by functors, which every device runs through run(). Where a device has a faster implementation that
// returns the same bits, it overrides a function of DeviceKernels:
//
//     detail::Launch launch(kMedian, stream, picture, {&texture, 1}, detail::Overlap::refused);
//     if (!detail::device_kernels(launch).median(launch, filter)) detail::run<1>(launch, filter);
//
// Each function enqueues `launch`, whose arguments have been checked, and returns true; or it returns false, has done nothing,
// and the caller runs the functor. A device of a new kind is one more class and one more case in device_kernels().
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <texton/color.h>
#include <texton/launch.h>
#include <texton/planar.h>

namespace texton::filters {
struct Bilateral;
template <int side>
struct Median;
struct Separable;
struct Sharpen;
}  // namespace texton::filters

namespace texton::mip {
struct Chain;
}  // namespace texton::mip

namespace texton::detail {

struct HistogramRange;
struct StatisticsSource;

/// Where the pixels along an axis fetch, in texels, and the weight of each fetch: all taps of the first pixel, then of the next.
struct LatticeAxis {
    std::size_t taps = 1;
    std::vector<float> places;
    std::vector<float> weights;  ///< empty: one tap, and the pixel is the fetch
};

/// Pixels that are sums of rows of fetches, sum over y of (sum over x of at_texel(x, y) * weight of x) * weight of y.
/// Either both axes have weights, or neither.
struct Lattice {
    LatticeAxis x;
    LatticeAxis y;
};

/// The texels along an axis that each pixel weighs: from first[i] on, by the weights from begin[i] to begin[i + 1].
struct BoxAxis {
    std::vector<std::int32_t> first;
    std::vector<std::uint32_t> begin{0};
    std::vector<float> weights;

    void reserve(std::size_t pixels) { first.reserve(pixels), begin.reserve(pixels + 1), weights.reserve(2 * pixels); }
    void add_weight(float weight) { weights.push_back(weight); }
    /// Ends a pixel: its weights are those added since the pixel before.
    void add_pixel(std::int32_t first_texel) {
        first.push_back(first_texel);
        begin.push_back(static_cast<std::uint32_t>(weights.size()));
    }
};

enum class BoxSum : std::uint8_t {
    of_products,  ///< the sum of texel * (weight of x * weight of y), without weights of 0, over the sum of weights
    of_rows       ///< the sum of (sum of texel * weight of x) * weight of y, over `total`
};

/// Pixels that are sums of a rectangle of texels each, row after row.
struct Boxes {
    BoxAxis x;
    BoxAxis y;
    BoxSum kind = BoxSum::of_products;
    float total = 0;
};

/// The implementations that a device has of its own. Without an override the functor runs.
class DeviceKernels {
public:
    /// Completes the checks of a launch with those of the device, and finds where the device writes.
    virtual void prepare(LaunchState&) const {}

    /// convolve() and gaussian(); with `sharpen`, unsharp(). The launch may overlap: then false.
    virtual bool convolve(Launch&, const filters::Separable&, const filters::Sharpen*) const { return false; }
    virtual bool median(Launch&, const filters::Median<3>&) const { return false; }
    virtual bool median(Launch&, const filters::Median<5>&) const { return false; }
    virtual bool bilateral(Launch&, const filters::Bilateral&) const { return false; }

    /// swizzle(): channel i of a pixel is channel from[i] of its own texel; from[i] = 4 is 0, and 5 is 1.
    virtual bool swizzle(Launch&, const std::uint8_t (&)[4]) const { return false; }
    /// Pixels whose red, green and blue are a function, which costs more than a table, of those of their own texel.
    virtual bool map_codes(Launch&, float (*)(float)) const { return false; }
    virtual bool color_matrix(Launch&, const ColorMatrix&) const { return false; }
    /// Red, green and blue times a number.
    virtual bool scale_colors(Launch&, float) const { return false; }

    virtual bool to_rgb(Launch&, const PlanarOptions&) const { return false; }
    /// from_rgb(): the launch of the luma plane and that of the chroma plane.
    virtual bool from_rgb(Launch&, Launch&, const PlanarOptions&) const { return false; }

    /// The lattice is made only by devices that use it.
    virtual bool fetch_lattice(Launch&, const std::function<Lattice()>&) const { return false; }
    virtual bool sum_boxes(Launch&, const std::function<Boxes()>&) const { return false; }
    /// make_mips(): a launch for each level that is left. Returns how many levels were enqueued, counted from the first.
    virtual std::size_t make_mips(std::span<Launch>, const mip::Chain&) const { return 0; }

    /// collect_statistics(): adds the texels to statistics that were cleared, in the image of the launch.
    virtual bool collect_statistics(Launch&, const StatisticsSource&, const HistogramRange&) const { return false; }

protected:
    ~DeviceKernels() = default;
};

/// The implementations of the launch's device.
[[nodiscard]] const DeviceKernels& device_kernels(const Launch& launch);

/// One for each kind of device.
[[nodiscard]] const DeviceKernels& cpu_kernels();
[[nodiscard]] const DeviceKernels& cuda_kernels();

}  // namespace texton::detail

#pragma once
// Dispatch of a kernel to the implementation of its device.
//
// A kernel is defined by functors, which every device executes with run(). A device that has a faster implementation
// with bit-identical results overrides a function of DeviceKernels:
//
//     detail::Launch launch(kMedian, stream, image, {&texture, 1}, detail::Overlap::refused);
//     if (!detail::device_kernels(launch).median(launch, filter)) detail::run<1>(launch, filter);
//
// The arguments of `launch` have been checked before. Each function either enqueues the launch and returns true, or
// does nothing and returns false; then the caller runs the functor. A new kind of device needs a class that derives
// from DeviceKernels and a case in device_kernels().
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <texton/color.h>
#include <texton/launch.h>
#include <texton/planar.h>

namespace texton {
struct Comparison;
struct ComparisonOptions;
}  // namespace texton

namespace texton::filters {
struct Bilateral;
template <int side>
struct Median;
struct Separable;
struct Sharpen;
}  // namespace texton::filters

namespace texton::lut {
struct Lut1d;
}  // namespace texton::lut

namespace texton::mip {
struct Chain;
}  // namespace texton::mip

namespace texton::resampling {
struct Separable;
}  // namespace texton::resampling

namespace texton::detail {

class Backend;
struct HistogramRange;
struct ImagePair;
struct KeyHalf;
struct StatisticsSource;

/// Coordinates, in texels, at which the columns and the rows of an image fetch: pixel (i, j) is at_texel(x[i], y[j]).
struct Lattice {
    std::vector<float> x;
    std::vector<float> y;
};

/// A warp: pixels that are each a single fetch of the first texture, at a coordinate that depends on the pixel's
/// position and on a fetch of the second texture, if there is one.
struct Warp {
    /// The coordinates of pixels of a row, in texels of the first texture.
    struct Row {
        static constexpr std::size_t kMax = 256;
        static constexpr std::size_t kStep = 64;  ///< pixels are computed in whole steps
        float x[kMax];
        float y[kMax];
        std::int32_t exists[kMax];  ///< 0: the pixel has the border color; as wide as a float for vectorized loops
    };
    /// The first two channels of fetches of the second texture, in whole steps. The last ones can be any numbers.
    struct MapRow {
        const float* x = nullptr;
        const float* y = nullptr;
    };
    /// Computes the coordinates of `count` pixels from `first` on. `map` has the fetches for these pixels. Returns
    /// whether all pixels exist; false if that is unknown.
    std::function<bool(PixelPosition first, std::size_t count, const MapRow& map, Row& row)> coordinates;
    float map_x = 1;  ///< texels of the second texture for each pixel, along x
    float map_y = 1;  ///< the same along y
    Float4 border;
};

/// The device-specific implementations of kernels. A function without an override returns false, and the functor runs.
class DeviceKernels {
public:
    /// Performs the device-specific checks of a launch and determines where the device writes.
    virtual void prepare(LaunchState&) const {}

    /// convolve() and gaussian(), or unsharp() if `sharpen` is not null. Returns false if the image may share memory
    /// with what the texture reads.
    virtual bool convolve(Launch&, const filters::Separable&, const filters::Sharpen*) const { return false; }
    virtual bool median(Launch&, const filters::Median<3>&) const { return false; }
    virtual bool median(Launch&, const filters::Median<5>&) const { return false; }
    virtual bool bilateral(Launch&, const filters::Bilateral&) const { return false; }

    /// swizzle(): channel i of a pixel is channel from[i] of the texel at the same position. from[i] = 4 means the
    /// constant 0, and 5 the constant 1.
    virtual bool swizzle(Launch&, const std::uint8_t (&)[4]) const { return false; }
    virtual bool color_matrix(Launch&, const ColorMatrix&) const { return false; }
    /// Multiplies red, green and blue by a number.
    virtual bool scale_colors(Launch&, float) const { return false; }

    /// lut_1d(): the second texture is the table.
    virtual bool look_up(Launch&, const lut::Lut1d&) const { return false; }

    /// The warps without minification. Only devices that use it call the function that creates the warp.
    virtual bool warp(Launch&, const std::function<Warp()>&) const { return false; }

    virtual bool to_rgb(Launch&, const PlanarOptions&) const { return false; }
    /// from_rgb(): the launch that writes the luma plane and the launch that writes the chroma plane.
    virtual bool from_rgb(Launch&, Launch&, const PlanarOptions&) const { return false; }

    /// Only devices that use the lattice call the function that computes it.
    virtual bool fetch_lattice(Launch&, const std::function<Lattice()>&) const { return false; }
    virtual bool resample(Launch&, const resampling::Separable&) const { return false; }
    /// make_mips(): one launch for each level that is not yet enqueued. Returns how many levels were enqueued, counted
    /// from the first.
    virtual std::size_t make_mips(std::span<Launch>, const mip::Chain&) const { return 0; }

    /// collect_statistics(): adds the texels to the statistics in the launch's image. The caller has cleared them.
    virtual bool collect_statistics(Launch&, const StatisticsSource&, const HistogramRange&) const { return false; }
    /// percentiles(): adds the texels to the KeyCounts in the launch's image. The caller has cleared them.
    virtual bool count_keys(Launch&, const StatisticsSource&, const KeyHalf&) const { return false; }

    /// compare(): writes the parts of the result that the options request. `result` has its peak and its channels.
    virtual bool compare(const ImagePair&, const ComparisonOptions&, const std::function<void(double)>& /*report*/,
                         Comparison& /*result*/) const {
        return false;
    }

protected:
    ~DeviceKernels() = default;
};

/// Returns the implementations of the launch's device.
[[nodiscard]] const DeviceKernels& device_kernels(const Launch& launch);
/// Returns the implementations of a device.
[[nodiscard]] const DeviceKernels& device_kernels(const Backend& backend);

/// The implementations of each kind of device.
[[nodiscard]] const DeviceKernels& cpu_kernels();
[[nodiscard]] const DeviceKernels& cuda_kernels();

}  // namespace texton::detail

#pragma once
// The kernels that have implementations of their own on the CPU device. kernels/launch/dispatch.h describes the
// functions.
#include "kernels/launch/dispatch.h"

namespace texton::detail {

class CpuKernels final : public DeviceKernels {
public:
    void prepare(LaunchState& launch) const override;

    bool convolve(Launch& launch, const filters::Separable& filter, const filters::Sharpen* sharpen) const override;
    bool median(Launch& launch, const filters::Median<3>& filter) const override;
    bool median(Launch& launch, const filters::Median<5>& filter) const override;
    bool bilateral(Launch& launch, const filters::Bilateral& filter) const override;

    bool swizzle(Launch& launch, const std::uint8_t (&from)[4]) const override;
    bool color_matrix(Launch& launch, const ColorMatrix& matrix) const override;
    bool scale_colors(Launch& launch, float by) const override;

    bool look_up(Launch& launch, const lut::Lut1d& lut) const override;

    bool warp(Launch& launch, const std::function<Warp()>& make) const override;

    bool to_rgb(Launch& launch, const PlanarOptions& options) const override;
    bool from_rgb(Launch& luma, Launch& chroma, const PlanarOptions& options) const override;

    bool fetch_lattice(Launch& launch, const std::function<Lattice()>& make) const override;
    bool resample(Launch& launch, const resampling::Separable& filter) const override;
    std::size_t make_mips(std::span<Launch> launches, const mip::Chain& chain) const override;

    bool collect_statistics(Launch& launch, const StatisticsSource& source, const HistogramRange& range) const override;
    bool count_keys(Launch& launch, const StatisticsSource& source, const KeyHalf& half) const override;
};

}  // namespace texton::detail

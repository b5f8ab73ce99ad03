#include "kernels/metrics/difference_sums.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace texton::detail {
namespace {

void finish(Difference& difference, double peak) {
    difference.rmse = std::sqrt(difference.mse);
    difference.psnr = 10 * std::log10(peak * peak / difference.mse);
}

}  // namespace

void DifferenceSums::add(const DifferenceSums& other) {
    differing += other.differing;
    rounded.add(other.rounded);
    for (std::size_t c = 0; c < channels.size(); ++c) {
        ChannelSums& to = channels[c];
        const ChannelSums& from = other.channels[c];
        to.differing += from.differing;
        to.max_ulp = std::max(to.max_ulp, from.max_ulp);
        to.max = std::max(to.max, from.max);
        to.differences.add(from.differences);
        to.squares.add(from.squares);
        for (std::size_t image = 0; image < 2; ++image) {
            to.nans[image] += from.nans[image];
            to.infinities[image] += from.infinities[image];
        }
    }
    for (std::size_t i = 0; i < histogram.size(); ++i) histogram[i] += other.histogram[i];
}

bool worse(const WorstTexel& one, const WorstTexel& other) {
    if (one.ulp != other.ulp) return one.ulp > other.ulp;
    if (one.difference != other.difference) return one.difference > other.difference;
    return std::tie(one.at.z, one.at.y, one.at.x) < std::tie(other.at.z, other.at.y, other.at.x);
}

void keep_worst(std::vector<WorstTexel>& worst, std::size_t count, const WorstTexel& texel) {
    if (worst.size() == count) {
        if (!worse(texel, worst.front())) return;
        std::pop_heap(worst.begin(), worst.end(), worse);
        worst.back() = texel;
    } else {
        worst.push_back(texel);
    }
    std::push_heap(worst.begin(), worst.end(), worse);
}

void finish_differences(const DifferenceSums& sums, const CodeFormat& format, std::size_t texels, Comparison& result) {
    const std::size_t channels = result.channels.size();
    const auto count = static_cast<double>(texels);
    Difference& all = result.all;
    all.differing = sums.differing;
    for (std::size_t c = 0; c < channels; ++c) {
        const ChannelSums& of_channel = sums.channels[c];
        const double divisor = format.divisor(c);
        Difference& channel = result.channels[c];
        channel.differing = of_channel.differing;
        channel.max_ulp = of_channel.max_ulp;
        channel.max = format.is_float() ? of_channel.max : of_channel.max_ulp / divisor;
        channel.mean = (sums.rounded.differences[c] + of_channel.differences.value()) / divisor / count;
        channel.mse = (sums.rounded.squares[c] + of_channel.squares.value()) / (divisor * divisor) / count;
        channel.nans = of_channel.nans;
        channel.infinities = of_channel.infinities;
        finish(channel, result.peak);
        all.max_ulp = std::max(all.max_ulp, channel.max_ulp);
        all.max = std::max(all.max, channel.max);
        all.mean += channel.mean / static_cast<double>(channels);
        all.mse += channel.mse / static_cast<double>(channels);
        for (std::size_t image = 0; image < 2; ++image) {
            all.nans[image] += channel.nans[image];
            all.infinities[image] += channel.infinities[image];
        }
    }
    finish(all, result.peak);
    result.worst = sums.worst;
    std::sort(result.worst.begin(), result.worst.end(), worse);
    result.ulp_histogram = sums.histogram;
    const std::size_t unequal = std::accumulate(sums.histogram.begin() + 1, sums.histogram.end(), std::size_t{0});
    result.ulp_histogram[0] = texels * channels - unequal;
}

}  // namespace texton::detail

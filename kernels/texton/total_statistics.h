#pragma once
#include <cstdint>

#include <texton/statistics.h>

namespace texton {

/// Statistics of images that are processed in parts, or of several images: the total of Statistics objects. Counts and
/// sums are exact for fewer than 2^40 texels. The order in which parts are added does not matter. Plain data: threads
/// may share a constant object.
struct TotalStatistics {
    static constexpr int kBins = Statistics::kBins;  ///< number of bins of a histogram

    std::uint64_t histogram[4][kBins] = {};  ///< numbers of finite values in each bin, as Statistics::histogram
    std::uint64_t finite[4] = {};            ///< number of finite values
    std::uint64_t nans[4] = {};              ///< number of NaNs
    std::uint64_t infinities[4] = {};        ///< number of infinite values, positive and negative

    /// Adds the statistics of further texels, of the same range of histograms.
    void add(const Statistics& part) noexcept;
    /// Adds the total of further parts, of the same range of histograms.
    void add(const TotalStatistics& parts) noexcept;

    /// Returns the lowest finite value, or plus infinity if there is none.
    float lowest(int channel) const noexcept { return extremes_.lowest(channel); }
    /// Returns the highest finite value, or minus infinity if there is none.
    float highest(int channel) const noexcept { return extremes_.highest(channel); }
    /// Returns the mean of the finite values, within 3 units in the last place of the true mean, or NaN if there is
    /// none. It has the bits of Statistics::mean() of all texels.
    float mean(int channel) const noexcept {
        return detail::mean_of_sum(sum_[channel], finite[channel], lowest(channel), highest(channel));
    }

private:
    template <class Part>
    void add_counts(const Part& part, const Statistics& extremes, const std::int64_t (&sum)[4][Statistics::kSumWords]);

    Statistics extremes_{};                            // of which only the keys are used
    std::int64_t sum_[4][Statistics::kSumWords] = {};  // as Statistics::sum; all words but the last are below 2^32
};

}  // namespace texton

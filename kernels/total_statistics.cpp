#include <texton/total_statistics.h>

#include <algorithm>

namespace texton {

template <class Part>
void TotalStatistics::add_counts(const Part& part, const Statistics& extremes,
                                 const std::int64_t (&sum)[4][Statistics::kSumWords]) {
    for (int c = 0; c < 4; ++c) {
        for (int bin = 0; bin < kBins; ++bin) histogram[c][bin] += part.histogram[c][bin];
        finite[c] += part.finite[c];
        nans[c] += part.nans[c];
        infinities[c] += part.infinities[c];
        extremes_.highest_key[c] = std::max(extremes_.highest_key[c], extremes.highest_key[c]);
        extremes_.lowest_key[c] = std::max(extremes_.lowest_key[c], extremes.lowest_key[c]);
        // The carry of each word goes to the next one, so that no word overflows.
        std::int64_t carry = 0;
        for (int i = 0; i < Statistics::kSumWords; ++i) {
            std::int64_t& word = sum_[c][i];
            word += sum[c][i] + carry;
            if (i + 1 == Statistics::kSumWords) break;
            carry = word >> 32;
            word &= 0xffffffff;
        }
    }
}

void TotalStatistics::add(const Statistics& part) noexcept { add_counts(part, part, part.sum); }
void TotalStatistics::add(const TotalStatistics& parts) noexcept { add_counts(parts, parts.extremes_, parts.sum_); }

}  // namespace texton

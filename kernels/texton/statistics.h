#pragma once
#include <cstddef>
#include <cstdint>

#include <texton/pixel_encode.h>
#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>

namespace texton {

/// What is known of the texels of a texture, a channel each; the same bits on every device, whichever texel comes
/// first.
///
/// The members are counts, the highest of numbers, and exact sums of integers: what other texels add may be added to
/// them. All zeros are the statistics of no texel.
struct Statistics {
    static constexpr int kBins = 256;

    std::uint32_t histogram[4][kBins];  ///< finite values; those outside of the range in the first or the last bin
    std::uint32_t finite[4];
    std::uint32_t nans[4];
    std::uint32_t infinities[4];

    /// Of the finite values; plus and minus infinity where there are none.
    TEXTON_HD float lowest(int channel) const {
        const std::uint32_t key = lowest_key[channel];
        return detail::float_of(key == 0 ? 0x7f800000u : bits_of_key(~key));
    }
    TEXTON_HD float highest(int channel) const {
        const std::uint32_t key = highest_key[channel];
        return detail::float_of(key == 0 ? 0xff800000u : bits_of_key(key));
    }
    /// Of the finite values, within 3 units of the last place of the true mean; NaN where there are none.
    TEXTON_HD float mean(int channel) const;

    /// Keys have the order of the floats; that of the lowest value is inverted.
    std::uint32_t highest_key[4];
    std::uint32_t lowest_key[4];
    /// The sum of the finite values: word i counts multiples of 2^(32 i - 149). A float is an integer of 24 bits times
    /// a power of two from 2^-149 on, and so a part of one word and of the next: no sum is rounded, and none of 2^31
    /// texels overflows.
    static constexpr int kSumWords = 9;
    std::int64_t sum[4][kSumWords];

private:
    TEXTON_HD static std::uint32_t bits_of_key(std::uint32_t key) { return key >> 31 ? key & 0x7fffffffu : ~key; }
};

struct StatisticsOptions {
    float low = 0;  ///< of the range that the bins of the histogram divide
    float high = 1;
};

/// Enqueues the statistics of a 2D texture, or of all layers of a layered one, at the first level that it reads: those
/// of the channels that its format has, and of no texel in the others. Integers count as floats. `memory` is a
/// Statistics: a row of at least as many bytes, at a multiple of 8, that the stream's device reaches.
///
/// Errors: bad_argument (a texture of another kind; a range that is empty or not finite; memory that is too short, not
/// aligned, pageable or an array), overflow (2^31 texels or more), overlap, wrong_device, released, not_mapped.
void collect_statistics(const Stream& stream, const View& memory, const Texture& texture,
                        const StatisticsOptions& options = {});
/// Waits for the stream. Errors: bad_argument (memory that is too short), and those of copy().
[[nodiscard]] Statistics read_statistics(const Stream& stream, const ConstView& memory);

// --- how the mean comes of the sum -----------------------------------------------------------------------------------

TEXTON_HD inline float Statistics::mean(int channel) const {
    if (finite[channel] == 0) return detail::float_of(0x7fc00000u);
    // Digits to base 2^32 of the sum's magnitude.
    std::uint32_t digit[kSumWords + 1];
    std::int64_t carry = 0;
    for (int i = 0; i < kSumWords; ++i) {
        const std::int64_t word = sum[channel][i] + carry;
        digit[i] = static_cast<std::uint32_t>(word);
        carry = word >> 32;
    }
    digit[kSumWords] = static_cast<std::uint32_t>(carry);
    const bool negative = carry < 0;
    std::uint64_t one = 1;
    for (int i = 0; i <= kSumWords && negative; ++i) {
        one += static_cast<std::uint32_t>(~digit[i]);
        digit[i] = static_cast<std::uint32_t>(one);
        one >>= 32;
    }
    // The first digit that is not 0 and the next are more than a float holds.
    int first = kSumWords;
    while (first > 1 && digit[first] == 0) --first;
    const std::uint64_t leading = static_cast<std::uint64_t>(digit[first]) << 32 | digit[first - 1];
    float mean = static_cast<float>(leading) / static_cast<float>(finite[channel]);
    // In two steps, since 2^-149 is no normal float.
    const int exponent = 32 * (first - 1) - 149;
    const int half = exponent / 2;
    mean = mean * detail::float_of(static_cast<std::uint32_t>(127 + half) << 23) *
           detail::float_of(static_cast<std::uint32_t>(127 + exponent - half) << 23);
    if (negative) mean = -mean;
    // Rounded, it must not lie outside.
    if (mean < lowest(channel)) return lowest(channel);
    return mean > highest(channel) ? highest(channel) : mean;
}

}  // namespace texton

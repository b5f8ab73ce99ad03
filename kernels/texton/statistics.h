#pragma once
#include <cstddef>
#include <cstdint>

#include <texton/pixel_encode.h>
#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>

namespace texton {

/// Statistics of the texels of a texture, for each channel. Every device computes the same bits, in whichever order it
/// reads the texels.
///
/// The members are counts, maxima of keys and exact sums of integers, so further texels can be added to them in any
/// order. If all bytes are 0, they are the statistics of no texels. Plain data: threads may share a constant object.
struct Statistics {
    static constexpr int kBins = 256;  ///< number of bins of a histogram

    /// Numbers of finite values in each bin. Values outside the range are counted in the first or the last bin.
    std::uint32_t histogram[4][kBins];
    std::uint32_t finite[4];      ///< number of finite values
    std::uint32_t nans[4];        ///< number of NaNs
    std::uint32_t infinities[4];  ///< number of infinite values, positive and negative

    /// Returns the lowest finite value, or plus infinity if there is none.
    TEXTON_HD float lowest(int channel) const {
        const std::uint32_t key = lowest_key[channel];
        return detail::float_of(key == 0 ? 0x7f800000u : bits_of_key(~key));
    }
    /// Returns the highest finite value, or minus infinity if there is none.
    TEXTON_HD float highest(int channel) const {
        const std::uint32_t key = highest_key[channel];
        return detail::float_of(key == 0 ? 0xff800000u : bits_of_key(key));
    }
    /// Returns the mean of the finite values, within 3 units in the last place of the true mean, or NaN if there is
    /// none.
    TEXTON_HD float mean(int channel) const;

    std::uint32_t highest_key[4];        ///< key of the highest value; keys have the order of the floats
    std::uint32_t lowest_key[4];         ///< inverted key of the lowest value, so that it is a maximum too
    static constexpr int kSumWords = 9;  ///< number of 64-bit words of a sum
    /// The sum of the finite values: word i counts multiples of 2^(32 i - 149). A float is a 24-bit integer times a
    /// power of two that is at least 2^-149, so it adds to one word and to the next. No sum is rounded, and sums of
    /// fewer than 2^31 texels do not overflow.
    std::int64_t sum[4][kSumWords];

private:
    TEXTON_HD static std::uint32_t bits_of_key(std::uint32_t key) { return key >> 31 ? key & 0x7fffffffu : ~key; }
};

/// Options of collect_statistics(). The bins of the histogram divide the range from `low` to `high` into equal parts.
struct StatisticsOptions {
    float low = 0;   ///< lower end of the range
    float high = 1;  ///< upper end of the range
};

/// Enqueues the computation of the statistics of a 2D texture, or of all layers of a layered 2D texture, at its first
/// level. Texels are read exactly, whichever filter the sampler has. Channels that the format lacks have the statistics
/// of no texels. Integers are converted to floats.
///
/// `memory` receives a Statistics object: one row of at least sizeof(Statistics) bytes, aligned to 8 bytes, that the
/// stream's device can access. The call fills it with zeros first. The call returns without waiting for the work. The
/// caller must keep `memory` and the memory that the texture reads until the work is done. Several threads may call
/// this function at once.
///
/// Throws
/// - Error{bad_argument} if the texture is of another kind, if the range is empty or not finite, or if `memory` is too
///   short, not aligned, pageable or an array,
/// - Error{overflow} if the texture has 2^31 texels or more,
/// - Error{overlap} if `memory` shares memory with what the texture reads,
/// - Error{wrong_device}, Error{released} and Error{not_mapped}, as launch().
///
/// These errors, except Error{not_mapped}, are thrown before work is enqueued. If Error{not_mapped} or an error of the
/// device is thrown, `memory` may have been filled with zeros.
void collect_statistics(const Stream& stream, const View& memory, const Texture& texture,
                        const StatisticsOptions& options = {});
/// Copies the statistics to the host and returns them. Enqueues the copy on the stream and waits for all work on the
/// stream, so the call cannot be recorded into a graph. Several threads may call this function at once.
///
/// Throws Error{bad_argument} if `memory` is too short, not aligned or an array, and the errors of copy().
[[nodiscard]] Statistics read_statistics(const Stream& stream, const ConstView& memory);

// --- computation of the mean from the sum ----------------------------------------------------------------------------

namespace detail {

/// Returns the mean of `count` values from their sum in words, between the lowest and the highest value.
TEXTON_HD inline float mean_of_sum(const std::int64_t (&sum)[Statistics::kSumWords], std::uint64_t count, float lowest,
                                   float highest) {
    constexpr int kSumWords = Statistics::kSumWords;
    if (count == 0) return float_of(0x7fc00000u);
    // Compute the digits of the sum in base 2^32, then negate them if the sum is negative.
    std::uint32_t digit[kSumWords + 1];
    std::int64_t carry = 0;
    for (int i = 0; i < kSumWords; ++i) {
        const std::int64_t word = sum[i] + carry;
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
    // The first digit that is not 0 and the next digit have more bits than a float.
    int first = kSumWords;
    while (first > 1 && digit[first] == 0) --first;
    const std::uint64_t leading = static_cast<std::uint64_t>(digit[first]) << 32 | digit[first - 1];
    float mean = static_cast<float>(leading) / static_cast<float>(count);
    // Scale in two steps, since 2^-149 is not a normal float.
    const int exponent = 32 * (first - 1) - 149;
    const int half = exponent / 2;
    mean = mean * float_of(static_cast<std::uint32_t>(127 + half) << 23) *
           float_of(static_cast<std::uint32_t>(127 + exponent - half) << 23);
    if (negative) mean = -mean;
    // Rounding must not move the mean outside the range of the values.
    if (mean < lowest) return lowest;
    return mean > highest ? highest : mean;
}

}  // namespace detail

TEXTON_HD inline float Statistics::mean(int channel) const {
    return detail::mean_of_sum(sum[channel], finite[channel], lowest(channel), highest(channel));
}

}  // namespace texton

// Vector code for rows of texels that are not packed, and for rows of ordered codes.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <texton/format.h>

namespace texton::detail {

/// Sums over the distances of two images' codes. All of them are exact.
struct CodeDistances {
    std::array<std::uint64_t, 4> differing{};  ///< number of distances of a channel that are not 0
    std::array<std::uint64_t, 4> sum{};        ///< sum of the distances of a channel
    std::array<std::uint64_t, 4> squares{};    ///< sum of their squares
    std::array<std::uint32_t, 4> largest{};    ///< largest distance of a channel
    std::array<std::uint64_t, 16> at_least{};  ///< [k]: number of distances of all channels that are 2^k or more
    std::uint64_t texels = 0;                  ///< number of texels with a distance that is not 0
};

/// Maximum number of texels of add_distances().
inline constexpr std::size_t kMaxDistances = 1024;

/// Adds the distances between the codes of `count` texels with 1, 2 or 4 channels, of which only the first `compared`
/// are compared. Writes the distances, those of other channels as 0, and returns the largest. `distances` has room for
/// 4 * kMaxDistances values.
std::uint32_t add_distances(const std::uint32_t* a, const std::uint32_t* b, std::size_t count, std::size_t channels,
                            std::size_t compared, CodeDistances& sums, std::uint32_t* distances);

/// Sums over the differences of two images' finite floats, by channel.
struct FloatDifferences {
    std::array<std::uint64_t, 4> differing{};  ///< number of ulp distances that are not 0
    std::array<std::uint32_t, 4> largest{};    ///< largest ulp distance
    std::array<double, 4> max{};               ///< largest difference
    std::array<std::uint64_t, 33>
        histogram{};           ///< ulp distances of all channels, by their bits; without those that are 0
    std::uint64_t texels = 0;  ///< number of texels with a distance that is not 0
};

/// The largest differences of texels.
struct LargestDifference {
    std::uint32_t ulp;
    double difference;
};

/// Adds the differences of `count` texels, a multiple of kSegmentLanes and at most kMaxDistances, whose codes are finite and
/// have `bits` bits, with 1, 2 or 4 channels, of which the first `compared` are compared. The differences and their squares
/// are added to the sums of kSegmentLanes texels, of which the first texel has the first one. Writes the ulp distances, those
/// of other channels as 0.
LargestDifference add_differences(const std::uint32_t* a, const std::uint32_t* b, std::size_t count, int bits,
                                  std::size_t channels, std::size_t compared, FloatDifferences& sums,
                                  double* differences, double* squares, std::uint32_t* distances);

/// Returns true if all codes of a float format are finite.
[[nodiscard]] bool are_finite(const std::uint32_t* codes, std::size_t count, int bits);

/// Writes ordered_code() of `count` channels with 8, 16 or 32 bits, which follow each other.
void codes_of_channels(FormatKind kind, int bits, const std::byte* channels, std::size_t count, std::uint32_t* codes);

/// How texels that are not packed become values: those of CodeFormat::finite_value().
struct StoredValues {
    FormatKind kind;
    int bits;                           ///< of a channel: 8, 16, or 32 if the format is a float format
    std::size_t channels;               ///< 1, 2 or 4
    std::array<std::int32_t, 4> zeros;  ///< codes of 0
    std::array<float, 4> factors;       ///< of a code's distance from the code of 0
    double scale;                       ///< of floats
};

/// Writes the values of the first `values.size()` channels of `count` texels. Returns the number of texels that it has
/// written: `count`, or 0 if they are too few for vectors.
[[nodiscard]] std::size_t values_of_texels(const StoredValues& stored, const std::byte* texels, std::size_t count,
                                           std::span<float* const> values);

}  // namespace texton::detail

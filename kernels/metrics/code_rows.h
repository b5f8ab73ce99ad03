// Vector code for rows of texels that are not packed, and for rows of ordered codes of at most 16 bits, which is what all
// formats have except floats and 32-bit integers.
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

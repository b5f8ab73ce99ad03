#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <texton/view.h>

namespace texton {

// How two pictures differ: where, by how many steps of their format, and how much of it people see.
//
// A channel is compared as it is stored. unorm reads as 0 to 1, snorm as -1 to 1, integers and floats as themselves; sRGB as
// code / 255, not as light. The ulp distance of two values counts the values of the format from one to the other: codes of
// integers and normalized formats, floats otherwise. 0 and -0 are equal; so are NaNs, whatever their bits, and snorm's two
// codes of -1. From NaN to a number the distance is kFarthest.

inline constexpr std::uint32_t kFarthest = UINT32_MAX;

/// Of one channel, or of all together.
struct Difference {
    std::size_t differing = 0;  ///< texels; of all: those with any channel that differs
    std::uint32_t max_ulp = 0;
    double max = 0;   ///< largest absolute difference; infinite if NaN or infinity stands against something else
    double mean = 0;  ///< of the absolute differences
    double mse = 0;   ///< of all: mean of the channels
    double rmse = 0;
    double psnr = 0;  ///< dB, of `peak`; infinite if all is equal
    /// Of all: of luma, .299 R + .587 G + .114 B, if three channels and more are compared, else the mean of the channels. None if not asked.
    std::optional<double> ssim{};
    std::array<std::size_t, 2> nans{};        ///< in a and in b
    std::array<std::size_t, 2> infinities{};  ///< in a and in b
    bool operator==(const Difference&) const = default;
};

/// A texel that differs, and what it reads as in both.
struct WorstTexel {
    Offset at;
    std::uint32_t ulp = 0;  ///< largest of its channels
    double difference = 0;  ///< largest absolute one of its channels
    std::array<double, 4> a{};
    std::array<double, 4> b{};
    bool operator==(const WorstTexel&) const = default;
};

/// What people see, 0 (nothing) to 1, in the order of the texels.
struct Flip {
    double mean = 0;
    double max = 0;
    std::vector<float> errors;
    /// Float pictures are compared at several exposures, in stops, evenly from the first to the last.
    int exposures = 1;
    double first_exposure = 0;
    double last_exposure = 0;
    bool operator==(const Flip&) const = default;
};

struct Comparison {
    double peak = 1;                   ///< what PSNR and SSIM take for the range of a channel
    std::vector<Difference> channels;  ///< as many as the format has, or as were asked for
    Difference all;
    /// Channels of texels by ulp distance: [0] is 0, [n] is 2^(n-1) to 2^n - 1.
    std::array<std::size_t, 33> ulp_histogram{};
    std::vector<WorstTexel> worst;  ///< by ulp, then difference, then position
    std::optional<Flip> flip{};
    bool operator==(const Comparison&) const = default;
};

struct ComparisonOptions {
    bool ssim = true;
    bool flip = false;
    std::size_t worst = 10;    ///< how many texels to name
    std::size_t channels = 4;  ///< the first of them: 3 leaves out the alpha that a picture of three was given
    /// Range of a channel. By itself the largest less the smallest value of integers, 1 of unorm and sRGB, 2 of snorm, 1 of
    /// floats.
    std::optional<double> peak{};
    double pixels_per_degree = 67.0206;  ///< FLIP: 3840 pixels on 0.7 m, seen from 0.7 m
    /// Called now and then with what is done, 0 to 1; by one thread at a time, whichever.
    std::function<void(double)> progress{};
};

/// Compares b with a, the reference, in host memory. Slices of volumes are pictures of their own to SSIM and FLIP. The result
/// is the same to the bit for any number of threads.
///
/// SSIM is that of Wang et al. 2004: 11 x 11 Gaussian windows, sigma 1.5, K1 0.01, K2 0.03, wherever they fit whole; a picture
/// less than 11 wide or high has a window of its own side. FLIP is that of Andersson et al. 2020, and for float formats, taken
/// as linear light, of 2021 (with the ACES curve). Its colour is the first three channels, grey if there is one; what is not
/// float is taken as sRGB, scaled to 0 to 1. Where not a number, or infinity, stands against something else, FLIP is 1; SSIM
/// takes them as 0.
///
/// Throws Error{bad_argument} if format or extent are not the same, if the format is block-compressed or planar, or if a view is
/// not in host memory.
[[nodiscard]] Comparison compare(const ConstView& a, const ConstView& b, const ComparisonOptions& options = {});

/// For each texel the largest ulp distance of its channels. Throws as compare().
[[nodiscard]] std::vector<std::uint32_t> ulp_distances(const ConstView& a, const ConstView& b);

/// What a view in host memory reads as, as above: four floats a texel; 0 and alpha 1 for channels that it lacks. For pictures
/// of unlike formats. Throws Error{bad_argument} as compare().
[[nodiscard]] std::vector<float> read_channels(const ConstView& view);

// Maps to look at: a texel of rgba8_unorm for each value, from black over purple and orange to pale yellow.

/// 0 is black, 1 far brighter, 65536 and more as bright as can be: the same colours in every map.
[[nodiscard]] std::vector<std::byte> ulp_map(std::span<const std::uint32_t> distances);
/// 0 to 1.
[[nodiscard]] std::vector<std::byte> heat_map(std::span<const float> errors);

}  // namespace texton

#pragma once
// Comparison of two images, in host memory or on a device: differences in steps of the format, SSIM and FLIP.
//
// Channels are compared as they are stored. unorm values are 0 to 1, snorm values are -1 to 1, integers and floats are
// themselves, and sRGB values are code / 255, not linear light. The ulp distance of two values is the number of steps
// from one to the other: steps of the code for integers and normalized formats, steps between consecutive floats
// otherwise. 0 and -0 are equal, all NaNs are equal, and the two snorm codes of -1 are equal. The distance from NaN to
// a number is kFarthest.
//
// All functions block until the result is complete and keep no state. Several threads may call them at once. Functions
// without a stream use all cores, and do not wait for work on streams: the caller must wait for pending writes to the
// texels first.
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <texton/stream.h>
#include <texton/view.h>

namespace texton {

/// Ulp distance from NaN to a number.
inline constexpr std::uint32_t kFarthest = UINT32_MAX;

/// Difference of one channel, or of all compared channels combined.
struct Difference {
    std::size_t differing = 0;  ///< number of texels that differ; combined: texels with any channel that differs
    std::uint32_t max_ulp = 0;  ///< largest ulp distance
    double max = 0;   ///< largest absolute difference; infinite if a NaN or an infinity is compared with another value
    double mean = 0;  ///< mean absolute difference; combined: mean of the channels
    double mse = 0;   ///< mean squared error; combined: mean of the channels
    double rmse = 0;  ///< square root of `mse`
    double psnr = 0;  ///< peak signal-to-noise ratio in dB, relative to `peak`; infinite if all values are equal
    /// Structural similarity; empty if it was not requested. Combined: of luma, .299 R + .587 G + .114 B, if at least
    /// three channels are compared, otherwise the mean of the channels.
    std::optional<double> ssim{};
    std::array<std::size_t, 2> nans{};                   ///< number of NaN values in a and in b
    std::array<std::size_t, 2> infinities{};             ///< number of infinite values in a and in b
    bool operator==(const Difference&) const = default;  ///< Returns true if all members are equal.
};

/// A texel that differs, with its values in both images.
struct WorstTexel {
    Offset at;                                           ///< position of the texel
    std::uint32_t ulp = 0;                               ///< largest ulp distance of its channels
    double difference = 0;                               ///< largest absolute difference of its channels
    std::array<double, 4> a{};                           ///< values in the reference
    std::array<double, 4> b{};                           ///< values in the compared image
    bool operator==(const WorstTexel&) const = default;  ///< Returns true if all members are equal.
};

/// Result of FLIP, a metric of the perceived difference between images: 0 means none, 1 is the maximum.
struct Flip {
    double mean = 0;  ///< mean over all texels
    double max = 0;   ///< maximum over all texels
    /// Perceived difference of each texel, in the order of the texels. Empty if ComparisonOptions::flip_errors is false.
    std::vector<float> errors;
    /// Number of exposures. Float images are compared at several exposures, which are evenly spaced from the first to
    /// the last; the result is the largest difference.
    int exposures = 1;
    double first_exposure = 0;                     ///< lowest exposure, in stops
    double last_exposure = 0;                      ///< highest exposure, in stops
    bool operator==(const Flip&) const = default;  ///< Returns true if all members are equal.
};

/// Result of compare().
struct Comparison {
    double peak = 1;                   ///< range of a channel that PSNR and SSIM use
    std::vector<Difference> channels;  ///< one per compared channel
    Difference all;                    ///< all compared channels combined
    /// Number of compared values by ulp distance; each compared channel of a texel is a value. [0] counts distance 0,
    /// [n] counts distances 2^(n-1) to 2^n - 1.
    std::array<std::size_t, 33> ulp_histogram{};
    std::vector<WorstTexel> worst;  ///< worst first: by ulp distance, then difference, then position
    std::optional<Flip> flip{};     ///< empty if it was not requested
    bool operator==(const Comparison&) const = default;  ///< Returns true if all members are equal.
};

/// Options of compare().
struct ComparisonOptions {
    bool ssim = true;          ///< computes SSIM
    bool flip = false;         ///< computes FLIP
    bool flip_errors = true;   ///< returns the errors of FLIP of each texel, and not only their mean and maximum
    std::size_t worst = 10;    ///< maximum number of worst texels
    std::size_t channels = 4;  ///< compares only this many channels; 3 excludes alpha; at least 1
    /// Range of a channel for PSNR and SSIM, finite and above 0. The default is the largest minus the smallest value
    /// for integers, 1 for unorm and sRGB, 2 for snorm and 1 for floats.
    std::optional<double> peak{};
    double pixels_per_degree = 67.0206;  ///< for FLIP, 1 to 1000; the default is 3840 pixels on 0.7 m, seen from 0.7 m
    /// Called repeatedly with the completed fraction of the work, 0 to 1. Any worker thread may call it, but only one
    /// at a time. compare() stops and rethrows an exception that this function throws.
    std::function<void(double)> progress{};
};

/// Compares image b with the reference a, both in host memory. Each slice of a volume is a separate image for SSIM and
/// FLIP. The result is bit-identical for any number of threads.
///
/// SSIM follows Wang et al. 2004: 11 x 11 Gaussian windows with sigma 1.5, K1 0.01 and K2 0.03, at all positions where
/// they fit completely. If an image is less than 11 wide or high, the window has the image's width or height.
///
/// FLIP follows Andersson et al. 2020, and 2021 (with the ACES curve) for float formats, which are read as linear
/// light. The color is the first three channels, or gray if there is one channel. Values of other formats are divided
/// by the largest value, clamped to 0 to 1 and read as sRGB. Where a NaN or an infinity is compared with another value,
/// FLIP is 1. SSIM treats NaN and infinity as 0.
///
/// Throws Error{bad_argument} if
/// - the formats or the extents differ,
/// - the format is block-compressed or planar,
/// - a view is empty or not in host memory,
/// - an option is out of its range.
[[nodiscard]] Comparison compare(const ConstView& a, const ConstView& b, const ComparisonOptions& options = {});
/// Compares image b with the reference a on the device of the stream, after the work that is enqueued on the stream.
/// The images can be in memory of any kind, arrays included. Arrays, host memory and memory of another device are first
/// copied to memory from the current pool of the device; other memory is read where it is.
///
/// Every device computes the same bits, except FLIP, whose errors differ by rounding.
///
/// Throws
/// - Error{bad_argument} as compare() without a stream, except for the kind of memory,
/// - Error{overflow} if a CUDA device has to compare 2^32 texels or more,
/// - the errors of copy(),
/// - Error{capturing} while the calling thread records a graph.
[[nodiscard]] Comparison compare(const Stream& stream, const ConstView& a, const ConstView& b,
                                 const ComparisonOptions& options = {});

/// Returns the largest ulp distance of the channels of each texel. Throws Error{bad_argument} for the same views as
/// compare().
[[nodiscard]] std::vector<std::uint32_t> ulp_distances(const ConstView& a, const ConstView& b);

/// Returns the values of a view in host memory as four floats per texel. Channels that the format lacks are 0, alpha is
/// 1. Use it to compare images of different formats. Throws Error{bad_argument} if the format is block-compressed or
/// planar, or if the view is empty or not in host memory.
[[nodiscard]] std::vector<float> read_channels(const ConstView& view);

// Color maps of differences: one texel of rgba8_unorm per value, from black over purple and orange to pale yellow.

/// Returns a color map of ulp distances. 0 is black, 1 is much brighter, and 65536 or more have the brightest color.
/// All maps use the same colors, so they can be compared with each other.
[[nodiscard]] std::vector<std::byte> ulp_map(std::span<const std::uint32_t> distances);
/// Returns a color map of errors from 0 to 1.
[[nodiscard]] std::vector<std::byte> heat_map(std::span<const float> errors);

}  // namespace texton

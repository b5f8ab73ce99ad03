#pragma once
// Timeline of loading an image: bars for decoding, conversion, waiting in pinned memory, copying to the device, and for
// the kernel that ran afterwards.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <texton/device.h>
#include <texton/image_load.h>

#include "viewer/model/cancellation.h"

namespace texton::viewer {

/// The activities of a timeline; each has a row of bars.
enum class TimelineLane : std::uint8_t {
    decode,   ///< reading and decoding a part into a pinned buffer
    convert,  ///< conversion to the requested format and layout; drawn at the end of the decoding time
    staging,  ///< waiting in the pinned buffer until the copy begins
    copy,     ///< copying to the device, by the clock of the device
    kernel    ///< running the kernel
};

inline constexpr std::array kTimelineLanes{TimelineLane::decode, TimelineLane::convert, TimelineLane::staging,
                                           TimelineLane::copy, TimelineLane::kernel};

[[nodiscard]] std::string_view name(TimelineLane lane) noexcept;

/// A bar of the timeline. Times are in milliseconds since the load began.
struct TimelineBar {
    TimelineLane lane = TimelineLane::decode;
    std::size_t part = 0;  ///< index of the part, in the order of loading
    double begin = 0;
    double end = 0;
    std::size_t bytes = 0;
    bool operator==(const TimelineBar&) const = default;

    /// Returns the rate in GB/s, or 0 if the duration is too short to measure.
    double rate() const noexcept;
};

/// All bars of a load.
struct Timeline {
    std::vector<TimelineBar> bars;  ///< part by part; the kernel is last
    double total = 0;               ///< end of the last bar, in milliseconds
    std::size_t bytes = 0;          ///< bytes that were copied

    /// Returns the milliseconds during which the lane has at least one bar.
    double busy(TimelineLane lane) const;
    /// Returns the rate of the lane in GB/s while it was busy, or 0 for the kernel.
    double rate(TimelineLane lane) const;
    /// Returns the milliseconds during which the device copied while the host decoded or converted.
    double overlap() const;
};

/// Returns the timeline of a load. `kernel_milliseconds` is the duration of a kernel that ran after the load; nullopt
/// adds no bar.
[[nodiscard]] Timeline timeline_of(const LoadTiming& timing, std::optional<double> kernel_milliseconds = {});

/// Measures the peak rate of copies from pinned memory to the device. Returns the best of five copies of `bytes` bytes
/// in GB/s, by the clock of the device. Blocks. Throws the errors of Pinned, Linear and copy(), and Canceled.
[[nodiscard]] double upload_peak(const Device& device, std::size_t bytes = std::size_t{64} << 20,
                                 const CancellationToken& token = {});

}  // namespace texton::viewer

#pragma once
// When a picture's parts were decoded, waited in pinned memory, and were copied to the device, and what the kernel took after: as bars.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <texton/device.h>
#include <texton/picture_load.h>

#include "viewer/model/cancellation.h"

namespace texton::viewer {

enum class TimelineLane : std::uint8_t {
    decode,  ///< read and decoded, into a pinned buffer
    convert,  ///< to the format and the layout that were asked for; of a part that is read in pieces all of it at its end
    staging,  ///< there, until its copy begins
    copy,     ///< to the device, as the device counts
    kernel
};

inline constexpr std::array kTimelineLanes{TimelineLane::decode, TimelineLane::convert, TimelineLane::staging,
                                           TimelineLane::copy, TimelineLane::kernel};

[[nodiscard]] std::string_view name(TimelineLane lane) noexcept;

/// Milliseconds since the load began.
struct TimelineBar {
    TimelineLane lane = TimelineLane::decode;
    std::size_t part = 0;  ///< which of the load
    double begin = 0;
    double end = 0;
    std::size_t bytes = 0;
    bool operator==(const TimelineBar&) const = default;

    /// GB/s; 0 where it took no time that can be measured.
    double rate() const noexcept;
};

struct Timeline {
    std::vector<TimelineBar> bars;  ///< part by part, the kernel last
    double total = 0;               ///< where the last bar ends
    std::size_t bytes = 0;          ///< that were copied

    /// Milliseconds in which at least one bar of the lane was there.
    double busy(TimelineLane lane) const;
    /// GB/s of the lane while it was busy.
    double rate(TimelineLane lane) const;
    /// Milliseconds in which parts were copied while others were decoded.
    double overlap() const;
};

/// `kernel_milliseconds` of a kernel that ran after the load; without one no bar.
[[nodiscard]] Timeline timeline_of(const LoadTiming& timing, std::optional<double> kernel_milliseconds = {});

/// GB/s of the best of a few copies of `bytes` pinned bytes to the device, as the device counts. Throws what memory and copies throw.
[[nodiscard]] double upload_peak(const Device& device, std::size_t bytes = std::size_t{64} << 20,
                                 const StillWanted& wanted = {});

}  // namespace texton::viewer

// Argument checks of collect_statistics(), and read_statistics(). kernels/functors/statistics.h defines what a texel
// contributes.
#include "kernels/functors/statistics.h"

#include <fmt/format.h>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/fill.h>
#include <texton/launch.h>

#include "arrays/texture_state.h"
#include "kernels/launch/checks.h"
#include "kernels/launch/dispatch.h"

namespace texton {
namespace {

using detail::HistogramRange;
using detail::StatisticsSource;

constexpr const char* kCollect = "texton::collect_statistics";
constexpr const char* kRead = "texton::read_statistics";

static_assert(std::is_trivially_copyable_v<Statistics>);

// --- checks ----------------------------------------------------------------------------------------------------------

void check_memory(const char* object, const ConstView& memory) {
    if (memory.data() == nullptr)
        detail::refuse_argument(object, "memory without an address was passed",
                                "Pass memory of the device, not an array.");
    const std::size_t bytes = row_bytes(memory.format(), memory.extent().width);
    if (bytes < sizeof(Statistics))
        detail::refuse_argument(
            object, fmt::format("the row of memory has {} bytes", bytes),
            fmt::format("Pass a row of at least sizeof(Statistics), {} bytes.", sizeof(Statistics)));
    if (reinterpret_cast<std::uintptr_t>(memory.data()) % alignof(Statistics) != 0)
        detail::refuse_argument(object, fmt::format("the memory starts at {}", static_cast<const void*>(memory.data())),
                                fmt::format("Pass memory that starts at a multiple of {} bytes.", alignof(Statistics)));
}

HistogramRange checked_range(const StatisticsOptions& options) {
    detail::check_finite(kCollect, "low", options.low);
    detail::check_finite(kCollect, "high", options.high);
    if (options.low >= options.high)
        detail::refuse_argument(kCollect, fmt::format("low is {}, but high is {}", options.low, options.high),
                                "Use a range whose low is below its high.");
    return {options.low, static_cast<float>(Statistics::kBins) / (options.high - options.low)};
}

/// Returns a view of the first sizeof(Statistics) bytes of the memory.
template <class AnyView>
AnyView bytes_of_statistics(const AnyView& memory) {
    detail::MemoryLocation location = memory.location();
    location.format = Format::r8_uint;
    location.extent = {sizeof(Statistics)};
    location.pitch = location.slice_pitch = sizeof(Statistics);
    return AnyView(std::move(location));
}

}  // namespace

void collect_statistics(const Stream& stream, const View& memory, const Texture& texture,
                        const StatisticsOptions& options) try {
    detail::check_kind(kCollect, "texture", texture, {ArrayKind::array_2d, ArrayKind::layered_2d});
    const HistogramRange range = checked_range(options);
    detail::check_texel_count(kCollect, texture);
    check_memory(kCollect, memory);
    const View bytes = bytes_of_statistics(memory);
    const Texture texels = detail::by_points(texture);
    detail::Launch launch(kCollect, stream, bytes, std::span(&texels, 1), detail::Overlap::refused);
    const StatisticsSource source{launch.shape(0), texture.kind() == ArrayKind::layered_2d,
                                  info(texture.format()).channels};
    fill(bytes, std::uint32_t{0}, stream);
    if (!detail::device_kernels(launch).collect_statistics(launch, source, range)) launch.refuse_cuda();
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::collect_statistics");
}

Statistics read_statistics(const Stream& stream, const ConstView& memory) try {
    check_memory(kRead, memory);
    Statistics statistics;
    const View here = host_view(static_cast<void*>(&statistics), Format::r8_uint, {sizeof statistics});
    copy(here, bytes_of_statistics(memory), stream);
    stream.synchronize();
    return statistics;
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::read_statistics");
}

}  // namespace texton

// The checks of statistics, and their results. How they are added up: kernels/functors/statistics.h.
#include "kernels/functors/statistics.h"

#include <fmt/format.h>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/fill.h>
#include <texton/launch.h>

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
        detail::refuse_argument(object, "memory without an address was given",
                                "Give memory of the device, not an array.");
    const std::size_t bytes = row_bytes(memory.format(), memory.extent().width);
    if (bytes < sizeof(Statistics))
        detail::refuse_argument(object, fmt::format("memory of {} bytes was given", bytes),
                                fmt::format("Give a row of sizeof(Statistics), {} bytes.", sizeof(Statistics)));
    if (reinterpret_cast<std::uintptr_t>(memory.data()) % alignof(Statistics) != 0)
        detail::refuse_argument(object, fmt::format("memory at {} was given", static_cast<const void*>(memory.data())),
                                fmt::format("Give memory that begins at a multiple of {} bytes.", alignof(Statistics)));
}

HistogramRange checked_range(const StatisticsOptions& options) {
    detail::check_finite(kCollect, "low", options.low);
    detail::check_finite(kCollect, "high", options.high);
    if (options.low >= options.high)
        detail::refuse_argument(kCollect, fmt::format("low is {}, but high {}", options.low, options.high),
                                "Give a range from low to high.");
    return {options.low, static_cast<float>(Statistics::kBins) / (options.high - options.low)};
}

void check_count(const Texture& texture) {
    constexpr std::size_t kMostTexels = std::size_t{1} << 31;
    const Extent extent = texture.extent();
    const std::size_t most_rows = (kMostTexels - 1) / extent.width;
    if (extent.height <= most_rows && texture.layers() <= most_rows / extent.height) return;
    throw Error({.code = ErrorCode::overflow,
                 .object = kCollect,
                 .problem = fmt::format("a texture of {} texels and {} layers was given, 2^31 texels or more",
                                        to_string(extent), texture.layers()),
                 .remedy = "Read some of the layers, or parts of the memory, each by a texture of its own.",
                 .numbers = {{"width", extent.width}, {"height", extent.height}, {"layers", texture.layers()}}});
}

/// The first bytes of the memory.
template <class AnyView>
AnyView bytes_of_statistics(const AnyView& memory) {
    detail::Place place = memory.place();
    place.format = Format::r8_uint;
    place.extent = {sizeof(Statistics)};
    place.pitch = place.slice_pitch = sizeof(Statistics);
    return AnyView(std::move(place));
}

}  // namespace

void collect_statistics(const Stream& stream, const View& memory, const Texture& texture,
                        const StatisticsOptions& options) {
    detail::check_kind(kCollect, "texture", texture, {ArrayKind::array_2d, ArrayKind::layered_2d});
    const HistogramRange range = checked_range(options);
    check_count(texture);
    check_memory(kCollect, memory);
    const View bytes = bytes_of_statistics(memory);
    detail::Launch launch(kCollect, stream, bytes, std::span(&texture, 1), detail::Overlap::refused);
    const StatisticsSource source{launch.shape(0), texture.kind() == ArrayKind::layered_2d,
                                  info(texture.format()).channels};
    fill(bytes, std::uint32_t{0}, stream);
    if (!detail::device_kernels(launch).collect_statistics(launch, source, range)) launch.refuse_cuda();
}

Statistics read_statistics(const Stream& stream, const ConstView& memory) {
    check_memory(kRead, memory);
    Statistics statistics;
    const View here = host_view(static_cast<void*>(&statistics), Format::r8_uint, {sizeof statistics});
    copy(here, bytes_of_statistics(memory), stream);
    stream.synchronize();
    return statistics;
}

}  // namespace texton

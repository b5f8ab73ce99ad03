// Statistics on the CPU device, and what both devices are asked for. How they are added up: statistics.h.
#include "kernels/functors/statistics.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include <fmt/format.h>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/fill.h>
#include <texton/launch.h>

#include "arrays/cpu/texture.h"
#include "arrays/texture_state.h"
#include "core/backing.h"
#include "core/parallel.h"
#include "kernels/launch/checks.h"

namespace texton {
namespace {

using detail::HistogramRange;
using detail::StatisticsSource;

constexpr const char* kCollect = "texton::collect_statistics";
constexpr const char* kRead = "texton::read_statistics";

static_assert(std::is_trivially_copyable_v<Statistics>);

// --- the CPU device --------------------------------------------------------------------------------------------------

void add_value(Statistics& statistics, int channel, float value, const HistogramRange& range) {
    if (!detail::is_finite(value)) {
        ++(std::isnan(value) ? statistics.nans : statistics.infinities)[channel];
        return;
    }
    ++statistics.finite[channel];
    ++statistics.histogram[channel][range.bin(value)];
    const std::uint32_t key = detail::key_of(value);
    statistics.highest_key[channel] = std::max(statistics.highest_key[channel], key);
    statistics.lowest_key[channel] = std::max(statistics.lowest_key[channel], ~key);
    const detail::SumPart part = detail::sum_part(value);
    statistics.sum[channel][part.word] += part.lower;
    statistics.sum[channel][part.word + 1] += part.upper;
}

void add_statistics(Statistics& to, const Statistics& part) {
    for (int c = 0; c < 4; ++c) {
        for (int i = 0; i < Statistics::kBins; ++i) to.histogram[c][i] += part.histogram[c][i];
        for (int i = 0; i < Statistics::kSumWords; ++i) to.sum[c][i] += part.sum[c][i];
        to.finite[c] += part.finite[c];
        to.nans[c] += part.nans[c];
        to.infinities[c] += part.infinities[c];
        to.highest_key[c] = std::max(to.highest_key[c], part.highest_key[c]);
        to.lowest_key[c] = std::max(to.lowest_key[c], part.lowest_key[c]);
    }
}

// Free of what the caller holds: it runs when the stream comes to it.
struct CpuCollection {
    detail::CpuTexture texture;
    StatisticsSource source;
    HistogramRange range;
    Statistics* result;

    void run() const {
        const auto height = static_cast<std::size_t>(source.shape.height);
        const std::size_t rows = height * static_cast<std::size_t>(source.layered ? source.shape.layers : 1);
        const std::size_t pieces = std::min(rows, detail::cpu_cores());
        std::mutex mutex;
        detail::run_in_parallel(pieces, [&](std::size_t piece) {
            Statistics part{};
            for (std::size_t row = rows * piece / pieces; row < rows * (piece + 1) / pieces;) {
                const std::size_t end = std::min((row / height + 1) * height, rows * (piece + 1) / pieces);
                add_rows(part, row / height, row % height, row % height + (end - row));
                row = end;
            }
            const std::lock_guard lock(mutex);
            add_statistics(*result, part);
        });
    }

private:
    static constexpr std::size_t kBlock = 512;  // texels on the stack

    void add_rows(Statistics& part, std::size_t layer, std::size_t first, std::size_t end) const {
        const detail::TextureReader reader(texture);
        const detail::RowSampler rows = reader.rows(static_cast<std::int32_t>(layer));
        const auto width = static_cast<std::size_t>(source.shape.width);
        float x[kBlock];
        float y[kBlock];
        Texel texels[kBlock];
        for (std::size_t row = first; row < end; ++row) {
            for (std::size_t begin = 0; begin < width; begin += kBlock) {
                const std::size_t count = std::min(kBlock, width - begin);
                for (std::size_t i = 0; i < count; ++i)
                    x[i] = (static_cast<float>(begin + i) + 0.5F) * source.shape.x_unit;
                std::fill_n(y, count, (static_cast<float>(row) + 0.5F) * source.shape.y_unit);
                rows.fetch(x, y, count, texels);
                for (std::size_t i = 0; i < count; ++i) add_texel(part, texels[i]);
            }
        }
    }

    void add_texel(Statistics& part, const Texel& texel) const {
        for (int c = 0; c < source.channels; ++c) {
            const std::uint32_t word = texel.channel[c];
            const float integer =
                source.shape.is_signed ? static_cast<float>(static_cast<std::int32_t>(word)) : static_cast<float>(word);
            add_value(part, c, source.shape.integers ? integer : texel.as_float(c), range);
        }
    }
};

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
    const detail::Launch launch(kCollect, stream, bytes, std::span(&texture, 1), false);
    const StatisticsSource source{launch.shape(0), texture.kind() == ArrayKind::layered_2d,
                                  info(texture.format()).channels};
    auto* result = reinterpret_cast<Statistics*>(launch.on_cpu() ? memory.data() : launch.target().address);
    fill(bytes, std::uint32_t{0}, stream);
    detail::Backend& device = stream.device().backend();
    const detail::StreamHandle handle = stream.state()->handle;
    const std::vector<detail::BackingUse::Owner> owners{memory.place().owner, detail::source_of(texture.state())};
    detail::BackingUse use(kCollect, stream, owners);
    detail::request(&device, kCollect, {{"width", texture.extent().width}, {"height", texture.extent().height}}, [&] {
        if (!launch.on_cpu()) return detail::collect_on_cuda(device, handle, texture, source, range, result);
        const CpuCollection work{detail::texture_of(texture.state()->handle), source, range, result};
        device.run_on_host(handle, [work] { work.run(); });
    });
    use.enqueued();
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

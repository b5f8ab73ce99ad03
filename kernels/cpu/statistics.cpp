// Statistics on the CPU device: each core processes a part of the rows.
#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>

#include "arrays/cpu/texture.h"
#include "arrays/texture_state.h"
#include "core/parallel.h"
#include "core/transfer.h"
#include "kernels/cpu/job.h"
#include "kernels/cpu/kernels.h"
#include "kernels/functors/key_counts.h"
#include "kernels/launch/launch_state.h"

namespace texton::detail {
namespace {

void add_value(Statistics& statistics, int channel, float value, const HistogramRange& range) {
    if (!is_finite(value)) {
        ++(std::isnan(value) ? statistics.nans : statistics.infinities)[channel];
        return;
    }
    ++statistics.finite[channel];
    ++statistics.histogram[channel][range.bin(value)];
    const std::uint32_t key = key_of(value);
    statistics.highest_key[channel] = std::max(statistics.highest_key[channel], key);
    statistics.lowest_key[channel] = std::max(statistics.lowest_key[channel], ~key);
    const SumPart part = sum_part(value);
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

void add_counts(KeyCounts& to, const KeyCounts& part) {
    for (int c = 0; c < 4; ++c) {
        for (std::uint32_t i = 0; i < KeyCounts::kHalves; ++i) to.of[c][i] += part.of[c][i];
    }
}

// The texels that are read. Independent of the caller's objects, since it runs when the stream reaches it.
struct CpuTexels {
    CpuTexture texture;
    StatisticsSource source;

    // Calls add(part, channel, value) for all values, on all cores, each with a part of its own, and merge(part) for
    // each part, one after the other.
    template <class Part, class Add, class Merge>
    void for_each_value(const Add& add, const Merge& merge) const {
        const auto height = static_cast<std::size_t>(source.shape.height);
        const std::size_t rows = height * static_cast<std::size_t>(source.layered ? source.shape.layers : 1);
        const std::size_t pieces = std::min(rows, cpu_cores());
        std::mutex mutex;
        run_in_parallel(pieces, [&](std::size_t piece) {
            const auto part = std::make_unique<Part>();
            const auto add_value = [&](int channel, float value) { add(*part, channel, value); };
            for (std::size_t row = rows * piece / pieces; row < rows * (piece + 1) / pieces;) {
                const std::size_t end = std::min((row / height + 1) * height, rows * (piece + 1) / pieces);
                read_rows(row / height, row % height, row % height + (end - row), add_value);
                row = end;
            }
            const std::lock_guard lock(mutex);
            merge(*part);
        });
    }

private:
    static constexpr std::size_t kBlock = 512;  // texels that are fetched at a time, on the stack

    template <class Add>
    void read_rows(std::size_t layer, std::size_t first, std::size_t end, const Add& add) const {
        const TextureReader reader(texture);
        const RowSampler rows = reader.rows(static_cast<std::int32_t>(layer));
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
                for (std::size_t i = 0; i < count; ++i) read_texel(texels[i], add);
            }
        }
    }

    template <class Add>
    void read_texel(const Texel& texel, const Add& add) const {
        for (int c = 0; c < source.channels; ++c) {
            const std::uint32_t word = texel.channel[c];
            const float integer =
                source.shape.is_signed ? static_cast<float>(static_cast<std::int32_t>(word)) : static_cast<float>(word);
            add(c, source.shape.integers ? integer : texel.as_float(c));
        }
    }
};

}  // namespace

bool CpuKernels::collect_statistics(Launch& launch, const StatisticsSource& source, const HistogramRange& range) const {
    auto* result = reinterpret_cast<Statistics*>(launch.state().image.address);
    launch.run_job([source, range, result](const CpuJob& job) {
        CpuTexels{job.textures[0], source}.for_each_value<Statistics>(
            [&](Statistics& part, int channel, float value) { add_value(part, channel, value, range); },
            [&](const Statistics& part) { add_statistics(*result, part); });
    });
    return true;
}

bool CpuKernels::count_keys(Launch& launch, const StatisticsSource& source, const KeyHalf& half) const {
    auto* result = reinterpret_cast<KeyCounts*>(launch.state().image.address);
    launch.run_job([source, half, result](const CpuJob& job) {
        CpuTexels{job.textures[0], source}.for_each_value<KeyCounts>(
            [&](KeyCounts& part, int channel, float value) {
                std::uint32_t number;
                if (half.counts(value, channel, number)) ++part.of[channel][number];
            },
            [&](const KeyCounts& part) { add_counts(*result, part); });
    });
    return true;
}

}  // namespace texton::detail

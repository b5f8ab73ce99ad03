#pragma once
// Strips of an image whose pixels have the format of the texels. For code that nvcc compiles.
//
// A row is a sequence of stored values, with the channels of a texel after one another. A warp processes adjacent values
// of the image from top to bottom, four for each thread. A thread loads four values of a row, and gets the values beside
// them from the other threads of the warp. The threads at both ends of the warp only load values.
#include <optional>

#include "kernels/cuda/blocks.h"
#include "kernels/cuda/stored_values.h"
#include "kernels/launch/launch_state.h"

namespace texton::detail {

inline constexpr int kStripLanes = 32;
inline constexpr int kStripWarps = 8;      // of a block
inline constexpr int kMaxStripRadius = 3;  // texels that pixels need on both sides

/// Part of the argument of a kernel.
struct ValueStrips {
    PixelTarget texels;
    PixelTarget target;
    bool layered;
    std::int32_t rows;  // that a warp processes

    /// Loads the values of a row from `first` on. Values beyond the edges are those of the texels at the edges.
    template <class Format, int channels>
    __device__ void load(std::int32_t first, std::int32_t row, unsigned z, unsigned (&words)[Format::kWords]) const {
        using Stored = typename Format::Stored;
        const std::int32_t end = static_cast<std::int32_t>(texels.width) * channels;
        const auto y = static_cast<unsigned>(::min(::max(row, 0), static_cast<std::int32_t>(texels.height) - 1));
        const unsigned layer = layered ? z : 0;
        if (first >= 0 && first + kValues <= end) {
            const auto loaded =
                load_stored<typename Format::Words>(texels, static_cast<unsigned>(first) * sizeof(Stored), y, layer);
            ::memcpy(words, &loaded, sizeof loaded);
            return;
        }
        Stored values[kValues];
        for (int i = 0; i < kValues; ++i) {
            const std::int32_t channel = (first + i + kMaxStripRadius * kStripLanes * channels) % channels;
            const std::int32_t at = ::min(::max(first + i, channel), end - channels + channel);
            values[i] = load_stored<Stored>(texels, static_cast<unsigned>(at) * sizeof(Stored), y, layer);
        }
        ::memcpy(words, values, sizeof values);
    }
};

/// The values that a thread processes. `radius` is the number of texels that a pixel needs on both sides.
template <int channels, int radius>
struct ValueStrip {
    static_assert(radius <= kMaxStripRadius);
    static constexpr int kBeside = (radius * channels + kValues - 1) / kValues;  // threads whose values a thread needs
    static constexpr int kAcross = (kStripLanes - 2 * kBeside) * kValues;        // values of a warp

    std::int32_t lane;
    std::int32_t x;  // first value of the thread
    std::int32_t y;  // first row of the warp
    std::int32_t end;
    unsigned z;
    std::int32_t left;  // values of the image from x on
    bool stores;

    __device__ explicit ValueStrip(const ValueStrips& strips) : lane(static_cast<std::int32_t>(threadIdx.x)) {
        const auto values = static_cast<std::int32_t>(strips.target.width) * channels;
        const auto blocks_across = static_cast<unsigned>((values + kAcross - 1) / kAcross);
        x = static_cast<std::int32_t>(blockIdx.x % blocks_across) * kAcross + (lane - kBeside) * kValues;
        y = static_cast<std::int32_t>(blockIdx.x / blocks_across * kStripWarps + threadIdx.y) * strips.rows;
        end = ::min(y + strips.rows, static_cast<std::int32_t>(strips.target.height));
        z = blockIdx.z;
        left = values - x;
        stores = lane >= kBeside && lane < kStripLanes - kBeside && left > 0;
    }

    /// Returns the address of the first value in the first row.
    template <class Stored>
    __device__ std::byte* address(const PixelTarget& target) const {
        return target.address + z * target.slice_pitch + static_cast<unsigned>(y) * target.pitch +
               static_cast<std::int64_t>(x) * static_cast<std::int64_t>(sizeof(Stored));
    }
    /// Stores the values that are inside the image.
    template <class Words, class Stored>
    __device__ void store(std::byte* to, const Stored (&results)[kValues]) const {
        if (!stores) return;
        if (left >= kValues) {
            Words packed;
            ::memcpy(&packed, results, sizeof packed);
            *reinterpret_cast<Words*>(to) = packed;
        } else {
            for (int i = 0; i < left; ++i) reinterpret_cast<Stored*>(to)[i] = results[i];
        }
    }
};

/// Returns the strips of a launch with one texture, without the rows. Returns nothing if the formats of the texture and
/// the image differ, if a sampler does not clamp coordinates, or if texels cannot be read as they are stored.
[[nodiscard]] std::optional<ValueStrips> value_strips(const Launch& launch);

/// Enqueues a kernel whose only argument is `job`, which contains `strips`.
template <int channels, int radius, class Job>
void launch_strips(const Launch& launch, const void* kernel, Job& job, ValueStrips& strips) {
    constexpr unsigned kAcross = ValueStrip<channels, radius>::kAcross;
    const auto parts = [](unsigned side, unsigned part) { return (side + part - 1) / part; };
    const PixelTarget& target = strips.target;
    const unsigned across = parts(target.width * channels, kAcross);
    const unsigned rows = rows_of_runs(launch, kernel, kStripLanes * kStripWarps,
                                       {across * target.depth, target.height, kStripWarps, 8, 128, 2 * radius});
    strips.rows = static_cast<std::int32_t>(rows);
    const unsigned blocks = across * parts(target.height, rows * kStripWarps);
    void* arguments[] = {&job};
    launch_blocks({&launch, 1}, kernel, arguments, {{blocks, 1, target.depth}, {kStripLanes, kStripWarps}});
}

}  // namespace texton::detail

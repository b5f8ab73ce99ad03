// Means of 2 x 2 texels whose pixels have the same format, in a CUDA kernel that does not use the texture unit. Terms
// are added in the order of the functor SeparableSum.
#include "kernels/cuda/stored_resampling.h"

#include <cmath>
#include <optional>

#include "kernels/cuda/blocks.h"
#include "kernels/cuda/stored_texels.h"
#include "kernels/cuda/stored_values.h"

namespace texton::resampling {
namespace {

using detail::kValues;
using detail::PixelTarget;

constexpr unsigned kThreadsAcross = 32;  // of a block
constexpr unsigned kThreadsDown = 8;
constexpr unsigned kRows = 2;  // of a thread, kThreadsDown apart

struct Job {
    PixelTarget texels;
    PixelTarget target;
    detail::StoredIn in;    // the texels
    std::int32_t first[2];  // texel of the first pixel
    bool layered;
    bool is_wide;       // the texels of kValues values can be loaded at once
    bool stores_words;  // kValues values can be stored at once
};

__device__ float mean(float left, float right) { return ::fmaf(right, 0.5f, ::fmaf(left, 0.5f, 0.0f)); }

/// If a texel has 16 bytes, threads load adjacent texels, which is faster than pairs of them: thread n of a warp loads
/// the texels n and n + 32. Threads exchange one of their texels with the thread beside them, so that each has a pair:
/// those with an even number of the first 32 texels, the others of the last.
__device__ void exchange(unsigned (&words)[8]) {
    const bool is_even = threadIdx.x % 2 == 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const unsigned got = __shfl_xor_sync(0xffffffff, is_even ? words[4 + i] : words[i], 1);
        words[i] = is_even ? words[i] : got;
        words[4 + i] = is_even ? got : words[4 + i];
    }
}

template <class Format, int channels>
__global__ void halve_values(const __grid_constant__ Job job) {
    using Stored = typename Format::Stored;
    using Words = typename Format::Words;
    const unsigned values = job.target.width * channels;  // of a row
    const unsigned x = (blockIdx.x * kThreadsAcross + threadIdx.x) * kValues;
    if (x >= values) return;
    const unsigned z = blockIdx.z;
    const unsigned first = (static_cast<unsigned>(job.first[0]) * channels + 2 * x) * sizeof(Stored);
    // The last values of a row of pixels can need texels after the last one of the texture.
    const bool is_whole = x + kValues <= values;
    constexpr bool kExchanges = channels * sizeof(Stored) == sizeof(uint4);
    const bool exchanges = kExchanges && (blockIdx.x + 1) * kThreadsAcross * kValues <= values;
    const unsigned to_x = !exchanges ? x : x - (threadIdx.x + 1) / 2 * kValues + threadIdx.x % 2 * 16 * kValues;
    const auto load = [&](unsigned row, unsigned(&words)[2 * Format::kWords]) {
        const unsigned y = static_cast<unsigned>(job.first[1]) + row;
        if constexpr (kExchanges) {
            if (exchanges) {
                for (unsigned part = 0; part < 2; ++part) {
                    const unsigned texel = static_cast<unsigned>(job.first[0]) + 2 * blockIdx.x * kThreadsAcross +
                                           part * kThreadsAcross + threadIdx.x;
                    const auto loaded =
                        detail::load_stored<Words>(job.in, job.texels, texel * sizeof(Words), y, job.layered ? z : 0);
                    ::memcpy(words + part * Format::kWords, &loaded, sizeof loaded);
                }
                return;
            }
        }
        if constexpr (sizeof(Words) < sizeof(uint4)) {
            if (is_whole && job.is_wide) {
                const auto loaded =
                    detail::load_stored<detail::PairOfWords<Words>>(job.in, job.texels, first, y, job.layered ? z : 0);
                ::memcpy(words, &loaded, sizeof loaded);
                return;
            }
        }
        if (is_whole) {
            for (unsigned part = 0; part < 2; ++part) {
                const auto loaded = detail::load_stored<Words>(job.in, job.texels, first + part * sizeof(Words), y,
                                                               job.layered ? z : 0);
                ::memcpy(words + part * Format::kWords, &loaded, sizeof loaded);
            }
            return;
        }
        Stored stored[2 * kValues] = {};
        for (unsigned i = 0; i < 2 * (values - x); ++i)
            stored[i] =
                detail::load_stored<Stored>(job.in, job.texels, first + i * sizeof(Stored), y, job.layered ? z : 0);
        ::memcpy(words, stored, sizeof stored);
    };
    // All rows are loaded before the first one is stored, so that many loads are in flight.
    unsigned top[kRows][2 * Format::kWords], bottom[kRows][2 * Format::kWords];
    const auto row_of = [](unsigned i) { return (blockIdx.y * kRows + i) * kThreadsDown + threadIdx.y; };
#pragma unroll
    for (unsigned i = 0; i < kRows; ++i) {
        const unsigned y = ::min(row_of(i), job.target.height - 1);
        load(2 * y, top[i]);
        load(2 * y + 1, bottom[i]);
    }
#pragma unroll
    for (unsigned i = 0; i < kRows; ++i) {
        const unsigned y = row_of(i);
        if (y >= job.target.height) return;
        if constexpr (kExchanges) {
            if (exchanges) {
                exchange(top[i]);
                exchange(bottom[i]);
            }
        }
        Stored results[kValues];
#pragma unroll
        for (int value = 0; value < kValues; ++value) {
            const int left = value / channels * 2 * channels + value % channels;
            const auto of_row = [&](const unsigned* words) {
                const auto at = [&](int k) { return Format::value(words + k / kValues * Format::kWords, k % kValues); };
                return mean(at(left), at(left + channels));
            };
            results[value] = Format::stored(mean(of_row(top[i]), of_row(bottom[i])), value);
        }
        std::byte* const to =
            job.target.address + z * job.target.slice_pitch + y * job.target.pitch + std::size_t{to_x} * sizeof(Stored);
        if (is_whole && job.stores_words) {
            Words packed;
            ::memcpy(&packed, results, sizeof packed);
            *reinterpret_cast<Words*>(to) = packed;
        } else {
            const unsigned count = is_whole ? unsigned{kValues} : values - x;
            for (unsigned k = 0; k < count; ++k) reinterpret_cast<Stored*>(to)[k] = results[k];
        }
    }
}

// Returns the first texel of an axis if the texels of all pixels are whole pairs inside the texture, else -1.
std::int32_t first_of_pairs(const Axis& axis, std::uint32_t pixels, std::uint32_t texels) {
    const bool are_pairs = axis.step == 2 && axis.begin == std::floor(axis.begin) && axis.begin >= 0 &&
                           static_cast<double>(axis.begin) + 2.0 * pixels <= texels;
    return are_pairs ? static_cast<std::int32_t>(axis.begin) : -1;
}

}  // namespace

bool enqueue_halves(const detail::Launch& launch, const Grid& grid) {
    const PixelTarget& target = launch.target();
    const detail::TexelFormat& format = target.format.stored;
    const Texture& texture = launch.state().textures[0];
    const std::optional<PixelTarget> texels = detail::stored_texels(texture);
    if (target.address == nullptr || !target.aligned || !texels || texels->format.stored != format ||
        detail::has_faces(*texels))
        return false;
    Job job{
        *texels,
        target,
        stored_in(*texels),
        {first_of_pairs(grid.x, target.width, texels->width), first_of_pairs(grid.y, target.height, texels->height)},
        texture.kind() == ArrayKind::layered_2d,
        false,
        false};
    if (job.first[0] < 0 || job.first[1] < 0 || job.first[0] * format.channels % kValues != 0) return false;
    return detail::with_stored_values(format, [&]<class Format, int channels>() {
        if (!detail::has_aligned_values<Format>(*texels)) return false;
        job.stores_words = detail::has_aligned_values<Format>(target);
        job.is_wide = detail::has_aligned_values<Format>(*texels, 2 * kValues) &&
                      job.first[0] * format.channels % (2 * kValues) == 0;
        const auto parts = [](unsigned side, unsigned part) { return (side + part - 1) / part; };
        void* arguments[] = {&job};
        detail::launch_blocks({&launch, 1}, reinterpret_cast<const void*>(&halve_values<Format, channels>), arguments,
                              {{parts(target.width * channels, kThreadsAcross * kValues),
                                parts(target.height, kThreadsDown * kRows), target.depth},
                               {kThreadsAcross, kThreadsDown}});
        return true;
    });
}

}  // namespace texton::resampling

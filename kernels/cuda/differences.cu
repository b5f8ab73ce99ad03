// Differences of two images on a CUDA device. A warp processes segment after segment; lane i of a warp is lane i of the
// sums of kernels/metrics/difference_sums.h.
#include <type_traits>

#include "kernels/cuda/comparison.h"
#include "kernels/cuda/over_warp.h"
#include "kernels/cuda/stored_codes.h"

namespace texton::detail {
namespace {

constexpr unsigned kThreads = DifferenceBlocks::kThreads, kBins = 33;

/// Counts and sums of one thread.
template <int channels>
struct Tally {
    unsigned differing[channels] = {};
    unsigned max_ulp[channels] = {};
    unsigned long long differences[channels] = {};
    unsigned long long squares[channels] = {};
    double max[channels] = {};
    unsigned nans[2][channels] = {};
    unsigned infinities[2][channels] = {};
    unsigned texels = 0;
};

/// Adds the values of all threads of the warp.
__device__ void add_over_warp(unsigned long long& to, unsigned long long value) {
    const unsigned long long sum = over_warp(value, Sum{});
    if (threadIdx.x % 32 == 0 && sum != 0) atomicAdd(&to, sum);
}

template <bool rounded, int channels>
__device__ void add_over_warp(SharedSums& to, const Tally<channels>& tally) {
    const bool is_first = threadIdx.x % 32 == 0;
    add_over_warp(to.texels, tally.texels);
#pragma unroll
    for (int c = 0; c < channels; ++c) {
        add_over_warp(to.differing[c], tally.differing[c]);
        const unsigned max_ulp = over_warp(tally.max_ulp[c], Largest{});
        if (is_first && max_ulp != 0) atomicMax(&to.max_ulp[c], max_ulp);
        if constexpr (rounded) {
            const double max = over_warp(tally.max[c], Largest{});  // numbers that are not negative are ordered as bits
            if (is_first && max != 0)
                atomicMax(&to.max_bits[c], static_cast<unsigned long long>(__double_as_longlong(max)));
            for (int image = 0; image < 2; ++image) {
                add_over_warp(to.nans[image][c], tally.nans[image][c]);
                add_over_warp(to.infinities[image][c], tally.infinities[image][c]);
            }
        } else {
            add_over_warp(to.differences[c], tally.differences[c]);
            add_over_warp(to.squares[c], tally.squares[c]);
        }
    }
}

__device__ bool worse(const SegmentWorst& one, const SegmentWorst& other) {
    if (one.ulp != other.ulp) return one.ulp > other.ulp;
    if (one.difference != other.difference) return one.difference > other.difference;
    return one.at < other.at;
}

/// Returns the worst texel of all threads of the warp, to the first of them.
__device__ SegmentWorst over_warp(SegmentWorst worst) {
    for (unsigned apart = 16; apart != 0; apart /= 2) {
        const SegmentWorst other{__shfl_down_sync(kAllLanes, worst.difference, apart),
                                 __shfl_down_sync(kAllLanes, worst.ulp, apart),
                                 __shfl_down_sync(kAllLanes, worst.at, apart)};
        if (worse(other, worst)) worst = other;
    }
    return worst;
}

template <bool rounded, class Texels>
__global__ void __launch_bounds__(kThreads)
    find_differences(const __grid_constant__ ComparedImages images, const bool finds_worst, SharedSums* result,
                     SegmentWorst* worst_of_segments, RoundedSums* sums_of_segments) {
    constexpr int kChannels = Texels::kChannels;
    // Texels of a packed format can differ by the same distance and not by the same difference of values.
    constexpr bool kSameScale = !rounded && !std::is_same_v<Texels, PackedTexels>;
    // Each thread has its own counters, so that threads never wait for each other.
    __shared__ unsigned histogram[kBins][kThreads];
    for (unsigned bin = 0; bin < kBins; ++bin) histogram[bin][threadIdx.x] = 0;
    Tally<kChannels> tally;
    const CodeFormat& format = images.format;
    const typename Texels::template Order<rounded> order(format);
    const std::uint64_t texels = images.texels(), segments = (texels + kSegment - 1) / kSegment;
    const unsigned lane = threadIdx.x % 32;
    const std::uint64_t step = std::uint64_t{gridDim.x} * DifferenceBlocks::kSegments;
    std::uint64_t segment = std::uint64_t{blockIdx.x} * DifferenceBlocks::kSegments + threadIdx.x / 32;
    for (; segment < segments; segment += step) {
        const std::uint64_t first = segment * kSegment + lane;
        const unsigned count = first >= texels ? 0 : texels - first < kSegment ? unsigned(texels - first) : kSegment;
        const std::uint64_t row = first / images.width;
        std::uint64_t x = first - row * images.width, z = row / images.height, y = row - z * images.height;
        SegmentWorst worst{0, 0, 0};
        RoundedSums sums;
        for (unsigned i = 0; i < count; i += 32) {
            unsigned a[kChannels], b[kChannels];
            Texels::read(format, order, images.a.at(format, x, y, z), a);
            Texels::read(format, order, images.b.at(format, x, y, z), b);
            SegmentWorst texel{0, 0, i + lane};
#pragma unroll
            for (int c = 0; c < kChannels; ++c) {
                if (c >= static_cast<int>(images.channels)) break;
                if constexpr (rounded) {
                    if (format.is_float()) {
                        tally.nans[0][c] += a[c] == kNanCode ? 1 : 0;
                        tally.nans[1][c] += b[c] == kNanCode ? 1 : 0;
                        tally.infinities[0][c] += format.is_infinite(a[c]) ? 1 : 0;
                        tally.infinities[1][c] += format.is_infinite(b[c]) ? 1 : 0;
                    }
                }
                if (a[c] == b[c]) continue;
                const std::uint32_t ulp = format.distance(a[c], b[c]);
                ++tally.differing[c];
                tally.max_ulp[c] = max(tally.max_ulp[c], ulp);
                texel.ulp = max(texel.ulp, ulp);
                ++histogram[32 - __clz(static_cast<int>(ulp))][threadIdx.x];
                if constexpr (rounded) {
                    // Such formats have values of one code each, or are float formats.
                    const double difference = format.difference(a[c], b[c], c, ulp);
                    if (difference > tally.max[c]) tally.max[c] = difference;
                    sums.differences[c] += difference;
                    sums.squares[c] += difference * difference;
                    if (difference > texel.difference) texel.difference = difference;
                } else {
                    tally.differences[c] += ulp;
                    tally.squares[c] += ulp * ulp;  // codes have at most 16 bits
                    if constexpr (!kSameScale) {
                        const double difference = ulp / format.divisor(c);
                        if (difference > texel.difference) texel.difference = difference;
                    }
                }
            }
            if (texel.ulp != 0) {
                ++tally.texels;
                if (kSameScale ? texel.ulp > worst.ulp : worse(texel, worst)) worst = texel;
            }
            for (x += 32; x >= images.width; x -= images.width) {
                if (++y != images.height) continue;
                y = 0;
                ++z;
            }
        }
        __syncwarp();
        if (finds_worst) {
            worst = over_warp(worst);
            if (lane == 0) worst_of_segments[segment] = worst;
        }
        if constexpr (rounded) {
#pragma unroll
            for (int c = 0; c < kChannels; ++c) {
                sums.differences[c] = over_warp(sums.differences[c], Sum{});
                sums.squares[c] = over_warp(sums.squares[c], Sum{});
            }
            if (lane == 0) sums_of_segments[segment] = sums;
        }
    }
    __syncthreads();
    add_over_warp<rounded>(*result, tally);
    for (unsigned bin = threadIdx.x / 32; bin < kBins; bin += kThreads / 32) {
        unsigned long long count = 0;
        for (unsigned i = lane; i < kThreads; i += 32) count += histogram[bin][i];
        add_over_warp(result->histogram[bin], count);
    }
}

__global__ void __launch_bounds__(kThreads)
    copy_segments(const __grid_constant__ ComparedImages images, const std::uint32_t* segments, std::byte* copies) {
    const std::size_t bytes = images.format.texel_bytes();
    const ComparedImage& image = blockIdx.y == 0 ? images.a : images.b;
    const std::uint64_t first = std::uint64_t{segments[blockIdx.x]} * kSegment;
    std::byte* const to = copies + (std::uint64_t{blockIdx.y} * gridDim.x + blockIdx.x) * kSegment * bytes;
    for (unsigned i = threadIdx.x; i < kSegment && first + i < images.texels(); i += kThreads) {
        const std::uint64_t row = (first + i) / images.width;
        const std::byte* const from =
            image.at(images.format, first + i - row * images.width, row % images.height, row / images.height);
        for (std::size_t byte = 0; byte < bytes; ++byte) to[i * bytes + byte] = from[byte];
    }
}

}  // namespace

const void* differences_kernel(const CodeFormat& format) {
    return with_texels(format, [&](auto texels) -> const void* {
        using Texels = decltype(texels);
        const auto rounded = [] { return reinterpret_cast<const void*>(&find_differences<true, Texels>); };
        const auto exact = [] { return reinterpret_cast<const void*>(&find_differences<false, Texels>); };
        if constexpr (Texels::kBits == 32)
            return rounded();
        else if constexpr (Texels::kBits == 8)
            return exact();
        else
            return format.has_short_codes() ? exact() : rounded();
    });
}

const void* copy_segments_kernel() { return reinterpret_cast<const void*>(&copy_segments); }

}  // namespace texton::detail

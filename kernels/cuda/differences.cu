// Differences of two images on a CUDA device. A warp processes segment after segment; lane i of a warp is lane i of the
// sums of kernels/metrics/difference_sums.h.
#include <type_traits>

#include "kernels/cuda/comparison.h"
#include "kernels/cuda/over_warp.h"
#include "kernels/cuda/stored_codes.h"

namespace texton::detail {
namespace {

constexpr unsigned kThreads = DifferenceBlocks::kThreads, kBins = 33;

/// Returns the number of bits of a distance: 0 for equal codes.
__device__ unsigned bin_of(unsigned ulp) { return 32 - __clz(static_cast<int>(ulp)); }

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

/// Adds the values of all threads of the warp. Not inlined, since a kernel adds many of them when its texels are done.
__device__ __noinline__ void add_over_warp(unsigned long long& to, unsigned long long value) {
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

__device__ bool worse(const TexelDifference& one, const TexelDifference& other) {
    if (one.ulp != other.ulp) return one.ulp > other.ulp;
    if (one.difference != other.difference) return one.difference > other.difference;
    return one.at < other.at;
}

__device__ TexelDifference shifted_down(const TexelDifference& texel, unsigned lanes) {
    return {__shfl_down_sync(kAllLanes, texel.difference, lanes), __shfl_down_sync(kAllLanes, texel.ulp, lanes),
            __shfl_down_sync(kAllLanes, texel.at, lanes)};
}

/// Returns the worst texel of all threads of the warp, to the first of them.
__device__ TexelDifference over_warp(TexelDifference worst) {
    for (unsigned apart = 16; apart != 0; apart /= 2) {
        const TexelDifference other = shifted_down(worst, apart);
        if (worse(other, worst)) worst = other;
    }
    return worst;
}

/// The texels of both images that a lane of a warp reads: every 32nd one, in the order of the image.
class Texels32 {
public:
    __device__ Texels32(const ComparedImages& images, std::uint64_t first)
        : images_(images), x_(first % images.width), row_(first / images.width) {
        find();
    }
    __device__ const std::byte* a() const { return a_; }
    __device__ const std::byte* b() const { return b_; }
    __device__ void advance() {
        x_ += 32;
        a_ += 32 * images_.format.texel_bytes();
        b_ += 32 * images_.format.texel_bytes();
        if (x_ < images_.width) return;
        row_ += x_ / images_.width;
        x_ %= images_.width;
        find();
    }

private:
    __device__ void find() {
        const std::uint64_t z = row_ / images_.height, y = row_ - z * images_.height;
        a_ = images_.a.at(images_.format, x_, y, z);
        b_ = images_.b.at(images_.format, x_, y, z);
    }

    const ComparedImages& images_;
    std::uint64_t x_, row_;
    const std::byte* a_;
    const std::byte* b_;
};

/// Returns true if a float of either texel is infinite or NaN.
template <class Order, int channels>
__device__ bool is_special(const unsigned (&a)[channels], const unsigned (&b)[channels]) {
    bool special = false;
#pragma unroll
    for (int c = 0; c < channels; ++c) special = special || !Order::is_finite(a[c]) || !Order::is_finite(b[c]);
    return special;
}

/// Not inlined, since the code of the many formats would be the largest part of the kernels.
__device__ __noinline__ double difference_of(const CodeFormat& format, unsigned a, unsigned b, unsigned channel,
                                             unsigned ulp) {
    return format.difference(a, b, channel, ulp);
}

template <Codes codes, class Texels>
__global__ void __launch_bounds__(kThreads)
    find_differences(const __grid_constant__ ComparedImages images, const bool finds_worst, SharedSums* result,
                     TexelDifference* worst_of_segments, RoundedSums* sums_of_segments) {
    constexpr int kChannels = Texels::kChannels;
    constexpr bool kRounded = codes != Codes::are_short;
    using Order = typename Texels::template Order<codes>;
    // Texels of a packed format can differ by the same distance and not by the same difference of values.
    constexpr bool kSameScale = !kRounded && !std::is_same_v<Texels, PackedTexels>;
    // Each thread has its own counters, so that threads never wait for each other.
    __shared__ unsigned histogram[kBins][kThreads];
    for (unsigned bin = 0; bin < kBins; ++bin) histogram[bin][threadIdx.x] = 0;
    Tally<kChannels> tally;
    const CodeFormat& format = images.format;
    const Order order(format);
    const std::uint64_t texels = images.texels(), segments = (texels + kSegment - 1) / kSegment;
    const unsigned lane = threadIdx.x % 32;
    const std::uint64_t step = std::uint64_t{gridDim.x} * DifferenceBlocks::kSegments;
    std::uint64_t segment = std::uint64_t{blockIdx.x} * DifferenceBlocks::kSegments + threadIdx.x / 32;
    for (; segment < segments; segment += step) {
        const std::uint64_t first = segment * kSegment + lane;
        const unsigned count = first >= texels ? 0 : texels - first < kSegment ? unsigned(texels - first) : kSegment;
        Texels32 at(images, first);
        TexelDifference worst{0, 0, 0};
        RoundedSums sums;
        unsigned differences[kChannels] = {};  // of short codes; the sum of a segment has at most 32 bits
        for (unsigned i = 0; i < count; i += 32, at.advance()) {
            unsigned a[kChannels], b[kChannels];
            Texels::read(format, order, at.a(), a);
            Texels::read(format, order, at.b(), b);
            TexelDifference texel{0, 0, static_cast<unsigned>(first + i)};
            bool special = format.is_float();
            if constexpr (codes == Codes::are_floats) special = is_special<Order>(a, b);
#pragma unroll
            for (int c = 0; c < kChannels; ++c) {
                if (c >= static_cast<int>(images.channels)) break;
                if constexpr (kRounded) {
                    if (special) {
                        tally.nans[0][c] += a[c] == kNanCode ? 1 : 0;
                        tally.nans[1][c] += b[c] == kNanCode ? 1 : 0;
                        tally.infinities[0][c] += format.is_infinite(a[c]) ? 1 : 0;
                        tally.infinities[1][c] += format.is_infinite(b[c]) ? 1 : 0;
                    }
                    if (a[c] == b[c]) continue;
                    const std::uint32_t ulp = special ? format.distance(a[c], b[c]) : __usad(a[c], b[c], 0);
                    ++tally.differing[c];
                    tally.max_ulp[c] = max(tally.max_ulp[c], ulp);
                    texel.ulp = max(texel.ulp, ulp);
                    ++histogram[bin_of(ulp)][threadIdx.x];
                    // Such formats have values of one code each, or are float formats.
                    double difference = ulp;
                    if (special)
                        difference = difference_of(format, a[c], b[c], static_cast<unsigned>(c), ulp);
                    else if constexpr (codes == Codes::are_floats)
                        difference = fabs(double{Order::value(a[c])} - double{Order::value(b[c])});
                    if (difference > tally.max[c]) tally.max[c] = difference;
                    sums.differences[c] += difference;
                    sums.squares[c] += difference * difference;
                    if (difference > texel.difference) texel.difference = difference;
                } else {
                    // Without branches, because the threads of a warp rarely agree whether their texels differ.
                    const unsigned ulp = __usad(a[c], b[c], 0);
                    tally.differing[c] += ulp != 0 ? 1 : 0;
                    tally.max_ulp[c] = max(tally.max_ulp[c], ulp);
                    texel.ulp = max(texel.ulp, ulp);
                    ++histogram[bin_of(ulp)][threadIdx.x];
                    differences[c] = __usad(a[c], b[c], differences[c]);
                    tally.squares[c] += std::uint64_t{ulp} * ulp;
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
        }
#pragma unroll
        for (int c = 0; c < kChannels; ++c) tally.differences[c] += differences[c];
        __syncwarp();
        if (finds_worst) {
            worst = over_warp(worst);
            if (lane == 0) worst_of_segments[segment] = worst;
        }
        if constexpr (kRounded) {
#pragma unroll
            for (int c = 0; c < kChannels; ++c) {
                sums.differences[c] = over_warp(sums.differences[c], Sum{});
                sums.squares[c] = over_warp(sums.squares[c], Sum{});
            }
            if (lane == 0) sums_of_segments[segment] = sums;
        }
    }
    __syncthreads();
    add_over_warp<kRounded>(*result, tally);
    // Equal channels are not part of the histogram.
    for (unsigned bin = 1 + threadIdx.x / 32; bin < kBins; bin += kThreads / 32) {
        unsigned long long count = 0;
        for (unsigned i = lane; i < kThreads; i += 32) count += histogram[bin][i];
        add_over_warp(result->histogram[bin], count);
    }
}

constexpr unsigned kSelecting = DifferenceBlocks::kSelectingThreads;

/// A difference and its number among all differences.
struct Numbered {
    TexelDifference texel{0, 0, 0};
    unsigned number = kNoneSelected;

    __device__ void take_worse(const Numbered& other) {
        if (worse(other.texel, texel)) *this = other;
    }
};

/// Returns the worst difference of all threads of the warp, to the first of them.
__device__ Numbered over_warp(Numbered worst) {
    for (unsigned apart = 16; apart != 0; apart /= 2)
        worst.take_worse({shifted_down(worst.texel, apart), __shfl_down_sync(kAllLanes, worst.number, apart)});
    return worst;
}

/// Each thread knows the worst of its differences that is not selected yet.
__global__ void __launch_bounds__(kSelecting)
    select_worst(const TexelDifference* differences, const unsigned n, const unsigned count, unsigned* selected) {
    __shared__ Numbered of_warps[kSelecting / 32];
    __shared__ Numbered of_all;
    Numbered mine;
    for (unsigned i = threadIdx.x; i < n; i += kSelecting) mine.take_worse({differences[i], i});
    for (unsigned place = 0; place < count; ++place) {
        const Numbered of_warp = over_warp(mine);
        if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = of_warp;
        __syncthreads();
        if (threadIdx.x < 32) {
            const Numbered worst = over_warp(of_warps[threadIdx.x]);
            if (threadIdx.x == 0) {
                of_all = worst;
                selected[place] = worst.texel.ulp == 0 ? kNoneSelected : worst.number;
            }
        }
        __syncthreads();
        const Numbered last = of_all;
        if (last.texel.ulp == 0 || mine.number != last.number) continue;
        mine = {};
        for (unsigned i = threadIdx.x; i < n; i += kSelecting) {
            if (worse(last.texel, differences[i])) mine.take_worse({differences[i], i});
        }
    }
}

/// The addresses of a texel of both images.
struct TexelAddresses {
    const std::byte* a;
    const std::byte* b;

    __device__ TexelAddresses(const ComparedImages& images, std::uint64_t at) {
        const std::uint64_t row = at / images.width, x = at - row * images.width;
        a = images.a.at(images.format, x, row % images.height, row / images.height);
        b = images.b.at(images.format, x, row % images.height, row / images.height);
    }
};

__global__ void __launch_bounds__(kThreads)
    segment_differences(const __grid_constant__ ComparedImages images, const unsigned* segments,
                        TexelDifference* differences) {
    const CodeFormat& format = images.format;
    const std::uint64_t segment = segments[blockIdx.x];
    for (unsigned i = threadIdx.x; i < kSegment; i += kThreads) {
        const std::uint64_t at = segment * kSegment + i;
        TexelDifference texel{0, 0, static_cast<unsigned>(at)};
        if (at < images.texels()) {
            const TexelAddresses from(images, at);
            for (unsigned c = 0; c < images.channels; ++c) {
                const std::uint32_t a = format.code(from.a, c), b = format.code(from.b, c);
                const std::uint32_t ulp = format.distance(a, b);
                texel.ulp = max(texel.ulp, ulp);
                const double difference = difference_of(format, a, b, c, ulp) / format.divisor(c);
                if (difference > texel.difference) texel.difference = difference;
            }
        }
        differences[std::uint64_t{blockIdx.x} * kSegment + i] = texel;
    }
}

__global__ void __launch_bounds__(kThreads)
    copy_texels(const __grid_constant__ ComparedImages images, const TexelDifference* differences,
                const unsigned* selected, const unsigned count, TexelPair* pairs) {
    const unsigned i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= count) return;
    TexelPair pair{differences[selected[i]].at, {}, {}};
    const TexelAddresses from(images, pair.at);
    for (std::size_t byte = 0; byte < images.format.texel_bytes(); ++byte) {
        pair.a[byte] = from.a[byte];
        pair.b[byte] = from.b[byte];
    }
    pairs[i] = pair;
}

template <Codes codes, class Texels>
const void* kernel() {
    return reinterpret_cast<const void*>(&find_differences<codes, Texels>);
}

}  // namespace

const void* differences_kernel(const CodeFormat& format) {
    return with_texels(format, [&](auto texels) -> const void* {
        using Texels = decltype(texels);
        if constexpr (Texels::kBits == 8)
            return kernel<Codes::are_short, Texels>();
        else if constexpr (Texels::kBits == 16)
            return format.is_float() ? kernel<Codes::are_floats, Texels>() : kernel<Codes::are_short, Texels>();
        else if constexpr (Texels::kBits == 32)
            return format.is_float() ? kernel<Codes::are_floats, Texels>() : kernel<Codes::are_any, Texels>();
        else
            return format.has_short_codes() ? kernel<Codes::are_short, Texels>() : kernel<Codes::are_any, Texels>();
    });
}

const void* select_worst_kernel() { return reinterpret_cast<const void*>(&select_worst); }
const void* segment_differences_kernel() { return reinterpret_cast<const void*>(&segment_differences); }
const void* copy_texels_kernel() { return reinterpret_cast<const void*>(&copy_texels); }

}  // namespace texton::detail

// SSIM on a CUDA device. A block computes a tile of windows from top to bottom, a few rows at a time: it loads values of
// both images, filters them along the rows, and filters the results down the columns. The filtered rows are in a ring,
// so that each row is filtered once. A thread computes four neighboring results, because they share most of what they
// read. The order of each sum is that of kernels/metrics/filter.h.
#include <cuda_fp16.h>

#include <type_traits>

#include "kernels/cuda/comparison.h"
#include "kernels/cuda/over_warp.h"
#include "kernels/cuda/stored_codes.h"

namespace texton::detail {
namespace {

constexpr unsigned kThreads = SsimBlocks::kThreads, kTaps = kSsimWindow, kMiddle = kTaps / 2, kMoments = 4;
constexpr unsigned kWidth = kSsimTileWidth, kRows = 8, kOutputs = 4;
constexpr unsigned kRing = 20;  // at least kRows + kTaps - 1, and a multiple of kOutputs
constexpr unsigned kLoaded = kWidth + kTaps - 1, kStride = kWidth + 12;  // a multiple of 4 above kLoaded

static_assert(kRows * kWidth == kThreads * kOutputs && kSsimTileHeight % kRows == 0);
static_assert(kRing >= kRows + kTaps - 1 && kRing % kOutputs == 0);

/// The plane of a block: a channel or luma.
struct Plane {
    const CodeFormat& format;
    double scale;
    unsigned number;
    float factors[3];

    __device__ Plane(const ComparedImages& images, const SsimWeights& weights)
        : format(images.format), scale(weights.scale), number(weights.planes[blockIdx.y]) {
        for (unsigned c = 0; c < 3; ++c) factors[c] = format.factor(is_luma() ? c : number, scale);
    }
    __device__ bool is_luma() const { return number == kSsimLuma; }
};

__device__ float luma_of(float red, float green, float blue) {
    return kSsimRed * red + kSsimGreen * green + kSsimBlue * blue;
}

// What follows returns CodeFormat::finite_value() of a channel.

/// Integers with short codes, which are not packed.
template <class Stored>
struct Integers {
    using Channel = Stored;
    ShortOrder order;

    __device__ explicit Integers(const Plane& plane) : order(plane.format) {}
    __device__ float value(Stored stored, const Plane& plane, unsigned factor) const {
        const auto code = static_cast<int>(order(stored));
        return static_cast<float>(code - static_cast<int>(order.flipped)) *
               plane.factors[factor];  // flipped is the code of 0
    }
};

/// Floats, which are not packed.
template <class Stored>
struct Floats {
    using Channel = Stored;

    __device__ explicit Floats(const Plane&) {}
    __device__ float value(Stored stored, const Plane& plane, unsigned) const {
        const float number = sizeof(Stored) == 2 ? __half2float(__ushort_as_half(static_cast<unsigned short>(stored)))
                                                 : __uint_as_float(stored);
        const double scaled = isfinite(number) ? static_cast<double>(number) * plane.scale : 0;
        return static_cast<float>(scaled < -kFarOut ? -kFarOut : scaled > kFarOut ? kFarOut : scaled);
    }
};

/// Values of texels whose channels Decoder decodes.
template <class Decoder, bool luma>
struct DecodedValue {
    using Channel = typename Decoder::Channel;
    struct alignas(4 * sizeof(Channel)) Texel {
        Channel channel[4];
    };
    const Plane& plane;
    Decoder decoder;

    __device__ explicit DecodedValue(const Plane& of) : plane(of), decoder(of) {}
    __device__ float operator()(const std::byte* from) const {
        if constexpr (luma) {  // all formats with luma have four channels
            const Texel texel = *reinterpret_cast<const Texel*>(from);
            return luma_of(decoder.value(texel.channel[0], plane, 0), decoder.value(texel.channel[1], plane, 1),
                           decoder.value(texel.channel[2], plane, 2));
        } else {
            return decoder.value(reinterpret_cast<const Channel*>(from)[plane.number], plane, 0);
        }
    }
};

/// Values of texels of any format.
struct AnyValue {
    const Plane& plane;

    __device__ float operator()(const std::byte* texel) const {
        return plane.is_luma() ? luma_of(channel(texel, 0, 0), channel(texel, 1, 1), channel(texel, 2, 2))
                               : channel(texel, plane.number, 0);
    }

private:
    __device__ float channel(const std::byte* texel, unsigned c, unsigned factor) const {
        return plane.format.finite_value(plane.format.code(texel, c), c, plane.scale, plane.factors[factor]);
    }
};

/// Calls `action` with a function that returns the value of a texel. `has_integers` tells whether texels are plain
/// integers with short codes.
template <bool has_integers, class Action>
__device__ void with_values(const Plane& plane, const Action& action) {
    const auto decoded = [&]<class Decoder>(const Decoder*) {
        if (plane.is_luma())
            action(DecodedValue<Decoder, true>(plane));
        else
            action(DecodedValue<Decoder, false>(plane));
    };
    const CodeFormat& format = plane.format;
    if constexpr (has_integers)
        format.bits() == 8 ? decoded(static_cast<Integers<std::uint8_t>*>(nullptr))
                           : decoded(static_cast<Integers<std::uint16_t>*>(nullptr));
    else if (format.is_packed() || !format.is_float())
        action(AnyValue{plane});
    else
        format.bits() == 16 ? decoded(static_cast<Floats<std::uint16_t>*>(nullptr))
                            : decoded(static_cast<Floats<std::uint32_t>*>(nullptr));
}

/// The windows of a block.
struct WindowTile {
    std::uint64_t x, y, z;  // of the first window
    unsigned width, height;

    __device__ WindowTile(const ComparedImages& images, const SsimWeights& weights)
        : WindowTile(images, weights, blockIdx.x) {}

    /// Returns the mean of the values at the center of the tile's texels.
    __device__ float center(const ComparedImages& images, const SsimWeights& weights, const Plane& plane) const {
        const unsigned columns = width + weights.across_count - 1, rows = height + weights.down_count - 1;
        const unsigned middle = columns * rows / 2;
        const std::uint64_t at_x = x + middle % columns, at_y = y + middle / columns;
        const AnyValue value{plane};
        return (value(images.a.at(images.format, at_x, at_y, z)) + value(images.b.at(images.format, at_x, at_y, z))) /
               2;
    }

private:
    __device__ WindowTile(const ComparedImages& images, const SsimWeights& weights, unsigned tile) {
        const std::uint64_t all_columns = images.width - weights.across_count + 1;
        const std::uint64_t all_rows = images.height - weights.down_count + 1;
        const auto across = static_cast<unsigned>((all_columns + kWidth - 1) / kWidth);
        const auto down = static_cast<unsigned>((all_rows + kSsimTileHeight - 1) / kSsimTileHeight);
        x = std::uint64_t{tile % across} * kWidth;
        y = std::uint64_t{tile / across % down} * kSsimTileHeight;
        z = tile / across / down;
        width = static_cast<unsigned>(all_columns - x < kWidth ? all_columns - x : kWidth);
        height = static_cast<unsigned>(all_rows - y < kSsimTileHeight ? all_rows - y : kSsimTileHeight);
    }
};

/// Returns the weighted sum of the first kTaps values of an array.
__device__ float weighted(const float* values, const float (&weights)[kTaps]) {
    float sum = weights[kMiddle] * values[kMiddle];
#pragma unroll
    for (unsigned k = 0; k < kMiddle; ++k) sum += weights[k] * (values[k] + values[kTaps - 1 - k]);
    return sum;
}

__device__ void add_to(unsigned long long* result, long long sum) {
    sum = over_warp(sum, Sum{});
    if (threadIdx.x % 32 == 0) atomicAdd(&result[blockIdx.y], static_cast<unsigned long long>(sum));
}

struct Shared {
    float values[2][kTaps - 1][kStride];  // p and q of the rows being loaded: at first kTaps - 1, then kRows at a time
    float moments[kMoments][kRing][kWidth];
};

/// Loads rows of the tile from `first` on. `value` returns the value of a texel. What is loaded beyond the end of the
/// tile is not used.
template <unsigned rows, class Value>
__device__ void load_rows(Shared& shared, const ComparedImages& images, const WindowTile& tile, float center,
                          unsigned first, const Value& value) {
    const unsigned last_column = tile.width + kTaps - 2, last_row = tile.height + kTaps - 2;
    const auto bytes = static_cast<unsigned>(images.format.texel_bytes());
    const auto pitch_a = static_cast<unsigned>(images.a.pitch), pitch_b = static_cast<unsigned>(images.b.pitch);
    const std::byte* const a = images.a.at(images.format, tile.x, tile.y, tile.z);
    const std::byte* const b = images.b.at(images.format, tile.x, tile.y, tile.z);
    const auto load = [&](unsigned row, unsigned column) {
        const std::uint64_t from_row = min(first + row, last_row);
        const unsigned at = min(column, last_column) * bytes;
        shared.values[0][row][column] = value(a + at + from_row * pitch_a) - center;
        shared.values[1][row][column] = value(b + at + from_row * pitch_b) - center;
    };
#pragma unroll
    for (unsigned row = 0; row < rows; row += kThreads / kWidth) load(row + threadIdx.x / kWidth, threadIdx.x % kWidth);
    constexpr unsigned kRest = 16;  // the last columns, which only the last windows of a row need
    static_assert(kLoaded - kWidth <= kRest && kThreads / kRest >= rows && rows % (kThreads / kWidth) == 0);
    const unsigned row = threadIdx.x / kRest, column = kWidth + threadIdx.x % kRest;
    if (row < rows && column < kLoaded) load(row, column);
}

template <bool has_integers, unsigned rows>
__device__ void load_rows(Shared& shared, const ComparedImages& images, const WindowTile& tile, float center,
                          unsigned first, const Plane& plane) {
    with_values<has_integers>(plane,
                              [&](const auto& value) { load_rows<rows>(shared, images, tile, center, first, value); });
}

/// Reads 16 values from a multiple of four on.
__device__ void read(const float* from, float (&values)[16]) {
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) reinterpret_cast<float4*>(values)[i] = reinterpret_cast<const float4*>(from)[i];
}

/// Filters the loaded rows along the rows.
__device__ void filter_rows(Shared& shared, const SsimWeights& weights, unsigned first, unsigned rows) {
    for (unsigned i = threadIdx.x; i < rows * (kWidth / kOutputs); i += kThreads) {
        const unsigned row = i / (kWidth / kOutputs), column = i % (kWidth / kOutputs) * kOutputs;
        const unsigned slot = (first + row) % kRing;
        float p[16], q[16];
        read(&shared.values[0][row][column], p);
        read(&shared.values[1][row][column], q);
        const auto store = [&](unsigned moment, const float(&values)[16]) {
            const float4 sums{weighted(values, weights.across), weighted(values + 1, weights.across),
                              weighted(values + 2, weights.across), weighted(values + 3, weights.across)};
            reinterpret_cast<float4&>(shared.moments[moment][slot][column]) = sums;
        };
        store(0, p);
        store(1, q);
        float products[16];
#pragma unroll
        for (unsigned j = 0; j < 14; ++j) products[j] = p[j] * p[j] + q[j] * q[j];
        store(2, products);
#pragma unroll
        for (unsigned j = 0; j < 14; ++j) products[j] = p[j] * q[j];
        store(3, products);
    }
}

/// Returns the sum of the similarities of windows of a column, four below each other, from row `first` on.
__device__ long long similarities(const Shared& shared, const SsimWeights& weights, const WindowTile& tile,
                                  float center, unsigned first) {
    const unsigned column = threadIdx.x % kWidth, row = first + threadIdx.x / kWidth * kOutputs;
    constexpr unsigned kGroups = (kTaps + kOutputs - 1 + kOutputs - 1) / kOutputs;
    unsigned slots[kGroups];  // of the first of each group of kOutputs rows
    slots[0] = row % kRing;
#pragma unroll
    for (unsigned i = 1; i < kGroups; ++i) slots[i] = (slots[i - 1] + kOutputs) % kRing;
    float moments[kMoments][kOutputs];
#pragma unroll
    for (unsigned m = 0; m < kMoments; ++m) {
        float values[kTaps + kOutputs - 1];
#pragma unroll
        for (unsigned i = 0; i < kTaps + kOutputs - 1; ++i)
            values[i] = shared.moments[m][slots[i / kOutputs] + i % kOutputs][column];
#pragma unroll
        for (unsigned i = 0; i < kOutputs; ++i) moments[m][i] = weighted(values + i, weights.down);
    }
    long long sum = 0;
#pragma unroll
    for (unsigned i = 0; i < kOutputs; ++i) {
        if (column < tile.width && row + i < tile.height)
            sum += fixed_similarity(moments[0][i], moments[1][i], moments[2][i], moments[3][i], center);
    }
    return sum;
}

template <bool has_integers>
__global__ void __launch_bounds__(kThreads, 4)
    full_windows(const __grid_constant__ ComparedImages images, const __grid_constant__ SsimWeights weights,
                 unsigned long long* result) {
    extern __shared__ __align__(16) std::byte memory[];
    Shared& shared = *reinterpret_cast<Shared*>(memory);
    const WindowTile tile(images, weights);
    const Plane plane(images, weights);
    const float center = tile.center(images, weights, plane);
    load_rows<has_integers, kTaps - 1>(shared, images, tile, center, 0, plane);
    __syncthreads();
    filter_rows(shared, weights, 0, kTaps - 1);
    long long sum = 0;
    for (unsigned first = 0; first < tile.height; first += kRows) {
        __syncthreads();
        load_rows<has_integers, kRows>(shared, images, tile, center, first + kTaps - 1, plane);
        __syncthreads();
        filter_rows(shared, weights, first + kTaps - 1, kRows);
        __syncthreads();
        sum += similarities(shared, weights, tile, center, first);
    }
    add_to(result, sum);
}

/// Filters values of any number in the order of kernels/metrics/filter.h.
template <class Value>
__device__ float filtered(const float* weights, unsigned count, const Value& value) {
    if (count % 2 == 0) {
        float sum = 0;
        for (unsigned k = 0; k < count; ++k) sum += weights[k] * value(k);
        return sum;
    }
    const unsigned middle = count / 2;
    float sum = weights[middle] * value(middle);
    for (unsigned k = 0; k < middle; ++k) sum += weights[k] * (value(k) + value(count - 1 - k));
    return sum;
}

/// For images that are smaller than a full window along an axis. Each thread computes whole windows.
__global__ void __launch_bounds__(kThreads)
    small_windows(const __grid_constant__ ComparedImages images, const __grid_constant__ SsimWeights weights,
                  unsigned long long* result) {
    const WindowTile tile(images, weights);
    const Plane plane(images, weights);
    const AnyValue value{plane};
    const float center = tile.center(images, weights, plane);
    long long sum = 0;
    for (unsigned i = threadIdx.x; i < tile.width * tile.height; i += kThreads) {
        const std::uint64_t x = tile.x + i % tile.width, y = tile.y + i / tile.width;
        float moments[kMoments];
        for (unsigned m = 0; m < kMoments; ++m) {
            float rows[kTaps];
            for (unsigned row = 0; row < weights.down_count; ++row) {
                rows[row] = filtered(weights.across, weights.across_count, [&](unsigned k) {
                    const float p = value(images.a.at(images.format, x + k, y + row, tile.z)) - center;
                    const float q = value(images.b.at(images.format, x + k, y + row, tile.z)) - center;
                    return m == 0 ? p : m == 1 ? q : m == 2 ? p * p + q * q : p * q;
                });
            }
            moments[m] = filtered(weights.down, weights.down_count, [&](unsigned k) { return rows[k]; });
        }
        sum += fixed_similarity(moments[0], moments[1], moments[2], moments[3], center);
    }
    add_to(result, sum);
}

}  // namespace

unsigned similarity_bytes(bool has_full_windows) { return has_full_windows ? sizeof(Shared) : 0; }

const void* similarity_kernel(const CodeFormat& format, bool has_full_windows) {
    if (!has_full_windows) return reinterpret_cast<const void*>(&small_windows);
    const bool has_integers = format.has_short_codes() && !format.is_packed();
    return has_integers ? reinterpret_cast<const void*>(&full_windows<true>)
                        : reinterpret_cast<const void*>(&full_windows<false>);
}

}  // namespace texton::detail

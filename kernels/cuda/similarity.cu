// SSIM on a CUDA device. A block computes a tile of windows from top to bottom, a few rows at a time: it filters values of
// both images down the columns, and filters the results along the rows. The values are in a ring of rows, so that each is
// loaded once, while the results of the rows above it are filtered. A thread computes four neighboring results, because they
// share most of what they read. The sums are those of kernels/metrics/weighted_sum.h.
#include <cuda_fp16.h>

#include <type_traits>

#include "kernels/cuda/comparison.h"
#include "kernels/cuda/over_warp.h"
#include "kernels/cuda/stored_codes.h"
#include "kernels/metrics/weighted_sum.h"

namespace texton::detail {
namespace {

constexpr unsigned kThreads = SsimBlocks::kThreads, kTaps = kSsimWindow, kMoments = 4;
constexpr unsigned kWidth = kSsimTileWidth, kRows = 8, kOutputs = 4;
constexpr unsigned kStride = 144;  // values of a row: at least those that the windows of a row need
constexpr unsigned kRing = 20;     // rows: at least those that kRows rows of windows need

static_assert(kThreads == kStride * (kRows / kOutputs), "a thread filters a column of kOutputs results");
static_assert(kRows * kWidth <= kThreads * kOutputs && kSsimTileHeight % kRows == 0);
static_assert(kStride >= kWidth + kTaps - 1 && kStride % kOutputs == 0);
static_assert(kRing >= kRows + kTaps - 1 && kRing % kOutputs == 0 && kRows % kOutputs == 0);

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

/// Not inlined, since the code of the many formats would be the largest part of the kernels.
__device__ __noinline__ float value_of_any(const CodeFormat& format, const std::byte* texel, unsigned channel,
                                           double scale, float factor) {
    return format.finite_value(format.code(texel, channel), channel, scale, factor);
}

/// Values of texels of any format.
struct AnyValue {
    const Plane& plane;

    __device__ float operator()(const std::byte* texel) const {
        return plane.is_luma() ? luma_of(channel(texel, 0, 0), channel(texel, 1, 1), channel(texel, 2, 2))
                               : channel(texel, plane.number, 0);
    }

private:
    __device__ float channel(const std::byte* texel, unsigned c, unsigned factor) const {
        return value_of_any(plane.format, texel, c, plane.scale, plane.factors[factor]);
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

__device__ void add_to(unsigned long long* result, long long sum) {
    sum = over_warp(sum, Sum{});
    if (threadIdx.x % 32 == 0) atomicAdd(&result[blockIdx.y], static_cast<unsigned long long>(sum));
}

struct Shared {
    float values[2][kRing][kStride];          // p and q, in the ring of rows
    float moments[kMoments][kRows][kStride];  // filtered down the columns
};

/// Loads `rows` rows of the tile from `first` on. `value` returns the value of a texel. What is loaded beyond the end of
/// the tile is not used.
template <unsigned rows, class Value>
__device__ void load_rows(Shared& shared, const ComparedImages& images, const WindowTile& tile, float center,
                          unsigned first, const Value& value) {
    const unsigned last_column = tile.width + kTaps - 2, last_row = tile.height + kTaps - 2;
    const auto bytes = static_cast<unsigned>(images.format.texel_bytes());
    const auto pitch_a = static_cast<unsigned>(images.a.pitch), pitch_b = static_cast<unsigned>(images.b.pitch);
    const std::byte* const a = images.a.at(images.format, tile.x, tile.y, tile.z);
    const std::byte* const b = images.b.at(images.format, tile.x, tile.y, tile.z);
    constexpr unsigned kAtOnce = kThreads / kStride;
    static_assert(rows % kAtOnce == 0);
    const unsigned column = threadIdx.x % kStride, at = min(column, last_column) * bytes;
#pragma unroll
    for (unsigned i = 0; i < rows; i += kAtOnce) {
        const unsigned row = first + i + threadIdx.x / kStride;
        const std::uint64_t from_row = min(row, last_row);
        shared.values[0][row % kRing][column] = value(a + at + from_row * pitch_a) - center;
        shared.values[1][row % kRing][column] = value(b + at + from_row * pitch_b) - center;
    }
}

template <bool has_integers, unsigned rows>
__device__ void load_rows(Shared& shared, const ComparedImages& images, const WindowTile& tile, float center,
                          unsigned first, const Plane& plane) {
    with_values<has_integers>(plane,
                              [&](const auto& value) { load_rows<rows>(shared, images, tile, center, first, value); });
}

/// Filters the values of the rows from `first` on down the columns. Each thread computes results of a column.
__device__ void filter_columns(Shared& shared, const SsimWeights& weights, unsigned first) {
    const unsigned column = threadIdx.x % kStride, group = threadIdx.x / kStride * kOutputs;
    constexpr unsigned kFrom = kOutputs + kTaps - 1;
    unsigned slot = (first + group) % kRing;  // of the first of each group of kOutputs rows
    float p[kFrom], q[kFrom];
#pragma unroll
    for (unsigned k = 0; k < kFrom; ++k) {
        if (k != 0 && k % kOutputs == 0) slot = slot + kOutputs == kRing ? 0 : slot + kOutputs;
        p[k] = shared.values[0][slot + k % kOutputs][column];
        q[k] = shared.values[1][slot + k % kOutputs][column];
    }
    const auto store = [&](unsigned moment, const float(&values)[kFrom]) {
#pragma unroll
        for (unsigned i = 0; i < kOutputs; ++i)
            shared.moments[moment][group + i][column] =
                weighted_sum(weights.down, kTaps, 1, [&](std::size_t k) { return values[i + k]; });
    };
    store(0, p);
    store(1, q);
    float products[kFrom];
#pragma unroll
    for (unsigned k = 0; k < kFrom; ++k) products[k] = p[k] * p[k] + q[k] * q[k];
    store(2, products);
#pragma unroll
    for (unsigned k = 0; k < kFrom; ++k) products[k] = p[k] * q[k];
    store(3, products);
}

/// Filters the results of filter_columns() along the rows, and returns the sum of the similarities of windows next to each
/// other. `first` is the first row of windows.
__device__ long long similarities(const Shared& shared, const SsimWeights& weights, const WindowTile& tile,
                                  float center, unsigned first) {
    const unsigned row = threadIdx.x / (kWidth / kOutputs), column = threadIdx.x % (kWidth / kOutputs) * kOutputs;
    if (row >= kRows) return 0;
    float moments[kMoments][kOutputs];
#pragma unroll
    for (unsigned m = 0; m < kMoments; ++m) {
        float values[16];
#pragma unroll
        for (unsigned i = 0; i < 4; ++i) {
            reinterpret_cast<float4*>(values)[i] = reinterpret_cast<const float4*>(&shared.moments[m][row][column])[i];
        }
#pragma unroll
        for (unsigned i = 0; i < kOutputs; ++i)
            moments[m][i] = weighted_sum(weights.across, kTaps, 1, [&](std::size_t k) { return values[i + k]; });
    }
    long long sum = 0;
#pragma unroll
    for (unsigned i = 0; i < kOutputs; ++i) {
        if (column + i < tile.width && first + row < tile.height)
            sum += fixed_similarity(moments[0][i], moments[1][i], moments[2][i], moments[3][i], center);
    }
    return sum;
}

template <bool has_integers>
__global__ void __launch_bounds__(kThreads, 3)
    full_windows(const __grid_constant__ ComparedImages images, const __grid_constant__ SsimWeights weights,
                 unsigned long long* result) {
    extern __shared__ __align__(16) std::byte memory[];
    Shared& shared = *reinterpret_cast<Shared*>(memory);
    const WindowTile tile(images, weights);
    const Plane plane(images, weights);
    const float center = tile.center(images, weights, plane);
#pragma unroll 1
    for (unsigned row = 0; row < kRing; row += kOutputs)
        load_rows<has_integers, kOutputs>(shared, images, tile, center, row, plane);
    __syncthreads();
    long long sum = 0;
    for (unsigned first = 0; first < tile.height; first += kRows) {
        filter_columns(shared, weights, first);
        __syncthreads();
        sum += similarities(shared, weights, tile, center, first);
        if (first + kRows < tile.height)
            load_rows<has_integers, kRows>(shared, images, tile, center, first + kRing, plane);
        __syncthreads();
    }
    add_to(result, sum);
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
            moments[m] = weighted_sum(weights.across, weights.across_count, 1, [&](std::size_t column) {
                return weighted_sum(weights.down, weights.down_count, 1, [&](std::size_t row) {
                    const float p = value(images.a.at(images.format, x + column, y + row, tile.z)) - center;
                    const float q = value(images.b.at(images.format, x + column, y + row, tile.z)) - center;
                    return m == 0 ? p : m == 1 ? q : m == 2 ? p * p + q * q : p * q;
                });
            });
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

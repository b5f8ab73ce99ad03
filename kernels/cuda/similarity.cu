// SSIM on a CUDA device. A block computes a tile of windows from top to bottom, a few rows at a time: it loads values of
// both images, filters them along the rows, and filters the results down the columns. The filtered rows are in a ring,
// so that each row is filtered once. A thread computes four neighboring results, because they share most of what they
// read. The order of each sum is that of kernels/metrics/filter.h.
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

/// Values of a channel or of luma, multiplied by the scale. Texels are Stored integers with short codes, or, if Stored is
/// void, of any format.
template <class Stored>
class Plane {
public:
    __device__ Plane(const ComparedImages& images, const SsimWeights& weights)
        : images_(images), scale_(weights.scale), plane_(weights.planes[blockIdx.y]), order_(images.format) {
        for (unsigned c = 0; c < 3; ++c) factors_[c] = images.format.factor(is_luma() ? c : plane_, scale_);
    }

    __device__ float value(const std::byte* texel) const {
        if (!is_luma()) return channel(texel, plane_, factors_[0]);
        return kSsimRed * channel(texel, 0, factors_[0]) + kSsimGreen * channel(texel, 1, factors_[1]) +
               kSsimBlue * channel(texel, 2, factors_[2]);
    }
    __device__ float value(const ComparedImage& image, std::uint64_t x, std::uint64_t y, std::uint64_t z) const {
        return value(image.at(images_.format, x, y, z));
    }

private:
    __device__ bool is_luma() const { return plane_ == kSsimLuma; }
    /// Returns CodeFormat::finite_value() of a channel.
    __device__ float channel(const std::byte* texel, unsigned c, float factor) const {
        if constexpr (std::is_void_v<Stored>) {
            return images_.format.finite_value(images_.format.code(texel, c), c, scale_, factor);
        } else {
            const auto code = static_cast<int>(order_(reinterpret_cast<const Stored*>(texel)[c]));
            return static_cast<float>(code - static_cast<int>(order_.flipped)) * factor;  // flipped is the code of 0
        }
    }

    const ComparedImages& images_;
    double scale_;
    unsigned plane_;
    ShortOrder order_;
    float factors_[3];
};

/// The windows of a block.
struct WindowTile {
    std::uint64_t x, y, z;  // of the first window
    unsigned width, height;

    __device__ WindowTile(const ComparedImages& images, const SsimWeights& weights)
        : WindowTile(images, weights, blockIdx.x) {}

    template <class Stored>
    __device__ float center(const ComparedImages& images, const SsimWeights& weights,
                            const Plane<Stored>& plane) const {
        const unsigned columns = width + weights.across_count - 1, rows = height + weights.down_count - 1;
        const unsigned middle = columns * rows / 2;
        const std::uint64_t at_x = x + middle % columns, at_y = y + middle / columns;
        return (plane.value(images.a, at_x, at_y, z) + plane.value(images.b, at_x, at_y, z)) / 2;
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

/// Returns the weighted sum of values that are `first` to `first` + 10 of an array.
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

/// Loads rows of the tile from `first` on.
template <unsigned rows, class Stored>
__device__ void load_rows(Shared& shared, const ComparedImages& images, const Plane<Stored>& plane,
                          const WindowTile& tile, float center, unsigned first) {
    const unsigned columns = tile.width + kTaps - 1, end = tile.height + kTaps - 1;
    const std::byte* const a = images.a.at(images.format, tile.x, tile.y + first, tile.z);
    const std::byte* const b = images.b.at(images.format, tile.x, tile.y + first, tile.z);
    const auto bytes = static_cast<unsigned>(images.format.texel_bytes());
    const auto load = [&](unsigned row, unsigned column) {
        shared.values[0][row][column] = plane.value(a + row * images.a.pitch + column * bytes) - center;
        shared.values[1][row][column] = plane.value(b + row * images.b.pitch + column * bytes) - center;
    };
    const auto load_columns = [&](unsigned from, auto count) {
        constexpr unsigned kCount = decltype(count)::value;
        const unsigned column = from + threadIdx.x % kCount;
#pragma unroll
        for (unsigned i = 0; i < rows; i += kThreads / kCount) {
            const unsigned row = i + threadIdx.x / kCount;
            if (row < rows && first + row < end && column < columns) load(row, column);
        }
    };
    constexpr unsigned kRest = 16;  // the last columns, which only the last windows of a row need
    static_assert(kLoaded - kWidth <= kRest);
    load_columns(0, std::integral_constant<unsigned, kWidth>());
    load_columns(kWidth, std::integral_constant<unsigned, kRest>());
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
#pragma unroll
    for (unsigned i = 0; i < kGroups; ++i) slots[i] = (row + i * kOutputs) % kRing;
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

template <class Stored>
__global__ void __launch_bounds__(kThreads, 4)
    full_windows(const __grid_constant__ ComparedImages images, const __grid_constant__ SsimWeights weights,
                 unsigned long long* result) {
    extern __shared__ __align__(16) std::byte memory[];
    Shared& shared = *reinterpret_cast<Shared*>(memory);
    const WindowTile tile(images, weights);
    const Plane<Stored> plane(images, weights);
    const float center = tile.center(images, weights, plane);
    load_rows<kTaps - 1>(shared, images, plane, tile, center, 0);
    __syncthreads();
    filter_rows(shared, weights, 0, kTaps - 1);
    long long sum = 0;
    for (unsigned first = 0; first < tile.height; first += kRows) {
        __syncthreads();
        load_rows<kRows>(shared, images, plane, tile, center, first + kTaps - 1);
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
    const Plane<void> plane(images, weights);
    const float center = tile.center(images, weights, plane);
    long long sum = 0;
    for (unsigned i = threadIdx.x; i < tile.width * tile.height; i += kThreads) {
        const std::uint64_t x = tile.x + i % tile.width, y = tile.y + i / tile.width;
        float moments[kMoments];
        for (unsigned m = 0; m < kMoments; ++m) {
            float rows[kTaps];
            for (unsigned row = 0; row < weights.down_count; ++row) {
                rows[row] = filtered(weights.across, weights.across_count, [&](unsigned k) {
                    const float p = plane.value(images.a, x + k, y + row, tile.z) - center;
                    const float q = plane.value(images.b, x + k, y + row, tile.z) - center;
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
    if (!format.has_short_codes() || format.is_packed()) return reinterpret_cast<const void*>(&full_windows<void>);
    return format.bits() == 8 ? reinterpret_cast<const void*>(&full_windows<std::uint8_t>)
                              : reinterpret_cast<const void*>(&full_windows<std::uint16_t>);
}

}  // namespace texton::detail

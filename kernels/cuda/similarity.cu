// SSIM on a CUDA device. A block computes a tile of windows from top to bottom, a few rows at a time: it loads values of
// both images, filters them along the rows, and filters the results down the columns. The filtered rows are in a ring,
// so that each row is filtered once. A thread computes four neighboring results, because they share most of what they
// read. The order of each sum is that of kernels/metrics/filter.h.
#include "kernels/cuda/comparison.h"
#include "kernels/cuda/over_warp.h"

namespace texton::detail {
namespace {

constexpr unsigned kThreads = SsimBlocks::kThreads, kTaps = kSsimWindow, kMiddle = kTaps / 2, kMoments = 4;
constexpr unsigned kWidth = kSsimTileWidth, kRows = 8, kRing = kRows + kTaps - 1, kOutputs = 4;
constexpr unsigned kLoaded = kWidth + kTaps - 1, kStride = kWidth + 12;  // a multiple of 4 above kLoaded

static_assert(kRows * kWidth == kThreads * kOutputs && kSsimTileHeight % kRows == 0);

/// Values of a channel or of luma, multiplied by the scale.
class Plane {
public:
    __device__ Plane(const ComparedImages& images, double scale)
        : images_(images), scale_(scale), is_luma_(blockIdx.y == images.channels) {
        for (unsigned c = 0; c < 3; ++c) factors_[c] = images.format.factor(is_luma_ ? c : blockIdx.y, scale);
    }

    __device__ float value(const ComparedImage& image, std::uint64_t x, std::uint64_t y, std::uint64_t z) const {
        const CodeFormat& format = images_.format;
        const std::byte* const texel = image.at(format, x, y, z);
        if (!is_luma_) return channel(texel, blockIdx.y, factors_[0]);
        return kSsimRed * channel(texel, 0, factors_[0]) + kSsimGreen * channel(texel, 1, factors_[1]) +
               kSsimBlue * channel(texel, 2, factors_[2]);
    }

private:
    __device__ float channel(const std::byte* texel, unsigned c, float factor) const {
        return images_.format.finite_value(images_.format.code(texel, c), c, scale_, factor);
    }

    const ComparedImages& images_;
    double scale_;
    bool is_luma_;
    float factors_[3];
};

/// The windows of a block.
struct WindowTile {
    std::uint64_t x, y, z;  // of the first window
    unsigned width, height;

    __device__ WindowTile(const ComparedImages& images, const SsimWeights& weights)
        : WindowTile(images, weights, blockIdx.x) {}

    __device__ float center(const ComparedImages& images, const SsimWeights& weights, const Plane& plane) const {
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
__device__ void load_rows(Shared& shared, const ComparedImages& images, const Plane& plane, const WindowTile& tile,
                          float center, unsigned first, unsigned rows) {
    const unsigned columns = tile.width + kTaps - 1, last = tile.height + kTaps - 2;
    for (unsigned i = threadIdx.x; i < rows * kLoaded; i += kThreads) {
        const unsigned row = i / kLoaded, column = i % kLoaded;
        if (column >= columns || first + row > last) continue;
        const std::uint64_t x = tile.x + column, y = tile.y + first + row;
        shared.values[0][row][column] = plane.value(images.a, x, y, tile.z) - center;
        shared.values[1][row][column] = plane.value(images.b, x, y, tile.z) - center;
    }
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
    float moments[kMoments][kOutputs];
#pragma unroll
    for (unsigned m = 0; m < kMoments; ++m) {
        float values[kTaps + kOutputs - 1];
        unsigned slot = row % kRing;
#pragma unroll
        for (unsigned i = 0; i < kTaps + kOutputs - 1; ++i) {
            values[i] = shared.moments[m][slot][column];
            slot = slot + 1 == kRing ? 0 : slot + 1;
        }
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

__global__ void __launch_bounds__(kThreads, 4)
    full_windows(const __grid_constant__ ComparedImages images, const __grid_constant__ SsimWeights weights,
                 unsigned long long* result) {
    __shared__ __align__(16) Shared shared;
    const WindowTile tile(images, weights);
    const Plane plane(images, weights.scale);
    const float center = tile.center(images, weights, plane);
    load_rows(shared, images, plane, tile, center, 0, kTaps - 1);
    __syncthreads();
    filter_rows(shared, weights, 0, kTaps - 1);
    long long sum = 0;
    for (unsigned first = 0; first < tile.height; first += kRows) {
        __syncthreads();
        load_rows(shared, images, plane, tile, center, first + kTaps - 1, kRows);
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
    const Plane plane(images, weights.scale);
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

const void* similarity_kernel(bool has_full_windows) {
    return has_full_windows ? reinterpret_cast<const void*>(&full_windows)
                            : reinterpret_cast<const void*>(&small_windows);
}

}  // namespace texton::detail

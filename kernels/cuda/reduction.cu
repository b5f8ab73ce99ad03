// Separable filters that make images smaller, in one CUDA kernel that does not use the texture unit, for texels and
// pixels of the same format. Terms are added in the order of the functor SeparableSum.
//
// A warp computes adjacent columns of pixels from top to bottom. It stages a few rows of texels in shared memory as they
// are stored, and loads the next rows while it sums these. Each row of texels is summed once: its sums are added, with
// the weight of the row, to all pixels that it belongs to. These are the open rows of pixels.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "kernels/cuda/filter_weights.h"
#include "kernels/cuda/stored_resampling.h"
#include "kernels/cuda/value_strips.h"

namespace texton::resampling {
namespace {

using detail::kValues;

constexpr int kLanes = 32;
constexpr int kWarps = 4;                  // of a block
constexpr int kMinRows = 4;                // of pixels that a block computes
constexpr int kMaxAtOnce = 8;              // rows of texels that are staged at the same time
constexpr int kFewTaps = 4;                // whose weights are kept in registers
constexpr int kFewOpen = 3;                // open rows of pixels, if these are far apart
constexpr int kLanczosOpen = 7;            // the same for Lanczos filters
constexpr unsigned kMaxBytes = 100 << 10;  // of shared memory, so that two blocks run at the same time

/// Values of a piece of 16 bytes.
template <class Format>
constexpr int kPieceValues = 16 / static_cast<int>(sizeof(typename Format::Stored));

/// Pieces that a thread loads before it waits for the first one, of 8, 16 and 32-bit values. Two rows of 8 or 16-bit
/// values fit if pixels are four texels apart. More rows are open only if they are closer to each other.
template <class Format, int open>
constexpr int kLoads = std::array{3, open <= kFewOpen ? 5 : 4, 6}[sizeof(typename Format::Stored) / 2];

/// Blocks of a multiprocessor at the same time.
template <class Format>
constexpr unsigned kBlocks = sizeof(typename Format::Stored) == 4 ? 4 : 6;

/// Rows of pixels that a block computes, at most. Lanczos filters read more rows before the first one is finished.
template <int open>
constexpr unsigned kMaxRows = open < kLanczosOpen ? 16 : 64;

/// Pixels of a thread, kLanes apart.
template <int channels>
constexpr int kPixels = kValues / channels;

struct Job {
    detail::ValueStrips strips;
    Grid grid;
    ResampleFilter filter;
    std::int32_t rows;          // of pixels that a block computes
    std::int32_t across;        // texels that a pixel reads along a row, at most
    std::int32_t down;          // the same along a column
    std::int32_t texel_rows;    // that a block reads, at most
    std::int32_t pieces;        // of 16 bytes that a warp reads of a row
    std::int32_t rows_at_once;  // of texels that are staged at the same time
};

/// The weights of a row of texels for the open rows of pixels, and how many of these need no further texels.
template <int open>
struct alignas(16) RowOfTexels {
    float weight[open];
    std::int32_t finished;
};

/// Shared memory of a block.
template <int open>
struct Memory {
    RowOfTexels<open>* rows;
    float* row_weights;   // of each row of pixels
    std::int32_t* first;  // row of texels of each row of pixels
    std::int32_t* end;
    float* weights;  // of the columns of a warp: for each tap, those of all columns
    uint4* staged;

    __device__ Memory(const Job& job, uint4* memory, int columns, int warp) {
        auto* next = reinterpret_cast<std::byte*>(memory);
        const auto take = [&]<class T>(std::int32_t count, T*& at) {
            at = reinterpret_cast<T*>(next);
            next += static_cast<std::size_t>(count) * sizeof(T);
        };
        take(kWarps * job.rows_at_once * job.pieces, staged);
        take(job.texel_rows, rows);
        take(job.rows * job.down, row_weights);
        take(job.rows, first);
        take(job.rows, end);
        take(kWarps * job.across * columns, weights);
        staged += warp * job.rows_at_once * job.pieces;
        weights += warp * job.across * columns;
    }
    static unsigned bytes(const Job& job, int columns) {
        const std::size_t staged = std::size_t{kWarps} * job.rows_at_once * job.pieces * sizeof(uint4);
        const std::size_t rows = job.texel_rows * sizeof(RowOfTexels<open>);
        const std::int32_t words = job.rows * (job.down + 2) + kWarps * job.across * columns;
        return static_cast<unsigned>(staged + rows + static_cast<std::size_t>(words) * 4);
    }
};

/// Computes the weights of the rows of a block from y on. All threads of the block must call this function.
template <int open>
__device__ void compute_rows(const Job& job, const Memory<open>& memory, std::int32_t y, std::int32_t rows,
                             std::int32_t thread) {
    constexpr std::int32_t kThreads = kLanes * kWarps;
    for (std::int32_t i = thread; i < job.texel_rows; i += kThreads) memory.rows[i] = {};
    for (std::int32_t row = thread; row < rows; row += kThreads) {
        const TapSpan span = compute_weights(job.filter, job.grid.y, y + row, memory.row_weights + row * job.down, 1);
        memory.first[row] = span.first;
        memory.end[row] = span.first + span.count;
    }
    __syncthreads();
    for (std::int32_t i = thread; i < rows * job.down; i += kThreads) {
        const std::int32_t row = i / job.down;
        const std::int32_t texel = memory.first[row] + i % job.down;
        if (texel >= memory.end[row]) continue;
        std::int32_t before = 0;  // open rows of pixels before this one
        while (before < row && memory.end[row - before - 1] > texel) ++before;
        RowOfTexels<open>& at = memory.rows[texel - memory.first[0]];
        at.weight[before] = memory.row_weights[i];
        if (texel == memory.end[row] - 1) atomicAdd(&at.finished, 1);
    }
    __syncthreads();
}

/// Copies rows of texels to shared memory. A thread loads pieces of 16 bytes. Texels at the edges, which are repeated
/// beyond them, are copied value by value.
template <class Format, int channels, int loads>
class Stage {
public:
    using Stored = typename Format::Stored;

    /// The warp reads the values from `begin` to `end` of a row. `begin` is a multiple of kPieceValues.
    __device__ Stage(const Job& job, uint4* staged, std::int32_t begin, std::int32_t end)
        : job_(job),
          staged_(staged),
          begin_(begin),
          pieces_(::min((end - begin + kPieceValues<Format> - 1) / kPieceValues<Format>, job.pieces)),
          layer_(job.strips.layered ? blockIdx.z : 0) {
        const std::int32_t width = static_cast<std::int32_t>(job.strips.texels.width) * channels;
        inside_ = ::min(::max(-begin, 0) / kPieceValues<Format>, pieces_);
        outside_ = ::max(::min((width - begin) / kPieceValues<Format>, pieces_), inside_);
#pragma unroll
        for (int i = 0; i < loads; ++i) {
            const std::int32_t piece = i * kLanes + static_cast<std::int32_t>(threadIdx.x);
            const std::int32_t in_row = piece % job.pieces;
            const bool is_inside = in_row >= inside_ && in_row < outside_;
            place_[i] = static_cast<unsigned>(is_inside ? piece / job.pieces : kMaxAtOnce) * kRow +
                        static_cast<unsigned>(begin + in_row * kPieceValues<Format>) * sizeof(Stored) % kRow;
        }
    }
    /// Loads pieces of the rows from `row` on.
    __device__ void load(std::int32_t row) {
        switch (job_.strips.in) {
            case detail::StoredIn::memory: return load_from<detail::StoredIn::memory>(row);
            case detail::StoredIn::plane: return load_from<detail::StoredIn::plane>(row);
            case detail::StoredIn::layers: return load_from<detail::StoredIn::layers>(row);
        }
    }
    /// Writes the pieces of the rows from `row` on, which have been loaded, to shared memory.
    __device__ void store(std::int32_t row) const {
#pragma unroll
        for (int i = 0; i < loads; ++i) {
            if (place_[i] < end()) staged_[i * kLanes + static_cast<int>(threadIdx.x)] = loaded_[i];
        }
        if (inside_ > 0 || outside_ < pieces_) copy_edges(row);
    }

private:
    static constexpr unsigned kRow = 1 << 24;  // larger than the bytes of a row of texels

    __device__ unsigned end() const { return static_cast<unsigned>(job_.rows_at_once) * kRow; }
    __device__ unsigned row_inside(std::int32_t row) const {
        return static_cast<unsigned>(::min(::max(row, 0), static_cast<std::int32_t>(job_.strips.texels.height) - 1));
    }
    template <detail::StoredIn in>
    __device__ void load_from(std::int32_t row) {
#pragma unroll
        for (int i = 0; i < loads; ++i) {
            if (place_[i] >= end()) continue;
            const std::int32_t y = row + static_cast<std::int32_t>(place_[i] / kRow);
            loaded_[i] = detail::stored<in, uint4>(job_.strips.texels, place_[i] % kRow, row_inside(y), layer_);
        }
    }
    // Copies what is not in pieces inside the row.
    __device__ void copy_edges(std::int32_t row) const {
        using Code = std::conditional_t<sizeof(Stored) == 4, unsigned, Stored>;
        const std::int32_t last = (static_cast<std::int32_t>(job_.strips.texels.width) - 1) * channels;
        const std::int32_t before = inside_ * kPieceValues<Format>;
        const std::int32_t count = before + (pieces_ - outside_) * kPieceValues<Format>;
        auto* const to = reinterpret_cast<Code*>(staged_);
#pragma unroll 1
        for (auto i = static_cast<std::int32_t>(threadIdx.x); i < count * job_.rows_at_once; i += kLanes) {
            const std::int32_t number = i % count;
            const std::int32_t in_row = number < before ? number : number - before + outside_ * kPieceValues<Format>;
            const std::int32_t channel = in_row % channels;
            const std::int32_t from = ::min(::max(begin_ + in_row, channel), last + channel);
            to[i / count * job_.pieces * kPieceValues<Format> + in_row] = detail::load_stored<Code>(
                job_.strips.in, job_.strips.texels, static_cast<unsigned>(from) * sizeof(Code),
                row_inside(row + i / count), layer_);
        }
    }

    const Job& job_;
    uint4* staged_;
    std::int32_t begin_;
    std::int32_t pieces_;  // of a row
    unsigned layer_;
    std::int32_t inside_;    // first piece inside the row
    std::int32_t outside_;   // first piece after these
    unsigned place_[loads];  // kRow times the row of the stage, and the byte in the row of texels
    uint4 loaded_[loads];
};

/// Sums of the values of a thread.
template <class Format>
struct Sums {
    float of[kValues];

    /// Values whose weight is 0 must not count if they can be infinite or NaN.
    __device__ void add(const Sums& values, float weight) {
        if (!detail::kIsFinite<Format> && weight == 0) return;
#pragma unroll
        for (int i = 0; i < kValues; ++i) of[i] = ::fmaf(values.of[i], weight, of[i]);
    }
};

__device__ inline std::int32_t max_of_warp(std::int32_t value) {
#pragma unroll
    for (int lanes = kLanes / 2; lanes > 0; lanes /= 2) value = ::max(value, __shfl_xor_sync(0xffffffff, value, lanes));
    return value;
}

/// Sums a row of texels for the pixels of a thread. `taps` is the number of texels that each pixel reads, or 0 if it
/// is known only to the kernel.
template <class Format, int channels, int taps>
class Across {
public:
    static constexpr int kColumns = kLanes * kPixels<channels>;
    using Texel = detail::WordOf<channels * sizeof(typename Format::Stored)>;

    std::int32_t begin;  // first value that the warp reads of a row, a multiple of the values of a piece
    std::int32_t end;    // the value after the last one that it reads

    /// `x` is the first column of the warp. All threads of a warp must call this function.
    __device__ Across(const Job& job, float* weights, std::int32_t x) : weights_(weights + threadIdx.x) {
        const std::int32_t last = static_cast<std::int32_t>(job.strips.target.width) - 1;
        for (std::int32_t i = threadIdx.x; i < job.across * kColumns; i += kLanes) weights[i] = 0;
        __syncwarp();
        std::int32_t first[kPixels<channels>];
        std::int32_t count = 0;
#pragma unroll
        for (int i = 0; i < kPixels<channels>; ++i) {
            const std::int32_t column = ::min(x + i * kLanes + static_cast<std::int32_t>(threadIdx.x), last);
            const TapSpan span =
                compute_weights(job.filter, job.grid.x, column, weights + threadIdx.x + i * kLanes, kColumns);
            first[i] = span.first;
            count = ::max(count, span.count);
        }
        count_ = max_of_warp(count);
        end = (max_of_warp(first[kPixels<channels> - 1]) + count_) * channels;
        begin = __shfl_sync(0xffffffff, first[0], 0) * channels & ~(kPieceValues<Format> - 1);
#pragma unroll
        for (int i = 0; i < kPixels<channels>; ++i) {
            offset_[i] = (first[i] * channels - begin) * static_cast<std::int32_t>(sizeof(typename Format::Stored));
#pragma unroll
            for (int tap = 0; tap < taps; ++tap) few_[i][tap] = weights_[tap * kColumns + i * kLanes];
        }
    }

    __device__ Sums<Format> sum(const uint4* row) const {
        auto* bytes = reinterpret_cast<const std::byte*>(row);
        Sums<Format> sums{};
        if constexpr (taps > 0) {
#pragma unroll
            for (int tap = 0; tap < taps; ++tap) {
#pragma unroll
                for (int i = 0; i < kPixels<channels>; ++i) add(sums, bytes, i, tap, few_[i][tap]);
            }
        } else {
            const float* weight = weights_;
#pragma unroll 4
            for (int tap = 0; tap < count_; ++tap, weight += kColumns, bytes += sizeof(Texel)) {
#pragma unroll
                for (int i = 0; i < kPixels<channels>; ++i) add(sums, bytes, i, 0, weight[i * kLanes]);
            }
        }
        return sums;
    }

private:
    __device__ void add(Sums<Format>& sums, const std::byte* bytes, int pixel, int tap, float weight) const {
        const Texel texel =
            *reinterpret_cast<const Texel*>(bytes + offset_[pixel] + tap * static_cast<int>(sizeof(Texel)));
        unsigned words[(sizeof texel + 3) / 4]{};
        ::memcpy(words, &texel, sizeof texel);
        if (!detail::kIsFinite<Format> && weight == 0) return;
#pragma unroll
        for (int c = 0; c < channels; ++c) {
            float& sum = sums.of[pixel * channels + c];
            sum = ::fmaf(Format::value(words, c), weight, sum);
        }
    }

    const float* weights_;                    // of the thread, in shared memory
    std::int32_t count_;                      // texels that the pixels of the warp read, at most
    std::int32_t offset_[kPixels<channels>];  // of the first texel of each pixel, in bytes from `begin` on
    float few_[kPixels<channels>][taps > 0 ? taps : 1];
};

/// Stores the pixels of a thread, of which the first is at `to`, if they are less than `left` pixels away.
template <class Format, int channels>
__device__ void store(const Sums<Format>& sums, std::byte* to, std::int32_t left) {
    using Stored = typename Format::Stored;
    using Texel = detail::WordOf<channels * sizeof(Stored)>;
#pragma unroll
    for (int i = 0; i < kPixels<channels>; ++i) {
        if (i * kLanes >= left) return;
        Stored results[channels];
#pragma unroll
        for (int c = 0; c < channels; ++c) results[c] = Format::stored(sums.of[i * channels + c], c);
        Texel texel;
        ::memcpy(&texel, results, sizeof texel);
        reinterpret_cast<Texel*>(to)[i * kLanes] = texel;
    }
}

/// `open` is the maximum number of rows of pixels to which a row of texels belongs.
template <class Format, int channels, int taps, int open>
__global__ void __launch_bounds__(kLanes* kWarps, kBlocks<Format>) reduce(const __grid_constant__ Job job) {
    using Stored = typename Format::Stored;
    using Across = Across<Format, channels, taps>;
    extern __shared__ uint4 shared[];
    const auto warp = static_cast<std::int32_t>(threadIdx.y);
    const Memory<open> memory(job, shared, Across::kColumns, warp);
    const detail::PixelTarget& target = job.strips.target;
    const auto width = static_cast<std::int32_t>(target.width);
    constexpr std::int32_t kAcrossBlock = Across::kColumns * kWarps;
    const std::int32_t blocks_across = (width + kAcrossBlock - 1) / kAcrossBlock;
    const std::int32_t x =
        static_cast<std::int32_t>(blockIdx.x) % blocks_across * kAcrossBlock + warp * Across::kColumns;
    const std::int32_t y = static_cast<std::int32_t>(blockIdx.x) / blocks_across * job.rows;
    const std::int32_t rows = ::min(job.rows, static_cast<std::int32_t>(target.height) - y);
    compute_rows<open>(job, memory, y, rows, warp * kLanes + static_cast<std::int32_t>(threadIdx.x));
    if (x >= width) return;

    const Across across(job, memory.weights, x);
    Stage<Format, channels, kLoads<Format, open>> stage(job, memory.staged, across.begin, across.end);
    const std::int32_t first = memory.first[0];
    const std::int32_t texel_rows = memory.end[rows - 1] - first;
    const std::int32_t column = x + static_cast<std::int32_t>(threadIdx.x);
    std::byte* to = target.address + blockIdx.z * target.slice_pitch + static_cast<unsigned>(y) * target.pitch +
                    static_cast<std::size_t>(column) * channels * sizeof(Stored);
    Sums<Format> sums[open]{};
    stage.load(first);
    for (std::int32_t staged = 0; staged < texel_rows; staged += job.rows_at_once) {
        stage.store(first + staged);
        __syncwarp();
        if (staged + job.rows_at_once < texel_rows) stage.load(first + staged + job.rows_at_once);
        const uint4* row = memory.staged;
        const RowOfTexels<open>* const end = memory.rows + ::min(staged + job.rows_at_once, texel_rows);
        for (const RowOfTexels<open>* of_row = memory.rows + staged; of_row != end; ++of_row, row += job.pieces) {
            const Sums<Format> values = across.sum(row);
            const RowOfTexels<open> texels = *of_row;
#pragma unroll
            for (int i = 0; i < open; ++i) sums[i].add(values, texels.weight[i]);
#pragma unroll 1
            for (std::int32_t finished = texels.finished; finished > 0; --finished) {
                store<Format, channels>(sums[0], to, width - column);
                to += target.pitch;
#pragma unroll
                for (int i = 1; i < open; ++i) sums[i - 1] = sums[i];
                sums[open - 1] = {};
            }
        }
        __syncwarp();
    }
}

struct Kernel {
    const void* kernel;
    int loads;
    unsigned max_rows;
    unsigned (*bytes)(const Job& job, int columns);
};

template <class Format, int channels, int taps, int open>
Kernel kernel_with() {
    return {reinterpret_cast<const void*>(&reduce<Format, channels, taps, open>), kLoads<Format, open>, kMaxRows<open>,
            &Memory<open>::bytes};
}

/// Returns nothing if a row of texels may belong to too many rows of pixels. Their number is that of the texels of a
/// pixel, divided by the distance of the pixels. One row more is needed because this distance is rounded down, and some
/// space for the rounding of coordinates.
template <class Format, int channels>
std::optional<Kernel> kernel_of(ResampleFilter filter, const Axis& down, std::uint32_t rows, std::int32_t taps) {
    constexpr float kMore = 1.25f;
    switch (filter) {
        case ResampleFilter::area:  // pixels share only texels at edges
            return taps <= kFewTaps ? kernel_with<Format, channels, kFewTaps, kFewOpen>()
                                    : kernel_with<Format, channels, 0, kFewOpen>();
        case ResampleFilter::lanczos3:
            if (6 * down.step + kMore > kLanczosOpen * down.step || !are_nearly_exact(down, rows)) return std::nullopt;
            return kernel_with<Format, channels, 0, kLanczosOpen>();
        case ResampleFilter::nearest:
        case ResampleFilter::linear:
        case ResampleFilter::catmull_rom:
        case ResampleFilter::b_spline: break;
    }
    if (kFewTaps + kMore <= kFewOpen * down.step) return kernel_with<Format, channels, kFewTaps, kFewOpen>();
    // Here, fetches of four floats by the texture unit are faster.
    if constexpr (channels * sizeof(typename Format::Stored) == sizeof(uint4)) return std::nullopt;
    return kernel_with<Format, channels, kFewTaps, 6>();
}

template <class Format, int channels>
bool enqueue(const detail::Launch& launch, Job& job) {
    constexpr int kColumns = kLanes * kPixels<channels>;
    const detail::PixelTarget& target = job.strips.target;
    const std::optional<Kernel> kernel = kernel_of<Format, channels>(job.filter, job.grid.y, target.height, job.across);
    if (!kernel || !detail::has_aligned_values<Format>(job.strips.texels, kPieceValues<Format>)) return false;
    const auto texels = static_cast<std::int32_t>(std::ceil((kColumns - 1) * job.grid.x.step)) + job.across + 1;
    job.pieces = (texels * channels + kPieceValues<Format> - 1) / kPieceValues<Format> + 1;
    job.rows_at_once = std::min(kernel->loads * kLanes / job.pieces, kMaxAtOnce);
    if (job.rows_at_once == 0) return false;
    const auto parts = [](unsigned side, unsigned part) { return (side + part - 1) / part; };
    const unsigned across = parts(target.width, kColumns * kWarps);
    const auto bytes_with = [&](unsigned rows) {
        job.rows = static_cast<std::int32_t>(rows);
        job.texel_rows =
            static_cast<std::int32_t>(std::ceil(static_cast<float>(rows) * job.grid.y.step)) + job.down + 1;
        return kernel->bytes(job, kColumns);
    };
    const unsigned most_bytes = bytes_with(kernel->max_rows);
    if (most_bytes > kMaxBytes) return false;
    const auto multiprocessors = static_cast<unsigned>(launch.state().backend->properties().multiprocessors);
    const unsigned at_once =
        std::min(detail::blocks_at_once(launch, kLanes * kWarps, most_bytes), kBlocks<Format> * multiprocessors);
    if (at_once == 0) return false;
    const auto before = static_cast<unsigned>(std::ceil(static_cast<float>(job.down) / job.grid.y.step)) + 1;
    const unsigned rows =
        detail::rows_of_block({across * target.depth, target.height, 1, before, at_once}, kMinRows, kernel->max_rows);
    const unsigned bytes = bytes_with(rows);
    void* arguments[] = {&job};
    detail::launch_blocks({&launch, 1}, kernel->kernel, arguments,
                          {{across * parts(target.height, rows), 1, target.depth}, {kLanes, kWarps}, bytes});
    return true;
}

}  // namespace

bool enqueue_reduction(const detail::Launch& launch, const Separable& filter) {
    const Grid& grid = filter.grid;
    const std::optional<detail::ValueStrips> strips = detail::value_strips(launch);
    if (!strips || grid.x.step < 1 || grid.y.step < 1) return false;
    const detail::PixelTarget& target = strips->target;
    const std::int32_t across = std::max(max_taps(filter.filter, grid.x, target.width), kFewTaps);
    const std::int32_t down = max_taps(filter.filter, grid.y, target.height);
    Job job{*strips, grid, filter.filter, 0, across, down, 0, 0, 0};
    return detail::with_stored_values(
        target.format.stored, [&]<class Format, int channels>() { return enqueue<Format, channels>(launch, job); });
}

}  // namespace texton::resampling

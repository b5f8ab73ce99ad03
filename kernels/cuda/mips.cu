// Computes several levels of a mip chain with one CUDA kernel, which fetches each texel of the source once.
//
// A block reads a tile of 64 x 64 texels and computes 32 x 32 pixels of the first level, 16 x 16 of the second, and so
// on. It stores the pixels of a level and also keeps them in shared memory as a fetch would return them, rounded to the
// level's format. The next level is computed from these. A width or height that is halved is even, so no pixel depends
// on another tile. If the whole image is one tile, its sides may be odd. The height of an image that is a single row is
// not halved.
//
// The box filter of texels that can be read as they are stored has faster implementations: kernels/cuda/mip_words.cu
// for even sides, and for others and for 16-bit unorm formats kernels/cuda/odd_mips.cu, which makes large levels, and
// kernels/cuda/overlapping_mips.cu, which makes small ones.
#include <algorithm>
#include <type_traits>

#include "kernels/cuda/blocks.h"
#include "kernels/cuda/fused_mips.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/stored_pixel.h"
#include "kernels/cuda/stored_rows.h"

namespace texton::mip {
namespace {

using detail::AnyFormat;

constexpr int kTile = 32;              // pixels of the first level, along each side of a tile
constexpr int kThreadRows = 8;         // rows of kTile threads each
constexpr std::size_t kMaxOfTile = 6;  // levels of a tile, down to one pixel

/// The taps of the box along an even side, or along one that is not halved. Their number is a constant, so that the
/// compiler unrolls loops over them.
template <int number>
struct EvenTaps {
    static constexpr std::int32_t count = number;
    std::int32_t texel[number];
    float weight[number];
    float total;
};
__device__ inline EvenTaps<2> pair_of(std::int32_t pixel) { return {{2 * pixel, 2 * pixel + 1}, {1, 1}, 2}; }
__device__ inline EvenTaps<1> one_of(std::int32_t pixel) { return {{pixel}, {1}, 1}; }

/// The taps along the height of an image, which may be a single row.
template <bool row>
__device__ auto taps_down(std::int32_t pixel) {
    if constexpr (row)
        return one_of(pixel);
    else
        return pair_of(pixel);
}

template <bool row>
struct BoxMean {
    template <class Texels, class Source>
    __device__ Float4 operator()(const Texels& texels, const Source& source, PixelPosition at) const {
        return mean_of(texels, source, pair_of(at.x), taps_down<row>(at.y), one_of(at.z), false);
    }
};

enum class Rule : std::uint8_t { alpha_weighted, lowest, highest };

template <bool row>
struct ByRule {
    Rule rule;

    template <class Texels, class Source>
    __device__ Float4 operator()(const Texels& texels, const Source& source, PixelPosition at) const {
        const auto x = pair_of(at.x);
        const auto y = taps_down<row>(at.y);
        const auto z = one_of(at.z);
        if (rule == Rule::alpha_weighted) return mean_of(texels, source, x, y, z, true);
        return extreme_of(texels, source, x, y, z, rule == Rule::highest);
    }
};

/// The texels that a pixel covers if sides may be odd. Loops have a constant length, so that the compiler unrolls them.
struct BoxTexels {
    Taps<Box::kMax> x;
    Taps<Box::kMax> y;
    Float4 texel[Box::kMax][Box::kMax];

    template <class Texels, class Source>
    __device__ BoxTexels(const Texels& texels, const Source& source, const Sides& sides, PixelPosition at)
        : x(Box{}.taps(sides.x, at.x)), y(Box{}.taps(sides.y, at.y)) {
        each([&](int i, int j) { texel[j][i] = texels(source, x.texel[i], y.texel[j], at.z); });
    }
    template <class Call>
    __device__ void each(const Call& call) const {
#pragma unroll
        for (int j = 0; j < Box::kMax; ++j) {
#pragma unroll
            for (int i = 0; i < Box::kMax; ++i) {
                if (i < x.count && j < y.count) call(i, j);
            }
        }
    }
};

/// Returns what mean_of() returns without alpha weighting.
struct OddMean {
    template <class Texels, class Source>
    __device__ Float4 operator()(const Texels& texels, const Source& source, const Sides& sides,
                                 PixelPosition at) const {
        const BoxTexels box(texels, source, sides, at);
        Float4 plane{};
#pragma unroll
        for (int j = 0; j < Box::kMax; ++j) {
            Float4 row{};
#pragma unroll
            for (int i = 0; i < Box::kMax; ++i) {
                if (i < box.x.count) row = fma(box.texel[j][i], box.x.weight[i], row);
            }
            if (j < box.y.count) plane = fma(row, box.y.weight[j], plane);
        }
        const Float4 volume = fma(plane, 1.0f, Float4{});
        const float total = box.x.total * box.y.total;
        return {quick_quotient(volume.x, total), quick_quotient(volume.y, total), quick_quotient(volume.z, total),
                quick_quotient(volume.w, total)};
    }
};

struct OddByRule {
    Rule rule;

    template <class Texels, class Source>
    __device__ Float4 operator()(const Texels& texels, const Source& source, const Sides& sides,
                                 PixelPosition at) const {
        const BoxTexels box(texels, source, sides, at);
        if (rule == Rule::alpha_weighted) {
            Sums plane{}, volume{};
#pragma unroll
            for (int j = 0; j < Box::kMax; ++j) {
                Sums row{};
#pragma unroll
                for (int i = 0; i < Box::kMax; ++i) {
                    const Float4& texel = box.texel[j][i];
                    if (i < box.x.count) row.add({texel, texel * texel.w}, box.x.weight[i]);
                }
                if (j < box.y.count) plane.add(row, box.y.weight[j]);
            }
            volume.add(plane, 1);
            return mean_of_sums(volume, box.x.total * box.y.total, true);
        }
        Float4 found = box.texel[0][0];
        box.each([&](int i, int j) {
            found = rule == Rule::highest ? max(found, box.texel[j][i]) : min(found, box.texel[j][i]);
        });
        return found;
    }
};

/// Texels of a 2D texture, of a layer, or of a level in memory.
struct FlatTexels {
    bool layered;
    bool in_memory;
    TexelsOfMemory memory;

    template <class Source>
    __device__ Float4 operator()(const Source& source, std::int32_t x, std::int32_t y, std::int32_t z) const {
        if (in_memory) return memory(source, x, y, z);
        if (layered) return TexelsOf<ArrayKind::layered_2d>{}(source, x, y, z);
        return TexelsOf<ArrayKind::array_2d>{}(source, x, y, z);
    }
};

struct CubeTexels {
    bool layered;

    template <class Source>
    __device__ Float4 operator()(const Source& source, std::int32_t x, std::int32_t y, std::int32_t z) const {
        if (layered) return TexelsOf<ArrayKind::cubemap_layered>{}(source, x, y, z);
        return TexelsOf<ArrayKind::cubemap>{}(source, x, y, z);
    }
};

struct alignas(16) TileTexel {
    Float4 value;
};

/// A square tile in shared memory, `side` texels wide.
struct TileTexels {
    const TileTexel* texels;
    std::int32_t side;

    __device__ Float4 operator()(const PixelPosition& corner, std::int32_t x, std::int32_t y, std::int32_t) const {
        return texels[(y - 2 * corner.y) * side + x - 2 * corner.x].value;
    }
};

template <class Texels, class Filter>
struct Job {
    HardwareSource source;
    Texels texels;
    Filter filter;
    std::int32_t count;
    PixelTarget levels[kMaxOfTile];
};

__device__ bool holds(const PixelTarget& level, PixelPosition at) {
    return static_cast<unsigned>(at.x) < level.width && static_cast<unsigned>(at.y) < level.height;
}

template <class Format, class Texels, class Filter>
__global__ void __launch_bounds__(kTile* kThreadRows) make_levels(const __grid_constant__ Job<Texels, Filter> job) {
    __shared__ TileTexel even[kTile * kTile];
    __shared__ TileTexel odd[kTile * kTile / 4];
    HardwareSource source = job.source;
    if constexpr (!std::is_same_v<Format, AnyFormat>) source.integers = false;
    const unsigned across = (job.levels[0].width + kTile - 1) / kTile;
    PixelPosition corner{static_cast<std::int32_t>(blockIdx.x % across * kTile),
                         static_cast<std::int32_t>(blockIdx.x / across * kTile), static_cast<std::int32_t>(blockIdx.z)};
    const auto column = static_cast<std::int32_t>(threadIdx.x);
    const auto row = static_cast<std::int32_t>(threadIdx.y);
#pragma unroll 2
    for (std::int32_t y = row; y < kTile; y += kThreadRows) {
        const PixelPosition at{corner.x + column, corner.y + y, corner.z};
        if (!holds(job.levels[0], at)) continue;
        const Float4 value = job.filter(job.texels, source, at);
        even[y * kTile + column].value = detail::store_and_read<Format>(job.levels[0], at, value);
    }
    const std::int32_t pixel = row * kTile + column;
    std::int32_t side = kTile;
    const TileTexel* above = even;
    TileTexel* tile = odd;
    for (std::int32_t level = 1; level < job.count; ++level) {
        const TileTexels texels{above, side};
        side /= 2;
        corner = {corner.x / 2, corner.y / 2, corner.z};
        if (pixel >= side * side) return;  // the thread has no pixel in the levels below either
        __syncthreads();
        const PixelPosition at{corner.x + pixel % side, corner.y + pixel / side, corner.z};
        if (holds(job.levels[level], at)) {
            const Float4 value = job.filter(texels, corner, at);
            tile[pixel].value = detail::store_and_read<Format>(job.levels[level], at, value);
        }
        above = tile;
        tile = level % 2 != 0 ? even : odd;
    }
}

/// The texels of a level that is whole in shared memory.
struct WholeTexels {
    const TileTexel* texels;
    std::int32_t width;

    __device__ Float4 operator()(const PixelPosition&, std::int32_t x, std::int32_t y, std::int32_t) const {
        return texels[y * width + x].value;
    }
};

template <class Texels, class Filter>
struct SmallJob {
    HardwareSource source;
    Texels texels;
    Filter filter;
    std::int32_t from[2];  // width and height above the first level
    std::int32_t count;
    PixelTarget levels[kMaxSmallLevels];
};

/// Computes the levels of a small image. Each slice has one block.
template <class Texels, class Filter>
__global__ void __launch_bounds__(kTile* kThreadRows)
    make_small_levels(const __grid_constant__ SmallJob<Texels, Filter> job) {
    __shared__ TileTexel even[kSmallSide * kSmallSide / 4];
    __shared__ TileTexel odd[kSmallSide * kSmallSide / 16];
    const HardwareSource source = job.source;
    const auto z = static_cast<std::int32_t>(blockIdx.z);
    const auto thread = static_cast<std::int32_t>(threadIdx.y * kTile + threadIdx.x);
    std::int32_t width = job.from[0], height = job.from[1];
    for (std::int32_t level = 0; level < job.count; ++level) {
        const PixelTarget& target = job.levels[level];
        const auto to_width = static_cast<std::int32_t>(target.width);
        const auto to_height = static_cast<std::int32_t>(target.height);
        const Sides sides{{width, to_width}, {height, to_height}, {1, 1}};
        const TileTexel* const above = level % 2 != 0 ? even : odd;
        TileTexel* const tile = level % 2 != 0 ? odd : even;
#pragma unroll 1
        for (std::int32_t pixel = thread; pixel < to_width * to_height; pixel += kTile * kThreadRows) {
            const PixelPosition at{pixel % to_width, pixel / to_width, z};
            const Float4 value = level == 0 ? job.filter(job.texels, source, sides, at)
                                            : job.filter(WholeTexels{above, width}, PixelPosition{}, sides, at);
            tile[pixel].value = detail::store_and_read<AnyFormat>(target, at, value);
        }
        __syncthreads();
        width = to_width;
        height = to_height;
    }
}

template <class Texels, class Filter>
void launch_small(std::span<const detail::Launch> launches, const Step& first, const Texels& texels,
                  const Filter& filter) {
    SmallJob<Texels, Filter> job{
        HardwareSource(launches[0].shape(0), launches[0].handle(0)),
        texels,
        filter,
        {static_cast<std::int32_t>(first.from.width), static_cast<std::int32_t>(first.from.height)},
        static_cast<std::int32_t>(launches.size()),
        {}};
    for (std::size_t i = 0; i < launches.size(); ++i) job.levels[i] = launches[i].target();
    void* arguments[] = {&job};
    const detail::BlockGrid grid{{1, 1, job.levels[0].depth}, {kTile, kThreadRows}};
    detail::launch_blocks(launches, reinterpret_cast<const void*>(&make_small_levels<Texels, Filter>), arguments, grid);
}

template <class Format, class Texels, class Filter>
void launch_job(std::span<const detail::Launch> launches, const Texels& texels, const Filter& filter) {
    Job<Texels, Filter> job{HardwareSource(launches[0].shape(0), launches[0].handle(0)),
                            texels,
                            filter,
                            static_cast<std::int32_t>(launches.size()),
                            {}};
    for (std::size_t i = 0; i < launches.size(); ++i) job.levels[i] = launches[i].target();
    const auto tiles = [](unsigned side) { return (side + kTile - 1) / kTile; };
    const PixelTarget& first = job.levels[0];
    void* arguments[] = {&job};
    detail::launch_blocks(launches, reinterpret_cast<const void*>(&make_levels<Format, Texels, Filter>), arguments,
                          {{tiles(first.width) * tiles(first.height), 1, first.depth}, {kTile, kThreadRows}});
}

/// Calls `call` with the format of all levels if CUDA kernels are instantiated for it, otherwise with AnyFormat.
template <class Call>
void with_format(std::span<const Step> steps, const Call& call) {
    const Format format = steps[0].level.format();
    const FormatInfo& known = info(format);
    const FormatKind above = info(steps[0].above.format()).kind;
    const bool same = std::ranges::all_of(steps, [&](const Step& step) { return step.level.format() == format; });
    const bool integers = above == FormatKind::uint || above == FormatKind::sint;
    if (!same || integers || known.layout != FormatLayout::plain) return call(AnyFormat{});
    const auto with_channels = [&](auto one, auto four) {
        if (known.channels == 1) return call(one);
        if (known.channels == 4) return call(four);
        call(AnyFormat{});
    };
    using namespace detail;
    if (known.kind == FormatKind::unorm && known.bits == 8) return with_channels(Unorm8Format<1>{}, Unorm8Format<4>{});
    if (known.kind != FormatKind::floating) return call(AnyFormat{});
    if (known.bits == 16) return with_channels(Float16Format<1>{}, Float16Format<4>{});
    with_channels(Float32Format<1>{}, Float32Format<4>{});
}

/// Calls `call` with the texels that a step reads.
template <class Call>
void with_texels(const Step& step, const Call& call) {
    if (is_cube(step.kind) && !step.memory) return call(CubeTexels{is_layered(step.kind)});
    call(FlatTexels{is_layered(step.kind), step.memory.has_value(), step.memory.value_or(TexelsOfMemory{})});
}

/// Returns the rule of a filter that is not the plain mean of a box.
Rule rule_of(const MipOptions& options) {
    if (options.filter == MipFilter::min) return Rule::lowest;
    return options.filter == MipFilter::max ? Rule::highest : Rule::alpha_weighted;
}

/// Enqueues levels that levels_together() allows.
template <class Row, class Image>
void enqueue_even(std::span<const Step> steps, std::span<const detail::Launch> launches, const Row& row,
                  const Image& image) {
    constexpr bool kForAnyFormat = std::is_same_v<Image, BoxMean<false>>;  // the others are computed from stored texels
    with_texels(steps[0], [&]<class Texels>(const Texels& texels) {
        if constexpr (std::is_same_v<Texels, CubeTexels>) {  // faces have no rows to halve
            launch_job<AnyFormat>(launches, texels, image);
        } else if (is_row(steps[0])) {  // rows are so small that their format does not matter
            launch_job<AnyFormat>(launches, texels, row);
        } else if constexpr (kForAnyFormat) {
            launch_job<AnyFormat>(launches, texels, image);
        } else {
            with_format(steps, [&](auto format) { launch_job<decltype(format)>(launches, texels, image); });
        }
    });
}

bool is_plain_mean(const MipOptions& options) { return options.filter == MipFilter::box && !options.alpha_weighted; }

/// Enqueues levels with the plain mean of a box, computed from texels as they are stored. Returns how many levels were
/// enqueued.
std::size_t enqueue_means(std::span<const Step> steps, std::span<const detail::Launch> launches, std::size_t together) {
    constexpr std::size_t kLarge = std::size_t{1} << 20;  // bytes of a level that is worth a launch of its own
    constexpr std::size_t kMany = 4;                      // levels that are worth a launch, if more follow
    const Extent level = steps[0].level.extent();
    const bool is_large = packed_bytes(steps[0].level.format(), {level.width, level.height}) >= kLarge;
    if (!is_row(steps[0]) && together != 0 && (is_large || together >= std::min(kMany, steps.size()))) {
        const std::size_t stored = enqueue_stored(steps.first(together), launches.first(together));
        if (stored != 0) return stored;
    }
    if (is_large && enqueue_level(steps[0], launches[0])) return 1;
    return enqueue_tiles(steps, launches);
}

std::size_t enqueue_together(std::span<const detail::Launch> launches, const Chain& chain) {
    const MipOptions& options = chain.options;
    if (options.filter == MipFilter::kaiser || !has_images(chain.steps[0].kind)) return 0;
    const std::size_t together = levels_together(chain.steps), small = levels_of_small(chain.steps);
    if (is_plain_mean(options)) {
        if (const std::size_t made = enqueue_means(chain.steps, launches, together); made != 0) return made;
    }
    if (small > together) {
        with_texels(chain.steps[0], [&](const auto& texels) {
            if (is_plain_mean(options))
                launch_small(launches.first(small), chain.steps[0], texels, OddMean{});
            else
                launch_small(launches.first(small), chain.steps[0], texels, OddByRule{rule_of(options)});
        });
        return small;
    }
    const std::size_t count = std::min(together, kMaxOfTile);
    if (count == 0) return 0;
    const auto steps = chain.steps.first(count);
    const auto made = launches.first(count);
    if (is_plain_mean(options))
        enqueue_even(steps, made, BoxMean<true>{}, BoxMean<false>{});
    else
        enqueue_even(steps, made, ByRule<true>{rule_of(options)}, ByRule<false>{rule_of(options)});
    return count;
}

}  // namespace
}  // namespace texton::mip

namespace texton::detail {

std::size_t CudaKernels::make_mips(std::span<Launch> launches, const mip::Chain& chain) const {
    return mip::enqueue_together(launches, chain);
}

}  // namespace texton::detail

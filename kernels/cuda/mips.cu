// Computes several levels of a mip chain with one CUDA kernel, which fetches each texel of the source once.
//
// A block reads a tile of 64 x 64 texels and computes 32 x 32 pixels of the first level, 16 x 16 of the second, and so
// on. It stores the pixels of a level and also keeps them in shared memory as a fetch would return them, rounded to the
// level's format. The next level is computed from these. A width or height that is halved is even, so no pixel depends
// on another tile. The box filter of texels that can be read as they are stored has a faster implementation:
// kernels/cuda/mip_words.cu.
#include <algorithm>
#include <type_traits>

#include "kernels/cuda/blocks.h"
#include "kernels/cuda/fused_mips.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/stored_pixel.h"

namespace texton::mip {
namespace {

using detail::AnyFormat;
using detail::PixelTarget;

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

struct BoxMean {
    template <class Texels, class Source>
    __device__ Float4 operator()(const Texels& texels, const Source& source, PixelPosition at) const {
        return mean_of(texels, source, pair_of(at.x), pair_of(at.y), one_of(at.z), false);
    }
};

enum class Rule : std::uint8_t { alpha_weighted, lowest, highest };

struct ByRule {
    Rule rule;

    template <class Texels, class Source>
    __device__ Float4 operator()(const Texels& texels, const Source& source, PixelPosition at) const {
        const auto x = pair_of(at.x);
        const auto y = pair_of(at.y);
        const auto z = one_of(at.z);
        if (rule == Rule::alpha_weighted) return mean_of(texels, source, x, y, z, true);
        return extreme_of(texels, source, x, y, z, rule == Rule::highest);
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

template <class Filter>
void enqueue_with(std::span<const Step> steps, std::span<const detail::Launch> launches, const Filter& filter) {
    const Step& first = steps[0];
    if (is_cube(first.kind) && !first.memory) {
        const CubeTexels texels{is_layered(first.kind)};
        return launch_job<AnyFormat>(launches, texels, filter);
    }
    const FlatTexels texels{is_layered(first.kind), first.memory.has_value(), first.memory.value_or(TexelsOfMemory{})};
    with_format(steps, [&](auto format) { launch_job<decltype(format)>(launches, texels, filter); });
}

std::size_t enqueue_together(std::span<const detail::Launch> launches, const Chain& chain) {
    const MipOptions& options = chain.options;
    std::span<const Step> steps = chain.steps.first(levels_together(chain.steps, options));
    if (steps.empty()) return 0;
    if (options.filter == MipFilter::box && !options.alpha_weighted) {
        const std::size_t stored = enqueue_stored(steps, launches.first(steps.size()));
        if (stored != 0) return stored;
    }
    steps = steps.first(std::min(steps.size(), kMaxOfTile));
    const auto enqueue = [&](const auto& filter) { enqueue_with(steps, launches.first(steps.size()), filter); };
    switch (options.filter) {
        case MipFilter::box:
            if (options.alpha_weighted)
                enqueue(ByRule{Rule::alpha_weighted});
            else
                enqueue(BoxMean{});
            break;
        case MipFilter::min: enqueue(ByRule{Rule::lowest}); break;
        case MipFilter::max: enqueue(ByRule{Rule::highest}); break;
        case MipFilter::kaiser: return 0;  // never here: levels_together() returned 0
    }
    return steps.size();
}

}  // namespace
}  // namespace texton::mip

namespace texton::detail {

std::size_t CudaKernels::make_mips(std::span<Launch> launches, const mip::Chain& chain) const {
    return mip::enqueue_together(launches, chain);
}

}  // namespace texton::detail

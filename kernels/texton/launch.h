#pragma once
// launch(): calls a functor for every pixel of a destination image, on the device of the stream.
//
//     struct Shift {
//         float by;
//         template <class Source>
//         TEXTON_HD texton::Float4 operator()(texton::PixelPosition at, const Source& source) const {
//             return source.at_texel(at.center_x() + by, at.center_y());
//         }
//     };
//     texton::launch(stream, image, Shift{0.25f}, texture);
//
// To run on CUDA devices, the file that calls launch() must be compiled by nvcc; other compilers generate code for the
// CPU device only. Both devices return the same bits if the functor computes with + - * / and sqrt and if nvcc is
// called with --fmad=false. <texton/float_math.h> contains further functions with this property.
//
// A lambda is a functor too in code for the CPU device only. nvcc cannot compile CUDA kernels for the type of a lambda.
//
// launch() copies the functor, and many threads call the copy at once. Memory that the functor points to must stay
// allocated until the work is done. <texton/functor_traits.h> describes the static constexpr members that a functor may
// have.
#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <texton/float4.h>
#include <texton/functor_checks.h>
#include <texton/functor_traits.h>
#include <texton/pixel.h>
#include <texton/pixel_target.h>
#include <texton/source.h>
#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>
#if defined(__CUDACC__)
#include <texton/cuda_code_tables.h>
#include <texton/cuda_pixels.h>
#include <texton/cuda_pointwise.h>
#include <texton/cuda_srgb_pixels.h>
#endif

namespace texton {

struct AffineMap;

/// One launch of a batch. A plain value.
template <class Functor, std::size_t textures>
struct LaunchJob {
    View image;                             ///< destination image
    Functor functor;                        ///< called for every pixel
    std::array<Texture, textures> sources;  ///< textures that the functor reads
};

namespace detail {

/// Computes pixels of a row, starting at `first`.
using PixelFunction =
    std::function<void(std::span<const CpuSource> sources, PixelPosition first, std::span<Float4> pixels)>;

/// Computes a block of pixels of a row, starting at `first`. It is called until all their fetches are known.
using BlockFunction = std::function<void(RecordedFetches& fetches, std::span<const RecordingSource> sources,
                                         PixelPosition first, std::span<Float4> pixels)>;

/// A pass over a block of pixels that all make the same fetches: it records the coordinates of one of them, or computes
/// the pixels after the last one.
struct PlannedPass {
    const PlannedFetches& plan;
    unsigned wanted;                           ///< number of the fetch, or the number of all fetches
    const Texel* known[PlannedFetches::kMax];  ///< results of the fetches before it, and a texel of zeros for the fetch
    float* x = nullptr;                        ///< coordinates of the fetch
    float* y = nullptr;
    bool is_pixel = false;  ///< result: each pixel is the texel of this fetch, which is the last one
};
/// Calls the functor for a block of pixels of a row, starting at `first`. Returns false if some did not make the
/// planned fetches; then the results are void.
using PlannedFunction = std::function<bool(std::span<const RecordingSource> sources, PlannedPass& pass,
                                           PixelPosition first, std::span<Float4> pixels)>;

/// Computes `count` pixels of a row with a pointwise functor, whose texels have been read already.
using PointwiseFunction = std::function<void(std::span<const PointwiseSource> sources, PixelPosition first,
                                             std::size_t count, TexelPlanes& pixels)>;

struct LaunchState;
struct CpuJob;

/// Throws Error{out_of_memory}: the host has too little memory for the operation.
[[noreturn]] void refuse_host_memory(const char* object);

/// How the threads of a CUDA device process an image with 8 bits per channel.
struct CodeRows {
    unsigned of_thread;    ///< number of rows
    bool in_pieces_of_16;  ///< whether bytes can be loaded and stored in pieces of 16; otherwise they are loaded by 4
    BlockTile tile;
};

/// The format of the texels and pixels of a pointwise functor on a CUDA device.
struct PieceFormat {
    int channels = 0;        ///< 1, 2 or 4
    bool is_unorm8 = false;  ///< all channels have 8 bits, unorm; always true for 4 channels
};

/// The arguments of one launch, checked. Creating it enqueues nothing. Must not be shared by threads.
class Launch {
public:
    /// Throws what texton::launch() throws, in the name of `object`.
    Launch(const char* object, const Stream& stream, const View& image, std::span<const Texture> textures,
           Overlap overlap);
    Launch(Launch&&) noexcept;
    Launch& operator=(Launch&&) = delete;
    ~Launch();

    bool on_cpu() const noexcept;
    /// For the implementations of the devices; defined in kernels/launch/launch_state.h.
    const LaunchState& state() const noexcept { return *state_; }
    /// Enqueues fetches of the first texture through an affine map, for every pixel of a 2D image in memory.
    void sample_grid(const AffineMap& map) const;

    // For the CPU device.

    /// Enqueues a functor that is called once per pixel.
    void run_pixels(PixelFunction row);
    /// Enqueues a functor whose fetches are recorded.
    void run_blocks(BlockFunction block, PlannedFunction planned);
    /// Enqueues a pointwise functor. Call it only if has_pointwise_texels() returns true.
    void run_pointwise(PointwiseFunction row);
    /// Returns true if all textures are 2D or layered 2D.
    bool has_pointwise_texels() const noexcept;
    /// Enqueues a functor that computes channels separately. Call it only if has_codes_and_tables() returns true.
    void run_codes(PointwiseFunction functor);
    /// Returns true if the first texture is 2D or layered 2D, its texels have 8 bits per channel, unorm, all other
    /// textures are tables, and the image is not small.
    bool has_codes_and_tables() const noexcept;
    /// Enqueues work that writes the whole image.
    void run_job(std::function<void(const CpuJob&)> work);

    // For CUDA devices.

    /// Throws Error{unsupported}: the functor was compiled for the CPU device only.
    void refuse_cuda() const;
    /// Enqueues a CUDA kernel. Its arguments are the object that `job` points to and, as unsigned, the row of tiles at
    /// which its grid starts. The grid has one block of 32 x 8 threads per tile of the image in x and y, and slices in
    /// z.
    void run_kernel(const void* kernel, void* job, const BlockTile& tile) const;
    /// Enqueues one CUDA kernel for many launches. The grid has one block per tile of the largest image in x, row by
    /// row, the launches in y and slices in z.
    static void run_batch(std::span<const Launch> launches, const void* kernel, void* jobs, const BlockTile& tile);

    /// Returns where a CUDA device writes the image.
    const PixelTarget& target() const noexcept;
    SourceShape shape(std::size_t texture) const noexcept;
    /// Returns the texture object of a CUDA device.
    std::uint64_t handle(std::size_t texture) const noexcept;
    /// Returns how a CUDA device loads and stores the texels and pixels of a pointwise functor four at a time. Then
    /// writes the locations of the texels of all 2D and layered textures to `texels`. Returns 0 channels if the texels
    /// must be fetched one by one: if the textures and the image do not have the same number of channels, if four of
    /// their texels have more than 16 bytes or are of another kind than unorm and floating, if the rows of texels are
    /// not aligned, or if pixels are not at multiples of their size.
    PieceFormat pieces_as_stored(std::span<PixelTarget> texels) const;
    /// Returns how a CUDA device processes the image if texels of the first texture and pixels have the same channels
    /// of 8 bits, unorm or srgb in the texture, and all other textures are tables. They must have a single channel,
    /// unless the functor is by channel. Then writes the location of the texels. Returns 0 rows if the functor must be
    /// called for each pixel.
    CodeRows codes_as_stored(PixelTarget& texels, bool by_channel) const;
    /// Returns true if for_each_srgb_pixel() of a CUDA device can compute the image and is faster: if pixels have four
    /// channels of 8 bits, sRGB-encoded, in memory, if there are enough of them, and if no texture has integers.
    bool has_srgb_pixels() const;
    /// Returns true if a CUDA device can look up the results for all codes of 16 bits: if texels of the first texture
    /// and pixels have the same channels of 16 bits, unorm or floating, and rows are aligned. Then writes the location
    /// of the texels.
    bool has_wide_codes_as_stored(PixelTarget& texels) const;
    /// Enqueues a CUDA kernel whose argument is the object that `job` points to. Each multiprocessor gets a block of
    /// kWideThreads threads with kWideCodes * 2 bytes of shared memory; the blocks are in clusters if the device has
    /// them. Returns false if the device has less memory, or if the image is small.
    bool run_wide_table(const void* kernel, void* job) const;

private:
    std::unique_ptr<LaunchState> state_;
};

/// Calls a functor that takes a SourceArray with one source for each texture. It has the traits of the functor.
template <class Functor, std::size_t count>
struct WithSourceArray : Functor {
    template <std::derived_from<PixelPosition> Position, class Source, std::same_as<Source>... Sources>
    TEXTON_HD auto operator()(const Position& at, const Source& first, const Sources&... others) const {
        return static_cast<const Functor&>(*this)(at, SourceArray<Source, count>(first, others...));
    }
    /// For functors with kDrafts: see <texton/cuda_pixels.h>.
    template <class Source, std::same_as<Source>... Sources>
    TEXTON_HD Float4 draft(const PixelPosition& at, bool& done, const Source& first, const Sources&... others) const {
        return static_cast<const Functor&>(*this).draft(at, done, SourceArray<Source, count>(first, others...));
    }
};

template <class Functor, std::size_t... index>
PixelFunction pixel_function(const Functor& functor, std::index_sequence<index...>) {
    return [functor]([[maybe_unused]] std::span<const CpuSource> sources, PixelPosition at, std::span<Float4> pixels) {
        for (Float4& pixel : pixels) {
            pixel = functor(at, sources[index]...);
            ++at.x;
        }
    };
}

/// Returns the function of a functor that computes runs of pixels.
template <int run, class Functor, std::size_t... index>
PixelFunction run_function(const Functor& functor, std::index_sequence<index...>) {
    return [functor]([[maybe_unused]] std::span<const CpuSource> sources, PixelPosition at, std::span<Float4> pixels) {
        while (!pixels.empty()) {
            const std::size_t count = std::min<std::size_t>(run, pixels.size());
            const PixelRun<run> made = functor(RunPosition{at, static_cast<std::int32_t>(count)}, sources[index]...);
            std::copy_n(made.of, count, pixels.begin());
            pixels = pixels.subspan(count);
            at.x += run;
        }
    };
}

template <class Functor, std::size_t... index>
BlockFunction block_function(const Functor& functor, std::index_sequence<index...>) {
    return [functor](RecordedFetches& fetches, std::span<const RecordingSource> sources, PixelPosition at,
                     std::span<Float4> pixels) {
        for (std::size_t i = 0; i < pixels.size(); ++i, ++at.x) {
            if (!fetches.begin(i)) continue;
            pixels[i] = functor(at, sources[index]...);
            fetches.end();
        }
    };
}

/// Calls the functor for the pixels of a block: the last time for each if `is_last`. Returns whether all made the
/// planned fetches.
template <unsigned wanted, bool is_last, class Functor, std::size_t... index>
bool run_pass(const Functor& functor, std::span<const RecordingSource> sources, const PlannedPass& pass,
              PixelPosition at, std::span<Float4> pixels, std::index_sequence<index...>) {
    // Local copies, so that writes to pixels and coordinates cannot alias them. Functors that own memory are not
    // copied.
    const std::conditional_t<std::is_trivially_copyable_v<Functor>, Functor, const Functor&> own = functor;
    const SourceShape shapes[] = {sources[index]...};
    const PlannedFetches plan = pass.plan;
    const PlannedPass local = pass;
    Float4* const to = pixels.data();
    // Compilers compute a sum over pixels that are all alike without a loop.
    std::size_t as_planned = 0;
    const auto call = [&](std::int32_t i) {
        PlannedPixel<wanted> pixel{plan};
        if constexpr (wanted > 0) {
            for (unsigned fetch = 0; fetch < wanted; ++fetch) pixel.known[fetch] = local.known[fetch] + i;
        }
        const PixelPosition position{at.x + i, at.y, at.z};
        [[maybe_unused]] const Float4 result = own(position, PlannedSource<wanted>(shapes[index], pixel, index)...);
        as_planned += pixel.as_planned && pixel.number == plan.count ? 1 : 0;
        if constexpr (is_last) {
            to[i] = result;
        } else {
            local.x[i] = pixel.x;
            local.y[i] = pixel.y;
        }
    };
    // Compilers vectorize loops of constant length at more levels of optimization.
    constexpr auto kWhole = static_cast<std::int32_t>(RecordedLane::kPixels);
    const auto count = static_cast<std::int32_t>(pixels.size());
    if (count == kWhole) {
        for (std::int32_t i = 0; i < kWhole; ++i) call(i);
    } else {
        for (std::int32_t i = 0; i < count; ++i) call(i);
    }
    return as_planned == pixels.size();
}

/// Returns true if the compiler finds that the functor returns the wanted fetch unchanged, for all positions and texels
/// that are not integers. Then nothing remains to be computed from the texels.
template <unsigned wanted, class Functor, std::size_t... index>
bool returns_fetch(const Functor& functor, std::span<const RecordingSource> sources, const PlannedPass& pass,
                   PixelPosition at, std::index_sequence<index...>) {
    // Zeros, but the compiler does not know that.
    const std::uint32_t* const words = pass.known[wanted]->channel;
    const std::uint32_t x = words[0], y = words[1], z = words[2], w = words[3];
    ReturnedFetch fetch{x, y, z, w, wanted > 0 ? pass.known[0] : nullptr};
    const Float4 result = functor(at, ReturnedSource<wanted>(sources[index], fetch)...);
    const bool same = std::bit_cast<std::uint32_t>(result.x) == x && std::bit_cast<std::uint32_t>(result.y) == y &&
                      std::bit_cast<std::uint32_t>(result.z) == z && std::bit_cast<std::uint32_t>(result.w) == w;
    return __builtin_constant_p(same) && same;
}

/// Returns an empty function for functors that declare that they make many fetches.
template <class Functor, std::size_t... index>
PlannedFunction planned_function(const Functor& functor, std::index_sequence<index...> indices) {
    if constexpr (requires { Functor::kPixels; }) {
        if constexpr (Functor::kPixels == 1) return nullptr;
    }
    return [functor, indices](std::span<const RecordingSource> sources, PlannedPass& pass, PixelPosition at,
                              std::span<Float4> pixels) {
        static_assert(PlannedFetches::kMax == 2);
        const bool is_last = pass.wanted == pass.plan.count;
        if (pass.wanted + 1 == pass.plan.count) {
            pass.is_pixel = pass.wanted == 0 ? returns_fetch<0>(functor, sources, pass, at, indices)
                                             : returns_fetch<1>(functor, sources, pass, at, indices);
        }
        if (pass.wanted == 0) return run_pass<0, false>(functor, sources, pass, at, pixels, indices);
        if (pass.wanted == 2) return run_pass<2, true>(functor, sources, pass, at, pixels, indices);
        return is_last ? run_pass<1, true>(functor, sources, pass, at, pixels, indices)
                       : run_pass<1, false>(functor, sources, pass, at, pixels, indices);
    };
}

template <class Functor, std::size_t... index>
PointwiseFunction pointwise_function(const Functor& functor, std::index_sequence<index...>) {
    return [functor]([[maybe_unused]] std::span<const PointwiseSource> sources, PixelPosition at, std::size_t count,
                     TexelPlanes& pixels) {
        const Functor own = functor;  // a local copy, so that writes to pixels cannot alias its members
        for (std::size_t i = 0; i < count; ++i, ++at.x) pixels.set(i, own(at, sources[index].of_pixel(i)...));
    };
}

/// Enqueues a functor that computes single pixels.
template <class Functor, std::size_t... index>
void run_singly_on_cpu(Launch& launch, const Functor& functor, std::index_sequence<index...> indices) {
    if constexpr (is_by_channel<Functor>() && sizeof...(index) > 0) {
        if (launch.has_codes_and_tables()) return launch.run_codes(pointwise_function(functor, indices));
    }
    if constexpr (is_pointwise<Functor>()) {
        if (launch.has_pointwise_texels()) {
            return launch.run_pointwise(pointwise_function(functor, indices));
        }
    }
    if constexpr (sizeof...(index) > 0 && may_be_called_with_zeros<Functor>()) {
        launch.run_blocks(block_function(functor, indices), planned_function(functor, indices));
    } else {
        launch.run_pixels(pixel_function(functor, indices));
    }
}

template <class Functor, std::size_t... index>
void run_on_cpu(Launch& launch, const Functor& functor, std::index_sequence<index...> indices) {
    if constexpr (run_length<Functor, CpuSource>(indices) != 0) {
        launch.run_pixels(run_function<run_length<Functor, CpuSource>(indices)>(functor, indices));
    } else {
        run_singly_on_cpu(launch, functor, indices);
    }
}

#if defined(__CUDACC__)
template <class Functor, std::size_t... index>
PixelJob<Functor, sizeof...(index)> pixel_job(const Launch& launch, const Functor& functor,
                                              std::index_sequence<index...>) {
    return {launch.target(), functor, {HardwareSource(launch.shape(index), launch.handle(index))...}};
}

template <class Pieces, class Functor, std::size_t count, std::size_t... index>
void run_pieces_on_cuda(const Launch& launch, const Functor& functor, const PixelTarget (&texels)[count],
                        std::index_sequence<index...>) {
    using Job = PointwiseJob<Functor, count, Pieces>;
    Job job{
        launch.target(), functor, {HardwareSource(launch.shape(index), launch.handle(index))...}, {texels[index]...}};
    launch.run_kernel(reinterpret_cast<const void*>(&for_each_pointwise_pixel<Job>), &job, kPointwiseTile);
}

/// Returns whether texels with this number of channels of 8 bits are loaded four at a time. Results that are functions
/// of one channel are looked up instead, except in small images.
template <class Functor, int channels>
constexpr bool has_byte_pieces() {
    return !is_by_channel<Functor>() && !(channels == 1 && is_by_texel<Functor>());
}

/// Enqueues a functor for one or two channels, likewise. Returns false and does nothing if texels of 8 bits must be
/// fetched one by one.
template <int channels, class Functor, std::size_t count, class Indices>
bool run_narrow_on_cuda(const Launch& launch, const Functor& functor, const PixelTarget (&texels)[count],
                        bool is_unorm8, Indices indices) {
    if (!is_unorm8) {
        run_pieces_on_cuda<NarrowPieces<channels>>(launch, functor, texels, indices);
        return true;
    }
    if constexpr (has_byte_pieces<Functor, channels>())
        run_pieces_on_cuda<Unorm8Pieces<channels>>(launch, functor, texels, indices);
    return has_byte_pieces<Functor, channels>();
}

/// Enqueues a pointwise functor whose texels are loaded four at a time. Returns false and does nothing if the texels
/// must be fetched one by one.
template <std::size_t textures, class Functor>
bool run_pointwise_on_cuda(const Launch& launch, const Functor& functor) {
    // The fetches from tables take longer than those of texels, and the code of all variants is large.
    constexpr bool kHasNarrowPieces = is_pointwise<Functor>() || is_by_channel<Functor>();
    constexpr std::make_index_sequence<textures> kIndices;
    PixelTarget texels[textures]{};
    const PieceFormat format = launch.pieces_as_stored(texels);
    if (format.channels == 0) return false;
    if (format.channels == 4) {
        if constexpr (has_byte_pieces<Functor, 4>())
            run_pieces_on_cuda<Unorm8Pieces<4>>(launch, functor, texels, kIndices);
        return has_byte_pieces<Functor, 4>();
    }
    if constexpr (kHasNarrowPieces) {
        return format.channels == 1 ? run_narrow_on_cuda<1>(launch, functor, texels, format.is_unorm8, kIndices)
                                    : run_narrow_on_cuda<2>(launch, functor, texels, format.is_unorm8, kIndices);
    }
    return false;
}

/// Enqueues a functor whose results are functions of one channel, from the results for all codes. Returns false and
/// does nothing if texels or pixels do not have 8 bits per channel, or if the image is small.
template <class Functor, std::size_t... index>
bool run_codes_on_cuda(const Launch& launch, const Functor& functor, std::index_sequence<index...>) {
    using Job = CodeTableJob<Functor, sizeof...(index)>;
    Job job{launch.target(), functor, {HardwareSource(launch.shape(index), launch.handle(index))...}, {}, 0};
    const CodeRows rows = launch.codes_as_stored(job.texels, is_by_channel<Functor>());
    if (rows.of_thread == 0) return false;
    job.rows = rows.of_thread;
    const void* const kernel = rows.in_pieces_of_16 ? reinterpret_cast<const void*>(&for_each_code<uint4, Job>)
                                                    : reinterpret_cast<const void*>(&for_each_code<unsigned, Job>);
    launch.run_kernel(kernel, &job, rows.tile);
    return true;
}

/// Does the same for 16 bits per channel and functors with kSameForColors.
template <class Functor, std::size_t... index>
bool run_wide_codes_on_cuda(const Launch& launch, const Functor& functor, std::index_sequence<index...>) {
    using Job = WideTableJob<Functor, sizeof...(index)>;
    Job job{launch.target(), functor, {HardwareSource(launch.shape(index), launch.handle(index))...}, {}};
    return launch.has_wide_codes_as_stored(job.texels) &&
           launch.run_wide_table(reinterpret_cast<const void*>(&for_each_wide_code<Job>), &job);
}

/// Enqueues a functor that computes single pixels.
template <class Functor, std::size_t textures>
void run_singly_on_cuda(const Launch& launch, const Functor& functor) {
    if constexpr (is_by_texel<Functor>() && textures > 0) {
        if (run_codes_on_cuda(launch, functor, std::make_index_sequence<textures>{})) return;
        if constexpr (is_same_for_colors<Functor>()) {
            if (run_wide_codes_on_cuda(launch, functor, std::make_index_sequence<textures>{})) return;
        }
    }
    if constexpr (is_pointwise_with_tables<Functor>() && textures > 0) {
        if (run_pointwise_on_cuda<textures>(launch, functor)) return;
    }
    using Job = PixelJob<Functor, textures>;
    constexpr unsigned kRows = pixels_of_thread<Functor>();
    Job job = pixel_job(launch, functor, std::make_index_sequence<textures>{});
    if constexpr (is_pointwise_with_tables<Functor>()) {
        if (launch.has_srgb_pixels())
            return launch.run_kernel(reinterpret_cast<const void*>(&for_each_srgb_pixel<Job>), &job, kSrgbTile);
    }
    launch.run_kernel(kernel_of<kRows, Job>(launch.target()), &job, tile_of_block<Functor>());
}

/// Enqueues a functor that computes runs of pixels.
template <int run, class Functor, std::size_t... index>
void run_runs_on_cuda(const Launch& launch, const Functor& functor, std::index_sequence<index...>) {
    using Job = RunJob<Functor, run, sizeof...(index)>;
    Job job{launch.target(), functor, {HardwareSource(launch.shape(index), launch.handle(index))...}};
    launch.run_kernel(reinterpret_cast<const void*>(&for_each_run<Job>), &job,
                      {kTileWidth * static_cast<unsigned>(run), kTileThreadRows, 1});
}

template <class Functor, std::size_t textures>
void run_on_cuda(const Launch& launch, const Functor& functor) {
    constexpr std::make_index_sequence<textures> kIndices;
    constexpr int kRun = run_length<Functor, HardwareSource>(kIndices);
    if constexpr (kRun != 0) {
        run_runs_on_cuda<kRun>(launch, functor, kIndices);
    } else {
        run_singly_on_cuda<Functor, textures>(launch, functor);
    }
}

template <class Functor, std::size_t textures>
void run_batch_on_cuda(std::span<const Launch> launches, std::span<const Functor* const> functors) {
    using Job = PixelJob<Functor, textures>;
    constexpr unsigned kRows = pixels_of_thread<Functor>();
    const auto jobs = std::make_unique<PixelJobs<Job>>();
    for (std::size_t first = 0; first < launches.size(); first += PixelJobs<Job>::kMax) {
        const std::size_t count = std::min(PixelJobs<Job>::kMax, launches.size() - first);
        for (std::size_t i = 0; i < count; ++i)
            jobs->of[i] = pixel_job(launches[first + i], *functors[first + i], std::make_index_sequence<textures>{});
        Launch::run_batch(launches.subspan(first, count),
                          reinterpret_cast<const void*>(&for_each_pixel_of_jobs<kRows, Job>), jobs.get(),
                          tile_of_block<Functor>());
    }
}
#endif

// A program may launch the same functor from files of both compilers. The functions that nvcc compiles have other
// names, because the linker keeps only one function of each name.
#if defined(__CUDACC__)
inline namespace for_both_devices {
#else
inline namespace for_cpu_device {
#endif

template <std::size_t textures, class Functor>
constexpr void check_traits() {
    if constexpr (requires { Functor::kPixels; }) static_assert(Functor::kPixels >= 1, "kPixels must be at least 1");
    static_assert(is_pointwise_with_tables<Functor>() || !is_pointwise<Functor>(),
                  "kPointwise = true needs kPointwiseWithTables to be true");
    static_assert(is_pointwise_with_tables<Functor>() || !is_by_texel<Functor>(),
                  "kByTexel = true and kByChannel = true need kPointwise or kPointwiseWithTables to be true");
    static_assert(is_by_texel<Functor>() || !is_by_channel<Functor>(),
                  "kByChannel = true needs kByTexel not to be false");
    static_assert(is_by_channel<Functor>() || !is_same_for_colors<Functor>(),
                  "kSameForColors = true needs kByChannel to be true");
    static_assert(run_length<Functor, CpuSource>(std::make_index_sequence<textures>{}) == 0 ||
                      !is_pointwise_with_tables<Functor>(),
                  "a functor that returns a PixelRun cannot be pointwise");
}

template <std::size_t textures, class Functor>
void run_for_cpu(Launch& launch, const Functor& functor) {
    check_traits<textures, Functor>();
    run_on_cpu(launch, functor, std::make_index_sequence<textures>{});
}

/// Throws Error{unsupported} if the functor was compiled for the CPU device only.
template <std::size_t textures, class Functor>
void run_for_cuda([[maybe_unused]] Launch& launch, [[maybe_unused]] const Functor& functor) {
    check_traits<textures, Functor>();
#if defined(__CUDACC__)
    run_on_cuda<Functor, textures>(launch, functor);
#else
    launch.refuse_cuda();
#endif
}

/// Enqueues a functor that reads the first `textures` textures of a launch. check_functor() must be true for it.
template <std::size_t textures, class Functor>
void run_functor(Launch& launch, const Functor& functor) {
    if (launch.on_cpu()) return run_for_cpu<textures>(launch, functor);
    run_for_cuda<textures>(launch, functor);
}

/// Enqueues the jobs of a batch: for each a functor that reads `textures` textures.
template <class Functor, std::size_t textures>
void run_functors(const Stream& stream, const std::vector<LaunchJob<Functor, textures>>& jobs) {
    std::vector<Launch> launches;
    for (const auto& job : jobs)
        launches.emplace_back("texton::launch", stream, job.image, job.sources, overlap_of<Functor>());
    if (launches.empty()) return;
    if (launches[0].on_cpu()) {
        constexpr auto kIndices = std::make_index_sequence<textures>{};
        for (std::size_t i = 0; i < jobs.size(); ++i) run_on_cpu(launches[i], jobs[i].functor, kIndices);
        return;
    }
#if defined(__CUDACC__)
    std::vector<const Functor*> functors;
    for (const auto& job : jobs) functors.push_back(&job.functor);
    run_batch_on_cuda<Functor, textures>(launches, functors);
#else
    launches[0].refuse_cuda();
#endif
}

/// Does the same for a functor of the library. Such functors must choose how the CPU device calls them.
template <std::size_t textures, class Functor>
void run(Launch& launch, const Functor& functor) {
    static_assert(textures == 0 || is_pointwise<Functor>() || SaysWhetherZerosDoHarm<Functor>,
                  "functors of the library are pointwise or declare kMayBeCalledWithZeros");
    run_functor<textures>(launch, functor);
}

/// Does the same as launch() for a functor of the library. Errors carry the name `object`.
template <class Functor, std::same_as<Texture>... Textures>
void launch_as(const char* object, const Stream& stream, const View& image, const Functor& functor,
               const Textures&... textures) try {
    const std::array<Texture, sizeof...(Textures)> all{textures...};
    Launch launch(object, stream, image, all, overlap_of<Functor>());
    run<sizeof...(Textures)>(launch, functor);
} catch (const std::bad_alloc&) {
    refuse_host_memory(object);
}

}  // inline namespace

}  // namespace detail

#if defined(__CUDACC__)
inline namespace for_both_devices {
#else
inline namespace for_cpu_device {
#endif

/// Enqueues the call functor(PixelPosition, source of each texture...) for every pixel of `image`. The image is in
/// memory that the stream's device can access, or it is (part of) a level of an array, whose slices, layers or faces
/// are the slices of the image. The returned Float4 is encoded as sample() encodes its results. For integer formats it
/// is rounded to the nearest integer in the format's range, halves away from zero. Float images store a NaN as a NaN,
/// which is 0x7fffffff in float32. All other formats store 0 for NaN.
///
/// A functor can compute several adjacent pixels of a row in a call, so that it can reuse what it reads for one pixel
/// for the next. Then its first parameter is a RunPosition, and it returns a PixelRun of a fixed number of pixels, of
/// which those that the image has are stored:
///
///     struct Mean {
///         template <class Source>
///         TEXTON_HD texton::PixelRun<8> operator()(texton::RunPosition at, const Source& source) const {
///             const float x = at.center_x(), y = at.center_y();
///             texton::PixelRun<8> run;
///             texton::Float4 left = source.at_texel(x - 1, y), middle = source.at_texel(x, y);
///             for (int i = 0; i < 8; ++i) {
///                 const texton::Float4 right = source.at_texel(x + static_cast<float>(i + 1), y);
///                 run[i] = (left + middle + right) * (1.0f / 3.0f);
///                 left = middle;
///                 middle = right;
///             }
///             return run;
///         }
///     };
///
/// The functor is called once for each pixel or run, and for no other position. A functor that declares
/// kMayBeCalledWithZeros = true may be called several times for a pixel on the CPU device, and one that declares
/// kByTexel = true or kByChannel = true with the values of all 8-bit codes in place of texels: see functor_traits.h.
///
/// If the functor throws an exception on the CPU device, or uses a fetch that a texture does not have, other pixels may
/// be missing and the stream reports the error.
///
/// The call returns without waiting. Only the stream orders the work: it runs after all work that was enqueued on the
/// stream before. The call can be recorded into a graph. Several threads may call launch() at once. The caller must
/// keep the memory of the image, the memory that the textures read, and textures of memory that Texton does not own
/// until the work is done. If an argument is invalid, nothing was enqueued.
///
/// Throws Error with one of these codes:
/// - bad_argument: the image has no pixels, is in pageable memory, or has a block-compressed or planar format,
/// - overlap: the image shares memory with what a texture reads. The exception is a functor with kPointwise = true: its
///   image may be exactly the image that a texture reads,
/// - overflow: the width or the height of the image exceeds 2^23, or it has more than 65535 slices,
/// - wrong_device, released, not_mapped: the image or what a texture reads is on another device, was freed or is
///   unmapped,
/// - not_registered: the image is in host memory of which only a part is registered,
/// - unsupported: the stream belongs to a CUDA device but the call was not compiled by nvcc, or the image is in an
///   array without surfaces.
template <class Functor, std::same_as<Texture>... Textures>
void launch(const Stream& stream, const View& image, const Functor& functor, const Textures&... textures) try {
    const std::array<Texture, sizeof...(Textures)> all{textures...};
    detail::Launch launch("texton::launch", stream, image, all, detail::overlap_of<Functor>());
    if constexpr (detail::check_functor<Functor, CpuSource, sizeof...(Textures)>())
        detail::run_functor<sizeof...(Textures)>(launch, functor);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::launch");
}

/// The same for an array of textures. The functor selects their sources by index:
///
///     struct Stack {
///         template <std::size_t count, class Source>
///         TEXTON_HD texton::Float4 operator()(texton::PixelPosition at,
///                                             const texton::SourceArray<Source, count>& images) const {
///             return images[at.y / 64 % count].at_texel(at.center_x(), at.center_y());
///         }
///     };
///     texton::launch(stream, image, Stack{}, std::array{first, second, third});
template <class Functor, std::size_t count>
requires(count > 0) void launch(const Stream& stream, const View& image, const Functor& functor,
                                const std::array<Texture, count>& textures) try {
    detail::Launch launch("texton::launch", stream, image, textures, detail::overlap_of<Functor>());
    if constexpr (detail::check_functor<Functor, SourceArray<CpuSource, count>, 1>())
        detail::run_functor<count>(launch, detail::WithSourceArray<Functor, count>{functor});
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::launch");
}

/// Enqueues many launches together. The images may have any sizes and formats. On a CUDA device, one CUDA kernel
/// computes as many images as fit into 32,000 bytes of arguments: about 200 for a small functor with one texture. The
/// jobs may run in any order or at the same time, so no job may write memory that another job reads or writes. This is
/// not checked.
///
/// `jobs` may be destroyed when the call returns. Lifetimes, threads and errors are the same as for the other launch().
/// If an argument of any job is invalid, nothing was enqueued. If Error{not_mapped} or an error of the device is
/// thrown, some jobs may have been enqueued.
template <class Functor, std::size_t textures>
void launch(const Stream& stream, const std::vector<LaunchJob<Functor, textures>>& jobs) try {
    if constexpr (detail::check_functor<Functor, CpuSource, textures>()) {
        if constexpr (detail::check_single_pixels<Functor, CpuSource, textures>()) detail::run_functors(stream, jobs);
    }
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::launch");
}

}  // inline namespace

}  // namespace texton

#pragma once
// Runs a functor for every pixel of a picture, on the picture's device.
//
//     struct Shift {
//         float by;
//         template <class Source>
//         TEXTON_HD texton::Float4 operator()(texton::PixelPlace at, const Source& source) const {
//             return source.at_texel(at.middle_x() + by, at.middle_y());
//         }
//     };
//     texton::launch(stream, picture, Shift{0.25f}, texture);
//
// The call must be compiled by nvcc to run on a CUDA device; other compilers make it for the CPU device alone. Both devices
// return the same bits where the functor computes with + - * / and sqrt and nvcc is given --fmad=false.
#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <texton/float4.h>
#include <texton/pixel.h>
#include <texton/pixel_target.h>
#include <texton/source.h>
#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>
#if defined(__CUDACC__)
#include <texton/cuda_own_texels.h>
#include <texton/cuda_pixels.h>
#endif

namespace texton {

struct AffineMap;

namespace detail {

/// A functor that fetches nothing but the texel of its own place says kInPlace = true: it may write what it reads. On the CPU
/// device its fetches are not even asked for.
template <class Functor>
constexpr bool in_place_of() {
    if constexpr (requires { Functor::kInPlace; }) return Functor::kInPlace;
    return false;
}

/// One that fetches nothing else of 2D and layered textures, but from other kinds what it likes, says kOwnTexels = true.
template <class Functor>
constexpr bool own_texels_of() {
    if constexpr (requires { Functor::kOwnTexels; }) return Functor::kOwnTexels;
    return in_place_of<Functor>();
}

/// Whether the image that a launch writes may share memory with what its textures read.
enum class Overlap : std::uint8_t {
    refused,
    own_texels,  ///< each pixel reads its own texel only: the image may be exactly what a texture reads
    allowed      ///< all texels are read before the first pixel is written
};

/// What a launch of the functor may write.
template <class Functor>
constexpr Overlap overlap_of() {
    return in_place_of<Functor>() ? Overlap::own_texels : Overlap::refused;
}

/// Computes a block of pixels: those of a row from `first` on. Called until all that they fetch is known.
using BlockFunction = std::function<void(CpuFetches& fetches, std::span<const CpuSource> sources, PixelPlace first,
                                         std::span<Float4> pixels)>;

/// The same of a functor that says kInPlace, whose fetches are known: `count` pixels.
using OwnTexelFunction = std::function<void(std::span<const OwnTexelSource> sources, PixelPlace first,
                                            std::size_t count, TexelPlanes& pixels)>;

struct LaunchState;
struct CpuJob;

/// The arguments of one launch, checked. Creating it enqueues nothing.
class Launch {
public:
    /// Throws what texton::launch() throws, in the name of `object`.
    Launch(const char* object, const Stream& stream, const View& picture, std::span<const Texture> textures,
           Overlap overlap);
    Launch(Launch&&) noexcept;
    Launch& operator=(Launch&&) = delete;
    ~Launch();

    bool on_cpu() const noexcept;
    /// For implementations of a device (kernels/launch/launch_state.h).
    const LaunchState& state() const noexcept { return *state_; }
    /// Fetches the first texture through an affine map for every pixel of a 2D image in memory.
    void sample_grid(const AffineMap& map) const;

    // The CPU device.
    void run_blocks(BlockFunction block);
    /// Of textures that have_own_texels().
    void run_own_texels(OwnTexelFunction row);
    bool have_own_texels() const noexcept;
    /// Enqueues work on the CPU device that writes the whole picture.
    void run_job(std::function<void(const CpuJob&)> work);

    // CUDA devices.

    /// Error{unsupported} on a CUDA device: the functor was compiled for the CPU device alone.
    void refuse_cuda() const;
    /// A kernel that takes what `job` points to, and the row of tiles that its grid begins with, an unsigned: with 32 x 8
    /// threads in a block, a block for each tile of the picture in x and y, slices in z.
    void run_kernel(const void* kernel, void* job, const BlockTile& tile) const;
    /// One kernel for many launches: a block for each tile of the largest picture in x, row by row, the launches in y.
    static void run_batch(std::span<const Launch> launches, const void* kernel, void* jobs, const BlockTile& tile);

    const PixelTarget& target() const noexcept;
    SourceShape shape(std::size_t texture) const noexcept;
    std::uint64_t handle(std::size_t texture) const noexcept;
    /// Of a CUDA device: whether rows of the picture, and of the 2D and layered textures, are rgba8_unorm in whole pieces of
    /// 16 bytes. Then `texels` are where those lie.
    bool own_texels_as_stored(std::span<PixelTarget> texels) const;

private:
    std::unique_ptr<LaunchState> state_;
};

template <class Functor, std::size_t... index>
BlockFunction block_function(const Functor& functor, std::index_sequence<index...>) {
    return [functor](CpuFetches& fetches, [[maybe_unused]] std::span<const CpuSource> sources, PixelPlace at,
                     std::span<Float4> pixels) {
        for (std::size_t i = 0; i < pixels.size(); ++i, ++at.x) {
            if (begin_pixel(fetches, i)) pixels[i] = functor(at, sources[index]...);
        }
    };
}

template <class Functor, std::size_t... index>
OwnTexelFunction own_texel_function(const Functor& functor, std::index_sequence<index...>) {
    return [functor]([[maybe_unused]] std::span<const OwnTexelSource> sources, PixelPlace at, std::size_t count,
                     TexelPlanes& pixels) {
        const Functor own = functor;  // no pixel that is written may be a part of it
        for (std::size_t i = 0; i < count; ++i, ++at.x) pixels.set(i, own(at, sources[index].of_pixel(i)...));
    };
}

template <class Functor, std::size_t... index>
void run_on_cpu(Launch& launch, const Functor& functor, std::index_sequence<index...> indices) {
    if constexpr (in_place_of<Functor>()) {
        if (launch.have_own_texels()) {
            return launch.run_own_texels(own_texel_function(functor, indices));
        }
    }
    launch.run_blocks(block_function(functor, indices));
}

#if defined(__CUDACC__)
template <class Functor, std::size_t... index>
PixelJob<Functor, sizeof...(index)> pixel_job(const Launch& launch, const Functor& functor,
                                              std::index_sequence<index...>) {
    return {launch.target(), functor, {HardwareSource(launch.shape(index), launch.handle(index))...}};
}

/// False, with nothing done, where texels must be fetched one by one.
template <class Functor, std::size_t... index>
bool run_own_texels_on_cuda(const Launch& launch, const Functor& functor, std::index_sequence<index...>) {
    using Job = OwnTexelJob<Functor, sizeof...(index)>;
    Job job{launch.target(), functor, {HardwareSource(launch.shape(index), launch.handle(index))...}, {}};
    if (!launch.own_texels_as_stored(job.texels)) return false;
    launch.run_kernel(reinterpret_cast<const void*>(&for_each_own_texel<Job>), &job, kOwnTexelTile);
    return true;
}

template <class Functor, std::size_t textures>
void run_on_cuda(const Launch& launch, const Functor& functor) {
    if constexpr (own_texels_of<Functor>() && textures > 0) {
        if (run_own_texels_on_cuda(launch, functor, std::make_index_sequence<textures>{})) return;
    }
    using Job = PixelJob<Functor, textures>;
    constexpr unsigned kRows = pixels_of_thread<Functor>();
    Job job = pixel_job(launch, functor, std::make_index_sequence<textures>{});
    launch.run_kernel(kernel_of<kRows, Job>(launch.target()), &job, tile_of_block<Functor>());
}

template <class Functor, std::size_t textures>
void run_batch_on_cuda(std::span<const Launch> launches, std::span<const Functor* const> functors) {
    using Job = PixelJob<Functor, textures>;
    constexpr unsigned kRows = pixels_of_thread<Functor>();
    const auto jobs = std::make_unique<PixelJobs<Job>>();
    for (std::size_t first = 0; first < launches.size(); first += PixelJobs<Job>::kMost) {
        const std::size_t count = std::min(PixelJobs<Job>::kMost, launches.size() - first);
        for (std::size_t i = 0; i < count; ++i)
            jobs->of[i] = pixel_job(launches[first + i], *functors[first + i], std::make_index_sequence<textures>{});
        Launch::run_batch(launches.subspan(first, count),
                          reinterpret_cast<const void*>(&for_each_pixel_of_jobs<kRows, Job>), jobs.get(),
                          tile_of_block<Functor>());
    }
}
#endif

// A program may launch a functor in files of both compilers: what nvcc compiles is another function, since the linker keeps
// one of those that have a name.
#if defined(__CUDACC__)
inline namespace for_both_devices {
#else
inline namespace for_cpu_device {
#endif

/// Enqueues a functor that reads the first `textures` of a launch's textures.
template <std::size_t textures, class Functor>
void run(Launch& launch, const Functor& functor) {
    if constexpr (requires { Functor::kPixels; }) static_assert(Functor::kPixels >= 1, "pixels of a thread");
    static_assert(own_texels_of<Functor>() || !in_place_of<Functor>(), "kInPlace says more than kOwnTexels");
    if (launch.on_cpu()) return run_on_cpu(launch, functor, std::make_index_sequence<textures>{});
#if defined(__CUDACC__)
    run_on_cuda<Functor, textures>(launch, functor);
#else
    launch.refuse_cuda();
#endif
}

/// launch(), with errors in the name of `object`.
template <class Functor, std::same_as<Texture>... Textures>
void launch_as(const char* object, const Stream& stream, const View& picture, const Functor& functor,
               const Textures&... textures) {
    const std::array<Texture, sizeof...(Textures)> all{textures...};
    Launch launch(object, stream, picture, all, overlap_of<Functor>());
    run<sizeof...(Textures)>(launch, functor);
}

}  // inline namespace

}  // namespace detail

#if defined(__CUDACC__)
inline namespace for_both_devices {
#else
inline namespace for_cpu_device {
#endif

/// Enqueues functor(PixelPlace, source of each texture...) for every pixel of `picture`: memory of the stream's device or
/// memory that it reaches, or a level of an array, with all its slices, layers or faces. The Float4 that the functor returns is
/// encoded as sample() encodes what it fetches; integers are the nearest in the picture's range, NaN is 0x7fffffff. Until it is done the
/// textures' sources and the picture must stay. On the CPU device the functor is called again, for the same pixel, until
/// all that it fetches is known; its fetches are made in between, many at a time.
///
/// Errors: bad_argument (no pixels, pageable memory, a block-compressed or planar format), overlap, overflow, wrong_device,
/// released, not_mapped, unsupported (code that nvcc did not compile on a CUDA device; a CUDA array without surfaces).
template <class Functor, std::same_as<Texture>... Textures>
void launch(const Stream& stream, const View& picture, const Functor& functor, const Textures&... textures) {
    detail::launch_as("texton::launch", stream, picture, functor, textures...);
}

/// A picture of a batch.
template <class Functor, std::size_t textures>
struct LaunchJob {
    View picture;
    Functor functor;
    std::array<Texture, textures> sources;
};

/// The same for many pictures, of any sizes and formats, together: on a CUDA device in one kernel for as many as its arguments
/// hold, about two hundred. No picture may be what another job reads. If one is refused nothing is enqueued.
template <class Functor, std::size_t textures>
void launch(const Stream& stream, const std::vector<LaunchJob<Functor, textures>>& jobs) {
    constexpr auto kIndices = std::make_index_sequence<textures>{};
    std::vector<detail::Launch> launches;
    for (const auto& job : jobs)
        launches.emplace_back("texton::launch", stream, job.picture, job.sources, detail::overlap_of<Functor>());
    if (launches.empty()) return;
    if (launches[0].on_cpu()) {
        for (std::size_t i = 0; i < jobs.size(); ++i) detail::run_on_cpu(launches[i], jobs[i].functor, kIndices);
        return;
    }
#if defined(__CUDACC__)
    std::vector<const Functor*> functors;
    for (const auto& job : jobs) functors.push_back(&job.functor);
    detail::run_batch_on_cuda<Functor, textures>(launches, functors);
#else
    launches[0].refuse_cuda();
#endif
}

}  // inline namespace

}  // namespace texton

// Launches on the CPU device: functors that are called once per pixel, functors whose fetches are recorded first, rows
// of pointwise functors, and jobs.
#include <algorithm>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <texton/error.h>

#include "arrays/texture_state.h"
#include "core/cpu/array.h"
#include "core/cpu/device.h"
#include "core/request.h"
#include "core/transfer.h"
#include "kernels/cpu/direct_fetches.h"
#include "kernels/cpu/fetches.h"
#include "kernels/cpu/job.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/texel_rows.h"
#include "kernels/launch/image_rows.h"
#include "kernels/launch/launch_state.h"

namespace texton::detail {
namespace {

const CpuLevel& level_of(const MemoryLocation& location) {
    return cpu_array(location.array).parts[static_cast<std::size_t>(location.array_part)];
}

constexpr std::size_t kPiece = 4096;            // pixels of functors with fetches, in whole rows
constexpr std::size_t kPointwisePiece = 16384;  // pixels of pointwise functors, in whole rows

// Calls make(corner, width, height) on all cores for pieces of about this many pixels. Throws Error{unsupported} after
// the last piece if `make` added a fetch to `refused`.
template <class Make>
void for_each_piece(const CpuJob& job, std::size_t pixels, const RefusedFetch& refused, const Make& make) {
    for_each_tile(job, job.extent.width, std::max<std::size_t>(1, pixels / job.extent.width), make);
    refused.throw_if_any(job);
}

// Calls the functor once for each pixel.
void run_pixels_of(const CpuJob& job, const PixelFunction& row) {
    constexpr std::size_t kPixels = 256;  // of a call
    RefusedFetch refused;
    for_each_piece(job, kPiece, refused, [&](PixelPosition at, std::size_t width, std::size_t height) {
        std::deque<DirectFetches> fetches;
        std::vector<CpuSource> sources;
        for (std::size_t i = 0; i < job.textures.size(); ++i)
            sources.emplace_back(job.shapes[i], fetches.emplace_back(job, i, refused));
        for (std::size_t y = 0; y < height; ++y, ++at.y) {
            for (std::size_t x = 0; x < width; x += kPixels) {
                Float4 pixels[kPixels];
                const std::span of_call(pixels, std::min(kPixels, width - x));
                at.x = static_cast<std::int32_t>(x);
                row(sources, at, of_call);
                job.image.store(at, of_call);
            }
        }
    });
}

// Computes an image block by block. Calls the functor for a block until all its fetches are known.
void run_blocks_of(const CpuJob& job, const BlockFunction& block, const PlannedFunction& planned) {
    RefusedFetch refused;
    // Tiles are narrow, so that the rows of a tile read the same texels even if they are rotated.
    constexpr std::size_t kRows = 64;
    for_each_tile(job, RecordedLane::kPixels, rows_of_tiles(job, RecordedLane::kPixels, kRows),
                  [&](const PixelPosition& corner, std::size_t width, std::size_t height) {
                      BlockFetches fetches(job, refused);
                      std::vector<RecordingSource> sources;
                      for (std::size_t i = 0; i < job.textures.size(); ++i)
                          sources.emplace_back(job.shapes[i], fetches, i);
                      Float4 pixels[RecordedLane::kPixels];
                      const std::span of_block(pixels, width);
                      for (std::size_t row = 0; row < height; ++row) {
                          const PixelPosition at{corner.x, corner.y + static_cast<std::int32_t>(row), corner.z};
                          if (fetches.run_planned(planned, sources, at, of_block)) continue;
                          fetches.start(width);
                          do block(fetches, sources, at, of_block);
                          while (!fetches.settle());
                          job.image.store(at, of_block);
                      }
                  });
    refused.throw_if_any(job);
}

// The rows of all textures. They are destroyed in reverse order, since each restores the thread's modes from before its
// creation.
struct RowsOfTextures {
    std::vector<std::unique_ptr<TexelRows>> of;

    ~RowsOfTextures() {
        while (!of.empty()) of.pop_back();
    }
};

// Computes rows of pixels that depend only on the texels at their own position.
void run_pointwise_of(const CpuJob& job, const PointwiseFunction& row) {
    RefusedFetch refused;
    for_each_piece(job, kPointwisePiece, refused, [&](PixelPosition at, std::size_t width, std::size_t height) {
        const std::size_t count = job.textures.size();
        std::vector<TexelPlanes> texels(count);
        TexelPlanes pixels;
        std::deque<DirectFetches> fetches;
        std::vector<PointwiseSource> sources;
        RowsOfTextures rows;
        for (std::size_t i = 0; i < count; ++i) {
            rows.of.push_back(std::make_unique<TexelRows>(job.textures[i], job.shapes[i], at.z));
            sources.emplace_back(job.shapes[i], fetches.emplace_back(job, i, refused), texels[i]);
        }
        for (std::size_t y = 0; y < height; ++y, ++at.y) {
            for (std::size_t x = 0; x < width; x += TexelPlanes::kMax) {
                const std::size_t length = std::min(TexelPlanes::kMax, width - x);
                at.x = static_cast<std::int32_t>(x);
                for (std::size_t i = 0; i < count; ++i) rows.of[i]->centers(at.x, at.y, length, texels[i]);
                row(sources, at, length, pixels);
                job.image.store(at, pixels, length);
            }
        }
    });
}

// Runs the work, and names the kernel in its exceptions.
void run_named(const std::function<void(const CpuJob&)>& work, const CpuJob& job) {
    const auto fail = [&](ErrorCode code, std::string problem) {
        throw Error({.code = code, .object = job.object, .problem = std::move(problem)});
    };
    try {
        work(job);
    } catch (const Error&) {
        throw;
    } catch (const std::bad_alloc&) {
        fail(ErrorCode::out_of_memory, "the host has too little memory");
    } catch (const std::exception& error) {
        fail(ErrorCode::device_failure, std::string("the functor threw an exception: ") + error.what());
    } catch (...) {
        fail(ErrorCode::device_failure, "the functor threw an object that is not a std::exception");
    }
}

}  // namespace

// As on CUDA, sparse and planar arrays have no surfaces.
void CpuKernels::prepare(LaunchState& launch) const {
    if (launch.image.kind != MemoryKind::array) return;
    const bool planar = info(cpu_array(launch.image.array).info.format).layout == FormatLayout::planar;
    if (!planar && !level_of(launch.image).sparse()) return;
    throw Error({.code = ErrorCode::unsupported,
                 .object = launch.object,
                 .problem = "the array has no surfaces, which kernels need to write",
                 .remedy = "Write to memory, and use copy() from there to the array."});
}

void Launch::run_pixels(PixelFunction row) try {
    run_job([row = std::move(row)](const CpuJob& job) { run_pixels_of(job, row); });
} catch (const std::bad_alloc&) {
    refuse_host_memory(state_->object);
}

void Launch::run_blocks(BlockFunction block, PlannedFunction planned) try {
    run_job([block = std::move(block), planned = std::move(planned)](const CpuJob& job) {
        run_blocks_of(job, block, planned);
    });
} catch (const std::bad_alloc&) {
    refuse_host_memory(state_->object);
}

void Launch::run_pointwise(PointwiseFunction row) try {
    run_job([row = std::move(row)](const CpuJob& job) { run_pointwise_of(job, row); });
} catch (const std::bad_alloc&) {
    refuse_host_memory(state_->object);
}

bool Launch::has_pointwise_texels() const noexcept {
    return std::ranges::all_of(state_->textures, [](const Texture& texture) {
        return texture.kind() == ArrayKind::array_2d || texture.kind() == ArrayKind::layered_2d;
    });
}

void Launch::run_job(std::function<void(const CpuJob&)> work) try {
    const Extent& extent = state_->image.extent;
    CpuJob job{state_->object, {}, {}, {}, CpuImage(state_->image), extent, 0, extent.height};
    if (const ImageRows* rows = ImageRowsScope::of(state_->image)) {
        job.first_row = rows->first;
        job.rows = rows->count;
    }
    for (const Texture& texture : state_->textures) {
        const TextureState& state = *texture.state();
        job.textures.push_back(texture_of(state.handle));
        job.fetches.push_back({state.kind, state.source, state.gathers});
        job.shapes.push_back(shape(job.shapes.size()));
    }
    work = [work = std::move(work)](const CpuJob& named) { run_named(work, named); };
    BackingUse use(state_->object, state_->stream, owners_of(*state_));
    request(state_->backend, state_->object, {{"width", job.extent.width}, {"height", job.extent.height}}, [&] {
        static_cast<CpuDevice*>(state_->backend)
            ->submit(state_->stream.state()->handle, [job = std::move(job), work = std::move(work)] { work(job); });
    });
    use.enqueued();
} catch (const std::bad_alloc&) {
    refuse_host_memory(state_->object);
}

const DeviceKernels& cpu_kernels() {
    static const CpuKernels kKernels;
    return kKernels;
}

}  // namespace texton::detail

// Launches on the CPU device: functors whose fetches are recorded first, rows of pointwise functors, and jobs.
#include <algorithm>
#include <memory>

#include <texton/error.h>

#include "arrays/texture_state.h"
#include "core/cpu/array.h"
#include "core/transfer.h"
#include "kernels/cpu/fetches.h"
#include "kernels/cpu/job.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/texel_rows.h"
#include "kernels/launch/launch_state.h"

namespace texton::detail {
namespace {

const CpuLevel& level_of(const MemoryLocation& location) {
    return cpu_array(location.array).parts[static_cast<std::size_t>(location.array_part)];
}

// Computes an image block by block. Calls the functor for a block until all its fetches are known.
void run_blocks_of(const CpuJob& job, const BlockFunction& block) {
    constexpr std::size_t kPiece = 4096;  // pixels, in whole rows
    const std::size_t rows = std::max<std::size_t>(1, kPiece / job.extent.width);
    for_each_tile(job.extent, job.extent.width, rows, [&](PixelPosition at, std::size_t width, std::size_t height) {
        CpuFetches fetches(job.textures);
        std::vector<CpuSource> sources;
        for (std::size_t i = 0; i < job.textures.size(); ++i) sources.emplace_back(job.shapes[i], fetches, i);
        for (std::size_t row = 0; row < height; ++row, ++at.y) {
            for (std::size_t x = 0; x < width; x += CpuFetches::kPixels) {
                Float4 pixels[CpuFetches::kPixels];
                const std::span of_block(pixels, std::min(CpuFetches::kPixels, width - x));
                at.x = static_cast<std::int32_t>(x);
                fetches.start(of_block.size());
                do block(fetches, sources, at, of_block);
                while (!fetches.settle());
                job.image.store(at, of_block);
            }
        }
    });
}

constexpr std::size_t kPointwisePiece = 16384;  // pixels, in whole rows

// Computes rows of pixels that depend only on the texels at their own position.
void run_pointwise_with_tables(const CpuJob& job, const PointwiseFunction& row) {
    const std::size_t rows_of_piece = std::max<std::size_t>(1, kPointwisePiece / job.extent.width);
    const auto make = [&](PixelPosition at, std::size_t width, std::size_t height) {
        const std::size_t count = job.textures.size();
        std::vector<TexelPlanes> texels(count);
        TexelPlanes pixels;
        std::vector<std::unique_ptr<TexelRows>> rows;
        std::vector<PointwiseSource> sources;
        for (std::size_t i = 0; i < count; ++i) {
            rows.push_back(std::make_unique<TexelRows>(job.textures[i], job.shapes[i], at.z));
            sources.emplace_back(job.shapes[i], *rows[i], texels[i]);
        }
        for (std::size_t y = 0; y < height; ++y, ++at.y) {
            for (std::size_t x = 0; x < width; x += TexelPlanes::kMax) {
                const std::size_t length = std::min(TexelPlanes::kMax, width - x);
                at.x = static_cast<std::int32_t>(x);
                for (std::size_t i = 0; i < count; ++i) rows[i]->centers(at.x, at.y, length, texels[i]);
                row(sources, at, length, pixels);
                job.image.store(at, pixels, length);
            }
        }
        while (!rows.empty()) rows.pop_back();  // in reverse order, since each restores the thread's modes
    };
    for_each_tile(job.extent, job.extent.width, rows_of_piece, make);
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

void Launch::run_blocks(BlockFunction block) {
    run_job([block = std::move(block)](const CpuJob& job) { run_blocks_of(job, block); });
}

void Launch::run_pointwise(PointwiseFunction row) {
    run_job([row = std::move(row)](const CpuJob& job) { run_pointwise_with_tables(job, row); });
}

bool Launch::has_pointwise_texels() const noexcept {
    return std::ranges::all_of(state_->textures, [](const Texture& texture) {
        return texture.kind() == ArrayKind::array_2d || texture.kind() == ArrayKind::layered_2d;
    });
}

void Launch::run_job(std::function<void(const CpuJob&)> work) {
    CpuJob job{{}, {}, CpuImage(state_->image), state_->image.extent};
    for (const Texture& texture : state_->textures) {
        job.textures.push_back(texture_of(texture.state()->handle));
        job.shapes.push_back(shape(job.shapes.size()));
    }
    BackingUse use(state_->object, state_->stream, owners_of(*state_));
    request(state_->backend, state_->object, {{"width", job.extent.width}, {"height", job.extent.height}}, [&] {
        state_->backend->run_on_host(state_->stream.state()->handle,
                                     [job = std::move(job), work = std::move(work)] { work(job); });
    });
    use.enqueued();
}

const DeviceKernels& cpu_kernels() {
    static const CpuKernels kKernels;
    return kKernels;
}

}  // namespace texton::detail

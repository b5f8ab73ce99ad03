#include <texton/launch.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include <fmt/format.h>

#include <texton/error.h>

#include "arrays/texture_state.h"
#include "arrays/written_image.h"
#include "core/backing.h"
#include "core/cpu/array.h"
#include "core/transfer.h"
#include "kernels/cpu/fetches.h"
#include "kernels/cpu/job.h"
#include "kernels/cpu/texel_rows.h"
#include "kernels/launch/launch_state.h"

namespace texton::detail {
namespace {

// --- checks ----------------------------------------------------------------------------------------------------------

void check_device(const LaunchState& launch, const Texture& texture, std::size_t index) {
    const Backend* home = texture.state()->backend;
    if (home == launch.backend) return;
    throw Error({.code = ErrorCode::wrong_device,
                 .object = launch.object,
                 .problem = fmt::format("texture {} is of {}, but the stream of {}", index, home->properties().name,
                                        launch.backend->properties().name),
                 .remedy = "Make the texture on the stream's device.",
                 .numbers = {{"texture", index}}});
}

void check_slices(const LaunchState& launch) {
    constexpr std::size_t kMostSlices = 65535;  // blocks of a grid
    const Extent& extent = launch.picture.extent;
    if (extent.depth <= kMostSlices) return;
    throw Error({.code = ErrorCode::overflow,
                 .object = launch.object,
                 .problem = fmt::format("a picture of {} slices was given", extent.depth),
                 .remedy = fmt::format("Make it in parts of at most {} slices.", kMostSlices),
                 .numbers = {{"depth", extent.depth}}});
}

std::vector<BackingUse::Owner> owners_of(const LaunchState& launch) {
    std::vector<BackingUse::Owner> owners{launch.picture.owner};
    for (const Texture& texture : launch.textures) owners.push_back(source_of(texture.state()));
    return owners;
}

LaunchGrid tiles_of(const PixelTarget& target, const BlockTile& tile) {
    const auto blocks = [](unsigned side, unsigned of_block) { return (side + of_block - 1) / of_block; };
    return {blocks(target.width, tile.width), blocks(target.height, tile.height), blocks(target.depth, tile.slices)};
}

SourceShape shape_of(const TextureState& texture) {
    const FormatKind kind = info(texture.format).kind;
    SourceShape shape;
    shape.width = static_cast<std::int32_t>(texture.extent.width);
    shape.height = static_cast<std::int32_t>(texture.extent.height);
    shape.depth = static_cast<std::int32_t>(texture.extent.depth);
    shape.layers = static_cast<std::int32_t>(texture.layers);
    shape.levels = texture.levels;
    if (texture.sampler.normalized_coordinates) {
        shape.x_unit = 1.0f / static_cast<float>(shape.width);
        shape.y_unit = 1.0f / static_cast<float>(shape.height);
        shape.z_unit = 1.0f / static_cast<float>(shape.depth);
    }
    shape.integers = kind == FormatKind::uint || kind == FormatKind::sint;
    shape.is_signed = kind == FormatKind::sint;
    return shape;
}

// --- the CPU device --------------------------------------------------------------------------------------------------

const CpuLevel& level_of(const Place& place) {
    return cpu_array(place.array).parts[static_cast<std::size_t>(place.array_part)];
}

// As on CUDA, sparse and planar arrays have none.
void check_surfaces(const LaunchState& launch) {
    if (launch.picture.kind != MemoryKind::array) return;
    const bool planar = info(cpu_array(launch.picture.array).info.format).layout == FormatLayout::planar;
    if (!planar && !level_of(launch.picture).sparse()) return;
    throw Error({.code = ErrorCode::unsupported,
                 .object = launch.object,
                 .problem = "the array has no surfaces, by which kernels write",
                 .remedy = "Write to memory and copy() that to the array."});
}

// Blocks of pixels that a functor computes, until all that it fetches is known.
void run_blocks_of(const CpuJob& job, const BlockFunction& block) {
    constexpr std::size_t kPiece = 4096;  // pixels, in whole rows
    const std::size_t rows = std::max<std::size_t>(1, kPiece / job.extent.width);
    for_each_tile(job.extent, job.extent.width, rows, [&](PixelPlace at, std::size_t width, std::size_t height) {
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
                job.picture.store(at, of_block);
            }
        }
    });
}

constexpr std::size_t kOwnTexelPiece = 16384;  // pixels, in whole rows

// Rows of pixels of which each has its own texels alone.
void run_own_texels_of(const CpuJob& job, const OwnTexelFunction& row) {
    const std::size_t rows_of_piece = std::max<std::size_t>(1, kOwnTexelPiece / job.extent.width);
    const auto make = [&](PixelPlace at, std::size_t width, std::size_t height) {
        const std::size_t count = job.textures.size();
        std::vector<TexelPlanes> texels(count);
        TexelPlanes pixels;
        std::vector<std::unique_ptr<TexelRows>> rows;
        std::vector<OwnTexelSource> sources;
        for (std::size_t i = 0; i < count; ++i) {
            rows.push_back(std::make_unique<TexelRows>(job.textures[i], job.shapes[i], at.z));
            sources.emplace_back(job.shapes[i], *rows[i], texels[i]);
        }
        for (std::size_t y = 0; y < height; ++y, ++at.y) {
            for (std::size_t x = 0; x < width; x += TexelPlanes::kMost) {
                const std::size_t length = std::min(TexelPlanes::kMost, width - x);
                at.x = static_cast<std::int32_t>(x);
                for (std::size_t i = 0; i < count; ++i) rows[i]->middles(at.x, at.y, length, texels[i]);
                row(sources, at, length, pixels);
                job.picture.store(at, pixels, length);
            }
        }
        while (!rows.empty()) rows.pop_back();  // each keeps the modes of its thread from before it
    };
    for_each_tile(job.extent, job.extent.width, rows_of_piece, make);
}

}  // namespace

// --- a launch --------------------------------------------------------------------------------------------------------

Launch::Launch(const char* object, const Stream& stream, const View& picture, std::span<const Texture> textures,
               bool in_place) {
    Backend& backend = stream.device().backend();
    state_ = std::make_unique<LaunchState>(
        LaunchState{object, stream, &backend, {textures.begin(), textures.end()}, {}, {}});
    for (std::size_t i = 0; i < textures.size(); ++i) {
        check_device(*state_, textures[i], i);
        check_source(object, textures[i]);
    }
    state_->picture = written_picture(object, picture, backend);
    check_slices(*state_);
    for (const Texture& texture : textures) check_apart(object, texture, state_->picture, in_place);
    check_stream(stream, &backend, &backend, object);
    if (on_cpu()) {
        check_surfaces(*state_);
        return;
    }
    request(&backend, object, {}, [&] { state_->target = target_on_cuda(state_->picture); });
    state_->target.format.from_signed = state_->target.format.stored.encoding == Encoding::sint;
}

Launch::Launch(Launch&&) noexcept = default;
Launch::~Launch() = default;

bool Launch::on_cpu() const noexcept { return state_->backend->properties().kind == DeviceKind::cpu; }

void Launch::refuse_cuda() const {
    throw Error({.code = ErrorCode::unsupported,
                 .object = state_->object,
                 .problem = fmt::format("the functor was not compiled for {}", state_->backend->properties().name),
                 .remedy = "Compile the file that calls launch() with nvcc, or use a stream of the CPU device."});
}

void Launch::run_blocks(BlockFunction block) {
    run_job([block = std::move(block)](const CpuJob& job) { run_blocks_of(job, block); });
}

void Launch::run_own_texels(OwnTexelFunction row) {
    run_job([row = std::move(row)](const CpuJob& job) { run_own_texels_of(job, row); });
}

bool Launch::have_own_texels() const noexcept {
    return std::ranges::all_of(state_->textures, [](const Texture& texture) {
        return texture.kind() == ArrayKind::array_2d || texture.kind() == ArrayKind::layered_2d;
    });
}

void Launch::run_job(std::function<void(const CpuJob&)> work) {
    CpuJob job{{}, {}, CpuPicture(state_->picture), state_->picture.extent};
    for (const Texture& texture : state_->textures) {
        job.textures.push_back(texture_of(texture.state()->handle));
        job.shapes.push_back(shape_of(*texture.state()));
    }
    BackingUse use(state_->object, state_->stream, owners_of(*state_));
    request(state_->backend, state_->object, {{"width", job.extent.width}, {"height", job.extent.height}}, [&] {
        state_->backend->run_on_host(state_->stream.state()->handle,
                                     [job = std::move(job), work = std::move(work)] { work(job); });
    });
    use.enqueued();
}

void Launch::run_kernel(const void* kernel, void* job, const BlockTile& tile) const {
    enqueue_kernel({this, 1}, kernel, job, tiles_of(state_->target, tile));
}

void Launch::run_batch(std::span<const Launch> launches, const void* kernel, void* jobs, const BlockTile& tile) {
    LaunchGrid grid{0, static_cast<unsigned>(launches.size()), 0};
    for (const Launch& launch : launches) {
        const LaunchGrid tiles = tiles_of(launch.state_->target, tile);
        grid.across = std::max(grid.across, tiles.across * tiles.down);
        grid.slices = std::max(grid.slices, tiles.slices);
    }
    enqueue_kernel(launches, kernel, jobs, grid);
}

void Launch::enqueue_kernel(std::span<const Launch> launches, const void* kernel, void* job, const LaunchGrid& grid) {
    const LaunchState& first = *launches[0].state_;
    std::vector<BackingUse::Owner> owners;
    for (const Launch& launch : launches) std::ranges::move(owners_of(*launch.state_), std::back_inserter(owners));
    BackingUse use(first.object, first.stream, owners);
    request(first.backend, first.object, {{"width", first.target.width}, {"height", first.target.height}},
            [&] { launch_on_cuda(first, kernel, job, grid); });
    use.enqueued();
}

const PixelTarget& Launch::target() const noexcept { return state_->target; }
SourceShape Launch::shape(std::size_t texture) const noexcept { return shape_of(*state_->textures[texture].state()); }
std::uint64_t Launch::handle(std::size_t texture) const noexcept {
    const TextureState& state = *state_->textures[texture].state();
    return state.sampling->texture_number(state.handle);
}

}  // namespace texton::detail

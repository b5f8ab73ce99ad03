#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include <texton/error.h>

#include "arrays/cuda/sampling.h"
#include "core/block.h"
#include "core/cuda/call.h"
#include "core/cuda/device.h"
#include "kernels/cuda/blocks.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/stored_texels.h"
#include "kernels/launch/image_rows.h"
#include "kernels/launch/launch_state.h"
#include "kernels/launch/row_kernels.h"

namespace texton::detail {
namespace {

// Threads of a block; texton/cuda_pixels.h defines the same numbers.
constexpr unsigned kTileSide = 32;
constexpr unsigned kTileThreadRows = 8;
// texton/cuda_code_tables.h defines the same numbers.
constexpr unsigned kWideCodes = 65536;
constexpr unsigned kWideThreads = 1024;

struct TileGrid {
    unsigned across;
    unsigned down;
    unsigned slices;
};

/// Returns whether all rows start at multiples of `bytes`.
bool has_rows_at(const PixelTarget& pixels, unsigned bytes) {
    if (pixels.address == nullptr)
        return static_cast<unsigned>(pixels.offset[0]) * pixels.format.stored.bytes % bytes == 0;
    return (reinterpret_cast<std::uintptr_t>(pixels.address) | pixels.pitch | pixels.slice_pitch) % bytes == 0;
}

bool is_image(const Texture& texture) {
    return texture.kind() == ArrayKind::array_2d || texture.kind() == ArrayKind::layered_2d;
}

/// Returns whether stored texels are at the positions of the pixels of an image.
bool covers(const PixelTarget& texels, const Extent& image) {
    return !has_faces(texels) && texels.width == image.width && texels.height == image.height &&
           (texels.depth == 1 || texels.depth >= image.depth);
}

/// Returns the format of pixels, if the kernels of texton/cuda_pointwise.h can process four of them at once.
PieceFormat piece_format(const PixelTarget& pixels) {
    const TexelFormat& stored = pixels.format.stored;
    const bool is_unorm = stored.encoding == Encoding::unorm;
    if (stored.packing != Packing::plain || stored.bytes > 4 || (!is_unorm && stored.encoding != Encoding::floating))
        return {};
    return {stored.channels, is_unorm && stored.bits == 8};
}

TileGrid tiles_of(const PixelTarget& target, const BlockTile& tile) {
    const auto blocks = [](unsigned side, unsigned of_block) { return (side + of_block - 1) / of_block; };
    return {blocks(target.width, tile.width), blocks(target.height, tile.height), blocks(target.depth, tile.slices)};
}

[[noreturn]] void refuse_rows(const LaunchState& launch, std::string problem) {
    throw Error({.code = ErrorCode::unsupported,
                 .object = launch.object,
                 .problem = std::move(problem),
                 .remedy = "Compute the whole image, or use the CPU device."});
}

/// Returns the row of tiles at which a launch starts.
unsigned first_tile(const LaunchState& launch, const BlockTile& tile) {
    const ImageRows* rows = ImageRowsScope::of(launch.image);
    if (rows == nullptr) return 0;
    if (tile.slices != 1)
        refuse_rows(launch, "some rows of the image were requested, but the kernel computes mirrored rows together");
    return static_cast<unsigned>(rows->first) / tile.height;
}

void refuse_rows_of_several(std::span<const Launch> launches) {
    for (const Launch& launch : launches) {
        if (ImageRowsScope::of(launch.state().image) != nullptr)
            refuse_rows(launch.state(),
                        "some rows of an image were requested, but several images are computed together");
    }
}

void launch_tiles(const LaunchState& launch, const void* kernel, void* job, const TileGrid& grid, unsigned first_row) {
    constexpr unsigned kMax = 65535;  // maximum number of blocks of a grid in y
    const DeviceScope scope(static_cast<CudaBackend*>(launch.backend)->ordinal());
    for (unsigned first = first_row; first < grid.down; first += kMax) {
        void* arguments[] = {job, &first};
        call<cudaLaunchKernel>(kernel, dim3{grid.across, std::min(grid.down - first, kMax), grid.slices},
                               dim3{kTileSide, kTileThreadRows, 1}, arguments, std::size_t{0},
                               native(launch.stream.state()->handle));
    }
}

void enqueue(std::span<const Launch> launches, const void* kernel, void* job, const TileGrid& grid,
             unsigned first_row = 0) {
    const LaunchState& first = launches[0].state();
    std::vector<BackingUse::Owner> owners;
    for (const Launch& launch : launches) std::ranges::move(owners_of(launch.state()), std::back_inserter(owners));
    BackingUse use(first.object, first.stream, owners);
    request(first.backend, first.object, {{"width", first.target.width}, {"height", first.target.height}},
            [&] { launch_tiles(first, kernel, job, grid, first_row); });
    use.enqueued();
}

/// The kernels that can start at a row.
class RowKernels final : public DeviceKernels {
public:
    void prepare(LaunchState& launch) const override { cuda_kernels().prepare(launch); }
    bool convolve(Launch& launch, const filters::Separable& filter, const filters::Sharpen* sharpen) const override {
        return cuda_kernels().convolve(launch, filter, sharpen);
    }
    bool resample(Launch& launch, const resampling::Separable& filter) const override {
        return cuda_kernels().resample(launch, filter);
    }
};

}  // namespace

const DeviceKernels& cuda_kernels() {
    static const CudaKernels kKernels;
    return kKernels;
}

const DeviceKernels& cuda_row_kernels() {
    static const RowKernels kKernels;
    return kKernels;
}

void CudaKernels::prepare(LaunchState& launch) const {
    request(launch.backend, launch.object, {}, [&] { launch.target = cuda_pixel_target(launch.image); });
    launch.target.format.from_signed = launch.target.format.stored.encoding == Encoding::sint;
    const ImageRows* rows = ImageRowsScope::of(launch.image);
    if (rows == nullptr) return;
    if (rows->first % kRowAlignment != 0 || rows->count == 0 || rows->first + rows->count > launch.target.height)
        refuse_rows(launch, fmt::format("{} rows from row {} on were requested, of an image of {} rows", rows->count,
                                        rows->first, launch.target.height));
    launch.target.height = static_cast<std::uint32_t>(rows->first + rows->count);
}

void Launch::run_kernel(const void* kernel, void* job, const BlockTile& tile) const {
    enqueue({this, 1}, kernel, job, tiles_of(state_->target, tile), first_tile(*state_, tile));
}

void Launch::run_batch(std::span<const Launch> launches, const void* kernel, void* jobs, const BlockTile& tile) {
    refuse_rows_of_several(launches);
    TileGrid grid{0, static_cast<unsigned>(launches.size()), 0};
    for (const Launch& launch : launches) {
        const TileGrid tiles = tiles_of(launch.target(), tile);
        grid.across = std::max(grid.across, tiles.across * tiles.down);
        grid.slices = std::max(grid.slices, tiles.slices);
    }
    enqueue(launches, kernel, jobs, grid);
}

PieceFormat Launch::pieces_as_stored(std::span<PixelTarget> texels) const {
    const PixelTarget& image = state_->target;
    PieceFormat format = piece_format(image);
    if (image.address == nullptr || !image.aligned) return {};
    for (std::size_t i = 0; i < texels.size(); ++i) {
        const Texture& texture = state_->textures[i];
        if (!is_image(texture)) continue;
        const auto stored = stored_texels(texture);
        if (!stored || !covers(*stored, state_->image.extent)) return {};
        const PieceFormat own = piece_format(*stored);
        if (own.channels != format.channels || !has_rows_at(*stored, 4u * stored->format.stored.bytes)) return {};
        format.is_unorm8 = format.is_unorm8 && own.is_unorm8;
        texels[i] = *stored;
    }
    return format;
}

bool Launch::has_srgb_pixels() const {
    constexpr std::size_t kMinPixels = 1 << 15;  // with fewer, the tables of the blocks take longer
    const PixelTarget& image = state_->target;
    const TexelFormat& stored = image.format.stored;
    for (std::size_t i = 0; i < state_->textures.size(); ++i) {
        if (shape(i).integers) return false;
    }
    return stored.encoding == Encoding::srgb && stored.channels == 4 && image.address != nullptr && image.aligned &&
           std::size_t{image.width} * image.height >= kMinPixels;
}

CodeRows Launch::codes_as_stored(PixelTarget& texels, bool by_channel) const {
    constexpr std::size_t kMinPixels = 1 << 15;  // with fewer, functor calls for all codes of each block take longer
    constexpr unsigned kEnoughBlocks = 1024;     // for the largest GPUs
    constexpr unsigned kMaxRows = 16, kMinRows = 2;
    const PixelTarget& image = state_->target;
    const auto has_codes = [](const TexelFormat& format) {
        return format.packing == Packing::plain && format.bits == 8;
    };
    const std::span<const Texture> textures(state_->textures);
    if (image.address == nullptr || !has_codes(image.format.stored) || !is_image(textures[0]) ||
        std::ranges::any_of(textures.subspan(1), is_image) || std::size_t{image.width} * image.height < kMinPixels ||
        !(by_channel || image.format.stored.channels == 1))
        return {};
    const auto stored = stored_texels(textures[0]);
    if (!stored || !covers(*stored, state_->image.extent) || !has_codes(stored->format.stored) ||
        (stored->format.stored.encoding != Encoding::unorm && stored->format.stored.encoding != Encoding::srgb) ||
        stored->format.stored.channels != image.format.stored.channels || !has_rows_at(*stored, 4))
        return {};
    texels = *stored;
    const bool in_pieces = has_rows_at(image, 16) && has_rows_at(texels, 16);
    const unsigned width = kTileSide * (in_pieces ? 16 : 4) / image.format.stored.channels;
    CodeRows rows{kMaxRows, in_pieces, {width, 0, 1}};
    const auto parts = [](unsigned side, unsigned part) { return (side + part - 1) / part; };
    const auto height = [&] { return rows.of_thread * kTileThreadRows; };
    while (rows.of_thread > kMinRows &&
           parts(image.width, width) * parts(image.height, height()) * image.depth < kEnoughBlocks)
        rows.of_thread /= 2;
    rows.tile.height = height();
    return rows;
}

bool Launch::has_wide_codes_as_stored(PixelTarget& texels) const {
    const PixelTarget& image = state_->target;
    const TexelFormat& format = image.format.stored;
    const std::span<const Texture> textures(state_->textures);
    if (ImageRowsScope::of(state_->image) != nullptr || image.address == nullptr || format.packing != Packing::plain ||
        format.bits != 16 || (format.encoding != Encoding::unorm && format.encoding != Encoding::floating) ||
        !is_image(textures[0]) || std::ranges::any_of(textures.subspan(1), is_image) || !has_rows_at(image, 16))
        return false;
    const auto stored = stored_texels(textures[0]);
    if (!stored || !covers(*stored, state_->image.extent) || stored->format.stored != format ||
        !has_rows_at(*stored, 16))
        return false;
    texels = *stored;
    return true;
}

bool Launch::run_wide_table(const void* kernel, void* job) const {
    // With fewer codes in the image, calls for all codes take longer. The blocks of a cluster share these calls.
    constexpr std::size_t kMinCodes = std::size_t{3} << 22, kMinCodesWithoutClusters = 2 * kMinCodes;
    constexpr unsigned kBytes = kWideCodes * 2, kCluster = 8;
    const PixelTarget& image = state_->target;
    const std::size_t codes = std::size_t{image.width} * image.height * image.format.stored.channels;
    const unsigned blocks = blocks_at_once(*this, kWideThreads, kBytes);
    if (codes < kMinCodes || blocks == 0) return false;
    const unsigned clusters = clusters_at_once(*this, kernel, {{kCluster, 1, 1}, {kWideThreads, 1}, kBytes, kCluster});
    if (clusters == 0 && codes < kMinCodesWithoutClusters) return false;
    BlockGrid grid{{blocks, 1, image.depth}, {kWideThreads, 1}, kBytes};
    if (clusters != 0) {
        grid.blocks[0] = clusters * kCluster;
        grid.cluster = kCluster;
    }
    void* arguments[] = {job};
    detail::launch_blocks({this, 1}, kernel, arguments, grid);
    return true;
}

}  // namespace texton::detail

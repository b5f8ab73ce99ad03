// Measures how fast tiles become resident in a streamed texture, beside the calls of CUDA that it needs for this.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include <cuda.h>

#include <texton/copy.h>
#include <texton/linear.h>
#include <texton/pinned.h>
#include <texton/streamed_texture.h>
#include <texton/tile_pool.h>

#include "core/cuda/call.h"
#include "tests/bench/comparison.h"
#include "tests/bench/cuda_call.h"

namespace texton::bench {
namespace {

constexpr std::size_t kSide = 128;                                      // of a tile of rgba8_unorm, in texels
constexpr std::size_t kRun = 32;                                        // tiles
constexpr Extent kTiles{128, 64};                                       // of level 0
constexpr std::size_t kHalf = kTiles.width / 2 * kTiles.height;         // tiles of one of the two views
constexpr std::size_t kCoarser = kTiles.width * kTiles.height / 3 + 1;  // tiles of the other levels, at most

/// How the tiles of a view lie: all tiles of 32 columns in turn, or every second tile as on a chessboard.
enum class Layout { runs, chessboard };

/// Returns the boxes of a view, in tiles.
std::vector<TileBox> boxes(Layout layout, std::size_t half) {
    std::vector<TileBox> all;
    const bool runs = layout == Layout::runs;
    const std::size_t width = runs ? kRun : 1;
    for (std::size_t y = 0; y < kTiles.height; ++y) {
        const std::size_t first = runs ? half * kRun : (y + half) % 2;
        for (std::size_t x = first; x < kTiles.width; x += 2 * width)
            all.push_back({.offset = {x, y}, .extent = {width, 1}});
    }
    return all;
}

Region texels(const TileBox& box) {
    return {{box.offset.x * kSide, box.offset.y * kSide}, {box.extent.width * kSide, kSide}};
}

constexpr ArrayInfo kInfo{
    .format = Format::rgba8_unorm, .extent = {kTiles.width * kSide, kTiles.height* kSide}, .levels = 8};

// Level 0 consists of two views of which the budget has memory for one, so each request maps and evicts all of its tiles.
// The coarser tiles of both views keep their memory.
class Streamed {
public:
    explicit Streamed(Layout layout) : layout_(layout) {
        settle();
        settle();
    }

    void settle() {
        std::vector<StreamedView> views;
        for (const TileBox& box : boxes(layout_, half_)) views.push_back({.region = texels(box)});
        half_ = 1 - half_;
        texture_.request(views);
        for (;;) {
            const StreamingProgress progress = texture_.update(stream_);
            if (progress.failed + progress.unfit + progress.overflow > 0) throw std::runtime_error("tiles are missing");
            if (progress.complete()) break;
            texture_.wait_for_reads(std::chrono::milliseconds(1));
        }
        stream_.synchronize();
    }

private:
    static TilePyramid pyramid() {
        return {.info = kInfo,
                .read =
                    [texels = std::vector<std::byte>(kTileBytes, std::byte{42})](
                        const PyramidBox&, std::span<std::byte> to, const std::stop_token&) {
                        for (std::size_t done = 0; done < to.size(); done += kTileBytes)
                            std::memcpy(to.data() + done, texels.data(), std::min(kTileBytes, to.size() - done));
                    },
                .tiles_per_read = static_cast<int>(kRun)};
    }

    Layout layout_;
    std::size_t half_ = 0;
    Device device_ = Device::cuda();
    Stream stream_{device_};
    StreamedTexture texture_{device_,
                             pyramid(),
                             {.sampler = {.normalized_coordinates = true},
                              .budget = (kHalf + kCoarser) * kTileBytes,
                              .threads = 8,
                              .staging = 1024,
                              .prefetch = 0}};
};

// A sparse array like that of the streamed texture, with memory for one view.
class RawTiles {
public:
    RawTiles() {
        detail::call<cudaGetDevice>(&device_);
        const cudaChannelFormatDesc channels{8, 8, 8, 8, cudaChannelFormatKindUnsigned};
        must(cudaMallocMipmappedArray(&levels_, &channels, {kInfo.extent.width, kInfo.extent.height, 0},
                                      static_cast<unsigned>(kInfo.levels), cudaArraySparse));
        must(cudaGetMipmappedArrayLevel(&array_, levels_, 0));
        CUmemAllocationProp properties{};
        properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, {device_}};
        properties.allocFlags.usage = CU_MEM_CREATE_USAGE_TILE_POOL;
        for (CUmemGenericAllocationHandle& chunk : memory_)
            detail::driver<cuMemCreate>(&chunk, kRun * kTileBytes, &properties, 0);
    }
    ~RawTiles() {
        cudaFreeMipmappedArray(levels_);
        for (const CUmemGenericAllocationHandle chunk : memory_)
            detail::quietly([&] { detail::driver<cuMemRelease>(chunk); });
    }
    RawTiles(const RawTiles&) = delete;
    RawTiles& operator=(const RawTiles&) = delete;

    cudaArray_t array() const { return array_; }
    const RawStream& stream() const { return stream_; }

    void change(const std::vector<TileBox>& boxes, CUmemOperationType operation) const {
        std::vector<CUarrayMapInfo> entries;
        std::size_t slot = 0;
        for (const TileBox& box : boxes) {
            CUarrayMapInfo entry{};
            entry.resourceType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
            entry.resource.mipmap = reinterpret_cast<CUmipmappedArray>(levels_);
            entry.subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL;
            const Region region = texels(box);
            entry.subresource.sparseLevel.offsetX = static_cast<unsigned>(region.offset.x);
            entry.subresource.sparseLevel.offsetY = static_cast<unsigned>(region.offset.y);
            entry.subresource.sparseLevel.extentWidth = static_cast<unsigned>(region.extent.width);
            entry.subresource.sparseLevel.extentHeight = static_cast<unsigned>(region.extent.height);
            entry.subresource.sparseLevel.extentDepth = 1;
            entry.memOperationType = operation;
            entry.memHandleType = CU_MEM_HANDLE_TYPE_GENERIC;
            if (operation == CU_MEM_OPERATION_TYPE_MAP) {
                entry.memHandle.memHandle = memory_[slot / kRun];
                entry.offset = slot % kRun * kTileBytes;
            }
            entry.deviceBitMask = 1U << device_;
            entries.push_back(entry);
            slot += box.extent.width;
        }
        detail::driver<cuMemMapArrayAsync>(entries.data(), static_cast<unsigned>(entries.size()), stream_.get());
    }

private:
    RawStream stream_;
    int device_ = 0;
    cudaMipmappedArray_t levels_ = nullptr;
    cudaArray_t array_ = nullptr;
    CUmemGenericAllocationHandle memory_[kHalf / kRun]{};
};

// The whole way of a tile, beside the calls that map and unmap the same boxes.
Sides streaming(Layout layout) {
    const auto streamed = std::make_shared<Streamed>(layout);
    const auto raw = std::make_shared<RawTiles>();
    const auto half = std::make_shared<std::size_t>(0);
    raw->change(boxes(layout, 0), CU_MEM_OPERATION_TYPE_MAP);
    return {[=] { streamed->settle(); },
            [=] {
                raw->change(boxes(layout, *half), CU_MEM_OPERATION_TYPE_UNMAP);
                *half = 1 - *half;
                raw->change(boxes(layout, *half), CU_MEM_OPERATION_TYPE_MAP);
                raw->stream().synchronize();
            }};
}

// A sparse array with memory for one view.
struct Mapped {
    explicit Mapped(Layout layout) {
        const Tiles tiles = pool.allocate(kHalf);
        std::size_t slot = 0;
        for (const TileBox& box : boxes(layout, 0)) {
            mappings.push_back({box, tiles, slot});
            slot += box.extent.width;
        }
    }
    Device device = Device::cuda();
    Stream stream{device};
    SparseArray array{device, kInfo};
    TilePool pool{device, {.chunk_bytes = kHalf * kTileBytes}};
    std::vector<TileMapping> mappings;
};

Sides mapping(Layout layout) {
    const auto ours = std::make_shared<Mapped>(layout);
    const auto raw = std::make_shared<RawTiles>();
    const std::vector<TileBox> all = boxes(layout, 0);
    return {[=] {
                ours->array.map(ours->mappings, ours->stream);
                ours->array.unmap(all, ours->stream);
                ours->stream.synchronize();
            },
            [=] {
                raw->change(all, CU_MEM_OPERATION_TYPE_MAP);
                raw->change(all, CU_MEM_OPERATION_TYPE_UNMAP);
                raw->stream().synchronize();
            }};
}

// Copies from pinned memory to tiles that have memory, one for each box. The peer of runs is a single copy of as many
// bytes to linear memory, and that of single tiles a batch of the same boxes.
Sides copies(Layout layout) {
    const auto ours = std::make_shared<Mapped>(layout);
    ours->array.map(ours->mappings, ours->stream);
    ours->stream.synchronize();
    const auto pinned = std::make_shared<Pinned>(ours->device, kHalf * kTileBytes);
    const auto batch = std::make_shared<CopyBatch>();
    std::size_t offset = 0;
    for (const TileMapping& mapping : ours->mappings) {
        const Region region = texels(mapping.box);
        batch->add(ours->array.array().view({.region = region}),
                   host_view(pinned->data() + offset, kInfo.format, region.extent));
        offset += mapping.box.extent.width * kTileBytes;
    }
    const auto copy_ours = [=, kept = pinned] {
        batch->run(ours->stream);
        ours->stream.synchronize();
    };
    if (layout == Layout::runs) {
        const auto memory = std::make_shared<Linear>(ours->device, kHalf * kTileBytes);
        return {copy_ours, [=] {
                    copy(memory->view(), pinned->view(), ours->stream);
                    ours->stream.synchronize();
                }};
    }
    const auto raw = std::make_shared<RawTiles>();
    raw->change(boxes(layout, 0), CU_MEM_OPERATION_TYPE_MAP);
    std::vector<cudaMemcpy3DBatchOp> operations;
    for (const TileBox& box : boxes(layout, 0)) {
        const Region region = texels(box);
        cudaMemcpy3DBatchOp operation{};
        operation.src.type = cudaMemcpyOperandTypePointer;
        operation.src.op.ptr.ptr = pinned->data() + operations.size() * kTileBytes;
        operation.src.op.ptr.locHint = {cudaMemLocationTypeHost, 0};
        operation.dst.type = cudaMemcpyOperandTypeArray;
        operation.dst.op.array.array = raw->array();
        operation.dst.op.array.offset = {region.offset.x, region.offset.y, 0};
        operation.extent = {region.extent.width, region.extent.height, 1};
        operation.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
        operations.push_back(operation);
    }
    return {copy_ours, [=, kept = pinned]() mutable {
                must(cudaMemcpy3DBatchAsync(operations.size(), operations.data(), 0, raw->stream().get()));
                raw->stream().synchronize();
            }};
}

const bool kRows = add_suite([] {
    if (!Device::why_no_cuda().empty()) return;
    using enum Target::Kind;
    const auto row = [](const char* name, Target target, Sides (*sides)(Layout), Layout layout) {
        add({name, target, [=] { return sides(layout); }, 0, kHalf, 5});
    };
    row("cuda/streamed/runs of 32 tiles (cuMemMapArrayAsync)", {speed_at_least, 0.8}, streaming, Layout::runs);
    row("cuda/streamed/single tiles (cuMemMapArrayAsync)", {speed_at_least, 0.8}, streaming, Layout::chessboard);
    row("cuda/streamed/mapping of runs (cuMemMapArrayAsync)", {time_at_most, 1.2}, mapping, Layout::runs);
    row("cuda/streamed/mapping of tiles (cuMemMapArrayAsync)", {time_at_most, 1.2}, mapping, Layout::chessboard);
    row("cuda/streamed/copies of runs (cudaMemcpy)", {speed_at_least, 0.7}, copies, Layout::runs);
    row("cuda/streamed/copies of tiles (cudaMemcpy3DBatchAsync)", {speed_at_least, 0.9}, copies, Layout::chessboard);
});

}  // namespace
}  // namespace texton::bench

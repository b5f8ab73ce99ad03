// Compares arrays, their tiles and their textures with the raw CUDA calls for the same task.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <texton/array.h>
#include <texton/copy.h>
#include <texton/cuda_arrays.h>
#include <texton/fill.h>
#include <texton/linear.h>
#include <texton/pitched.h>
#include <texton/sparse_array.h>
#include <texton/texture.h>

#include "core/cuda/call.h"
#include "tests/bench/comparison.h"
#include "tests/bench/cuda_call.h"

namespace texton::bench {
namespace {

constexpr std::size_t kBytes = std::size_t{1} << 30;
constexpr int kBuffers = 3;  // used in turn, so that caches do not help
constexpr int kTimes = 9;    // copies per call

Format format_of(std::size_t bytes) {
    switch (bytes) {
        case 1: return Format::r8_unorm;
        case 2: return Format::rg8_unorm;
        case 4: return Format::rgba8_unorm;
        case 8: return Format::rgba16_float;
    }
    return Format::rgba32_float;
}

// Returns an array of about 1 GiB. `texel` is the size of a texel in bytes.
ArrayInfo large(ArrayKind kind, std::size_t texel) {
    ArrayInfo info{.format = format_of(texel), .extent = {}, .kind = kind};
    switch (kind) {
        case ArrayKind::array_1d: break;  // 1D arrays have at most 2 MiB and are not measured
        case ArrayKind::array_2d: info.extent = {16384, kBytes / 16384 / texel}; break;
        case ArrayKind::array_3d: info.extent = {1024, 1024, kBytes / (1 << 20) / texel}; break;
        case ArrayKind::layered_1d:
            info.extent = {32768};
            info.layers = std::min<std::size_t>(2048, kBytes / 32768 / texel);
            break;
        case ArrayKind::layered_2d:
            info.extent = {1024, 1024};
            info.layers = kBytes / (1 << 20) / texel;
            break;
        case ArrayKind::cubemap: info.extent = texel < 4 ? Extent{8192, 8192} : Extent{4096, 4096}; break;
        case ArrayKind::cubemap_layered:
            info.extent = {2048, 2048};
            info.layers = kBytes / (std::size_t{24} << 20) / texel;
            break;
    }
    return info;
}

// Source or destination of a copy.
struct End {
    std::shared_ptr<void> owner;
    View view;
    cudaArray_t array = nullptr;
};

End array_end(const ArrayInfo& info) {
    auto array = std::make_shared<Array>(Device::cuda(), info);
    fill(array->view(), std::span<const std::byte>(std::vector<std::byte>(texton::info(info.format).bytes)));
    return {array, array->view(), native(*array)};
}

End linear_end(const ArrayInfo& info, std::size_t first_byte = 0) {
    const Extent extent{info.extent.width, info.extent.height, slice_count(info, 0)};
    auto memory = std::make_shared<Linear>(Device::cuda(), packed_bytes(info.format, extent) + first_byte);
    fill(memory->view(), std::uint8_t{1});
    return {memory, borrowed_view(Device::cuda(), memory->data() + first_byte, info.format, extent), nullptr};
}

End pitched_end(const ArrayInfo& info) {
    auto memory = std::make_shared<Pitched2D>(Device::cuda(), info.format, info.extent);
    fill(memory->view(), std::uint8_t{1});
    return {memory, memory->view(), nullptr};
}

cudaMemcpy3DParms raw_copy(const End& to, const End& from) {
    const auto memory = [](const End& end) {
        const auto rows = end.view.slice_pitch() / end.view.pitch();
        return cudaPitchedPtr{const_cast<std::byte*>(end.view.data()), end.view.pitch(), end.view.extent().width, rows};
    };
    cudaMemcpy3DParms all{};
    if (to.array != nullptr) {
        all.dstArray = to.array;
    } else {
        all.dstPtr = memory(to);
    }
    if (from.array != nullptr) {
        all.srcArray = from.array;
    } else {
        all.srcPtr = memory(from);
    }
    const Extent extent = to.view.extent();
    all.extent = {extent.width, extent.height, extent.depth};
    all.kind = cudaMemcpyDeviceToDevice;
    return all;
}

Sides copies(std::vector<End> to, std::vector<End> from, int times) {
    const Stream stream(Device::cuda());
    auto raw = std::make_shared<RawStream>();
    std::vector<cudaMemcpy3DParms> parameters;
    for (std::size_t i = 0; i < to.size(); ++i) parameters.push_back(raw_copy(to[i], from[i]));
    return {[=] {
                for (int i = 0; i < times; ++i) {
                    const auto turn = static_cast<std::size_t>(i) % to.size();
                    copy(to[turn].view, from[turn].view, stream);
                }
                stream.synchronize();
            },
            [=] {
                for (int i = 0; i < times; ++i) {
                    must(cudaMemcpy3DAsync(&parameters[static_cast<std::size_t>(i) % parameters.size()], raw->get()));
                }
                raw->synchronize();
            }};
}

template <class To, class From>
Sides rotating(const To& to, const From& from) {
    std::vector<End> targets;
    std::vector<End> sources;
    for (int i = 0; i < kBuffers; ++i) {
        targets.push_back(to());
        sources.push_back(from());
    }
    return copies(std::move(targets), std::move(sources), kTimes);
}

Sides array_fill(const ArrayInfo& info) {
    const End array = array_end(info);
    const End memory = linear_end(info);
    const std::size_t bytes = packed_bytes(info);
    std::vector<std::byte> texel(texton::info(info.format).bytes, std::byte{1});
    texel.front() = std::byte{2};
    const Stream stream(Device::cuda());
    auto raw = std::make_shared<RawStream>();
    return {[=] {
                for (int i = 0; i < kTimes; ++i) fill(array.view, std::span<const std::byte>(texel), stream);
                stream.synchronize();
            },
            [=] {
                for (int i = 0; i < kTimes; ++i) must(cudaMemsetAsync(memory.view.data(), 3, bytes, raw->get()));
                raw->synchronize();
            }};
}

// --- tiles -----------------------------------------------------------------------------------------------------------

constexpr Extent kTiles{100, 100};  // tiles of 128 x 128 texels, 64 KiB each
constexpr Extent kHalf{100, 50};    // half of the tiles; not every driver can allocate all in one piece

class RawTiles {
public:
    RawTiles() : stream_(std::make_shared<RawStream>()) {
        detail::call<cudaGetDevice>(&device_);
        const cudaChannelFormatDesc channels{8, 8, 8, 8, cudaChannelFormatKindUnsigned};
        must(cudaMallocArray(&array_, &channels, kTiles.width * 128, kTiles.height * 128, cudaArraySparse));
        CUmemAllocationProp properties{};
        properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, {device_}};
        properties.allocFlags.usage = CU_MEM_CREATE_USAGE_TILE_POOL;
        const std::size_t bytes = (kHalf.width * kHalf.height * kTileBytes + (2 << 20) - 1) >> 21 << 21;
        for (CUmemGenericAllocationHandle& half : memory_) detail::driver<cuMemCreate>(&half, bytes, &properties, 0);
    }
    ~RawTiles() {
        cudaFreeArray(array_);
        for (const CUmemGenericAllocationHandle half : memory_) {
            detail::quietly([&] { detail::driver<cuMemRelease>(half); });
        }
    }
    RawTiles(const RawTiles&) = delete;
    RawTiles& operator=(const RawTiles&) = delete;

    void map_each(CUmemOperationType operation) const {
        for (std::size_t y = 0; y < kTiles.height; ++y) {
            for (std::size_t x = 0; x < kTiles.width; ++x) {
                CUarrayMapInfo tile{};
                tile.resourceType = CU_RESOURCE_TYPE_ARRAY;
                tile.resource.array = reinterpret_cast<CUarray>(array_);
                tile.subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL;
                tile.subresource.sparseLevel.offsetX = static_cast<unsigned>(x * 128);
                tile.subresource.sparseLevel.offsetY = static_cast<unsigned>(y * 128);
                tile.subresource.sparseLevel.extentWidth = 128;
                tile.subresource.sparseLevel.extentHeight = 128;
                tile.subresource.sparseLevel.extentDepth = 1;
                tile.memOperationType = operation;
                tile.memHandleType = CU_MEM_HANDLE_TYPE_GENERIC;
                tile.memHandle.memHandle = operation == CU_MEM_OPERATION_TYPE_MAP ? memory_[y / kHalf.height] : 0;
                tile.offset = (y % kHalf.height * kTiles.width + x) * kTileBytes;
                tile.deviceBitMask = 1U << device_;
                detail::driver<cuMemMapArrayAsync>(&tile, 1U, stream_->get());
            }
        }
        stream_->synchronize();
    }

private:
    std::shared_ptr<RawStream> stream_;
    int device_ = 0;
    cudaArray_t array_ = nullptr;
    CUmemGenericAllocationHandle memory_[2]{};
};

Sides tiles_mapped() {
    const Device device = Device::cuda();
    const Stream stream(device);
    auto array = std::make_shared<SparseArray>(
        device, ArrayInfo{.format = Format::rgba8_unorm, .extent = {kTiles.width * 128, kTiles.height * 128}});
    const TilePool pool(device, {.chunk_bytes = std::size_t{320} << 20});
    const std::size_t slots = kHalf.width * kHalf.height;
    const std::vector<TileMapping> halves{{{.extent = kHalf}, pool.allocate(slots)},
                                          {{.offset = {0, kHalf.height}, .extent = kHalf}, pool.allocate(slots)}};
    auto raw = std::make_shared<RawTiles>();
    return {[=] {
                array->map(halves, stream);
                array->unmap_all(stream);
                stream.synchronize();
            },
            [=] {
                raw->map_each(CU_MEM_OPERATION_TYPE_MAP);
                raw->map_each(CU_MEM_OPERATION_TYPE_UNMAP);
            }};
}

// --- textures --------------------------------------------------------------------------------------------------------

constexpr int kTextures = 2000;
constexpr ArrayInfo kTextured{.format = Format::rgba8_unorm, .extent = {64, 64}};

cudaTextureObject_t raw_texture(cudaArray_t array, int number) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how{};
    how.readMode = cudaReadModeNormalizedFloat;
    how.borderColor[0] = static_cast<float>(number);
    cudaTextureObject_t texture = 0;
    must(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    return texture;
}

Sampler sampler(int number) {
    Sampler sampler;
    sampler.border[0] = static_cast<float>(number);
    return sampler;
}

Sides cached_textures() {
    auto array = std::make_shared<Array>(Device::cuda(), kTextured);
    auto first = std::make_shared<Texture>(*array, sampler(1));
    return {[=] {
                for (int i = 0; i < kTextures; ++i) (void)Texture(*array, first->sampler()).handle();
            },
            [=] {
                for (int i = 0; i < kTextures; ++i) must(cudaDestroyTextureObject(raw_texture(native(*array), 1)));
            }};
}

class RawTextures {
public:
    RawTextures() {
        const cudaChannelFormatDesc channels{8, 8, 8, 8, cudaChannelFormatKindUnsigned};
        must(cudaMallocArray(&array_, &channels, 64, 64, 0));
        for (int i = 0; i < kTextures; ++i) textures_.push_back(raw_texture(array_, i));
    }
    ~RawTextures() {
        for (const cudaTextureObject_t texture : textures_) cudaDestroyTextureObject(texture);
        cudaFreeArray(array_);
    }
    RawTextures(const RawTextures&) = delete;
    RawTextures& operator=(const RawTextures&) = delete;

private:
    cudaArray_t array_ = nullptr;
    std::vector<cudaTextureObject_t> textures_;
};

// Measures creation only: both sides keep all textures until the rounds are over.
Sides new_textures() {
    auto ours = std::make_shared<std::vector<Texture>>();
    auto raw = std::make_shared<std::vector<std::unique_ptr<RawTextures>>>();
    return {[=] {
                const Array array(Device::cuda(), kTextured);
                for (int i = 0; i < kTextures; ++i) ours->emplace_back(array, sampler(i));
            },
            [=] { raw->push_back(std::make_unique<RawTextures>()); }};
}

// --- rows of the table -----------------------------------------------------------------------------------------------

void add_copies(const std::string& name, const ArrayInfo& info, Target from_and_to, Target between) {
    const double moved = 2.0 * kTimes * static_cast<double>(packed_bytes(info));
    const auto array = [=] { return array_end(info); };
    const auto memory = [=] { return linear_end(info); };
    add({"cuda/" + name + "/array to linear", from_and_to, [=] { return rotating(memory, array); }, moved});
    add({"cuda/" + name + "/linear to array", from_and_to, [=] { return rotating(array, memory); }, moved});
    add({"cuda/" + name + "/array to array", between, [=] { return rotating(array, array); }, moved});
}

const bool added = add_suite([] {
    if (!Device::why_no_cuda().empty()) return;  // cpu_bench.cpp adds the note
    using enum Target::Kind;
    for (const std::size_t texel : {1u, 2u, 4u, 8u, 16u}) {
        const Target target{speed_at_least, texel < 4 ? 2.2 : 3.4};
        add_copies(fmt::format("2D {} B", texel), large(ArrayKind::array_2d, texel), target, target);
    }
    // cudaMemcpy3D is faster for these arrays than for 2D arrays: a factor of 3.4 would exceed the memory bandwidth.
    constexpr Target kOfMemory{speed_at_least, 1.8};
    for (const ArrayKind kind :
         {ArrayKind::array_3d, ArrayKind::layered_2d, ArrayKind::cubemap, ArrayKind::cubemap_layered}) {
        for (const std::size_t texel : {1u, 4u, 16u}) {
            add_copies(fmt::format("{} {} B", texton::name(kind), texel), large(kind, texel), kOfMemory, kOfMemory);
        }
    }
    add_copies("layered_1d 16 B", large(ArrayKind::layered_1d, 16), {}, {});
    const ArrayInfo flat = large(ArrayKind::array_2d, 4);
    const double moved = 2.0 * kTimes * static_cast<double>(kBytes);
    const auto array = [=] { return array_end(flat); };
    const auto pitched = [=] { return pitched_end(flat); };
    const auto aside = [=] { return linear_end(flat, 4); };  // offset by 4 bytes: aligned to 4 bytes only
    constexpr Target kFour{speed_at_least, 3.4};
    add({"cuda/2D 4 B/array to pitched", kFour, [=] { return rotating(pitched, array); }, moved});
    add({"cuda/2D 4 B/pitched to array", kFour, [=] { return rotating(array, pitched); }, moved});
    add({"cuda/2D 4 B/array to linear at 4", {speed_at_least, 1.0}, [=] { return rotating(aside, array); }, moved});
    add({"cuda/2D 4 B/linear at 4 to array", {speed_at_least, 2.2}, [=] { return rotating(array, aside); }, moved});

    for (const std::size_t texel : {1u, 4u, 8u, 16u}) {
        const ArrayInfo info = large(ArrayKind::array_2d, texel);
        add({fmt::format("cuda/fill/2D {} B (cudaMemset)", texel),
             {speed_at_least, 0.9},
             [=] { return array_fill(info); },
             static_cast<double>(kTimes) * static_cast<double>(kBytes)});
    }
    add({"cuda/fill/array_3d 4 B (cudaMemset)",
         {speed_at_least, 0.9},
         [] { return array_fill(large(ArrayKind::array_3d, 4)); },
         static_cast<double>(kTimes) * static_cast<double>(kBytes)});

    // Small copies: the kernel must not be slower than cudaMemcpy3D at any size.
    for (const std::size_t side : {32u, 128u, 256u, 512u, 1024u, 2048u}) {
        constexpr int kMany = 500;
        const ArrayInfo info{.format = Format::rgba8_unorm, .extent = {side, side}};
        const auto small_array = [=] { return std::vector<End>{array_end(info), array_end(info)}; };
        const auto small_linear = [=] { return std::vector<End>{linear_end(info), linear_end(info)}; };
        constexpr Target kNoSlower{time_at_most, 1.0};
        add({fmt::format("cuda/{0} x {0}/array to linear", side), kNoSlower,
             [=] { return copies(small_linear(), small_array(), kMany); }, 0, kMany});
        add({fmt::format("cuda/{0} x {0}/linear to array", side), kNoSlower,
             [=] { return copies(small_array(), small_linear(), kMany); }, 0, kMany});
        add({fmt::format("cuda/{0} x {0}/array to array", side), kNoSlower,
             [=] { return copies(small_array(), small_array(), kMany); }, 0, kMany});
    }

    add({"cuda/10000 tiles mapped and unmapped", {speed_at_least, 10}, tiles_mapped, 0, 10000, 5});
    add({"cuda/texture from the cache", {time_at_most, 0.5}, cached_textures, 0, kTextures});
    add({"cuda/new texture", {time_at_most, 1.1}, new_textures, 0, kTextures});
});

}  // namespace
}  // namespace texton::bench

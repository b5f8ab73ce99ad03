#include "arrays/cuda_sampling.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <texton/error.h>
#include <texton/linear.h>
#include <texton/stream.h>

#include "arrays/sampling.h"
#include "arrays/texel_format.h"
#include "core/block.h"
#include "core/cuda_array.h"

// Textures and surfaces of a CUDA device. A batch passes in pieces through one block of device memory, on a stream that
// waits for no other: so nothing that the caller has enqueued elsewhere holds a batch up, and no batch takes more memory than
// another.

namespace texton::detail {
namespace {

cudaTextureAddressMode to_cuda(AddressMode mode) noexcept {
    switch (mode) {
        case AddressMode::wrap: return cudaAddressModeWrap;
        case AddressMode::clamp: return cudaAddressModeClamp;
        case AddressMode::mirror: return cudaAddressModeMirror;
        case AddressMode::border: return cudaAddressModeBorder;
    }
    return cudaAddressModeClamp;
}

cudaTextureFilterMode to_cuda(Filter filter) noexcept {
    return filter == Filter::linear ? cudaFilterModeLinear : cudaFilterModePoint;
}

bool reads_integers(Format format) noexcept {
    const FormatKind kind = info(format).kind;
    return kind == FormatKind::uint || kind == FormatKind::sint;
}

// Arrays of unorm, snorm and srgb formats hold integers, which the texture turns into fractions. Packed texels are fractions
// already.
bool normalizes(Format format) noexcept {
    const FormatInfo& row = info(format);
    return row.layout != FormatLayout::packed && row.kind != FormatKind::floating && !reads_integers(format);
}

cudaTextureDesc describe(const Sampler& sampler, Format format) noexcept {
    cudaTextureDesc how{};
    std::transform(std::begin(sampler.address), std::end(sampler.address), how.addressMode,
                   [](AddressMode mode) { return to_cuda(mode); });
    how.filterMode = to_cuda(sampler.filter);
    how.readMode = normalizes(format) ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    how.sRGB = info(format).kind == FormatKind::srgb ? 1 : 0;
    std::copy(std::begin(sampler.border), std::end(sampler.border), how.borderColor);
    how.normalizedCoords = sampler.normalized_coordinates ? 1 : 0;
    how.maxAnisotropy = sampler.max_anisotropy;
    how.mipmapFilterMode = to_cuda(sampler.mip_filter);
    how.mipmapLevelBias = sampler.mip_bias;
    how.minMipmapLevelClamp = sampler.mip_min;
    how.maxMipmapLevelClamp = sampler.mip_max;
    how.disableTrilinearOptimization = sampler.trilinear_optimization ? 0 : 1;
    how.seamlessCubemap = sampler.seamless_cubemap ? 1 : 0;
    return how;
}

struct ArraySource {
    cudaResourceDesc resource{};
    std::optional<cudaResourceViewDesc> view;
};

ArraySource source_of(cudaArray_t array) noexcept {
    ArraySource source;
    source.resource.resType = cudaResourceTypeArray;
    source.resource.res.array.array = array;
    return source;
}

// CUDA filters integers only if they are read as fractions, and asks the array for it, not the view. Floats stay floats.
bool filters_float_view(const TextureRequest& request) noexcept {
    return request.sampler.filter == Filter::linear && info(request.format).kind == FormatKind::floating &&
           info(request.array->info.format).layout == FormatLayout::plain &&
           info(request.array->info.format).kind != FormatKind::floating;
}

// A view is made where nothing else does: arrays of block-compressed texels take none, and none has a name for packed ones.
// A single level is an array by itself, but one of layers or faces reads these from wrong places.
ArraySource source_of(const TextureRequest& request) noexcept {
    const ArrayInfo& array = request.array->info;
    const CudaArray& native = cuda_array(request.array->handle);
    const TextureRange& range = request.range;
    const bool stands_alone =
        native.mipmapped == nullptr || (range.levels == 1 && !is_layered(array.kind) && !is_cube(array.kind));
    ArraySource source;
    if (stands_alone) {
        source = source_of(native.parts[static_cast<std::size_t>(request.array->part + range.first_level)]);
    } else {
        source.resource.resType = cudaResourceTypeMipmappedArray;
        source.resource.res.mipmap.mipmap = native.mipmapped;
    }
    const cudaResourceViewFormat format = view_format(request.format);
    const bool whole = range.layers == array.layers && (stands_alone || range.levels == array.levels);
    if (whole && format == view_format(array.format)) return source;
    // Sides are the whole resource's, whatever part of it is viewed.
    const int level = stands_alone ? range.first_level : 0;
    const Extent extent = level_extent(array, level);
    cudaResourceViewDesc& view = source.view.emplace();
    view.format = format;
    view.width = extent.width;
    view.height = is_flat(array.kind) ? 0 : extent.height;
    const bool deep = array.kind != ArrayKind::array_1d && array.kind != ArrayKind::array_2d;
    view.depth = deep ? slice_count(array, level) : 0;
    view.firstMipmapLevel = static_cast<unsigned>(range.first_level - level);
    view.lastMipmapLevel = view.firstMipmapLevel + static_cast<unsigned>(range.levels - 1);
    if (is_layered(array.kind)) {  // a cubemap that is not has faces, but no layers
        // The driver takes the first layer of a cubemap as a face and counts whole cubes from there to the last: with the last
        // face instead, fetches past the end leave the array.
        const std::size_t faces = is_cube(array.kind) ? 6 : 1;
        view.firstLayer = static_cast<unsigned>(range.first_layer * faces);
        view.lastLayer = static_cast<unsigned>(range.first_layer * faces + range.layers - 1);
    }
    return source;
}

// Those that fill one word, or four: of two words it takes longer than without.
std::optional<TouchedTexels> touched_texels(Format format) noexcept {
    switch (format) {
        case Format::rgba8_unorm: return TouchedTexels::unorm8_x4;
        case Format::r32_float: return TouchedTexels::float32_x1;
        case Format::rgba32_float: return TouchedTexels::float32_x4;
        default: return std::nullopt;
    }
}

std::optional<TouchedTexture> touched_texture(const TextureRequest& request) noexcept {
    const Sampler& sampler = request.sampler;
    const ArrayInfo& array = request.array->info;
    const bool one_level = request.range.levels == 1 && sampler.max_anisotropy < 2;
    const auto texels = touched_texels(request.format);
    if (!texels || !one_level || sampler.filter != Filter::linear) return std::nullopt;
    if (array.kind != ArrayKind::array_2d && array.kind != ArrayKind::layered_2d) return std::nullopt;
    const Extent extent = level_extent(array, request.range.first_level);
    const auto units = [&](std::size_t side) { return sampler.normalized_coordinates ? static_cast<float>(side) : 1; };
    return TouchedTexture{*texels, request.format, packed_bytes(request.format, {extent.width, extent.height}),
                          units(extent.width), units(extent.height)};
}

cudaResourceDesc resource_of(const Place& memory, Format format) noexcept {
    cudaResourceDesc resource{};
    if (memory.extent.height == 1) {
        resource.resType = cudaResourceTypeLinear;
        resource.res.linear.devPtr = memory.address;
        resource.res.linear.desc = channel_descriptor(format);
        resource.res.linear.sizeInBytes = row_bytes(format, memory.extent.width);
    } else {
        resource.resType = cudaResourceTypePitch2D;
        resource.res.pitch2D.devPtr = memory.address;
        resource.res.pitch2D.desc = channel_descriptor(format);
        resource.res.pitch2D.width = memory.extent.width;
        resource.res.pitch2D.height = memory.extent.height;
        resource.res.pitch2D.pitchInBytes = memory.pitch;
    }
    return resource;
}

// The points of a batch that are under way, and where in the device's memory they and what they become lie.
struct Piece {
    std::size_t first;
    std::size_t count;
    std::byte* texels;
    std::byte* points;
    std::byte* flags;  // a byte a point
    cudaStream_t stream;
};

struct Workspace {
    static constexpr std::size_t kBytes = std::size_t{16} << 20;

    explicit Workspace(const Device& device) : stream(device), memory(device, kBytes) {}
    Stream stream;
    Linear memory;
};

template <class T>
void upload(std::byte* to, std::span<const T> from, const Piece& piece, std::size_t elements_a_point = 1) {
    const std::span<const T> part = from.subspan(piece.first * elements_a_point, piece.count * elements_a_point);
    call<cudaMemcpyAsync>(to, part.data(), part.size_bytes(), cudaMemcpyHostToDevice, piece.stream);
}

template <class T>
void download(std::span<T> to, const std::byte* from, const Piece& piece, std::size_t elements_a_point = 1) {
    const std::span<T> part = to.subspan(piece.first * elements_a_point, piece.count * elements_a_point);
    call<cudaMemcpyAsync>(part.data(), from, part.size_bytes(), cudaMemcpyDeviceToHost, piece.stream);
}

void launch(const void* kernel, void** arguments, const Piece& piece) {
    constexpr unsigned kThreads = 256;
    const auto blocks = static_cast<unsigned>((piece.count + kThreads - 1) / kThreads);
    call<cudaLaunchKernel>(kernel, dim3{blocks, 1, 1}, dim3{kThreads, 1, 1}, arguments, std::size_t{0}, piece.stream);
}

// How the device reaches memory: the host's by an address that may be another.
std::byte* device_address(const Place& place) {
    if (place.kind != MemoryKind::pinned && place.kind != MemoryKind::registered) return place.address;
    cudaPointerAttributes is{};
    if (ask<cudaPointerGetAttributes>(&is, place.address) == cudaSuccess && is.devicePointer != nullptr)
        return static_cast<std::byte*>(is.devicePointer);
    throw Error({.code = ErrorCode::wrong_device,
                 .object = {},
                 .problem = fmt::format("the GPU has no address for the {} memory at {}", name(place.kind),
                                        static_cast<const void*>(place.address)),
                 .remedy = "Make it with this device, or as portable and mapped."});
}

constexpr unsigned kMostBlocks = 65535;  // in y

unsigned blocks_of(unsigned size, unsigned of_block) { return (size + of_block - 1) / of_block; }

class CudaSampling final : public Sampling {
public:
    explicit CudaSampling(CudaBackend& backend) noexcept : backend_(backend) {}

    TextureHandle create_texture(const TextureRequest& request) override {
        const DeviceScope scope(backend_.ordinal());
        load_grid_kernels();
        cudaTextureDesc how = describe(request.sampler, request.format);
        auto texture = std::make_unique<NativeTexture>();
        if (request.array != nullptr) {
            const ArraySource source = source_of(request);
            if (filters_float_view(request)) how.readMode = cudaReadModeNormalizedFloat;
            // Of an array that is no mipmapped one the device ignores it, but not of a view of one level.
            if (request.range.levels == 1) how.mipmapFilterMode = cudaFilterModePoint;
            texture->kind = request.array->info.kind;
            texture->touched = touched_texture(request);
            call<cudaCreateTextureObject>(&texture->value, &source.resource, &how,
                                          source.view ? &*source.view : nullptr);
        } else {
            const cudaResourceDesc resource = resource_of(*request.memory, request.format);
            texture->kind = resource.resType == cudaResourceTypeLinear ? ArrayKind::array_1d : ArrayKind::array_2d;
            call<cudaCreateTextureObject>(&texture->value, &resource, &how, nullptr);
        }
        return texture.release();
    }

    void destroy_texture(TextureHandle texture) noexcept override {
        const std::unique_ptr<NativeTexture> gone(texture);
        if (!gone->owned) return;
        quietly([&] {
            const DeviceScope scope(backend_.ordinal());
            call<cudaDestroyTextureObject>(gone->value);
        });
    }

    std::uint64_t texture_number(TextureHandle texture) const noexcept override { return texture->value; }

    void sample(TextureHandle texture, std::span<const FetchPoint> points, const SampleOptions& options,
                std::span<Texel> texels, std::span<std::uint8_t> resident) override {
        const void* kernel = fetch_kernel(options.operation, texture->kind, options.residency);
        int component = options.component;
        in_pieces(points.size(), sizeof(Texel), sizeof(FetchPoint), [&](Piece piece) {
            auto count = static_cast<unsigned>(piece.count);
            void* arguments[] = {&texture->value, &piece.points, &piece.texels, &piece.flags, &count, &component};
            upload(piece.points, points, piece);
            launch(kernel, arguments, piece);
            download(texels, piece.texels, piece);
            if (options.residency) download(resident, piece.flags, piece);
        });
    }

    void sample_grid(TextureHandle texture, const GridRequest& request, const StreamHandle* stream) override {
        const DeviceScope scope(backend_.ordinal());
        load_grid_kernels();
        PixelTarget picture = cuda_pixel_target(*request.picture);
        picture.format.from_signed = request.from_signed;
        const cudaStream_t on = stream != nullptr ? native(*stream) : nullptr;
        if (!sample_touched(*texture, request, picture, on)) sample_fetched(*texture, request.map, picture, on);
        if (stream == nullptr) call<cudaStreamSynchronize>(on);
    }

    SurfaceHandle create_surface(const ArrayBlock& array, int level) override {
        const DeviceScope scope(backend_.ordinal());
        const Extent extent = level_extent(array.info, level);
        auto surface = std::make_unique<NativeSurface>();
        surface->value = surface_of(cuda_array(array.handle), array.part + level);
        surface->kind = array.info.kind;
        surface->texel_bytes = info(array.info.format).bytes;
        surface->size = {static_cast<std::int32_t>(extent.width), static_cast<std::int32_t>(extent.height),
                         static_cast<std::int32_t>(slice_count(array.info, level))};
        return surface.release();
    }

    // The surface object is the array's.
    void destroy_surface(SurfaceHandle surface) noexcept override { delete surface; }

    std::uint64_t surface_number(SurfaceHandle surface) const noexcept override { return surface->value; }

    void read(SurfaceHandle surface, std::span<const SurfacePoint> points, Boundary boundary,
              std::span<std::byte> texels) override {
        const void* kernel = surface_read_kernel(surface->kind, surface->texel_bytes);
        access(*surface, kernel, points, boundary, [&](const Piece& piece, std::size_t bytes, auto&& run) {
            run();
            download(texels, piece.texels, piece, bytes);
        });
    }

    void write(SurfaceHandle surface, std::span<const SurfacePoint> points, Boundary boundary,
               std::span<const std::byte> texels) override {
        const void* kernel = surface_write_kernel(surface->kind, surface->texel_bytes);
        access(*surface, kernel, points, boundary, [&](const Piece& piece, std::size_t bytes, auto&& run) {
            upload(piece.texels, texels, piece, bytes);
            run();
        });
    }

private:
    static void sample_fetched(const NativeTexture& texture, AffineMap map, PixelTarget picture, cudaStream_t on) {
        cudaTextureObject_t object = texture.value;
        void* arguments[] = {&object, &map, &picture};
        const unsigned down = blocks_of(picture.height, kGridTile);
        const unsigned rows = std::min(down, kMostBlocks);
        const dim3 grid{blocks_of(picture.width, kGridTile), rows, blocks_of(down, rows)};
        call<cudaLaunchKernel>(grid_kernel(texture.kind), grid, dim3{kGridTile, kGridRows, 1}, arguments,
                               std::size_t{0}, on);
    }

    // False where that gains nothing: of texels that the second cache holds, or that pixels have not all in common.
    bool sample_touched(const NativeTexture& texture, const GridRequest& request, PixelTarget picture,
                        cudaStream_t on) {
        if (!texture.touched) return false;
        const TouchedTexture& source = *texture.touched;
        AffineMap map = request.map;
        const auto pixels = std::size_t{picture.width} * picture.height;
        const double texels_a_pixel =
            std::fabs((double{map.xx} * map.yy - double{map.xy} * map.yx) * source.texels_x * source.texels_y);
        const double read = std::min(static_cast<double>(source.bytes),
                                     static_cast<double>(pixels) * texels_a_pixel * info(source.format).bytes);
        constexpr double kMostTexels = 1.1;
        if (read < 2.0 * cache_bytes() || texels_a_pixel > kMostTexels) return false;
        const TouchedKernel kernel = touched_kernel(texture.kind, source.texels);
        const dim3 grid{blocks_of(picture.width, kernel.width) * kernel.band,
                        blocks_of(picture.height, kernel.height * kernel.band), 1};
        if (request.picture->format != source.format || !picture.aligned || grid.y > kMostBlocks) return false;
        Touches touches{0, 1, source.texels_x, source.texels_y, 1 / source.texels_x, 1 / source.texels_y};
        if (source.texels != TouchedTexels::float32_x4) touches.shift_x = 2;
        const bool turned = std::fabs(map.yx * source.texels_y) > std::fabs(map.xx * source.texels_x);
        if (turned) std::swap(touches.shift_x, touches.shift_y);
        cudaTextureObject_t object = texture.value;
        void* arguments[] = {&object, &map, &picture, &touches};
        call<cudaLaunchKernel>(kernel.function, grid, dim3{kernel.threads, 1, 1}, arguments, std::size_t{0}, on);
        return true;
    }

    // Of the second cache.
    double cache_bytes() {
        std::call_once(cache_asked_, [this] {
            int bytes = 0;
            call<cudaDeviceGetAttribute>(&bytes, cudaDevAttrL2CacheSize, backend_.ordinal());
            cache_bytes_ = bytes;
        });
        return cache_bytes_;
    }

    // Doing that waits for the device where they are first used: so with the first texture.
    void load_grid_kernels() {
        std::call_once(grid_kernels_, [] {
            for (const ArrayKind kind : {ArrayKind::array_2d, ArrayKind::layered_2d}) {
                cudaFuncAttributes unused{};
                call<cudaFuncGetAttributes>(&unused, grid_kernel(kind));
                using enum TouchedTexels;
                for (const TouchedTexels texels : {unorm8_x4, float32_x1, float32_x4})
                    call<cudaFuncGetAttributes>(&unused, touched_kernel(kind, texels).function);
            }
        });
    }

    template <class Move>
    void access(NativeSurface& surface, const void* kernel, std::span<const SurfacePoint> points, Boundary boundary,
                const Move& move) {
        const auto texel_bytes = static_cast<std::size_t>(surface.texel_bytes);
        in_pieces(points.size(), texel_bytes, sizeof(SurfacePoint), [&](Piece piece) {
            auto count = static_cast<unsigned>(piece.count);
            void* arguments[] = {&surface.value, &piece.points, &piece.texels, &count, &surface.size, &boundary};
            upload(piece.points, points, piece);
            move(piece, texel_bytes, [&] { launch(kernel, arguments, piece); });
        });
    }

    /// Runs `piece` over parts of a batch, each done before the next begins.
    template <class Run>
    void in_pieces(std::size_t points, std::size_t texel_bytes, std::size_t point_bytes, const Run& run) {
        const std::scoped_lock lock(mutex_);
        const DeviceScope scope(backend_.ordinal());
        if (!workspace_) workspace_.emplace(Device(backend_));
        // A multiple of 16, which aligns all three.
        const std::size_t most = Workspace::kBytes / (texel_bytes + point_bytes + 1) / 16 * 16;
        Piece piece{};
        piece.texels = workspace_->memory.data();
        piece.points = piece.texels + most * texel_bytes;
        piece.flags = piece.points + most * point_bytes;
        piece.stream = native(workspace_->stream.state()->handle);
        for (; piece.first < points; piece.first += most) {
            piece.count = std::min(most, points - piece.first);
            run(piece);
            call<cudaStreamSynchronize>(piece.stream);
        }
    }

    CudaBackend& backend_;
    std::mutex mutex_;
    std::optional<Workspace> workspace_;  // made with the first batch
    std::once_flag grid_kernels_;
    std::once_flag cache_asked_;
    double cache_bytes_ = 0;
};

}  // namespace

PixelTarget cuda_pixel_target(const Place& picture) {
    PixelTarget target;
    target.format.stored = texel_format(picture.format);
    target.width = static_cast<std::uint32_t>(picture.extent.width);
    target.height = static_cast<std::uint32_t>(picture.extent.height);
    target.depth = static_cast<std::uint32_t>(picture.extent.depth);
    if (picture.kind != MemoryKind::array) {
        target.address = device_address(picture);
        target.pitch = picture.pitch;
        target.slice_pitch = picture.slice_pitch;
        const std::uintptr_t places =
            reinterpret_cast<std::uintptr_t>(target.address) | target.pitch | target.slice_pitch;
        target.aligned = places % target.format.stored.bytes == 0;
        return target;
    }
    const CudaArray& array = cuda_array(picture.array);
    if (!array.has_surfaces) {
        throw Error({.code = ErrorCode::unsupported,
                     .object = {},
                     .problem = "the array has no surfaces, by which kernels write",
                     .remedy = "Write to memory and copy() that to the array."});
    }
    target.surface = surface_of(array, picture.array_part);
    target.kind = array.info.kind;
    target.offset[0] = static_cast<std::int32_t>(picture.array_offset.x);
    target.offset[1] = static_cast<std::int32_t>(picture.array_offset.y);
    target.offset[2] = static_cast<std::int32_t>(picture.array_offset.z);
    return target;
}

cudaResourceViewFormat view_format(Format format) noexcept {
    const FormatInfo& row = info(format);
    const auto plain = [&row](int of_one_channel) {
        return static_cast<cudaResourceViewFormat>(of_one_channel + row.channels / 2);  // 1, 2 and 4 channels in turn
    };
    switch (static_cast<cudaChannelFormatKind>(row.cuda.kind)) {
        case cudaChannelFormatKindUnsigned:
            return plain(row.bits == 8    ? cudaResViewFormatUnsignedChar1
                         : row.bits == 16 ? cudaResViewFormatUnsignedShort1
                                          : cudaResViewFormatUnsignedInt1);
        case cudaChannelFormatKindSigned:
            return plain(row.bits == 8    ? cudaResViewFormatSignedChar1
                         : row.bits == 16 ? cudaResViewFormatSignedShort1
                                          : cudaResViewFormatSignedInt1);
        case cudaChannelFormatKindFloat:
            return plain(row.bits == 16 ? cudaResViewFormatHalf1 : cudaResViewFormatFloat1);
        case cudaChannelFormatKindUnsignedBlockCompressed1:
        case cudaChannelFormatKindUnsignedBlockCompressed1SRGB: return cudaResViewFormatUnsignedBlockCompressed1;
        case cudaChannelFormatKindUnsignedBlockCompressed2:
        case cudaChannelFormatKindUnsignedBlockCompressed2SRGB: return cudaResViewFormatUnsignedBlockCompressed2;
        case cudaChannelFormatKindUnsignedBlockCompressed3:
        case cudaChannelFormatKindUnsignedBlockCompressed3SRGB: return cudaResViewFormatUnsignedBlockCompressed3;
        case cudaChannelFormatKindUnsignedBlockCompressed4: return cudaResViewFormatUnsignedBlockCompressed4;
        case cudaChannelFormatKindSignedBlockCompressed4: return cudaResViewFormatSignedBlockCompressed4;
        case cudaChannelFormatKindUnsignedBlockCompressed5: return cudaResViewFormatUnsignedBlockCompressed5;
        case cudaChannelFormatKindSignedBlockCompressed5: return cudaResViewFormatSignedBlockCompressed5;
        case cudaChannelFormatKindUnsignedBlockCompressed6H: return cudaResViewFormatUnsignedBlockCompressed6H;
        case cudaChannelFormatKindSignedBlockCompressed6H: return cudaResViewFormatSignedBlockCompressed6H;
        case cudaChannelFormatKindUnsignedBlockCompressed7:
        case cudaChannelFormatKindUnsignedBlockCompressed7SRGB: return cudaResViewFormatUnsignedBlockCompressed7;
        default: return cudaResViewFormatNone;  // as the array is
    }
}

std::unique_ptr<Sampling> make_cuda_sampling(Backend& backend) {
    return std::make_unique<CudaSampling>(static_cast<CudaBackend&>(backend));
}

}  // namespace texton::detail

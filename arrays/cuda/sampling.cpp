#include "arrays/cuda/sampling.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>

#include <texton/linear.h>

#include "arrays/cuda/grids.h"
#include "arrays/sampling.h"
#include "core/cuda/array.h"

// Textures and surfaces of a CUDA device. A batch passes in pieces through one block of device memory, on the default
// stream. All batches use the same amount of device memory.

namespace texton::detail {
namespace {

// The part of a batch that is in flight, and the locations of its points and results in device memory.
struct Piece {
    std::size_t first;
    std::size_t count;
    std::byte* texels;
    std::byte* points;
    std::byte* flags;  // one byte per point
};

constexpr std::size_t kWorkspaceBytes = std::size_t{16} << 20;
constexpr cudaStream_t kDefaultStream = nullptr;

template <class T>
void upload(std::byte* to, std::span<const T> from, const Piece& piece, std::size_t elements_a_point = 1) {
    const std::span<const T> part = from.subspan(piece.first * elements_a_point, piece.count * elements_a_point);
    call<cudaMemcpyAsync>(to, part.data(), part.size_bytes(), cudaMemcpyHostToDevice, kDefaultStream);
}

template <class T>
void download(std::span<T> to, const std::byte* from, const Piece& piece, std::size_t elements_a_point = 1) {
    const std::span<T> part = to.subspan(piece.first * elements_a_point, piece.count * elements_a_point);
    call<cudaMemcpyAsync>(part.data(), from, part.size_bytes(), cudaMemcpyDeviceToHost, kDefaultStream);
}

void launch(const void* kernel, void** arguments, const Piece& piece) {
    constexpr unsigned kThreads = 256;
    const auto blocks = static_cast<unsigned>((piece.count + kThreads - 1) / kThreads);
    call<cudaLaunchKernel>(kernel, dim3{blocks, 1, 1}, dim3{kThreads, 1, 1}, arguments, std::size_t{0}, kDefaultStream);
}

// Thread-safe. Batches of all threads run one after another, because they share the block of memory.
class CudaSampling final : public Sampling {
public:
    explicit CudaSampling(CudaBackend& backend) noexcept : backend_(backend), grids_(backend.ordinal()) {}

    TextureHandle create_texture(const TextureRequest& request) override {
        const DeviceScope scope(backend_.ordinal());
        grids_.load();
        return make_cuda_texture(request).release();
    }

    TextureHandle create_point_texture(TextureHandle texture) override {
        if (!texture->owned) return nullptr;
        const FreeScope scope(backend_.ordinal());
        return make_cuda_point_texture(*texture).release();
    }

    void destroy_texture(TextureHandle texture) noexcept override {
        const std::unique_ptr<NativeTexture> gone(texture);
        if (!gone->owned) return;
        quietly([&] {
            const DeviceScope scope(backend_.ordinal());
            call<cudaDestroyTextureObject>(gone->value);
        });
    }

    void wait_for_uses() noexcept override {
        quietly([&] {
            const FreeScope scope(backend_.ordinal());
            finish_device();
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
        const cudaStream_t on = stream != nullptr ? native(*stream) : nullptr;
        grids_.enqueue(*texture, request, on);
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

    // The surface object belongs to the array.
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

    /// Runs `run` for the pieces of a batch. Each piece is complete before the next one starts.
    template <class Run>
    void in_pieces(std::size_t points, std::size_t texel_bytes, std::size_t point_bytes, const Run& run) {
        const std::scoped_lock lock(mutex_);
        const DeviceScope scope(backend_.ordinal());
        if (!workspace_) workspace_.emplace(Device(backend_), kWorkspaceBytes);
        // A multiple of 16, which aligns all three arrays.
        const std::size_t maximum = kWorkspaceBytes / (texel_bytes + point_bytes + 1) / 16 * 16;
        Piece piece{};
        piece.texels = workspace_->data();
        piece.points = piece.texels + maximum * texel_bytes;
        piece.flags = piece.points + maximum * point_bytes;
        for (; piece.first < points; piece.first += maximum) {
            piece.count = std::min(maximum, points - piece.first);
            run(piece);
            call<cudaStreamSynchronize>(kDefaultStream);
        }
    }

    CudaBackend& backend_;
    CudaGrids grids_;
    std::mutex mutex_;
    std::optional<Linear> workspace_;  // device memory of batches, created with the first one
};

}  // namespace

std::unique_ptr<Sampling> make_cuda_sampling(Backend& backend) {
    return std::make_unique<CudaSampling>(static_cast<CudaBackend&>(backend));
}

}  // namespace texton::detail

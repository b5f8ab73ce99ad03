// Textures and surfaces of the CPU device. They apply the model of the texture unit to the texels in memory.
#include <algorithm>
#include <cstring>
#include <memory>

#include "arrays/cpu/texture.h"
#include "arrays/unit/surface_point.h"
#include "arrays/unit/texel_format.h"
#include "core/cpu/device.h"
#include "core/parallel.h"

namespace texton::detail {
namespace {

// --- surfaces --------------------------------------------------------------------------------------------------------

struct CpuSurface {
    const CpuLevel* level;
    Format format;
    SurfaceSize size;
};

CpuSurface& surface_of(SurfaceHandle handle) noexcept { return *reinterpret_cast<CpuSurface*>(handle); }

// Returns null if there is nothing to read or write.
std::byte* texel_at(const CpuSurface& surface, SurfacePoint at, Boundary boundary) noexcept {
    if (!is_inside(at, surface.size)) {
        if (boundary != Boundary::clamp) return nullptr;
        at = nearest_inside(at, surface.size);
    }
    return surface.level->texel(static_cast<std::size_t>(at.x), static_cast<std::size_t>(at.y),
                                static_cast<std::size_t>(at.z), surface.format);
}

// --- batches ---------------------------------------------------------------------------------------------------------

/// Calls body(begin, end) for parts of [0, count) on all cores.
template <class Body>
void in_pieces(std::size_t count, const Body& body) {
    constexpr std::size_t kPiece = 4096;  // fetches
    const std::size_t pieces = (count + kPiece - 1) / kPiece;
    if (pieces <= 1) {
        body(std::size_t{0}, count);
    } else {
        run_in_parallel(pieces, [&](std::size_t i) { body(i * kPiece, std::min((i + 1) * kPiece, count)); });
    }
}

// --- grids -----------------------------------------------------------------------------------------------------------

// A request to sample a grid. It copies its parameters, since it can run later on a stream. The texture can be
// destroyed before, but the memory that it reads must remain valid.
struct CpuGrid {
    CpuTexture texture;
    AffineMap map;
    std::byte* address;
    std::size_t pitch;
    Extent extent;
    PixelFormat format;

    void run() const {
        constexpr std::size_t kPiece = 16384;  // pixels, in whole rows
        const std::size_t rows = std::max<std::size_t>(1, kPiece / extent.width);
        run_in_parallel((extent.height + rows - 1) / rows, [&](std::size_t piece) {
            const TextureReader reader(texture);
            const RowSampler sampler = reader.rows(map.layer);
            const std::size_t end = std::min((piece + 1) * rows, extent.height);
            for (std::size_t y = piece * rows; y < end; ++y)
                sampler.fetch_row(map, 0, static_cast<std::uint32_t>(y), extent.width, format, address + y * pitch);
        });
    }
};

class CpuSampling final : public Sampling {
public:
    explicit CpuSampling(Backend& backend) noexcept : device_(static_cast<CpuDevice&>(backend)) {}

    TextureHandle create_texture(const TextureRequest& request) override {
        auto texture = std::make_unique<CpuTexture>();
        texture->format = texel_format(request.format);
        texture->sampler = request.sampler;
        if (request.array != nullptr) {
            const ArrayBlock& block = *request.array;
            const std::size_t faces = is_cube(block.info.kind) ? 6 : 1;
            texture->array = &cpu_array(block.handle);
            texture->first_part = static_cast<std::size_t>(block.part + request.range.first_level);
            texture->levels = static_cast<std::size_t>(request.range.levels);
            texture->first_slice = request.range.first_layer * faces;
            texture->slices = request.range.layers * faces;
            texture->kind = block.info.kind;
            texture->stored = block.info.format;
        } else {
            const MemoryLocation& location = *request.memory;
            texture->kind = location.extent.height == 1 ? ArrayKind::array_1d : ArrayKind::array_2d;
            texture->memory = level_view(reinterpret_cast<const unsigned char*>(location.address), location.extent,
                                         location.pitch, location.slice_pitch);
        }
        return reinterpret_cast<TextureHandle>(texture.release());
    }
    TextureHandle create_point_texture(TextureHandle texture) override {
        auto points = std::make_unique<CpuTexture>(texture_of(texture));
        points->sampler = with_point_filter(points->sampler);
        return reinterpret_cast<TextureHandle>(points.release());
    }
    void destroy_texture(TextureHandle texture) noexcept override { delete &texture_of(texture); }
    std::uint64_t texture_number(TextureHandle texture) const noexcept override {
        return reinterpret_cast<std::uintptr_t>(texture);
    }

    void sample(TextureHandle handle, std::span<const FetchPoint> points, const SampleOptions& options,
                std::span<Texel> texels, std::span<std::uint8_t> resident) override {
        device_.wait_for_default_stream();
        const CpuThreadsScope scope(device_.threads());
        in_pieces(points.size(), [&](std::size_t begin, std::size_t end) {
            TextureReader reader(texture_of(handle));
            if (resident.empty()) {
                reader.fetch(points.subspan(begin, end - begin), options, texels.subspan(begin, end - begin));
                return;
            }
            for (std::size_t i = begin; i < end; ++i) {
                texels[i] = reader.fetch(points[i], options);
                resident[i] = reader.found_all() ? 1 : 0;
            }
        });
    }

    void sample_grid(TextureHandle texture, const GridRequest& request, const StreamHandle* stream) override {
        const MemoryLocation& location = *request.image;
        const CpuGrid grid{texture_of(texture), request.map,     location.address,
                           location.pitch,      location.extent, {texel_format(location.format), request.from_signed}};
        if (stream == nullptr) {
            device_.wait_for_default_stream();
            const CpuThreadsScope scope(device_.threads());
            grid.run();
        } else {
            device_.submit(*stream, [grid] { grid.run(); });
        }
    }

    SurfaceHandle create_surface(const ArrayBlock& array, int level) override {
        const CpuLevel& part = cpu_array(array.handle).parts[static_cast<std::size_t>(array.part + level)];
        const SurfaceSize size{static_cast<std::int32_t>(part.extent.width),
                               static_cast<std::int32_t>(part.extent.height),
                               static_cast<std::int32_t>(part.extent.depth)};
        return reinterpret_cast<SurfaceHandle>(new CpuSurface{&part, array.info.format, size});
    }
    void destroy_surface(SurfaceHandle surface) noexcept override { delete &surface_of(surface); }
    std::uint64_t surface_number(SurfaceHandle surface) const noexcept override {
        return reinterpret_cast<std::uintptr_t>(surface);
    }

    void read(SurfaceHandle handle, std::span<const SurfacePoint> points, Boundary boundary,
              std::span<std::byte> texels) override {
        const CpuSurface& surface = surface_of(handle);
        const std::size_t bytes = info(surface.format).bytes;
        device_.wait_for_default_stream();
        const CpuThreadsScope scope(device_.threads());
        in_pieces(points.size(), [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                const std::byte* texel = texel_at(surface, points[i], boundary);
                if (texel != nullptr) {
                    std::memcpy(&texels[i * bytes], texel, bytes);
                } else {
                    std::memset(&texels[i * bytes], 0, bytes);
                }
            }
        });
    }

    // Writes sequentially, so that points at the same texel cannot mix their bytes.
    void write(SurfaceHandle handle, std::span<const SurfacePoint> points, Boundary boundary,
               std::span<const std::byte> texels) override {
        const CpuSurface& surface = surface_of(handle);
        const std::size_t bytes = info(surface.format).bytes;
        device_.wait_for_default_stream();
        for (std::size_t i = 0; i < points.size(); ++i) {
            std::byte* texel = texel_at(surface, points[i], boundary);
            if (texel != nullptr) std::memcpy(texel, &texels[i * bytes], bytes);
        }
    }

private:
    CpuDevice& device_;
};

}  // namespace

std::unique_ptr<Sampling> make_cpu_sampling(Backend& backend) { return std::make_unique<CpuSampling>(backend); }

}  // namespace texton::detail

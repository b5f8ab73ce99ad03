#include <texton/launch.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include <fmt/format.h>

#include <texton/error.h>

#include "arrays/cpu_texture.h"
#include "arrays/texel_format.h"
#include "arrays/texture_state.h"
#include "arrays/written_picture.h"
#include "core/backing.h"
#include "core/cpu_array.h"
#include "core/cpu_parallel.h"
#include "core/transfer.h"
#include "kernels/cpu_fetches.h"
#include "kernels/launch_state.h"

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

void encode_pixels(std::span<const Float4> pixels, const PixelFormat& format, std::byte* to) {
    const std::size_t bytes = format.stored.bytes;
    if (format.stored.encoding == Encoding::floating && format.stored.bits == 32) {
        for (std::size_t i = 0; i < pixels.size(); ++i)
            std::memcpy(to + i * bytes, texel_of(pixels[i], format.stored).channel, bytes);
        return;
    }
    for (std::size_t i = 0; i < pixels.size(); ++i)
        std::memcpy(to + i * bytes, encode_pixel(texel_of(pixels[i], format.stored), format).word, bytes);
}

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

// Where the CPU device writes: memory, or a level of an array.
class CpuPicture {
public:
    explicit CpuPicture(const Place& place)
        : target_{.address = place.address, .pitch = place.pitch, .slice_pitch = place.slice_pitch},
          format_(place.format),
          offset_(place.array_offset) {
        if (place.kind == MemoryKind::array) level_ = &level_of(place);
        pixel_.stored = texel_format(place.format);
        pixel_.from_signed = pixel_.stored.encoding == Encoding::sint;
    }

    void store(PixelPlace at, std::span<const Float4> pixels) const {
        const auto x = static_cast<std::size_t>(at.x);
        const auto y = static_cast<std::size_t>(at.y);
        const auto z = static_cast<std::size_t>(at.z);
        const std::size_t bytes = pixel_.stored.bytes;
        if (level_ == nullptr) {
            encode_pixels(pixels, pixel_, target_.address + z * target_.slice_pitch + y * target_.pitch + x * bytes);
        } else {
            encode_pixels(pixels, pixel_, level_->texel(offset_.x + x, offset_.y + y, offset_.z + z, format_));
        }
    }

private:
    PixelTarget target_;
    const CpuLevel* level_ = nullptr;
    Format format_;
    Offset offset_;
    PixelFormat pixel_{};
};

// Free of what the caller holds: made when the stream comes to it. The textures may be dropped before, what they read not.
struct CpuWork {
    std::vector<CpuTexture> textures;
    std::vector<SourceShape> shapes;
    CpuPicture picture;
    Extent extent;
    BlockFunction block;

    void run() const {
        constexpr std::size_t kPiece = 4096;  // pixels, in whole rows
        const std::size_t rows = std::max<std::size_t>(1, kPiece / extent.width);
        const std::size_t all_rows = extent.height * extent.depth;
        run_in_parallel((all_rows + rows - 1) / rows, [&](std::size_t piece) {
            CpuFetches fetches(textures);
            std::vector<CpuSource> sources;
            for (std::size_t i = 0; i < textures.size(); ++i) sources.emplace_back(shapes[i], fetches, i);
            const std::size_t end = std::min((piece + 1) * rows, all_rows);
            for (std::size_t row = piece * rows; row < end; ++row) {
                for (std::size_t x = 0; x < extent.width; x += CpuFetches::kPixels) {
                    const PixelPlace at{static_cast<std::int32_t>(x), static_cast<std::int32_t>(row % extent.height),
                                        static_cast<std::int32_t>(row / extent.height)};
                    run_block(fetches, sources, at, std::min(CpuFetches::kPixels, extent.width - x));
                }
            }
        });
    }

private:
    void run_block(CpuFetches& fetches, std::span<const CpuSource> sources, PixelPlace at, std::size_t count) const {
        Float4 pixels[CpuFetches::kPixels];
        fetches.start(count);
        do block(fetches, sources, at, std::span(pixels, count));
        while (!fetches.settle());
        picture.store(at, std::span(pixels, count));
    }
};

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
    CpuWork work{{}, {}, CpuPicture(state_->picture), state_->picture.extent, std::move(block)};
    for (const Texture& texture : state_->textures) {
        work.textures.push_back(texture_of(texture.state()->handle));
        work.shapes.push_back(shape_of(*texture.state()));
    }
    BackingUse use(state_->object, state_->stream, owners_of(*state_));
    request(state_->backend, state_->object, {{"width", work.extent.width}, {"height", work.extent.height}}, [&] {
        state_->backend->run_on_host(state_->stream.state()->handle, [work = std::move(work)] { work.run(); });
    });
    use.enqueued();
}

void Launch::run_kernel(std::span<const Launch> launches, const void* kernel, void** arguments, const BlockTile& tile) {
    const LaunchState& first = *launches[0].state_;
    LaunchGrid grid{0, static_cast<unsigned>(launches.size()), 0};
    std::vector<BackingUse::Owner> owners;
    for (const Launch& launch : launches) {
        const PixelTarget& target = launch.state_->target;
        const auto blocks = [](unsigned side, unsigned of_block) { return (side + of_block - 1) / of_block; };
        grid.tiles = std::max(grid.tiles, blocks(target.width, tile.width) * blocks(target.height, tile.height));
        grid.slices = std::max(grid.slices, blocks(target.depth, tile.slices));
        std::ranges::move(owners_of(*launch.state_), std::back_inserter(owners));
    }
    BackingUse use(first.object, first.stream, owners);
    request(first.backend, first.object, {{"width", first.target.width}, {"height", first.target.height}},
            [&] { launch_on_cuda(first, kernel, arguments, grid); });
    use.enqueued();
}

const PixelTarget& Launch::target() const noexcept { return state_->target; }
SourceShape Launch::shape(std::size_t texture) const noexcept { return shape_of(*state_->textures[texture].state()); }
std::uint64_t Launch::handle(std::size_t texture) const noexcept {
    const TextureState& state = *state_->textures[texture].state();
    return state.sampling->texture_number(state.handle);
}

}  // namespace texton::detail

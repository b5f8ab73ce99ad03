#include <texton/launch.h>

#include <memory>

#include <fmt/format.h>

#include <texton/error.h>
#include <texton/sample.h>

#include "arrays/texture_state.h"
#include "arrays/written_image.h"
#include "core/request.h"
#include "core/transfer.h"
#include "kernels/launch/dispatch.h"
#include "kernels/launch/image_rows.h"
#include "kernels/launch/launch_state.h"
#include "kernels/launch/row_kernels.h"

namespace texton::detail {
namespace {

void check_device(const LaunchState& launch, const Texture& texture, std::size_t index) {
    const Backend* home = texture.state()->backend;
    if (home == launch.backend) return;
    throw Error({.code = ErrorCode::wrong_device,
                 .object = launch.object,
                 .problem = fmt::format("texture {} belongs to {}, but the stream to {}", index,
                                        home->properties().name, launch.backend->properties().name),
                 .remedy = "Create the texture on the stream's device.",
                 .numbers = {{"texture", index}}});
}

void check_slices(const LaunchState& launch) {
    constexpr std::size_t kMaxSlices = 65535;  // maximum number of blocks of a grid in z
    const Extent& extent = launch.image.extent;
    if (extent.depth <= kMaxSlices) return;
    throw Error({.code = ErrorCode::overflow,
                 .object = launch.object,
                 .problem = fmt::format("the destination image has {} slices", extent.depth),
                 .remedy = fmt::format("Process it in parts of at most {} slices.", kMaxSlices),
                 .numbers = {{"depth", extent.depth}}});
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

}  // namespace

std::vector<BackingUse::Owner> owners_of(const LaunchState& launch) {
    std::vector<BackingUse::Owner> owners{launch.image.owner};
    for (const Texture& texture : launch.textures) owners.push_back(source_of(texture.state()));
    return owners;
}

const DeviceKernels& device_kernels(const Backend& backend) {
    switch (backend.properties().kind) {
        case DeviceKind::cpu: return cpu_kernels();
        case DeviceKind::cuda: return cuda_kernels();
    }
    return cpu_kernels();
}

const DeviceKernels& device_kernels(const Launch& launch) {
    const LaunchState& state = launch.state();
    const bool in_rows = ImageRowsScope::of(state.image) != nullptr;
    return in_rows && !launch.on_cpu() ? cuda_row_kernels() : device_kernels(*state.backend);
}

Launch::Launch(const char* object, const Stream& stream, const View& image, std::span<const Texture> textures,
               Overlap overlap) try {
    Backend& backend = stream.device().backend();
    state_ = std::make_unique<LaunchState>(
        LaunchState{object, stream, &backend, {textures.begin(), textures.end()}, {}, {}});
    if (overlap == Overlap::pointwise_texels) {
        for (Texture& texture : state_->textures) {
            if (texture.kind() == ArrayKind::array_2d || texture.kind() == ArrayKind::layered_2d)
                texture = by_points(texture);
        }
    }
    for (std::size_t i = 0; i < textures.size(); ++i) {
        check_device(*state_, textures[i], i);
        check_source(object, textures[i]);
        keep_if_recorded(*textures[i].state());
    }
    state_->image = written_image(object, image, backend);
    check_slices(*state_);
    if (overlap != Overlap::allowed) {
        for (const Texture& texture : textures)
            check_apart(object, texture, state_->image, overlap == Overlap::pointwise_texels);
    }
    check_stream(stream, &backend, &backend, object);
    device_kernels(backend).prepare(*state_);
} catch (const std::bad_alloc&) {
    refuse_host_memory(object);
}

Launch::Launch(Launch&&) noexcept = default;
Launch::~Launch() = default;

bool Launch::on_cpu() const noexcept { return state_->backend->properties().kind == DeviceKind::cpu; }

void Launch::sample_grid(const AffineMap& map) const {
    const TextureState& texture = *state_->textures[0].state();
    const GridRequest grid{&state_->image, map, info(texture.format).kind == FormatKind::sint};
    const StreamHandle stream = state_->stream.state()->handle;
    BackingUse use(state_->object, state_->stream, owners_of(*state_));
    const Extent& extent = state_->image.extent;
    request(state_->backend, state_->object, {{"width", extent.width}, {"height", extent.height}},
            [&] { texture.sampling->sample_grid(texture.handle, grid, &stream); });
    use.enqueued();
}

void Launch::refuse_cuda() const {
    throw Error({.code = ErrorCode::unsupported,
                 .object = state_->object,
                 .problem = fmt::format("the functor was not compiled for {}", state_->backend->properties().name),
                 .remedy = "Compile the file that calls launch() with nvcc, or use a stream of the CPU device."});
}

const PixelTarget& Launch::target() const noexcept { return state_->target; }
SourceShape Launch::shape(std::size_t texture) const noexcept { return shape_of(*state_->textures[texture].state()); }
std::uint64_t Launch::handle(std::size_t texture) const noexcept {
    const TextureState& state = *state_->textures[texture].state();
    return state.sampling->texture_number(state.handle);
}

}  // namespace texton::detail

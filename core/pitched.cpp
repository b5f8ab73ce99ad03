#include <texton/pitched.h>

#include <fmt/format.h>

#include <texton/error.h>

#include "core/block.h"
#include "core/request.h"

namespace texton {
namespace {

constexpr const char* k2D = "texton::Pitched2D";
constexpr const char* k3D = "texton::Pitched3D";

// Returns the bytes of a row, after all checks that need no call of the device.
std::size_t checked_row(const char* object, const Device& device, Format format, Extent extent) {
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = object,
                     .problem = fmt::format("{} texels were requested", to_string(extent)),
                     .remedy = "Every dimension must be at least 1.",
                     .numbers = {{"width", extent.width}, {"height", extent.height}, {"depth", extent.depth}}});
    }
    if (info(format).layout == FormatLayout::planar) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = object,
                     .problem = fmt::format("{} has two planes of different sizes", name(format)),
                     .remedy = "Create one block for each plane with the format of plane_info()."});
    }
    const std::size_t row = row_bytes(format, extent.width);
    const DeviceLimits& limits = device.limits();
    if (row > limits.max_pitch) {
        throw Error({.code = ErrorCode::overflow,
                     .object = object,
                     .problem = fmt::format("a row of {} texels needs {} bytes, but the maximum pitch of {} is {}",
                                            extent.width, row, device.name(), limits.max_pitch),
                     .remedy = "Use a smaller width or several blocks.",
                     .numbers = {{"row", row}, {"max_pitch", limits.max_pitch}}});
    }
    const std::size_t slice =
        checked_product(row + limits.pitch_alignment, row_count(format, extent.height), object, "pitch * height");
    (void)checked_product(slice, extent.depth, object, "pitch * height * depth");
    return row;
}

View pitched_view(const std::shared_ptr<detail::Block>& block, const char* object, Format format, Extent extent,
                  std::size_t pitch, std::size_t slice_pitch) {
    detail::MemoryLocation location;
    location.address = detail::live(block, object).address;
    location.owner = block;
    location.backend = block->backend;
    location.pitch = pitch;
    location.slice_pitch = slice_pitch;
    location.kind = MemoryKind::pitched;
    location.format = format;
    location.extent = extent;
    return View(std::move(location));
}

}  // namespace

Pitched2D::Pitched2D(const Device& device, Format format, Extent extent) try : format_(format), extent_(extent) {
    const std::size_t row = checked_row(k2D, device, format, extent);
    if (extent.depth != 1) {
        throw Error(
            {.code = ErrorCode::bad_argument,
             .object = k2D,
             .problem = fmt::format("{} texels were requested, but a 2D block has a depth of 1", to_string(extent)),
             .remedy = "Use Pitched3D for volumes.",
             .numbers = {{"depth", extent.depth}}});
    }
    detail::refuse_while_recording(k2D, "allocating memory outside of stream order");
    detail::Backend& backend = device.backend();
    const std::size_t rows = row_count(format, extent.height);
    block_ = detail::make_block(backend, k2D, MemoryKind::pitched, row * rows, &detail::Backend::free, [&] {
        const detail::PitchedMemory memory = backend.allocate_pitched_2d(row, rows);
        pitch_ = memory.pitch;
        return memory.address;
    });
    block_->bytes = pitch_ * rows;
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(k2D);
}

std::byte* Pitched2D::data() const noexcept { return block_ ? block_->address : nullptr; }
Device Pitched2D::device() const { return Device(*detail::live(block_, k2D).backend); }
View Pitched2D::view() const {
    return pitched_view(block_, k2D, format_, extent_, pitch_, pitch_ * row_count(format_, extent_.height));
}

Pitched3D::Pitched3D(const Device& device, Format format, Extent extent) try : format_(format), extent_(extent) {
    const std::size_t row = checked_row(k3D, device, format, extent);
    detail::refuse_while_recording(k3D, "allocating memory outside of stream order");
    detail::Backend& backend = device.backend();
    const std::size_t rows = row_count(format, extent.height);
    const std::size_t payload = row * rows * extent.depth;
    block_ = detail::make_block(backend, k3D, MemoryKind::pitched, payload, &detail::Backend::free, [&] {
        const detail::PitchedMemory memory = backend.allocate_pitched_3d(row, rows, extent.depth);
        pitch_ = memory.pitch;
        return memory.address;
    });
    slice_pitch_ = pitch_ * rows;
    block_->bytes = slice_pitch_ * extent.depth;
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(k3D);
}

std::byte* Pitched3D::data() const noexcept { return block_ ? block_->address : nullptr; }
Device Pitched3D::device() const { return Device(*detail::live(block_, k3D).backend); }
View Pitched3D::view() const { return pitched_view(block_, k3D, format_, extent_, pitch_, slice_pitch_); }

}  // namespace texton

#include <texton/planar_array.h>

#include <fmt/format.h>

#include <texton/copy.h>
#include <texton/error.h>

#include "arrays/array_block.h"
#include "core/request.h"

namespace texton {
namespace {

constexpr const char* kPlanar = "texton::PlanarArray";

[[noreturn]] void refuse(const char* object, ErrorCode code, Extent extent, std::string problem, std::string remedy) {
    throw Error({.code = code,
                 .object = object,
                 .problem = std::move(problem),
                 .remedy = std::move(remedy),
                 .numbers = {{"width", extent.width}, {"height", extent.height}, {"depth", extent.depth}}});
}

// The driver needs an even height for nv16 too.
void check_image(Format format, Extent extent, const char* object) {
    if (info(format).layout != FormatLayout::planar) {
        refuse(object, ErrorCode::bad_argument, extent,
               fmt::format("a planar image of {} was requested, which is not a planar format", name(format)),
               "Use nv12, p010, p016 or nv16, or create an Array.");
    }
    const bool empty = extent.width == 0 || extent.height == 0 || extent.depth != 1;
    if (!empty && extent.width % 2 == 0 && extent.height % 2 == 0) return;
    refuse(object, ErrorCode::bad_argument, extent,
           fmt::format("a planar image of {} texels and format {} was requested", to_string(extent), name(format)),
           "Use an even width and height greater than 0, and a depth of 1.");
}

Extent plane_extent(Format format, Extent extent, int plane) {
    const PlaneInfo part = plane_info(format, plane);
    return {extent.width / part.divide_width, extent.height / part.divide_height};
}

std::shared_ptr<detail::ArrayBlock> make_whole(const Device& device, Format format, Extent extent) {
    const auto& maximum = device.limits().texture_2d;
    if (extent.width > maximum[0] || extent.height > maximum[1]) {
        refuse(kPlanar, ErrorCode::overflow, extent,
               fmt::format("a planar image of {} texels was requested, but the limit of {} for texture_2d is {} x {}",
                           to_string(extent), device.name(), maximum[0], maximum[1]),
               "Split the image.");
    }
    const ArrayInfo info{.format = format, .extent = extent};
    auto whole = std::make_shared<detail::ArrayBlock>(device.backend(), info, packed_bytes(info));
    detail::create_array(*whole, detail::ArrayBacking::own, kPlanar);
    return whole;
}

}  // namespace

Frame host_frame(void* data, Format format, Extent extent, std::size_t pitch) {
    constexpr const char* kObject = "texton::host_frame";
    check_image(format, extent, kObject);
    if (data == nullptr) {
        refuse(kObject, ErrorCode::bad_argument, extent, "the pointer is null", "Pass the address of the first texel.");
    }
    const Format luma = plane_info(format, 0).format;
    const std::size_t row =
        row_bytes(luma, extent.width);  // the same for both planes: chroma has half the texels, of twice the size
    if (pitch == 0) pitch = row;
    if (pitch < row) {
        refuse(kObject, ErrorCode::bad_argument, extent,
               fmt::format("the pitch is {} bytes, but a row has {}", pitch, row),
               "Pass the distance between rows in bytes, or 0 for packed rows.");
    }
    const std::size_t luma_bytes = checked_product(pitch, extent.height, kObject, "pitch * height");
    return {.luma = host_view(data, luma, extent, pitch),
            .chroma = host_view(static_cast<void*>(static_cast<std::byte*>(data) + luma_bytes),
                                plane_info(format, 1).format, plane_extent(format, extent, 1), pitch)};
}

void copy(const Frame& destination, const Frame& source) {
    CopyBatch checked;  // checks both planes before one is written
    checked.add(destination.luma, source.luma);
    checked.add(destination.chroma, source.chroma);
    copy(destination.luma, source.luma);
    copy(destination.chroma, source.chroma);
}

void copy(const Frame& destination, const Frame& source, const Stream& stream) {
    CopyBatch checked;
    checked.add(destination.luma, source.luma);
    checked.add(destination.chroma, source.chroma);
    copy(destination.luma, source.luma, stream);
    copy(destination.chroma, source.chroma, stream);
}

PlanarArray::PlanarArray(const Device& device, Format format, Extent extent) try : format_(format), extent_(extent) {
    check_image(format, extent, kPlanar);
    const auto whole = make_whole(device, format, extent);
    for (int plane = 0; plane < 2; ++plane) {
        const ArrayInfo info{.format = plane_info(format, plane).format, .extent = plane_extent(format, extent, plane)};
        auto block = std::make_shared<detail::ArrayBlock>(device.backend(), info, packed_bytes(info));
        block->handle = whole->handle;
        block->part = plane;
        block->whole = whole;
        planes_[plane] = Array(std::move(block));
    }
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kPlanar);
}

Format PlanarArray::format() const noexcept { return format_; }
Extent PlanarArray::extent() const noexcept { return extent_; }
Device PlanarArray::device() const { return Device(*detail::live(planes_[0], kPlanar).backend); }

const Array& PlanarArray::plane(int index) const {
    (void)detail::live(planes_[0], kPlanar);
    if (index == 0 || index == 1) return planes_[index];
    throw Error({.code = ErrorCode::out_of_bounds,
                 .object = kPlanar,
                 .problem = fmt::format("plane {} was requested, but there are 2", index),
                 .remedy = "Use 0 for luma or 1 for chroma.",
                 .numbers = {{"plane", static_cast<std::uint64_t>(index)}, {"count", 2}}});
}

Frame PlanarArray::frame() const { return {.luma = plane(0).view(), .chroma = plane(1).view()}; }

}  // namespace texton

#include <texton/array.h>

#include <fmt/format.h>

#include <texton/error.h>

#include "core/block.h"

namespace texton {
namespace {

constexpr const char* kArray = "texton::Array";

struct ArrayBlock : detail::Block {
    ArrayBlock(detail::Backend& backend, std::size_t bytes) noexcept
        : Block(backend, MemoryKind::array, nullptr, bytes) {}
    ~ArrayBlock() override {
        if (handle != nullptr) backend->destroy_array(handle);
    }
    detail::ArrayHandle handle = nullptr;
};

void check(const Device& device, const ArrayInfo& info) {
    const auto refuse = [&](ErrorCode code, std::string problem, std::string remedy) {
        throw Error(
            {.code = code,
             .object = kArray,
             .problem = std::move(problem),
             .remedy = std::move(remedy),
             .numbers = {{"width", info.extent.width}, {"height", info.extent.height}, {"depth", info.extent.depth}}});
    };
    const Extent extent = info.extent;
    if (extent.width == 0 || extent.height == 0 || extent.depth != 1) {
        refuse(ErrorCode::bad_argument, fmt::format("{} texels were asked for", to_string(extent)),
               "Width and height must be at least 1, and depth 1.");
    }
    const FormatLayout layout = texton::info(info.format).layout;
    if (layout == FormatLayout::block || layout == FormatLayout::planar) {
        refuse(ErrorCode::bad_argument, fmt::format("an array of {} was asked for", name(info.format)),
               "Use a plain format or rgb10a2_unorm.");
    }
    const auto& limit = device.limits().texture_2d;
    if (extent.width > limit[0] || extent.height > limit[1]) {
        refuse(ErrorCode::overflow,
               fmt::format("{} texels were asked for, but a 2D array of {} has at most {} x {}", to_string(extent),
                           device.name(), limit[0], limit[1]),
               "Split the image.");
    }
}

}  // namespace

Array::Array(const Device& device, const ArrayInfo& info) : info_(info) {
    check(device, info);
    detail::refuse_while_recording(kArray, "making an array");
    detail::Backend& backend = device.backend();
    const std::size_t bytes = packed_bytes(info.format, info.extent);
    auto block = std::make_shared<ArrayBlock>(backend, bytes);
    block->handle = detail::request(&backend, kArray, {{"bytes", bytes}},
                                    [&] { return backend.create_array(info.format, info.extent); });
    block_ = std::move(block);
}

Device Array::device() const { return Device(*detail::live(block_, kArray).backend); }

View Array::view() const {
    detail::Place place;
    place.backend = detail::live(block_, kArray).backend;
    place.owner = block_;
    place.array = handle();
    place.pitch = row_bytes(info_.format, info_.extent.width);
    place.slice_pitch = place.pitch * row_count(info_.format, info_.extent.height);
    place.kind = MemoryKind::array;
    place.format = info_.format;
    place.extent = info_.extent;
    return View(std::move(place));
}

detail::NativeArray* Array::handle() const {
    return static_cast<const ArrayBlock&>(detail::live(block_, kArray)).handle;
}

}  // namespace texton

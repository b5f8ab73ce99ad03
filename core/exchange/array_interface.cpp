#include <texton/array_interface.h>

#include <charconv>

#include <fmt/format.h>

#include <texton/error.h>

#include "core/exchange/strided.h"
#include "core/request.h"

namespace texton {
namespace {

constexpr const char* kTo = "texton::array_interface";
constexpr const char* kFrom = "texton::from_array_interface";

std::string typestr_of(detail::Element element) {
    const char kind = element.kind == FormatKind::floating ? 'f' : element.kind == FormatKind::sint ? 'i' : 'u';
    return fmt::format("{}{}{}", element.bytes == 1 ? '|' : '<', kind, element.bytes);
}

detail::Element element_of(const std::string& typestr) {
    std::size_t bytes = 0;
    const char* end = typestr.data() + typestr.size();
    const bool number = typestr.size() > 2 && std::from_chars(typestr.data() + 2, end, bytes).ptr == end && bytes > 0;
    // '|' means no byte order, which only elements of one byte have.
    if (number && (typestr[0] == '<' || typestr[0] == '=' || (typestr[0] == '|' && bytes == 1))) {
        if (typestr[1] == 'u') return {FormatKind::uint, bytes};
        if (typestr[1] == 'i') return {FormatKind::sint, bytes};
        if (typestr[1] == 'f') return {FormatKind::floating, bytes};
    }
    throw Error(
        {.code = ErrorCode::unsupported,
         .object = kFrom,
         .problem = fmt::format("elements of type \"{}\" are not supported", typestr),
         .remedy = "Convert the array to little-endian integers of 8, 16 or 32 bits, or to floats of 16 or 32 bits."});
}

bool packed(const detail::Strided& array) {
    auto distance = static_cast<std::int64_t>(array.element.bytes);
    for (std::size_t axis = array.shape.size(); axis-- > 0; distance *= array.shape[axis]) {
        if (array.strides[axis] != distance) return false;
    }
    return true;
}

detail::MemoryLocation location_of(const Device& device, const ArrayInterface& array, std::optional<Format> format) {
    if (!array.strides.empty() && array.strides.size() != array.shape.size()) {
        throw Error(
            {.code = ErrorCode::bad_argument,
             .object = kFrom,
             .problem = fmt::format("{} strides were given for {} axes", array.strides.size(), array.shape.size()),
             .remedy = "Pass one stride per axis, or none.",
             .numbers = {{"strides", array.strides.size()}, {"axes", array.shape.size()}}});
    }
    const detail::Strided strided{.data = static_cast<std::byte*>(array.data),
                                  .element = element_of(array.typestr),
                                  .shape = array.shape,
                                  .strides = array.strides};
    detail::MemoryLocation location = detail::location_of(strided, format, kFrom);
    detail::settle(location, device, kFrom);
    return location;
}

}  // namespace

ArrayInterface array_interface(const ConstView& view, int dimensions) try {
    detail::Strided array = detail::strided(view, dimensions, kTo);
    if (packed(array)) array.strides.clear();
    return {.shape = std::move(array.shape),
            .typestr = typestr_of(array.element),
            .data = array.data,
            .read_only = true,
            .strides = std::move(array.strides)};
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kTo);
}

ArrayInterface array_interface(const View& view, int dimensions) {
    ArrayInterface array = array_interface(static_cast<const ConstView&>(view), dimensions);
    array.read_only = false;
    return array;
}

View from_array_interface(const Device& device, const ArrayInterface& array, std::optional<Format> format) try {
    if (array.read_only) {
        throw Error({.code = ErrorCode::not_permitted,
                     .object = kFrom,
                     .problem = "the array is read-only, but a writable view was requested",
                     .remedy = "Use const_from_array_interface(), or copy the array first."});
    }
    return View(location_of(device, array, format));
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kFrom);
}

ConstView const_from_array_interface(const Device& device, const ArrayInterface& array,
                                     std::optional<Format> format) try {
    return ConstView(location_of(device, array, format));
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kFrom);
}

}  // namespace texton

#include "core/exchange/strided.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <texton/error.h>

#include "core/request.h"
#include "core/transfer.h"

namespace texton::detail {
namespace {

constexpr std::size_t kMaxAxes = 4;  // depth, height, width, channels

[[noreturn]] void refuse(const char* object, ErrorCode code, std::string problem, std::string remedy,
                         std::vector<ErrorNumber> numbers = {}) {
    throw Error({.code = code,
                 .object = object,
                 .problem = std::move(problem),
                 .remedy = std::move(remedy),
                 .numbers = std::move(numbers)});
}

Element element_of(const FormatInfo& format) {
    const auto kind = [&] {
        switch (format.kind) {
            case FormatKind::sint:
            case FormatKind::snorm: return FormatKind::sint;
            case FormatKind::floating: return FormatKind::floating;
            case FormatKind::uint:
            case FormatKind::unorm:
            case FormatKind::srgb: break;
        }
        return FormatKind::uint;
    };
    return {kind(), static_cast<std::size_t>(format.bits) / 8};
}

std::string to_string(Element element) {
    const char* kind = element.kind == FormatKind::uint ? "uint" : element.kind == FormatKind::sint ? "int" : "float";
    return fmt::format("{}{}", kind, element.bytes * 8);
}

// Returns the plain format with these channels, or nullopt.
std::optional<Format> format_of(Element element, std::size_t channels) {
    for (const FormatInfo& row : formats()) {
        if (row.layout == FormatLayout::plain && row.kind == element.kind && row.channels == channels &&
            static_cast<std::size_t>(row.bits) == element.bytes * 8) {
            return row.format;
        }
    }
    return std::nullopt;
}

void check_plain(Format format, const char* object) {
    switch (info(format).layout) {
        case FormatLayout::plain: return;
        case FormatLayout::packed:
            refuse(
                object, ErrorCode::unsupported, fmt::format("{} packs its channels into one element", name(format)),
                fmt::format("View the same memory as r{}_uint, with one element per texel.", 8 * info(format).bytes));
        case FormatLayout::block:
            refuse(object, ErrorCode::unsupported, fmt::format("{} has blocks instead of texels", name(format)),
                   "View the same memory as rg32_uint or rgba32_uint, with one texel per block of 8 or 16 bytes.");
        case FormatLayout::planar:
            refuse(object, ErrorCode::unsupported, fmt::format("{} has two planes of different sizes", name(format)),
                   "Pass a view of each plane with the format of plane_info().");
    }
}

void check_aligned(const std::byte* data, Element element, const char* object) {
    if (reinterpret_cast<std::uintptr_t>(data) % element.bytes == 0) return;
    refuse(object, ErrorCode::bad_argument,
           fmt::format("the first texel at {} is not aligned to its elements of {} bytes",
                       static_cast<const void*>(data), element.bytes),
           "Use an address that is a multiple of the size of an element.", {{"alignment", element.bytes}});
}

// The format of the texels, and whether the last axis is the channels.
struct Reading {
    Format format;
    bool channel_axis;
};

Reading reading_of(const Strided& array, std::optional<Format> asked, const char* object) {
    const std::size_t axes = array.shape.size();
    const auto last = static_cast<std::size_t>(array.shape.back());
    if (!asked) {
        const std::size_t channels = axes < 3 ? 1 : last;
        if (const auto format = format_of(array.element, channels)) return {*format, axes >= 3};
        if (format_of(array.element, 1)) {
            refuse(object, ErrorCode::unsupported,
                   fmt::format("the last of the axes [{}] is the channels, but no format has {} channels",
                               fmt::join(array.shape, ", "), channels),
                   "Permute or pad the axes so that the last one has 1, 2 or 4 channels. For a volume of one channel, "
                   "or rows of several, pass the format.",
                   {{"channels", channels}});
        }
        refuse(object, ErrorCode::unsupported, fmt::format("no format has channels of {}", to_string(array.element)),
               "Convert the elements to integers of 8, 16 or 32 bits, or to floats of 16 or 32 bits.");
    }
    check_plain(*asked, object);
    const FormatInfo& format = info(*asked);
    if (element_of(format) != array.element) {
        refuse(object, ErrorCode::bad_argument,
               fmt::format("elements of {} cannot be read as {}", to_string(array.element), format.name),
               fmt::format("Pass a format whose channels are stored as {}, or no format.", to_string(array.element)));
    }
    const bool channel_axis = format.channels > 1 || axes == kMaxAxes || (axes == 3 && last == 1);
    if (channel_axis && (last != format.channels || axes == 1)) {
        refuse(object, ErrorCode::bad_argument,
               fmt::format("{} needs its {} channels in the last of the axes [{}]", format.name, format.channels,
                           fmt::join(array.shape, ", ")),
               "Permute the axes so that the channels are last, or pass a format with as many channels.",
               {{"channels", last}, {"format_channels", format.channels}});
    }
    return {*asked, channel_axis};
}

// Iterates over the axes of an array, fastest axis first: their lengths and their distances in bytes.
class Axes {
public:
    Axes(const Strided& array, const char* object) : array_(array), object_(object) {}

    std::size_t left() const { return array_.shape.size() - taken_; }

    struct Axis {
        std::size_t length = 1;
        std::size_t distance = 0;
    };
    /// Returns the next axis. Its distance is `packed` if the array is packed or the length is 1. If no axis is left,
    /// returns one of length 1.
    Axis next(std::size_t packed) {
        if (left() == 0) return {1, packed};
        const std::size_t at = array_.shape.size() - ++taken_;
        const auto length = static_cast<std::size_t>(array_.shape[at]);
        if (length == 1 || array_.strides.empty()) return {length, packed};
        const std::int64_t stride = array_.strides[at];
        if (stride <= 0) {
            refuse(object_, ErrorCode::bad_argument, fmt::format("the axis {} has the stride {}", at, stride),
                   "Views need positive strides. Copy the texels to packed memory.");
        }
        return {length, checked_product(static_cast<std::size_t>(stride), array_.unit, object_, "stride * bytes")};
    }

private:
    const Strided& array_;
    const char* object_;
    std::size_t taken_ = 0;
};

void check_distance(const char* object, const char* what, std::size_t distance, std::size_t expected) {
    if (distance == expected) return;
    refuse(object, ErrorCode::bad_argument,
           fmt::format("{} are {} bytes apart instead of {}", what, distance, expected),
           "Only rows and slices can have gaps, and channels must be the last axis. Copy the texels to packed memory.",
           {{"distance", distance}, {"expected", expected}});
}

void check_gap(const char* object, const char* what, std::size_t distance, std::size_t minimum, std::size_t unit) {
    if (distance >= minimum && distance % unit == 0) return;
    refuse(
        object, ErrorCode::bad_argument,
        fmt::format("{} start {} bytes apart, which is {} {}", what, distance,
                    distance < minimum ? "less than the size of one:" : "not a multiple of",
                    distance < minimum ? minimum : unit),
        "The order of the axes must be slices, rows, texels. The stride of rows must be a multiple of an element, and "
        "that of slices a multiple of a row. Otherwise copy the texels to packed memory.",
        {{"distance", distance}, {"least", minimum}, {"unit", unit}});
}

}  // namespace

void check_axes(std::size_t axes, const char* object) {
    if (axes >= 1 && axes <= kMaxAxes) return;
    refuse(object, ErrorCode::unsupported, fmt::format("an array of {} axes is not supported", axes),
           "Pass 1 to 4 axes: depth, height, width and channels.", {{"axes", axes}});
}

Strided strided(const ConstView& view, int dimensions, const char* object) {
    const MemoryLocation& location = view.location();
    check_live(location, object);
    check_plain(location.format, object);
    if (location.address == nullptr) {
        refuse(object, ErrorCode::unsupported, fmt::format("{} memory has no linear address", name(location.kind)),
               "Copy the texels to linear or pitched memory first.");
    }
    const Extent extent = location.extent;
    const int needed = extent.depth > 1 ? 3 : extent.height > 1 ? 2 : 1;
    const int axes = dimensions == 0 ? needed : dimensions;
    if (axes < needed || axes > 3) {
        refuse(object, ErrorCode::bad_argument,
               fmt::format("{} texels do not fit {} axes", texton::to_string(extent), dimensions),
               fmt::format("Pass {} to 3, or 0.", needed), {{"dimensions", static_cast<std::uint64_t>(dimensions)}});
    }
    const FormatInfo& format = info(location.format);
    Strided out{.data = location.address, .element = element_of(format)};
    check_aligned(out.data, out.element, object);
    const std::size_t row = row_bytes(location.format, extent.width);
    const std::size_t pitch = extent.height > 1 ? location.pitch : row;
    const std::size_t slice = extent.depth > 1 ? location.slice_pitch : pitch * extent.height;
    if (pitch % out.element.bytes != 0 || slice % out.element.bytes != 0) {
        refuse(object, ErrorCode::bad_argument,
               fmt::format("rows start {} and slices {} bytes apart, which is not a multiple of an element of {} bytes",
                           pitch, slice, out.element.bytes),
               "Copy the texels to memory whose pitch is a multiple of an element.",
               {{"pitch", pitch}, {"slice_pitch", slice}, {"bytes", out.element.bytes}});
    }
    const auto add = [&](std::size_t length, std::size_t stride) {
        out.shape.push_back(static_cast<std::int64_t>(length));
        out.strides.push_back(static_cast<std::int64_t>(stride));
    };
    if (axes == 3) add(extent.depth, slice);
    if (axes >= 2) add(extent.height, pitch);
    add(extent.width, format.bytes);
    // Without the axis of channels, the last axis of a volume of width 1 would be read as the channels.
    if (format.channels > 1 || (axes == 3 && extent.width == 1)) add(format.channels, out.element.bytes);
    return out;
}

MemoryLocation location_of(const Strided& array, std::optional<Format> asked, const char* object) {
    check_axes(array.shape.size(), object);
    for (const std::int64_t length : array.shape) {
        if (length > 0) continue;
        refuse(object, ErrorCode::bad_argument,
               fmt::format("an array of the shape [{}] has no texels", fmt::join(array.shape, ", ")),
               "Every axis must have a length of at least 1.");
    }
    if (array.data == nullptr) {
        refuse(object, ErrorCode::bad_argument, "the pointer is null", "Pass the address of the first texel.");
    }
    const Reading reading = reading_of(array, asked, object);
    const FormatInfo& format = info(reading.format);
    check_aligned(array.data, array.element, object);

    Axes axes(array, object);
    if (reading.channel_axis) {
        const Axes::Axis channels = axes.next(array.element.bytes);
        check_distance(object, "the channels of a texel", channels.distance, array.element.bytes);
    }
    const Axes::Axis columns = axes.next(format.bytes);
    check_distance(object, "the texels of a row", columns.distance, format.bytes);
    const std::size_t row = checked_product(columns.length, format.bytes, object, "width * bytes per texel");
    const Axes::Axis rows = axes.next(row);
    check_gap(object, "rows", rows.distance, row, array.element.bytes);
    const std::size_t packed = checked_product(rows.distance, rows.length, object, "pitch * height");
    const Axes::Axis slices = axes.next(packed);
    // With one row per slice, the distance of slices is also the pitch.
    const std::size_t pitch = rows.length == 1 ? slices.distance : rows.distance;
    check_gap(object, "slices", slices.distance, packed, rows.length == 1 ? array.element.bytes : pitch);
    (void)checked_product(slices.distance, slices.length, object, "slice pitch * depth");

    MemoryLocation location;
    location.address = array.data;
    location.pitch = pitch;
    location.slice_pitch = slices.distance;
    location.format = reading.format;
    location.extent = {columns.length, rows.length, slices.length};
    const std::size_t bytes = span_bytes(location);
    if (bytes > PTRDIFF_MAX || bytes > UINTPTR_MAX - reinterpret_cast<std::uintptr_t>(array.data)) {
        refuse(object, ErrorCode::overflow,
               fmt::format("the texels span {} bytes from {} on, more than an address space can have", bytes,
                           static_cast<const void*>(array.data)),
               "Pass the shape and the strides of existing memory.", {{"bytes", bytes}});
    }
    return location;
}

void settle(MemoryLocation& location, const Device& device, const char* object) {
    Backend& backend = device.backend();
    const bool known =
        request(&backend, object, {}, [&] { return backend.knows(location.address, span_bytes(location)); });
    if (known) {
        location.backend = &backend;
        location.kind = MemoryKind::linear;
    } else if (device.kind() == DeviceKind::cuda) {
        refuse(object, ErrorCode::not_registered,
               fmt::format("{} does not know the whole range as its own memory", device.name()),
               "Pass memory that the device allocated, and a shape that fits.");
    }
}

std::size_t span_bytes(const MemoryLocation& location) {
    return location.slice_pitch * (location.extent.depth - 1) +
           location.pitch * (row_count(location.format, location.extent.height) - 1) +
           row_bytes(location.format, location.extent.width);
}

}  // namespace texton::detail

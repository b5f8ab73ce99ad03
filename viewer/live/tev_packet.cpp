// Every number is checked before it is used: nothing is allocated for more elements than the packet has bytes.
#include "viewer/live/tev_packet.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include <texton/error.h>

namespace texton::viewer::tev {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are read as they are in the packet");

[[noreturn]] void refuse(std::string problem, std::vector<ErrorNumber> numbers = {}) {
    throw Error({.code = ErrorCode::bad_argument,
                 .object = "texton-view",
                 .problem = std::move(problem),
                 .remedy = "Send packets of tev's protocol.",
                 .numbers = std::move(numbers)});
}

enum class Type : std::uint8_t {
    open_image = 0,
    reload_image = 1,
    close_image = 2,
    update_image = 3,
    create_image = 4,
    update_image_2 = 5,
    update_image_3 = 6,
    open_image_2 = 7,
    vector_graphics = 8
};

class Reader {
public:
    explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

    template <class Number>
    Number number(const char* what) {
        if (rest_.size() < sizeof(Number)) refuse(fmt::format("the packet ends before its {}", what));
        Number value;
        std::memcpy(&value, rest_.data(), sizeof(value));
        rest_ = rest_.subspan(sizeof(value));
        return value;
    }
    bool flag(const char* what) { return number<std::uint8_t>(what) != 0; }
    std::string text(const char* what) {
        const auto end = std::ranges::find(rest_, std::byte{0});
        if (end == rest_.end()) refuse(fmt::format("the packet ends inside its {}", what));
        const auto length = static_cast<std::size_t>(end - rest_.begin());
        std::string value(reinterpret_cast<const char*>(rest_.data()), length);
        rest_ = rest_.subspan(length + 1);
        return value;
    }
    // A 32-bit number that is at least `minimum`.
    std::size_t size(const char* what, std::int32_t minimum) {
        const auto value = number<std::int32_t>(what);
        if (value < minimum) refuse(fmt::format("the {} is {}, but must be at least {}", what, value, minimum));
        return static_cast<std::size_t>(value);
    }
    // The number of elements, each of which has at least one byte.
    std::size_t count(const char* what, std::int32_t minimum) {
        const std::size_t value = size(what, minimum);
        if (value > rest_.size())
            refuse(fmt::format("the {} is {}, but only {} bytes follow", what, value, rest_.size()),
                   {{"count", value}, {"bytes", rest_.size()}});
        return value;
    }
    std::span<const std::byte> rest() const { return rest_; }

private:
    std::span<const std::byte> rest_;
};

std::string name_of(Reader& reader) {
    std::string name = reader.text("name");
    if (name.empty()) refuse("the name of the image is empty");
    return name;
}

Packet open_image(Reader& reader, Type type) {
    OpenImage packet;
    packet.focus = reader.flag("flag");
    packet.path = name_of(reader);
    if (type == Type::open_image_2) {
        packet.channels = reader.text("channel selector");
        return packet;
    }
    const std::size_t colon = packet.path.rfind(':');
    if (colon == std::string::npos || colon == 0) return packet;
    packet.channels = packet.path.substr(colon + 1);
    packet.path.resize(colon);
    return packet;
}

std::vector<std::string> channel_names(Reader& reader, std::size_t count) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) names.push_back(reader.text("channel names"));
    return names;
}

Packet create_image(Reader& reader) {
    CreateImage packet;
    packet.focus = reader.flag("flag");
    packet.name = name_of(reader);
    packet.width = reader.size("width", 1);
    packet.height = reader.size("height", 1);
    packet.channels = channel_names(reader, reader.count("number of channels", 1));
    return packet;
}

std::size_t position(Reader& reader, const char* what) {
    const auto value = reader.number<std::int64_t>(what);
    if (value < 0) refuse(fmt::format("the {} of a channel is {}, but must not be negative", what, value));
    return static_cast<std::size_t>(value);
}

Packet update_image(Reader& reader, Type type) {
    UpdateImage packet;
    packet.focus = reader.flag("flag");
    packet.name = name_of(reader);
    const std::size_t count = type == Type::update_image ? 1 : reader.count("number of channels", 1);
    for (std::string& name : channel_names(reader, count)) packet.channels.push_back({.name = std::move(name)});
    packet.x = reader.size("x", 0);
    packet.y = reader.size("y", 0);
    packet.width = reader.size("width", 1);
    packet.height = reader.size("height", 1);
    const std::size_t texels = packet.width * packet.height;  // less than 2^62
    if (type == Type::update_image_3) {
        for (UpdateImage::Channel& each : packet.channels) each.offset = position(reader, "offset");
        for (UpdateImage::Channel& each : packet.channels) each.stride = position(reader, "stride");
    } else {
        for (std::size_t i = 0; i < count; ++i) {
            if (i > std::numeric_limits<std::size_t>::max() / texels) refuse("the image has too many texels");
            packet.channels[i].offset = i * texels;
        }
    }
    packet.values = reader.rest();
    const std::size_t values = packet.values.size() / sizeof(float);
    for (const UpdateImage::Channel& each : packet.channels) {
        // The last value has the number offset + (texels - 1) * stride.
        const bool fits =
            each.offset < values && (each.stride == 0 || texels - 1 <= (values - 1 - each.offset) / each.stride);
        if (!fits)
            refuse(fmt::format("{} x {} values of the channel '{}' with offset {} and stride {} were announced, but {} "
                               "values follow",
                               packet.width, packet.height, each.name, each.offset, each.stride, values),
                   {{"values", values}});
    }
    return packet;
}

Packet vector_graphics(Reader& reader) {
    VectorGraphics packet;
    packet.focus = reader.flag("flag");
    packet.name = name_of(reader);
    packet.append = reader.flag("flag");
    const std::size_t count = reader.count("number of commands", 0);
    for (std::size_t i = 0; i < count; ++i) {
        const auto verb = reader.number<std::uint8_t>("commands");
        if (verb > static_cast<std::uint8_t>(Verb::stroke_width))
            refuse(fmt::format("there is no command {} of vector graphics", verb));
        Command command{.verb = static_cast<Verb>(verb)};
        for (std::size_t k = 0; k < numbers_of(command.verb); ++k) {
            command.numbers[k] = reader.number<float>("numbers of a command");
            if (!std::isfinite(command.numbers[k])) refuse("a number of a command is not finite");
        }
        if (command.verb == Verb::text || command.verb == Verb::font_face) command.text = reader.text("text");
        packet.commands.push_back(std::move(command));
    }
    return packet;
}

}  // namespace

float UpdateImage::value(const Channel& channel, std::size_t index) const {
    float value;
    std::memcpy(&value, values.data() + (channel.offset + index * channel.stride) * sizeof(float), sizeof(value));
    return value;
}

std::size_t numbers_of(Verb verb) noexcept {
    switch (verb) {
        case Verb::save:
        case Verb::restore:
        case Verb::fill:
        case Verb::stroke:
        case Verb::begin_path:
        case Verb::close_path:
        case Verb::dump_path:
        case Verb::font_face: return 0;
        case Verb::path_winding:
        case Verb::text_align: return 1;
        case Verb::move_to:
        case Verb::line_to:
        case Verb::text:
        case Verb::font_size:
        case Verb::stroke_width: return 2;
        case Verb::circle: return 3;
        case Verb::fill_color:
        case Verb::stroke_color:
        case Verb::ellipse:
        case Verb::quad_to:
        case Verb::rect: return 4;
        case Verb::arc_to:
        case Verb::rounded_rect: return 5;
        case Verb::arc:
        case Verb::bezier_to: return 6;
        case Verb::rounded_rect_varying: return 8;
    }
    return 0;
}

std::size_t packet_length(std::span<const std::byte, kLengthBytes> begin) {
    std::uint32_t length = 0;
    std::memcpy(&length, begin.data(), sizeof(length));
    if (length <= kLengthBytes) refuse(fmt::format("a packet of {} bytes was announced", length), {{"bytes", length}});
    return length;
}

Packet parse_packet(std::span<const std::byte> packet) {
    if (packet.size() <= kLengthBytes || packet_length(packet.first<kLengthBytes>()) != packet.size())
        refuse(fmt::format("a packet of {} bytes announces another length", packet.size()), {{"bytes", packet.size()}});
    Reader reader(packet.subspan(kLengthBytes));
    const auto type = reader.number<std::uint8_t>("type");
    switch (static_cast<Type>(type)) {
        case Type::open_image:
        case Type::open_image_2: return open_image(reader, static_cast<Type>(type));
        case Type::reload_image: {
            const bool focus = reader.flag("flag");
            return ReloadImage{name_of(reader), focus};
        }
        case Type::close_image: return CloseImage{name_of(reader)};
        case Type::update_image:
        case Type::update_image_2:
        case Type::update_image_3: return update_image(reader, static_cast<Type>(type));
        case Type::create_image: return create_image(reader);
        case Type::vector_graphics: return vector_graphics(reader);
    }
    refuse(fmt::format("there is no packet of type {}", type));
}

}  // namespace texton::viewer::tev

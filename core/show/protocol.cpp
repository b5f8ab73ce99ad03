#include "core/show/protocol.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include <texton/error.h>

namespace texton::detail {
namespace {

[[noreturn]] void refuse(std::string problem, std::vector<ErrorNumber> numbers = {}) {
    throw Error({.code = ErrorCode::bad_argument,
                 .object = "texton::show",
                 .problem = std::move(problem),
                 .remedy = "Use a program and a texton-view of the same version.",
                 .numbers = std::move(numbers)});
}

// Returns the text before the zero byte, or nullopt if there is none.
template <std::size_t N>
std::optional<std::string> text_of(const std::array<char, N>& bytes) {
    const auto end = std::ranges::find(bytes, '\0');
    if (end == bytes.end()) return std::nullopt;
    return std::string(bytes.begin(), end);
}

}  // namespace

ShowReceived parse_show_message(std::span<const std::byte> packet) {
    ShowMessage message;
    if (packet.size() != sizeof(message))
        refuse(fmt::format("a message of {} bytes was received instead of {}", packet.size(), sizeof(message)),
               {{"bytes", packet.size()}});
    std::memcpy(&message, packet.data(), sizeof(message));
    if (message.magic != ShowMessage::kMagic) refuse("a message of another version of the protocol was received");
    ShowReceived received{.kind = message.kind, .image = message.image};
    if (message.kind == ShowMessageKind::frame) return received;
    if (message.kind != ShowMessageKind::image)
        refuse(fmt::format("there is no kind of message {}", static_cast<std::uint32_t>(message.kind)));
    const std::optional<std::string> name = text_of(message.name), format = text_of(message.format);
    if (!name || name->empty() || name->size() > kMaxShownName) refuse("the name of an image is empty or too long");
    const std::optional<Format> known = format ? format_named(*format) : std::nullopt;
    if (!known || info(*known).layout == FormatLayout::planar)
        refuse(fmt::format("an image has the format '{}', which cannot be shown", format.value_or("?")));
    if (message.width == 0 || message.height == 0 || message.depth == 0)
        refuse(
            fmt::format("an image of {} x {} x {} texels was announced", message.width, message.height, message.depth));
    received.frames = message.frames;
    received.name = *name;
    received.format = *known;
    received.extent = {message.width, message.height, message.depth};
    (void)packed_bytes(received.format, received.extent);
    return received;
}

OwnedDescriptor& OwnedDescriptor::operator=(OwnedDescriptor&& other) noexcept {
    if (this != &other) {
        if (descriptor_ >= 0) ::close(descriptor_);
        descriptor_ = std::exchange(other.descriptor_, -1);
    }
    return *this;
}

OwnedDescriptor::~OwnedDescriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

std::optional<ShowAddress> show_address(const std::string& text) {
    ShowAddress found;
    const std::size_t space = sizeof(found.address.sun_path) - 1;  // a path ends with a zero byte
    if (text.empty() || text == "@" || text.size() > space) return std::nullopt;
    found.text = text;
    found.address.sun_family = AF_UNIX;
    std::memcpy(found.address.sun_path, text.data(), text.size());
    std::size_t length = text.size() + 1;
    if (found.is_abstract()) {  // an abstract name begins with a zero byte, and its length ends it
        found.address.sun_path[0] = '\0';
        length = text.size();
    }
    found.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
    return found;
}

std::optional<ShowAddress> show_address() {
    if (const char* chosen = std::getenv("TEXTON_SHOW")) return show_address(std::string(chosen));
    const char* folder = std::getenv("XDG_RUNTIME_DIR");
    if (folder != nullptr && *folder != '\0') return show_address(std::string(folder) + "/texton-show");
    return show_address("@texton-show-" + std::to_string(::geteuid()));
}

bool is_same_user(int socket) noexcept {
    ucred peer{};
    socklen_t bytes = sizeof(peer);
    return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.uid == ::geteuid();
}

}  // namespace texton::detail

#pragma once
// What a program that calls show() and the window agree on: the socket, and the messages. The texels are in memory that
// both share; see frame_memory.h.
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <texton/format.h>

namespace texton::detail {

/// Maximum length of the name of an image in bytes.
inline constexpr std::size_t kMaxShownName = 200;

/// Kind of a message from the program to the window.
enum class ShowMessageKind : std::uint32_t {
    image = 1,  ///< announces an image. The message has the file descriptor of the memory of its frames
    frame = 2   ///< a frame is ready. The window may take a newer one
};

/// A message: one packet of the socket. Strings end with a zero byte.
struct ShowMessage {
    static constexpr std::array<char, 8> kMagic{'t', 'e', 'x', 's', 'h', 'o', 'w', '1'};

    std::array<char, 8> magic = kMagic;  ///< with the version of the protocol
    ShowMessageKind kind = ShowMessageKind::frame;
    std::uint32_t reserved = 0;
    std::uint64_t image = 0;   ///< number of the image; the program never uses a number twice
    std::uint64_t frames = 0;  ///< of an announced image: frames of the same name before
    std::uint64_t width = 0;   ///< of an announced image: size in texels
    std::uint64_t height = 0;
    std::uint64_t depth = 0;
    std::array<char, 32> format{};               ///< of an announced image: name of the format
    std::array<char, kMaxShownName + 8> name{};  ///< of an announced image
};

/// The contents of a message that was checked.
struct ShowReceived {
    ShowMessageKind kind = ShowMessageKind::frame;
    std::uint64_t image = 0;
    std::uint64_t frames = 0;  ///< of an announced image, as the next members
    std::string name{};
    Format format = Format::r8_uint;
    Extent extent{};
};

/// Checks a packet of the socket. Throws Error{bad_argument} if it is not a message of this version, and Error{overflow}
/// if the size of an image does not fit in 64 bits.
[[nodiscard]] ShowReceived parse_show_message(std::span<const std::byte> packet);

/// Address of the socket of the window.
struct ShowAddress {
    sockaddr_un address{};
    socklen_t bytes = 0;
    std::string text;  ///< the path, or the abstract name with a leading @

    bool is_abstract() const { return text.starts_with('@'); }
};

/// Returns the address for a path, or for an abstract name with a leading @. Returns nullopt if it is empty or too long.
[[nodiscard]] std::optional<ShowAddress> show_address(const std::string& text);
/// Returns the address that the environment selects; see show(). Returns nullopt if TEXTON_SHOW is empty, or if the path
/// is too long.
[[nodiscard]] std::optional<ShowAddress> show_address();

/// Returns true if the process at the other end of the socket belongs to the same user.
[[nodiscard]] bool is_same_user(int socket) noexcept;

/// Owns a file descriptor.
class OwnedDescriptor {
public:
    explicit OwnedDescriptor(int descriptor = -1) noexcept : descriptor_(descriptor) {}
    OwnedDescriptor(OwnedDescriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    OwnedDescriptor& operator=(OwnedDescriptor&& other) noexcept;
    ~OwnedDescriptor();

    int get() const noexcept { return descriptor_; }  ///< -1: none
    explicit operator bool() const noexcept { return descriptor_ >= 0; }

private:
    int descriptor_;
};

}  // namespace texton::detail

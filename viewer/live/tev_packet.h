#pragma once
// The packets of tev's TCP protocol, which clients of the image viewer tev send. Numbers are little-endian; a string
// ends with a zero byte; a flag is one byte. A packet begins with its length, a 32-bit number that counts its own bytes,
// and its type, one byte.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace texton::viewer::tev {

/// Opens a file. Types 0 (the path can end with `:` and a channel selector) and 7 (the selector is a string of its own).
struct OpenImage {
    std::string path;
    std::string channels;  ///< selector
    bool focus = false;    ///< true: shows the image
};

/// Reads the file of an image again. Type 1.
struct ReloadImage {
    std::string name;
    bool focus = false;
};

/// Closes an image. Type 2.
struct CloseImage {
    std::string name;
};

/// Creates an image of 32-bit floats, in place of one with the same name. Type 4.
struct CreateImage {
    std::string name;
    bool focus = false;
    std::size_t width = 0;
    std::size_t height = 0;
    std::vector<std::string> channels;  ///< at least one name, such as "R" or "normal.X"
};

/// Replaces texels of an image. Types 3 (one channel), 5 (channels one after the other) and 6 (any layout).
struct UpdateImage {
    std::string name;
    bool focus = false;
    std::size_t x = 0;
    std::size_t y = 0;
    std::size_t width = 0;
    std::size_t height = 0;
    /// Where the values of a channel are: value i is number `offset + i * stride` of `values`.
    struct Channel {
        std::string name;
        std::size_t offset = 0;
        std::size_t stride = 1;
    };
    std::vector<Channel> channels{};
    /// 32-bit floats without alignment, enough for all channels. Refers to the bytes of the packet.
    std::span<const std::byte> values{};

    float value(const Channel& channel, std::size_t index) const;
};

/// A command of vector graphics, with tev's numbers.
enum class Verb : std::uint8_t {
    save = 0,
    restore = 1,
    fill_color = 2,
    fill = 3,
    stroke_color = 4,
    stroke = 5,
    begin_path = 6,
    close_path = 7,
    path_winding = 8,
    dump_path = 9,
    move_to = 10,
    line_to = 11,
    arc_to = 12,
    arc = 13,
    bezier_to = 14,
    circle = 15,
    ellipse = 16,
    quad_to = 17,
    rect = 18,
    rounded_rect = 19,
    rounded_rect_varying = 20,
    text = 21,
    text_align = 22,
    font_face = 23,
    font_size = 24,
    stroke_width = 25
};

/// Returns how many numbers a command has.
[[nodiscard]] std::size_t numbers_of(Verb verb) noexcept;

/// A command with its numbers and, for text and font_face, its text.
struct Command {
    Verb verb = Verb::save;
    std::array<float, 8> numbers{};
    std::string text{};
    bool operator==(const Command&) const = default;
};

/// Draws over an image. Type 8.
struct VectorGraphics {
    std::string name;
    bool focus = false;
    bool append = false;  ///< false: replaces earlier commands
    std::vector<Command> commands;
};

using Packet = std::variant<OpenImage, ReloadImage, CloseImage, CreateImage, UpdateImage, VectorGraphics>;

/// Number of bytes that contain the length of a packet.
inline constexpr std::size_t kLengthBytes = 4;

/// Returns the length of the packet that begins with these bytes. Throws Error{bad_argument} if it is too short for any
/// packet.
[[nodiscard]] std::size_t packet_length(std::span<const std::byte, kLengthBytes> begin);

/// Parses one packet with its length. Throws Error{bad_argument} if the packet is not valid: an unknown type, a size that
/// is not positive, or less bytes than its numbers say.
[[nodiscard]] Packet parse_packet(std::span<const std::byte> packet);

}  // namespace texton::viewer::tev

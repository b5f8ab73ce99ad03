#pragma once
// Texels as text: the stored codes in decimal and hexadecimal, and the values that textures return.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <texton/fetch.h>
#include <texton/format.h>

namespace texton::viewer {

/// One channel of a texel as it is stored in memory.
struct StoredChannel {
    std::uint32_t bits = 0;   ///< the stored bits, in the lowest `width` bits
    int width = 0;            ///< in bits
    std::string decimal;      ///< the code of integer and normalized formats, the value of floating-point formats
    std::string hexadecimal;  ///< the stored bits: "0x3ff"
    bool operator==(const StoredChannel&) const = default;
};

/// Returns the channels of one texel of a plain or packed format.
///
/// Returns an empty list for block-compressed and planar formats, in which a texel has no bits of its own, and if
/// `texel` is shorter than a texel of the format.
[[nodiscard]] std::vector<StoredChannel> stored_channels(Format format, std::span<const std::byte> texel);

/// Returns the shortest decimal text that no other float has: "0.1", "1e-05", "nan", "inf" or "-0".
[[nodiscard]] std::string float_text(float value);
/// Returns one channel of a fetch's result: "0.5", or "255" if textures of the format `read_as` return integers.
[[nodiscard]] std::string channel_text(const Texel& texel, int channel, Format read_as);
/// Returns the 32 bits of one channel of a fetch's result: "0x3f000000".
[[nodiscard]] std::string channel_hexadecimal(const Texel& texel, int channel);
/// Returns a number of bytes with a binary unit: "768 bytes" or "5.7 GiB".
[[nodiscard]] std::string size_text(std::size_t bytes);
/// Returns bytes in hexadecimal, in the order of memory: "00 ff 1e".
[[nodiscard]] std::string byte_text(std::span<const std::byte> bytes);
/// Returns the letter of a channel: R, G, B or A.
[[nodiscard]] char channel_letter(int channel);

/// Returns the normalized coordinate of a texel's center: (texel + 1/2) / side.
[[nodiscard]] double share_of(std::size_t texel, std::size_t side);

/// Returns true if textures of the format return integers.
[[nodiscard]] bool reads_integers(Format format);

}  // namespace texton::viewer

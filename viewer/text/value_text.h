#pragma once
// Texels in words: as they are stored, in decimal and hexadecimal, and as they read.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <texton/fetch.h>
#include <texton/format.h>

namespace texton::viewer {

/// A channel of a texel in memory.
struct StoredChannel {
    std::uint32_t bits = 0;  ///< the lowest `width` of them
    int width = 0;
    std::string decimal;  ///< the code of integers and normalized formats, the value of floats
    std::string hexadecimal;
    bool operator==(const StoredChannel&) const = default;
};

/// The channels of one texel of a plain or packed format; none of blocks, whose channels have no bits of their own.
[[nodiscard]] std::vector<StoredChannel> stored_channels(Format format, std::span<const std::byte> texel);

/// With no more digits than are needed to tell it from other floats: "0.1", "1e-05", "nan", "inf", "-0".
[[nodiscard]] std::string float_words(float value);
/// Of a channel of a fetch's result: "0.5", or "255" where the format is read as integers.
[[nodiscard]] std::string channel_words(const Texel& texel, int channel, Format read_as);
/// Its 32 bits: "0x3f000000".
[[nodiscard]] std::string channel_hexadecimal(const Texel& texel, int channel);
/// So many bytes: "768 bytes", "5.7 GiB".
[[nodiscard]] std::string size_words(std::size_t bytes);
/// Bytes in the order of memory: "00 ff 1e".
[[nodiscard]] std::string byte_words(std::span<const std::byte> bytes);
/// "R", "G", "B", "A".
[[nodiscard]] char channel_letter(int channel);

/// As a share of a whole: (texel + 1/2) / side.
[[nodiscard]] double share_of(std::size_t texel, std::size_t side);

/// Whether textures return integers.
[[nodiscard]] bool reads_integers(Format format);

}  // namespace texton::viewer

#pragma once
// Texels of files whose bits have another order than those of a Format. Numbers in files are little-endian.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <texton/format.h>

namespace texton::detail {

/// Consecutive bits of a stored texel. 0 is the lowest bit of its first byte.
struct StoredField {
    std::uint8_t first = 0;  ///< index of the lowest bit
    std::uint8_t count = 0;  ///< number of bits; 0: the file lacks the channel
    bool operator==(const StoredField&) const = default;
};

/// How a file stores a texel of a Format.
struct StoredOrder {
    enum class Coding : std::uint8_t {
        as_format,       ///< the texel or block has the bits of the format
        fields,          ///< each channel is a number of consecutive bits
        small_floats,    ///< R11G11B10: floats without a sign, of which a float16 has the exponent and more digits
        shared_exponent  ///< R9G9B9E5: integers that are multiplied by a common power of two
    };
    Coding coding = Coding::as_format;
    std::uint8_t bytes = 0;                 ///< bytes of a texel; as_format: 0
    std::array<StoredField, 4> channels{};  ///< the channels of the format: red, green, blue and alpha

    static const StoredOrder same;  ///< as in the format
    static const StoredOrder bgra;  ///< channels of 8 bits; red and blue are exchanged
    static const StoredOrder bgrx;  ///< channels of 8 bits; red and blue are exchanged; the fourth byte is unused
    static const StoredOrder rgbx;  ///< channels of 8 bits; the fourth byte is unused
    static const StoredOrder bgr;   ///< three channels of 8 bits; red and blue are exchanged
    static const StoredOrder rgb;   ///< three channels of 8 bits
    bool operator==(const StoredOrder&) const = default;
};

/// Returns the order of channels that are integers or floats of consecutive bits.
constexpr StoredOrder stored_fields(int bytes, StoredField red, StoredField green = {}, StoredField blue = {},
                                    StoredField alpha = {}) noexcept {
    return {StoredOrder::Coding::fields, static_cast<std::uint8_t>(bytes), {red, green, blue, alpha}};
}

inline constexpr StoredOrder StoredOrder::same{};
inline constexpr StoredOrder StoredOrder::bgra = stored_fields(4, {16, 8}, {8, 8}, {0, 8}, {24, 8});
inline constexpr StoredOrder StoredOrder::bgrx = stored_fields(4, {16, 8}, {8, 8}, {0, 8});
inline constexpr StoredOrder StoredOrder::rgbx = stored_fields(4, {0, 8}, {8, 8}, {16, 8});
inline constexpr StoredOrder StoredOrder::bgr = stored_fields(3, {16, 8}, {8, 8}, {0, 8});
inline constexpr StoredOrder StoredOrder::rgb = stored_fields(3, {0, 8}, {8, 8}, {16, 8});

/// Returns the bytes of a texel, or of a block, in the file.
[[nodiscard]] std::size_t stored_bytes(Format format, const StoredOrder& order) noexcept;

/// Returns `order`, or StoredOrder::same if its texels have exactly the bits of the format.
[[nodiscard]] StoredOrder simplified(const StoredOrder& order, Format format) noexcept;

/// Converts stored texels to texels of the format. Fields of another width than the format's channels become the
/// nearest unorm code; they need a format of up to 8 bytes and an order of up to 4 bytes. Colors that the file lacks
/// become 0, and alpha becomes 1. small_floats and shared_exponent need rgba16_float, which holds their values exactly.
void unpack(const StoredOrder& order, Format format, std::span<const std::byte> stored, std::byte* texels);

/// Returns what unpack() changes, in full sentences.
[[nodiscard]] std::vector<std::string> conversions_of(const StoredOrder& order, Format format);

}  // namespace texton::detail

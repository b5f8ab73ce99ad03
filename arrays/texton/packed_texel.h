#pragma once
// Packed formats: the channels of a texel are bit fields of one word. The first channel is in the lowest bits.
//
// To add a packed format, add a row to core/format.cpp. Here add an enumerator of Packed, a struct with the arithmetic
// and a case in with_packed(). The model of the texture unit, the kernels and the files use these.
#include <cstdint>

#include <texton/channel_codes.h>
#include <texton/format.h>
#include <texton/host_device.h>

namespace texton::detail {

/// The packed formats. `none` must be the last enumerator.
enum class Packed : std::uint8_t { rgb10a2, none };

// A struct with the arithmetic of a packed format has these members:
//     Format kFormat                    the format
//     Packed kPacked                    the enumerator
//     Encoding kEncoding                the encoding of the channels
//     int bits(channel)                 bits of a channel; 0 if the format lacks the channel
//     int32 widen(code, channel)        the code as the 16-bit input of the filter: in units of 1/65535 or
//                                       1/32767, as float16, or the integer itself
//     int point_bits(channel)           how many upper bits of the 16 a point read uses, for
//                                       normalized channels
//     uint32 encode(fetched, channel)   the code for a value that a fetch returned, in bits(channel)

/// Arithmetic of rgb10a2_unorm.
struct Rgb10a2 {
    static constexpr Format kFormat = Format::rgb10a2_unorm;  ///< the format
    static constexpr Packed kPacked = Packed::rgb10a2;        ///< the enumerator
    static constexpr Encoding kEncoding = Encoding::unorm;    ///< the encoding of the channels

    /// Returns the number of bits of a channel.
    TEXTON_HD static constexpr int bits(int channel) { return channel < 3 ? 10 : 2; }
    /// Returns the 16-bit input of the filter. The upper six bits of a color are repeated below its lowest bit, as
    /// gathers on an H200 show.
    TEXTON_HD static constexpr std::int32_t widen(std::uint32_t code, int channel) {
        return static_cast<std::int32_t>(channel < 3 ? code << 6 | code >> 4 : code * 21845);
    }
    /// Returns how many upper bits a point read uses: 10 bits of a color, also of a border color, and all bits of
    /// alpha. See the recording border_rgb10a2.
    TEXTON_HD static constexpr int point_bits(int channel) { return channel < 3 ? 10 : 16; }
    /// Returns the code for a value that a fetch returned.
    TEXTON_HD static std::uint32_t encode(std::uint32_t fetched, int channel) {
        return unorm_code_of(float_of(fetched), channel < 3 ? 1023.0f : 3.0f);
    }
};

/// Calls `use` with the arithmetic of a packed format and returns its result. For `none` it returns a value-initialized
/// result.
template <class Use>
TEXTON_HD auto with_packed(Packed packed, const Use& use) {
    using Result = decltype(use(Rgb10a2()));
    switch (packed) {
        case Packed::rgb10a2: return use(Rgb10a2());
        case Packed::none: break;
    }
    return Result();
}

// --- functions of all packed formats ---------------------------------------------------------------------------------

/// Returns the number of channels.
template <class Fields>
TEXTON_HD constexpr int channel_count() {
    int count = 0;
    while (count < 4 && Fields::bits(count) != 0) ++count;
    return count;
}

/// Returns the position of the lowest bit of a channel.
template <class Fields>
TEXTON_HD constexpr int first_bit(int channel) {
    int first = 0;
    for (int c = 0; c < channel; ++c) first += Fields::bits(c);
    return first;
}

/// Returns the number of bytes of a texel: the size of the smallest word that holds all channels.
template <class Fields>
TEXTON_HD constexpr int texel_bytes() {
    return first_bit<Fields>(4) > 16 ? 4 : first_bit<Fields>(4) > 8 ? 2 : 1;
}

/// A channel of a packed texel.
struct PackedChannel {
    int bits;            ///< 0 if the format lacks the channel; the other members are 0 then
    std::uint32_t code;  ///< the stored code
    std::int32_t wide;   ///< the 16-bit input of the filter
};

/// Returns a channel of a stored word.
TEXTON_HD inline PackedChannel packed_channel(std::uint32_t word, Packed packed, int channel) {
    return with_packed(packed, [&](auto arithmetic) {
        using Fields = decltype(arithmetic);
        const int bits = Fields::bits(channel);
        if (bits == 0) return PackedChannel();
        const std::uint32_t code = word >> first_bit<Fields>(channel) & ((1u << bits) - 1);
        return PackedChannel{bits, code, Fields::widen(code, channel)};
    });
}

}  // namespace texton::detail

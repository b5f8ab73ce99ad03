#pragma once
// The packed formats: the channels of a texel are fields of one word, the first in the lowest bits.
//
// To add one, write its row in core/format.cpp and, here, an enumerator of Packed, a struct with its arithmetic, and its
// case in with_packed(). The texture unit's model, kernels and files find it by these.
#include <cstdint>

#include <texton/channel_codes.h>
#include <texton/format.h>
#include <texton/host_device.h>

namespace texton::detail {

/// The packed formats; `none` comes last.
enum class Packed : std::uint8_t { rgb10a2, none };

// The arithmetic of a packed format:
//     Format kFormat                    its row
//     Packed kPacked                    its enumerator
//     Encoding kEncoding                as the row's kind
//     int bits(channel)                 width of a channel, as in the row; 0 if the format lacks it
//     int32 widen(code, channel)        a code in the 16 bits that the filter takes: in 1/65535, in 1/32767, as float16, or
//                                       the integer itself
//     int point_bits(channel)           of normalized channels: how many upper bits of the 16 a point read takes
//     uint32 encode(fetched, channel)   the code of what a fetch returned, within bits(channel)

struct Rgb10a2 {
    static constexpr Format kFormat = Format::rgb10a2_unorm;
    static constexpr Packed kPacked = Packed::rgb10a2;
    static constexpr Encoding kEncoding = Encoding::unorm;

    TEXTON_HD static constexpr int bits(int channel) { return channel < 3 ? 10 : 2; }
    /// The first six bits of a color again below its last: gathers on an H200.
    TEXTON_HD static constexpr std::int32_t widen(std::uint32_t code, int channel) {
        return static_cast<std::int32_t>(channel < 3 ? code << 6 | code >> 4 : code * 21845);
    }
    /// Point reads take 10 bits of a color, also of a border's, and all of alpha: border_rgb10a2.
    TEXTON_HD static constexpr int point_bits(int channel) { return channel < 3 ? 10 : 16; }
    TEXTON_HD static std::uint32_t encode(std::uint32_t fetched, int channel) {
        return unorm_code_of(float_of(fetched), channel < 3 ? 1023.0f : 3.0f);
    }
};

/// Returns what `use` makes of the arithmetic of a packed format; of `none`, zeros.
template <class Use>
TEXTON_HD auto with_packed(Packed packed, const Use& use) {
    using Result = decltype(use(Rgb10a2()));
    switch (packed) {
        case Packed::rgb10a2: return use(Rgb10a2());
        case Packed::none: break;
    }
    return Result();
}

// --- what follows from it --------------------------------------------------------------------------------------------

template <class Fields>
TEXTON_HD constexpr int channel_count() {
    int count = 0;
    while (count < 4 && Fields::bits(count) != 0) ++count;
    return count;
}

/// Lowest bit of a channel.
template <class Fields>
TEXTON_HD constexpr int first_bit(int channel) {
    int first = 0;
    for (int c = 0; c < channel; ++c) first += Fields::bits(c);
    return first;
}

/// Bytes of a texel: of the smallest word that holds all channels.
template <class Fields>
TEXTON_HD constexpr int texel_bytes() {
    return first_bit<Fields>(4) > 16 ? 4 : first_bit<Fields>(4) > 8 ? 2 : 1;
}

struct PackedChannel {
    int bits;  ///< 0 if the format lacks the channel; the others are 0 then
    std::uint32_t code;
    std::int32_t wide;
};

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

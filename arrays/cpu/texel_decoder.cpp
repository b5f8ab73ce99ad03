#include "arrays/cpu/texel_decoder.h"

#include "arrays/unit/texture_unit.h"

namespace texton::detail {
namespace {

template <class Fields>
Texel decode_packed_as(const unsigned char* stored) {
    constexpr TexelFormat kFormat = packed_texel_format<Fields>();
    return unfiltered_texel(decode_texel(stored, kFormat, 0, 0), kFormat);
}

template <Encoding encoding, std::uint8_t bits, std::uint8_t channels>
Texel decode(const unsigned char* stored) {
    const TexelFormat format = unfiltered_format({encoding, Packing::plain, channels, bits, bits / 8 * channels});
    return unfiltered_texel(decode_texel(stored, format, 0, 0), format);
}

template <Encoding encoding, std::uint8_t bits>
TexelDecoder by_channels(std::uint8_t channels) noexcept {
    if (channels == 1) return decode<encoding, bits, 1>;
    if (channels == 2) return decode<encoding, bits, 2>;
    return decode<encoding, bits, 4>;
}

struct Row {
    Encoding encoding;
    std::uint8_t bits;
    TexelDecoder (*by_channels)(std::uint8_t) noexcept;
};

template <Encoding encoding, std::uint8_t bits>
constexpr Row kRow{encoding, bits, by_channels<encoding, bits>};

constexpr Row kRows[] = {kRow<Encoding::uint, 8>,      kRow<Encoding::uint, 16>,     kRow<Encoding::uint, 32>,
                         kRow<Encoding::sint, 8>,      kRow<Encoding::sint, 16>,     kRow<Encoding::sint, 32>,
                         kRow<Encoding::floating, 16>, kRow<Encoding::floating, 32>, kRow<Encoding::unorm, 8>,
                         kRow<Encoding::unorm, 16>,    kRow<Encoding::snorm, 8>,     kRow<Encoding::snorm, 16>,
                         kRow<Encoding::srgb, 8>};

}  // namespace

TexelDecoder texel_decoder(const TexelFormat& format) noexcept {
    if (format.packing == Packing::packed) {
        return with_packed(format.packed,
                           [](auto fields) -> TexelDecoder { return decode_packed_as<decltype(fields)>; });
    }
    if (format.packing != Packing::plain) return nullptr;
    for (const Row& row : kRows) {
        if (row.encoding == format.encoding && row.bits == format.bits) return row.by_channels(format.channels);
    }
    return nullptr;
}

}  // namespace texton::detail

#include "arrays/unit/texel_format.h"

#include <string_view>

namespace texton::detail {
namespace {

Encoding encoding_of(FormatKind kind) noexcept {
    switch (kind) {
        case FormatKind::uint: return Encoding::uint;
        case FormatKind::sint: return Encoding::sint;
        case FormatKind::floating: return Encoding::floating;
        case FormatKind::unorm: return Encoding::unorm;
        case FormatKind::snorm: return Encoding::snorm;
        case FormatKind::srgb: return Encoding::srgb;
    }
    return Encoding::uint;
}

Packing packing_of(Format format) noexcept {
    struct Row {
        std::string_view prefix;
        Packing packing;
    };
    constexpr Row kRows[] = {{"rgb10a2", Packing::rgb10a2},
                             {"bc1", Packing::bc1},
                             {"bc2", Packing::bc2},
                             {"bc3", Packing::bc3},
                             {"bc4", Packing::bc4},
                             {"bc5", Packing::bc5},
                             {"bc6h_u", Packing::bc6h_unsigned},
                             {"bc6h_s", Packing::bc6h_signed},
                             {"bc7", Packing::bc7}};
    for (const Row& row : kRows) {
        if (name(format).starts_with(row.prefix)) return row.packing;
    }
    return Packing::plain;
}

}  // namespace

TexelFormat texel_format(Format format) noexcept {
    const FormatInfo& row = info(format);
    const bool block = row.layout == FormatLayout::block;
    const Packing packing = packing_of(format);
    const bool wide = row.kind == FormatKind::floating || packing == Packing::bc4 || packing == Packing::bc5;
    const auto decoded_bits = static_cast<std::uint8_t>(wide ? 16 : 8);
    return {encoding_of(row.kind), packing, row.channels, block ? decoded_bits : row.bits, row.bytes};
}

}  // namespace texton::detail

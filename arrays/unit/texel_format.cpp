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

Packing block_packing(std::string_view name) noexcept {
    struct Row {
        std::string_view prefix;
        Packing packing;
    };
    constexpr Row kRows[] = {{"bc1", Packing::bc1},
                             {"bc2", Packing::bc2},
                             {"bc3", Packing::bc3},
                             {"bc4", Packing::bc4},
                             {"bc5", Packing::bc5},
                             {"bc6h_u", Packing::bc6h_unsigned},
                             {"bc6h_s", Packing::bc6h_signed},
                             {"bc7", Packing::bc7}};
    for (const Row& row : kRows) {
        if (name.starts_with(row.prefix)) return row.packing;
    }
    return Packing::plain;
}

TexelFormat packed_format(const FormatInfo& row) noexcept {
    for (int i = 0; i < static_cast<int>(Packed::none); ++i) {
        const auto packed = static_cast<Packed>(i);
        const bool found = with_packed(packed, [&](auto fields) { return decltype(fields)::kFormat == row.format; });
        if (found) return with_packed(packed, [](auto fields) { return packed_texel_format<decltype(fields)>(); });
    }
    return {encoding_of(row.kind), Packing::packed, row.channels, row.bits, row.bytes};
}

}  // namespace

TexelFormat texel_format(Format format) noexcept {
    const FormatInfo& row = info(format);
    if (row.layout == FormatLayout::packed) return packed_format(row);
    const bool block = row.layout == FormatLayout::block;
    const Packing packing = block ? block_packing(row.name) : Packing::plain;
    const bool wide = row.kind == FormatKind::floating || packing == Packing::bc4 || packing == Packing::bc5;
    const auto decoded_bits = static_cast<std::uint8_t>(wide ? 16 : 8);
    return {encoding_of(row.kind), packing, row.channels, block ? decoded_bits : row.bits, row.bytes};
}

}  // namespace texton::detail

#include "arrays/cpu/srgb_rows.h"

#include <iterator>

#include "arrays/cpu/texel_decoder.h"

namespace texton::detail {
namespace {

std::int32_t step_of_interval(std::uint32_t first) {
    const std::uint32_t code = srgb_code_of(float_of(first));
    const std::uint32_t end = first + 0x10000U;
    std::uint32_t low = first, high = end;
    while (high - low > 1) {
        const std::uint32_t middle = low + (high - low) / 2;
        (srgb_code_of(float_of(middle)) == code ? low : high) = middle;
    }
    return static_cast<std::int32_t>((code << 16) + (end - high));
}

SrgbRowTables make_tables() {
    SrgbRowTables tables;
    const TexelDecoder decode = texel_decoder({Encoding::srgb, Packing::plain, 1, 8, 1});
    for (std::size_t code = 0; code < 256; ++code) {
        const auto byte = static_cast<unsigned char>(code);
        tables.colors[code] = float_of(decode(&byte).channel[0]);
    }
    for (std::size_t i = 0; i < std::size(tables.steps); ++i)
        tables.steps[i] = step_of_interval((SrgbRowTables::kFirstInterval + static_cast<std::uint32_t>(i)) << 16);
    return tables;
}

}  // namespace

const SrgbRowTables& srgb_row_tables() {
    static const SrgbRowTables tables = make_tables();
    return tables;
}

}  // namespace texton::detail

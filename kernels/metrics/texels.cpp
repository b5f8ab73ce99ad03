#include "kernels/metrics/texels.h"

#include <cmath>
#include <cstring>

#include <texton/format.h>

#include "arrays/unit/texel_format.h"
#include "kernels/metrics/code_rows.h"

namespace texton::detail {
namespace {

double zero_of(FormatKind kind, int bits) {
    const bool is_signed = kind == FormatKind::sint || kind == FormatKind::snorm;
    return is_signed ? std::ldexp(1.0, bits - 1) : 0;
}

}  // namespace

CodeFormat::CodeFormat(Format format)
    : kind_(info(format).kind),
      packing_(texel_format(format).packed),
      is_packed_(texel_format(format).packing == Packing::packed),
      bits_(info(format).bits),
      channels_(static_cast<std::size_t>(info(format).channels)),
      texel_bytes_(info(format).bytes) {
    for (std::size_t c = 0; c < channels_; ++c) {
        const int bits = channel_bits(format, static_cast<int>(c)).count;
        zero_[c] = zero_of(kind_, bits);
        largest_[c] = static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1);
        const bool normalized = kind_ == FormatKind::unorm || kind_ == FormatKind::srgb || kind_ == FormatKind::snorm;
        if (normalized) divisor_[c] = largest_[c] - zero_[c];
    }
    if (is_packed_ && is_float()) bits_ = 16;  // packed floats are read as codes of float16
    if (!is_float()) return;
    const std::uint32_t zero = bits_ == 16 ? 0x8000u : 0x80000000u, infinity = bits_ == 16 ? 0x7c00u : 0x7f800000u;
    infinity_[0] = zero - infinity;
    infinity_[1] = zero + infinity;
}

double CodeFormat::range() const {
    switch (kind_) {
        case FormatKind::uint:
        case FormatKind::sint: return largest_[0];
        case FormatKind::snorm: return 2;
        case FormatKind::unorm:
        case FormatKind::srgb:
        case FormatKind::floating: return 1;
    }
    return 1;
}

TexelReader::TexelReader(const ConstView& view)
    : CodeFormat(view.format()),
      data_(view.data()),
      pitch_(view.pitch()),
      slice_pitch_(view.slice_pitch()),
      extent_(view.extent()) {}

void TexelReader::read(Offset at, std::size_t count, std::uint32_t* codes) const {
    const std::byte* from = bytes(at);
    if (is_packed()) {
        for (std::size_t i = 0; i < count; ++i, from += texel_bytes()) {
            for (std::size_t c = 0; c < channels(); ++c) codes[channels() * i + c] = code(from, c);
        }
        return;
    }
    codes_of_channels(kind(), bits(), from, count * channels(), codes);
}

void TexelReader::read_finite(Offset at, std::size_t count, double scale, std::span<float* const> values) const {
    StoredValues stored{kind(), bits(), channels(), {}, {}, scale};
    for (std::size_t c = 0; c < values.size(); ++c) {
        stored.factors[c] = factor(c, scale);
        if (has_short_codes()) stored.zeros[c] = static_cast<std::int32_t>(zero(c));
    }
    const std::byte* const texels = bytes(at);
    const bool has_vectors = !is_packed() && (has_short_codes() || is_float());
    for (std::size_t i = has_vectors ? values_of_texels(stored, texels, count, values) : 0; i < count; ++i) {
        for (std::size_t c = 0; c < values.size(); ++c)
            values[c][i] = finite_value(code(texels + i * texel_bytes(), c), c, scale, stored.factors[c]);
    }
}

}  // namespace texton::detail

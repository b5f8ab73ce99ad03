#include "kernels/metrics/texels.h"

#include <cmath>
#include <cstring>

#include <texton/format.h>

#include "arrays/unit/texel_format.h"
#include "kernels/metrics/code_rows.h"

namespace texton::detail {
namespace {

template <class T, class Order>
void ordered(const std::byte* bytes, std::size_t count, std::uint32_t* codes, Order order) {
    for (std::size_t i = 0; i < count; ++i) {
        T stored;
        std::memcpy(&stored, bytes + i * sizeof stored, sizeof stored);
        codes[i] = order(stored);
    }
}

// Converts the bits of `count` channels. The kind is known when each loop is compiled, so loops are vectorized.
template <class Unsigned>
void ordered_codes(FormatKind kind, const std::byte* bytes, std::size_t count, std::uint32_t* codes) {
    constexpr int kBits = 8 * sizeof(Unsigned);
    const auto convert = [&]<FormatKind known>() {
        ordered<Unsigned>(bytes, count, codes, [](Unsigned stored) { return ordered_code(known, stored, kBits); });
    };
    switch (kind) {
        case FormatKind::uint:
        case FormatKind::unorm:
        case FormatKind::srgb: return convert.template operator()<FormatKind::uint>();
        case FormatKind::sint: return convert.template operator()<FormatKind::sint>();
        case FormatKind::snorm: return convert.template operator()<FormatKind::snorm>();
        case FormatKind::floating: return convert.template operator()<FormatKind::floating>();
    }
}

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
    switch (bits()) {
        case 8: return ordered_codes<std::uint8_t>(kind(), from, count * channels(), codes);
        case 16: return ordered_codes<std::uint16_t>(kind(), from, count * channels(), codes);
        default: return ordered_codes<std::uint32_t>(kind(), from, count * channels(), codes);
    }
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

#pragma once
// Ordered codes of texels that are loaded as a whole. What a format has is known when a kernel is compiled, so that codes
// take few instructions.
#include <type_traits>

#include "kernels/cuda/comparison.h"

namespace texton::detail {

/// The order of short codes of plain formats: those of signed formats have the uppermost bit flipped.
struct ShortOrder {
    unsigned flipped;
    unsigned least;  ///< 1 for snorm, whose two lowest codes are both -1

    __device__ explicit ShortOrder(const CodeFormat& format)
        : flipped(static_cast<unsigned>(format.zero(0))), least(format.kind() == FormatKind::snorm ? 1 : 0) {}
    /// Returns the code of the bits of a channel.
    __device__ unsigned operator()(unsigned stored) const { return max(stored ^ flipped, least); }
};

/// The order of floats.
template <int bits>
struct FloatOrder {
    static constexpr std::uint32_t kZero = std::uint32_t{1} << (bits - 1);
    static constexpr std::uint32_t kInfinity = bits == 16 ? 0x7c00u : 0x7f800000u;

    __device__ explicit FloatOrder(const CodeFormat&) {}
    __device__ unsigned operator()(unsigned stored) const { return ordered_code(FormatKind::floating, stored, bits); }
    __device__ static bool is_finite(unsigned code) {
        return static_cast<unsigned>(abs(static_cast<int>(code - kZero))) < kInfinity;
    }
    /// Returns the value of a finite code.
    __device__ static float value(unsigned code) {
        const unsigned sign = code < kZero ? 0x80000000u : 0;
        const unsigned magnitude = code < kZero ? kZero - code : code - kZero;
        if constexpr (bits == 32) return __uint_as_float(sign | magnitude);
        return __uint_as_float(sign | magnitude << 13) * 0x1p112f;
    }
};

/// The order of all other codes.
template <int bits>
struct AnyOrder {
    FormatKind kind;

    __device__ explicit AnyOrder(const CodeFormat& format) : kind(format.kind()) {}
    __device__ unsigned operator()(unsigned stored) const { return ordered_code(kind, stored, bits); }
};

/// Which codes a kernel reads.
enum class Codes { are_short, are_floats, are_any };

/// Texels of `n` channels of Stored, which is an unsigned integer. The format is not packed.
template <class Stored, int n>
struct PlainTexels {
    static constexpr int kChannels = n;
    static constexpr int kBits = 8 * sizeof(Stored);
    template <Codes codes>
    using Order =
        std::conditional_t<codes == Codes::are_short, ShortOrder,
                           std::conditional_t<codes == Codes::are_floats, FloatOrder<kBits>, AnyOrder<kBits>>>;

    struct alignas(sizeof(Stored) * n) Texel {
        Stored channel[n];
    };

    template <class Order>
    __device__ static void read(const CodeFormat&, const Order& order, const std::byte* from, unsigned (&codes)[n]) {
        const Texel texel = *reinterpret_cast<const Texel*>(from);
#pragma unroll
        for (int c = 0; c < n; ++c) codes[c] = order(texel.channel[c]);
    }
};

/// Texels of a packed format.
struct PackedTexels {
    static constexpr int kChannels = 4;
    static constexpr int kBits = 0;  // of any number
    template <Codes codes>
    using Order = AnyOrder<16>;  // not used

    __device__ static void read(const CodeFormat& format, const AnyOrder<16>&, const std::byte* from,
                                unsigned (&codes)[4]) {
#pragma unroll
        for (std::size_t c = 0; c < 4; ++c) codes[c] = c < format.channels() ? format.code(from, c) : 0;
    }
};

/// Calls `action` with the type of the texels of a format, and returns its result.
template <class Action>
auto with_texels(const CodeFormat& format, const Action& action) {
    const auto plain = [&]<class Stored>(Stored) {
        switch (format.channels()) {
            case 1: return action(PlainTexels<Stored, 1>());
            case 2: return action(PlainTexels<Stored, 2>());
            default: return action(PlainTexels<Stored, 4>());
        }
    };
    if (format.is_packed()) return action(PackedTexels());
    switch (format.bits()) {
        case 8: return plain(std::uint8_t());
        case 16: return plain(std::uint16_t());
        default: return plain(std::uint32_t());
    }
}

}  // namespace texton::detail

#pragma once
// The static constexpr members that a functor of launch() may have. They are promises of the functor, which permit
// faster ways of calling it:
//     kPointwise = true             pointwise: it only fetches the texel at the position of the pixel
//     kPointwiseWithTables = true   pointwise in its 2D and layered textures; it may fetch anything from textures of
//                                   other kinds
//     kByTexel = true               pointwise, and a result depends only on the texel of the first texture, not on the
//                                   position; textures of other kinds may be tables
//     kByChannel = true             kByTexel, and each channel of a result depends only on the same channel of the
//                                   texel
//     kSameForColors = true         kByChannel, the function of the first three channels is the same, and the fourth
//                                   channel of the result is that of the texel
//     kMayBeCalledWithZeros = true  calls with zeros in place of fetched texels do no harm
//     kPixels = n                   pixels that a CUDA thread computes; 1 suits functors with many fetches per pixel
//                                   (default: 4)
//
// kMayBeCalledWithZeros concerns the CPU device only. By default it calls a functor once per pixel and executes each
// fetch at once. If the functor makes this promise, its plain fetches of 1D, 2D and layered 2D textures are first
// recorded and return zeros. Then the fetches of many pixels are executed together, on vectors, and the functor is
// called again until all its fetches are known; the result of the last call counts. This is faster for functors with
// many fetches whose coordinates do not depend on other fetches. The functor may get zeros or the texels of other
// coordinates in all calls but the last. It must terminate with them, access only memory that exists, and have no side
// effects:
//
//     struct Blur {
//         static constexpr bool kMayBeCalledWithZeros = true;
//         template <class Source>
//         TEXTON_HD texton::Float4 operator()(texton::PixelPosition at, const Source& source) const {
//             texton::Float4 sum;
//             for (int i = -4; i <= 4; ++i)
//                 sum += source.at_texel(at.center_x() + static_cast<float>(i), at.center_y());
//             return sum * (1.0f / 9.0f);
//         }
//     };
//
// This functor must not promise it, because a zero would let it read beyond the end of the table:
//
//     struct Lookup {
//         const float* table;  // 256 numbers; no texel of the image is 0
//         template <class Source>
//         TEXTON_HD texton::Float4 operator()(texton::PixelPosition at, const Source& source) const {
//             const float value = source.at_texel(at.center_x(), at.center_y()).x;
//             return {table[static_cast<int>(1.0f / value)], 0, 0, 1};
//         }
//     };
#include <cstdint>
#include <type_traits>

namespace texton::detail {

/// Returns true if the functor declares kPointwise = true: it only fetches the texel at the position of the pixel. Then
/// the image may be what a texture reads, and the CPU device reads the texels of whole rows. 2D and layered 2D textures
/// are read with the point filter, so the texels are exact.
template <class Functor>
constexpr bool is_pointwise() {
    if constexpr (requires { Functor::kPointwise; }) return Functor::kPointwise;
    return false;
}

/// Returns true if the functor declares kPointwiseWithTables = true or is pointwise: it only fetches the texel at the
/// position of the pixel from its 2D and layered textures, but may fetch anything from textures of other kinds, such as
/// tables.
template <class Functor>
constexpr bool is_pointwise_with_tables() {
    if constexpr (requires { Functor::kPointwiseWithTables; }) return Functor::kPointwiseWithTables;
    return is_pointwise<Functor>();
}

/// Returns true if the functor declares kByChannel = true: each channel of a result is a function of the same channel
/// of the texel of the first texture. Then the results for all 8-bit codes can be computed once, and looked up for each
/// pixel.
template <class Functor>
constexpr bool is_by_channel() {
    if constexpr (requires { Functor::kByChannel; }) return Functor::kByChannel;
    return false;
}

/// Returns true if the functor declares kByTexel = true or is by channel: a result is a function of the texel of the
/// first texture. Then the results for all 8-bit codes of textures with one channel can be computed once.
template <class Functor>
constexpr bool is_by_texel() {
    if constexpr (requires { Functor::kByTexel; }) return Functor::kByTexel;
    return is_by_channel<Functor>();
}

/// Returns true if the functor declares kSameForColors = true: it is by channel, with one function for all channels of
/// the color, and leaves alpha as it is. Then one table has the results for all 16-bit codes.
template <class Functor>
constexpr bool is_same_for_colors() {
    if constexpr (requires { Functor::kSameForColors; }) return Functor::kSameForColors;
    return false;
}

/// Whether the functor declares kMayBeCalledWithZeros, as true or false.
template <class Functor>
concept SaysWhetherZerosDoHarm = requires {
    Functor::kMayBeCalledWithZeros;
};

/// Returns true if the functor declares kMayBeCalledWithZeros = true: the CPU device may first call it with fetches
/// that return zeros, and with fetches that return texels of other coordinates.
template <class Functor>
constexpr bool may_be_called_with_zeros() {
    if constexpr (SaysWhetherZerosDoHarm<Functor>) {
        constexpr bool kIsConstant = requires { typename std::bool_constant<Functor::kMayBeCalledWithZeros>; };
        static_assert(kIsConstant, "declare it as: static constexpr bool kMayBeCalledWithZeros = true;");
        if constexpr (kIsConstant) return Functor::kMayBeCalledWithZeros;
    }
    return false;
}

/// Whether the image that a launch writes may share memory with what its textures read.
enum class Overlap : std::uint8_t {
    refused,
    pointwise_texels,  ///< each pixel reads its own texel only: the image may be exactly what a texture reads
    allowed            ///< all texels are read before the first pixel is written
};

/// Returns whether the image of a launch of this functor may share memory with its textures.
template <class Functor>
constexpr Overlap overlap_of() {
    return is_pointwise<Functor>() ? Overlap::pointwise_texels : Overlap::refused;
}

}  // namespace texton::detail

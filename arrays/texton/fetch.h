#pragma once
#include <bit>
#include <cstdint>

#include <texton/host_device.h>

namespace texton {

/// A texture fetch function of CUDA kernels.
enum class FetchOperation : std::uint8_t {
    plain,      ///< tex1D, tex2D, texCubemapLayered, ...: reads level 0
    lod,        ///< tex2DLod, ...: the caller gives the level of detail
    gradients,  ///< tex2DGrad, ...: the change of the coordinates gives the level of detail
    gather,     ///< tex2Dgather: returns one component of the four neighboring texels
    texel       ///< tex1Dfetch: reads linear memory at an integer index
};

/// The coordinates of a fetch. Members that the operation or the kind of texture does not use are ignored.
struct FetchPoint {
    float x = 0;              ///< in texels, or 0 to 1 with normalized coordinates; cubemaps: x of the direction
    float y = 0;              ///< in texels, or 0 to 1 with normalized coordinates; cubemaps: y of the direction
    float z = 0;              ///< in texels, or 0 to 1 with normalized coordinates; cubemaps: z of the direction
    std::int32_t layer = 0;   ///< layer or cube; index of the texel for FetchOperation::texel
    float lod = 0;            ///< level of detail, before the bias of the sampler
    float dx[3] = {0, 0, 0};  ///< change of x, y, z from a pixel to its right neighbor
    float dy[3] = {0, 0, 0};  ///< change of x, y, z from a pixel to the pixel below
};

/// The result of a fetch: four channels of 32 bits, floats or integers according to the texture's format. Channels that
/// the format lacks have the values that the hardware returns: 0, except that alpha is 1 in block-compressed formats.
struct Texel {
    std::uint32_t channel[4];  ///< bits of red, green, blue and alpha

    /// Returns a channel of a texture that returns floats. `index` is 0 to 3.
    float as_float(int index) const { return std::bit_cast<float>(channel[index]); }
    bool operator==(const Texel&) const = default;  ///< Returns true if all bits are equal.
};

}  // namespace texton

#pragma once
#include <bit>
#include <cstdint>

#include <texton/host_device.h>

namespace texton {

/// Which fetch of a kernel is meant.
enum class FetchOperation : std::uint8_t {
    plain,      ///< tex1D, tex2D, texCubemapLayered, ...: level 0
    lod,        ///< tex2DLod, ...: the level of detail is given
    gradients,  ///< tex2DGrad, ...: it follows from the change of the coordinates
    gather,     ///< tex2Dgather: one component of the four texels around
    texel       ///< tex1Dfetch: texel x of linear memory, as an integer
};

/// Where to fetch. Fields that the operation or the kind of texture does not take are not read.
struct FetchPoint {
    float x = 0;  ///< in texels, or 0 to 1 with normalized coordinates; cubemaps: a direction
    float y = 0;
    float z = 0;
    std::int32_t layer = 0;  ///< the layer, or the cube; texel: the texel
    float lod = 0;
    float dx[3] = {0, 0, 0};  ///< change of x, y, z from a pixel to its right neighbour
    float dy[3] = {0, 0, 0};  ///< ... and to the one below
};

/// What a fetch returned: four channels of 32 bits, floats or integers by the texture's format. Channels that the format
/// lacks are as the hardware returns them: 0, but alpha is 1 in block-compressed formats.
struct Texel {
    std::uint32_t channel[4];

    float as_float(int index) const { return std::bit_cast<float>(channel[index]); }
    bool operator==(const Texel&) const = default;
};

}  // namespace texton

#pragma once
#include <cstdint>

namespace texton {

/// What a coordinate outside of the texture reads.
enum class AddressMode : std::uint8_t {
    wrap,    ///< the texture, repeated; needs normalized coordinates
    clamp,   ///< the nearest edge
    mirror,  ///< repeated, every second one mirrored; needs normalized coordinates
    border   ///< the border colour
};

enum class Filter : std::uint8_t { point, linear };

/// How a texture is read: every field of cudaTextureDesc but its readMode and sRGB, which follow from the format that the
/// Texture reads its texels as.
struct Sampler {
    AddressMode address[3] = {AddressMode::clamp, AddressMode::clamp, AddressMode::clamp};  ///< x, y, z
    Filter filter = Filter::point;
    Filter mip_filter = Filter::point;
    bool normalized_coordinates =
        false;                      ///< 0 to 1 across the texture instead of texels; mip levels and cubemaps need it
    bool seamless_cubemap = false;  ///< filters across the edges of faces
    bool trilinear_optimization = true;  ///< lets the device snap the fraction between two levels
    std::uint8_t max_anisotropy = 1;     ///< 1 to 16; 1 is isotropic
    float mip_bias = 0;                  ///< added to the level of detail
    float mip_min = 0;                   ///< the lowest level of detail, after the bias
    float mip_max = 15;                  ///< the highest
    float border[4] = {0, 0, 0, 0};
    bool operator==(const Sampler&) const = default;
};

}  // namespace texton

#pragma once
#include <cstdint>

namespace texton {

/// What a fetch outside of the texture reads.
enum class AddressMode : std::uint8_t {
    wrap,    ///< repeats the texture; needs normalized coordinates
    clamp,   ///< reads the nearest texel of the edge
    mirror,  ///< repeats the texture, every second time mirrored; needs normalized coordinates
    border   ///< reads the border color
};

/// How a fetch combines texels or levels.
enum class Filter : std::uint8_t {
    point,  ///< reads the nearest texel or level
    linear  ///< interpolates linearly between neighboring texels or levels
};

/// How a texture is read. It has all members of cudaTextureDesc except readMode and sRGB, which follow from the format
/// of the Texture.
struct Sampler {
    AddressMode address[3] = {AddressMode::clamp, AddressMode::clamp, AddressMode::clamp};  ///< for x, y and z
    Filter filter = Filter::point;                                                          ///< filter between texels
    Filter mip_filter = Filter::point;                                                      ///< filter between levels
    /// Coordinates are 0 to 1 across the texture instead of in texels. Cubemaps and textures with several levels need
    /// this.
    bool normalized_coordinates = false;
    bool seamless_cubemap = false;       ///< filters across the edges between faces
    bool trilinear_optimization = true;  ///< allows the device to round the level of detail to reduce its work
    std::uint8_t max_anisotropy = 1;     ///< 1 to 16; 1 means isotropic filtering
    float mip_bias = 0;                  ///< added to the level of detail
    float mip_min = 0;                   ///< minimum level of detail, after the bias
    float mip_max = 15;                  ///< maximum level of detail, after the bias
    float border[4] = {0, 0, 0, 0};      ///< border color: red, green, blue and alpha
    bool operator==(const Sampler&) const = default;  ///< Returns true if all members are equal.
};

}  // namespace texton

#pragma once
#include <concepts>
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

/// The address modes of x, y and z. Axes that are not given have AddressMode::clamp: {wrap, wrap} is {wrap, wrap,
/// clamp}.
class AddressModes {
public:
    /// Takes the mode of each axis. A single mode is that of x only.
    constexpr AddressModes(AddressMode x = AddressMode::clamp, AddressMode y = AddressMode::clamp,
                           AddressMode z = AddressMode::clamp) noexcept
        : of_axis_{x, y, z} {}

    /// Returns the mode of an axis, which is an integer of any type: 0 is x, 1 is y, 2 is z.
    template <std::integral Axis>
    constexpr AddressMode& operator[](Axis axis) noexcept {
        return of_axis_[axis];
    }
    /// Returns the mode of an axis, which is an integer of any type: 0 is x, 1 is y, 2 is z.
    template <std::integral Axis>
    constexpr const AddressMode& operator[](Axis axis) const noexcept {
        return of_axis_[axis];
    }
    constexpr AddressMode* begin() noexcept { return of_axis_; }                ///< For loops over the axes.
    constexpr AddressMode* end() noexcept { return of_axis_ + 3; }              ///< For loops over the axes.
    constexpr const AddressMode* begin() const noexcept { return of_axis_; }    ///< For loops over the axes.
    constexpr const AddressMode* end() const noexcept { return of_axis_ + 3; }  ///< For loops over the axes.
    bool operator==(const AddressModes&) const = default;  ///< Returns true if all axes have equal modes.

private:
    AddressMode of_axis_[3];
};

/// How a texture is read. It has all members of cudaTextureDesc except readMode and sRGB, which follow from the format
/// of the Texture.
struct Sampler {
    AddressModes address;               ///< for x, y and z
    Filter filter = Filter::point;      ///< filter between texels
    Filter mip_filter = Filter::point;  ///< filter between levels
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

#pragma once
// Texel formats and the table of their properties.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <texton/extent.h>

namespace texton {

/// Texel formats. The digits are the bits of a channel. The suffix says how a kernel reads the channel; see FormatKind.
/// CUDA has no texels with three channels: images with three channels are uploaded with four, and alpha is 1.
enum class Format : std::uint8_t {
    r8_uint,        ///< 1 channel of 8-bit unsigned integers
    rg8_uint,       ///< 2 channels of 8-bit unsigned integers
    rgba8_uint,     ///< 4 channels of 8-bit unsigned integers
    r8_sint,        ///< 1 channel of 8-bit signed integers
    rg8_sint,       ///< 2 channels of 8-bit signed integers
    rgba8_sint,     ///< 4 channels of 8-bit signed integers
    r16_uint,       ///< 1 channel of 16-bit unsigned integers
    rg16_uint,      ///< 2 channels of 16-bit unsigned integers
    rgba16_uint,    ///< 4 channels of 16-bit unsigned integers
    r16_sint,       ///< 1 channel of 16-bit signed integers
    rg16_sint,      ///< 2 channels of 16-bit signed integers
    rgba16_sint,    ///< 4 channels of 16-bit signed integers
    r32_uint,       ///< 1 channel of 32-bit unsigned integers
    rg32_uint,      ///< 2 channels of 32-bit unsigned integers
    rgba32_uint,    ///< 4 channels of 32-bit unsigned integers
    r32_sint,       ///< 1 channel of 32-bit signed integers
    rg32_sint,      ///< 2 channels of 32-bit signed integers
    rgba32_sint,    ///< 4 channels of 32-bit signed integers
    r16_float,      ///< 1 channel of 16-bit floats
    rg16_float,     ///< 2 channels of 16-bit floats
    rgba16_float,   ///< 4 channels of 16-bit floats
    r32_float,      ///< 1 channel of 32-bit floats
    rg32_float,     ///< 2 channels of 32-bit floats
    rgba32_float,   ///< 4 channels of 32-bit floats
    r8_unorm,       ///< 1 channel of 8-bit unsigned integers, read as 0 to 1
    rg8_unorm,      ///< 2 channels of 8-bit unsigned integers, read as 0 to 1
    rgba8_unorm,    ///< 4 channels of 8-bit unsigned integers, read as 0 to 1
    r16_unorm,      ///< 1 channel of 16-bit unsigned integers, read as 0 to 1
    rg16_unorm,     ///< 2 channels of 16-bit unsigned integers, read as 0 to 1
    rgba16_unorm,   ///< 4 channels of 16-bit unsigned integers, read as 0 to 1
    r8_snorm,       ///< 1 channel of 8-bit signed integers, read as -1 to 1
    rg8_snorm,      ///< 2 channels of 8-bit signed integers, read as -1 to 1
    rgba8_snorm,    ///< 4 channels of 8-bit signed integers, read as -1 to 1
    r16_snorm,      ///< 1 channel of 16-bit signed integers, read as -1 to 1
    rg16_snorm,     ///< 2 channels of 16-bit signed integers, read as -1 to 1
    rgba16_snorm,   ///< 4 channels of 16-bit signed integers, read as -1 to 1
    r8_srgb,        ///< 1 channel of 8 bits, sRGB-encoded, read as linear 0 to 1
    rg8_srgb,       ///< 2 channels of 8 bits, sRGB-encoded, read as linear 0 to 1
    rgba8_srgb,     ///< 4 channels of 8 bits, sRGB-encoded, read as linear 0 to 1
    rgb10a2_unorm,  ///< 4 channels of 10, 10, 10 and 2 bits, read as 0 to 1
    bc1_unorm,      ///< BC1: RGB and 1-bit alpha, 8 bytes per block
    bc1_srgb,       ///< BC1 with sRGB-encoded colors
    bc2_unorm,      ///< BC2: RGB and 4-bit alpha, 16 bytes per block
    bc2_srgb,       ///< BC2 with sRGB-encoded colors
    bc3_unorm,      ///< BC3: RGB and interpolated alpha, 16 bytes per block
    bc3_srgb,       ///< BC3 with sRGB-encoded colors
    bc4_unorm,      ///< BC4: 1 channel, read as 0 to 1, 8 bytes per block
    bc4_snorm,      ///< BC4: 1 channel, read as -1 to 1
    bc5_unorm,      ///< BC5: 2 channels, read as 0 to 1, 16 bytes per block
    bc5_snorm,      ///< BC5: 2 channels, read as -1 to 1
    bc6h_ufloat,    ///< BC6H: RGB, unsigned half floats, 16 bytes per block
    bc6h_sfloat,    ///< BC6H: RGB, signed half floats
    bc7_unorm,      ///< BC7: RGBA, read as 0 to 1, 16 bytes per block
    bc7_srgb,       ///< BC7 with sRGB-encoded colors
    nv12,           ///< planar: 8-bit luma, chroma at half width and height
    p010,           ///< planar: 10-bit luma, chroma at half width and height
    p016,           ///< planar: 16-bit luma, chroma at half width and height
    nv16            ///< planar: 8-bit luma, chroma at half width
};

/// How a kernel reads the bits of a channel.
enum class FormatKind : std::uint8_t {
    uint,      ///< as an unsigned integer
    sint,      ///< as a signed integer
    floating,  ///< as a float
    unorm,     ///< as a number from 0 to 1, stored as an unsigned integer
    snorm,     ///< as a number from -1 to 1, stored as a signed integer
    srgb       ///< as a linear number from 0 to 1, stored as an unsigned integer in sRGB encoding; alpha is linear
};

/// Layout of texels in memory.
enum class FormatLayout : std::uint8_t {
    plain,   ///< consecutive channels of `bits` bits each
    packed,  ///< channels of `cuda.bits` bits in one word, the first in the lowest bits
    block,   ///< block-compressed (BC): 4x4 texels in `bytes` bytes
    planar   ///< luma in plane 0, interleaved chroma in plane 1
};

/// Format and size of one plane of a planar format.
struct PlaneInfo {
    Format format;               ///< plain format of the plane
    std::uint8_t divide_width;   ///< width of the image divided by the width of the plane
    std::uint8_t divide_height;  ///< height of the image divided by the height of the plane
};

/// The members of cudaChannelFormatDesc as numbers.
struct CudaChannels {
    std::array<std::uint8_t, 4> bits;  ///< bits of x, y, z and w
    int kind;                          ///< value of cudaChannelFormatKind
};

/// Properties of a format.
struct FormatInfo {
    Format format;          ///< the format
    std::string_view name;  ///< name of the enumerator
    std::uint8_t channels;  ///< number of channels: 1, 2 or 4; BC6H and planar formats: 3; packed formats: 1 to 4
    std::uint8_t bits;      ///< stored bits of a channel; packed formats: of the first channel; BC: 0
    FormatKind kind;        ///< how a kernel reads the channels
    FormatLayout layout;    ///< layout in memory
    std::uint8_t bytes;     ///< bytes of a texel, or of a 4x4 block; planar formats: 0, see plane_info()
    CudaChannels cuda;      ///< CUDA's description of the channels
    std::string_view oiio;  ///< OpenImageIO's TypeDesc of a channel ("uint8", "half"); empty if there is none
};

/// Returns the properties of a format.
[[nodiscard]] const FormatInfo& info(Format format) noexcept;
/// Returns the name of the enumerator, for example "rgba8_unorm".
[[nodiscard]] std::string_view name(Format format) noexcept;
/// Returns the properties of all formats, in the order of the enumeration.
[[nodiscard]] std::span<const FormatInfo> formats() noexcept;
/// Returns the format with this name, or nullopt if there is none.
[[nodiscard]] std::optional<Format> format_named(std::string_view name) noexcept;
/// Returns the plain format with the bits and the kind of `like` and with `channels` channels: r8_unorm and 4 give
/// rgba8_unorm. 3 channels give the format with 4, because CUDA has no texels with three channels. Throws
/// Error{bad_argument} if there is no such format.
[[nodiscard]] Format with_channels(Format like, int channels);

/// Returns the number of planes: 2 for planar formats, 1 for all others.
[[nodiscard]] int plane_count(Format format) noexcept;
/// Returns the format and the size of a plane. Throws Error{bad_argument} if `format` is not planar, or if `plane` is
/// not 0 or 1.
[[nodiscard]] PlaneInfo plane_info(Format format, int plane);

/// Position of a channel in a plain or packed texel.
struct ChannelBits {
    std::uint8_t first;  ///< index of the lowest bit; 0 is the lowest bit of the texel's first byte
    std::uint8_t count;  ///< number of bits
};
/// Returns the position of a channel. It is 0, 0 if the format lacks the channel or is block-compressed or planar.
[[nodiscard]] ChannelBits channel_bits(Format format, int channel) noexcept;

/// Returns the width and height of a block in texels: 4 for block-compressed formats, 1 for all others.
[[nodiscard]] std::size_t block_side(Format format) noexcept;
/// Returns the bytes of a packed row of `width` texels (of blocks, for block-compressed formats). Throws
/// Error{overflow} if they do not fit in 64 bits.
[[nodiscard]] std::size_t row_bytes(Format format, std::size_t width);
/// Returns the number of stored rows for `height` rows of texels: a quarter, rounded up, for block-compressed formats.
[[nodiscard]] std::size_t row_count(Format format, std::size_t height) noexcept;
/// Returns the bytes of a packed block of texels, of both planes for planar formats. Throws Error{overflow} if they do
/// not fit in 64 bits.
[[nodiscard]] std::size_t packed_bytes(Format format, Extent extent);

/// Returns the size in texels of a 64 KiB tile of a sparse array with 2 or 3 dimensions. Throws Error{bad_argument} for
/// planar formats and other values of `dimensions`.
[[nodiscard]] Extent tile_extent(Format format, int dimensions);

}  // namespace texton

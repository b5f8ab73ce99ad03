#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <texton/extent.h>

namespace texton {

/// Every texel format. The digits are bits a channel, the suffix how the bits read in a kernel. CUDA has no three-channel
/// texels: images of three channels are widened to four on upload, with alpha 1.
enum class Format : std::uint8_t {
    r8_uint,
    rg8_uint,
    rgba8_uint,
    r8_sint,
    rg8_sint,
    rgba8_sint,
    r16_uint,
    rg16_uint,
    rgba16_uint,
    r16_sint,
    rg16_sint,
    rgba16_sint,
    r32_uint,
    rg32_uint,
    rgba32_uint,
    r32_sint,
    rg32_sint,
    rgba32_sint,
    r16_float,
    rg16_float,
    rgba16_float,
    r32_float,
    rg32_float,
    rgba32_float,
    r8_unorm,
    rg8_unorm,
    rgba8_unorm,
    r16_unorm,
    rg16_unorm,
    rgba16_unorm,
    r8_snorm,
    rg8_snorm,
    rgba8_snorm,
    r16_snorm,
    rg16_snorm,
    rgba16_snorm,
    r8_srgb,
    rg8_srgb,
    rgba8_srgb,
    rgb10a2_unorm,
    bc1_unorm,
    bc1_srgb,
    bc2_unorm,
    bc2_srgb,
    bc3_unorm,
    bc3_srgb,
    bc4_unorm,
    bc4_snorm,
    bc5_unorm,
    bc5_snorm,
    bc6h_ufloat,
    bc6h_sfloat,
    bc7_unorm,
    bc7_srgb,
    nv12,
    p010,
    p016,
    nv16
};

/// How the bits of a channel read.
enum class FormatKind : std::uint8_t { uint, sint, floating, unorm, snorm, srgb };

/// How texels are laid out in memory.
enum class FormatLayout : std::uint8_t {
    plain,   ///< channels side by side, each of `bits`
    packed,  ///< channels of `cuda.bits` in one word, the first in its lowest bits
    block,   ///< BC: 4x4 texels in `bytes`
    planar   ///< luma in plane 0, interleaved chroma in plane 1
};

/// The plain format of one plane of a planar one, and by how much the plane is smaller.
struct PlaneInfo {
    Format format;
    std::uint8_t divide_width;
    std::uint8_t divide_height;
};

/// cudaChannelFormatDesc as numbers: bits of x, y, z, w, and the value of cudaChannelFormatKind.
struct CudaChannels {
    std::array<std::uint8_t, 4> bits;
    int kind;
};

/// One row of the table of formats.
struct FormatInfo {
    Format format;
    std::string_view name;  ///< the enumerator's own name
    std::uint8_t channels;  ///< 1, 2 or 4; BC6H and planar: 3; packed: 1 to 4
    std::uint8_t bits;      ///< a channel, as stored; packed: the first channel; 0 for BC
    FormatKind kind;
    FormatLayout layout;
    std::uint8_t bytes;  ///< of a texel, or of a 4x4 block; planar: 0, see plane_info()
    CudaChannels cuda;
    std::string_view oiio;  ///< OpenImageIO's TypeDesc for one channel ("uint8", "half"); empty if it has none
};

[[nodiscard]] const FormatInfo& info(Format format) noexcept;
[[nodiscard]] std::string_view name(Format format) noexcept;
/// All rows, in the order of the enumeration.
[[nodiscard]] std::span<const FormatInfo> formats() noexcept;
/// The format of that name, if there is one.
[[nodiscard]] std::optional<Format> format_named(std::string_view name) noexcept;
/// The plain format of `channels` channels with the bits and kind of `like`: r8_unorm and 4 give rgba8_unorm. Three channels
/// give the four-channel format, since CUDA has no three-channel texels. Throws Error{bad_argument} if there is none.
[[nodiscard]] Format with_channels(Format like, int channels);

/// Planes of a planar format (2), else 1.
[[nodiscard]] int plane_count(Format format) noexcept;
/// Throws Error{bad_argument} unless `format` is planar and `plane` is 0 or 1.
[[nodiscard]] PlaneInfo plane_info(Format format, int plane);

/// Where a channel of a plain or packed texel lies: its lowest bit, counted from that of the texel's first byte, and its
/// width in bits.
struct ChannelBits {
    std::uint8_t first;
    std::uint8_t count;
};
/// Zeros for channels that the format lacks, and for block-compressed and planar formats.
[[nodiscard]] ChannelBits channel_bits(Format format, int channel) noexcept;

/// Texels along a side of a block: 4 for BC, else 1.
[[nodiscard]] std::size_t block_side(Format format) noexcept;
/// Bytes of a row of `width` texels (of blocks, for BC), tightly packed. Throws Error{overflow}.
[[nodiscard]] std::size_t row_bytes(Format format, std::size_t width);
/// Rows of bytes that `height` texels take: a quarter, rounded up, for BC.
[[nodiscard]] std::size_t row_count(Format format, std::size_t height) noexcept;
/// Bytes of a tightly packed block of texels; planar formats: of both planes. Throws Error{overflow}.
[[nodiscard]] std::size_t packed_bytes(Format format, Extent extent);

/// Texels of a 64 KiB tile of a sparse array: `dimensions` 2 or 3.
[[nodiscard]] Extent tile_extent(Format format, int dimensions);

}  // namespace texton

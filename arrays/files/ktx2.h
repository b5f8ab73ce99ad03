#pragma once
// Parts of KTX2 files that their reader and their writer share.
//
// Layout of a file: a header, which contains the locations of the other parts; the locations of the levels; a data
// format descriptor, which describes texels and colors as the Khronos Data Format Specification defines; pairs of keys
// and values; the levels, the smallest one first. A level consists of all layers, each with all faces, each with all
// slices, tightly packed. With supercompression, each level is compressed as a whole. All numbers are little-endian.
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "arrays/files/stored_texels.h"

namespace texton::detail {

inline constexpr std::array<unsigned char, 12> kKtx2Signature{0xab, 'K',  'T',  'X',  ' ',  '2',
                                                              '0',  0xbb, '\r', '\n', 0x1a, '\n'};

struct Ktx2Header {
    std::array<unsigned char, 12> signature;
    std::uint32_t format;      // number of a VkFormat
    std::uint32_t type_bytes;  // of the words whose byte order matters
    std::uint32_t width, height, depth, layers, faces, levels, scheme;
    std::uint32_t descriptor_offset, descriptor_bytes, pairs_offset, pairs_bytes;
    std::uint64_t global_offset, global_bytes;
};
struct Ktx2Level {
    std::uint64_t offset, bytes, decompressed;
};
static_assert(sizeof(Ktx2Header) == 80 && sizeof(Ktx2Level) == 24);

/// Key of the orientation: "rd" if rows and columns begin at the top left.
inline constexpr std::string_view kKtx2Orientation = "KTXorientation";

/// Numbers of supercompression schemes.
inline constexpr std::uint32_t kPlainScheme = 0, kBasisScheme = 1, kZstdScheme = 2, kZlibScheme = 3;

/// A format of Vulkan that Texton reads.
struct VkFormatRow {
    std::uint32_t number;
    Format format;
    StoredOrder order = StoredOrder::same;
    bool is_opaque = false;  ///< BC1 without alpha
};
/// Returns the row of a number, or null if Texton does not read the format.
[[nodiscard]] const VkFormatRow* vk_format(std::uint32_t number) noexcept;
/// Returns the number of a format that is not planar. `is_opaque` selects BC1 without alpha.
[[nodiscard]] std::uint32_t vk_number(Format format, bool is_opaque) noexcept;
/// Returns a description of a format that Texton does not read: "ASTC (VkFormat 157)".
[[nodiscard]] std::string unread_vk_format(std::uint32_t number);

/// Colors as a data format descriptor specifies them. The numbers are those of the Khronos Data Format Specification.
struct Ktx2Color {
    std::uint8_t model = 0, primaries = 0, transfer = 0;
    bool is_premultiplied = false;
};
inline constexpr std::uint8_t kLinearTransfer = 1, kSrgbTransfer = 2, kBt709Primaries = 1;
inline constexpr std::uint8_t kEtc1sModel = 163, kUastcModel = 166, kUastcHdrModel = 167;

/// Returns the color space for ImageMetadata::color_space, or an empty text for an unknown number and for 0.
[[nodiscard]] std::string_view transfer_name(std::uint8_t number) noexcept;
/// Returns the number of a color space, or nullopt if there is none.
[[nodiscard]] std::optional<std::uint8_t> transfer_named(std::string_view name) noexcept;
/// Attribute that contains the name of primaries other than those of BT.709.
inline constexpr const char* kPrimariesAttribute = "ktx:primaries";
/// Returns the name of primaries, or an empty text for an unknown number and for 0.
[[nodiscard]] std::string_view primaries_name(std::uint8_t number) noexcept;
/// Returns the number of primaries, or nullopt if there are none with this name.
[[nodiscard]] std::optional<std::uint8_t> primaries_named(std::string_view name) noexcept;

/// Returns the data format descriptor of texels, in words. Ktx2Color::model is ignored.
[[nodiscard]] std::vector<std::uint32_t> data_format_descriptor(Format format, bool is_opaque, const Ktx2Color& color);
/// Returns the colors of a descriptor, of which the first bytes are passed. All members are 0 if they are missing.
[[nodiscard]] Ktx2Color color_of(std::span<const std::byte> descriptor) noexcept;

}  // namespace texton::detail

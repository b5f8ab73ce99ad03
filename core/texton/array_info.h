#pragma once
// Kinds, shapes and sizes of arrays.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <texton/extent.h>
#include <texton/format.h>
#include <texton/host_device.h>

namespace texton {

/// Kind of an array.
enum class ArrayKind : std::uint8_t {
    array_1d,        ///< one row of texels
    array_2d,        ///< rows of texels
    array_3d,        ///< a volume: slices of rows
    layered_1d,      ///< layers of one row each
    layered_2d,      ///< layers of 2D images
    cubemap,         ///< six square faces, in the order +x, -x, +y, -y, +z, -z
    cubemap_layered  ///< layers of cubes
};

/// Returns the name of the enumerator, for example "layered_2d".
[[nodiscard]] std::string_view name(ArrayKind kind) noexcept;
/// Returns the kind with this name, for example "layered_2d", or nullopt if there is none.
[[nodiscard]] std::optional<ArrayKind> array_kind_named(std::string_view name) noexcept;

/// Returns true if each layer is a single row of texels.
TEXTON_HD constexpr bool is_flat(ArrayKind kind) {
    return kind == ArrayKind::array_1d || kind == ArrayKind::layered_1d;
}
/// Returns true if the texels are the faces of cubes.
TEXTON_HD constexpr bool is_cube(ArrayKind kind) {
    return kind == ArrayKind::cubemap || kind == ArrayKind::cubemap_layered;
}
/// Returns true if the array has layers. A cubemap without layers has faces only.
TEXTON_HD constexpr bool is_layered(ArrayKind kind) {
    return kind == ArrayKind::layered_1d || kind == ArrayKind::layered_2d || kind == ArrayKind::cubemap_layered;
}

/// Uses of an array in addition to copies and textures.
struct ArrayUsage {
    bool surface = false;                                ///< a Surface can be created on the array
    bool gather = false;                                 ///< textures of the array can gather
    bool operator==(const ArrayUsage&) const = default;  ///< Returns true if all members are equal.
};

/// Description of an array.
struct ArrayInfo {
    Format format = Format::rgba8_unorm;   ///< format of the texels
    Extent extent;                         ///< size of one layer or face at level 0, in texels
    ArrayKind kind = ArrayKind::array_2d;  ///< kind of the array
    std::size_t layers = 1;                ///< number of layers of layered kinds; cubemap_layered: of cubes
    int levels = 1;                        ///< number of mip levels
    ArrayUsage usage{};                    ///< additional uses
    bool operator==(const ArrayInfo&) const = default;  ///< Returns true if all members are equal.
};

/// Returns the size of one layer or face at this level, in texels.
[[nodiscard]] Extent level_extent(const ArrayInfo& info, int level) noexcept;
/// Returns the depth of a level's view: the number of slices of a volume, and the number of layers times faces of other
/// kinds.
[[nodiscard]] std::size_t slice_count(const ArrayInfo& info, int level) noexcept;
/// Returns the number of levels of a full mip chain, which ends with a single texel.
[[nodiscard]] int full_levels(const ArrayInfo& info) noexcept;
/// Returns the size of all levels, layers and faces in bytes, without padding. Throws Error{overflow} if it does not
/// fit in 64 bits.
[[nodiscard]] std::size_t packed_bytes(const ArrayInfo& info);

/// The memory that a DeferredArray needs.
struct MemoryRequirements {
    std::size_t bytes = 0;                                       ///< size, a multiple of 64 KiB
    std::size_t alignment = 0;                                   ///< alignment of the offset in the pool, in bytes
    bool operator==(const MemoryRequirements&) const = default;  ///< Returns true if all members are equal.
};

/// Division of a sparse array into tiles of 64 KiB.
///
/// Levels from `first_tail_level` on are too small for tiles of their own. They share the memory of the mip tail.
struct SparseProperties {
    Extent tile;                 ///< size of a tile, in texels
    int first_tail_level = 0;    ///< first level of the tail; the level count if there is none
    std::size_t tail_bytes = 0;  ///< size of one tail in bytes, a multiple of 64 KiB
    bool tail_per_layer = true;  ///< true: one tail per layer; false: one for the array
    bool operator==(const SparseProperties&) const = default;  ///< Returns true if all members are equal.
};

/// Size of a tile of a sparse array, in bytes.
inline constexpr std::size_t kTileBytes = std::size_t{64} << 10;

}  // namespace texton

#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <texton/extent.h>
#include <texton/format.h>
#include <texton/host_device.h>

namespace texton {

enum class ArrayKind : std::uint8_t {
    array_1d,
    array_2d,
    array_3d,
    layered_1d,
    layered_2d,
    cubemap,         ///< six square faces: +x -x +y -y +z -z
    cubemap_layered  ///< several cubes
};

[[nodiscard]] std::string_view name(ArrayKind kind) noexcept;
/// The kind of that name ("layered_2d"), if there is one.
[[nodiscard]] std::optional<ArrayKind> array_kind_named(std::string_view name) noexcept;

TEXTON_HD constexpr bool is_flat(ArrayKind kind) {
    return kind == ArrayKind::array_1d || kind == ArrayKind::layered_1d;
}
TEXTON_HD constexpr bool is_cube(ArrayKind kind) {
    return kind == ArrayKind::cubemap || kind == ArrayKind::cubemap_layered;
}
TEXTON_HD constexpr bool is_layered(ArrayKind kind) {
    return kind == ArrayKind::layered_1d || kind == ArrayKind::layered_2d || kind == ArrayKind::cubemap_layered;
}

/// What an array is for, besides copies and textures.
struct ArrayUsage {
    bool surface = false;  ///< a Surface may be made of it
    bool gather = false;   ///< textures of it may gather
    bool operator==(const ArrayUsage&) const = default;
};

/// What an array is made of.
struct ArrayInfo {
    Format format = Format::rgba8_unorm;
    Extent extent;  ///< of one layer or face at level 0
    ArrayKind kind = ArrayKind::array_2d;
    std::size_t layers = 1;  ///< of layered kinds; of cubemap_layered: cubes
    int levels = 1;
    ArrayUsage usage{};
    bool operator==(const ArrayInfo&) const = default;
};

/// Of one layer or face.
[[nodiscard]] Extent level_extent(const ArrayInfo& info, int level) noexcept;
/// Layers, faces or slices that lie behind each other in a level: the depth of its view.
[[nodiscard]] std::size_t slice_count(const ArrayInfo& info, int level) noexcept;
/// Levels of a whole chain, down to one texel.
[[nodiscard]] int full_levels(const ArrayInfo& info) noexcept;
/// Packed, all levels, layers and faces. Throws Error{overflow}.
[[nodiscard]] std::size_t packed_bytes(const ArrayInfo& info);

/// What a DeferredArray has to be backed with.
struct MemoryRequirements {
    std::size_t bytes = 0;      ///< a multiple of 64 KiB
    std::size_t alignment = 0;  ///< of the place in the pool
    bool operator==(const MemoryRequirements&) const = default;
};

/// How a sparse array is cut into tiles of 64 KiB. Levels from `first_tail_level` on are too small for tiles of their own: they
/// lie together in the mip tail.
struct SparseProperties {
    Extent tile;                 ///< in texels
    int first_tail_level = 0;    ///< the number of levels if there is no tail
    std::size_t tail_bytes = 0;  ///< of one tail; a multiple of 64 KiB
    bool tail_per_layer = true;  ///< each layer has a tail of its own
    bool operator==(const SparseProperties&) const = default;
};

inline constexpr std::size_t kTileBytes = std::size_t{64} << 10;

}  // namespace texton

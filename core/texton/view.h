#pragma once
// Views of texels in memory of any kind.
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

#include <texton/device.h>
#include <texton/extent.h>
#include <texton/format.h>

namespace texton {

/// Kind of the memory that a view refers to.
enum class MemoryKind : std::uint8_t {
    host,        ///< pageable host memory
    pinned,      ///< memory of a Pinned
    registered,  ///< memory of a Registered
    managed,     ///< memory of a Managed
    linear,      ///< memory of a Linear, also from a Pool, and memory of borrowed_view()
    pitched,     ///< memory of a Pitched2D or Pitched3D
    mapped,      ///< memory of an AddressRange
    symbol,      ///< a variable of a Symbol
    array        ///< an array of any class
};

/// Returns the name of the enumerator, for example "pinned".
[[nodiscard]] std::string_view name(MemoryKind kind) noexcept;

namespace detail {
struct Block;        // owned memory of any kind
struct NativeArray;  // an array of a backend

/// The location of texels in memory. `address` is null for arrays. For symbols, `symbol` is the address of the host's
/// variable.
struct MemoryLocation {
    std::shared_ptr<const Block> owner;  // empty for memory that Texton does not own
    Backend* backend = nullptr;          // null for pageable host memory
    std::byte* address = nullptr;
    const void* symbol = nullptr;
    std::size_t symbol_offset = 0;  // bytes
    NativeArray* array = nullptr;
    int array_part = 0;           // the level, or the plane of a planar array
    Offset array_offset;          // texels; z counts slices, layers or faces
    std::size_t pitch = 0;        // bytes between rows
    std::size_t slice_pitch = 0;  // bytes between slices, a multiple of pitch
    MemoryKind kind = MemoryKind::host;
    Format format = Format::r8_uint;
    Extent extent;
};
}  // namespace detail

/// A read-only view of a box of texels in memory of any kind.
///
/// A value that is cheap to copy. A view keeps the owner of its memory alive. host_view(), borrowed_view() and views of
/// a Symbol are non-owning: the caller must keep the memory. A default-constructed view is empty; its use in copy() or
/// fill() throws Error{bad_argument}. Several threads may call const member functions at once.
class ConstView {
public:
    ConstView() = default;  ///< Creates an empty view.

    MemoryKind kind() const noexcept { return location_.kind; }     ///< Returns the kind of memory.
    Format format() const noexcept { return location_.format; }     ///< Returns the format of the texels.
    Extent extent() const noexcept { return location_.extent; }     ///< Returns the size in texels.
    std::size_t pitch() const noexcept { return location_.pitch; }  ///< Returns the bytes from one row to the next.
    /// Returns the bytes from one slice to the next.
    std::size_t slice_pitch() const noexcept { return location_.slice_pitch; }
    /// Returns the address of the first texel: a host address for host memory, and a device address for other memory.
    /// Null for arrays.
    const std::byte* data() const noexcept { return location_.address; }
    /// Returns the device of the memory, or nullopt for memory of MemoryKind::host.
    std::optional<Device> device() const noexcept;

    /// Returns a view of a part of this view. Throws Error{out_of_bounds} if the region is empty or reaches beyond the
    /// edge.
    ///
    /// For block-compressed formats, the offset must be a multiple of 4 texels. Width and height must be multiples of
    /// 4, or reach the edge. Throws Error{bad_argument} otherwise.
    [[nodiscard]] ConstView region(Region region) const;

    const detail::MemoryLocation& location() const noexcept { return location_; }  ///< For internal use.
    explicit ConstView(detail::MemoryLocation location) noexcept
        : location_(std::move(location)) {}  ///< For internal use.

protected:
    detail::MemoryLocation location_;  ///< For internal use.
};

/// A view of a box of texels that can be read and written. Otherwise like ConstView.
class View : public ConstView {
public:
    View() = default;  ///< Creates an empty view.
    /// Returns the address of the first texel. Null for arrays.
    std::byte* data() const noexcept { return location_.address; }
    /// Returns a view of a part of this view. Throws the errors of ConstView::region().
    [[nodiscard]] View region(Region region) const;
    explicit View(detail::MemoryLocation location) noexcept : ConstView(std::move(location)) {}  ///< For internal use.
};

/// Returns a non-owning view of texels in host memory. `pitch` 0 means packed rows; `slice_pitch` 0 means that slices
/// follow each other without a gap.
///
/// Throws Error{bad_argument} if
/// - `data` is null, or a dimension is 0,
/// - the format is planar: view each plane with the format of plane_info(),
/// - the pitch is shorter than a row,
/// - the slice pitch is shorter than a slice or not a multiple of the pitch.
///
/// Throws Error{overflow} if the size does not fit in 64 bits or exceeds the address space.
[[nodiscard]] View host_view(void* data, Format format, Extent extent, std::size_t pitch = 0,
                             std::size_t slice_pitch = 0);
/// Returns a read-only view. Otherwise like the overload for writable memory.
[[nodiscard]] ConstView host_view(const void* data, Format format, Extent extent, std::size_t pitch = 0,
                                  std::size_t slice_pitch = 0);

/// Returns a non-owning view of the bytes of a host array or vector, as one row of r8_uint. It is read-only if T is
/// const.
template <class T, std::size_t N>
requires std::is_trivially_copyable_v<T>
[[nodiscard]] auto host_view(std::span<T, N> values) {
    return host_view(values.data(), Format::r8_uint, Extent{values.size_bytes()});
}

/// Returns a non-owning view of device memory that another library allocated. `pitch` and `slice_pitch` are as for
/// host_view().
///
/// Throws Error{not_registered} if the device does not know all bytes from the first to the last texel, and the errors
/// of host_view().
[[nodiscard]] View borrowed_view(const Device& device, void* data, Format format, Extent extent, std::size_t pitch = 0,
                                 std::size_t slice_pitch = 0);

}  // namespace texton

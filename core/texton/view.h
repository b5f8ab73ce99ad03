#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

#include <texton/device.h>
#include <texton/extent.h>
#include <texton/format.h>

namespace texton {

/// What a view points into.
enum class MemoryKind : std::uint8_t {
    host,        ///< pageable memory of the process
    pinned,      ///< Pinned
    registered,  ///< Registered
    managed,     ///< Managed
    linear,      ///< Linear, also from a Pool
    pitched,     ///< Pitched2D, Pitched3D
    mapped,      ///< AddressRange
    symbol,      ///< Symbol<T>
    array        ///< Array and its kin
};

[[nodiscard]] std::string_view name(MemoryKind kind) noexcept;

namespace detail {
struct Block;        // owned memory of any kind
struct NativeArray;  // the backend's array

/// Where texels are. `address` is null for arrays; symbols have the host's name of the variable in `symbol`.
struct Place {
    std::shared_ptr<const Block> owner;  // empty for memory that Texton does not own
    Backend* backend = nullptr;          // null for pageable host memory
    std::byte* address = nullptr;
    const void* symbol = nullptr;
    std::size_t symbol_offset = 0;
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

/// A box of texels in memory of any kind, to read from. Keeps what owns the memory alive, except host_view() and
/// borrowed_view(), which point at what the caller keeps.
class ConstView {
public:
    ConstView() = default;

    MemoryKind kind() const noexcept { return place_.kind; }
    Format format() const noexcept { return place_.format; }
    Extent extent() const noexcept { return place_.extent; }
    std::size_t pitch() const noexcept { return place_.pitch; }              ///< bytes from row to row
    std::size_t slice_pitch() const noexcept { return place_.slice_pitch; }  ///< bytes from slice to slice
    /// First texel; a device pointer unless the memory is the host's. Null for arrays and symbols.
    const std::byte* data() const noexcept { return place_.address; }
    /// None for pageable host memory.
    std::optional<Device> device() const noexcept;

    /// A box inside this one. Throws Error{out_of_bounds}; for BC formats offsets must be multiples of 4, and sides too,
    /// unless they reach the edge.
    [[nodiscard]] ConstView region(Region region) const;

    const detail::Place& place() const noexcept { return place_; }  ///< for Texton's own parts
    explicit ConstView(detail::Place place) noexcept : place_(std::move(place)) {}

protected:
    detail::Place place_;
};

/// The same, to write to as well.
class View : public ConstView {
public:
    View() = default;
    std::byte* data() const noexcept { return place_.address; }
    [[nodiscard]] View region(Region region) const;
    explicit View(detail::Place place) noexcept : ConstView(std::move(place)) {}
};

/// Texels in host memory of the caller. `pitch` 0 means tightly packed rows, `slice_pitch` 0 means pitch * rows. Throws
/// Error{bad_argument} for null, a side of 0, a pitch shorter than a row, or a slice pitch that is no multiple of the pitch.
[[nodiscard]] View host_view(void* data, Format format, Extent extent, std::size_t pitch = 0,
                             std::size_t slice_pitch = 0);
[[nodiscard]] ConstView host_view(const void* data, Format format, Extent extent, std::size_t pitch = 0,
                                  std::size_t slice_pitch = 0);

/// The bytes of a host array or vector as one row of r8_uint.
template <class T, std::size_t N>
requires std::is_trivially_copyable_v<T>
[[nodiscard]] auto host_view(std::span<T, N> values) {
    return host_view(values.data(), Format::r8_uint, Extent{values.size_bytes()});
}

/// Texels in device memory that somebody else owns and keeps: a CUDA pointer from another library, say. The device is asked
/// whether it knows the pointer: Error{not_registered} if it does not.
[[nodiscard]] View borrowed_view(const Device& device, void* data, Format format, Extent extent, std::size_t pitch = 0,
                                 std::size_t slice_pitch = 0);

}  // namespace texton

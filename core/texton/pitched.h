#pragma once
// Device memory with padded rows.
#include <texton/view.h>

namespace texton {

/// Owns a 2D block of device memory whose rows start pitch() bytes apart (cudaMallocPitch).
///
/// The device chooses the pitch, which is at least row_bytes(format, width). Texton never reads or writes the padding.
/// The contents are undefined at first. Copies of a Pitched2D share the memory. Views keep it alive; it is freed when
/// the last of them is gone, after the device has finished its work. A default-constructed or moved-from object is
/// empty: data() is null and extent() is 0 x 0; device() and view() throw Error{released}. Several threads may call
/// const member functions at once.
class Pitched2D {
public:
    Pitched2D() = default;  ///< Creates an empty object.
    /// Allocates memory for `extent` texels.
    ///
    /// Throws
    /// - Error{bad_argument} if a dimension is 0, the depth is not 1 or the format is planar,
    /// - Error{overflow} if a row is longer than the maximum pitch of the device, or the size does not fit in 64 bits,
    /// - Error{out_of_memory} if the device has too little memory,
    /// - Error{capturing} while the calling thread records a graph.
    Pitched2D(const Device& device, Format format, Extent extent);

    std::byte* data() const noexcept;                      ///< Returns the device address of the first texel.
    std::size_t pitch() const noexcept { return pitch_; }  ///< Returns the bytes from one row to the next.
    Format format() const noexcept { return format_; }     ///< Returns the format.
    /// Returns the size in texels.
    Extent extent() const noexcept { return block_ ? extent_ : Extent{0, 0, 0}; }
    Device device() const;  ///< Returns the device that holds the memory.
    View view() const;      ///< Returns a view of all texels.

private:
    std::shared_ptr<detail::Block> block_;
    std::size_t pitch_ = 0;
    Format format_ = Format::r8_uint;
    Extent extent_;
};

/// Owns a 3D block of device memory whose rows start pitch() bytes apart and whose slices start slice_pitch() bytes
/// apart (cudaMalloc3D). Otherwise like Pitched2D.
class Pitched3D {
public:
    Pitched3D() = default;  ///< Creates an empty object.
    /// Allocates memory for `extent` texels, with a depth of at least 1. In block-compressed formats the blocks are 2D:
    /// each slice is compressed separately. Throws the errors of Pitched2D, except that the depth can be more than 1.
    Pitched3D(const Device& device, Format format, Extent extent);

    std::byte* data() const noexcept;                      ///< Returns the device address of the first texel.
    std::size_t pitch() const noexcept { return pitch_; }  ///< Returns the bytes from one row to the next.
    /// Returns the bytes from one slice to the next.
    std::size_t slice_pitch() const noexcept { return slice_pitch_; }
    Format format() const noexcept { return format_; }  ///< Returns the format.
    /// Returns the size in texels.
    Extent extent() const noexcept { return block_ ? extent_ : Extent{0, 0, 0}; }
    Device device() const;  ///< Returns the device that holds the memory.
    View view() const;      ///< Returns a view of all texels.

private:
    std::shared_ptr<detail::Block> block_;
    std::size_t pitch_ = 0;
    std::size_t slice_pitch_ = 0;
    Format format_ = Format::r8_uint;
    Extent extent_;
};

}  // namespace texton

#pragma once
#include <texton/view.h>

namespace texton {

/// Owns a 2D block of device memory whose rows start `pitch()` bytes apart (cudaMallocPitch).
///
/// The device picks the pitch; it is at least row_bytes(format, width). Padding is never read or written by Texton. Contents
/// start uninitialised. Move-only; a moved-from block is empty (data() == nullptr, 0 x 0).
class Pitched2D {
public:
    Pitched2D() = default;
    /// Throws Error{bad_argument} if a side is 0, the depth is not 1 or the format is planar, Error{overflow} if a row is longer
    /// than the device's largest pitch, Error{out_of_memory} if the device cannot hold it.
    Pitched2D(const Device& device, Format format, Extent extent);

    std::byte* data() const noexcept;
    std::size_t pitch() const noexcept { return pitch_; }  ///< bytes, not texels
    Format format() const noexcept { return format_; }
    Extent extent() const noexcept { return block_ ? extent_ : Extent{0, 0, 0}; }
    Device device() const;
    View view() const;

private:
    std::shared_ptr<detail::Block> block_;
    std::size_t pitch_ = 0;
    Format format_ = Format::r8_uint;
    Extent extent_;
};

/// The same for a volume: slices of pitched rows (cudaMalloc3D), `slice_pitch()` bytes apart.
class Pitched3D {
public:
    Pitched3D() = default;
    /// As Pitched2D, any depth from 1. Block-compressed formats are stacks of 2D slices.
    Pitched3D(const Device& device, Format format, Extent extent);

    std::byte* data() const noexcept;
    std::size_t pitch() const noexcept { return pitch_; }
    std::size_t slice_pitch() const noexcept { return slice_pitch_; }
    Format format() const noexcept { return format_; }
    Extent extent() const noexcept { return block_ ? extent_ : Extent{0, 0, 0}; }
    Device device() const;
    View view() const;

private:
    std::shared_ptr<detail::Block> block_;
    std::size_t pitch_ = 0;
    std::size_t slice_pitch_ = 0;
    Format format_ = Format::r8_uint;
    Extent extent_;
};

}  // namespace texton

#pragma once
// The use of every byte of pitched memory, for a copy of an image in real memory of the device.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <texton/array.h>
#include <texton/pitched.h>

#include "viewer/model/cancellation.h"
#include "viewer/model/session.h"

namespace texton::viewer {

/// Use of a byte of pitched memory.
enum class ByteUse : std::uint8_t {
    payload,  ///< part of a texel or block
    padding,  ///< between the end of a row's texels and the next row
    gap       ///< between the last row of a slice and the next slice
};

/// Layout of texels in pitched memory.
struct PitchedLayout {
    Format format = Format::r8_uint;
    Extent extent;
    std::size_t pitch = 0;        ///< bytes from a row (block formats: a row of blocks) to the next
    std::size_t slice_pitch = 0;  ///< bytes from a slice to the next

    /// Returns the bytes of texels in a row, without padding.
    std::size_t row_bytes() const { return texton::row_bytes(format, extent.width); }
    std::size_t rows() const noexcept {
        return row_count(format, extent.height);
    }  ///< rows of a slice; block formats: rows of blocks
    /// Returns the size of the memory, with padding.
    std::size_t bytes() const noexcept { return slice_pitch * extent.depth; }
    /// Returns the use of a byte, which must be less than bytes().
    ByteUse use_of(std::size_t byte) const;
    /// Returns the texel that contains the byte, or the first texel of its block. Returns nullopt for padding, gaps and
    /// bytes past the end.
    std::optional<Offset> texel_of(std::size_t byte) const;
    /// Returns the offset of the first byte of the texel or of its block. Throws Error{out_of_bounds} if the texel is
    /// outside the image.
    std::size_t byte_of(Offset texel) const;
    /// Returns the texels that share bytes with this texel: the texel itself, or its block clipped to the image.
    Region texels_with(Offset texel) const;
};

/// Returns the value that PitchedCopy writes to a byte before the upload. It is a hash of the offset, so neighboring
/// bytes differ.
[[nodiscard]] std::byte canary_at(std::size_t byte) noexcept;

/// Result of a check of padding and gaps for overwritten bytes.
struct CanaryReport {
    std::size_t checked = 0;                ///< number of bytes that were checked
    std::size_t overwritten = 0;            ///< number of bytes that differ from canary_at()
    std::vector<std::size_t> subresources;  ///< offsets of the first overwritten bytes, at most kMaxSubresources
    static constexpr std::size_t kMaxSubresources = 64;
};

/// Copy of a level, layer and face of an array in pitched memory on the same device: Pitched3D for a volume, otherwise
/// Pitched2D.
///
/// Owns the memory; views are non-owning. All functions block until the device has finished. Several threads may call
/// const member functions at once, unless one of them writes to the memory through a view.
class PitchedCopy {
public:
    /// Fills the memory with the values of canary_at(), then copies the texels to it through host memory. Throws the
    /// errors of the memory and of copy(), and Canceled.
    PitchedCopy(const Array& source, const SubresourceIndex& subresource, const CancellationToken& token = {});

    const PitchedLayout& layout() const noexcept { return layout_; }
    Device device() const { return flat_.data() != nullptr ? flat_.device() : deep_.device(); }
    std::byte* data() const noexcept { return flat_.data() != nullptr ? flat_.data() : deep_.data(); }
    View view() const { return flat_.data() != nullptr ? flat_.view() : deep_.view(); }
    /// Returns a view of bytes, with padding. Throws Error{out_of_bounds} if `count` is 0 or the range is not inside
    /// the memory.
    View bytes(std::size_t first, std::size_t count) const;
    /// Copies bytes to the host. Throws the errors of bytes() and copy().
    std::vector<std::byte> read(std::size_t first, std::size_t count) const;
    /// Copies `rows` runs of `count` bytes to the host. The runs start one pitch apart. Throws the errors of read().
    std::vector<std::byte> read_box(std::size_t first, std::size_t count, std::size_t rows) const;

    /// Checks every byte of padding and gaps. Throws the errors of read(), and Canceled.
    CanaryReport check(const CancellationToken& token = {}) const;
    /// Returns a slice that is read with a different pitch in bytes, to show the effect of a wrong pitch. Rows past the
    /// end of the memory and rows that exceed `max_bytes` are omitted.
    ///
    /// Throws Error{bad_argument} if the pitch is smaller than a row, Error{out_of_bounds} if the slice does not exist,
    /// and the errors of Array and copy().
    Array read_with_pitch(std::size_t pitch, std::size_t slice, std::size_t max_bytes) const;

private:
    void write_canaries(const CancellationToken& token) const;
    void upload(const Array& source, const Subresource& part, const CancellationToken& token) const;

    Pitched2D flat_;
    Pitched3D deep_;
    PitchedLayout layout_;
};

/// Returns the subresource of a level, layer and face, with all slices of a volume.
[[nodiscard]] Subresource slices_at(const ArrayInfo& info, const SubresourceIndex& subresource);

}  // namespace texton::viewer

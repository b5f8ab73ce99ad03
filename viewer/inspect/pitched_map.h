#pragma once
// What every byte of pitched memory is for, seen on a copy of a picture that the device really holds.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <texton/array.h>
#include <texton/pitched.h>

#include "viewer/model/cancellation.h"
#include "viewer/model/session.h"

namespace texton::viewer {

enum class ByteUse : std::uint8_t {
    payload,  ///< of a texel or block
    padding,  ///< from a row's last texel to the next row
    gap       ///< from a slice's last row to the next slice
};

/// Where texels lie in memory whose rows and slices are pitches apart.
struct PitchedLayout {
    Format format = Format::r8_uint;
    Extent extent;
    std::size_t pitch = 0;
    std::size_t slice_pitch = 0;

    std::size_t row_bytes() const { return texton::row_bytes(format, extent.width); }
    std::size_t rows() const noexcept { return row_count(format, extent.height); }  ///< of a slice; of blocks
    std::size_t bytes() const noexcept { return slice_pitch * extent.depth; }
    ByteUse use_of(std::size_t byte) const;
    /// The texel that the byte belongs to, of a block its first; none between rows and behind the end.
    std::optional<Offset> texel_of(std::size_t byte) const;
    /// The first byte of the texel, or of its block. Error{out_of_bounds}.
    std::size_t byte_of(Offset texel) const;
    /// Texels that share their bytes with this one: itself, or its block as far as the picture reaches.
    Region texels_with(Offset texel) const;
};

/// What was written to the padding before the upload; it differs from place to place.
[[nodiscard]] std::byte canary_at(std::size_t byte) noexcept;

/// Bytes between rows and slices that are no longer what they were.
struct CanaryReport {
    std::size_t checked = 0;
    std::size_t overwritten = 0;
    std::vector<std::size_t> places;  ///< the first of them, at most kMostPlaces
    static constexpr std::size_t kMostPlaces = 64;
};

/// A level, layer and face of an array in Pitched2D, or in Pitched3D if it is a volume, on the same device. Any thread may read it.
class PitchedCopy {
public:
    /// Fills the memory with canaries, and uploads the texels from the host. Throws what the memory and copies throw, Cancelled.
    PitchedCopy(const Array& source, const Place& place, const StillWanted& wanted = {});

    const PitchedLayout& layout() const noexcept { return layout_; }
    Device device() const { return flat_.data() != nullptr ? flat_.device() : deep_.device(); }
    std::byte* data() const noexcept { return flat_.data() != nullptr ? flat_.data() : deep_.data(); }
    View view() const { return flat_.data() != nullptr ? flat_.view() : deep_.view(); }
    /// Bytes of the memory, padding included. Error{out_of_bounds}.
    View bytes(std::size_t first, std::size_t count) const;
    std::vector<std::byte> read(std::size_t first, std::size_t count) const;
    /// A box of bytes: `rows` times `count` of them, a pitch apart.
    std::vector<std::byte> read_box(std::size_t first, std::size_t count, std::size_t rows) const;

    /// Looks at every byte between rows and slices.
    CanaryReport check(const StillWanted& wanted = {}) const;
    /// A slice, read as if its rows were `pitch` bytes apart: as many rows as there are bytes for, at most `most_bytes` of them.
    /// Error{bad_argument} for a pitch shorter than a row.
    Array read_with_pitch(std::size_t pitch, std::size_t slice, std::size_t most_bytes) const;

private:
    void write_canaries(const StillWanted& wanted) const;
    void upload(const Array& source, const Subresource& part, const StillWanted& wanted) const;

    Pitched2D flat_;
    Pitched3D deep_;
    PitchedLayout layout_;
};

/// Level, layer and face of the place, with all slices of a volume.
[[nodiscard]] Subresource slices_at(const ArrayInfo& info, const Place& place);

}  // namespace texton::viewer

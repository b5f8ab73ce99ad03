#pragma once
#include <string>
#include <vector>

#include <texton/array.h>
#include <texton/picture.h>
#include <texton/planar_array.h>

namespace texton {

/// One part of a load: decoded into a pinned buffer, then copied into the array. Milliseconds since the load began.
struct LoadStep {
    std::size_t bytes = 0;
    double decode_begin = 0;
    double decode_end = 0;
    /// How long, of that, Texton changed what had been read: format, channels, place. What a file's reader changes as it
    /// decodes (three channels to four, for one) is decoding.
    double convert = 0;
    double copy_begin = 0;  ///< as the device counts
    double copy_end = 0;
};

struct LoadTiming {
    std::vector<LoadStep> steps;
    double total = 0;      ///< milliseconds until the texels could be sampled
    std::size_t peak = 0;  ///< bytes of pinned buffers
};

/// A line for each step and one for the whole, with rates, and what share of the copies ran while the host decoded.
[[nodiscard]] std::string to_string(const LoadTiming& timing);

struct LoadOptions {
    ArrayUsage usage{};
    OnPictureProgress progress{};
    LoadTiming* timing = nullptr;  ///< filled in if it is given
};

/// An array of the device with all that the picture has. Texels stream through three pinned buffers: while one is
/// decoded, the others are copied. Beside the array and what the decoder itself takes (for most kinds of file as much
/// again), a load holds no more than three times 16 MiB, or three tiles, or rows, if one is larger than that: a picture
/// of 16 GiB takes a process of far less than 2 GiB beside its array. The exceptions are equirectangular cubes and
/// kinds of file that OpenImageIO itself decodes as a whole (interlaced PNG, GIF, WebP, HEIF, JPEG 2000).
///
/// The first part is decoded before the array is made. Throws what Array, Picture::read and the callback throw,
/// Cancelled; Error{bad_argument} for a planar picture.
[[nodiscard]] Array load(const Device& device, const Picture& picture, const LoadOptions& options = {});
/// The same, of a planar picture.
[[nodiscard]] PlanarArray load_planar(const Device& device, const Picture& picture, const LoadOptions& options = {});

/// Into an array that is there (of a DeferredArray: its array()). Error{bad_argument} unless kind, format, extent,
/// layers and levels are the picture's. If it fails or is cancelled, the array holds what had come until then.
void load(const Array& array, const Picture& picture, const LoadOptions& options = {});
void load(const PlanarArray& array, const Picture& picture, const LoadOptions& options = {});

}  // namespace texton

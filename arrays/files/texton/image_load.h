#pragma once
#include <string>
#include <vector>

#include <texton/array.h>
#include <texton/image_file.h>
#include <texton/planar_array.h>

namespace texton {

/// Times of one step of a load: a part of the image is decoded into a pinned buffer and then copied to the array. Times
/// are in milliseconds since the load began.
struct LoadStep {
    std::size_t bytes = 0;    ///< bytes of texels
    double decode_begin = 0;  ///< when decoding began
    double decode_end = 0;    ///< when decoding and conversion ended
    /// Duration of Texton's conversions (format, channels, layout), which is part of the decoding time. Conversions by
    /// the file decoder, such as three channels to four, are not included.
    double convert = 0;
    double copy_begin = 0;  ///< when the copy began, by the clock of the device
    double copy_end = 0;    ///< when the copy ended, by the clock of the device
};

/// Times and memory of a load.
struct LoadTiming {
    std::vector<LoadStep> steps;  ///< in the order of decoding
    double total = 0;             ///< milliseconds until all copies were done
    std::size_t peak = 0;         ///< bytes of pinned buffers
};

/// Returns a table with one line per step, followed by a summary: the rates, and the percentage of the copying time
/// during which the host decoded.
[[nodiscard]] std::string to_string(const LoadTiming& timing);

/// Options of load() and load_planar().
struct LoadOptions {
    ArrayUsage usage{};            ///< usage of the new array; ignored for an existing array
    OnImageProgress progress{};    ///< called after each step; empty: not called
    LoadTiming* timing = nullptr;  ///< receives the times of the load; null: they are not measured
};

/// Creates an array on the device and loads all levels, layers and faces of an image that is not planar. Blocks until
/// the texels can be sampled. Several threads may call this function at once.
///
/// The texels pass through three pinned buffers of at most 16 MiB each: while the host decodes into one of them, the
/// others are copied. A tile or row of the file that is larger is decoded into pageable memory first. The decoder needs
/// further memory, for most kinds of file about the same amount again. The memory of a load is therefore independent of
/// the size of the image. Exceptions are equirectangular cubes and the kinds of file that OpenImageIO decodes as a
/// whole: interlaced PNG, GIF, WebP, HEIF and JPEG 2000.
///
/// The array is created after the first part was decoded, so a damaged file is usually found without it. Throws the
/// errors of Array and of ImageFile::read(), Canceled if the callback returns false, and the callback's exceptions
/// unchanged.
/// Throws Error{bad_argument} if the image is planar.
[[nodiscard]] Array load(const Device& device, const ImageFile& image, const LoadOptions& options = {});
/// Creates a planar array on the device and loads a planar image in the same way. Throws Error{bad_argument} if the
/// image is not planar, and otherwise the errors of load() and of PlanarArray.
[[nodiscard]] PlanarArray load_planar(const Device& device, const ImageFile& image, const LoadOptions& options = {});

/// Loads an image into an existing array. To load into a DeferredArray, pass its array(). Blocks until the texels can
/// be sampled. The copies run after the work of the default stream, but do not wait for other streams; see Stream:
/// synchronize these with pending work on the array before the call.
///
/// Throws Error{bad_argument} if kind, format, extent, number of layers or number of levels differ from those of the
/// image, and otherwise the errors of the other overload. After an error or cancellation the array contains the parts
/// that were loaded until then.
void load(const Array& array, const ImageFile& image, const LoadOptions& options = {});
/// Loads a planar image into an existing planar array. Throws Error{bad_argument} if the image is not planar or if
/// format or extent differ, and otherwise the same errors.
void load(const PlanarArray& array, const ImageFile& image, const LoadOptions& options = {});

}  // namespace texton

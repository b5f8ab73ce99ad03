#pragma once
// Reduction of images that are too large for a device.
#include <texton/array.h>
#include <texton/device.h>
#include <texton/image_file.h>
#include <texton/image_load.h>
#include <texton/planar_array.h>

namespace texton::viewer {

/// Returns an extent whose dimensions are halved `times` times and rounded down, but are at least 1.
[[nodiscard]] Extent halved(Extent extent, int times);
/// Returns the description of the reduced array. Width, height and depth are halved; those of planar images stay even.
/// An array with levels loses `times` levels.
[[nodiscard]] ArrayInfo halved(ArrayInfo array, int times);

/// Returns true for integer formats, which have no linear filter.
[[nodiscard]] bool is_whole_numbers(Format format) noexcept;

/// Returns true if the size does not exceed the limits of the device and the array needs at most three quarters of its
/// free memory.
[[nodiscard]] bool fits(const Device& device, const ArrayInfo& array);

/// Returns the minimum number of halvings with which the image fits, up to max_halvings(). Returns 0 if no number is
/// sufficient; creating the array then reports the error.
[[nodiscard]] int needed_halvings(const Device& device, const ArrayInfo& array);
/// Returns the maximum number of halvings. Images with levels are reduced by omitting levels, so at least one level
/// must remain. Images without levels are resampled. This excludes one-dimensional and block-compressed arrays, for
/// which the result is 0.
[[nodiscard]] int max_halvings(const ArrayInfo& array);

/// Loads an image without levels at reduced size. Each texel is the mean of a square of texels of the file, or of a
/// cube of a volume, as with ResampleFilter::area of resample(). sRGB values are averaged as linear light. With
/// integers it is one texel of the square. Texels beyond the last whole square are ignored. The files are read in
/// bands, so the memory besides the array is about 24 MiB, or three rows of squares or cubes if that is larger. Throws
/// the errors of load().
[[nodiscard]] Array load_halved(const Device& device, const ImageFile& image, int halvings, const LoadOptions& options);
/// Loads a planar image at reduced size. Each plane is reduced separately.
[[nodiscard]] PlanarArray load_planar_halved(const Device& device, const ImageFile& image, int halvings,
                                             const LoadOptions& options);

}  // namespace texton::viewer

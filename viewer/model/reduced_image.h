#pragma once
// Pictures that are larger than a device's memory, in a size that it holds.
#include <texton/array.h>
#include <texton/device.h>
#include <texton/picture.h>
#include <texton/picture_load.h>
#include <texton/planar_array.h>

namespace texton::viewer {

/// Each side halved so many times and rounded down, but at least 1.
[[nodiscard]] Extent halved(Extent extent, int times);
/// The same of an array without levels: of volumes all three sides; planar pictures keep even ones. Of others so many levels are left out.
[[nodiscard]] ArrayInfo halved(ArrayInfo array, int times);

/// Formats whose texels no filter blends.
[[nodiscard]] bool is_whole_numbers(Format format) noexcept;

/// Whether the device takes an array of that size and keeps a quarter of its free memory.
[[nodiscard]] bool fits(const Device& device, const ArrayInfo& array);

/// The smallest number of halvings with which the picture fits, none if none is needed. Levels are left out in whole: of a picture
/// that has some, those from that one on are to be loaded. Without levels, plain and packed texels of all kinds but one-dimensional
/// ones take any number, and so do planar pictures; others none: what makes their array says that they are too large.
[[nodiscard]] int needed_halvings(const Device& device, const ArrayInfo& array);
/// How many there may be.
[[nodiscard]] int most_halvings(const ArrayInfo& array);

/// A picture without levels, its sides halved: each texel is the mean of a square of the file's, sRGB as light, as resample() with
/// ResampleFilter::area has it; of a volume the mean of those of as many slices; of integers it is one of them. What reaches beyond the
/// last whole square is left out. The files are read in bands: beside the array this takes about 24 MiB, or three rows of squares or
/// cubes if they are more. Throws as load() does.
[[nodiscard]] Array load_halved(const Device& device, const Picture& picture, int halvings, const LoadOptions& options);
/// The same, of a planar picture: each plane by itself.
[[nodiscard]] PlanarArray load_planar_halved(const Device& device, const Picture& picture, int halvings,
                                             const LoadOptions& options);

}  // namespace texton::viewer

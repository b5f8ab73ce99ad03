#pragma once
// Planar images as inputs and results of kernels: a kernel reads and writes each plane as an image of its own.
#include <span>
#include <string>
#include <vector>

#include <texton/image_file.h>

#include "viewer/model/host_image.h"
#include "viewer/model/kernel_run.h"

namespace texton::verify {

/// Throws Error{bad_argument} if the image is planar. `object` is the command that cannot read it.
void refuse_planar(const ImageFile& image, const std::string& object);

/// Returns the images that a kernel reads: both planes of a planar image, or the image itself.
[[nodiscard]] std::vector<ImageFile> inputs_of(const ImageFile& image);
/// Sets the parameters "layout", "siting" and "range", if the kernel has them and they are not set, to the values that
/// the file has. Does nothing for images that are not planar.
void propose_planar(KernelRun& run, const ImageFile& image);

/// Returns true if the results are the planes of a planar image.
[[nodiscard]] bool writes_planes(const KernelRun& run);
/// Returns the planar format of these results.
[[nodiscard]] Format planar_format(const KernelRun& run);
/// Returns these planes as an image. Throws the errors of PlanarArray.
[[nodiscard]] ImageFile planar_image_of(const KernelRun& run, std::span<const HostImage> planes);
/// Returns the attributes of a video file with such images (see FrameWriter).
[[nodiscard]] std::vector<ImageAttribute> planar_attributes(const KernelRun& run);

}  // namespace texton::verify

#pragma once
// The images of a kernel in memory of its device, and arrays of them for other kernels.
#include <span>
#include <vector>

#include <texton/array.h>

#include "viewer/model/host_image.h"
#include "viewer/model/kernel_run.h"

namespace texton::verify {

/// The images that a kernel wrote, in memory of the device.
struct ComputedImages {
    std::vector<View> views;
    double milliseconds = 0;  ///< from enqueueing the kernel until it was done
};

/// Runs the kernel and waits. Throws the errors of the kernel. Throws Error{bad_argument} if a size is given but the
/// kernel produces several images.
[[nodiscard]] ComputedImages compute(const Device& device, const KernelRun& run, std::span<const Texture> inputs);
/// Likewise, on a stream of the caller.
[[nodiscard]] ComputedImages compute(const Stream& stream, const KernelRun& run, std::span<const Texture> inputs);

/// Copies images to the host.
[[nodiscard]] std::vector<HostImage> host_images(std::span<const View> images);

/// Returns true if the images are the levels of a mip chain.
[[nodiscard]] bool is_mip_chain(std::span<const View> images);

/// Returns the description of the array with which a kernel reads an image that another kernel wrote.
///
/// Several slices become an array of one of the `accepted` kinds: `preferred` if possible, else a cubemap if there are
/// six square slices, else layers. If all kinds are refused, layers are used.
[[nodiscard]] ArrayInfo input_info_of(Format format, const Extent& image, std::span<const ArrayKind> accepted,
                                      ArrayKind preferred);

/// Copies images to an array of the device that kernels can read, of the kind that input_info_of() returns. A mip chain
/// becomes levels; of other images, only the first one is copied.
[[nodiscard]] Array array_of(const Device& device, std::span<const View> images, std::span<const ArrayKind> accepted,
                             ArrayKind preferred);

}  // namespace texton::verify

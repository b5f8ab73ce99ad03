#pragma once
// What happens to the images of a pipeline between reading and writing them.
#include <span>
#include <vector>

#include <texton/array.h>

#include "viewer/model/computed_images.h"
#include "viewer/model/json_object.h"

namespace texton::verify {

/// Returns the first `count` inputs of a kernel from the images of the kernel before it: one array for each image, or one
/// array with levels. `preferred` is the kind of the arrays, if the kernel accepts it. Throws Error{bad_argument} if the
/// kernel before it wrote another number of images.
[[nodiscard]] std::vector<Array> next_inputs(const Device& device, const ComputedImages& images, const KernelInfo& next,
                                             std::size_t count, ArrayKind preferred);

/// Runs a kernel on arrays and waits. `samplers` is empty, or contains one sampler for all inputs, or one for each:
/// array i has the sampler with the index sampler_indices[i]. Throws the errors of sampler_of() and compute().
[[nodiscard]] ComputedImages compute(const Stream& stream, const KernelRun& run, std::span<const Array* const> arrays,
                                     std::span<const Json> samplers, std::span<const std::size_t> sampler_indices);

/// Returns true if six slices of a kernel's result are the faces of a cube.
[[nodiscard]] bool writes_cubes(const KernelInfo& kernel, ArrayKind input);

}  // namespace texton::verify

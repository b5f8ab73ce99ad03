#pragma once
#include <memory>
#include <span>

#include "viewer/model/document.h"

namespace texton::viewer {

struct KernelResult {
    std::shared_ptr<const Document> document;
    double milliseconds = 0;  ///< from its enqueueing until it was done
};

/// Runs a kernel on the documents' device and waits. A chain becomes levels, slices become layers or a cube's faces; of planes the
/// first is kept. `sampler` is how the inputs are read; without one, each as usual. Throws what kernels throw.
[[nodiscard]] KernelResult run_kernel(const KernelChoice& kernel,
                                      std::span<const std::shared_ptr<const Document>> inputs,
                                      const std::optional<Sampler>& sampler = {});

}  // namespace texton::viewer

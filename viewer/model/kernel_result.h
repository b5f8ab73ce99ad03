#pragma once
#include <memory>
#include <span>

#include "viewer/model/document.h"

namespace texton::viewer {

/// The result of a kernel that the viewer ran.
struct KernelResult {
    std::shared_ptr<const Document> document;  ///< the computed image
    double milliseconds = 0;                   ///< time from enqueueing the kernel until it was done
};

/// Runs a kernel on the device of the documents and waits for the result. Results that form a mip chain become levels.
/// Slices become slices of a volume, layers, or faces of a cubemap. Otherwise only the first of several results is
/// kept. `sampler` applies to all inputs; without it, each input has its default sampler. Throws the errors of the
/// kernel.
[[nodiscard]] KernelResult run_kernel(const KernelChoice& kernel,
                                      std::span<const std::shared_ptr<const Document>> inputs,
                                      const std::optional<Sampler>& sampler = {});

}  // namespace texton::viewer

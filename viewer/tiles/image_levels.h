#pragma once
#include <cstddef>
#include <filesystem>

#include <texton/image_file.h>
#include <texton/image_save.h>

#include "viewer/model/kernel_run.h"

namespace texton::tiles {

/// Returns the bytes of all levels of an image but level 0, which the temporary file of with_levels() takes.
[[nodiscard]] std::size_t bytes_of_levels(const ArrayInfo& image);

/// Returns level 0 of an image with the levels that the kernel mips computes from it. They are computed in this call, on
/// the CPU device, level by level and with about `memory` bytes. They have the same bits as if the image were in memory.
/// Until the last copy of the result is destroyed, they are in a temporary file in `folder`, which takes a third of the
/// image. `progress` gets the bytes of these levels.
///
/// Throws Error{unsupported} for formats that the kernel cannot write, Canceled if `progress` returns false, the errors of
/// KernelInStrips, and Error{io} if the temporary file cannot be written.
[[nodiscard]] ImageFile with_levels(const ImageFile& image, const verify::KernelRun& mips, std::size_t memory,
                                    const std::filesystem::path& folder, const OnImageProgress& progress = {});

}  // namespace texton::tiles

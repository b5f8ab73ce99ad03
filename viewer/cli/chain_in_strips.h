#pragma once
// The kernels of a command line, each of which computes its image in strips, from parts of the images before it.
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <texton/device.h>
#include <texton/image_file.h>

#include "viewer/cli/run_steps.h"
#include "viewer/model/json_object.h"
#include "viewer/tiles/computed_image.h"
#include "viewer/tiles/kernel_in_strips.h"

namespace texton::cli {

/// Throws Error{bad_argument} for what `texton run --memory` cannot compute.
[[noreturn]] void refuse_in_strips(std::string problem, std::string remedy);

class ChainInStrips {
public:
    /// Opens the files. `memory` is for each kernel, in bytes. With --timing, prints the rows of a strip of each kernel
    /// on standard error. The options and the steps must outlive the object.
    ///
    /// Throws Error{bad_argument} if a file stands for several files, or if the number of images is wrong. Throws the
    /// errors of tiles::KernelInStrips.
    ChainInStrips(const RunOptions& options, const RunSteps& steps, const Device& device, std::size_t memory);

    /// Returns the last kernel.
    tiles::KernelInStrips& last() noexcept { return *last_; }
    /// Returns the array of its image.
    const ArrayInfo& info() const noexcept { return info_; }
    /// Returns the files that are read as images.
    const std::vector<ImageFile>& files() const noexcept { return files_; }
    /// Describes everything that the texels depend on.
    verify::Json description() const;
    /// Returns the image, which computes its texels when they are read. Call this only once.
    ImageFile image() { return tiles::computed_image(std::move(last_), info_); }

private:
    std::unique_ptr<tiles::KernelInStrips> kernel(std::size_t index, ImageFile before);
    ArrayInfo info_of(const tiles::KernelInStrips& kernel, std::size_t index) const;
    void add_file(const std::filesystem::path& path, verify::KernelRun& run, std::vector<tiles::KernelInput>& inputs);

    const RunOptions& options_;
    const RunSteps& steps_;
    Device device_;
    std::size_t memory_;
    std::vector<ImageFile> files_;
    std::vector<std::filesystem::path> paths_;  // of the inputs
    std::unique_ptr<tiles::KernelInStrips> last_;
    ArrayInfo info_;
};

}  // namespace texton::cli

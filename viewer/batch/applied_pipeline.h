#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <texton/array.h>
#include <texton/device.h>
#include <texton/stream.h>

#include "viewer/model/pipeline.h"

namespace texton::batch {

/// A pipeline that is applied to many images on one device. The files of its other inputs are read once.
class AppliedPipeline {
public:
    /// Throws the errors of reading those files.
    AppliedPipeline(const Device& device, verify::Pipeline pipeline);

    /// What apply() is doing. It tells whether another attempt can help.
    enum class Phase { reading, computing, writing };

    /// Reads an image, runs all steps, and writes the images of each step that has a file in `outputs`, one path for each
    /// step. Folders are created. The files are complete, but the disk may store them later. Returns their paths.
    std::vector<std::filesystem::path> apply(const std::filesystem::path& input,
                                             std::span<const std::filesystem::path> outputs);
    /// Returns the phase in which apply() threw.
    Phase phase() const noexcept { return phase_; }

private:
    struct Step {
        verify::PipelineStep step;
        std::vector<Array> arrays{};          // of its files
        std::vector<std::size_t> samplers{};  // their indices, counted from the first file
    };

    void read_files(Step& step);
    void append(const ImageFile& image, std::vector<Array>& arrays) const;

    Device device_;
    Stream stream_;
    std::vector<Step> steps_;
    Phase phase_ = Phase::reading;
};

}  // namespace texton::batch

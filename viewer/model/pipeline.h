#pragma once
// Pipelines: kernels that are run one after the other, each on the images of the one before. A pipeline is written by
// hand, on a command line, or saved as a JSON file.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "viewer/model/kernel_run.h"

namespace texton::verify {

/// A kernel of a pipeline.
///
/// Its first inputs are the images that the step before wrote, or the image to which the pipeline is applied. `files`
/// are read for the inputs after them.
struct PipelineStep {
    KernelRun run;
    std::vector<std::filesystem::path> files{};
    std::vector<Json> samplers{};  ///< in the form that sampler_of() reads: none, one for all inputs, or one for each
    std::filesystem::path out{};   ///< file to which the images are written; empty: they are not written
};

/// The steps of a pipeline, in the order in which they are run.
using Pipeline = std::vector<PipelineStep>;

/// Throws Error{bad_argument} if a kernel has fewer inputs than files are given for, or if the numbers of samplers and
/// inputs differ.
void check(const Pipeline& pipeline);

/// Reads a pipeline from a JSON file: {"steps": [{"kernel", "parameters", "size", "format", "files", "sampler",
/// "out"}]}. Paths in the file are relative to its folder. No image file is read.
///
/// Throws Error{io} if the file cannot be read or is not valid JSON, Error{not_permitted} if it names a path outside of
/// its folder, unless `allow_outside` is set, and Error{bad_argument} for everything else that is wrong.
[[nodiscard]] Pipeline read_pipeline(const std::filesystem::path& path, bool allow_outside);
/// Returns the pipeline of a JSON text. `path` is that of its file, which is not read. Throws the same errors.
[[nodiscard]] Pipeline parse_pipeline(const std::string& text, const std::filesystem::path& path, bool allow_outside);
/// Writes a pipeline to a JSON file. Throws Error{io}.
void write_pipeline(const std::filesystem::path& path, const Pipeline& pipeline);

}  // namespace texton::verify

#pragma once
// The command line of `texton run`: kernels with their inputs and options, separated by --then.
#include <filesystem>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "viewer/cli/image_options.h"
#include "viewer/model/pipeline.h"

namespace texton::cli {

/// The options of `texton run` that do not belong to a kernel.
struct RunOptions {
    std::string kind;
    std::string device;
    ImageOptionText selection;  ///< part, channels and frame of the files
    std::filesystem::path save_pipeline;
    /// For images that are computed in parts. Empty: they are computed as a whole, or with a default size on all
    /// devices of a kind.
    std::string memory;
    double seconds = 60;  ///< a worker without a sign of life for this time is ended
    bool resume = false;
    bool mips = false;  ///< of an image that is computed in parts
    bool allow_outside = false;
    bool drop_alpha = false;
    bool list = false;
    bool help = false;
    bool json = false;
    bool timing = false;
};

/// The options of a step, as they were typed.
struct StepOptions {
    std::vector<std::string> files{};
    std::string out{};
    std::vector<std::string> parameters{};  ///< NAME=VALUE
    std::string size{};
    std::string format{};
    std::vector<std::string> samplers{};
};

/// The steps of a command line.
struct RunSteps {
    verify::Pipeline pipeline{};
    std::string input{};                 ///< file to which the pipeline is applied; empty if none is named
    const KernelInfo* helped = nullptr;  ///< kernel after whose name --help was given
};

/// Adds the options that can be given before and after the name of a kernel. The objects must outlive the parsing.
void add_run_options(CLI::App& command, RunOptions& options);
/// Adds the options of a step, without those that set the parameters of its kernel. Likewise.
void add_step_options(CLI::App& command, StepOptions& options);

/// Parses the words from the name of the first kernel on. `before` are the options in front of it: they apply to the
/// first step, but a file to write is that of the last step.
///
/// Instead of the name of a kernel, the first word can be the path of a pipeline, a .json file. Throws
/// Error{bad_argument} for words that are not valid, and the errors of read_pipeline().
[[nodiscard]] RunSteps parse_steps(const std::vector<std::string>& words, const StepOptions& before,
                                   RunOptions& options);

/// Parses all words of a command line after `texton run`, as the command does.
[[nodiscard]] RunSteps parse_run(const std::vector<std::string>& words, RunOptions& options);

}  // namespace texton::cli

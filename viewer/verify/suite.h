#pragma once
// Suites of regression tests. A JSON file lists kernels, their inputs and the tolerances of their results.
// tests/regress/README.md describes the format.
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "viewer/model/kernel_run.h"
#include "viewer/verify/pattern.h"

namespace texton::verify {

/// Limits for the difference of a result from its reference. All limits that are set must be met.
struct Tolerance {
    std::optional<std::uint32_t> ulp{};  ///< maximum ulp distance of any channel
    std::optional<double> max{};         ///< maximum absolute difference of any channel
    std::optional<double> mse{};         ///< maximum mean squared error
    std::optional<double> psnr{};        ///< minimum PSNR in dB
    std::optional<double> share{};       ///< maximum number of texels that differ, divided by the number of texels
};

/// An input of a case: image files or a pattern.
struct Input {
    /// Files that are read as one array.
    struct Files {
        std::vector<std::filesystem::path> paths;
        ImageOptions options;
    };
    /// A pattern, and the array that it fills.
    struct Made {
        Pattern pattern;
        ArrayInfo info;
    };
    std::variant<Files, Made> source;
    TextureRange range{};           ///< the part of the array that the texture reads
    Json sampler = Json::object();  ///< in the form that sampler_of() reads
    std::string where;              ///< position in the suite, for messages
};

/// A case: a kernel run, its inputs and the tolerance of its images.
struct Case {
    std::string name;
    std::vector<Input> inputs;
    KernelRun run;
    Tolerance tolerance;
};

/// A suite of cases.
struct Suite {
    std::string name;                               ///< name of the file without its extension
    std::filesystem::path references;               ///< folder of the references
    bool own_references = true;                     ///< the folder is named after the suite, so no other suite uses it
    std::optional<std::filesystem::path> within{};  ///< folder of all files and references; unset: they may be anywhere
    std::vector<Case> cases;                        ///< with a case for each combination of a matrix
};

/// Whether a suite may name files and a folder of references outside of its own folder. A symbolic link that leads out
/// of the folder counts as outside.
enum class Outside : std::uint8_t { refused, allowed };

/// Reads a suite. Image files are not read.
///
/// Throws Error{bad_argument}, with the case and the key, if a key is unknown or its value is invalid, or if the
/// matrices create more than 100,000 cases. Throws Error{not_permitted} if a file or the references are outside of the
/// folder of the suite and that is refused. Throws Error{io}, with the path, if the file cannot be read, is not a
/// regular file, is not valid JSON or larger than 16 MiB, or has two cases with the same reference file name.
[[nodiscard]] Suite read_suite(const std::filesystem::path& path, Outside outside = Outside::refused);

/// Returns a file name for a case: its name, with '_' for every character except letters, digits, '-' and '.'.
/// The name never denotes a folder: "." and ".." become "_" and "__".
[[nodiscard]] std::string file_name(const std::string& name_of_case);

}  // namespace texton::verify

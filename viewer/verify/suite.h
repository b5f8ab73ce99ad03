#pragma once
// A suite of regression tests: what a JSON file says that kernels are to make of which pictures.
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "viewer/model/kernel_run.h"
#include "viewer/verify/pattern.h"

namespace texton::verify {

/// How far a result may be from its reference. All that is given has to hold.
struct Tolerance {
    std::optional<std::uint32_t> ulp{};  ///< largest of any channel
    std::optional<double> max{};         ///< largest absolute difference
    std::optional<double> mse{};
    std::optional<double> psnr{};   ///< at least
    std::optional<double> share{};  ///< of texels that differ at all
};

/// Files, or a picture that is made.
struct Input {
    struct Files {
        std::vector<std::filesystem::path> paths;
        PictureOptions options;
    };
    struct Made {
        Pattern pattern;
        ArrayInfo info;
    };
    std::variant<Files, Made> source;
    TextureRange range{};
    Json sampler = Json::object();  ///< as for sampler_of()
    std::string where;              ///< for messages
};

struct Case {
    std::string name;
    std::vector<Input> inputs;
    KernelRun run;
    Tolerance tolerance;
};

struct Suite {
    std::string name;                  ///< the file's, without its ending
    std::filesystem::path references;  ///< a folder
    bool own_references = true;        ///< no other suite has any there, as the folder is named after this one
    std::vector<Case> cases;           ///< lists multiplied
};

/// Error{bad_argument} names the case and the key that is unknown or wrong; Error{io} a file that cannot be read or is no JSON.
[[nodiscard]] Suite read_suite(const std::filesystem::path& path);

/// A file's name for a case: what is not a letter, a digit, '-' or '.' is '_'.
[[nodiscard]] std::string file_name(const std::string& name_of_case);

}  // namespace texton::verify

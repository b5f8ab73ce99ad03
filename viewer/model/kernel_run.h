#pragma once
// Kernels, parameters and samplers as suites and command lines specify them.
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <texton/kernel.h>

#include "viewer/model/host_image.h"
#include "viewer/model/json_object.h"

namespace texton::verify {

/// The size of a result in texels, or in proportion to its standard size: the one that the kernel chooses.
struct ResultSize {
    Extent texels{};        ///< a side that is 0 keeps the proportions; depth 0 is the standard one
    double percent = 0;     ///< of the standard width and height; 0: `texels` is used
    bool is_limit = false;  ///< the largest size with the standard proportions that is neither larger than `texels`
                            ///< nor than the standard one

    Extent of(const Extent& standard) const;
    /// Returns true if the standard size does not change width and height.
    bool is_fixed() const noexcept { return percent == 0 && !is_limit && texels.width != 0 && texels.height != 0; }
    bool operator==(const ResultSize&) const = default;
};

/// Returns the size of a text like "640x480", "640x480x6", "640x", "x480", "50%" or "within:640x480". Throws
/// Error{bad_argument}.
[[nodiscard]] ResultSize result_size(std::string_view text, const std::string& where);
/// Returns such a text.
[[nodiscard]] std::string text_of(const ResultSize& size);

/// A kernel with its parameters, and optionally another size or format of the result than the kernel's default.
struct KernelRun {
    const Kernel* kernel = nullptr;                    ///< must not be null
    std::map<std::string, ParameterValue> parameters;  ///< values by name; other parameters have their defaults
    std::optional<ResultSize> size{};                  ///< size of a single result
    std::optional<Format> format{};                    ///< format of the results
};

/// Runs the kernel, waits and returns the results. Throws the errors of compute().
[[nodiscard]] std::vector<HostImage> run(const Device& device, const KernelRun& run, std::span<const Texture> inputs);

/// Returns the value of a parameter of a suite. Throws Error{bad_argument} if the JSON type is not supported.
[[nodiscard]] ParameterValue parameter_value(const KernelInfo& kernel, const std::string& name, const Json& value);
/// Returns the value of a parameter of a command line: "true", "0.5", "area" or "1,0,0". Throws Error{bad_argument} if
/// the text does not match the kind of the parameter.
[[nodiscard]] ParameterValue parameter_value(const KernelInfo& kernel, const std::string& name, std::string_view text);

/// Returns the parameters of texts "name=value". Throws Error{bad_argument} for a text without '=', and the errors of
/// parameter_value().
[[nodiscard]] std::map<std::string, ParameterValue> parameters_of(const KernelInfo& kernel,
                                                                  std::span<const std::string> argument);

/// Returns the default sampler of an array: point filters for integer formats and linear filters for others, with
/// normalized coordinates for arrays with levels and cubemaps.
[[nodiscard]] Sampler standard_sampler(const ArrayInfo& array, std::optional<Format> read_as = {});
/// Returns the sampler of a JSON object with members of Sampler. Other members have the values of standard_sampler(),
/// but address modes that repeat need normalized coordinates and select them. "address" is one mode or a list, "border"
/// is one number or four. Throws Error{bad_argument}.
[[nodiscard]] Sampler sampler_of(const Json& value, const std::string& where, const ArrayInfo& array,
                                 std::optional<Format> read_as = {});
/// Converts a text like "filter=point,address=wrap/clamp,border=0/0/0/1" to such an object. Throws Error{bad_argument}
/// for a part without '=' and for a key that is given twice.
[[nodiscard]] Json sampler_json(std::string_view text);

/// Returns the format with a name. `where` appears in the message. Throws Error{bad_argument} for an unknown name.
[[nodiscard]] Format format_of(const std::string& name, const std::string& where);
/// Returns the kind of array with a name. Throws Error{bad_argument} for an unknown name.
[[nodiscard]] ArrayKind kind_of(const std::string& name, const std::string& where);

/// Returns the extent of a text like "32x16" or "32x16x6". The depth is 0 if the text has none. Throws
/// Error{bad_argument}.
[[nodiscard]] Extent size_of(std::string_view text, const std::string& where);

}  // namespace texton::verify

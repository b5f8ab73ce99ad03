#pragma once
// A kernel by its name, as files and command lines ask for it.
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

/// A kernel with its parameters, and what is made otherwise than it proposes.
struct KernelRun {
    const Kernel* kernel = nullptr;
    std::map<std::string, ParameterValue> parameters;
    std::optional<Extent> size{};  ///< of the one picture that it makes; depth 0: as many slices as it proposes
    std::optional<Format> format{};
};

/// Runs it and waits. Throws what the kernel throws; Error{bad_argument} for a size where it makes several pictures.
[[nodiscard]] std::vector<HostPicture> run(const Device& device, const KernelRun& run, std::span<const Texture> inputs);

/// What a kernel's command line or suite says of a parameter. Error{bad_argument} names it.
[[nodiscard]] ParameterValue parameter_value(const KernelInfo& kernel, const std::string& name, const Json& value);
/// "true", "0.5", "area", or "1,0,0".
[[nodiscard]] ParameterValue parameter_value(const KernelInfo& kernel, const std::string& name, std::string_view text);

/// "name=value" of each. Error{bad_argument} for one without '='.
[[nodiscard]] std::map<std::string, ParameterValue> parameters_of(const KernelInfo& kernel,
                                                                  std::span<const std::string> words);

/// How an array is read where nothing is said: with linear filters, but integers by points; in texels, but levels, cubes and
/// addresses that repeat by shares.
[[nodiscard]] Sampler standard_sampler(const ArrayInfo& array, std::optional<Format> read_as = {});
/// An object with fields of Sampler, on top of the standard: "address" is one mode or a list, "border" a number or four.
[[nodiscard]] Sampler sampler_of(const Json& value, const std::string& where, const ArrayInfo& array,
                                 std::optional<Format> read_as = {});
/// "filter=point,address=wrap/clamp,border=0/0/0/1" as such an object.
[[nodiscard]] Json sampler_json(std::string_view text);

/// Error{bad_argument} for other names.
[[nodiscard]] Format format_of(const std::string& name, const std::string& where);
[[nodiscard]] ArrayKind kind_of(const std::string& name, const std::string& where);

/// "32x16" or "32x16x6" as an extent; depth 0 if it is not said. Error{bad_argument}.
[[nodiscard]] Extent size_of(std::string_view text, const std::string& where);

}  // namespace texton::verify

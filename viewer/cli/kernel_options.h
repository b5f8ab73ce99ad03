#pragma once
// Kernels on command lines: their descriptions, and their parameters as options.
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <texton/kernel.h>

namespace texton::cli {

/// Prints the names, inputs and summaries of all kernels.
void print_kernels(bool json);
/// Prints the inputs and the parameters of a kernel.
void print_kernel(const KernelInfo& kernel, bool json);

/// Returns the kernel with a name. Throws Error{bad_argument}, which names the nearest kernel, if there is none.
[[nodiscard]] const Kernel& kernel_typed(const std::string& name);
/// Returns the names of all kernels, separated by commas.
[[nodiscard]] std::string kernel_names();
/// Adds an option for each parameter: --domain-min or --domain_min for "domain_min". When the command line is parsed,
/// it adds NAME=VALUE to `texts`, which must outlive the parsing.
void add_parameters(CLI::App& command, const KernelInfo& kernel, std::vector<std::string>& texts);

}  // namespace texton::cli

#pragma once
// The part of the `texton` command line that both of its programs share: the launcher and texton-commands.
#include <string>

#include <CLI/CLI.hpp>

namespace texton::launcher {

/// Adds the name, the version, the footer of the help text, and all commands without their options.
void describe(CLI::App& program);

/// Returns "texton COMMAND" if the parsed command line names a command, else "texton". Every message begins with it.
[[nodiscard]] std::string typed_command(const CLI::App& program);

}  // namespace texton::launcher

#pragma once
// The command line of `texton` as far as both of its programs know it: the launcher, and texton-commands.
#include <string>

#include <CLI/CLI.hpp>

namespace texton::launcher {

/// Adds the name, the version, the closing lines of the help text, and all commands without their options.
void describe(CLI::App& program);

/// "texton COMMAND" once a command was read from the command line, else "texton": begins every message.
[[nodiscard]] std::string typed_command(const CLI::App& program);

}  // namespace texton::launcher

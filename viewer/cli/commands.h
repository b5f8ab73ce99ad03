#pragma once
// The commands of `texton`, one file each. add_NAME() adds the options of a command and what it does, which sets the exit status.
#include <CLI/CLI.hpp>

namespace texton::cli {

/// What `texton` returns to the shell.
enum class Status : int {
    good = 0,
    different = 1,  ///< it ran, and something was not as it should be
    failed = 2      ///< a wrong option, a file that cannot be read, a device that is not there
};

/// Refuses numbers below `least`.
[[nodiscard]] CLI::Validator at_least(int least);

void add_bench(CLI::App* command, Status& status);
void add_capture(CLI::App* command, Status& status);
void add_compare(CLI::App* command, Status& status);
void add_completion(CLI::App* command, Status& status);
void add_convert(CLI::App* command, Status& status);
void add_devices(CLI::App* command, Status& status);
void add_info(CLI::App* command, Status& status);
void add_mips(CLI::App* command, Status& status);
void add_replay(CLI::App* command, Status& status);
void add_run(CLI::App* command, Status& status);
void add_verify(CLI::App* command, Status& status);

}  // namespace texton::cli

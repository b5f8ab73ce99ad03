#pragma once
// The commands of `texton`, one source file each. add_NAME() adds the options, the help text and the callback of a
// command. The callback runs the command and sets `status`, which must outlive the parsing of the command line.
#include <CLI/CLI.hpp>

namespace texton::cli {

/// Exit status of `texton`.
enum class Status : int {
    good = 0,       ///< success
    different = 1,  ///< the command ran, and found a difference or a limit that is not met
    failed = 2      ///< a wrong option, a file that cannot be read or written, or a device that does not exist
};

/// Returns a validator that refuses text that is not a number of at least `minimum`.
[[nodiscard]] CLI::Validator at_least(int minimum);

void add_approve(CLI::App* command, Status& status);
void add_batch(CLI::App* command, Status& status);
void add_bench(CLI::App* command, Status& status);
void add_record(CLI::App* command, Status& status);
void add_compare(CLI::App* command, Status& status);
void add_completion(CLI::App* command, Status& status);
void add_convert(CLI::App* command, Status& status);
void add_devices(CLI::App* command, Status& status);
void add_info(CLI::App* command, Status& status);
void add_mips(CLI::App* command, Status& status);
void add_replay(CLI::App* command, Status& status);
void add_run(CLI::App* command, Status& status);
void add_stats(CLI::App* command, Status& status);
void add_verify(CLI::App* command, Status& status);

}  // namespace texton::cli

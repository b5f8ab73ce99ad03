// The program texton-commands: all commands of texton except `view`. The launcher, texton, replaces itself by this
// program.
#include <fcntl.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "arrays/files/isolated/protocol.h"
#include "arrays/files/isolated/spawn_helper.h"
#include "arrays/files/reader/forked_helper.h"
#include "core/nearest_name.h"
#include "viewer/batch/worker.h"
#include "viewer/batch/worker_process.h"
#include "viewer/cli/commands.h"
#include "viewer/cli/parse_problem.h"
#include "viewer/cli/progress.h"
#include "viewer/cli/strip_worker.h"
#include "viewer/cli/terminal.h"
#include "viewer/launcher/command_line.h"
#include "viewer/launcher/command_names.h"
#include "viewer/model/end_on_signals.h"
#include "viewer/model/reading_options.h"
#include "viewer/text/error_text.h"

namespace {

namespace cli = texton::cli;

struct Command {
    std::string_view name;
    void (*add)(CLI::App* command, cli::Status& status);
    bool shows_progress = true;
};

constexpr std::array kCommands{
    Command{"approve", cli::add_approve, false},
    Command{"batch", cli::add_batch},
    Command{"bench", cli::add_bench},
    Command{"compare", cli::add_compare},
    Command{"completion", cli::add_completion, false},
    Command{"convert", cli::add_convert},
    Command{"devices", cli::add_devices, false},
    Command{"info", cli::add_info},
    Command{"mips", cli::add_mips},
    Command{"record", cli::add_record},
    Command{"replay", cli::add_replay},
    Command{"run", cli::add_run},
    Command{"stats", cli::add_stats},
    Command{"verify", cli::add_verify},
};

constexpr bool is_here(const texton::launcher::CommandName& listed) {
    return std::any_of(kCommands.begin(), kCommands.end(),
                       [&](const Command& command) { return command.name == listed.name; });
}
static_assert(std::all_of(texton::launcher::kCommandNames.begin(), texton::launcher::kCommandNames.end(),
                          [](const auto& listed) {
                              return is_here(listed) || listed.name == std::string_view("view");
                          }),
              "kCommands lacks a command of viewer/launcher/command_names.h");

// Returns a question about the first argument that the command does not have, or an empty string.
std::string probable_option(const CLI::App& program) {
    const auto commands = program.get_subcommands();
    if (commands.empty()) return {};
    const std::vector<std::string> left = commands.front()->remaining();
    if (left.empty() || !left.front().starts_with("--")) return {};
    std::vector<std::string> names;
    for (const CLI::Option* option : commands.front()->get_options()) {
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    return texton::detail::did_you_mean(left.front(), names);
}

// Runs the command. Returns the exit status. If standard output cannot be written, it sets `output_failure` to errno.
int run(CLI::App& program, int argc, char** argv, int& output_failure) {
    cli::Status status = cli::Status::good;
    const auto refuse = [&program](const std::string& problem) {
        std::cerr << texton::launcher::typed_command(program) << ": " << problem << '\n';
        return static_cast<int>(cli::Status::failed);
    };
    try {
        texton::launcher::describe(program);
        for (const Command& command : kCommands) {
            CLI::App* const added = program.get_subcommand(std::string(command.name));
            command.add(added, status);
            if (command.shows_progress) cli::add_progress_options(*added);
            if (texton::launcher::reads_images(command.name)) texton::viewer::add_reading_options(*added);
        }
        program.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return program.exit(error);  // --help, --version
        return refuse(cli::problem_of(error) + "." + probable_option(program) + " Run `" +
                      texton::launcher::typed_command(program) + " --help` for more information.");
    } catch (const std::system_error& error) {
        if (std::ferror(stdout) == 0) return refuse(texton::viewer::error_text(error));
        output_failure = error.code().value();
    } catch (const std::exception& error) {
        return refuse(texton::viewer::error_text(error));
    } catch (...) {
        return refuse("an unknown error occurred.");
    }
    return static_cast<int>(status);
}

// Returns whether the command reads image files in another process.
bool needs_reader(const std::vector<std::string_view>& arguments) {
    constexpr std::string_view kWithoutReader[] = {"--in-process", "--help", "-h", "--list", "--version"};
    if (arguments.size() < 3) return false;  // the command lacks its files
    if (!texton::launcher::reads_images(arguments[1])) return false;
    return std::ranges::find_first_of(arguments, kWithoutReader) == arguments.end();
}

// Opens standard descriptors that are closed, so that no other file gets their numbers. Output to them still fails.
void fill_standard_descriptors() {
    for (int descriptor = 0; descriptor < 3; ++descriptor) {
        if (::fcntl(descriptor, F_GETFD) < 0) (void)::open("/dev/null", O_RDONLY);
    }
}

}  // namespace

int main(int argc, char** argv) {
    fill_standard_descriptors();
    if (needs_reader({argv, argv + argc})) texton::reader::fork_helper();  // before this process starts threads
    texton::viewer::end_on_signals();
    if (argc == 2 && std::string_view(argv[1]) == texton::detail::kWorkerArgument)
        return texton::batch::run_worker(texton::detail::kControlDescriptor);
    if (argc == 2 && std::string_view(argv[1]) == texton::batch::kStripWorkerArgument)
        return cli::run_strip_worker(texton::detail::kControlDescriptor);
    std::signal(SIGPIPE, SIG_IGN);  // writing to a closed pipe fails instead, so that unfinished files are removed
    CLI::App program;
    int output_failure = 0;
    const int status = run(program, argc, argv, output_failure);
    const bool is_complete = cli::flush_output(texton::launcher::typed_command(program), output_failure);
    return is_complete ? status : static_cast<int>(cli::Status::failed);
}

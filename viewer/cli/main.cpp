// The program texton-commands: all commands of texton except `view`. The launcher, texton, replaces itself by this
// program.
#include <algorithm>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

#include "viewer/cli/commands.h"
#include "viewer/launcher/command_line.h"
#include "viewer/launcher/command_names.h"
#include "viewer/text/error_text.h"

namespace {

namespace cli = texton::cli;

struct Command {
    std::string_view name;
    void (*add)(CLI::App* command, cli::Status& status);
};

constexpr std::array kCommands{
    Command{"bench", cli::add_bench},
    Command{"compare", cli::add_compare},
    Command{"completion", cli::add_completion},
    Command{"convert", cli::add_convert},
    Command{"devices", cli::add_devices},
    Command{"info", cli::add_info},
    Command{"mips", cli::add_mips},
    Command{"record", cli::add_record},
    Command{"replay", cli::add_replay},
    Command{"run", cli::add_run},
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

}  // namespace

int main(int argc, char** argv) {
    CLI::App program;
    texton::launcher::describe(program);
    cli::Status status = cli::Status::good;
    for (const Command& command : kCommands) command.add(program.get_subcommand(std::string(command.name)), status);
    const auto refuse = [&program](const std::string& problem) {
        std::cerr << texton::launcher::typed_command(program) << ": " << problem << '\n';
        return static_cast<int>(cli::Status::failed);
    };
    try {
        program.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return program.exit(error);  // --help, --version
        std::string problem = error.what();
        problem.erase(problem.find_last_not_of(" .\n") + 1);
        return refuse(problem + ". Run `" + texton::launcher::typed_command(program) +
                      " --help` for more information.");
    } catch (const std::exception& error) {
        return refuse(texton::viewer::error_text(error));
    }
    return static_cast<int>(status);
}

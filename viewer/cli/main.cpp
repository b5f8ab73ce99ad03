#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "viewer/cli/commands.h"
#include "viewer/text/error_text.h"

namespace {

// In one line: the command as it was typed, what is wrong with it, and what says more.
std::string refusal(const std::string& typed, bool command_is_known, const CLI::ParseError& error, const char* first) {
    if (command_is_known) {
        std::string what = error.what();
        what.erase(what.find_last_not_of(" .\n") + 1);
        return typed + ": " + what + ". `" + typed + " --help` says more.";
    }
    if (first == nullptr) return "texton: no command was given. `texton --help` lists them.";
    return std::string("texton: there is no ") + (first[0] == '-' ? "option '" : "command '") + first +
           "'. `texton --help` lists them.";
}

}  // namespace

int main(int argc, char** argv) {
    using texton::cli::Status;
    CLI::App program("Images that live where a GPU samples them.", "texton");
    program.set_version_flag("--version", "texton " TEXTON_VERSION);
    program.require_subcommand(1);
    program.footer(
        "`texton COMMAND --help` says more of each.\n"
        "Exit status: 0 if all is well; 1 if something differs from what it should be; 2 for a wrong option, a\n"
        "file that cannot be read or written, or a device that is not there.");
    Status status = Status::good;
    texton::cli::add_bench(program, status);
    texton::cli::add_capture(program, status);
    texton::cli::add_compare(program, status);
    texton::cli::add_completion(program, status);
    texton::cli::add_convert(program, status);
    texton::cli::add_devices(program, status);
    texton::cli::add_info(program, status);
    texton::cli::add_mips(program, status);
    texton::cli::add_replay(program, status);
    texton::cli::add_run(program, status);
    texton::cli::add_verify(program, status);
    texton::cli::add_view(program, status);
    const auto typed = [&program] {
        const std::vector<CLI::App*> commands = program.get_subcommands();
        return commands.empty() ? std::string("texton") : "texton " + commands.front()->get_name();
    };
    try {
        program.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return program.exit(error);  // --help, --version
        std::cerr << refusal(typed(), !program.get_subcommands().empty(), error, argc > 1 ? argv[1] : nullptr) << '\n';
        return static_cast<int>(Status::failed);
    } catch (const std::exception& error) {
        std::cerr << typed() << ": " << texton::viewer::error_words(error) << '\n';
        return static_cast<int>(Status::failed);
    }
    return static_cast<int>(status);
}

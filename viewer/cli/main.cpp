#include <algorithm>
#include <exception>
#include <iostream>

#include "viewer/cli/commands.h"

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
    try {
        program.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const auto is_named = [&](const CLI::App* command) { return command->get_name() == argv[1]; };
        if (argc > 1 && argv[1][0] != '-' && std::ranges::none_of(program.get_subcommands({}), is_named)) {
            std::cerr << "texton: there is no command '" << argv[1] << "'. `texton --help` lists them.\n";
            return static_cast<int>(Status::failed);
        }
        return program.exit(error) == 0 ? 0 : static_cast<int>(Status::failed);
    } catch (const std::exception& error) {
        std::cerr << "texton: " << error.what() << '\n';
        return static_cast<int>(Status::failed);
    }
    return static_cast<int>(status);
}

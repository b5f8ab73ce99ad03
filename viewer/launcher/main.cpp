// The program texton. It prints the general help and the version itself. For a command it replaces itself, with exec(),
// by the program that implements the command: texton-view for `view`, texton-commands for all others. Loading the 250
// libraries of OpenImageIO takes a quarter of a second of processor time. This program links none of them, so it starts
// quickly.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>
#include <vector>

#include "viewer/launcher/command_line.h"

namespace {

namespace fs = std::filesystem;

constexpr int kFailed = 2;  // exit status; the same as texton::cli::Status::failed

// Returns the folder of this program, or an empty path if /proc cannot be read.
fs::path own_folder() {
    std::error_code unreadable;
    return fs::read_symlink("/proc/self/exe", unreadable).parent_path();
}

// Replaces this process by `program`. A name without a slash is looked up on PATH. Returns only on failure, with errno
// set.
void become(const std::string& program, std::vector<std::string> arguments) {
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    execvp(program.c_str(), pointers.data());
}

int start_view(std::vector<std::string> arguments) {
    std::error_code unreadable;
    const fs::path beside = own_folder() / "texton-view";
    const std::string program = fs::exists(beside, unreadable) ? beside.string() : "texton-view";
    arguments.insert(arguments.begin(), program);
    become(program, arguments);
    std::cerr << "texton view: " << program << " could not be started: " << std::strerror(errno)
              << ". Install it beside this program, or put its folder on PATH.\n";
    return kFailed;
}

int start_commands(const std::vector<std::string>& arguments) {
    // texton-commands is beside this program in a build tree and where both were copied to one folder. In an
    // installation it is in TEXTON_LIBEXEC, a path relative to this program.
    const fs::path folder = own_folder();
    const fs::path beside = folder / "texton-commands";
    const fs::path installed = (folder / TEXTON_LIBEXEC / "texton-commands").lexically_normal();
    for (const fs::path& program : {beside, installed}) {
        become(program.string(), arguments);
        if (errno == ENOENT) continue;
        std::cerr << "texton: " << program.string() << " could not be started: " << std::strerror(errno)
                  << ". Install Texton again.\n";
        return kFailed;
    }
    std::cerr << "texton: texton-commands was found neither at " << beside.string() << " nor at " << installed.string()
              << ". Install Texton again, or copy texton-commands beside texton.\n";
    return kFailed;
}

int run(int argc, char** argv) {
    CLI::App program;
    texton::launcher::describe(program);
    for (CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
        command->set_help_flag();
        command->prefix_command();  // the program that implements the command knows its options
    }
    const std::vector<std::string> typed(argv, argv + argc);
    try {
        program.parse(argc, argv);
        if (program.got_subcommand("view")) return start_view(program.get_subcommand("view")->remaining());
    } catch (const CLI::ParseError& error) {
        if (program.get_subcommands().empty()) {
            if (error.get_exit_code() == 0) {
                const int status = program.exit(error);  // --help, --version
                if (std::cout.flush()) return status;
                std::cerr << "texton: standard output could not be written.\n";
                return kFailed;
            }
            if (argc < 2) {
                std::cerr << "texton: no command was given. Run `texton --help` for a list of commands.\n";
            } else {
                std::cerr << "texton: unknown " << (argv[1][0] == '-' ? "option" : "command") << " '" << argv[1]
                          << "'. Run `texton --help` for a list of options and commands.\n";
            }
            return kFailed;
        }
    }
    return start_commands(typed);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::cerr << "texton: " << error.what() << '\n';
        return kFailed;
    }
}

// The program texton. It answers what concerns no single command, and becomes the program that has the command: texton-view for
// `view`, texton-commands for all others. Loading OpenImageIO's 250 libraries takes a quarter of a second of processor time; this
// program links none of them.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>
#include <vector>

#include "viewer/launcher/command_line.h"

namespace {

namespace fs = std::filesystem;

constexpr int kFailed = 2;  // exit status, as texton::cli::Status::failed

// The folder of this program; empty if /proc does not say it.
fs::path own_folder() {
    std::error_code unreadable;
    return fs::read_symlink("/proc/self/exe", unreadable).parent_path();
}

// Becomes `program`, looked for on PATH if it is a bare name. Returns only if that failed, with errno set.
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
    // Beside this program in a build tree and where both were copied to; TEXTON_LIBEXEC leads there from an installed one.
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
    std::cerr << "texton: its program texton-commands is neither " << beside.string() << " nor " << installed.string()
              << ". Install Texton again, or copy texton-commands beside texton.\n";
    return kFailed;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App program;
    texton::launcher::describe(program);
    for (CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
        command->set_help_flag();
        command->prefix_command();  // its options are known to the program that has it
    }
    const std::vector<std::string> typed(argv, argv + argc);
    try {
        program.parse(argc, argv);
        if (program.got_subcommand("view")) return start_view(program.get_subcommand("view")->remaining());
    } catch (const CLI::ParseError& error) {
        if (program.get_subcommands().empty()) {
            if (error.get_exit_code() == 0) return program.exit(error);  // --help, --version
            if (argc < 2) {
                std::cerr << "texton: no command was given. `texton --help` lists them.\n";
            } else {
                std::cerr << "texton: there is no " << (argv[1][0] == '-' ? "option" : "command") << " '" << argv[1]
                          << "'. `texton --help` lists them.\n";
            }
            return kFailed;
        }
    }
    return start_commands(typed);
}

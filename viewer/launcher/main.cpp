// The program texton. It prints the general help and the version itself. For a command it replaces itself, with exec(),
// by the program that implements the command: texton-view for `view`, texton-commands for all others. Loading the 250
// libraries of OpenImageIO takes a quarter of a second of processor time. This program links none of them, so it starts
// quickly.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "arrays/files/isolated/spawn_helper.h"
#include "core/nearest_name.h"
#include "viewer/launcher/command_line.h"
#include "viewer/launcher/command_names.h"

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

// Returns whether the command computes a batch, which needs workers.
bool needs_worker(const std::vector<std::string>& arguments) {
    constexpr std::string_view kWithoutWorker[] = {"--help", "-h", "--dry-run", "--slurm"};
    return arguments.size() > 3 && arguments[1] == "batch" &&
           std::ranges::find_first_of(arguments, kWithoutWorker) == arguments.end();
}

// Starts the worker of a batch that the program that replaces this one will use, so that both load their libraries at the
// same time. Without it, that program starts it itself.
void start_worker(const fs::path& folder) {
    std::string program = (folder / "texton-commands").string();
    if (const char* const other = std::getenv("TEXTON_WORKER"); other != nullptr && *other != '\0') program = other;
    constexpr int kFirst = 10;  // above the descriptors that the program gets
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return;
    const int ours = ::fcntl(ends[0], F_DUPFD, kFirst);  // stays open in the program that replaces this one
    const int theirs = ::fcntl(ends[1], F_DUPFD_CLOEXEC, kFirst);
    pid_t process = -1;
    const bool started =
        ours >= 0 && theirs >= 0 &&
        texton::detail::spawn_helper(program.c_str(), theirs, process, texton::detail::kWorkerArgument) == 0;
    for (const int end : {ends[0], ends[1], theirs, started ? -1 : ours}) {
        if (end >= 0) ::close(end);
    }
    if (!started) return;
    const std::string text = std::to_string(::getpid()) + ":" + std::to_string(process) + ":" + std::to_string(ours);
    ::setenv(texton::detail::kStartedWorker, (text + ":" + program).c_str(), 1);
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
        if (::access(program.c_str(), X_OK) == 0 && needs_worker(arguments)) start_worker(program.parent_path());
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
                std::vector<std::string_view> names;
                for (const texton::launcher::CommandName& command : texton::launcher::kCommandNames)
                    names.push_back(command.name);
                std::cerr << "texton: unknown " << (argv[1][0] == '-' ? "option" : "command") << " '" << argv[1] << "'."
                          << texton::detail::did_you_mean(argv[1], names)
                          << " Run `texton --help` for a list of options and commands."
                          << (argv[1][0] == '-' ? "" : " Kernels are run by `texton run KERNEL`.") << '\n';
            }
            return kFailed;
        }
    }
    return start_commands(typed);
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<char*> arguments(argv, argv + argc);
    // `texton help COMMAND` is `texton COMMAND --help`. An unknown command is refused instead.
    static char help[] = "--help";
    if (argc > 1 && std::string_view(argv[1]) == "help") {
        const auto is_asked = [&](const texton::launcher::CommandName& command) {
            return std::string_view(argv[2]) == command.name;
        };
        const bool is_known = argc == 2 || std::ranges::any_of(texton::launcher::kCommandNames, is_asked);
        arguments.erase(arguments.begin() + 1);
        if (is_known) arguments.push_back(help);
    }
    const int count = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    try {
        return run(count, arguments.data());
    } catch (const std::exception& error) {
        std::cerr << "texton: " << error.what() << '\n';
        return kFailed;
    }
}

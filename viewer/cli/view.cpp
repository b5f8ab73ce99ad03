// `texton view`: the viewer, found beside this program or on PATH.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include <texton/error.h>

#include "viewer/cli/commands.h"

namespace texton::cli {
namespace {

constexpr const char* kViewer = "texton-view";

[[noreturn]] void become_viewer(const std::vector<std::string>& words) {
    std::error_code unreadable;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", unreadable);
    const std::filesystem::path beside = self.parent_path() / kViewer;
    std::string program = !unreadable && std::filesystem::exists(beside) ? beside.string() : kViewer;
    std::vector<std::string> kept = words;
    std::vector<char*> arguments{program.data()};
    for (std::string& word : kept) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execvp(program.c_str(), arguments.data());
    throw Error({.code = ErrorCode::io,
                 .object = "texton view",
                 .problem = fmt::format("{} could not be started: {}", program, std::strerror(errno)),
                 .remedy = "Install it beside this program, or put its folder on PATH."});
}

}  // namespace

void add_view(CLI::App& program, Status&) {
    CLI::App* command = program.add_subcommand("view", "Opens the viewer");
    command->set_help_flag();  // the viewer's own
    command->prefix_command();
    command->footer("All that follows is the viewer's: `texton view --help` shows what it takes.");
    command->callback([command] { become_viewer(command->remaining()); });
}

}  // namespace texton::cli

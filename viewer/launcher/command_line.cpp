#include "viewer/launcher/command_line.h"

#include "viewer/launcher/command_names.h"

namespace texton::launcher {

void describe(CLI::App& program) {
    program.name("texton");
    program.description("Images that live where a GPU samples them.");
    program.set_version_flag("--version", "texton " TEXTON_VERSION);
    program.require_subcommand(1);
    program.footer(
        "`texton COMMAND --help` says more of each.\n"
        "Exit status: 0 if all is well; 1 if something differs from what it should be; 2 for a wrong option, a\n"
        "file that cannot be read or written, or a device that is not there.");
    for (const CommandName& command : kCommandNames) program.add_subcommand(command.name, command.summary);
    CLI::App* view = program.get_subcommand("view");
    view->set_help_flag();  // the viewer's own
    view->prefix_command();
    view->footer("All that follows is the viewer's: `texton view --help` shows what it takes.");
}

std::string typed_command(const CLI::App& program) {
    const auto commands = program.get_subcommands();
    return commands.empty() ? "texton" : "texton " + commands.front()->get_name();
}

}  // namespace texton::launcher

#include "viewer/launcher/command_line.h"

#include "viewer/launcher/command_names.h"

namespace texton::launcher {

void describe(CLI::App& program) {
    program.name("texton");
    program.description("Inspects, converts and compares images, and runs sampling kernels on GPUs and CPUs.");
    program.set_version_flag("--version", "texton " TEXTON_VERSION);
    program.require_subcommand(1);
    program.footer(
        "Run `texton COMMAND --help` or `texton help COMMAND` for the options, examples and exit status of a command.\n"
        "\n"
        "Exit status:\n"
        "  0  success\n"
        "  1  the command ran, and found a difference or a limit that is not met\n"
        "  2  an error: a wrong option, a file that cannot be read or written, or a device that does not exist");
    for (const CommandName& command : kCommandNames) program.add_subcommand(command.name, command.summary);
    CLI::App* view = program.get_subcommand("view");
    view->set_help_flag();  // texton-view has its own
    view->prefix_command();
    view->footer("All further arguments are passed to texton-view. `texton view --help` prints its options.");
}

std::string typed_command(const CLI::App& program) {
    const auto commands = program.get_subcommands();
    return commands.empty() ? "texton" : "texton " + commands.front()->get_name();
}

}  // namespace texton::launcher

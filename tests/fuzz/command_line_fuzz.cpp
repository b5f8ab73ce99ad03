// Command lines of texton. The input contains one argument a line: a command and its arguments, options that open an
// image, or the kernels of `texton run`. The command line is parsed, but no command runs.
#include <algorithm>

#include <CLI/CLI.hpp>

#include "tests/fuzz/fuzz.h"
#include "viewer/cli/commands.h"
#include "viewer/cli/image_options.h"
#include "viewer/cli/run_steps.h"
#include "viewer/launcher/command_line.h"

using namespace texton;

namespace {

constexpr std::pair<std::string_view, void (*)(CLI::App*, cli::Status&)> kCommands[] = {
    {"approve", cli::add_approve}, {"bench", cli::add_bench},
    {"compare", cli::add_compare}, {"completion", cli::add_completion},
    {"convert", cli::add_convert}, {"devices", cli::add_devices},
    {"info", cli::add_info},       {"mips", cli::add_mips},
    {"record", cli::add_record},   {"replay", cli::add_replay},
    {"run", cli::add_run},         {"stats", cli::add_stats},
    {"verify", cli::add_verify}};

// A program that stops after all arguments were parsed and checked, before the callbacks of its commands.
class Program : public CLI::App {
public:
    // Returns false if CLI11 refuses the command line.
    bool accepts(std::vector<std::string> arguments) {
        std::ranges::reverse(arguments);  // as CLI11 expects them
        try {
            parse(std::move(arguments));
        } catch (const Parsed&) {
            return true;
        } catch (const CLI::Error& error) {
            fuzz::require(error.what() != nullptr, "a refusal has a message");
        }
        return false;
    }

private:
    struct Parsed {};
    void pre_callback() override { throw Parsed{}; }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size > 4096) return 0;
    const std::vector<std::string> arguments = fuzz::split(fuzz::text_of({data, size}), '\n');
    const std::string_view first = arguments.front();
    const auto named = [first](const auto& command) { return command.first == first; };
    if (const auto command = std::ranges::find_if(kCommands, named); command != std::end(kCommands)) {
        Program program;
        launcher::describe(program);
        auto status = cli::Status::good;
        command->second(program.get_subcommand(arguments.front()), status);  // the others have no part in it
        (void)program.accepts(arguments);
        (void)launcher::typed_command(program);
    } else if (first.starts_with('-')) {
        Program program;
        cli::ImageOptionText options;
        options.add_to(program);
        if (program.accepts(arguments)) (void)fuzz::accepted([&] { return options.options(); });
    } else if (!first.ends_with(".json")) {
        cli::RunOptions run;
        (void)fuzz::accepted([&] { return cli::parse_steps(arguments, {}, run); });
    }
    return 0;
}

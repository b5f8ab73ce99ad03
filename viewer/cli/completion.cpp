// Completion scripts for shells. They are generated from the commands and options that CLI11 knows.
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "viewer/cli/commands.h"
#include "viewer/cli/kernel_options.h"

namespace texton::cli {
namespace {

// A command or an option.
struct Word {
    std::string name;  // --json, or compare
    std::string description;
    bool takes_value = false;
    std::vector<std::string> choices;  // of the value; empty if any value is accepted
};

struct Command {
    Word word;
    std::vector<Word> options;
    std::vector<std::string> choices;  // of the first positional argument
};

// Returns the choices of an option's value. CLI11 includes them in the type name: `TEXT:{a,b}`.
std::vector<std::string> choices_of(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    const std::size_t open = type.find('{'), close = type.rfind('}');
    if (open == std::string::npos || close == std::string::npos) return {};
    return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

Command described(const CLI::App& app) {
    Command out{{app.get_name(), app.get_description(), false, {}}, {}, {}};
    for (const CLI::Option* option : app.get_options()) {
        if (option->nonpositional()) {
            for (const std::string& name : option->get_lnames()) {
                out.options.push_back({"--" + name, option->get_description(), option->get_items_expected_max() > 0,
                                       choices_of(*option)});
            }
        } else if (out.choices.empty()) {
            out.choices = choices_of(*option);
        }
    }
    // CLI11 does not know the kernels, after whose names `run` parses the options.
    if (app.get_name() == "run") out.choices = CLI::detail::split(kernel_names(), ',');
    return out;
}

std::vector<Command> commands_of(const CLI::App& program) {
    std::vector<Command> out;
    for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
        out.push_back(described(*command));
    return out;
}

std::string names(const std::vector<Word>& text) {
    std::string out;
    for (const Word& word : text) out += (out.empty() ? "" : " ") + word.name;
    return out;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
    return CLI::detail::find_and_replace(std::move(text), what, with);
}

// Returns text in single quotes, with the quotes inside escaped.
std::string in_quotes(const std::string& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

std::string bash_script(const Command& program, const std::vector<Command>& commands) {
    std::string by_command, by_value, all;
    for (const Command& command : commands) {
        const std::string& name = command.word.name;
        all += name + " ";
        by_command += fmt::format("        {}) options='{}' words='{}' ;;\n", name, names(command.options),
                                  fmt::join(command.choices, " "));
        for (const Word& option : command.options) {
            if (!option.takes_value) continue;
            by_value += fmt::format("        '{} {}') COMPREPLY=($(compgen -W '{}' -- \"$word\")); return ;;\n", name,
                                    option.name, fmt::join(option.choices, " "));
        }
    }
    by_value = replaced(by_value, "COMPREPLY=($(compgen -W '' -- \"$word\")); return", "return");
    return fmt::format(
        R"(# bash completion of texton: source <(texton completion bash)
_texton() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} command='' options words i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; ++i)); do
        if [[ ${{COMP_WORDS[i]}} != -* ]]; then
            command=${{COMP_WORDS[i]}}
            break
        fi
    done
    case $command in
        '') options='{}' words='{}' ;;
{}        *) return ;;
    esac
    case "$command $before" in
{}    esac
    [[ $word == -* ]] && words=$options
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _texton texton
)",
        names(program.options), all, by_command, by_value);
}

// Returns a specification for _arguments. Brackets and colons are escaped, because they are syntax there.
std::string zsh_option(const Word& option) {
    std::string text = option.description;
    for (const char* special : {"[", "]", ":"}) text = replaced(text, special, std::string("\\") + special);
    std::string out = fmt::format("*{}[{}]", option.name, text);
    if (option.takes_value) {
        out += option.choices.empty() ? ":value:_files" : fmt::format(":value:({})", fmt::join(option.choices, " "));
    }
    return in_quotes(out);
}

std::string zsh_script(const Command& program, const std::vector<Command>& commands) {
    std::string list, cases, options;
    for (const Word& option : program.options) options += " \\\n        " + zsh_option(option);
    for (const Command& command : commands) {
        list += "        " + in_quotes(command.word.name + ":" + replaced(command.word.description, ":", "\\:")) + "\n";
        cases += fmt::format("                {}) _arguments", command.word.name);
        for (const Word& option : command.options) cases += " \\\n                    " + zsh_option(option);
        const std::string argument =
            command.choices.empty() ? "*:file:_files" : fmt::format("1:choice:({})", fmt::join(command.choices, " "));
        cases += fmt::format(" \\\n                    {} ;;\n", in_quotes(argument));
    }
    return fmt::format(
        R"(#compdef texton
# zsh completion of texton: texton completion zsh >FOLDER_OF_FPATH/_texton
_texton() {{
    local state
    local -a commands=(
{}    )
    _arguments -C{} \
        '1:command:->command' '*::argument:->argument'
    case $state in
        command) _describe command commands ;;
        argument)
            case $words[1] in
{}            esac ;;
    esac
}}
if [[ $funcstack[1] == _texton ]]; then _texton "$@"; else compdef _texton texton; fi
)",
        list, options, cases);
}

std::string fish_option(const std::string& condition, const Word& option) {
    std::string out = fmt::format("complete -c texton -n {} -l {} -d {}", in_quotes(condition), option.name.substr(2),
                                  in_quotes(option.description));
    if (option.takes_value) out += " -r";
    if (!option.choices.empty()) out += fmt::format(" -f -a '{}'", fmt::join(option.choices, " "));
    return out + "\n";
}

std::string fish_script(const Command& program, const std::vector<Command>& commands) {
    std::string out = "# fish completion of texton: texton completion fish | source\n";
    for (const Word& option : program.options) out += fish_option("__fish_use_subcommand", option);
    for (const Command& command : commands) {
        const std::string& name = command.word.name;
        const std::string condition = "__fish_seen_subcommand_from " + name;
        out += fmt::format("complete -c texton -f -n '__fish_use_subcommand' -a {} -d {}\n", name,
                           in_quotes(command.word.description));
        for (const Word& option : command.options) out += fish_option(condition, option);
        if (!command.choices.empty())
            out += fmt::format("complete -c texton -f -n '{}' -a '{}'\n", condition, fmt::join(command.choices, " "));
    }
    return out;
}

}  // namespace

void add_completion(CLI::App* command, Status& status) {
    const auto shell = std::make_shared<std::string>();
    command->add_option("SHELL", *shell, "Shell that runs the script")
        ->required()
        ->check(CLI::IsMember({"bash", "fish", "zsh"}));
    command->footer(
        "The script completes all commands and options of this version of texton.\n"
        "\n"
        "Examples:\n"
        "  source <(texton completion bash)                            # for this shell; add it to ~/.bashrc to keep "
        "it\n"
        "  texton completion zsh >\"${fpath[1]}/_texton\"\n"
        "  texton completion fish >~/.config/fish/completions/texton.fish\n"
        "\n"
        "Exit status:\n"
        "  0  success\n"
        "  2  there is no script for the shell");
    command->callback([shell, command, &status] {
        const CLI::App& program = *command->get_parent();
        const Command all = described(program);
        const std::vector<Command> commands = commands_of(program);
        fmt::print("{}", *shell == "bash"  ? bash_script(all, commands)
                         : *shell == "zsh" ? zsh_script(all, commands)
                                           : fish_script(all, commands));
        status = Status::good;
    });
}

}  // namespace texton::cli

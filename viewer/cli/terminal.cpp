#include "viewer/cli/terminal.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "viewer/cli/commands.h"

namespace texton::cli {

std::string Table::text() const {
    std::vector<std::size_t> widths;
    for (const auto& row : rows_) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string out;
    for (const auto& row : rows_) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (i > 0) line += "  ";
            line +=
                i == 0 || text_ ? fmt::format("{:<{}}", row[i], widths[i]) : fmt::format("{:>{}}", row[i], widths[i]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + '\n';
    }
    return out;
}

CLI::Validator at_least(int minimum) {
    return CLI::Validator(
        [minimum](const std::string& text) {
            double number = 0;
            const bool good = CLI::detail::lexical_cast(text, number) && number >= minimum;
            return good ? std::string() : fmt::format("'{}' is not a number of at least {}", text, minimum);
        },
        "");
}

void print_json(const nlohmann::ordered_json& value) {
    fmt::print("{}\n", value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

bool flush_output(std::string_view command, int reason) {
    errno = 0;
    std::cout.flush();
    const bool is_flushed = std::fflush(stdout) == 0;
    if (errno != 0) reason = errno;
    if (is_flushed && std::ferror(stdout) == 0 && std::cout) return true;
    if (reason != EPIPE)
        std::cerr << command << ": standard output could not be written"
                  << (reason != 0 ? std::string(": ") + std::strerror(reason) : "") << ".\n";
    return false;
}

nlohmann::ordered_json json_of(const ArrayInfo& array) {
    return {{"kind", name(array.kind)},      {"format", name(array.format)}, {"width", array.extent.width},
            {"height", array.extent.height}, {"depth", array.extent.depth},  {"layers", array.layers},
            {"levels", array.levels},        {"bytes", packed_bytes(array)}};
}

}  // namespace texton::cli

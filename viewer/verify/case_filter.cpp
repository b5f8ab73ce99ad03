#include "viewer/verify/case_filter.h"

#include <regex>

#include <fmt/format.h>

#include <texton/error.h>

namespace texton::verify {
namespace {

[[noreturn]] void refuse(std::string problem, std::string remedy) {
    throw Error({.code = ErrorCode::bad_argument,
                 .object = "texton::verify",
                 .problem = std::move(problem),
                 .remedy = std::move(remedy)});
}

}  // namespace

std::vector<const Case*> matching_cases(const Suite& suite, const std::string& filter, bool quick) {
    std::vector<const Case*> cases;
    try {
        const std::regex pattern(filter);
        for (const Case& each : suite.cases)
            if ((each.is_quick || !quick) && std::regex_search(each.name, pattern)) cases.push_back(&each);
    } catch (const std::regex_error& error) {
        refuse(fmt::format("--filter '{}' is not a valid regular expression: {}", filter, error.what()),
               "Correct the expression.");
    }
    if (cases.empty())
        refuse(fmt::format("no case of {} matches '{}'", suite.name, filter),
               "`texton verify SUITE --list` lists all cases.");
    return cases;
}

}  // namespace texton::verify

#include "viewer/verify/junit.h"

#include <fmt/format.h>

#include "core/new_file.h"

#include "viewer/text/utf8.h"

namespace texton::verify {
namespace {

namespace fs = std::filesystem;

std::string element_of(const Suite& suite, const Case& of, const Result& result) {
    const std::string head = fmt::format(R"(    <testcase classname="{}" name="{}" time="{:.4f}")", escaped(suite.name),
                                         escaped(of.name), result.seconds);
    if (result.outcome == Outcome::passed) return head + "/>\n";
    if (result.outcome == Outcome::skipped)
        return fmt::format("{}>\n      <skipped message=\"{}\"/>\n    </testcase>\n", head, escaped(result.message));
    const char* tag = result.outcome == Outcome::failed ? "error" : "failure";
    const std::string output =
        result.output.empty() ? "" : fmt::format("      <system-out>{}</system-out>\n", escaped(result.output));
    return fmt::format("{}>\n      <{} type=\"{}\" message=\"{}\"/>\n{}    </testcase>\n", head, tag,
                       name(result.outcome), escaped(result.message), output);
}

}  // namespace

std::string escaped(std::string_view text) {
    std::string out;
    for (const char letter : viewer::to_utf8(text)) {
        switch (letter) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            case '\n': out += "&#10;"; break;
            default: out += static_cast<unsigned char>(letter) < ' ' ? '?' : letter;
        }
    }
    return out;
}

void write_text(const fs::path& path, const std::string& text) { detail::write_file("texton::verify", path, text); }

void write_junit(const fs::path& path, const Suite& suite, const std::vector<const Case*>& cases,
                 const std::vector<Result>& results) {
    std::size_t failures = 0, errors = 0, skipped = 0;
    double seconds = 0;
    std::string rows;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const Result& result = results[i];
        errors += result.outcome == Outcome::failed ? 1 : 0;
        skipped += result.outcome == Outcome::skipped ? 1 : 0;
        failures += result.outcome == Outcome::differs || result.outcome == Outcome::no_reference ? 1 : 0;
        seconds += result.seconds;
        rows += element_of(suite, *cases[i], result);
    }
    const std::string counts = fmt::format(R"(tests="{}" failures="{}" errors="{}" skipped="{}" time="{:.4f}")",
                                           cases.size(), failures, errors, skipped, seconds);
    write_text(path,
               fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {}>\n  <testsuite name=\"{}\" "
                           "{}>\n{}  </testsuite>\n</testsuites>\n",
                           counts, escaped(suite.name), counts, rows));
}

}  // namespace texton::verify

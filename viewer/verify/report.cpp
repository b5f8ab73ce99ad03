#include "viewer/verify/report.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <optional>
#include <string>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <texton/error.h>

#include "viewer/verify/command.h"
#include "viewer/verify/failure_groups.h"
#include "viewer/verify/junit.h"
#include "viewer/verify/report_case.h"
#include "viewer/verify/report_history.h"
#include "viewer/verify/report_page.h"
#include "viewer/verify/reported_results.h"

namespace texton::verify {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kRoomOfPage = std::size_t{64} << 20;         // bytes of images in the page of a case
constexpr std::size_t kRoomOfSingleFile = std::size_t{256} << 20;  // bytes of images in a report in a single file
constexpr std::size_t kMaxThumbnails = 200;                        // groups that have small images in the list

constexpr std::size_t kMaxPlots = 200;  // cases of which the list has plots

// Names of outcomes after a number of cases.
constexpr std::array<const char*, kOutcomes> kCounted{"passed", "skipped", "differ", "without reference", "failed"};

void create_folder(const fs::path& folder) {
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed)
        throw Error({.code = ErrorCode::io,
                     .object = "texton::verify",
                     .problem = fmt::format("the folder {} of the report cannot be created: {}", folder.string(),
                                            failed.message()),
                     .remedy = "Give a folder that you may write."});
}

class Report {
public:
    Report(fs::path path, const Suite& suite, const Device& device, const std::vector<const Case*>& cases,
           const std::vector<Result>& results, const ReportOptions& options)
        : path_(std::move(path)),
          suite_(suite),
          device_(device),
          cases_(cases),
          results_(results),
          options_(options),
          groups_(failure_groups(cases, results)) {
        for (const std::vector<std::size_t>& group : groups_) pages_.insert(pages_.end(), group.begin(), group.end());
        for (std::size_t i = 0; i < results.size(); ++i)
            if (!is_failure(results[i]) && varies(results[i])) pages_.push_back(i);
    }

    void write() {
        if (options_.single_file) {
            std::size_t room = kRoomOfSingleFile;
            std::string body = list();
            for (std::size_t n = 0; n < pages_.size(); ++n) body += article(n, {}, room);
            write_text(path_, report_page(suite_.name, body));
            return;
        }
        create_folder(path_);
        for (std::size_t n = 0; n < pages_.size(); ++n) {
            const Case& of = *cases_[pages_[n]];
            const fs::path folder = path_ / file_name(of.name);
            create_folder(folder);
            std::size_t room = kRoomOfPage;
            write_text(folder / "index.html", report_page(of.name, article(n, folder, room)));
        }
        write_text(path_ / "index.html", report_page(suite_.name, list()));
        write_results(path_, suite_, device_, cases_, results_);
    }

private:
    static bool varies(const Result& result) { return result.repetition && result.repetition->varies(); }

    // Returns the address of a case's article, from the list or from the page of another case.
    std::string address(std::size_t result, bool from_list) const {
        const Case& of = *cases_[result];
        if (options_.single_file) return '#' + article_id(of);
        return (from_list ? "" : "../") + file_name(of.name) + "/index.html";
    }

    std::string article(std::size_t n, const std::optional<fs::path>& folder, std::size_t& room) const {
        const std::size_t i = pages_[n];
        CaseLinks links{.all = options_.single_file ? "#cases" : "../index.html",
                        .previous = n > 0 ? address(pages_[n - 1], false) : "",
                        .next = n + 1 < pages_.size() ? address(pages_[n + 1], false) : "",
                        .position = fmt::format("{} of {}", n + 1, pages_.size())};
        return case_article(suite_, *cases_[i], results_[i], {folder, scratch_.path(), room}, links, history_card(i));
    }

    std::string link(std::size_t result, const char* attributes) const {
        return fmt::format("<a{} href=\"{}\">{}</a>", attributes, address(result, true), escaped(cases_[result]->name));
    }

    const std::vector<HistoryEntry>& history_of(std::size_t result) const {
        static const std::vector<HistoryEntry> kNone;
        const auto found = options_.history.find(cases_[result]->name);
        return found == options_.history.end() ? kNone : found->second;
    }

    std::string history_card(std::size_t result) const {
        const std::string plot = history_plot(history_of(result));
        return plot.empty() ? plot : "<div class=\"card\">\n<h2>History</h2>\n" + plot + "</div>\n";
    }

    // Returns the cell of a case in the column of the history.
    std::string history_cell(std::size_t result, bool has_page) const {
        const std::string strip = outcome_strip(history_of(result));
        if (has_page || strip.empty() || cases_.size() > kMaxPlots) return "<td>" + strip;
        return fmt::format("<td><details><summary>{}</summary>\n{}</details>", strip, history_plot(history_of(result)));
    }

    // --- the list of cases ---

    std::string list() const {
        std::string counts;
        for (std::size_t outcome = 0; outcome < kOutcomes; ++outcome) {
            const auto each = static_cast<Outcome>(outcome);
            if (const auto n = std::ranges::count(results_, each, &Result::outcome); n > 0)
                counts +=
                    fmt::format("<span class=\"badge {}\">{} {}</span>\n", file_name(name(each)), n, kCounted[outcome]);
        }
        const auto passed = std::ranges::count(results_, Outcome::passed, &Result::outcome);
        std::string out = fmt::format(
            "<article id=\"cases\">\n<div class=\"page\">\n<h1>{}</h1>\n<p>{} of {} cases passed on {}.</p>\n<div "
            "class=\"badges\">\n{}</div>\n<p class=\"faint\">{:%F %T} UTC, Texton {}</p>\n",
            escaped(suite_.name), passed, cases_.size(), escaped(device_.name()), counts,
            fmt::gmtime(std::time(nullptr)), TEXTON_VERSION);
        if (!groups_.empty()) out += failures();
        return out + table() + "</div>\n</article>\n";
    }

    std::string failures() const {
        std::string out =
            "<h2>Failures</h2>\n<p class=\"faint\">Most severe first: cases that could not be run, other sizes or "
            "formats, then by the largest difference. Failures are alike if the same texels differ by the same "
            "number of steps, or if the message is the same.</p>\n<ol class=\"groups\">\n";
        for (std::size_t n = 0; n < groups_.size(); ++n) {
            const std::vector<std::size_t>& alike = groups_[n];
            const std::size_t first = alike.front();
            const Result& result = results_[first];
            const std::string thumbs = n < kMaxThumbnails ? thumbnails(result, scratch_.path()) : "";
            out += "<li class=\"group card\">\n";
            if (!thumbs.empty())
                out += fmt::format("<a class=\"thumbs\" href=\"{}\" tabindex=\"-1\">{}</a>\n", address(first, true),
                                   thumbs);
            out += fmt::format("<div>\n<p>{} {}</p>\n<p>{}</p>\n",
                               link(first, n == 0 ? " class=\"title\" rel=\"next\"" : " class=\"title\""),
                               badge(result.outcome), escaped(result.message));
            if (alike.size() > 1) {
                out += fmt::format("<details><summary>{} like {}</summary>\n<ul class=\"like\">\n", alike.size() - 1,
                                   alike.size() == 2 ? "failure" : "failures");
                for (std::size_t i = 1; i < alike.size(); ++i) out += "<li>" + link(alike[i], "") + "\n";
                out += "</ul>\n</details>\n";
            }
            out += "</div>\n</li>\n";
        }
        return out + "</ol>\n";
    }

    std::string table() const {
        std::string rows;
        for (std::size_t i = 0; i < cases_.size(); ++i) {
            const Result& result = results_[i];
            const bool has_page = std::ranges::find(pages_, i) != pages_.end();
            std::string message = escaped(result.message);
            if (varies(result))
                message += fmt::format("{}<span class=\"badge varies\">varies</span> {}", message.empty() ? "" : "<br>",
                                       escaped(result.repetition->text()));
            const bool is_compared = !result.comparisons.empty();
            rows += fmt::format(
                "<tr><td class=\"name\">{}<td>{}<td class=\"number\">{}<td class=\"number\">{}<td "
                "class=\"number\">{:.3f}{}<td>{}\n",
                has_page ? link(i, "") : escaped(cases_[i]->name), badge(result.outcome),
                is_compared || result.equal ? std::to_string(result.differing()) : "",
                is_compared || result.equal ? ulp_text(result.max_ulp()) : "", result.seconds,
                options_.history.empty() ? "" : history_cell(i, has_page), message);
        }
        return fmt::format(
            "<div class=\"card\">\n<h2>All cases</h2>\n<div class=\"table\">\n<table class=\"wide\">\n<tr><th>case<th>"
            "<th class=\"number\">differing texels<th class=\"number\">max ulp<th class=\"number\">seconds{}<th>\n{}"
            "</table>\n</div>\n</div>\n",
            options_.history.empty() ? "" : "<th>history", rows);
    }

    fs::path path_;
    const Suite& suite_;
    const Device& device_;
    const std::vector<const Case*>& cases_;
    const std::vector<Result>& results_;
    ReportOptions options_;
    std::vector<std::vector<std::size_t>> groups_;
    std::vector<std::size_t> pages_;  // results that have an article, in its order
    WorkingFolder scratch_;
};

}  // namespace

void write_report(const fs::path& path, const Suite& suite, const Device& device, const std::vector<const Case*>& cases,
                  const std::vector<Result>& results, const ReportOptions& options) {
    prepare_report(path, options);
    Report(path, suite, device, cases, results, options).write();
}

void prepare_report(const fs::path& path, const ReportOptions& options) {
    std::error_code failed;
    const fs::file_status status = fs::status(path, failed);
    const auto refuse = [&](const char* problem, const char* remedy) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = "texton::verify",
                     .problem = fmt::format("the report cannot be written to {}, {}", path.string(), problem),
                     .remedy = remedy});
    };
    if (options.single_file && fs::is_directory(status))
        refuse("which is a folder", "Give the path of an HTML file, or write a report of several files.");
    if (!options.single_file && fs::exists(status) && !fs::is_directory(status))
        refuse("which is a file", "Give a folder, or write a report in a single file.");
    const fs::path folder = options.single_file ? path.parent_path() : path;
    if (!folder.empty()) create_folder(folder);
}

}  // namespace texton::verify

#include "viewer/verify/report_history.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "viewer/verify/junit.h"
#include "viewer/verify/suite.h"

namespace texton::verify {
namespace {

constexpr std::size_t kMaxMarks = 30;                                                            // of a strip
constexpr double kWidth = 720, kHeight = 120, kLeft = 70, kRight = 12, kTop = 10, kBottom = 22;  // of a plot

std::string class_of(Outcome outcome) { return file_name(name(outcome)); }

std::string text_of(const HistoryEntry& entry) {
    std::string out = entry.time;
    if (!entry.label.empty()) out += ", " + entry.label;
    out += fmt::format("\n{} on {}", name(entry.outcome), entry.device);
    if (entry.driver != 0) out += fmt::format(", driver {}", entry.driver);
    return out +
           fmt::format("\nRMSE {:.4g}, {} differing texels, {:.3g} s", entry.rmse, entry.differing, entry.seconds);
}

// Returns a plot of one value of the entries. Values that are not finite are at the upper edge.
std::string plot(const std::vector<HistoryEntry>& entries, const char* title, const char* unit,
                 double HistoryEntry::*value) {
    double largest = 0;
    for (const HistoryEntry& entry : entries)
        if (std::isfinite(entry.*value)) largest = std::max(largest, entry.*value);
    const double range = largest > 0 ? largest : 1;
    const auto x = [&](std::size_t i) {
        const double part = entries.size() > 1 ? static_cast<double>(i) / static_cast<double>(entries.size() - 1) : 0.5;
        return kLeft + part * (kWidth - kLeft - kRight);
    };
    const auto y = [&](std::size_t i) {
        const double part = std::isfinite(entries[i].*value) ? entries[i].*value / range : 1;
        return kHeight - kBottom - part * (kHeight - kTop - kBottom);
    };
    std::map<std::string, std::string> lines;  // by device
    std::string points;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        lines[entries[i].device] += fmt::format("{:.1f},{:.1f} ", x(i), y(i));
        points += fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"><title>{}</title></circle>\n",
                              class_of(entries[i].outcome), x(i), y(i), escaped(text_of(entries[i])));
    }
    std::string out = fmt::format(
        "<figure><svg class=\"plot\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n<path d=\"M{} {}H{}M{} "
        "{}H{}\"/>\n<text x=\"{}\" y=\"{}\" class=\"end\">{:.3g}{}</text>\n<text x=\"{}\" y=\"{}\" "
        "class=\"end\">0</text>\n<text x=\"{}\" y=\"{}\">{}</text>\n<text x=\"{}\" y=\"{}\" class=\"end\">{}</text>\n",
        kWidth, kHeight, title, kLeft, kTop, kWidth - kRight, kLeft, kHeight - kBottom, kWidth - kRight, kLeft - 8,
        kTop + 4, range, unit, kLeft - 8, kHeight - kBottom + 4, kLeft, kHeight - 4, entries.front().time,
        kWidth - kRight, kHeight - 4, entries.size() > 1 ? entries.back().time : "");
    for (const auto& [device, line] : lines) out += fmt::format("<polyline points=\"{}\"/>\n", line);
    return out + points + fmt::format("</svg><figcaption>{}</figcaption></figure>\n", title);
}

}  // namespace

std::string outcome_strip(const std::vector<HistoryEntry>& entries) {
    if (entries.empty()) return {};
    const std::size_t count = std::min(entries.size(), kMaxMarks);
    std::array<std::string, kOutcomes> marks;
    std::size_t passed = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const Outcome outcome = entries[entries.size() - count + i].outcome;
        passed += outcome == Outcome::passed ? 1 : 0;
        marks[static_cast<std::size_t>(outcome)] += fmt::format("M{} 0h4v14h-4z", 6 * i);
    }
    std::string out = fmt::format(
        "<svg class=\"strip\" width=\"{}\" height=\"14\" role=\"img\"><title>passed in {} of "
        "the last {} runs</title>",
        6 * count, passed, count);
    for (std::size_t outcome = 0; outcome < kOutcomes; ++outcome)
        if (!marks[outcome].empty())
            out +=
                fmt::format("<path class=\"{}\" d=\"{}\"/>", class_of(static_cast<Outcome>(outcome)), marks[outcome]);
    return out + "</svg>";
}

std::string history_plot(const std::vector<HistoryEntry>& entries) {
    if (entries.empty()) return {};
    return "<div class=\"plots\">\n" +
           plot(entries, "Root mean squared error, divided by the range of a channel", "", &HistoryEntry::rmse) +
           plot(entries, "Duration of the case", " s", &HistoryEntry::seconds) + "</div>\n";
}

}  // namespace texton::verify

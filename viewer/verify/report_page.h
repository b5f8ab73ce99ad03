#pragma once
// The HTML document around the contents of a report. It contains its style sheet and its script, and loads nothing.
#include <string>

namespace texton::verify {

/// Style sheet and script of the pages: the files report.css and report.js.
extern const char* const kReportStyle;
extern const char* const kReportScript;

/// Returns a document. `body` consists of `article` elements; if there are several, the script shows the one that the
/// fragment of the address names. The policy of the document forbids its browser to load anything from elsewhere.
[[nodiscard]] std::string report_page(const std::string& title, const std::string& body);

/// Returns a description list of names and values. Both are HTML.
class Figures {
public:
    /// Adds a name and a value.
    void add(const std::string& name, const std::string& value);
    /// Returns the list, or an empty text if nothing was added.
    std::string html() const;

private:
    std::string rows_;
};

}  // namespace texton::verify

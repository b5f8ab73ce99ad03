#pragma once
// Output of the commands: tables for people, and JSON for programs.
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <texton/array_info.h>

namespace texton::cli {

/// A text table. Each column is as wide as its longest cell. The first column is left-aligned, the others are
/// right-aligned.
class Table {
public:
    explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
    /// Left-aligns all columns.
    Table& of_text() {
        text_ = true;
        return *this;
    }
    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
    /// Returns the lines of the table, each with its line end.
    std::string text() const;

private:
    std::vector<std::vector<std::string>> rows_;
    bool text_ = false;
};

/// Prints a value on standard output. Infinities and NaN, which JSON lacks, are printed as null. Bytes that are not valid
/// UTF-8, for example of file names, are printed as U+FFFD.
void print_json(const nlohmann::ordered_json& value);
/// Writes what was printed but is still buffered. Returns false if a part of standard output could not be written, and
/// prints the reason on standard error, unless the reader closed the pipe, as in `texton ... | head -1`. `reason` is the
/// errno of an earlier failure, or 0.
[[nodiscard]] bool flush_output(std::string_view command, int reason);
/// Returns the kind, format, width, height, depth, layers, levels and bytes of an array.
nlohmann::ordered_json json_of(const ArrayInfo& array);

}  // namespace texton::cli

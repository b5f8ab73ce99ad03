#pragma once
// What the commands print: tables for people, JSON for programs, and a bar while something takes its time.
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <texton/array_info.h>

namespace texton::cli {

/// Columns as wide as their longest cell; the first is set to the left, the others to the right.
class Table {
public:
    explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
    /// Sets all columns to the left.
    Table& of_words() {
        words_ = true;
        return *this;
    }
    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
    std::string text() const;

private:
    std::vector<std::vector<std::string>> rows_;
    bool words_ = false;
};

/// A bar on standard error, if that is a terminal; else nothing. Gone when it goes.
class ProgressBar {
public:
    explicit ProgressBar(std::string_view title);
    ~ProgressBar();
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;

    void show(double done);  ///< 0 to 1

private:
    std::string title_;
    bool terminal_;
    int percent_ = -1;
};

/// On standard output. Infinities and NaN, which JSON lacks, are null.
void print_json(const nlohmann::ordered_json& value);
/// Kind, format, sides, layers, levels and bytes.
nlohmann::ordered_json json_of(const ArrayInfo& array);

}  // namespace texton::cli

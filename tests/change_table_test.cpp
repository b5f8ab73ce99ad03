// The tables 'Where a change goes' of the READMEs, compared with the sources, and what these tables ask for.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/format.h>

#include "tests/support/configured_path.h"

namespace {

namespace fs = std::filesystem;

fs::path source_tree() { return texton::test::configured_path("TEXTON_TEST_SOURCES", TEXTON_TEST_SOURCES); }

std::string read(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns the rows of the tables of all layers, without their heads.
std::vector<std::string> rows() {
    std::vector<std::string> rows;
    for (const char* layer : {"core", "arrays", "kernels", "viewer", "tests"}) {
        std::ifstream readme(source_tree() / layer / "README.md");
        bool inside = false;
        for (std::string line; std::getline(readme, line);) {
            if (line.starts_with("## ")) inside = line == "## Where a change goes";
            if (inside && line.starts_with("| ") && !line.starts_with("| change |") && !line.starts_with("| --- |"))
                rows.push_back(line);
        }
    }
    return rows;
}

std::string row_of(const std::string& change) {
    for (const std::string& row : rows())
        if (row.starts_with("| " + change + " |")) return row;
    ADD_FAILURE() << "the table has no row '" << change << "'";
    return "";
}

/// Whether a file or folder of the tree has the name, in which a star stands for any characters.
bool exists(const std::string& name) {
    const fs::path path = source_tree() / name;
    if (name.find('*') == std::string::npos) return fs::exists(path);
    const std::string pattern = path.filename().string();
    const std::size_t star = pattern.find('*');
    const std::string before = pattern.substr(0, star), after = pattern.substr(star + 1);
    const fs::directory_iterator entries(path.parent_path());
    return std::any_of(begin(entries), end(entries), [&](const fs::directory_entry& entry) {
        const std::string found = entry.path().filename().string();
        return found.starts_with(before) && found.ends_with(after);
    });
}

/// The sources of the layers below the viewer that have a text.
std::set<std::string> sources_with(const std::string& text) {
    std::set<std::string> found;
    for (const char* layer : {"core", "arrays", "kernels"}) {
        for (const auto& entry : fs::recursive_directory_iterator(source_tree() / layer)) {
            if (entry.is_regular_file() && read(entry.path()).find(text) != std::string::npos)
                found.insert(entry.path().lexically_relative(source_tree()).generic_string());
        }
    }
    return found;
}

}  // namespace

TEST(ChangeTableTest, EveryPathInTheTableExists) {
    ASSERT_GT(rows().size(), 20u);
    const std::regex quoted("`([^` ]+/[^` ]*)`");
    for (const std::string& row : rows()) {
        for (std::sregex_iterator match(row.begin(), row.end(), quoted), end; match != end; ++match)
            EXPECT_TRUE(exists((*match)[1])) << (*match)[1] << " in: " << row;
    }
}

TEST(ChangeTableTest, OnlyFilesInTheTableNameAPackedFormat) {
    const std::string rows = row_of("a plain pixel format") + row_of("a packed pixel format");
    for (const std::string& source : sources_with("::rgb10a2_unorm"))
        EXPECT_NE(rows.find('`' + source + '`'), std::string::npos) << source << " names a packed format";
}

TEST(ChangeTableTest, FormatsAreInTheMatrixAndInTheGuide) {
    const std::string matrix = read(source_tree() / "tests" / "regress" / "matrix.json");
    const std::string guide = read(source_tree() / "core" / "README.md");
    for (const texton::FormatInfo& row : texton::formats()) {
        const std::string name(row.name);
        const bool planar = row.layout == texton::FormatLayout::planar;
        EXPECT_TRUE(planar || matrix.find('"' + name + '"') != std::string::npos)
            << name << " is not in tests/regress/matrix.json";
        EXPECT_TRUE(!(planar || row.layout == texton::FormatLayout::packed) ||
                    guide.find('`' + name + '`') != std::string::npos)
            << name << " is not in the table of formats in core/README.md";
    }
}

TEST(ChangeTableTest, OnlyFilesInTheTableNameAnAddressMode) {
    const std::string row = row_of("an address mode");
    for (const std::string& source : sources_with("AddressMode::mirror"))
        EXPECT_NE(row.find('`' + source + '`'), std::string::npos) << source << " names an address mode";
}

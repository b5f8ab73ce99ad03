// The promises that tests/README.md makes, compared with the tests that it names.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/configured_path.h"

namespace {

namespace fs = std::filesystem;

fs::path tests_folder() {
    return fs::path(texton::test::configured_path("TEXTON_TEST_SOURCES", TEXTON_TEST_SOURCES)) / "tests";
}

std::string read(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns the tests of all sources: "Suite" and "Suite.Name".
std::set<std::string> tests_of_the_tree() {
    const std::regex test(R"(TEST(?:_F|_P)?\((\w+), (\w+)\))");
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(tests_folder())) {
        if (!entry.is_regular_file() || entry.path().stem().string().find("_test") == std::string::npos) continue;
        const std::string source = read(entry.path());
        for (std::sregex_iterator match(source.begin(), source.end(), test), end; match != end; ++match) {
            names.insert((*match)[1]);
            names.insert((*match)[1].str() + "." + (*match)[2].str());
        }
    }
    return names;
}

}  // namespace

TEST(PromisesTest, EachPromiseNamesTestsThatExist) {
    const std::set<std::string> tests = tests_of_the_tree();
    std::ifstream readme(tests_folder() / "README.md");
    const std::regex quoted("`([A-Z]\\w*Test(?:\\.\\w+)?)`");
    bool inside = false;
    int promises = 0;
    for (std::string line; std::getline(readme, line);) {
        if (line.starts_with("## ")) inside = line == "## Reliability" || line == "## Security";
        if (!inside || !line.starts_with("| ") || line.starts_with("| promise |") || line.starts_with("| --- |"))
            continue;
        ++promises;
        const std::sregex_iterator first(line.begin(), line.end(), quoted), end;
        EXPECT_NE(first, end) << "no test holds this promise: " << line;
        for (auto match = first; match != end; ++match)
            EXPECT_TRUE(tests.contains((*match)[1])) << "there is no test " << (*match)[1];
    }
    EXPECT_GE(promises, 15);
}

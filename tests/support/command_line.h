#pragma once
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/configured_path.h"

namespace texton::test {

/// Result of a program: its exit status (-1 if a signal ended it) and its output.
struct Ended {
    int status;
    std::string out;
    std::string err;
};

/// Base of suites that run the program texton through a shell, each test in a folder of its own.
class CommandLine : public testing::Test {
protected:
    void SetUp() override {
        std::string name = (std::filesystem::temp_directory_path() / "texton-XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr) << name;
        folder_ = name;
    }
    void TearDown() override {
        if (!folder_.empty()) std::filesystem::remove_all(folder_);
    }

    const std::filesystem::path& folder() const { return folder_; }
    /// Returns the path of a file in the folder.
    std::string at(const std::string& name) const { return (folder_ / name).string(); }

    /// Runs `texton ARGUMENTS` in the folder.
    Ended run(const std::string& arguments) const { return shell("'" + kProgram + "' " + arguments); }

    /// Runs a line of the shell in the folder. Commands read files as they do for users, without TEXTON_READER, which
    /// programs of tests set for themselves, unless the line sets it.
    Ended shell(const std::string& command) const {
        const std::string line = "unset TEXTON_READER; cd '" + folder_.string() + "' && (" + command + ") >out 2>err";
        const int status = std::system(line.c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text("out"), text("err")};
    }

    std::string text(const std::string& name) const {
        std::ifstream file(at(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    inline static const std::string kProgram = configured_path("TEXTON_PROGRAM", TEXTON_PROGRAM);

private:
    std::filesystem::path folder_;
};

}  // namespace texton::test

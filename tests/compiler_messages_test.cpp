// The messages for calls that must not compile, in tests/compile/.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/configured_path.h"

namespace {

namespace fs = std::filesystem;

fs::path sources() { return texton::test::configured_path("TEXTON_TEST_SOURCES", TEXTON_TEST_SOURCES); }

// Returns the lines with errors that a command prints.
std::vector<std::string> errors_of(const std::string& command) {
    std::vector<std::string> errors;
    FILE* const output = popen((command + " 2>&1").c_str(), "r");
    if (output == nullptr) return {"the compiler could not be started"};
    char buffer[4096];
    for (std::string line; std::fgets(buffer, sizeof(buffer), output) != nullptr;) {
        line += buffer;
        if (line.back() != '\n') continue;
        if (line.find("error: ") != std::string::npos) errors.push_back(line);
        line.clear();
    }
    pclose(output);
    return errors;
}

// Returns the messages that a source expects: the comments inside of its functions. Those inside of #if are for nvcc.
std::vector<std::string> messages_in(const fs::path& source, bool nvcc) {
    std::vector<std::string> messages;
    std::ifstream file(source);
    bool is_for_nvcc = false;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("#if ")) is_for_nvcc = true;
        if (line.starts_with("#endif")) is_for_nvcc = false;
        if (line.starts_with("    // ") && (nvcc || !is_for_nvcc)) messages.push_back(line.substr(7));
    }
    return messages;
}

void expect_messages(const std::string& compiler, const char* name, bool nvcc) {
    if (compiler.empty() || !fs::exists(compiler)) GTEST_SKIP() << "there is no compiler here: " << compiler;
    const fs::path source = sources() / "tests/compile" / name;
    std::string command = "'" + compiler + "' -std=c++20 ";
    command += nvcc ? "-c -o /dev/null -arch=compute_75 " : "-fsyntax-only -x c++ ";
    for (const char* layer : {"core", "arrays", "kernels"}) command += "-I '" + (sources() / layer).string() + "' ";
    const std::vector<std::string> errors = errors_of(command + "'" + source.string() + "'");
    const std::vector<std::string> messages = messages_in(source, nvcc);
    ASSERT_FALSE(messages.empty()) << source;
    ASSERT_EQ(errors.size(), messages.size()) << testing::PrintToString(errors);
    for (std::size_t i = 0; i < messages.size(); ++i) EXPECT_THAT(errors[i], testing::HasSubstr(messages[i]));
}

}  // namespace

TEST(CompilerMessagesTest, AWrongFunctorHasOneMessageInWords) {
    expect_messages(TEXTON_TEST_COMPILER, "wrong_functors.cu", false);
}

TEST(CompilerMessagesTest, NvccHasOneMessageInWordsForAWrongFunctorAndForALambda) {
    if (std::string(TEXTON_TEST_NVCC).empty()) GTEST_SKIP() << "Texton was built without CUDA";
    expect_messages(TEXTON_TEST_NVCC, "wrong_functors.cu", true);
}

TEST(CompilerMessagesTest, FillingWithANumberOfAnotherTypeHasAMessageInWords) {
    expect_messages(TEXTON_TEST_COMPILER, "wrong_fills.cpp", false);
}

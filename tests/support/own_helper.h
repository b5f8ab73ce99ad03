#pragma once
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include <texton/read_options.h>

#include "tests/support/reader_processes.h"

namespace texton::test {

/// Gives a test a helper of its own, so that no process of another test is left in it, and ends it with the test.
class OwnHelper {
public:
    /// `program` is the path of texton-reader. A link to it is made in the folder.
    OwnHelper(const std::filesystem::path& folder, const std::string& program) {
        setenv("TEXTON_READER", program.c_str(), 0);
        std::filesystem::create_symlink(program, folder / "texton-reader");
        program_.emplace(folder / "texton-reader");
    }
    ~OwnHelper() {
        program_.reset();
        start_reader();
    }
    OwnHelper(const OwnHelper&) = delete;
    OwnHelper& operator=(const OwnHelper&) = delete;

private:
    std::optional<ReaderProgram> program_;
};

}  // namespace texton::test

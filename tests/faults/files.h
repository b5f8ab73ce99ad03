#pragma once
// The folder of operations on files, and what must be in it.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/temporary_files.h"
#include "tests/support/texels.h"

namespace texton::test {

[[nodiscard]] inline Bytes contents_of(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    Bytes bytes;
    std::transform(std::istreambuf_iterator<char>(in), {}, std::back_inserter(bytes),
                   [](char c) { return static_cast<std::byte>(c); });
    return bytes;
}

/// A temporary folder.
class Files {
public:
    Files() {
        std::string name = (temporary_files() / "texton-faults-XXXXXX").string();
        if (mkdtemp(name.data()) != nullptr) folder_ = name;
    }
    ~Files() {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    Files(const Files&) = delete;
    Files& operator=(const Files&) = delete;

    [[nodiscard]] std::filesystem::path at(const std::string& name) const { return folder_ / name; }

    /// Expects that the folder has these files and no others, each with one of its contents.
    void expect(const std::map<std::string, std::vector<Bytes>>& files) const {
        std::map<std::string, bool> found;
        for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
            const std::string name = entry.path().filename();
            const auto wanted = files.find(name);
            EXPECT_NE(wanted, files.end()) << "the file " << name << " is left";
            if (wanted == files.end()) continue;
            found[name] = true;
            EXPECT_TRUE(std::ranges::count(wanted->second, contents_of(entry.path())) > 0)
                << name << " has neither the old nor the new contents";
        }
        EXPECT_EQ(found.size(), files.size()) << "a file is missing";
    }

private:
    std::filesystem::path folder_;
};

}  // namespace texton::test

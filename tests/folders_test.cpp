// The folders of the source tree, their order, and what each may include.
//
// A folder includes itself and the folders before it in kFolders. The public headers of a layer, <texton/NAME.h>, are
// its first folder. Folders of a device (cpu, cuda, none) are reached only by folders of the same device: everything
// else calls the device through core/backend.h, arrays/sampling.h or kernels/launch/dispatch.h.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/configured_path.h"

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kFolders{"core/texton",
                                        "core",
                                        "core/exchange",
                                        "core/show",
                                        "core/cpu",
                                        "core/cuda",
                                        "core/none",
                                        "arrays/texton",
                                        "arrays/unit",
                                        "arrays",
                                        "arrays/streaming",
                                        "arrays/captures",
                                        "arrays/cpu",
                                        "arrays/cuda",
                                        "arrays/none",
                                        "arrays/files/texton",
                                        "arrays/files",
                                        "arrays/files/isolated",
                                        "arrays/files/reader",
                                        "kernels/texton",
                                        "kernels/launch",
                                        "kernels/functors",
                                        "kernels/metrics",
                                        "kernels/cpu",
                                        "kernels/cuda",
                                        "kernels/none",
                                        "kernels",
                                        "viewer/text",
                                        "viewer/model",
                                        "viewer/tiles",
                                        "viewer/live",
                                        "viewer/render",
                                        "viewer/verify/texton",
                                        "viewer/verify",
                                        "viewer/inspect",
                                        "viewer/batch/texton",
                                        "viewer/batch",
                                        "viewer/launcher",
                                        "viewer/cli",
                                        "viewer/gui",
                                        "viewer/gui/panels"};

fs::path source_tree() { return texton::test::configured_path("TEXTON_TEST_SOURCES", TEXTON_TEST_SOURCES); }

struct Source {
    std::string path;    ///< from the top of the tree
    std::string folder;  ///< of the path
    std::vector<std::string> includes;
};

std::string folder_of(const std::string& path) { return fs::path(path).parent_path().generic_string(); }

/// The names between the quotes or angle brackets of the #include lines.
std::vector<std::string> included_by(const fs::path& path) {
    std::vector<std::string> names;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("#include ")) continue;
        const std::size_t first = line.find_first_of("\"<") + 1;
        names.push_back(line.substr(first, line.find_first_of("\">", first) - first));
    }
    return names;
}

std::vector<Source> sources_of(std::initializer_list<const char*> layers) {
    const fs::path top = source_tree();
    std::vector<Source> sources;
    for (const char* layer : layers) {
        for (const auto& entry : fs::recursive_directory_iterator(top / layer)) {
            const std::string kind = entry.path().extension().string();
            if (kind != ".h" && kind != ".cpp" && kind != ".cu") continue;
            const std::string path = entry.path().lexically_relative(top).generic_string();
            sources.push_back({path, folder_of(path), included_by(entry.path())});
        }
    }
    return sources;
}

const std::vector<Source>& all_sources() {
    static const std::vector<Source> kAll = sources_of({"core", "arrays", "kernels", "viewer"});
    return kAll;
}

std::ptrdiff_t position_of(const std::string& folder) { return std::ranges::find(kFolders, folder) - kFolders.begin(); }

/// The folder of an included header of this tree; empty for any other.
std::string folder_of_include(const std::string& name) {
    static const std::map<std::string, std::string> kPublic = [] {
        std::map<std::string, std::string> folders;
        for (const Source& source : all_sources())
            if (source.folder.ends_with("/texton"))
                folders["texton/" + fs::path(source.path).filename().string()] = source.folder;
        return folders;
    }();
    const auto found = kPublic.find(name);
    if (found != kPublic.end()) return found->second;
    return fs::exists(source_tree() / name) ? folder_of(name) : "";
}

/// cpu, cuda or none for the folders of a device; empty for any other.
std::string device_of(const std::string& folder) {
    const std::string last = fs::path(folder).filename().string();
    return last == "cpu" || last == "cuda" || last == "none" ? last : "";
}

class FolderTest : public testing::Test {
protected:
    void SetUp() override {
        if (!fs::exists(source_tree() / "core")) FAIL() << source_tree() << " is not the source tree";
    }
};

}  // namespace

TEST_F(FolderTest, EverySourceIsInAListedFolder) {
    std::set<std::string> unknown;
    for (const Source& source : all_sources())
        if (position_of(source.folder) == std::ssize(kFolders)) unknown.insert(source.folder);
    EXPECT_TRUE(unknown.empty()) << "add to kFolders where it may be included from: " << *unknown.begin();
}

TEST_F(FolderTest, EveryListedFolderContainsSources) {
    for (const std::string& folder : kFolders)
        EXPECT_TRUE(std::ranges::any_of(all_sources(), [&](const Source& source) { return source.folder == folder; }))
            << folder;
}

TEST_F(FolderTest, AFolderIncludesOnlyEarlierFolders) {
    for (const Source& source : all_sources()) {
        for (const std::string& name : source.includes) {
            const std::string folder = folder_of_include(name);
            if (folder.empty()) continue;
            EXPECT_LE(position_of(folder), position_of(source.folder)) << source.path << " includes " << name;
        }
    }
}

TEST_F(FolderTest, OnlyFoldersOfADeviceIncludeHeadersOfTheDevice) {
    for (const Source& source : all_sources()) {
        for (const std::string& name : source.includes) {
            const std::string device = device_of(folder_of_include(name));
            EXPECT_TRUE(device.empty() || device == device_of(source.folder))
                << source.path << " includes " << name << " of the device " << device;
        }
    }
}

TEST_F(FolderTest, QtAndOpenImageIOAreIncludedOnlyInTheirFolders) {
    for (const Source& source : all_sources()) {
        for (const std::string& name : source.includes) {
            if (name.starts_with("Q") && name.find('.') == std::string::npos) {
                EXPECT_TRUE(source.folder.starts_with("viewer/gui")) << source.path << " includes " << name;
            }
            if (name.starts_with("OpenImageIO/")) {
                EXPECT_TRUE(source.folder.starts_with("arrays/files")) << source.path << " includes " << name;
            }
        }
    }
}

TEST_F(FolderTest, NoFileNameStartsWithTheNameOfASiblingFolder) {
    for (const Source& source : all_sources()) {
        const fs::path path = source_tree() / source.path;
        for (const auto& beside : fs::directory_iterator(path.parent_path())) {
            if (!beside.is_directory() || beside.path().filename() == "texton") continue;
            const std::string prefix = beside.path().filename().string() + "_";
            EXPECT_FALSE(path.filename().string().starts_with(prefix))
                << source.path << " belongs in " << beside.path();
        }
    }
}

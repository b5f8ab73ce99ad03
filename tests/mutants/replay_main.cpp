// Replays recordings with the model that it is linked with. tests/mutants/run builds it for the unchanged model and for
// each mutant.
//
// replay exact FOLDER: prints the names of the recordings whose replay is bit-identical. replay catch FOLDER ENTRIES
// NAME...: for each entry of a table, prints the first of the named recordings whose replay differs. Exit status 1 if
// there is none for an entry.
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <texton/recording.h>

#include "arrays/unit/texel_format.h"
#include "tests/mutants/model.h"

namespace texton::mutants {
namespace {

namespace fs = std::filesystem;

// A recording whose texels lie packed, as the model takes them.
class Replayed {
public:
    explicit Replayed(const fs::path& path) : recording_(read_recording(path)) {
        const ArrayInfo& array = recording_.array;
        view_.kind = array.kind;
        view_.format = detail::texel_format(array.format);
        view_.level_count = array.levels;
        for (int level = 0; level < array.levels; ++level) {
            const Extent extent = level_extent(array, level);
            const std::size_t pitch = row_bytes(array.format, extent.width);
            detail::LevelView& part = view_.levels[level];
            part.data =
                reinterpret_cast<const unsigned char*>(recording_.levels[static_cast<std::size_t>(level)].data());
            part.width = static_cast<std::int32_t>(extent.width);
            part.height = static_cast<std::int32_t>(extent.height);
            part.depth = static_cast<std::int32_t>(slice_count(array, level));
            part.row_pitch = static_cast<std::int64_t>(pitch);
            part.slice_pitch = static_cast<std::int64_t>(pitch * row_count(array.format, extent.height));
        }
    }

    bool is_exact() const {
        for (std::size_t i = 0; i < recording_.points.size(); ++i) {
            if (model_fetch(view_, recording_.sampler, recording_.points[i], recording_.operation,
                            recording_.component) != recording_.results[i])
                return false;
        }
        return true;
    }

private:
    Recording recording_;
    detail::TextureView view_{};
};

void print_exact(const fs::path& folder) {
    std::vector<fs::path> paths;
    for (const auto& each : fs::directory_iterator(folder)) {
        if (each.path().extension() == ".cap") paths.push_back(each.path());
    }
    std::sort(paths.begin(), paths.end());
    for (const fs::path& path : paths) {
        if (Replayed(path).is_exact()) std::cout << path.stem().string() << '\n';
    }
}

// Returns true if each entry is caught. The recording that caught an entry is tried first for the next entry.
bool catch_each(const fs::path& folder, int entries, std::span<char*> names) {
    std::map<std::string, Replayed> read;
    bool all_caught = true;
    for (entry = 0; entry < entries; ++entry) {
        const auto found = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
            return !read.try_emplace(name, folder / (name + ".cap")).first->second.is_exact();
        });
        const bool caught = found != names.end();
        std::cout << entry << ' ' << (caught ? *found : "-") << '\n';
        if (caught) std::rotate(names.begin(), found, found + 1);
        all_caught &= caught;
    }
    return all_caught;
}

}  // namespace
}  // namespace texton::mutants

int main(int argc, char** argv) {
    const std::span<char*> arguments(argv, static_cast<std::size_t>(argc));
    try {
        const std::string task = argc > 2 ? arguments[1] : "";
        if (task == "exact") {
            texton::mutants::print_exact(arguments[2]);
            return 0;
        }
        if (task == "catch" && argc > 3)
            return texton::mutants::catch_each(arguments[2], std::atoi(arguments[3]), arguments.subspan(4)) ? 0 : 1;
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
    }
    return 2;
}

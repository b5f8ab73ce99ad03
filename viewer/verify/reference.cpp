#include "viewer/verify/reference.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include <texton/error.h>

#include "viewer/model/named_paths.h"
#include "viewer/verify/stored_reference.h"
#include "viewer/verify/suite.h"

namespace texton::verify {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEnding = ".texref";

// Returns true for CASE.texref and CASE.texref.json.
bool is_reference_name(const fs::path& path) {
    return path.extension() == kEnding || (path.extension() == ".json" && path.stem().extension() == kEnding);
}

std::vector<fs::path> all_references(const fs::path& folder) {
    std::vector<fs::path> paths;
    std::error_code none;
    for (fs::directory_iterator entry(folder, none), end; !none && entry != end; entry.increment(none))
        if (is_reference_name(entry->path())) paths.push_back(entry->path());
    std::ranges::sort(paths);
    return paths;
}

// Returns the part of the file name that file_name() created from the case's name.
std::string stem_of(const fs::path& path) {
    const std::string name = path.filename().string();
    const std::string stem = name.substr(0, name.rfind(kEnding));
    return stem.substr(0, stem.find('@'));
}

}  // namespace

Reference read_reference(const fs::path& path, const ReferencePlaces& places) {
    return decoded(read_stored_reference(path, places), path);
}

void write_reference(const Reference& reference) {
    FileUpdate update;
    add_files(update, stored_reference(reference, false), reference.path);
    update.complete();
}

fs::path reference_path(const fs::path& folder, const std::string& name_of_case, const std::string& variant) {
    return folder / (file_name(name_of_case) + (variant.empty() ? "" : "@" + file_name(variant)) + kEnding);
}

ReferenceFolder::ReferenceFolder(const fs::path& folder) {
    for (fs::path& path : all_references(folder)) paths_[stem_of(path)].push_back(std::move(path));
}

std::vector<Reference> ReferenceFolder::read(const std::string& name_of_case, const ReferencePlaces& places) const {
    std::vector<Reference> references;
    const auto found = paths_.find(file_name(name_of_case));
    if (found == paths_.end()) return references;
    for (const fs::path& path : found->second) references.push_back(read_reference(path, places));
    return references;
}

std::vector<fs::path> ReferenceFolder::left(std::span<const std::string> names_of_cases) const {
    std::set<std::string> stems;
    for (const std::string& name : names_of_cases) stems.insert(file_name(name));
    std::vector<fs::path> left;
    for (const auto& [stem, paths] : paths_)
        if (!stems.contains(stem)) left.insert(left.end(), paths.begin(), paths.end());
    std::ranges::sort(left);
    return left;
}

std::vector<fs::path> left_references(const fs::path& folder, std::span<const std::string> names_of_cases) {
    return ReferenceFolder(folder).left(names_of_cases);
}

std::vector<std::string> equal_fields(const Reference& reference, const viewer::DeviceFields& device) {
    std::vector<std::string> out;
    const auto compare = [&out](const char* name, const std::string& a, const std::string& b) {
        if (!a.empty() && a == b) out.emplace_back(name);
    };
    compare("device", reference.device, device.name);
    compare("compute_capability", reference.compute_capability, device.compute_capability);
    compare("driver_release", reference.driver_release, device.driver_release);
    if (reference.driver != 0 && reference.driver == device.driver_version) out.emplace_back("driver_version");
    compare("cpu", reference.cpu, device.cpu);
    return out;
}

}  // namespace texton::verify

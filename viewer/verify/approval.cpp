#include "viewer/verify/approval.h"

#include "viewer/verify/stored_reference.h"

namespace texton::verify {

namespace fs = std::filesystem;

bool is_approvable(const Case& of, const Result& result) noexcept {
    const bool has_images = result.outcome != Outcome::failed && result.outcome != Outcome::skipped;
    return has_images && has_references(of);
}

Update update_of(const std::vector<const Case*>& cases, const std::vector<Result>& results) {
    Update update;
    for (std::size_t i = 0; i < results.size(); ++i)
        if (is_approvable(*cases[i], results[i]) && !results[i].equal) update.changed.push_back(i);
    return update;
}

std::vector<std::filesystem::path> unused_references(const Suite& suite) {
    if (!suite.own_references) return {};
    std::vector<std::string> names;
    for (const Case& each : suite.cases) names.push_back(each.name);
    return left_references(suite.references, names);
}

Reference reference_of(const Result& result, const Device& device) {
    const viewer::DeviceFields fields = viewer::fields_of(device);
    return {.path = {},
            .images = result.images,
            .inputs = result.inputs,
            .device = fields.name,
            .driver = fields.driver_version,
            .toolkit = TEXTON_VERSION,
            .compute_capability = fields.compute_capability,
            .driver_release = fields.driver_release,
            .cpu = fields.cpu};
}

void write_update(const Suite& suite, const Device& device, const std::string& variant,
                  const std::vector<const Case*>& cases, const std::vector<Result>& results, const Update& update) {
    FileUpdate files;
    for (const std::size_t i : update.changed)
        add_files(files, stored_reference(reference_of(results[i], device), suite.image_references),
                  reference_path(suite.references, cases[i]->name, variant), places_of(suite));
    for (const fs::path& path : update.unused)
        for (fs::path& file : files_of_reference(path)) files.remove(std::move(file));
    files.complete();
}

}  // namespace texton::verify

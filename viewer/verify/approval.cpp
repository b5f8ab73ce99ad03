#include "viewer/verify/approval.h"

namespace texton::verify {

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

void write_update(const Suite& suite, const Device& device, const std::string& variant,
                  const std::vector<const Case*>& cases, const std::vector<Result>& results, const Update& update) {
    for (const std::size_t i : update.changed) {
        write_reference({.path = reference_path(suite.references, cases[i]->name, variant),
                         .images = results[i].images,
                         .inputs = results[i].inputs,
                         .device = device.name(),
                         .driver = device.properties().driver_version,
                         .toolkit = TEXTON_VERSION});
    }
    for (const std::filesystem::path& path : update.unused) remove_reference(path);
}

}  // namespace texton::verify

#include "viewer/verify/device_match.h"

#include <fnmatch.h>

namespace texton::verify {
namespace {

bool matches(const std::string& pattern, const std::string& value) {
    return pattern.empty() || ::fnmatch(pattern.c_str(), value.c_str(), 0) == 0;
}

}  // namespace

bool DeviceMatch::matches(const viewer::DeviceFields& fields) const {
    return verify::matches(name, fields.name) && verify::matches(compute_capability, fields.compute_capability) &&
           verify::matches(driver_release, fields.driver_release) &&
           verify::matches(driver_version, std::to_string(fields.driver_version)) && verify::matches(cpu, fields.cpu);
}

DeviceMatch read_device_match(JsonObject& object) {
    const Json& value = object.at("match");
    JsonObject patterns(value, object.where() + ", 'match'");
    DeviceMatch match;
    const auto read = [&](const char* key, std::string& pattern) {
        if (const std::optional<std::string> text = patterns.text(key)) pattern = *text;
        if (patterns.find(key) != nullptr && pattern.empty())
            patterns.refuse(key, "is empty", "Give a pattern, such as \"*\".");
    };
    read("name", match.name);
    read("compute_capability", match.compute_capability);
    read("driver_release", match.driver_release);
    read("driver_version", match.driver_version);
    read("cpu", match.cpu);
    patterns.refuse_others();
    if (value.empty())
        object.refuse("match", "is empty",
                      "Give a pattern for 'name', 'compute_capability', 'driver_release', 'driver_version' or 'cpu'; "
                      "`texton devices` prints the values.");
    return match;
}

}  // namespace texton::verify

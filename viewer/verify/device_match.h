#pragma once
// Which devices the limits of a suite apply to.
#include <string>
#include <vector>

#include "viewer/model/device_fields.h"
#include "viewer/model/json_object.h"

namespace texton::verify {

/// Patterns for the fields of a device, in which *, ? and [...] match as in a shell. An empty pattern matches all.
struct DeviceMatch {
    std::string name{};
    std::string compute_capability{};
    std::string driver_release{};
    std::string driver_version{};
    std::string cpu{};

    /// Returns true if all patterns match.
    bool matches(const viewer::DeviceFields& fields) const;
};

/// Reads the object of the key `match`. Throws Error{bad_argument}, with the key, for an invalid value and for an object
/// without a pattern.
[[nodiscard]] DeviceMatch read_device_match(JsonObject& object);

}  // namespace texton::verify

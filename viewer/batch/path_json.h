#pragma once
// Paths in JSON. A path that is not valid UTF-8 is {"bytes": "hexadecimal digits"}.
#include <filesystem>
#include <optional>

#include "viewer/model/json_object.h"

namespace texton::batch {

[[nodiscard]] verify::Json json_of(const std::filesystem::path& path);
/// Returns nothing if the value is not what json_of() returns.
[[nodiscard]] std::optional<std::filesystem::path> path_in(const verify::Json& value);

}  // namespace texton::batch

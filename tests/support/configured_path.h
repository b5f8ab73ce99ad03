#pragma once
#include <cstdlib>
#include <string>

namespace texton::test {

/// Returns the location of a file or folder that tests need: the environment variable `variable` if it is set, else
/// `built`, the location at build time.
inline std::string configured_path(const char* variable, const char* built) {
    const char* carried = std::getenv(variable);
    return carried != nullptr && *carried != '\0' ? carried : built;
}

}  // namespace texton::test

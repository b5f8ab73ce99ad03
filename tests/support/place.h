#pragma once
#include <cstdlib>
#include <string>

namespace texton::test {

/// Where something lies that tests need: what the environment says, else where it was when they were built.
inline std::string place(const char* variable, const char* built) {
    const char* carried = std::getenv(variable);
    return carried != nullptr && *carried != '\0' ? carried : built;
}

}  // namespace texton::test

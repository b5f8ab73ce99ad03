#pragma once
#include <cfenv>

namespace texton::detail {

/// Sets the default floating-point environment for the thread (round to nearest, keep denormals) while it exists.
class DefaultModes {
public:
    DefaultModes() {
        std::fegetenv(&caller_modes_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~DefaultModes() { std::fesetenv(&caller_modes_); }
    DefaultModes(const DefaultModes&) = delete;
    DefaultModes& operator=(const DefaultModes&) = delete;

private:
    std::fenv_t caller_modes_;
};

}  // namespace texton::detail

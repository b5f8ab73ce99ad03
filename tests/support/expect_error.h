#pragma once
#include <functional>
#include <initializer_list>
#include <string_view>

#include <texton/error.h>

namespace texton::test {

/// Source position of the calling test. Replaces std::source_location, which clang 14 does not have.
struct Caller {
    const char* file;
    int line;
    static constexpr Caller here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        return {file, line};
    }
};

/// Runs `action` and expects an Error with this code, an object() that begins with `object`, and a text that contains
/// every fragment. Every Error must also have a remedy, and a number if a size is wrong. Returns the Error for further
/// checks, or an Error with empty parts if none was thrown.
Error expect_error(const std::function<void()>& action, ErrorCode code, std::string_view object,
                   std::initializer_list<std::string_view> fragments = {}, Caller where = Caller::here());

/// Checks the form that every Error must have.
void expect_well_formed(const Error& error, Caller where = Caller::here());

/// Returns the number with this name, or 0 with a test failure if there is none.
std::uint64_t number_of(const Error& error, std::string_view name, Caller where = Caller::here());

}  // namespace texton::test

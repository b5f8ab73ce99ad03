#pragma once
#include <functional>
#include <initializer_list>
#include <string_view>

#include <texton/error.h>

namespace texton::test {

/// The line of the test that calls, as std::source_location, which clang 14 lacks.
struct Caller {
    const char* file;
    int line;
    static constexpr Caller here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        return {file, line};
    }
};

/// Runs `action`, which must throw an Error of that code, whose object() begins with `object` and whose text has every
/// fragment. Every Error must also say what to do, and name a number where sizes are at fault. Returns the Error for more
/// questions; one with empty parts if none was thrown.
Error expect_error(const std::function<void()>& action, ErrorCode code, std::string_view object,
                   std::initializer_list<std::string_view> fragments = {}, Caller where = Caller::here());

/// What every Error must be, whatever it says.
void expect_well_formed(const Error& error, Caller where = Caller::here());

/// The number of that name, or 0 with a test failure.
std::uint64_t number_of(const Error& error, std::string_view name, Caller where = Caller::here());

}  // namespace texton::test

#pragma once
#include <functional>
#include <initializer_list>
#include <source_location>
#include <string_view>

#include <texton/error.h>

namespace texton::test {

/// Runs `action`, which must throw an Error of that code, whose object() begins with `object` and whose text has every
/// fragment. Every Error must also say what to do, and name a number where sizes are at fault. Returns the Error for more
/// questions; one with empty parts if none was thrown.
Error expect_error(const std::function<void()>& action, ErrorCode code, std::string_view object,
                   std::initializer_list<std::string_view> fragments = {},
                   std::source_location where = std::source_location::current());

/// What every Error must be, whatever it says.
void expect_well_formed(const Error& error, std::source_location where = std::source_location::current());

/// The number of that name, or 0 with a test failure.
std::uint64_t number_of(const Error& error, std::string_view name,
                        std::source_location where = std::source_location::current());

}  // namespace texton::test

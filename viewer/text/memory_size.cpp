#include "viewer/text/memory_size.h"

#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include <texton/error.h>

namespace texton::viewer {

std::size_t memory_size(std::string_view text, const std::string& where) {
    constexpr std::array<std::pair<std::string_view, double>, 4> kUnits{
        {{"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}}};
    for (const auto& [unit, bytes] : kUnits) {
        if (!text.ends_with(unit)) continue;
        const std::string_view number = text.substr(0, text.size() - unit.size());
        const char* const end = number.data() + number.size();
        double value = 0;
        const auto [stop, error] = std::from_chars(number.data(), end, value);
        constexpr double kMost = 0x1p50;
        if (error != std::errc{} || stop != end || !(value * bytes >= 1 && value * bytes <= kMost)) break;
        return static_cast<std::size_t>(value * bytes);
    }
    throw Error({.code = ErrorCode::bad_argument,
                 .object = where,
                 .problem = fmt::format("'{}' is no size of memory", text),
                 .remedy = "Use a number and KiB, MiB, GiB or TiB, for example 512MiB or 2GiB."});
}

}  // namespace texton::viewer

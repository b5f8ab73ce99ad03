#pragma once
// The name that a user probably meant. This header needs no library, because the launcher of the command links none.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace texton::detail {

/// Returns the least number of letters to insert, delete, replace or exchange with their neighbors.
[[nodiscard]] inline std::size_t typing_errors(std::string_view typed, std::string_view name) {
    std::vector<std::size_t> before(name.size() + 1), last(name.size() + 1), next(name.size() + 1);
    for (std::size_t j = 0; j <= name.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= typed.size(); ++i) {
        next[0] = i;
        for (std::size_t j = 1; j <= name.size(); ++j) {
            const std::size_t replaced = last[j - 1] + (typed[i - 1] == name[j - 1] ? 0 : 1);
            next[j] = std::min({last[j] + 1, next[j - 1] + 1, replaced});
            const bool exchanged = i > 1 && j > 1 && typed[i - 1] == name[j - 2] && typed[i - 2] == name[j - 1];
            if (exchanged) next[j] = std::min(next[j], before[j - 2] + 1);
        }
        std::swap(before, last);
        std::swap(last, next);
    }
    return last.back();
}

/// Returns the name with the fewest typing errors, or an empty string if all have more than a third of their letters.
template <class Names>
[[nodiscard]] std::string nearest_name(std::string_view typed, const Names& names) {
    std::string nearest;
    std::size_t fewest = typed.size();
    const auto too_many = [&](std::size_t errors, std::string_view name) {
        return errors >= fewest || 3 * errors > name.size();
    };
    for (const std::string_view name : names) {
        const std::size_t letters = std::max(typed.size(), name.size()) - std::min(typed.size(), name.size());
        if (too_many(letters, name)) continue;  // there are at least as many errors
        const std::size_t errors = typing_errors(typed, name);
        if (too_many(errors, name)) continue;
        fewest = errors;
        nearest = name;
    }
    return nearest;
}

/// Returns " Did you mean 'NAME'?", or an empty string if no name is near.
template <class Names>
[[nodiscard]] std::string did_you_mean(std::string_view typed, const Names& names) {
    const std::string nearest = nearest_name(typed, names);
    return nearest.empty() ? "" : " Did you mean '" + nearest + "'?";
}

}  // namespace texton::detail

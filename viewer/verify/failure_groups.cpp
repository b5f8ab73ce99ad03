#include "viewer/verify/failure_groups.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "viewer/verify/image_difference.h"

namespace texton::verify {
namespace {

template <class T>
std::size_t hash_of(const std::vector<T>& values) {
    return std::hash<std::string_view>()({reinterpret_cast<const char*>(values.data()), sizeof(T) * values.size()});
}

// Returns a text that is equal for images in which the same texels differ by the same ulp distances.
std::string differing_texels(const HostImage& expected, const HostImage& actual) {
    const std::size_t bytes = info(actual.format).bytes;
    const std::vector<std::uint32_t> ulps = ulp_distances(expected.view(), actual.view());
    std::vector<std::uint64_t> texels;  // the distance of each texel that differs, after its index
    for (std::size_t i = 0; i < ulps.size(); ++i) {
        if (std::memcmp(&expected.texels[i * bytes], &actual.texels[i * bytes], bytes) == 0) continue;
        texels.push_back(i);
        texels.push_back(ulps[i]);
    }
    if (texels.empty()) return {};
    return fmt::format("; {}: {} {:x}", to_string(actual.extent), texels.size() / 2, hash_of(texels));
}

// Returns a text that is equal for cases that fail in the same way.
std::string failure_of(const Case& of, const Result& result) {
    std::string out = name(result.outcome);
    if (result.outcome == Outcome::no_reference) {
        for (const HostImage& image : result.images)
            out += fmt::format("; {}: {:x}", image.text(), hash_of(image.texels));
        return out;
    }
    if (result.comparisons.empty()) {
        const std::size_t at = of.where.empty() ? std::string::npos : result.message.find(of.where);
        std::string message = result.message;
        if (at != std::string::npos) message.erase(at, of.where.size());
        return out + ": " + message;
    }
    if (!has_references(of)) out += ": " + result.message;  // names files that a folder lacks
    if (result.reference->inputs != result.inputs) out += ", other inputs";
    for (std::size_t i = 0; i < result.images.size(); ++i) {
        const HostImage& expected = result.reference->images[i];
        out += differing_texels(expected, compared_image(expected, result.images[i], *result.criteria[i]));
    }
    return out;
}

// A lower value is more severe.
using Severity = std::tuple<int, double, double>;

Severity severity(const Result& result) {
    if (result.outcome == Outcome::failed) return {0, 0, 0};
    if (result.outcome == Outcome::no_reference) return {3, 0, 0};
    if (result.comparisons.empty()) return {1, 0, 0};
    double largest = 0;
    for (const Comparison& each : result.comparisons) largest = std::max(largest, each.all.max / each.peak);
    return {2, -largest, -static_cast<double>(result.differing())};
}

}  // namespace

bool is_failure(const Result& result) noexcept {
    return result.outcome != Outcome::passed && result.outcome != Outcome::skipped;
}

std::vector<std::vector<std::size_t>> failure_groups(const std::vector<const Case*>& cases,
                                                     const std::vector<Result>& results) {
    std::map<std::string, std::vector<std::size_t>> by_failure;
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (!is_failure(results[i])) continue;
        by_failure[failure_of(*cases[i], results[i])].push_back(i);
    }
    std::vector<std::pair<Severity, std::vector<std::size_t>>> sorted;
    for (auto& [failure, group] : by_failure) sorted.emplace_back(severity(results[group.front()]), std::move(group));
    std::ranges::sort(sorted);
    std::vector<std::vector<std::size_t>> groups;
    for (auto& [key, group] : sorted) groups.push_back(std::move(group));
    return groups;
}

}  // namespace texton::verify

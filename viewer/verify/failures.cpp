#include "viewer/verify/failures.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <span>
#include <string>

#include <fmt/format.h>

#include "viewer/model/sha256.h"
#include "viewer/verify/image_difference.h"

namespace texton::verify {
namespace {

// Failures with a higher rank are more severe.
int rank_of(const Result& result) {
    if (result.outcome == Outcome::failed) return 3;
    if (result.outcome == Outcome::no_reference) return 0;
    return result.comparisons.empty() ? 2 : 1;
}

// Returns a byte for each texel: 0 if its stored bits are equal, otherwise 1 and more with the size of the difference.
std::vector<std::byte> sizes_of_differences(const HostImage& expected, const HostImage& actual) {
    const std::vector<std::uint32_t> distances = ulp_distances(expected.view(), actual.view());
    const std::size_t bytes = info(actual.format).bytes;
    std::vector<std::byte> sizes(distances.size());
    for (std::size_t i = 0; i < sizes.size(); ++i)
        if (std::memcmp(&expected.texels[i * bytes], &actual.texels[i * bytes], bytes) != 0)
            sizes[i] = static_cast<std::byte>(1 + std::bit_width(distances[i]));
    return sizes;
}

// Returns a text that is equal for failures that are alike.
std::string kind_of(const Case& of, const Result& result) {
    if (result.comparisons.empty()) {
        std::string message = result.message;
        if (const std::size_t where = message.find(of.where); where != std::string::npos && !of.where.empty())
            message.erase(where, of.where.size());
        return fmt::format("{}: {}", name(result.outcome), message);
    }
    Sha256 hash;
    for (std::size_t i = 0; i < result.images.size(); ++i) {
        const HostImage& actual = result.images[i];
        const HostImage& expected = result.reference->images[i];
        const std::string size = to_string(actual.extent);
        hash.add(std::as_bytes(std::span(size)));
        hash.add(sizes_of_differences(expected, compared_image(expected, actual, *result.criteria[i])));
    }
    return hash.finish();
}

}  // namespace

bool is_failure(const Result& result) noexcept {
    return result.outcome != Outcome::passed && result.outcome != Outcome::skipped;
}

double relative_rmse(const Result& result) {
    double largest = 0;
    for (const Comparison& comparison : result.comparisons) {
        const double rmse = comparison.all.rmse / comparison.peak;
        largest = std::max(largest, std::isfinite(rmse) ? rmse : std::numeric_limits<double>::infinity());
    }
    return largest;
}

std::vector<FailureGroup> failure_groups(const std::vector<const Case*>& cases, const std::vector<Result>& results) {
    std::vector<std::size_t> failures;
    for (std::size_t i = 0; i < results.size(); ++i)
        if (is_failure(results[i])) failures.push_back(i);
    std::ranges::stable_sort(failures, [&](std::size_t a, std::size_t b) {
        const int rank_a = rank_of(results[a]), rank_b = rank_of(results[b]);
        return rank_a != rank_b ? rank_a > rank_b : relative_rmse(results[a]) > relative_rmse(results[b]);
    });
    std::vector<FailureGroup> groups;
    std::map<std::string, std::size_t> group_of;
    for (const std::size_t i : failures) {
        const auto [found, is_new] = group_of.emplace(kind_of(*cases[i], results[i]), groups.size());
        if (is_new) groups.emplace_back();
        groups[found->second].results.push_back(i);
    }
    return groups;
}

}  // namespace texton::verify

#include "viewer/verify/image_pairs.h"

#include <algorithm>

#include <fmt/format.h>

#include "viewer/verify/image_difference.h"

namespace texton::verify {
namespace {

std::string difference_text(const Result& result, const ImagePair& pair) {
    if (pair.actual == nullptr) return "only in the reference";
    if (pair.expected == nullptr) return result.reference ? "not in the reference" : "no reference";
    if (*pair.actual == *pair.expected) return "equal";
    if (pair.image && *pair.image < result.comparisons.size()) {
        const Difference& all = result.comparisons[*pair.image].all;
        const char* texels = all.differing == 1 ? "texel" : "texels";
        if (all.max_ulp == kFarthest) return fmt::format("{} {}, NaN", all.differing, texels);
        return fmt::format("{} {}, {} ulp", all.differing, texels, all.max_ulp);
    }
    return other_shape(*pair.expected, *pair.actual).empty() ? "not compared" : "other size or format";
}

}  // namespace

std::vector<ImagePair> image_pairs(const Result& result) {
    std::vector<ImagePair> pairs;
    std::vector<const HostImage*> left;
    if (result.reference)
        for (const HostImage& image : result.reference->images) left.push_back(&image);
    const std::vector<const HostImage*> all = left;
    for (std::size_t i = 0; i < result.images.size(); ++i) {
        const HostImage& image = result.images[i];
        ImagePair pair{.expected = nullptr, .actual = &image, .image = i, .text = {}};
        const auto found = image.name.empty() ? left.end() : std::ranges::find(left, image.name, &HostImage::name);
        if (found != left.end()) {
            pair.expected = *found;
        } else if (image.name.empty() && i < all.size()) {
            pair.expected = all[i];
        }
        std::erase(left, pair.expected);
        pairs.push_back(pair);
    }
    for (const HostImage* image : left)
        pairs.push_back({.expected = image, .actual = nullptr, .image = {}, .text = {}});
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const std::string& name = (pairs[i].actual != nullptr ? pairs[i].actual : pairs[i].expected)->name;
        pairs[i].text =
            fmt::format("{}: {}", name.empty() ? fmt::format("image {}", i) : name, difference_text(result, pairs[i]));
    }
    return pairs;
}

std::size_t worst_pair(const Result& result, const std::vector<ImagePair>& pairs) {
    const auto badness = [&](const ImagePair& pair) {
        if (pair.actual == nullptr || pair.expected == nullptr) return 3.0;
        if (*pair.actual == *pair.expected) return 0.0;
        if (*pair.image >= result.comparisons.size()) return 2.0;
        const Comparison& comparison = result.comparisons[*pair.image];
        return std::min(1.0, comparison.all.max / comparison.peak);
    };
    const auto worst = std::ranges::max_element(pairs, {}, badness);
    return static_cast<std::size_t>(worst - pairs.begin());
}

HostImage flip_map(const HostImage& expected, const HostImage& actual) {
    const Comparison found = compare(expected.view(), actual.view(), {.ssim = false, .flip = true, .worst = 0});
    HostImage out(Format::rgba8_unorm, actual.extent);
    out.texels = heat_map(found.flip->errors);
    return out;
}

}  // namespace texton::verify

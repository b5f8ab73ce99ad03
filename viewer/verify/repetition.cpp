#include "viewer/verify/repetition.h"

#include <algorithm>
#include <cstring>
#include <span>

#include <fmt/format.h>

#include "viewer/model/sha256.h"

namespace texton::verify {
namespace {

std::string hash_of(const std::vector<HostImage>& images) {
    Sha256 hash;
    for (const HostImage& image : images) {
        const std::string text = fmt::format("{} {} {};", image.name, image.text(), image.texels.size());
        hash.add(std::as_bytes(std::span(text)));
        hash.add(image.texels);
    }
    return hash.finish();
}

bool have_same_shape(const HostImage& a, const HostImage& b) {
    return a.name == b.name && a.format == b.format && a.extent == b.extent && a.file_channels == b.file_channels;
}

// Counts the texels that differ. `counts` is empty, or has a number for each texel.
void count_varying(const HostImage& a, const HostImage& b, std::vector<std::uint32_t>& counts) {
    const std::size_t bytes = info(a.format).bytes;
    counts.resize(a.extent.width * a.extent.height * a.extent.depth);
    for (std::size_t texel = 0; texel < counts.size(); ++texel)
        if (std::memcmp(&a.texels[texel * bytes], &b.texels[texel * bytes], bytes) != 0) ++counts[texel];
}

}  // namespace

std::string Repetition::text() const {
    std::string out = fmt::format("{} runs gave {} distinct {}", runs, distinct, distinct == 1 ? "result" : "results");
    if (failed > 0) out += fmt::format(", {} of them failed", failed);
    if (other_shapes) out += ", sizes or formats vary";
    out += fmt::format(", {} texels vary", varying);
    if (!first.empty()) out += fmt::format(", the first image that varies is {}", first);
    return out + fmt::format(", and {} reference is among the results", has_reference ? "a" : "no");
}

void RepeatedResults::add(const std::vector<HostImage>& images, bool equals_reference) {
    ++counts_.runs;
    if (images.empty()) {
        ++counts_.failed;
        return;
    }
    counts_.has_reference = counts_.has_reference || equals_reference;
    if (!hashes_.insert(hash_of(images)).second) return;
    if (first_.empty()) {
        first_ = images;
        varying_.resize(images.size());
        return;
    }
    compare(images);
}

// Compares a result with the first one.
void RepeatedResults::compare(const std::vector<HostImage>& images) {
    const bool same_shapes = std::ranges::equal(images, first_, have_same_shape);
    if (!same_shapes) counts_.other_shapes = true;
    for (std::size_t i = 0; i < std::max(images.size(), first_.size()); ++i) {
        const bool has_both = i < images.size() && i < first_.size();
        if (has_both && images[i] == first_[i]) continue;
        if (!first_different_ || i < *first_different_) {
            first_different_ = i;
            first_name_ = (i < first_.size() ? first_ : images)[i].name;
        }
        if (same_shapes) count_varying(first_[i], images[i], varying_[i]);
    }
}

Repetition RepeatedResults::repetition() const {
    Repetition out = counts_;
    out.distinct = hashes_.size();
    for (std::size_t i = 0; i < varying_.size(); ++i) {
        const auto varying = varying_[i].size() - static_cast<std::size_t>(std::ranges::count(varying_[i], 0U));
        out.varying += varying;
        if (varying > 0) out.images.push_back({i, first_[i].name, first_[i].extent, varying_[i]});
    }
    if (first_different_ && (first_.size() > 1 || counts_.other_shapes))
        out.first = first_name_.empty() ? fmt::format("image {}", *first_different_) : first_name_;
    return out;
}

}  // namespace texton::verify

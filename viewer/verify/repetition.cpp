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

}  // namespace

std::string Repetition::text() const {
    std::string out = fmt::format("{} runs gave {} distinct {}", runs, distinct, distinct == 1 ? "result" : "results");
    if (failed > 0) out += fmt::format(", {} of them failed", failed);
    if (other_shapes) out += ", sizes or formats vary";
    return out +
           fmt::format(", {} texels vary, and {} reference is among the results", varying, has_reference ? "a" : "no");
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
        for (const HostImage& image : images)
            varying_.emplace_back(image.extent.width * image.extent.height * image.extent.depth);
        return;
    }
    if (!std::ranges::equal(images, first_, have_same_shape)) {
        counts_.other_shapes = true;
        return;
    }
    for (std::size_t i = 0; i < images.size(); ++i) {
        const std::size_t bytes = info(images[i].format).bytes;
        for (std::size_t texel = 0; texel < varying_[i].size(); ++texel) {
            const std::size_t at = texel * bytes;
            if (std::memcmp(&images[i].texels[at], &first_[i].texels[at], bytes) != 0) varying_[i][texel] = true;
        }
    }
}

Repetition RepeatedResults::repetition() const {
    Repetition out = counts_;
    out.distinct = hashes_.size();
    for (const std::vector<bool>& texels : varying_)
        out.varying += static_cast<std::size_t>(std::ranges::count(texels, true));
    return out;
}

}  // namespace texton::verify

#include "viewer/verify/footprint.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <texton/array.h>
#include <texton/error.h>

#include "viewer/verify/run_suite.h"

namespace texton::verify {
namespace {

constexpr std::size_t kMostTaps = 64;

// Asks a kernel what it makes of a box of ones.
class Probe {
public:
    Probe(const Case& of, std::size_t picture) : run_(of.run), picture_(picture), input_(of.inputs.front()) {
        const HostArray source = read_input(input_);
        const Format read_as = input_.range.format.value_or(source.info.format);
        sampler_ = sampler_of(input_.sampler, input_.where, source.info, read_as);
        std::ranges::fill(sampler_.border, 0.0f);
        extent_ = source.info.extent;
        run_.format = Format::rgba32_float;
        usable_ = source.info.kind == ArrayKind::array_2d && source.info.levels == 1;
    }

    bool usable() const noexcept { return usable_; }
    Extent extent() const noexcept { return extent_; }

    /// The first channel of each pixel.
    std::vector<double> ask(const Region& box, const std::vector<Offset>& pixels) {
        const HostPicture picture = made(box);
        const auto* texels = reinterpret_cast<const float*>(picture.texels.data());
        std::vector<double> out;
        for (const Offset& at : pixels) {
            const std::size_t row = at.z * picture.extent.height + at.y;
            out.push_back(static_cast<double>(texels[4 * (row * picture.extent.width + at.x)]));
        }
        return out;
    }

private:
    HostPicture made(const Region& box) const {
        HostArray lit({.format = Format::rgba32_float, .extent = extent_});
        auto* texels = reinterpret_cast<float*>(lit.levels[0].texels.data());
        for (std::size_t y = box.offset.y; y < box.offset.y + box.extent.height; ++y) {
            float* row = texels + 4 * (y * extent_.width + box.offset.x);
            std::fill(row, row + 4 * box.extent.width, 1.0f);
        }
        const Device device = Device::cpu();
        const Texture texture(upload(device, lit), sampler_);
        return run(device, run_, std::span(&texture, 1)).at(picture_);
    }

    KernelRun run_;
    std::size_t picture_;
    Input input_;
    Sampler sampler_;
    Extent extent_;
    bool usable_ = false;
};

// One half of a box, along its longer side, and the other.
std::pair<Region, Region> halves(const Region& box) {
    std::pair<Region, Region> out{box, box};
    if (box.extent.width >= box.extent.height) {
        out.first.extent.width = box.extent.width / 2;
        out.second.extent.width -= out.first.extent.width;
        out.second.offset.x += out.first.extent.width;
    } else {
        out.first.extent.height = box.extent.height / 2;
        out.second.extent.height -= out.first.extent.height;
        out.second.offset.y += out.first.extent.height;
    }
    return out;
}

class Search {
public:
    Search(Probe& probe, const std::vector<Offset>& pixels) : probe_(probe), pixels_(pixels), taps_(pixels.size()) {}

    std::vector<std::optional<std::vector<Tap>>> result() {
        std::vector<std::size_t> all(pixels_.size());
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
        const Region whole{{}, probe_.extent()};
        const std::vector<double> sums = probe_.ask(whole, pixels_);
        split(whole, all);
        std::vector<std::optional<std::vector<Tap>>> out(pixels_.size());
        for (std::size_t i = 0; i < out.size(); ++i) {
            double sum = 0;
            for (const Tap& tap : taps_[i]) sum += tap.weight;
            const bool is_sum = std::abs(sum - sums[i]) < 1e-4 * (1 + std::abs(sums[i]));  // float32 sums
            if (taps_[i].empty() || taps_[i].size() > kMostTaps || !is_sum) continue;
            std::ranges::stable_sort(taps_[i], std::greater{}, [](const Tap& tap) { return std::abs(tap.weight); });
            out[i] = taps_[i];
        }
        return out;
    }

private:
    // Weights of both signs may add up to 0 in a large box: those are halved whatever they answer.
    static constexpr std::size_t kSmallBox = 64;

    void split(const Region& box, const std::vector<std::size_t>& wanted) {
        const std::vector<double> answers = probe_.ask(box, pixels_);
        std::vector<std::size_t> seen;
        const std::size_t texels = box.extent.width * box.extent.height;
        for (const std::size_t i : wanted) {
            if (taps_[i].size() > kMostTaps || (answers[i] == 0 && texels <= kSmallBox) || std::isnan(answers[i]))
                continue;
            if (texels == 1) {
                taps_[i].push_back({box.offset, answers[i]});
            } else {
                seen.push_back(i);
            }
        }
        if (seen.empty()) return;
        const auto [first, second] = halves(box);
        split(first, seen);
        split(second, seen);
    }

    Probe& probe_;
    const std::vector<Offset>& pixels_;
    std::vector<std::vector<Tap>> taps_;
};

}  // namespace

std::vector<std::optional<std::vector<Tap>>> footprints(const Case& of, const std::vector<Offset>& pixels,
                                                        std::size_t picture) {
    const std::vector<std::optional<std::vector<Tap>>> none(pixels.size());
    if (of.inputs.size() != 1 || pixels.empty()) return none;
    constexpr std::size_t kMostTexels = 1U << 14;  // each question is a run of the kernel
    try {
        Probe probe(of, picture);
        if (!probe.usable() || probe.extent().width * probe.extent().height > kMostTexels) return none;
        return Search(probe, pixels).result();
    } catch (const Error&) {
        return none;  // a kernel that does not take floats
    }
}

}  // namespace texton::verify

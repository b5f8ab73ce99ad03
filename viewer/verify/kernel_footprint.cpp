#include "viewer/verify/kernel_footprint.h"

#include <algorithm>
#include <cmath>

#include <texton/array.h>
#include <texton/error.h>

#include "viewer/verify/made_images.h"

namespace texton::verify {
namespace {

constexpr std::size_t kMaxTaps = 400;
constexpr std::size_t kMaxTexels = std::size_t{1} << 26;  // of all input images together

// Runs the kernel of a case on an image that is 1 inside a box and 0 elsewhere.
class Probe {
public:
    Probe(const KernelCase& of, std::size_t image) : run_(of.run), image_(image), input_(of.inputs.front()) {
        const std::vector<HostArray> sources = read_input(input_, run_);
        const HostArray& source = sources.front();
        const Format read_as = input_.range.format.value_or(source.info.format);
        sampler_ = sampler_of(input_.sampler, input_.where, source.info, read_as);
        std::ranges::fill(sampler_.border, 0.0f);
        extent_ = source.info.extent;
        run_.format = Format::rgba32_float;
        usable_ = sources.size() == 1 && source.info.kind == ArrayKind::array_2d && source.info.levels == 1;
    }

    bool usable() const noexcept { return usable_; }
    bool has_time() const noexcept { return asked_ + extent_.width * extent_.height <= kMaxTexels; }
    Extent extent() const noexcept { return extent_; }

    // Runs the kernel and returns the first channel of the pixel.
    double ask(const Region& box, const Offset& pixel) {
        asked_ += extent_.width * extent_.height;
        const HostImage image = made(box);
        const auto* texels = reinterpret_cast<const float*>(image.texels.data());
        const std::size_t row = pixel.z * image.extent.height + pixel.y;
        return static_cast<double>(texels[4 * (row * image.extent.width + pixel.x)]);
    }

private:
    HostImage made(const Region& box) const {
        HostArray lit({.format = Format::rgba32_float, .extent = extent_});
        auto* texels = reinterpret_cast<float*>(lit.levels[0].texels.data());
        for (std::size_t y = box.offset.y; y < box.offset.y + box.extent.height; ++y) {
            float* row = texels + 4 * (y * extent_.width + box.offset.x);
            std::fill(row, row + 4 * box.extent.width, 1.0f);
        }
        const Device device = Device::cpu();
        const Texture texture(upload(device, lit), sampler_);
        return run(device, run_, std::span(&texture, 1)).at(image_);
    }

    KernelRun run_;
    std::size_t image_;
    Input input_;
    Sampler sampler_;
    Extent extent_;
    std::size_t asked_ = 0;  // input texels so far
    bool usable_ = false;
};

// Returns the two halves of a box, which is split across its longer side.
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

// Finds the texels that contribute to a pixel by bisection.
class Search {
public:
    Search(Probe& probe, const Offset& pixel) : probe_(probe), pixel_(pixel) {}

    std::optional<std::vector<Tap>> result() {
        const Region whole{{}, probe_.extent()};
        split(whole);
        if (taps_.empty() || taps_.size() > kMaxTaps || !probe_.has_time()) return std::nullopt;
        double sum = 0;
        for (const Tap& tap : taps_) sum += tap.weight;
        const double whole_sum = probe_.ask(whole, pixel_);
        if (!(std::abs(sum - whole_sum) < 1e-4 * (1 + std::abs(whole_sum))))
            return std::nullopt;  // tolerance for float32 sums
        std::ranges::stable_sort(taps_, std::greater{}, [](const Tap& tap) { return std::abs(tap.weight); });
        return taps_;
    }

private:
    // The most texels of a box that is skipped if the pixel does not respond. In a larger box, weights of both signs
    // may cancel out, so it is halved even if the response is 0.
    static constexpr std::size_t kSmallBox = 64;

    void split(const Region& box) {
        if (taps_.size() > kMaxTaps || !probe_.has_time()) return;
        const std::size_t texels = box.extent.width * box.extent.height;
        const double answer = probe_.ask(box, pixel_);
        if ((answer == 0 && texels <= kSmallBox) || std::isnan(answer)) return;
        if (texels == 1) {
            taps_.push_back({box.offset, answer});
            return;
        }
        const auto [first, second] = halves(box);
        split(first);
        split(second);
    }

    Probe& probe_;
    const Offset& pixel_;
    std::vector<Tap> taps_;
};

}  // namespace

std::vector<std::optional<std::vector<Tap>>> footprints(const KernelCase& of, const std::vector<Offset>& pixels,
                                                        std::size_t image) {
    std::vector<std::optional<std::vector<Tap>>> out(pixels.size());
    if (of.inputs.size() != 1) return out;
    try {
        Probe probe(of, image);
        for (std::size_t i = 0; i < pixels.size() && probe.usable(); ++i) out[i] = Search(probe, pixels[i]).result();
    } catch (const Error&) {
        // The kernel does not accept floats, so its footprints are unknown.
    }
    return out;
}

}  // namespace texton::verify

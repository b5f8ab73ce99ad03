// Separable filters on the CPU device, tile by tile. A row of texels is decoded and summed horizontally, and the sums
// are kept as long as rows of the image need them.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <texton/launch.h>

#include "arrays/written_image.h"
#include "kernels/cpu/code_sums.h"
#include "kernels/cpu/job.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/line_vector.h"
#include "kernels/cpu/separable.h"
#include "kernels/cpu/sums.h"
#include "kernels/cpu/texel_rows.h"
#include "kernels/functors/filter_functors.h"
#include "kernels/launch/launch_state.h"

namespace texton::detail {
namespace {

class ConvolvedTile {
public:
    /// With `sharpen`, pixels are computed from the sums and from the texels at their positions.
    ConvolvedTile(const CpuJob& job, const SeparableWeights& weights, const std::optional<filters::Sharpen>& sharpen,
                  const PixelPosition& corner, std::size_t width)
        : job_(job),
          weights_(weights),
          sharpen_(sharpen),
          corner_(corner),
          width_(width),
          texels_(job.textures[0], job.shapes[0], corner.z),
          row_(width + weights.across.size() - 1),
          sums_(weights.down.size() * width),
          pixels_(width) {
        const TexelFormat& image = job.image.format().stored;
        past_caches_ = job.goes_past_caches();
        if (image.channels == 4 && are_alike_codes_of_8_bits(image, image) && 4 * width >= kMinCodeSums)
            sum_as_codes_ = row_sums_as_codes();
    }

    void make(std::size_t height) {
        const std::size_t taps = weights_.down.size();
        const std::int32_t first = corner_.y - static_cast<std::int32_t>(taps / 2);
        std::vector<const float*> rows(taps);
        for (std::size_t i = 0; i < height + taps - 1; ++i) {
            const std::int32_t row = first + static_cast<std::int32_t>(i);
            texels_.prefetch(corner_.x, row + kPrefetched, width_);
            sum_across(row, sums_row(i));
            if (i + 1 < taps) continue;
            const std::size_t y = i + 1 - taps;
            for (std::size_t tap = 0; tap < taps; ++tap) rows[tap] = sums_row(y + tap);
            const PixelPosition at{corner_.x, corner_.y + static_cast<std::int32_t>(y), corner_.z};
            sum_down(rows, at);
        }
    }

private:
    static constexpr std::int32_t kPrefetched = 2;  // rows ahead; they are too far apart for the CPU to prefetch them

    float* sums_row(std::size_t row) { return &sums_[row % weights_.down.size() * width_].x; }

    void sum_down(const std::vector<const float*>& rows, PixelPosition at) {
        const float* weights = weights_.down.data();
        if (sharpen_) {
            sum_rows(rows.data(), weights, rows.size(), 4 * width_, &pixels_[0].x);
            return sharpen(at);
        }
        if (sum_as_codes_ != nullptr) {
            return sum_as_codes_(rows.data(), weights, rows.size(), 4 * width_,
                                 reinterpret_cast<unsigned char*>(job_.image.address(at)));
        }
        job_.image.make_row(at, pixels_, [&](float* pixels) {
            sum_rows_as_pixels(rows.data(), weights, rows.size(), 4 * width_, pixels, past_caches_);
        });
    }

    // Expects the blurred pixels in `pixels_`.
    void sharpen(PixelPosition at) {
        texels_.centers(at.x, at.y, width_, row_.data());
        for (std::size_t i = 0; i < width_; ++i) pixels_[i] = (*sharpen_)(row_[i], pixels_[i]);
        job_.image.store(at, pixels_);
    }

    // Sums a row in up to three parts, so that only the parts at the texture's edges read texels beyond them.
    void sum_across(std::int32_t y, float* sums) {
        const auto reach = static_cast<std::int32_t>(weights_.across.size() / 2);
        const std::int32_t end = corner_.x + static_cast<std::int32_t>(width_);
        const std::int32_t left = std::clamp(reach, corner_.x, end);
        const std::int32_t right = std::clamp(job_.shapes[0].width - reach, left, end);
        for (const auto& [from, to] : {std::pair{corner_.x, left}, {left, right}, {right, end}}) {
            if (from < to) sum_part(from, y, static_cast<std::size_t>(to - from), sums + 4 * (from - corner_.x));
        }
    }

    void sum_part(std::int32_t x, std::int32_t y, std::size_t pixels, float* sums) {
        const std::size_t taps = weights_.across.size();
        const std::int32_t first = x - static_cast<std::int32_t>(taps / 2);
        const float* texels = texels_.centers_in_place(first, y, pixels + taps - 1, row_.data());
        shifted_.resize(taps);
        for (std::size_t tap = 0; tap < taps; ++tap) shifted_[tap] = texels + 4 * tap;
        sum_rows(shifted_.data(), weights_.across.data(), taps, 4 * pixels, sums);
    }

    const CpuJob& job_;
    const SeparableWeights& weights_;
    const std::optional<filters::Sharpen>& sharpen_;
    PixelPosition corner_;
    std::size_t width_;
    TexelRows texels_;
    LineVector<Float4> row_;
    LineVector<Float4> sums_;  // ring of as many rows as a pixel reads
    LineVector<Float4> pixels_;
    bool past_caches_ = false;
    SumRowsAsCodes sum_as_codes_ = nullptr;  // null: sums are floats, which are then encoded
    std::vector<const float*> shifted_;
};

std::vector<float> floats_of(const filters::Weights& weights) {
    return {weights.weight, weights.weight + 2 * weights.radius + 1};
}

}  // namespace

bool CpuKernels::convolve(Launch& launch, const filters::Separable& filter, const filters::Sharpen* sharpen) const {
    if (meets_source(launch.state().textures[0], launch.state().image)) return false;
    const SeparableWeights weights{floats_of(filter.across), floats_of(filter.down)};
    const auto sharpened = sharpen != nullptr ? std::optional(*sharpen) : std::nullopt;
    launch.run_job([weights, sharpened](const CpuJob& job) {
        // The sums that a row of pixels reads stay in the L1 cache, or nearly so.
        const std::size_t columns = std::clamp<std::size_t>(1536 / weights.down.size() / 64 * 64, 128, 512);
        const std::size_t rows = std::max<std::size_t>(128, 16 * weights.down.size());  // few rows are read twice
        for_each_tile(job.extent, columns, rows,
                      [&](const PixelPosition& corner, std::size_t width, std::size_t height) {
                          if (!sharpened && convolve_codes(job, weights, corner, width, height)) return;
                          ConvolvedTile(job, weights, sharpened, corner, width).make(height);
                      });
    });
    return true;
}

}  // namespace texton::detail

// Separable filters of 8-bit normalized formats on the CPU device, for weights that are not negative and add up to at
// most 1.
//
// A pixel is a code, so its sum need not be exact to the last bit. Products are fused with sums, which halves the
// number of operations. Codes are summed instead of normalized values, and columns are summed before rows, so that only
// codes are kept. If such a sum is so close to a half that the sum of rounded products might be on the other side of
// it, which happens for one of thousands, the pixel is summed again in the order of the definition.
#include <algorithm>
#include <bit>
#include <numeric>

#include <texton/pixel_encode.h>

#include "kernels/cpu/code_sums.h"
#include "kernels/cpu/line_vector.h"
#include "kernels/cpu/separable.h"
#include "kernels/cpu/texel_rows.h"

namespace texton::detail {
namespace {

// The sum of both axes' taps is at most twice this number: summing a pixel again costs their product.
constexpr std::size_t kMaxTaps = 11;
constexpr std::size_t kChannels = 4;

// Returns false if a sum of codes might be outside of 0 to 255.
bool keep_codes(const SeparableWeights& weights) {
    const auto are_shares = [](const std::vector<float>& all) {
        return std::ranges::all_of(all, [](float weight) { return weight >= 0 && weight <= 1; }) &&
               std::accumulate(all.begin(), all.end(), 0.0) < 1.0001;
    };
    return are_shares(weights.across) && are_shares(weights.down);
}

class CodeTile {
public:
    CodeTile(const CpuJob& job, const SeparableWeights& weights, const PixelPosition& corner, std::size_t width)
        : job_(job),
          weights_(weights),
          sums_of_(*fused_sums()),
          corner_(corner),
          values_(kChannels * width),
          texels_(job.textures[0], job.shapes[0], corner.z),
          rows_(weights.down.size()),
          doubtful_((values_ + FusedSums::kBlock - 1) / FusedSums::kBlock) {
        const std::size_t read = values_ + kChannels * (weights.across.size() - 1);
        const std::size_t whole = (read + FusedSums::kBlock - 1) / FusedSums::kBlock * FusedSums::kBlock;
        for (LineVector<float>& row : rows_) row.resize(whole);
        sums_.resize(whole);
        for (const float weight : weights.down) down_.push_back(weight * 65536);
    }

    bool applies() const { return texels_.are_stored(); }

    void make(std::size_t height) {
        const std::size_t taps = weights_.down.size();
        std::vector<const float*> rows(taps);
        for (std::size_t i = 0; i < height + taps - 1; ++i) {
            const std::int32_t y = corner_.y + static_cast<std::int32_t>(i) - static_cast<std::int32_t>(taps / 2);
            texels_.prefetch(corner_.x, y + kPrefetched, values_ / kChannels);
            read(y, rows_[i % taps]);
            if (i + 1 < taps) continue;
            first_row_ = i + 1 - taps;
            for (std::size_t tap = 0; tap < taps; ++tap) rows[tap] = row_of(tap);
            sums_of_.down(rows.data(), down_.data(), taps, sums_.size(), sums_.data());
            PixelPosition at = corner_;
            at.y += static_cast<std::int32_t>(first_row_);
            auto* const codes = reinterpret_cast<unsigned char*>(job_.image.address(at));
            sums_of_.across(sums_.data(), weights_.across.data(), weights_.across.size(), values_, doubt(), codes,
                            doubtful_.data());
            settle(codes);
        }
    }

private:
    static constexpr std::int32_t kPrefetched = 6;  // rows ahead; they are too far apart for the CPU to prefetch them

    const float* row_of(std::size_t tap) const { return rows_[(first_row_ + tap) % rows_.size()].data(); }

    // Returns a bound of the rounding errors of both sums in 65536ths. Each error is at most 2^-24 of a number below
    // 256. A fused sum has one error for each tap. The defined sum also has errors of the normalized values, of their
    // product with 255, and of the half that is added. The comparison of both has errors too.
    std::uint16_t doubt() const {
        return static_cast<std::uint16_t>(2 * (weights_.across.size() + weights_.down.size()) + 10);
    }

    // Reads the texels of a row that the tile needs, as codes.
    void read(std::int32_t y, LineVector<float>& row) const {
        const auto reach = static_cast<std::int32_t>(weights_.across.size() / 2);
        const std::int32_t first = corner_.x - reach;
        const std::int32_t end = corner_.x + static_cast<std::int32_t>(values_ / kChannels) + reach;
        const SourceShape& shape = job_.shapes[0];
        const bool is_inside = y >= 0 && y < shape.height;
        const std::int32_t left = is_inside ? std::clamp(0, first, end) : end;
        const std::int32_t right = is_inside ? std::clamp(shape.width, left, end) : end;
        const auto at = [&](std::int32_t x) { return row.data() + std::ptrdiff_t{4} * (x - first); };
        read_outside(first, left, y, at(first));
        if (left < right) {
            sums_of_.widen(texels_.stored(left, y), kChannels * static_cast<std::size_t>(right - left), at(left));
        }
        read_outside(right, end, y, at(right));
    }

    void read_outside(std::int32_t x, std::int32_t end, std::int32_t y, float* codes) const {
        if (x >= end) return;
        const auto pixels = static_cast<std::size_t>(end - x);
        texels_.centers(x, y, pixels, reinterpret_cast<Float4*>(codes));
        for (std::size_t i = 0; i < kChannels * pixels; ++i)
            codes[i] = static_cast<float>(unorm_code_of(codes[i], 255));
    }

    void settle(unsigned char* codes) const {
        for (std::size_t block = 0; block < doubtful_.size(); ++block) {
            const std::size_t at = std::min(block * FusedSums::kBlock, values_ - FusedSums::kBlock);
            for (std::uint64_t bits = doubtful_[block]; bits != 0; bits &= bits - 1) {
                const std::size_t value = at + static_cast<std::size_t>(std::countr_zero(bits));
                codes[value] = static_cast<unsigned char>(unorm_code_of(defined_sum(value), 255));
            }
        }
    }

    float defined_sum(std::size_t value) const {
        float sum = 0;
        for (std::size_t down = 0; down < weights_.down.size(); ++down) {
            const float* codes = row_of(down) + value;
            float of_row = 0;
            for (std::size_t tap = 0; tap < weights_.across.size(); ++tap)
                of_row += codes[kChannels * tap] / 255.0f * weights_.across[tap];
            sum += of_row * weights_.down[down];
        }
        return sum;
    }

    const CpuJob& job_;
    const SeparableWeights& weights_;
    const FusedSums& sums_of_;
    PixelPosition corner_;
    std::size_t values_;  // number of values of a row of pixels
    TexelRows texels_;
    std::vector<LineVector<float>> rows_;  // ring of rows of codes: as many as a pixel reads
    std::size_t first_row_ = 0;
    std::vector<float> down_;  // weights of the rows, in 65536ths
    LineVector<float> sums_;   // sums of the columns
    std::vector<std::uint64_t> doubtful_;
};

}  // namespace

bool convolve_codes(const CpuJob& job, const SeparableWeights& weights, const PixelPosition& corner, std::size_t width,
                    std::size_t height) {
    const TexelFormat& image = job.image.format().stored;
    if (fused_sums() == nullptr || kChannels * width < FusedSums::kBlock || image.channels != kChannels ||
        !are_alike_codes_of_8_bits(job.textures[0].format, image) || !keep_codes(weights) ||
        weights.across.size() + weights.down.size() > 2 * kMaxTaps)
        return false;
    CodeTile tile(job, weights, corner, width);
    if (!tile.applies()) return false;
    tile.make(height);
    return true;
}

}  // namespace texton::detail

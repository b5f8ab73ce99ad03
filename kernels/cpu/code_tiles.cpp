#include "kernels/cpu/code_tiles.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "core/line_vector.h"
#include "kernels/cpu/code_sums.h"
#include "kernels/cpu/texel_rows.h"

namespace texton::detail {
namespace {

constexpr std::size_t kPart =
    1024;  // codes of a row that are summed at a time, so that their sums stay in the L1 cache

// The maxima of the pixels along an axis.
struct AxisBounds {
    float total = 0;  // sum of the absolute weights
    std::size_t taps = 0;
    std::size_t all_taps = 0;  // of all pixels together, without those whose weight is 0
    std::size_t weights = 0;   // the same, but consecutive taps with the same weight count once
    bool meets = true;         // each pixel has texels inside the texture

    AxisBounds(const SumAxis& axis, std::size_t pixels, std::int32_t texels) {
        for (std::size_t begin = 0; begin < pixels; begin += kLineBlock)
            add_group(axis, begin, std::min(kLineBlock, pixels - begin), texels);
    }

private:
    void add_group(const SumAxis& axis, std::size_t begin, std::size_t pixels, std::int32_t texels) {
        std::size_t of_group = 0;
        for (std::size_t i = begin; i < begin + pixels; ++i) {
            const auto count = static_cast<std::size_t>(axis.count[i]);
            of_group = std::max(of_group, count);
            meets = meets && axis.first[i] < texels && axis.first[i] + std::int64_t{axis.count[i]} > 0;
        }
        taps = std::max(taps, of_group);
        // Pixels have zeros after their last tap.
        const float* tap_weights = axis.taps(begin).weights;
        float before[kLineBlock] = {}, sum[kLineBlock] = {};
        for (std::size_t tap = 0; tap < of_group; ++tap, tap_weights += kLineBlock) {
            std::uint32_t counting = 0, starting = 0;
            for (std::size_t i = 0; i < pixels; ++i) {
                const float weight = tap_weights[i];
                sum[i] += std::abs(weight);
                counting += weight != 0 ? 1 : 0;
                starting += ((weight != 0) & (weight != before[i])) ? 1 : 0;
                before[i] = weight;
            }
            all_taps += counting;
            weights += starting;
        }
        total = std::max(total, *std::max_element(sum, sum + pixels));
    }
};

class CodeTile {
public:
    CodeTile(const CpuJob& job, const SeparableSums& sums, float margin, const PixelPosition& corner, std::size_t width)
        : job_(job),
          sums_(sums),
          margin_(margin),
          corner_(corner),
          width_(width),
          texels_(job.textures[0], job.shapes[0], corner.z),
          channels_(texels_.channels()),
          taps_(lines_.prepare(sums.x, static_cast<std::size_t>(corner.x), width, 1, LineValues::codes)),
          parts_(parts_of_line(taps_, taps_.blocks, kPart / channels_)) {
        std::size_t texels = 0, blocks = 0;
        for (const LinePart& part : parts_) {
            texels = std::max(texels, part.texels);
            blocks = std::max(blocks, part.blocks.size());
        }
        down_apart_ = whole_line_blocks(texels + 2 * kLineBlock) + kLineRest;
        along_apart_ = whole_line_blocks(blocks * lanes());
        down_.resize(channels_ * down_apart_);
        along_.resize(channels_ * along_apart_);
        doubtful_.resize(along_apart_ + kLineBlock);
    }

    std::size_t make(std::size_t height) {
        if (!texels_.are_stored()) return 0;
        for (std::size_t i = 0; i < height; ++i) {
            if (!make_row(corner_.y + static_cast<std::int32_t>(i))) return i;
        }
        return height;
    }

private:
    std::size_t lanes() const { return taps_.values / taps_.blocks.size(); }

    // Returns false, and may leave the row incomplete, if so many codes were doubtful that the definition takes less
    // time.
    bool make_row(std::int32_t y) {
        constexpr std::size_t kFew = 32;  // one code of so many may be doubtful
        const SumAxis::Taps column = sums_.y.taps(static_cast<std::size_t>(y));
        rows_.clear();
        summed_.clear();
        weights_.clear();
        for (std::size_t tap = 0; tap < column.count; ++tap) {
            const std::int32_t row = column.first + static_cast<std::int32_t>(tap);
            rows_.push_back(texels_.stored(0, std::clamp(row, 0, job_.shapes[0].height - 1)));
            if (column[tap] == 0) continue;
            summed_.push_back(rows_.back());
            weights_.push_back(column[tap] / (255 * sums_.divisor));
        }
        for (const LinePart& part : parts_) {
            const std::size_t first = static_cast<std::size_t>(part.blocks.data() - taps_.blocks.data()) * lanes();
            if (first >= width_) break;  // only blocks after the last pixel are left
            const std::size_t count = std::min(part.blocks.size() * lanes(), width_ - first);
            const PixelPosition at{corner_.x + static_cast<std::int32_t>(first), y, corner_.z};
            sum_down(part);
            lines_.along(taps_, part.blocks, channels_, down_.data() - part.begin, down_apart_, along_.data() - first,
                         along_apart_);
            job_.image.store(at, along_.data(), along_apart_, count);
            codes_made_ += count * channels_;
            for (std::size_t c = 0; c < channels_; ++c) codes_settled_ += settle(at, c, count, column);
            if (codes_settled_ * kFew > codes_made_) return false;
        }
        return true;
    }

    // Sums the texels of a part. Texels beyond the edges have the sums of those at the edges.
    void sum_down(const LinePart& part) {
        const std::int32_t x = taps_.first_texel + part.begin;
        const auto first = static_cast<std::size_t>(std::max(x, 0));
        const auto before = static_cast<std::size_t>(std::max(-x, 0));
        const std::size_t inside = std::min(part.texels - before, static_cast<std::size_t>(texels_.width()) - first);
        part_rows_.clear();
        for (const unsigned char* const row : summed_) part_rows_.push_back(row + first * channels_);
        code_sums_.down({part_rows_, weights_}, channels_, inside, down_.data() + before, down_apart_);
        for (std::size_t c = 0; c < channels_; ++c) {
            float* const line = &down_[c * down_apart_];
            std::fill_n(line, before, line[before]);
            std::fill(line + before + inside, line + part.texels, line[before + inside - 1]);
        }
    }

    // Stores the codes of doubtful pixels from `at` on, in one channel. Returns their number.
    std::size_t settle(const PixelPosition& at, std::size_t channel, std::size_t count, const SumAxis::Taps& column) {
        const float* const values = &along_[channel * along_apart_];
        const std::size_t found = code_sums_.find_doubtful(values, count, margin_, doubtful_.data());
        auto* const codes = reinterpret_cast<unsigned char*>(job_.image.address(at)) + channel;
        for (std::size_t i = 0; i < found; ++i) {
            const auto pixel = static_cast<std::size_t>(doubtful_[i]);
            const SumAxis::Taps row = sums_.x.taps(static_cast<std::size_t>(at.x) + pixel);
            codes[pixel * channels_] =
                code_sums_.code_of({rows_.data(), channel, channels_, texels_.width(), row, column, sums_.divisor});
        }
        return found;
    }

    const LineSums& lines_ = *line_sums();
    const CodeSums& code_sums_ = *code_sums();
    const CpuJob& job_;
    const SeparableSums& sums_;
    float margin_;
    PixelPosition corner_;
    std::size_t width_;
    TexelRows texels_;
    std::size_t channels_;
    LineTaps taps_;
    std::vector<LinePart> parts_;
    std::vector<const unsigned char*> rows_;    // of texels: the taps of a row of pixels
    std::vector<const unsigned char*> summed_;  // those whose weight is not 0
    std::vector<float> weights_;                // of these rows, for sums from 0 to 1
    // Of a part:
    std::vector<const unsigned char*> part_rows_;
    LineVector<float> down_;   // a line for each channel
    LineVector<float> along_;  // a line for each channel
    std::size_t down_apart_ = 0;
    std::size_t along_apart_ = 0;
    std::vector<std::int32_t> doubtful_;
    // Of the tile:
    std::size_t codes_made_ = 0;
    std::size_t codes_settled_ = 0;
};

// Returns whether adding down columns first takes at most three quarters of the operations that it saves. For each row
// of pixels that a row of texels is part of, a vector of its codes is converted, multiplied and added, or only added if
// the row before it has the same weight. It need not be converted to floats and stored, which takes five operations.
bool is_faster(const SumAxis& axis, std::size_t pixels, std::int32_t texels, const AxisBounds& bounds) {
    const SumAxis::Taps last = axis.taps(pixels - 1);
    const std::int64_t end = std::min<std::int64_t>(last.first + static_cast<std::int64_t>(last.count), texels);
    const std::int64_t rows = end - std::max(axis.taps(0).first, 0);  // rows beyond the edges repeat those at the edges
    return std::cmp_less_equal(4 * (3 * bounds.weights + (bounds.all_taps - bounds.weights)), 3 * 5 * rows);
}

}  // namespace

std::optional<float> margin_of_codes(const CpuJob& job, const SeparableSums& sums) {
    constexpr float kMaxMargin = 1.0f / 64;  // with a larger one, too many codes are doubtful
    const TexelFormat& format = job.textures[0].format;
    const SourceShape& shape = job.shapes[0];
    if (code_sums() == nullptr || sums.x.slides || sums.y.slides || format != job.image.format().stored ||
        format.encoding != Encoding::unorm || format.bits != 8 || format.packing != Packing::plain ||
        !clamps_rows(job.textures[0].sampler) || std::cmp_greater(job.extent.width, shape.width) ||
        std::cmp_greater(job.extent.height, shape.height))
        return std::nullopt;
    const AxisBounds y(sums.y, job.extent.height, shape.height);
    if (!y.meets || !is_faster(sums.y, job.extent.height, shape.height, y)) return std::nullopt;
    const AxisBounds x(sums.x, job.extent.width, shape.width);
    const float margin = margin_of_sums(x.total, y.total, sums.divisor, x.taps, y.taps);
    return x.meets && margin <= kMaxMargin ? std::optional(margin) : std::nullopt;
}

std::size_t sum_codes(const CpuJob& job, const SeparableSums& sums, float margin, PixelPosition corner,
                      std::size_t width, std::size_t height) {
    return CodeTile(job, sums, margin, corner, width).make(height);
}

}  // namespace texton::detail

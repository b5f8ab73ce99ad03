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
        for (std::size_t i = 0; i < pixels; ++i) {
            const SumAxis::Taps of_pixel = axis.taps(i);
            float sum = 0;
            for (std::size_t tap = 0; tap < of_pixel.count; ++tap) {
                if (of_pixel[tap] == 0) continue;
                sum += std::abs(of_pixel[tap]);
                ++all_taps;
                if (tap == 0 || of_pixel[tap] != of_pixel[tap - 1]) ++weights;
            }
            total = std::max(total, sum);
            taps = std::max(taps, of_pixel.count);
            meets = meets && of_pixel.first < texels && of_pixel.first + std::int64_t{axis.count[i]} > 0;
        }
    }
};

class CodeTile {
public:
    CodeTile(const CpuJob& job, const SeparableSums& sums, float margin, const PixelPosition& corner, std::size_t width)
        : job_(job),
          sums_(sums),
          margin_(margin),
          corner_(corner),
          texels_(job.textures[0], job.shapes[0], corner.z),
          step_(texels_.channels()),
          values_(width * step_),
          taps_(lines_.prepare(sums.x, static_cast<std::size_t>(corner.x), width, step_, LineValues::codes)),
          parts_(parts_of_line(taps_, taps_.blocks, kPart / step_)) {
        std::size_t texels = 0, blocks = 0;
        for (const LinePart& part : parts_) {
            texels = std::max(texels, part.texels);
            blocks = std::max(blocks, part.blocks.size());
        }
        const std::size_t values = blocks * lanes() + kLineRest;
        down_.resize(whole_line_blocks(texels * step_) + kLineRest);
        along_.resize(values);
        codes_.resize(values);
        doubtful_.resize(values);
    }

    std::size_t make(std::size_t height) {
        if (!texels_.are_stored()) return 0;
        constexpr std::size_t kFew = 32;  // one code of so many may be doubtful
        std::size_t doubtful = 0;
        for (std::size_t i = 0; i < height; ++i) {
            doubtful += make_row(corner_.y + static_cast<std::int32_t>(i));
            if (doubtful * kFew > (i + 1) * values_) return i + 1;
        }
        return height;
    }

private:
    std::size_t lanes() const { return taps_.values / taps_.blocks.size(); }

    // Returns how many codes were doubtful.
    std::size_t make_row(std::int32_t y) {
        const SumAxis::Taps column = sums_.y.taps(static_cast<std::size_t>(y));
        rows_.clear();
        summed_.clear();
        weights_.clear();
        for (std::size_t tap = 0; tap < column.count; ++tap) {
            const std::int32_t row = column.first + static_cast<std::int32_t>(tap);
            rows_.push_back(texels_.stored(0, std::clamp(row, 0, job_.shapes[0].height - 1)));
            if (column[tap] == 0) continue;
            summed_.push_back(rows_.back());
            weights_.push_back(column[tap]);
        }
        auto* const image = reinterpret_cast<unsigned char*>(job_.image.address({corner_.x, y, corner_.z}));
        std::size_t doubtful = 0;
        for (const LinePart& part : parts_) {
            sum_down(part);
            const auto block = static_cast<std::size_t>(part.blocks.data() - taps_.blocks.data());
            const std::size_t first = block * lanes();
            if (first >= values_) break;
            const std::size_t count = std::min(part.blocks.size() * lanes(), values_ - first);
            lines_.along(taps_, part.blocks, 1, down_.data() - part.begin * static_cast<std::ptrdiff_t>(step_), 0,
                         along_.data() - first, 0);
            const std::size_t found =
                code_sums_.round(along_.data(), 1 / sums_.divisor, count, margin_, codes_.data(), doubtful_.data());
            for (std::size_t i = 0; i < found; ++i) {
                const auto k = static_cast<std::size_t>(doubtful_[i]);
                codes_[k] = code_of(first + k, column);
            }
            std::memcpy(image + first, codes_.data(), count);
            doubtful += found;
        }
        return doubtful;
    }

    // Sums the texels of a part. Texels beyond the edges have the sums of those at the edges.
    void sum_down(const LinePart& part) {
        const std::int32_t x = taps_.first_texel + part.begin, end = x + static_cast<std::int32_t>(part.texels);
        const std::int32_t first = std::max(x, 0), last = std::min(end, texels_.width());
        const auto bytes_of = [&](std::int32_t texels) { return static_cast<std::size_t>(texels) * step_; };
        part_rows_.clear();
        for (const unsigned char* const row : summed_) part_rows_.push_back(row + bytes_of(first));
        float* const inside = down_.data() + bytes_of(first - x);
        code_sums_.down(part_rows_, weights_, bytes_of(last - first), inside);
        for (float* to = down_.data(); to != inside; to += step_) std::copy_n(inside, step_, to);
        const float* const edge = inside + bytes_of(last - first - 1);
        for (std::int32_t texel = last; texel < end; ++texel)
            std::copy_n(edge, step_, down_.data() + bytes_of(texel - x));
    }

    unsigned char code_of(std::size_t value, const SumAxis::Taps& column) const {
        const SumAxis::Taps row = sums_.x.taps(static_cast<std::size_t>(corner_.x) + value / step_);
        return code_sums_.code_of({rows_.data(), value % step_, step_, texels_.width(), row, column, sums_.divisor});
    }

    const LineSums& lines_ = *line_sums();
    const CodeSums& code_sums_ = *code_sums();
    const CpuJob& job_;
    const SeparableSums& sums_;
    float margin_;
    PixelPosition corner_;
    TexelRows texels_;
    std::size_t step_;    // codes of a texel
    std::size_t values_;  // codes of a row
    LineTaps taps_;
    std::vector<LinePart> parts_;
    std::vector<const unsigned char*> rows_;    // of texels: the taps of a row of pixels
    std::vector<const unsigned char*> summed_;  // those whose weight is not 0
    std::vector<float> weights_;                // of these rows
    // Of a part:
    std::vector<const unsigned char*> part_rows_;
    LineVector<float> down_;
    LineVector<float> along_;
    LineVector<unsigned char> codes_;
    std::vector<std::int32_t> doubtful_;
};

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
    // Adding down columns first reads a row of texels for each row of pixels that it is part of. It is faster if many
    // consecutive rows have the same weight, so that their codes are added as integers.
    const AxisBounds y(sums.y, job.extent.height, shape.height);
    if (!y.meets || 3 * y.all_taps < 5 * y.weights) return std::nullopt;
    const AxisBounds x(sums.x, job.extent.width, shape.width);
    const float margin = margin_of_sums(x.total, y.total, sums.divisor, x.taps, y.taps);
    return x.meets && margin <= kMaxMargin ? std::optional(margin) : std::nullopt;
}

std::size_t sum_codes(const CpuJob& job, const SeparableSums& sums, float margin, PixelPosition corner,
                      std::size_t width, std::size_t height) {
    return CodeTile(job, sums, margin, corner, width).make(height);
}

}  // namespace texton::detail

// Weighted means of rectangles of texels on the CPU device. Rows of texels are decoded once for a tile and added to a
// whole row of pixels.
#include <algorithm>
#include <vector>

#include <texton/launch.h>

#include "kernels/cpu/byte_lattice.h"
#include "kernels/cpu/halves.h"
#include "kernels/cpu/job.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/line_vector.h"
#include "kernels/cpu/sums.h"
#include "kernels/cpu/texel_rows.h"

namespace texton::detail {
namespace {

std::int32_t texels_of(const BoxAxis& axis, std::size_t pixel) {
    return static_cast<std::int32_t>(axis.begin[pixel + 1] - axis.begin[pixel]);
}

class BoxTile {
public:
    BoxTile(const CpuJob& job, const Boxes& boxes, const PixelPosition& corner, std::size_t width)
        : job_(job),
          boxes_(boxes),
          corner_(corner),
          texels_(job.textures[0], job.shapes[0], corner.z),
          sums_(width),
          row_sums_(width),
          totals_(width, boxes.total),
          past_caches_(job.goes_past_caches()) {
        const auto column = static_cast<std::size_t>(corner.x);
        const auto end = [&](std::size_t i) { return boxes.x.first[i] + texels_of(boxes.x, i); };
        first_texel_ = boxes.x.first[column];
        std::int32_t last = end(column);
        for (std::size_t i = column; i < column + width; ++i) {
            first_texel_ = std::min(first_texel_, boxes.x.first[i]);
            last = std::max(last, end(i));
        }
        for (std::size_t i = column; i < column + width; ++i) first_.push_back(boxes.x.first[i] - first_texel_);
        texels_across_ = static_cast<std::size_t>(last - first_texel_);
        are_halves_ = boxes.kind == BoxSum::of_products && reads_halves();
    }

    void make(std::size_t height) {
        for (std::size_t i = 0; i < height; ++i) {
            if (average_halves(row_of(i)) || average_few(row_of(i))) continue;
            std::ranges::fill(sums_, Float4{});
            if (boxes_.kind == BoxSum::of_products) std::ranges::fill(totals_, 0.0f);
            const std::size_t row = row_of(i);
            for (std::int32_t j = 0; j < texels_of(boxes_.y, row); ++j)
                add_row(boxes_.y.first[row] + j, boxes_.y.weights[boxes_.y.begin[row] + static_cast<std::uint32_t>(j)]);
            job_.image.make_row({corner_.x, static_cast<std::int32_t>(row), corner_.z}, row_sums_, [&](float* pixels) {
                divide_pixels(&sums_[0].x, totals_.data(), sums_.size(), pixels);
            });
        }
    }

private:
    static constexpr std::size_t kKeptRows = 16;

    struct TexelRow {
        bool known = false;
        std::int32_t y = 0;
        LineVector<Float4> texels;
    };

    std::size_t row_of(std::size_t i) const { return static_cast<std::size_t>(corner_.y) + i; }

    // Returns true if each pixel covers two texels in a row with equal weights.
    bool reads_halves() const {
        const auto column = static_cast<std::size_t>(corner_.x);
        for (std::size_t i = 0; i < first_.size(); ++i) {
            if (texels_of(boxes_.x, column + i) != 2 || first_[i] != static_cast<std::int32_t>(2 * i)) return false;
        }
        const float* weights = boxes_.x.weights.data() + boxes_.x.begin[column];
        return std::all_of(weights, weights + 2 * first_.size(), [](float weight) { return weight == 1; });
    }

    // Prepares the first tap of all pixels, then the second, and so on, if no pixel has too many taps.
    void prepare_few() {
        few_are_prepared_ = true;
        const auto column = static_cast<std::size_t>(corner_.x);
        const std::size_t width = first_.size();
        for (std::size_t i = column; i < column + width; ++i)
            taps_ = std::max(taps_, static_cast<std::size_t>(texels_of(boxes_.x, i)));
        if (taps_ > FewTexels::kMax) return;
        weights_.resize(taps_ * width);
        taken_.resize(taps_ * width);
        for (std::size_t i = 0; i < width; ++i) {
            const auto count = static_cast<std::size_t>(texels_of(boxes_.x, column + i));
            for (std::size_t tap = 0; tap < taps_; ++tap) {
                const bool has_tap = tap < count;
                taken_[tap * width + i] = has_tap ? first_[i] + static_cast<std::int32_t>(tap) : 0;
                weights_[tap * width + i] = has_tap ? boxes_.x.weights[boxes_.x.begin[column + i] + tap] : 0;
            }
        }
    }

    // Computes a row of means of 2 x 2 texels with equal weights. Returns false if it does not apply.
    bool average_halves(std::size_t row) {
        const float* weights = boxes_.y.weights.data() + boxes_.y.begin[row];
        if (!are_halves_ || texels_of(boxes_.y, row) != 2 || weights[0] != 1 || weights[1] != 1) return false;
        const std::int32_t y = boxes_.y.first[row];
        const PixelPosition at{corner_.x, static_cast<std::int32_t>(row), corner_.z};
        const float* top = texels_of_row(y);
        const float* bottom = texels_of_row(y + 1);
        job_.image.make_row(at, row_sums_, [&](float* pixels) {
            halve_floats(top, bottom, sums_.size(), HalfSum::in_turn, pixels, past_caches_);
        });
        return true;
    }

    // Computes a row of pixels that cover few texels. Returns false if pixels cover too many texels or more rows than
    // are kept.
    bool average_few(std::size_t row) {
        const auto count = static_cast<std::size_t>(texels_of(boxes_.y, row));
        if (boxes_.kind == BoxSum::of_products && !few_are_prepared_) prepare_few();
        if (boxes_.kind != BoxSum::of_products || count > kKeptRows || count * taps_ > FewTexels::kMax) return false;
        const float* rows[kKeptRows];
        for (std::size_t i = 0; i < count; ++i)
            rows[i] = texels_of_row(boxes_.y.first[row] + static_cast<std::int32_t>(i));
        const FewTexels few{
            rows,        boxes_.y.weights.data() + boxes_.y.begin[row], count, taken_.data(), weights_.data(), taps_,
            sums_.size()};
        job_.image.make_row({corner_.x, static_cast<std::int32_t>(row), corner_.z}, row_sums_,
                            [&](float* pixels) { average_few_texels(few, sums_.size(), pixels, past_caches_); });
        return true;
    }

    void add_row(std::int32_t y, float weight) {
        const RowBoxes row{first_.data(), &boxes_.x.begin[static_cast<std::size_t>(corner_.x)], boxes_.x.weights.data(),
                           sums_.size()};
        if (boxes_.kind == BoxSum::of_products) {
            if (weight != 0) add_boxes(texels_of_row(y), row, weight, &sums_[0].x, totals_.data());
            return;
        }
        std::ranges::fill(row_sums_, Float4{});
        add_boxes(texels_of_row(y), row, 1, &row_sums_[0].x);
        const float* rows[] = {&sums_[0].x, &row_sums_[0].x};
        const float weights[] = {1, weight};
        sum_rows(rows, weights, 2, 4 * sums_.size(), &sums_[0].x);
    }

    // Returns a row of texels, which is kept for the next rows of pixels.
    const float* texels_of_row(std::int32_t y) {
        if (const float* texels = texels_.in_place(first_texel_, y, texels_across_)) return texels;
        TexelRow& row = rows_[static_cast<std::uint32_t>(y) % kKeptRows];
        if (!row.known || row.y != y) {
            row.known = true;
            row.y = y;
            row.texels.resize(texels_across_);
            texels_.centers(first_texel_, y, texels_across_, row.texels.data());
        }
        return &row.texels[0].x;
    }

    const CpuJob& job_;
    const Boxes& boxes_;
    PixelPosition corner_;
    TexelRows texels_;
    std::int32_t first_texel_ = 0;
    std::size_t texels_across_ = 0;
    std::vector<std::int32_t> first_;  // first texel of each pixel, counted from first_texel_
    bool are_halves_ = false;          // reads_halves(), for sums of products
    bool few_are_prepared_ = false;
    std::size_t taps_ = 0;
    std::vector<std::int32_t> taken_;  // texels of the taps of prepare_few(), counted from first_texel_
    std::vector<float> weights_;
    TexelRow rows_[kKeptRows];
    LineVector<Float4> sums_;
    LineVector<Float4> row_sums_;
    std::vector<float> totals_;
    bool past_caches_;
};

}  // namespace

bool CpuKernels::sum_boxes(Launch& launch, const std::function<Boxes()>& make) const {
    launch.run_job([boxes = make()](const CpuJob& job) {
        if (sum_byte_boxes(job, boxes.x, boxes.y, boxes.kind, boxes.total)) return;
        // Columns of a tile if texels are decoded. Texels of four floats are read directly, and whole rows of them
        // fastest.
        constexpr std::size_t kDecoded = 1024;
        const std::size_t columns = is_four_floats(job.textures[0].format) ? job.extent.width : kDecoded;
        const std::size_t texels_a_pixel = 1 + boxes.y.weights.size() / job.extent.height;
        const std::size_t minimum = std::max<std::size_t>(1, 64 / texels_a_pixel);
        const std::size_t rows = rows_of_tiles(job.extent, columns, minimum);
        for_each_tile(job.extent, columns, rows,
                      [&](const PixelPosition& corner, std::size_t width, std::size_t height) {
                          BoxTile(job, boxes, corner, width).make(height);
                      });
    });
    return true;
}

}  // namespace texton::detail

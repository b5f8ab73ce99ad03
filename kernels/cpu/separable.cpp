// Pixels that are weighted sums of rows and columns of texels, on the CPU device, tile by tile.
//
// A row of texels is decoded, channel by channel, and summed along x for all pixels of the tile. Rows of the image are
// weighted sums of such rows.
#include "kernels/cpu/separable.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <texton/launch.h>

#include "arrays/written_image.h"
#include "core/line_vector.h"
#include "kernels/cpu/code_tiles.h"
#include "kernels/cpu/halves.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/texel_rows.h"
#include "kernels/launch/launch_state.h"

namespace texton::detail {
namespace {

constexpr std::size_t kChannels = 4;
constexpr std::size_t kFewRows = 8;     // taps of lines with several channels take longer to prepare than so many rows
constexpr std::size_t kRowsAtOnce = 4;  // rows of texels with a single line that are summed together
constexpr std::size_t kMaxKept = 64;    // rows of sums along x that are kept until all pixels have used them
// Texels are decoded, and pixels summed and encoded, in parts of rows whose values stay in the L1 cache.
constexpr std::size_t kPart = 2048;

std::size_t max_taps(const SumAxis& axis, std::size_t begin, std::size_t count) {
    std::size_t maximum = 0;
    for (std::size_t i = begin; i < begin + count; ++i) maximum = std::max(maximum, axis.taps(i).count);
    return maximum;
}

// Returns whether rows are summed as single lines with all channels of one texel after another. Four channels of 8 or
// 16 bits are separated with few instructions, and are then summed in less time, unless the texels of a vector of
// pixels are too far apart to be looked up with one instruction.
bool interleaves(const CpuJob& job, const SumAxis& axis) {
    const TexelFormat &texture = job.textures[0].format, &image = job.image.format().stored;
    if (!job.image.takes_values(channels_of(texture))) return false;
    if (axis.slides) return true;
    const auto more = static_cast<std::int64_t>(job.extent.width) - 1;
    const std::int64_t texels = axis.taps(job.extent.width - 1).first - std::int64_t{axis.first[0]};
    const auto lanes = static_cast<std::int64_t>(line_sums()->lanes),
               reach = static_cast<std::int64_t>(line_sums()->reach);
    const bool far = texels * lanes >= more * reach;
    return job.rows >= kFewRows && (channels_of(texture) < 4 || has_floats(texture) || has_floats(image) || far);
}

// Rows of sums along x of a tile. A row has a line of sums for each channel, or a single line with all channels of one
// pixel after another, which needs fewer conversions.
class RowSums {
public:
    RowSums(const TexelRows& texels, const SumAxis& axis, std::size_t begin, std::size_t width, bool interleaves)
        : texels_(texels),
          sliding_(axis.slides ? std::span<const float>(axis.weights) : std::span<const float>()),
          step_(interleaves ? texels.channels() : 1),
          lines_(interleaves ? 1 : texels.channels()),
          line_(whole_line_blocks(width * step_)) {
        if (axis.slides) {
            first_texel_ = axis.taps(begin).first;
        } else {
            taps_ = sums_.prepare(axis, begin, width, step_, texels.are_codes() ? LineValues::codes : LineValues::any);
            first_texel_ = taps_.first_texel;
        }
        divide();
        // The texels of the sums of a part if the axis slides, or of the pixels that are sharpened.
        std::size_t maximum = kPart / lines_ / step_ + (sliding_.empty() ? 0 : sliding_.size() - 1);
        for (const LinePart& part : parts_) maximum = std::max(maximum, part.texels);
        room_line_ = whole_line_blocks((maximum + 2 * kLineBlock) * step_) + kLineRest;
        room_.resize(at_once() * lines_ * room_line_);
    }

    std::size_t lines() const { return lines_; }
    std::size_t line() const { return line_; }                // floats of a line
    std::size_t apart() const { return line_ + kLineBlock; }  // floats from a line to the next
    std::size_t values() const { return lines_ * apart(); }
    std::size_t step() const { return step_; }  // floats from a pixel to the next

    /// Number of rows that sum() sums together, which takes less time than one by one.
    std::size_t at_once() const { return sliding_.empty() && lines_ == 1 ? kRowsAtOnce : 1; }
    /// Writes the sums of rows of the texture from `y` on, at most at_once(). They start `rows_apart` floats after one
    /// another.
    void sum(std::int32_t y, std::size_t rows, float* sums, std::size_t rows_apart) {
        if (!sliding_.empty()) {
            slide(y, sums);
        } else if (inside_.empty() || !are_in_place(y, rows)) {
            along_copied(parts_, y, rows, sums, rows_apart);
        } else {
            along_in_place(y, rows, sums, rows_apart);
        }
    }
    /// Returns texels of rows from `y` on, in lines that start `room_line()` floats after one another. The next call
    /// replaces them.
    const float* read(std::int32_t x, std::int32_t y, std::size_t count, std::size_t rows = 1) {
        // Texels inside the texture are decoded in whole vectors.
        constexpr std::int32_t kMask = -static_cast<std::int32_t>(kLineBlock);
        const std::int32_t begin = x & kMask;
        const std::int32_t from = std::max(begin, std::min(x, 0));
        const std::int32_t end = x + static_cast<std::int32_t>(count);
        const std::int32_t to = end < texels_.width() ? std::min((end - 1 - kMask) & kMask, texels_.width()) : end;
        for (std::size_t i = 0; i < rows; ++i, ++y) {
            texels_.prefetch(x, y + prefetched(), count);
            texels_.centers(from, y, static_cast<std::size_t>(to - from),
                            &room_[i * room_line_ + static_cast<std::size_t>(from - begin) * step_],
                            lines_ == 1 ? ChannelLayout{1, step_} : ChannelLayout{room_line_, 1});
        }
        return &room_[static_cast<std::size_t>(x - begin) * step_];
    }
    std::size_t room_line() const { return room_line_; }

private:
    // Rows ahead; they are too far apart for the CPU to prefetch them.
    std::int32_t prefetched() const { return at_once() == 1 ? 2 : static_cast<std::int32_t>(at_once()); }

    void slide(std::int32_t y, float* sums) {
        if (const float* const row = lines_ == 1 ? texels_.values_in_place(y) : nullptr)
            return slide_in_place(row, y, sums);
        slide_copied(0, line_, y, sums);
    }

    // Sums texels inside the texture without copying them. `row` has the texels of the whole row.
    void slide_in_place(const float* row, std::int32_t y, float* sums) {
        const std::size_t around = sliding_.size() - 1;  // texels that a line has more than pixels
        const auto outside = static_cast<std::size_t>(std::max(-first_texel_, 0));
        const std::int64_t inside = std::int64_t{texels_.width()} - first_texel_ - static_cast<std::int64_t>(around);
        const std::size_t begin = std::min(whole_line_blocks(outside * step_), line_);
        const std::size_t end =
            std::clamp(static_cast<std::size_t>(std::max<std::int64_t>(inside, 0)) * step_ / kLineBlock * kLineBlock,
                       begin, line_);
        slide_copied(0, begin, y, sums);
        if (begin < end) {
            const std::int64_t first = (std::int64_t{first_texel_} + static_cast<std::int64_t>(begin / step_)) *
                                       static_cast<std::int64_t>(step_);
            sums_.slide(sliding_, step_, row + first, end - begin, sums + begin);
        }
        slide_copied(end, line_, y, sums);
    }

    // Decodes the texels of the sums [from, to) of each line, which are multiples of kLineBlock, and sums them.
    void slide_copied(std::size_t from, std::size_t to, std::int32_t y, float* sums) {
        const std::size_t part = kPart / lines_;
        for (std::size_t next = from; from < to; from = next) {
            next = std::min(from + part, to);
            const std::int32_t x = first_texel_ + static_cast<std::int32_t>(from / step_);
            const float* const texels = read(x, y, (next - from) / step_ + sliding_.size() - 1);
            for (std::size_t i = 0; i < lines_; ++i)
                sums_.slide(sliding_, step_, texels + i * room_line_, next - from, sums + i * apart() + from);
        }
    }

    // Finds the blocks whose texels are all inside the texture, which are summed without copying the texels if the
    // texture stores floats, and divides the others into parts whose texels stay in the L1 cache.
    void divide() {
        const auto is_inside = [&](const LineTaps::Block& block) {
            const std::int64_t begin = std::int64_t{first_texel_} + block.first;
            return begin >= 0 && begin + block.loaded <= texels_.width();
        };
        const std::span<const LineTaps::Block> blocks = taps_.blocks;
        const std::size_t texels = kPart / texels_.channels();
        parts_ = parts_of_line(taps_, blocks, texels);
        if (lines_ != 1 || texels_.values_in_place(0) == nullptr) return;
        const auto first = std::ranges::find_if(blocks, is_inside);
        const auto last = std::find_if_not(first, blocks.end(), is_inside);
        inside_ = {first, last};
        outside_ = parts_of_line(taps_, {blocks.begin(), first}, texels);
        const std::vector<LinePart> after = parts_of_line(taps_, {last, blocks.end()}, texels);
        outside_.insert(outside_.end(), after.begin(), after.end());
    }

    bool are_in_place(std::int32_t y, std::size_t rows) const {
        return texels_.values_in_place(y) != nullptr &&
               texels_.values_in_place(y + static_cast<std::int32_t>(rows) - 1) != nullptr;
    }

    // Sums texels where the texture stores them, except near the edges.
    void along_in_place(std::int32_t y, std::size_t rows, float* sums, std::size_t rows_apart) {
        const float* const row = texels_.values_in_place(y);
        const auto apart = rows == 1 ? 0 : static_cast<std::size_t>(texels_.values_in_place(y + 1) - row);
        sums_.along(taps_, inside_, rows, row + first_texel_ * static_cast<std::ptrdiff_t>(step_), apart, sums,
                    rows_apart);
        along_copied(outside_, y, rows, sums, rows_apart);
    }

    // Decodes the texels of parts and sums them.
    void along_copied(std::span<const LinePart> parts, std::int32_t y, std::size_t rows, float* sums,
                      std::size_t rows_apart) {
        for (const LinePart& part : parts) {
            const float* const texels = read(first_texel_ + part.begin, y, part.texels, rows);
            sums_.along(taps_, part.blocks, rows * lines_, texels - part.begin * static_cast<std::ptrdiff_t>(step_),
                        room_line_, sums, lines_ == 1 ? rows_apart : apart());
        }
    }

    const LineSums& sums_ = *line_sums();
    const TexelRows& texels_;
    std::span<const float> sliding_;  // weights of an axis that slides
    std::size_t step_;
    std::size_t lines_;
    std::size_t line_;
    LineTaps taps_;                            // of an axis that does not slide
    std::vector<LinePart> parts_;              // of all blocks
    std::span<const LineTaps::Block> inside_;  // blocks that are summed where the texture stores their texels
    std::vector<LinePart> outside_;            // of the other blocks
    std::int32_t first_texel_ = 0;
    std::size_t room_line_ = 0;
    LineVector<float> room_;
};

class SumTile {
public:
    SumTile(const CpuJob& job, const SeparableSums& sums, const std::optional<filters::Sharpen>& sharpen,
            const PixelPosition& corner, std::size_t width)
        : job_(job),
          sums_(sums),
          sharpen_(sharpen),
          corner_(corner),
          width_(width),
          texels_(job.textures[0], job.shapes[0], corner.z),
          interleaves_(interleaves(job, sums.x)),
          across_(texels_, sums.x, static_cast<std::size_t>(corner.x), width, interleaves_),
          stored_values_(interleaves_ ? across_.values() : kChannels * across_.apart()),
          first_row_(sums.y.taps(row_of(0)).first) {}

    void make(std::size_t height) {
        const std::size_t taps = max_taps(sums_.y, row_of(0), height);
        if (taps > kMaxKept) return make_by_columns(height);
        height_ = height;
        // In a multiple of at_once() rows, rows that are summed together follow one another.
        const std::size_t group = across_.at_once();
        const std::size_t rows = group == 1 ? taps + 2 : (taps + 2 * group) / group * group;
        const SumAxis::Taps last = sums_.y.taps(row_of(height - 1));
        const std::int32_t all = rows_between(first_row_, last.first + static_cast<std::int32_t>(last.count));
        kept_rows_ = std::min(rows, static_cast<std::size_t>(all));
        kept_first_ = kept_end_ = row_read(first_row_);
        // Long rows start at different offsets within pages. Otherwise, they would displace each other from the L1
        // cache.
        constexpr std::size_t kPage = 1024, kStagger = 5 * kLineBlock;
        const std::size_t values = across_.values();
        kept_apart_ = values < kPage ? values : (values + kPage - 1) / kPage * kPage + kStagger;
        kept_sums_.resize(kept_rows_ * kept_apart_);
        pixels_.assign(2 * (kPart / across_.lines()) * (interleaves_ ? 1 : kChannels), 0.0f);
        for (std::size_t i = 0; i < height;) i += i + 1 < height && make_two(i) ? 2 : (make_one(i), 1);
    }

private:
    // A row of the image whose texels have been summed in part.
    struct OpenRow {
        std::size_t i;
        LineVector<float> sums;
    };

    std::size_t row_of(std::size_t i) const { return static_cast<std::size_t>(corner_.y) + i; }
    PixelPosition position_of(std::size_t i) const {
        return {corner_.x, static_cast<std::int32_t>(row_of(i)), corner_.z};
    }

    // Computes a row of the image from rows of sums.
    void make_one(std::size_t i) {
        const SumAxis::Taps column = sums_.y.taps(row_of(i));
        keep(i, 1);
        rows_.clear();
        weights_.clear();
        for (std::size_t tap = 0; tap < column.count; ++tap) {
            if (column[tap] == 0) continue;
            rows_.push_back(kept_row(column.first + static_cast<std::int32_t>(tap)));
            weights_.push_back(column[tap]);
        }
        sum_down(i, 1, [&](std::size_t first, std::size_t count, float* sums, float*, RowSumsAs as) {
            lines_.down(rows_.data(), weights_.data(), rows_.size(), first, count, sums, as);
        });
    }

    // Computes two rows of the image together, which reads the rows that they share only once. Returns false if they
    // share too few.
    bool make_two(std::size_t i) {
        const SumAxis::Taps upper = sums_.y.taps(row_of(i)), lower = sums_.y.taps(row_of(i + 1));
        const std::int64_t skipped = std::int64_t{lower.first} - upper.first;
        const auto rows = static_cast<std::size_t>(skipped) + lower.count;
        if (skipped < 0 || std::cmp_greater_equal(skipped, upper.count) || rows < upper.count) return false;
        if (std::cmp_greater(rows_between(upper.first, upper.first + static_cast<std::int32_t>(rows)), kept_rows_))
            return false;
        weights_.clear();
        for (const SumAxis::Taps& column : {upper, lower})
            for (std::size_t tap = 0; tap < column.count; ++tap) weights_.push_back(column[tap]);
        if (std::ranges::find(weights_, 0.0f) != weights_.end()) return false;
        keep(i, 2);
        rows_.clear();
        for (std::size_t row = 0; row < rows; ++row)
            rows_.push_back(kept_row(upper.first + static_cast<std::int32_t>(row)));
        const std::span<const float> weights = weights_;
        const RowPair pair{weights.first(upper.count), weights.subspan(upper.count), static_cast<std::size_t>(skipped)};
        sum_down(i, 2, [&](std::size_t first, std::size_t count, float* upper_sums, float* lower_sums, RowSumsAs as) {
            lines_.down_two(rows_.data(), pair, first, count, upper_sums, lower_sums, as);
        });
        return true;
    }

    // Computes one or two rows of the image with sum(first value of rows, count, sums of the upper row, of the lower
    // row, what they are stored as). If pixels are the sums, whole blocks are stored in the image at once.
    template <class Sum>
    void sum_down(std::size_t i, std::size_t count, const Sum& sum) {
        const std::size_t part = kPart / across_.lines();  // floats of a line
        PixelPosition at = position_of(i);
        std::size_t to = 0;
        if (sums_are_pixels_) {
            to = width_ * across_.step() / kLineBlock * kLineBlock;
            const auto floats_of = [&](std::int32_t y) {
                return reinterpret_cast<float*>(job_.image.address({at.x, y, at.z}));
            };
            const auto last = at.y + static_cast<std::int32_t>(count) - 1;
            if (to != 0) sum(0, to, floats_of(at.y), floats_of(last), RowSumsAs::pixels);
            at.x += static_cast<std::int32_t>(to / across_.step());
        }
        for (std::size_t from = to; from < across_.line(); from = to) {
            to = std::min(from + part, across_.line());
            float* const lower = pixels_.data() + pixels_.size() / 2;
            for (std::size_t line = 0; line < across_.lines(); ++line)
                sum(line * across_.apart() + from, to - from, &pixels_[line * part], lower + line * part,
                    RowSumsAs::sums);
            const std::size_t pixels = std::min((to - from) / across_.step(), width_ - from / across_.step());
            store(at, pixels_.data(), part, pixels);
            if (count == 2) store({at.x, at.y + 1, at.z}, lower, part, pixels);
            at.x += static_cast<std::int32_t>(pixels);
        }
    }

    // Adds each row of texels to all rows of the image that it is part of: for more rows than can be kept.
    void make_by_columns(std::size_t height) {
        std::vector<OpenRow> open;
        LineVector<float> row(across_.values());
        std::size_t next = 0;
        std::int32_t y = first_row_;
        std::optional<std::int32_t> summed;  // the row of texels whose sums `row` has
        while (next < height || !open.empty()) {
            if (open.empty()) y = sums_.y.taps(row_of(next)).first;
            for (; next < height && sums_.y.taps(row_of(next)).first <= y; ++next)
                open.push_back({next, LineVector<float>(stored_values_)});
            if (std::exchange(summed, row_read(y)) != row_read(y)) across_.sum(row_read(y), 1, row.data(), 0);
            for (OpenRow& each : open) {
                const SumAxis::Taps column = sums_.y.taps(row_of(each.i));
                const auto tap = static_cast<std::size_t>(y - column.first);
                if (tap < column.count && column[tap] != 0)
                    lines_.add(row.data(), column[tap], across_.values(), each.sums.data());
            }
            ++y;
            std::erase_if(open, [&](OpenRow& each) {
                const SumAxis::Taps column = sums_.y.taps(row_of(each.i));
                if (y < column.first + static_cast<std::int32_t>(column.count)) return false;
                store(position_of(each.i), each.sums.data(), across_.apart(), width_);
                return true;
            });
        }
    }

    // Returns a row with the same texels: of those beyond the edges, the row at the edge if they repeat it.
    std::int32_t row_read(std::int32_t y) const {
        return texels_.clamps() ? std::clamp(y, 0, job_.shapes[0].height - 1) : y;
    }

    // Returns the number of rows that row_read() returns for rows [begin, end).
    std::int32_t rows_between(std::int32_t begin, std::int32_t end) const {
        return row_read(end - 1) - row_read(begin) + 1;
    }

    std::size_t kept_index(std::int32_t y) const {
        const auto row = static_cast<std::size_t>(y - kept_first_);
        return row < kept_rows_ ? row : row - kept_rows_;
    }
    float* kept_sums(std::int32_t y) { return &kept_sums_[kept_index(y) * kept_apart_]; }

    const float* kept_row(std::int32_t y) { return kept_sums(row_read(y)); }

    // Sums the rows of texels that `count` rows of the image from `i` on need and that are not kept yet. The last of
    // them are summed together with rows that the next rows of the image need.
    void keep(std::size_t i, std::size_t count) {
        const auto size = static_cast<std::int32_t>(kept_rows_);
        const std::int32_t first = row_read(sums_.y.taps(row_of(i)).first);
        if (first - kept_first_ >= size) kept_first_ += (first - kept_first_) / size * size;
        for (; i < height_ && (count != 0 || !missing_.empty()); ++i, count -= count != 0 ? 1 : 0) {
            const SumAxis::Taps column = sums_.y.taps(row_of(i));
            const std::int32_t last = row_read(column.first + static_cast<std::int32_t>(column.count) - 1);
            for (std::int32_t y = std::max(row_read(column.first), kept_end_); y <= last; ++y) {
                if (y - first >= size) return sum_missing();  // it would replace rows that are needed
                kept_end_ = y + 1;
                missing_.push_back(y);
                if (missing_.size() < across_.at_once()) continue;
                sum_missing();
                if (count == 0) return;
            }
        }
        sum_missing();
    }

    // Sums the missing rows, those together that follow one another in the texture and among the kept rows.
    void sum_missing() {
        std::size_t count = 0;
        for (std::size_t i = 0; i < missing_.size(); i += count) {
            const std::int32_t y = missing_[i];
            const auto follows = [&](std::size_t more) {
                return missing_[i + more] == y + static_cast<std::int32_t>(more) &&
                       kept_index(missing_[i + more]) == kept_index(y) + more;
            };
            count = 1;
            while (i + count < missing_.size() && follows(count)) ++count;
            across_.sum(y, count, kept_sums(y), kept_apart_);
        }
        missing_.clear();
    }

    // Stores pixels whose sums are in lines that start `apart` floats after one another.
    void store(const PixelPosition& at, float* sums, std::size_t apart, std::size_t count) {
        for (std::size_t line = 0; line < across_.lines(); ++line) {
            const std::size_t values = whole_line_blocks(count * across_.step());
            if (sums_.divisor != 1) lines_.divide(sums + line * apart, values, sums_.divisor);
        }
        if (sharpen_) sharpen(at, sums, apart, count);
        if (interleaves_) return job_.image.store_values(at, sums, count, past_caches_);
        job_.image.store(at, sums, apart, count);
    }

    void sharpen(const PixelPosition& at, float* blurred, std::size_t apart, std::size_t count) {
        const float* const texels = across_.read(at.x, at.y, count);
        for (std::size_t line = 0; line < across_.lines(); ++line) {
            float* const pixels = blurred + line * apart;
            for (std::size_t i = 0; i < count * across_.step(); ++i)
                pixels[i] = sharpen_->sharpened(texels[line * across_.room_line() + i], pixels[i]);
        }
    }

    const LineSums& lines_ = *line_sums();
    const CpuJob& job_;
    const SeparableSums& sums_;
    const std::optional<filters::Sharpen>& sharpen_;
    PixelPosition corner_;
    std::size_t width_;
    TexelRows texels_;
    bool interleaves_;
    RowSums across_;
    std::size_t stored_values_;  // of a row of pixels, with the channels that the texture lacks
    LineVector<float> pixels_;   // a part of two rows
    std::vector<const float*> rows_;
    std::vector<float> weights_;
    std::size_t height_ = 0;             // of the tile
    std::vector<std::int32_t> missing_;  // rows of texels that are to be summed
    std::int32_t first_row_;             // of texels; rows of the image read the same or later ones
    std::size_t kept_rows_ = 0;          // rows of texels whose sums are kept
    std::int32_t kept_first_ = 0;        // the row whose sums are or were kept first
    std::int32_t kept_end_ = 0;          // rows before it that are needed are kept
    LineVector<float> kept_sums_;
    std::size_t kept_apart_ = 0;
    bool past_caches_ = job_.exceeds_caches();
    bool sums_are_pixels_ =
        interleaves_ && !past_caches_ && has_floats(job_.image.format().stored) && sums_.divisor == 1 && !sharpen_;
};

// Returns true if each pixel is the mean of two texels inside the texture, and no other pixel reads them.
bool reads_halves(const SumAxis& axis, std::size_t pixels, std::int32_t texels) {
    if (axis.slides || axis.first[0] < 0 || axis.first[0] + 2 * static_cast<std::int64_t>(pixels) > texels)
        return false;
    for (std::size_t i = 0; i < pixels; ++i) {
        if (axis.first[i] != axis.first[0] + static_cast<std::int32_t>(2 * i) || axis.count[i] != 2) return false;
    }
    return std::ranges::all_of(axis.weights, [](float weight) { return weight == 0.5f; });
}

// Computes a tile whose pixels are means of four texels. Returns false if the texels must be fetched.
bool halve_tile(const CpuJob& job, const SeparableSums& sums, HalveRow halve, PixelPosition at, std::size_t width,
                std::size_t height) {
    const TexelRows texels(job.textures[0], job.shapes[0], at.z);
    if (!texels.are_stored()) return false;
    const std::int32_t x = sums.x.first[static_cast<std::size_t>(at.x)];
    const bool past_caches = job.exceeds_caches();
    for (std::size_t i = 0; i < height; ++i, ++at.y) {
        const std::int32_t y = sums.y.first[static_cast<std::size_t>(at.y)];
        halve(texels.stored(x, y), texels.stored(x, y + 1), width,
              reinterpret_cast<unsigned char*>(job.image.address(at)), past_caches);
    }
    return true;
}

// Returns the function for images whose pixels are means of four texels, or null.
HalveRow halves_of(const CpuJob& job, const SeparableSums& sums) {
    const TexelFormat& format = job.textures[0].format;
    if (format != job.image.format().stored || sums.divisor != 1 ||
        !reads_halves(sums.x, job.extent.width, job.shapes[0].width) ||
        !reads_halves(sums.y, job.extent.height, job.shapes[0].height))
        return nullptr;
    return halve_row(format, HalfMean::of_halves);
}

// Returns how many rows of the image a row of texels is part of, on average.
std::size_t rows_of_texel(const SumAxis& axis, std::size_t pixels) {
    const SumAxis::Taps first = axis.taps(0), last = axis.taps(pixels - 1);
    const auto texels = std::int64_t{last.first} - first.first + static_cast<std::int64_t>(last.count);
    std::size_t taps = 0;
    for (std::size_t i = 0; i < pixels; ++i) taps += axis.taps(i).count;
    return taps / static_cast<std::size_t>(std::max<std::int64_t>(texels, 1));
}

}  // namespace

void sum_separably(const CpuJob& job, const SeparableSums& sums, const std::optional<filters::Sharpen>& sharpen) {
    // The rows that a row of pixels sums stay in the L2 cache, and rows are long, so that the CPU prefetches them.
    constexpr std::size_t kKeptFloats = 49152;
    const std::size_t taps = max_taps(sums.y, 0, job.extent.height);
    const std::size_t channels = channels_of(job.textures[0].format);
    const std::size_t columns = std::clamp<std::size_t>(kKeptFloats / (taps * channels) / 64 * 64, 128, 4096);
    const HalveRow halve = sharpen ? nullptr : halves_of(job, sums);
    const std::optional<float> margin = sharpen || halve != nullptr ? std::nullopt : margin_of_codes(job, sums);
    const std::size_t minimum =
        halve != nullptr || margin ? rows_of_quick_tiles(job, columns)
                                   : 16 + 12 * rows_of_texel(sums.y, job.extent.height);  // few texels are summed twice
    for_each_tile(job, columns, rows_of_tiles(job, columns, minimum),
                  [&](const PixelPosition& corner, std::size_t width, std::size_t height) {
                      if (halve != nullptr && halve_tile(job, sums, halve, corner, width, height)) return;
                      const std::size_t made = margin ? sum_codes(job, sums, *margin, corner, width, height) : 0;
                      if (made == height) return;
                      const PixelPosition rest{corner.x, corner.y + static_cast<std::int32_t>(made), corner.z};
                      SumTile(job, sums, sharpen, rest, width).make(height - made);
                  });
}

bool CpuKernels::convolve(Launch& launch, const filters::Separable& filter, const filters::Sharpen* sharpen) const {
    if (line_sums() == nullptr || meets_source(launch.state().textures[0], launch.state().image)) return false;
    const auto sliding = [](const filters::Weights& weights) {
        SumAxis axis;
        axis.first = {-weights.radius};
        axis.weights.assign(weights.weight, weights.weight + 2 * weights.radius + 1);
        axis.slides = true;
        return axis;
    };
    const SeparableSums sums{sliding(filter.across), sliding(filter.down)};
    const auto sharpened = sharpen != nullptr ? std::optional(*sharpen) : std::nullopt;
    launch.run_job([sums, sharpened](const CpuJob& job) { detail::sum_separably(job, sums, sharpened); });
    return true;
}

}  // namespace texton::detail

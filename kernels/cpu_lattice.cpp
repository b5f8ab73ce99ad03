// Resampling on the CPU device: where pixels fetch along an axis is known for all rows, or all columns, at once.
//
// Sums of a row of fetches are kept while the rows of the picture that follow read at the same height.
#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <texton/launch.h>

#include "kernels/cpu_byte_lattice.h"
#include "kernels/cpu_job.h"
#include "kernels/cpu_kept_rows.h"
#include "kernels/cpu_line_vector.h"
#include "kernels/cpu_sums.h"
#include "kernels/cpu_texel_rows.h"
#include "kernels/cpu_ways.h"

namespace texton::detail {
namespace {

// Of a tile. Without weights nothing is kept from row to row: long rows are read faster.
struct TileSides {
    std::size_t columns;
    std::size_t rows;
};
constexpr TileSides kFetched{1024, 32};
constexpr TileSides kSummed{256, 192};

// --- without weights ----------------------------------------------------------------------------------------------

// Then what is fetched is the pixel, unless integers go through floats, or a float may be no number, of which a picture
// has one: the filter's, of 32 bits.
bool is_pixel_as_fetched(const CpuJob& job) {
    const CpuTexture& texture = job.textures[0];
    const TexelFormat& stored = job.picture.format().stored;
    if (texture.format.encoding == Encoding::floating && texture.format.bits == 32)
        return texture.sampler.filter == Filter::linear && is_four_floats(stored);

    const auto is_fraction = [](Encoding encoding) {
        return encoding == Encoding::unorm || encoding == Encoding::snorm || encoding == Encoding::srgb;
    };
    const Encoding picture = stored.encoding;
    return is_fraction(texture.format.encoding) && (is_fraction(picture) || picture == Encoding::floating);
}

void fetch_tile(const CpuJob& job, const LatticeAxis& x, const LatticeAxis& y, PixelPlace at, std::size_t width,
                std::size_t height) {
    const TexelRows texels(job.textures[0], job.shapes[0], at.z);
    const float* places = &x.places[static_cast<std::size_t>(at.x)];
    const bool as_fetched = is_pixel_as_fetched(job);
    const bool past_caches = job.goes_past_caches();
    LineVector<Float4> pixels(width);
    RowColumns columns = texels.columns(places, width);
    for (std::size_t row = 0; row < height; ++row, ++at.y) {
        const float place_y = y.places[static_cast<std::size_t>(at.y)];
        if (as_fetched) {
            texels.fetch(columns, place_y, job.picture.format(), job.picture.address(at), past_caches);
        } else {
            texels.fetch(columns, place_y, pixels.data());
            job.picture.store(at, pixels);
        }
    }
}

// --- with weights -------------------------------------------------------------------------------------------------

// The taps at the middles of texels, which have most of these in common: fetched by texel, and then taken by pixel.
class MiddleTaps {
public:
    /// None, where most of the texels between the first and the last would not be taken.
    MiddleTaps(const TexelRows& texels, std::span<const RowColumns> taps, float unit) : texels_(texels) {
        std::int32_t last = -1;
        std::size_t taken = 0;
        for (const RowColumns& tap : taps) {
            if (tap.middles().empty()) continue;
            const auto [least, most] = std::ranges::minmax(tap.middles());
            first_ = last < 0 ? least : std::min(first_, least);
            last = std::max(last, most);
            taken += tap.count();
        }
        if (last < 0 || static_cast<std::size_t>(last - first_) >= 2 * taken) return;
        for (std::int32_t texel = first_; texel <= last; ++texel)
            places_.push_back((static_cast<float>(texel) + 0.5f) * unit);
        RowColumns columns = texels.columns(places_.data(), places_.size());
        if (columns.middles().empty()) return;
        for (std::size_t i = 0; i < places_.size(); ++i)
            if (columns.middles()[i] != first_ + static_cast<std::int32_t>(i)) return;
        columns_ = std::move(columns);
        fetched_.resize(places_.size());
    }

    /// Which of them the pixels of a tap take; none if they are to be fetched.
    std::optional<TexelColumns> columns_of(const RowColumns& tap) const {
        if (!columns_ || tap.middles().empty()) return std::nullopt;
        std::vector<std::int32_t> columns;
        for (const std::int32_t middle : tap.middles()) columns.push_back(middle - first_);
        return TexelColumns(std::move(columns), static_cast<std::int32_t>(fetched_.size()));
    }

    bool empty() const { return !columns_; }

    const Float4* fetch(float y) {
        if (columns_) texels_.fetch(*columns_, y, fetched_.data());
        return fetched_.data();
    }

private:
    const TexelRows& texels_;
    std::int32_t first_ = 0;
    std::vector<float> places_;
    std::optional<RowColumns> columns_;
    LineVector<Float4> fetched_;
};

class SummedTile {
public:
    SummedTile(const CpuJob& job, const LatticeAxis& x, const LatticeAxis& y, const PixelPlace& corner,
               std::size_t width)
        : job_(job),
          y_(y),
          corner_(corner),
          width_(width),
          texels_(job.textures[0], job.shapes[0], corner.z),
          columns_(columns_of_taps(x)),
          middles_(texels_, columns_, job.shapes[0].x_unit),
          rows_(x.taps),
          weights_(x.taps),
          sums_(kKeptSums * y.taps, 4 * width),
          pixels_(width),
          past_caches_(job.goes_past_caches()) {
        taps_.reserve(x.taps);
        for (std::size_t tap = 0; tap < x.taps; ++tap) {
            columns_[tap].set_prefetch(middles_.empty());  // whose row has the same texels
            taps_.push_back({middles_.columns_of(columns_[tap]), LineVector<Float4>(whole_steps(width)), {}});
            for (std::size_t i = 0; i < width; ++i) {
                const float weight = x.weights[at_x(tap) + i];
                taps_[tap].weights.push_back({weight, weight, weight, weight});
            }
            rows_[tap] = &taps_[tap].texels[0].x;
            weights_[tap] = &taps_[tap].weights[0].x;
        }
    }

    void make(std::size_t height) {
        std::vector<const float*> rows(y_.taps);
        std::vector<float> weights(y_.taps);
        for (std::size_t i = 0; i < height; ++i) {
            const std::size_t row = static_cast<std::size_t>(corner_.y) + i;
            for (std::size_t tap = 0; tap < y_.taps; ++tap) {
                rows[tap] = sums_at(y_.places[tap * job_.extent.height + row]);
                weights[tap] = y_.weights[tap * job_.extent.height + row];
            }
            job_.picture.make_row({corner_.x, static_cast<std::int32_t>(row), corner_.z}, pixels_, [&](float* pixels) {
                sum_rows_as_pixels(rows.data(), weights.data(), y_.taps, 4 * width_, pixels, past_caches_);
            });
        }
    }

private:
    // For each that a pixel reads: a row of texels is read again a few rows of pixels on.
    static constexpr std::size_t kKeptSums = 4;

    struct Tap {
        std::optional<TexelColumns> columns;  // of the middles; none: pixels are fetched
        LineVector<Float4> texels;
        LineVector<Float4> weights;
    };

    static std::size_t whole_steps(std::size_t pixels) {
        return (pixels + kLatticeStep - 1) / kLatticeStep * kLatticeStep;
    }

    std::size_t at_x(std::size_t tap) const { return tap * job_.extent.width + static_cast<std::size_t>(corner_.x); }

    std::vector<RowColumns> columns_of_taps(const LatticeAxis& x) const {
        std::vector<RowColumns> columns;
        for (std::size_t tap = 0; tap < x.taps; ++tap) columns.push_back(texels_.columns(&x.places[at_x(tap)], width_));
        return columns;
    }

    const float* sums_at(float place) {
        return sums_.row(bits_of(place), [&](float* sums) { sum_across(place, sums); });
    }

    void sum_across(float place, float* sums) {
        const Float4* middles = middles_.fetch(place);
        for (std::size_t i = 0; i < taps_.size(); ++i) {
            Float4* texels = taps_[i].texels.data();
            if (taps_[i].columns) {
                taps_[i].columns->take(reinterpret_cast<const Texel*>(middles), reinterpret_cast<Texel*>(texels));
            } else {
                texels_.fetch(columns_[i], place, texels);
            }
        }
        sum_rows_by_rows(rows_.data(), weights_.data(), taps_.size(), 4 * width_, sums);
    }

    const CpuJob& job_;
    const LatticeAxis& y_;
    PixelPlace corner_;
    std::size_t width_;
    TexelRows texels_;
    std::vector<RowColumns> columns_;  // of each tap
    MiddleTaps middles_;
    std::vector<Tap> taps_;
    std::vector<const float*> rows_;  // of the taps
    std::vector<const float*> weights_;
    KeptRows<std::uint32_t, float> sums_;  // by the bits of their place
    LineVector<Float4> pixels_;
    bool past_caches_;
};

void scale(std::vector<float>& places, float unit) {
    for (float& place : places) place *= unit;
}

}  // namespace

bool fetch_lattice_on_cpu(const char* object, const Stream& stream, const View& picture, const Texture& texture,
                          LatticeAxis x, LatticeAxis y) {
    Launch launch(object, stream, picture, {&texture, 1}, false);
    if (!launch.on_cpu()) return false;
    const SourceShape shape = launch.shape(0);
    scale(x.places, shape.x_unit);
    scale(y.places, shape.y_unit);
    launch.run_job([x = std::move(x), y = std::move(y)](const CpuJob& job) {
        if (copy_texels_on_cpu(job, x, y) || fetch_byte_lattice(job, x, y)) return;
        const TileSides& tile = x.weights.empty() ? kFetched : kSummed;
        for_each_tile(job.extent, tile.columns, tile.rows,
                      [&](const PixelPlace& corner, std::size_t width, std::size_t height) {
                          if (x.weights.empty()) {
                              fetch_tile(job, x, y, corner, width, height);
                          } else {
                              SummedTile(job, x, y, corner, width).make(height);
                          }
                      });
    });
    return true;
}

}  // namespace texton::detail

// Resampling of 8-bit normalized formats with the linear filter on the CPU device.
//
// The texture unit's filter is integer arithmetic: a sum of four texels times weights in 1/256. Columns are the same
// for all rows. So the two texels that a pixel reads of a row are stored next to each other once, for all rows of
// pixels that read this row of texels. Weights are computed once for all rows of pixels with the same fraction between
// two rows of texels. Then a row of pixels needs two products and a sum.
#include "kernels/cpu/byte_lattice.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include "arrays/unit/footprint.h"
#include "kernels/cpu/byte_axes.h"
#include "kernels/cpu/byte_rows.h"
#include "kernels/cpu/kept_rows.h"

namespace texton::detail {
namespace {

// --- the texels that pixels read -------------------------------------------------------------------------------------

// Returns true if each row of texels is read by one row of pixels only. Then preparing rows of texels gains nothing.
bool reads_rows_once(std::span<const AxisTaps> taps) {
    if (std::ranges::any_of(taps, [](const AxisTaps& of_pixel) { return std::ranges::min(of_pixel.texel) < 0; }))
        return false;
    return std::ranges::adjacent_find(taps, [](const AxisTaps& of_pixel, const AxisTaps& of_next) {
               return of_next.texel[0] <= of_pixel.texel[1];
           }) == taps.end();
}

// --- images of 8-bit normalized formats ------------------------------------------------------------------------------

struct Lattice {
    const ByteKernels& kernels;
    std::vector<ByteColumns> columns;         // one for each tap
    std::vector<std::vector<float>> weights;  // of the columns, for each tap
    std::vector<AxisTaps> rows;               // first tap of all rows, then the second tap, ...
    const LatticeAxis& y;
    bool reads_rows_once;
};

class ByteTile {
public:
    ByteTile(const CpuJob& job, const Lattice& lattice, const PixelPosition& corner, std::size_t width)
        : job_(job),
          lattice_(lattice),
          corner_(corner),
          width_(width),
          span_{static_cast<std::size_t>(corner.x), whole_blocks(width)},
          reader_(job.textures[0]),
          modes_(reader_.rows(corner.z)),
          border_(border_word(job.textures[0])),
          past_caches_(job.exceeds_caches()),
          pairs_(2 * lattice.y.taps + 2, lattice.columns.size() * 2 * span_.count),
          weights_(4, lattice.columns.size() * 2 * span_.count),
          sums_(lattice.weights.empty() ? 0 : 2 * lattice.y.taps, 4 * span_.count),
          words_(2, static_cast<std::size_t>(reader_.view().levels[0].width)) {
        if (job.textures[0].format.bytes == kWordBytes) return;
        for (const ByteColumns& columns : lattice.columns) {
            for (std::size_t i = span_.first; i < span_.first + span_.count; ++i) {
                first_read_ = std::min({first_read_, inside(columns.left[i]), inside(columns.right[i])});
                last_read_ = std::max({last_read_, inside(columns.left[i]), inside(columns.right[i])});
            }
        }
    }

    void make(std::size_t height) {
        for (std::size_t row = 0; row < height; ++row, ++corner_.y) {
            const PixelFormat& format = job_.image.format();
            const BytePixels pixels{reinterpret_cast<unsigned char*>(job_.image.address(corner_)), width_,
                                    format.stored.bytes, past_caches_};
            if (lattice_.weights.empty()) {
                blend(taps_of_row(0), pixels);
            } else {
                add_rows(pixels);
            }
        }
    }

private:
    static constexpr std::size_t kWordBytes = 4;

    const AxisTaps& taps_of_row(std::size_t tap) const {
        return lattice_.rows[tap * job_.extent.height + static_cast<std::size_t>(corner_.y)];
    }

    ByteRow texels_of(std::int32_t y) {
        const std::size_t channels = job_.textures[0].format.bytes;
        if (y == kBorderTexel) return {nullptr, kWordBytes, border_};
        const unsigned char* texels = texels_of_row(reader_.view(), corner_.z, y);
        if (channels == kWordBytes) return {texels, kWordBytes, border_};
        const std::uint32_t* words = words_.row(y, [&](std::uint32_t* row) {
            return channels == 1 ? widen<std::uint8_t>(texels, row) : widen<std::uint16_t>(texels, row);
        });
        return {reinterpret_cast<const unsigned char*>(words), kWordBytes, border_};
    }

    // Converts texels of fewer bytes to words, so that the same code loads them. Converts only those that the tile
    // reads.
    template <class Texel>
    void widen(const unsigned char* texels, std::uint32_t* words) const {
        for (auto i = static_cast<std::size_t>(first_read_); i <= static_cast<std::size_t>(last_read_); ++i) {
            Texel texel;
            std::memcpy(&texel, texels + i * sizeof texel, sizeof texel);
            words[i] = texel;
        }
    }

    std::int32_t inside(std::int32_t texel) const { return std::clamp(texel, 0, reader_.view().levels[0].width - 1); }

    // Returns the pairs of a row of texels for all taps.
    const std::uint32_t* pairs_of_row(std::int32_t y) {
        return pairs_.row(y, [&](std::uint32_t* pairs) {
            for (const ByteColumns& columns : lattice_.columns) {
                lattice_.kernels.pair(columns, span_, texels_of(y), pairs);
                pairs += 2 * span_.count;
            }
        });
    }

    ByteWeights weights_of(std::size_t tap, const AxisTaps& y) {
        const std::uint32_t* weights = weights_.row(y.weight, [&](std::uint32_t* row) {
            for (const ByteColumns& columns : lattice_.columns) {
                lattice_.kernels.weigh(columns, span_, static_cast<std::uint32_t>(y.weight), row, row + span_.count);
                row += 2 * span_.count;
            }
        });
        weights += tap * 2 * span_.count;
        return {weights, weights + span_.count};
    }

    BytePairs pairs_of(std::size_t tap, const AxisTaps& y) {
        const std::size_t skipped = tap * 2 * span_.count;
        const std::uint32_t* top = pairs_of_row(y.texel[0]) + skipped;
        return {top, y.weight == 0 ? top : pairs_of_row(y.texel[1]) + skipped};
    }

    void blend(const AxisTaps& y, const BytePixels& pixels) {
        const ByteWeights weights = weights_of(0, y);
        if (!lattice_.reads_rows_once) return lattice_.kernels.blend(pairs_of(0, y), weights, pixels);
        const ByteRow rows[] = {texels_of(y.texel[0]), texels_of(y.texel[y.weight == 0 ? 0 : 1])};
        lattice_.kernels.blend_rows(lattice_.columns[0], span_, rows, static_cast<std::uint32_t>(y.weight), weights,
                                    pixels);
    }

    const float* sums_of(const AxisTaps& y) {
        const std::array key{y.texel[0], y.texel[1], y.weight};
        return sums_.row(key, [&](float* sums) {
            std::vector<ByteTap> taps;
            for (std::size_t tap = 0; tap < lattice_.columns.size(); ++tap)
                taps.push_back({pairs_of(tap, y), weights_of(tap, y), &lattice_.weights[tap][span_.first]});
            lattice_.kernels.sum(taps, span_.count, sums);
        });
    }

    void add_rows(const BytePixels& pixels) {
        std::vector<const float*> sums;
        std::vector<float> weights;
        for (std::size_t tap = 0; tap < lattice_.y.taps; ++tap) {
            sums.push_back(sums_of(taps_of_row(tap)));
            weights.push_back(lattice_.y.weights[tap * job_.extent.height + static_cast<std::size_t>(corner_.y)]);
        }
        lattice_.kernels.store_sums(sums, weights.data(), pixels);
    }

    const CpuJob& job_;
    const Lattice& lattice_;
    PixelPosition corner_;  // first pixel of the current row
    std::size_t width_;
    ByteSpan span_;
    TextureReader reader_;
    RowSampler modes_;  // sets the thread's floating-point modes while it exists
    std::uint32_t border_;
    bool past_caches_;
    KeptRows<std::int32_t, std::uint32_t> pairs_;    // the key is the row of texels
    KeptRows<std::int32_t, std::uint32_t> weights_;  // the key is the weight of the lower row
    KeptRows<std::array<std::int32_t, 3>, float> sums_;
    KeptRows<std::int32_t, std::uint32_t> words_;  // rows of texels of fewer than four bytes
    std::int32_t first_read_ = std::numeric_limits<std::int32_t>::max();
    std::int32_t last_read_ = -1;
};

Lattice lattice_of(const CpuJob& job, const TextureView& view, std::span<const AxisTaps> columns,
                   std::vector<AxisTaps> rows, const LatticeAxis& x, const LatticeAxis& y) {
    Lattice lattice{*byte_kernels(), {}, {}, std::move(rows), y, false};
    lattice.reads_rows_once = reads_rows_once(lattice.rows);
    const std::size_t width = job.extent.width;
    for (std::size_t tap = 0; tap < x.taps; ++tap) {
        lattice.columns.push_back(columns_of(columns.subspan(tap * width, width)));
        lattice.kernels.find_windows(lattice.columns.back(), view.levels[0].width, 4);
        if (x.weights.empty()) continue;
        lattice.weights.emplace_back(&x.weights[tap * width], &x.weights[tap * width] + width);
        lattice.weights.back().resize(whole_blocks(width));
    }
    return lattice;
}

void make_tiles(const CpuJob& job, const Lattice& lattice) {
    constexpr std::size_t kColumns = 2048;  // maximum of a tile
    constexpr std::size_t kRows = 64;
    for_each_tile(job.extent, kColumns, kRows, [&](const PixelPosition& corner, std::size_t width, std::size_t height) {
        ByteTile(job, lattice, corner, width).make(height);
    });
}

}  // namespace

bool has_byte_pixels(const CpuJob& job) {
    if (byte_kernels() == nullptr || !are_alike_codes_of_8_bits(job.textures[0].format, job.image.format().stored))
        return false;
    return TextureReader(job.textures[0]).view().levels[0].partial == nullptr;
}

void blend_byte_texels(const CpuJob& job, std::span<const AxisTaps> columns, std::vector<AxisTaps> rows) {
    const TextureReader reader(job.textures[0]);
    const LatticeAxis single;
    make_tiles(job, lattice_of(job, reader.view(), columns, std::move(rows), single, single));
}

bool fetch_byte_lattice(const CpuJob& job, const LatticeAxis& x, const LatticeAxis& y) {
    const CpuTexture& texture = job.textures[0];
    if (texture.sampler.filter != Filter::linear || !has_byte_pixels(job)) return false;
    const TextureReader reader(texture);
    std::vector<AxisTaps> rows = taps_along(texture, reader.view(), 1, y.positions);
    // In this case rows of fetches are faster than rows of words.
    if (x.weights.empty() && texture.format.channels < 4 && reads_rows_once(rows)) return false;
    const std::vector<AxisTaps> columns = taps_along(texture, reader.view(), 0, x.positions);
    make_tiles(job, lattice_of(job, reader.view(), columns, std::move(rows), x, y));
    return true;
}

}  // namespace texton::detail

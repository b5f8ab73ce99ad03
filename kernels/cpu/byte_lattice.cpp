// Resampling of 8-bit normalized formats with the linear filter on the CPU device.
//
// The texture unit's filter is integer arithmetic: a sum of four texels times weights in 1/256. Columns are the same
// for all rows. So the two texels that a pixel reads of a row are stored next to each other once, for all rows of
// pixels that read this row of texels. Weights are computed once for all rows of pixels with the same fraction between
// two rows of texels. Then a row of pixels needs two products and a sum.
#include "kernels/cpu/byte_lattice.h"

#include <algorithm>
#include <vector>

#include "arrays/unit/footprint.h"
#include "kernels/cpu/byte_axes.h"
#include "kernels/cpu/byte_rows.h"
#include "kernels/cpu/halves.h"
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

// Returns true if each pixel is halfway between two texels of its own. Then its code is the rounded mean of four codes.
bool are_halves(std::span<const AxisTaps> taps) {
    constexpr std::int32_t kHalf = 128;
    const std::int32_t first = taps[0].texel[0];
    for (std::size_t i = 0; i < taps.size(); ++i) {
        const std::int32_t texel = first + static_cast<std::int32_t>(2 * i);
        if (taps[i].weight != kHalf || taps[i].texel[0] != texel || taps[i].texel[1] != texel + 1) return false;
    }
    return first >= 0;
}

void halve_tile(const CpuJob& job, std::int32_t first_column, std::span<const AxisTaps> rows, PixelPosition at,
                std::size_t width, std::size_t height) {
    const TextureReader reader(job.textures[0]);
    const HalveRow halve = halve_row(job.textures[0].format, HalfMean::of_sums);
    const std::size_t bytes = job.textures[0].format.bytes;
    const std::size_t skipped = static_cast<std::size_t>(first_column + 2 * at.x) * bytes;
    for (std::size_t i = 0; i < height; ++i, ++at.y) {
        const std::int32_t y = rows[static_cast<std::size_t>(at.y)].texel[0];
        halve(texels_of_row(reader.view(), at.z, y) + skipped, texels_of_row(reader.view(), at.z, y + 1) + skipped,
              width, reinterpret_cast<unsigned char*>(job.image.address(at)), false);
    }
}

// --- images of 8-bit normalized formats ------------------------------------------------------------------------------

struct ByteLattice {
    const ByteKernels& kernels;
    ByteColumns columns;
    std::vector<AxisTaps> rows;
    bool reads_rows_once;
};

class ByteTile {
public:
    ByteTile(const CpuJob& job, const ByteLattice& lattice, const PixelPosition& corner, std::size_t width)
        : job_(job),
          lattice_(lattice),
          corner_(corner),
          width_(width),
          span_{static_cast<std::size_t>(corner.x), whole_blocks(width)},
          reader_(job.textures[0]),
          modes_(reader_.rows(corner.z)),
          border_(border_word(job.textures[0])),
          past_caches_(job.exceeds_caches()),
          channels_(job.textures[0].format.bytes),
          pairs_(4, 2 * span_.count),
          weights_(4, 2 * span_.count) {}

    void make(std::size_t height) {
        const PixelFormat& format = job_.image.format();
        for (std::int32_t y = corner_.y; y < corner_.y + static_cast<std::int32_t>(height); ++y) {
            const BytePixels pixels{reinterpret_cast<unsigned char*>(job_.image.address({corner_.x, y, corner_.z})),
                                    width_, format.stored.bytes, past_caches_};
            blend(lattice_.rows[static_cast<std::size_t>(y)], pixels);
        }
    }

private:
    ByteRow texels_of(std::int32_t y) {
        if (y == kBorderTexel) return {nullptr, channels_, border_};
        return {texels_of_row(reader_.view(), corner_.z, y), channels_, border_};
    }

    const std::uint32_t* pairs_of_row(std::int32_t y) {
        return pairs_.row(
            y, [&](std::uint32_t* pairs) { lattice_.kernels.pair(lattice_.columns, span_, texels_of(y), pairs); });
    }

    ByteWeights weights_of(std::int32_t share) {
        const std::uint32_t* weights = weights_.row(share, [&](std::uint32_t* row) {
            lattice_.kernels.weigh(lattice_.columns, span_, static_cast<std::uint32_t>(share), channels_, row,
                                   row + span_.count);
        });
        return {weights, weights + span_.count};
    }

    void blend(const AxisTaps& y, const BytePixels& pixels) {
        const ByteWeights weights = weights_of(y.weight);
        if (!lattice_.reads_rows_once) {
            const std::uint32_t* top = pairs_of_row(y.texel[0]);
            return lattice_.kernels.blend({top, y.weight == 0 ? top : pairs_of_row(y.texel[1])}, weights, pixels);
        }
        const ByteRow rows[] = {texels_of(y.texel[0]), texels_of(y.texel[y.weight == 0 ? 0 : 1])};
        lattice_.kernels.blend_rows(lattice_.columns, span_, rows, static_cast<std::uint32_t>(y.weight), weights,
                                    pixels);
    }

    const CpuJob& job_;
    const ByteLattice& lattice_;
    PixelPosition corner_;
    std::size_t width_;
    ByteSpan span_;
    TextureReader reader_;
    RowSampler modes_;  // sets the thread's floating-point modes while it exists
    std::uint32_t border_;
    bool past_caches_;
    std::size_t channels_;                           // bytes of a texel
    KeptRows<std::int32_t, std::uint32_t> pairs_;    // the key is the row of texels
    KeptRows<std::int32_t, std::uint32_t> weights_;  // the key is the weight of the lower row
};

}  // namespace

bool fetch_byte_lattice(const CpuJob& job, const Lattice& lattice) {
    constexpr std::size_t kColumns = 2048;  // maximum of a tile
    constexpr std::size_t kRows = 64;
    const CpuTexture& texture = job.textures[0];
    if (texture.sampler.filter != Filter::linear || byte_kernels() == nullptr ||
        !are_alike_codes(texture.format, job.image.format().stored, 8))
        return false;
    const TextureReader reader(texture);
    const LevelView& level = reader.view().levels[0];
    if (level.partial != nullptr) return false;
    ByteLattice bytes{*byte_kernels(), {}, taps_along(texture, reader.view(), 1, lattice.y), false};
    bytes.reads_rows_once = reads_rows_once(bytes.rows);
    // blend_rows() takes pixels of four channels only.
    const bool fetches_singly = texture.format.channels < 4 && bytes.reads_rows_once;
    const bool halves_rows = texture.format.channels < 4 && are_halves(bytes.rows);
    if (fetches_singly && !halves_rows) return false;
    const std::vector<AxisTaps> columns = taps_along(texture, reader.view(), 0, lattice.x);
    if (halves_rows && are_halves(columns)) {
        for_each_tile(job, kColumns, rows_of_tiles(job, kColumns, rows_of_quick_tiles(job, kColumns)),
                      [&](const PixelPosition& corner, std::size_t width, std::size_t height) {
                          halve_tile(job, columns[0].texel[0], bytes.rows, corner, width, height);
                      });
        return true;
    }
    if (fetches_singly) return false;
    bytes.columns = columns_of(columns);
    bytes.kernels.find_windows(bytes.columns, level.width);
    for_each_tile(job, kColumns, rows_of_tiles(job, kColumns, kRows),
                  [&](const PixelPosition& corner, std::size_t width, std::size_t height) {
                      ByteTile(job, bytes, corner, width).make(height);
                  });
    return true;
}

}  // namespace texton::detail

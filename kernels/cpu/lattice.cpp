// Resampling on the CPU device: the x coordinates of the fetches are the same for all rows, and the y coordinates are
// the same for all columns.
//
// Sums of a row of fetches are kept while the next rows of the image read at the same y coordinate.
#include <algorithm>
#include <utility>
#include <vector>

#include <texton/launch.h>

#include "kernels/cpu/byte_lattice.h"
#include "kernels/cpu/job.h"
#include "kernels/cpu/kept_rows.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/line_vector.h"
#include "kernels/cpu/sums.h"
#include "kernels/cpu/texel_rows.h"

namespace texton::detail {
namespace {

// Columns of a tile whose rows are stored temporarily. If rows are written directly to the image, tiles have whole
// rows, since memory access is then fastest.
constexpr std::size_t kFetched = 1024;
constexpr std::size_t kSummed = 256;
constexpr std::size_t kMinRows = 32;  // minimum for which preparing the columns is worthwhile

// --- without weights ----------------------------------------------------------------------------------------------

void fetch_tile(const CpuJob& job, const LatticeAxis& x, const LatticeAxis& y, PixelPosition at, std::size_t width,
                std::size_t height) {
    const TexelRows texels(job.textures[0], job.shapes[0], at.z);
    const float* positions = &x.positions[static_cast<std::size_t>(at.x)];
    const bool as_fetched = job.stores_fetches();
    const bool past_caches = job.goes_past_caches();
    LineVector<Float4> pixels(width);
    RowColumns columns = texels.columns(positions, width);
    for (const FetchedRow& row : texels.rows({&y.positions[static_cast<std::size_t>(at.y)], height})) {
        if (as_fetched) {
            texels.fetch(columns, row, job.image.format(), job.image.address(at), past_caches);
        } else {
            texels.fetch(columns, row, pixels.data());
            job.image.store(at, pixels);
        }
        ++at.y;
    }
}

// --- with weights -------------------------------------------------------------------------------------------------

class SummedTile {
public:
    SummedTile(const CpuJob& job, const LatticeAxis& x, const LatticeAxis& y, const PixelPosition& corner,
               std::size_t width)
        : job_(job),
          y_(y),
          corner_(corner),
          width_(width),
          texels_(job.textures[0], job.shapes[0], corner.z),
          taps_(taps_along(x)),
          sums_(kKeptSums * y.taps, whole_lattice_steps(width)),
          pixels_(width),
          past_caches_(job.goes_past_caches()) {}

    void make(std::size_t height) {
        std::vector<std::vector<FetchedRow>> fetched;  // for each tap
        for (std::size_t tap = 0; tap < y_.taps; ++tap)
            fetched.push_back(texels_.rows({&y_.positions[at_y(tap)], height}));
        std::vector<const float*> rows(y_.taps);
        std::vector<float> weights(y_.taps);
        for (std::size_t i = 0; i < height; ++i) {
            for (std::size_t tap = 0; tap < y_.taps; ++tap) {
                rows[tap] = sums_at(fetched[tap][i]);
                weights[tap] = y_.weights[at_y(tap) + i];
            }
            const std::int32_t row = corner_.y + static_cast<std::int32_t>(i);
            job_.image.make_row({corner_.x, row, corner_.z}, pixels_, [&](float* pixels) {
                sum_rows_as_pixels(rows.data(), weights.data(), y_.taps, 4 * width_, pixels, past_caches_);
            });
        }
    }

private:
    // Number of rows of sums that are kept for each tap: a row of texels is read again a few rows of pixels later.
    static constexpr std::size_t kKeptSums = 4;

    std::size_t at_y(std::size_t tap) const { return tap * job_.extent.height + static_cast<std::size_t>(corner_.y); }

    TapColumns taps_along(const LatticeAxis& x) const {
        std::vector<WeighedPositions> taps;
        for (std::size_t tap = 0; tap < x.taps; ++tap) {
            const std::size_t at = tap * job_.extent.width + static_cast<std::size_t>(corner_.x);
            taps.push_back({&x.positions[at], &x.weights[at]});
        }
        return texels_.taps(taps, width_);
    }

    const float* sums_at(const FetchedRow& at) {
        return &sums_.row(bits_of(at.y), [&](Float4* sums) { texels_.sum(taps_, at, sums); })->x;
    }

    const CpuJob& job_;
    const LatticeAxis& y_;
    PixelPosition corner_;
    std::size_t width_;
    TexelRows texels_;
    TapColumns taps_;
    KeptRows<std::uint32_t, Float4> sums_;  // the key is the bits of the y coordinate
    LineVector<Float4> pixels_;
    bool past_caches_;
};

void scale(std::vector<float>& positions, float unit) {
    for (float& position : positions) position *= unit;
}

}  // namespace

bool CpuKernels::fetch_lattice(Launch& launch, const std::function<Lattice()>& make) const {
    Lattice lattice = make();
    const SourceShape shape = launch.shape(0);
    scale(lattice.x.positions, shape.x_unit);
    scale(lattice.y.positions, shape.y_unit);
    launch.run_job([lattice = std::move(lattice)](const CpuJob& job) {
        const LatticeAxis& x = lattice.x;
        const LatticeAxis& y = lattice.y;
        if (copy_texels_on_cpu(job, x, y) || fetch_byte_lattice(job, x, y)) return;
        const std::size_t fetched = job.stores_fetches() ? job.extent.width : kFetched;
        const std::size_t columns = x.weights.empty() ? fetched : kSummed;
        for_each_tile(job.extent, columns, rows_of_tiles(job.extent, columns, kMinRows),
                      [&](const PixelPosition& corner, std::size_t width, std::size_t height) {
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

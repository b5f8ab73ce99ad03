// Resampling with one fetch for each pixel on the CPU device: the x coordinates of the fetches are the same for all
// rows, and the y coordinates are the same for all columns.
#include <utility>
#include <vector>

#include <texton/launch.h>

#include "core/line_vector.h"
#include "kernels/cpu/byte_lattice.h"
#include "kernels/cpu/job.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/texel_rows.h"

namespace texton::detail {
namespace {

// Columns of a tile whose rows are stored temporarily. If rows are written directly to the image, tiles have whole
// rows, since memory access is then fastest.
constexpr std::size_t kFetched = 1024;
constexpr std::size_t kMinRows = 32;  // minimum for which preparing the columns is worthwhile

void fetch_tile(const CpuJob& job, const Lattice& lattice, PixelPosition at, std::size_t width, std::size_t height) {
    const TexelRows texels(job.textures[0], job.shapes[0], at.z);
    const bool as_fetched = job.stores_fetches();
    const bool past_caches = job.goes_past_caches();
    LineVector<Float4> pixels(width);
    RowColumns columns = texels.columns(&lattice.x[static_cast<std::size_t>(at.x)], width);
    for (const FetchedRow& row : texels.rows({&lattice.y[static_cast<std::size_t>(at.y)], height})) {
        if (as_fetched) {
            texels.fetch(columns, row, job.image.format(), job.image.address(at), past_caches);
        } else {
            texels.fetch(columns, row, pixels.data());
            job.image.store(at, pixels);
        }
        ++at.y;
    }
}

}  // namespace

bool CpuKernels::fetch_lattice(Launch& launch, const std::function<Lattice()>& make) const {
    Lattice lattice = make();
    const SourceShape shape = launch.shape(0);
    for (float& x : lattice.x) x *= shape.x_unit;
    for (float& y : lattice.y) y *= shape.y_unit;
    launch.run_job([lattice = std::move(lattice)](const CpuJob& job) {
        if (copy_texels_on_cpu(job, lattice) || fetch_byte_lattice(job, lattice)) return;
        const std::size_t columns = job.stores_fetches() ? job.extent.width : kFetched;
        for_each_tile(job, columns, rows_of_tiles(job, columns, kMinRows),
                      [&](const PixelPosition& corner, std::size_t width, std::size_t height) {
                          fetch_tile(job, lattice, corner, width, height);
                      });
    });
    return true;
}

}  // namespace texton::detail

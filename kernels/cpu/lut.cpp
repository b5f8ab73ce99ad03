// 1D lookup tables on the CPU device. For each channel, the coordinates of a part of a row are computed first, and then
// fetched together, on vectors. Channels that the image does not store are not looked up.
#include <algorithm>

#include <texton/launch.h>

#include "kernels/cpu/job.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/texel_rows.h"
#include "kernels/functors/lut_functors.h"

namespace texton::detail {
namespace {

constexpr std::size_t kPart = 256;         // pixels of a row at a time
constexpr std::size_t kMinTile = 1 << 13;  // pixels, in whole rows
static_assert(kPart <= TexelPlanes::kMax);

class LookedUpRows {
public:
    LookedUpRows(const CpuJob& job, const lut::Lut1d& lut, std::int32_t slice)
        : job_(job),
          lut_(lut),
          texels_(job.textures[0], job.shapes[0], slice),
          reader_(job.textures[1]),
          table_(reader_.rows(0)) {}

    // Computes at most kPart pixels.
    void make(const PixelPosition& at, std::size_t count) {
        texels_.centers(at.x, at.y, count, planes_);
        const std::size_t colors = std::min<std::size_t>(channels_of(job_.image.format().stored), 3);
        for (std::size_t channel = 0; channel < colors; ++channel) {
            const int entry = lut_.shared ? 0 : static_cast<int>(channel);
            if (lut_.filter == LutFilter::hardware) {
                look_up(channel, entry, count);
            } else {
                interpolate(channel, entry, count);
            }
        }
        job_.image.store(at, planes_, count);
    }

private:
    void look_up(std::size_t channel, int entry, std::size_t count) {
        const lut::LutAxis axis = lut_.axis[channel];
        float* const values = planes_.channel[channel];
        for (std::size_t i = 0; i < count; ++i) x_[i] = axis.entry(values[i]) + 0.5f;
        fetch(count);
        for (std::size_t i = 0; i < count; ++i) values[i] = float_of(entries_[i].channel[entry]);
    }
    void interpolate(std::size_t channel, int entry, std::size_t count) {
        const lut::LutAxis axis = lut_.axis[channel];
        float* const values = planes_.channel[channel];
        for (std::size_t i = 0; i < count; ++i) {
            const lut::Cell cell(axis, values[i]);
            x_[i] = cell.first + 0.5f;
            second_[i] = cell.second + 0.5f;
            share_[i] = cell.share;
        }
        fetch(count);
        for (std::size_t i = 0; i < count; ++i) values[i] = float_of(entries_[i].channel[entry]);
        std::copy_n(second_, count, x_);
        fetch(count);
        for (std::size_t i = 0; i < count; ++i)
            values[i] = values[i] + (float_of(entries_[i].channel[entry]) - values[i]) * share_[i];
    }
    // Fetches entries at coordinates in texels.
    void fetch(std::size_t count) {
        static constexpr float kNoRows[kPart] = {};
        for (std::size_t i = 0; i < count; ++i) x_[i] *= job_.shapes[1].x_unit;
        table_.fetch(x_, kNoRows, count, entries_);
    }

    const CpuJob& job_;
    const lut::Lut1d& lut_;
    TexelRows texels_;
    TextureReader reader_;
    RowSampler table_;
    TexelPlanes planes_;
    float x_[kPart];
    float second_[kPart];
    float share_[kPart];
    Texel entries_[kPart];
};

}  // namespace

bool CpuKernels::look_up(Launch& launch, const lut::Lut1d& lut) const {
    if (launch.has_codes_and_tables()) return false;
    launch.run_job([lut](const CpuJob& job) {
        const std::size_t rows = std::max<std::size_t>(1, kMinTile / job.extent.width);
        for_each_tile(job, job.extent.width, rows_of_tiles(job, job.extent.width, rows),
                      [&](PixelPosition at, std::size_t width, std::size_t height) {
                          LookedUpRows made(job, lut, at.z);
                          for (std::size_t y = 0; y < height; ++y, ++at.y) {
                              for (std::size_t x = 0; x < width; x += kPart) {
                                  at.x = static_cast<std::int32_t>(x);
                                  made.make(at, std::min(kPart, width - x));
                              }
                          }
                      });
    });
    return true;
}

}  // namespace texton::detail

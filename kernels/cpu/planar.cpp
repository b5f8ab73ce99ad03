// Conversions of luma and chroma on the CPU device, row by row: on vectors if both planes can be read as they are
// stored, else with rows of fetches.
#include <algorithm>
#include <utility>
#include <vector>

#include <texton/launch.h>

#include "kernels/cpu/job.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/planar_rows.h"
#include "kernels/cpu/texel_rows.h"
#include "kernels/functors/planar_functors.h"

namespace texton::detail {
namespace {

constexpr std::size_t kPiece = 32768;  // pixels, in whole rows

// Calls make(first row, rows) on all cores.
template <class Make>
void for_each_piece(const CpuJob& job, const Make& make) {
    const std::size_t rows = std::max<std::size_t>(1, kPiece / job.extent.width);
    for_each_tile(job, job.extent.width, rows,
                  [&](const PixelPosition& corner, std::size_t, std::size_t height) { make(corner.y, height); });
}

// --- to RGB ----------------------------------------------------------------------------------------------------------

struct ToRgbJob {
    ToRgb to_rgb;
    bool halved;  // chroma has half the rows
    ChromaShares across;
    ChromaShares down;
};

ChromaShares chroma_shares(bool on_sample) { return on_sample ? ChromaShares{0, 2} : ChromaShares{1, 1}; }

ToRgbJob to_rgb_job(const PlanarOptions& options) {
    const SitedAt sited = sited_at(options);
    return {to_rgb_functor(options), plane_info(options.format, 1).divide_height == 2, chroma_shares(sited.on_column),
            chroma_shares(sited.on_row)};
}

bool is_rgba8(const TexelFormat& format) {
    return format.encoding == Encoding::unorm && format.packing == Packing::plain && format.bits == 8 &&
           format.channels == 4;
}

class RgbRows {
public:
    RgbRows(const CpuJob& job, const ToRgbJob& of)
        : job_(job),
          of_(of),
          luma_(job.textures[0], job.shapes[0], 0),
          chroma_(job.textures[1], job.shapes[1], 0),
          to_bytes_(is_rgba8(job.image.format().stored)) {
        if (!luma_.are_stored() || !chroma_.are_stored() || !clamps_rows(job.textures[1].sampler)) return;
        kernels_ = planar_kernels(job.textures[0].format.bits);
        const std::size_t width = job.extent.width;
        sums_.resize(width + 4 + kRowPadding);
        first_.resize(width + kRowPadding);
        second_.resize(width + kRowPadding);
    }

    void make(std::int32_t y) {
        if (kernels_.blend_chroma == nullptr) return make_by_fetches(y);
        kernels_.blend_chroma(chroma_row(y), first_.data(), second_.data());
        const std::size_t width = job_.extent.width;
        const bool swapped = of_.to_rgb.swapped;
        const PlanarRow row{luma_.stored(0, y), (swapped ? second_ : first_).data(),
                            (swapped ? first_ : second_).data(), width};
        if (to_bytes_)
            return kernels_.to_bytes(of_.to_rgb, row, reinterpret_cast<unsigned char*>(job_.image.address({0, y, 0})));
        const std::size_t of_luma = job_.textures[0].format.bytes;
        for (std::size_t x = 0; x < width; x += TexelPlanes::kMax) {
            const std::size_t length = std::min(TexelPlanes::kMax, width - x);
            kernels_.to_planes(of_.to_rgb, {row.luma + x * of_luma, row.cb + x, row.cr + x, length}, pixels_.channel[0],
                               TexelPlanes::kMax);
            job_.image.store({static_cast<std::int32_t>(x), y, 0}, pixels_, length);
        }
    }

private:
    ChromaRow chroma_row(std::int32_t y) {
        const std::int32_t last = job_.shapes[1].height - 1;
        const std::int32_t nearest = of_.halved ? y / 2 : y;
        const std::int32_t other = !of_.halved ? y : std::clamp(y % 2 == 0 ? nearest - 1 : nearest + 1, 0, last);
        const std::uint16_t share = !of_.halved ? std::uint16_t{0} : y % 2 == 0 ? of_.down.before : of_.down.after;
        return {chroma_.stored(0, nearest),
                chroma_.stored(0, other),
                share,
                static_cast<std::size_t>(job_.shapes[1].width),
                of_.across,
                sums_.data()};
    }

    void make_by_fetches(std::int32_t y) {
        const ToRgb& to_rgb = of_.to_rgb;
        const SourceShape& chroma = job_.shapes[1];
        const float position_y = to_rgb.y.position(PixelPosition{0, y, 0}.center_y()) * chroma.y_unit;
        for (std::size_t x = 0; x < job_.extent.width; x += TexelPlanes::kMax) {
            const std::size_t length = std::min(TexelPlanes::kMax, job_.extent.width - x);
            PixelPosition at{static_cast<std::int32_t>(x), y, 0};
            const PixelPosition first = at;
            float positions[TexelPlanes::kMax];
            for (std::size_t i = 0; i < length; ++i, ++at.x)
                positions[i] = to_rgb.x.position(at.center_x()) * chroma.x_unit;
            Float4 samples[TexelPlanes::kMax];
            chroma_.fetch(positions, position_y, length, samples);
            luma_.centers(first.x, y, length, pixels_);
            for (std::size_t i = 0; i < length; ++i) {
                const Float4& sample = samples[i];
                pixels_.set(i, to_rgb.swapped ? to_rgb.color(pixels_.channel[0][i], sample.y, sample.x)
                                              : to_rgb.color(pixels_.channel[0][i], sample.x, sample.y));
            }
            job_.image.store(first, pixels_, length);
        }
    }

    const CpuJob& job_;
    const ToRgbJob& of_;
    TexelRows luma_;
    TexelRows chroma_;
    bool to_bytes_;
    PlanarKernels kernels_;
    std::vector<std::uint32_t> sums_;
    std::vector<std::uint16_t> first_;  // channel of chroma
    std::vector<std::uint16_t> second_;
    TexelPlanes pixels_;
};

// --- from RGB --------------------------------------------------------------------------------------------------------

// Returns the same as Coded::operator(). A conversion to an integer rounds down, since codes are not negative, and
// compilers vectorize it.
float plane_value(const Coded& coded, const Float4& color) {
    return static_cast<float>(static_cast<std::int32_t>(coded.code(color) + 0.5f)) / coded.of_plane;
}

void make_luma(const LumaPlane& plane, const TexelPlanes& texels, std::size_t count, TexelPlanes& pixels) {
    const LumaPlane own = plane;  // a local copy, which stored pixels cannot alias
    for (std::size_t i = 0; i < count; ++i) pixels.set(i, {plane_value(own.luma, texels.get(i)), 0, 0, 0});
}

/// Computes the samples of a row of chroma from the texels around them.
class ChromaSamples {
public:
    ChromaSamples(const CpuJob& job, const ChromaPlane& plane)
        : job_(job), plane_(plane), rows_(job.textures[0], job.shapes[0], 0) {}

    void make(std::int32_t y) {
        for (std::size_t x = 0; x < job_.extent.width; x += kMax) {
            const PixelPosition at{static_cast<std::int32_t>(x), y, 0};
            const std::size_t count = std::min(kMax, job_.extent.width - x);
            for (auto& channel : sums_.channel) std::fill_n(channel, count, 0.0f);
            for (int tap = 0; tap < plane_.y.count(); ++tap) add_row(at, tap, count);
            encode(count);
            job_.image.store(at, pixels_, count);
        }
    }

private:
    static constexpr std::size_t kMax = (TexelPlanes::kMax - 1) / 2;  // samples: two texels each, one before

    static std::int32_t texel(const ChromaTaps& taps, std::int32_t sample, int tap) {
        return static_cast<std::int32_t>(taps.center(sample, tap));
    }

    // Adds a row of texels in the functor's order: the first tap of all samples, then the second, and so on.
    void add_row(const PixelPosition& at, int row_tap, std::size_t count) {
        const std::int32_t first = texel(plane_.x, at.x, 0);
        const int taps = plane_.x.count();
        const std::int32_t last = texel(plane_.x, at.x + static_cast<std::int32_t>(count) - 1, taps - 1);
        rows_.centers(first, texel(plane_.y, at.y, row_tap), static_cast<std::size_t>(last - first + 1), texels_);
        for (int tap = 0; tap < taps; ++tap) {
            const float weight = plane_.x.weight(tap) * plane_.y.weight(row_tap);
            add(0, static_cast<std::size_t>(texel(plane_.x, at.x, tap) - first), 1, weight);
            if (count > 1) add(1, static_cast<std::size_t>(texel(plane_.x, at.x + 1, tap) - first), count - 1, weight);
        }
    }

    // Adds every second texel from `texel` on to the sums from `sample` on.
    void add(std::size_t sample, std::size_t texel, std::size_t count, float weight) {
        for (std::size_t c = 0; c < 3; ++c) {
            const float* texels = &texels_.channel[c][texel];
            float* sums = &sums_.channel[c][sample];
            for (std::size_t i = 0; i < count; ++i) sums[i] += texels[2 * i] * weight;
        }
    }

    void encode(std::size_t count) {
        const Coded first = plane_.swapped ? plane_.cr : plane_.cb;
        const Coded second = plane_.swapped ? plane_.cb : plane_.cr;
        for (std::size_t i = 0; i < count; ++i) {
            const Float4 sum = sums_.get(i);
            pixels_.set(i, {plane_value(first, sum), plane_value(second, sum), 0, 0});
        }
    }

    const CpuJob& job_;
    const ChromaPlane& plane_;
    TexelRows rows_;
    TexelPlanes texels_;
    TexelPlanes sums_;
    TexelPlanes pixels_;
};

}  // namespace

bool CpuKernels::to_rgb(Launch& launch, const PlanarOptions& options) const {
    launch.run_job([of = to_rgb_job(options)](const CpuJob& job) {
        for_each_piece(job, [&](std::int32_t first_row, std::size_t rows) {
            RgbRows rgb(job, of);
            for (std::size_t i = 0; i < rows; ++i) rgb.make(first_row + static_cast<std::int32_t>(i));
        });
    });
    return true;
}

bool CpuKernels::from_rgb(Launch& luma, Launch& chroma, const PlanarOptions& options) const {
    luma.run_pointwise(
        [plane = luma_plane(options)](std::span<const PointwiseSource> sources, PixelPosition, std::size_t count,
                                      TexelPlanes& pixels) { make_luma(plane, sources[0].texels(), count, pixels); });
    chroma.run_job([plane = chroma_plane(options)](const CpuJob& job) {
        for_each_piece(job, [&](std::int32_t first_row, std::size_t rows) {
            ChromaSamples samples(job, plane);
            for (std::size_t i = 0; i < rows; ++i) samples.make(first_row + static_cast<std::int32_t>(i));
        });
    });
    return true;
}

}  // namespace texton::detail

// Functors that compute channels separately, on the CPU device: the results for all 8-bit codes are computed once, and
// looked up for each pixel.
#include <algorithm>
#include <deque>
#include <new>
#include <utility>
#include <vector>

#include <texton/launch.h>

#include "arrays/texture_state.h"
#include "kernels/cpu/direct_fetches.h"
#include "kernels/cpu/job.h"
#include "kernels/cpu/texel_rows.h"
#include "kernels/launch/launch_state.h"

namespace texton::detail {
namespace {

constexpr std::size_t kCodes = 256;
static_assert(kCodes <= TexelPlanes::kMax);

bool has_codes(const TexelFormat& format) { return format.packing == Packing::plain && format.bits == 8; }

// Calls a functor for texels of the first texture. The other textures are tables.
class FunctorOfTexels {
public:
    FunctorOfTexels(const CpuJob& job, const PointwiseFunction& functor, RefusedFetch& refused) : functor_(functor) {
        for (std::size_t i = 0; i < job.textures.size(); ++i)
            sources_.emplace_back(job.shapes[i], fetches_.emplace_back(job, i, refused), texels);
    }
    void operator()(const PixelPosition& at, std::size_t count, TexelPlanes& pixels) const {
        functor_(sources_, at, count, pixels);
    }

    TexelPlanes texels;

private:
    const PointwiseFunction& functor_;
    std::deque<DirectFetches> fetches_;
    std::vector<PointwiseSource> sources_;
};

// The results of a functor for the values of all codes, and the codes of the image in which they are stored.
class CodeTables {
public:
    CodeTables(FunctorOfTexels& functor, const TexelFormat& texture, const PixelFormat& image) {
        for (auto& of_channel : values_) {
            for (std::size_t code = 0; code < kCodes; ++code) of_channel[code] = static_cast<float>(code) / 255;
        }
        if (texture.encoding == Encoding::srgb) decode(texture);
        for (std::size_t code = 0; code < kCodes; ++code)
            functor.texels.set(code, {values_[0][code], values_[1][code], values_[2][code], values_[3][code]});
        functor({}, kCodes, results_);
        if (!has_codes(image.stored)) return;
        for (std::size_t code = 0; code < kCodes; ++code) {
            const Pixel pixel = encode_pixel(texel_of(results_.get(code), image.stored), image);
            for (std::size_t c = 0; c < image.stored.channels; ++c)
                codes_[c][code] = static_cast<unsigned char>(pixel.word[0] >> 8 * c);
        }
    }

    // Looks up the results of texels. Returns false if some are between codes: rounding has moved a coordinate off a
    // texel's center.
    bool look_up(const TexelPlanes& texels, std::size_t count, TexelPlanes& pixels) const {
        bool are_codes = true;
        for (std::size_t c = 0; c < 4; ++c) {
            for (std::size_t i = 0; i < count; ++i) {
                const float value = texels.channel[c][i];
                const auto code = static_cast<std::size_t>(static_cast<int>(value * 255 + 0.5f)) % kCodes;
                are_codes &= values_[c][code] == value;
                pixels.channel[c][i] = results_.channel[c][code];
            }
        }
        return are_codes;
    }

    template <std::size_t channels>
    void look_up(const unsigned char* texels, std::size_t count, unsigned char* pixels) const {
        for (std::size_t i = 0; i < channels * count; i += channels) {
            for (std::size_t c = 0; c < channels; ++c) pixels[i + c] = codes_[c][texels[i + c]];
        }
    }

private:
    // Writes the values of the channels that the format has.
    void decode(const TexelFormat& format) {
        std::vector<unsigned char> texels(kCodes * format.channels);
        for (std::size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<unsigned char>(i / format.channels);
        plane_decoder(format)(texels.data(), kCodes, values_[0], kCodes);
    }

    float values_[4][kCodes];
    TexelPlanes results_;
    unsigned char codes_[4][kCodes];
};

void run_codes_of(const CpuJob& job, const PointwiseFunction& functor) {
    constexpr std::size_t kColumns = 4096;
    RefusedFetch refused;
    const auto rows_of = [&](std::int32_t slice) { return TexelRows(job.textures[0], job.shapes[0], slice); };
    const CodeTables tables = [&] {
        const TexelRows modes = rows_of(0);  // sets how the thread rounds
        FunctorOfTexels of_codes(job, functor, refused);
        return CodeTables(of_codes, job.textures[0].format, job.image.format());
    }();
    const TexelFormat& image = job.image.format().stored;
    const SourceShape& shape = job.shapes[0];
    const bool stores_codes = has_codes(image) && image.channels == job.textures[0].format.channels &&
                              job.extent.width <= static_cast<std::size_t>(shape.width) &&
                              job.extent.height <= static_cast<std::size_t>(shape.height);
    const std::size_t rows = rows_of_tiles(job, kColumns, rows_of_quick_tiles(job, kColumns));
    for_each_tile(job, kColumns, rows, [&](PixelPosition at, std::size_t width, std::size_t height) {
        const TexelRows texels = rows_of(at.z);
        FunctorOfTexels between(job, functor, refused);
        TexelPlanes pixels;
        for (std::size_t y = 0; y < height; ++y, ++at.y) {
            if (stores_codes && texels.are_stored()) {
                const unsigned char* const from = texels.stored(at.x, at.y);
                auto* const to = reinterpret_cast<unsigned char*>(job.image.address(at));
                switch (image.channels) {
                    case 1: tables.look_up<1>(from, width, to); break;
                    case 2: tables.look_up<2>(from, width, to); break;
                    default: tables.look_up<4>(from, width, to); break;
                }
                continue;
            }
            for (std::size_t x = 0; x < width; x += TexelPlanes::kMax) {
                const std::size_t count = std::min(TexelPlanes::kMax, width - x);
                const PixelPosition first{at.x + static_cast<std::int32_t>(x), at.y, at.z};
                texels.centers(first.x, first.y, count, between.texels);
                if (!tables.look_up(between.texels, count, pixels)) between(first, count, pixels);
                job.image.store(first, pixels, count);
            }
        }
    });
    refused.throw_if_any(job);
}

}  // namespace

bool Launch::has_codes_and_tables() const noexcept {
    constexpr std::size_t kMinPixels = 4 * kCodes;  // with fewer, the functor is called for each of them
    const auto is_image = [](const Texture& texture) {
        return texture.kind() == ArrayKind::array_2d || texture.kind() == ArrayKind::layered_2d;
    };
    const std::span<const Texture> textures(state_->textures);
    const FormatInfo& format = info(textures[0].format());
    const Extent& extent = state_->image.extent;
    return extent.width * extent.height >= kMinPixels && is_image(textures[0]) &&
           std::ranges::none_of(textures.subspan(1), is_image) &&
           (format.kind == FormatKind::unorm || format.kind == FormatKind::srgb) && format.bits == 8 &&
           format.layout == FormatLayout::plain;
}

void Launch::run_codes(PointwiseFunction functor) try {
    run_job([functor = std::move(functor)](const CpuJob& job) { run_codes_of(job, functor); });
} catch (const std::bad_alloc&) {
    refuse_host_memory(state_->object);
}

}  // namespace texton::detail

#include "kernels/cpu/color_rows.h"

#include <cstdint>

#include <texton/channel_codes.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/color_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace texton::detail {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#include "arrays/cpu/pixel_vectors.h"

// Some targets have no vectors (see arrays/cpu/rows_simd.cpp). There a pixel is four scalars.
#if HWY_TARGET == HWY_SCALAR
HWY_INLINE float as_pixel(float value) { return float_of(plain_bits_of(value)); }

HWY_INLINE void matrix_rows(const float (&of)[3][4], const float* texels, std::size_t count, float* pixels, bool) {
    for (std::size_t i = 0; i < 4 * count; i += 4) {
        const float red = texels[i];
        const float green = texels[i + 1];
        const float blue = texels[i + 2];
        pixels[i + 3] = as_pixel(texels[i + 3]);
        for (std::size_t c = 0; c < 3; ++c)
            pixels[i + c] = as_pixel(of[c][0] * red + of[c][1] * green + of[c][2] * blue + of[c][3]);
    }
}

HWY_INLINE void scaled_rows(float by, const float* texels, std::size_t count, float* pixels, bool) {
    for (std::size_t i = 0; i < 4 * count; ++i) pixels[i] = as_pixel(i % 4 == 3 ? texels[i] : texels[i] * by);
}
#else
// Applies `change` to vectors of whole pixels.
template <class Change>
HWY_INLINE void change_pixels(const float* texels, std::size_t count, const Change& change, float* pixels,
                              bool past_caches) {
    constexpr hn::CappedTag<float, 16> kPixels;
    constexpr hn::CappedTag<float, 4> kPixel;
    const std::size_t lanes = hn::Lanes(kPixels);
    std::size_t i = 0;
    const auto changed = [&](auto d) HWY_ATTR { return with_one_nan(d, change(d, hn::LoadU(d, texels + i))); };
    if (past_caches && begins_vector(kPixels, pixels)) {
        for (; i + lanes <= 4 * count; i += lanes) store_vector_to<true>(changed(kPixels), kPixels, pixels + i);
    }
    for (; i + lanes <= 4 * count; i += lanes) store_vector_to<false>(changed(kPixels), kPixels, pixels + i);
    for (; i < 4 * count; i += 4) hn::StoreU(changed(kPixel), kPixel, pixels + i);
}

HWY_INLINE void matrix_rows(const float (&of)[3][4], const float* texels, std::size_t count, float* pixels,
                            bool past_caches) {
    HWY_ALIGN float columns[4][4] = {};
    for (std::size_t c = 0; c < 3; ++c) {
        for (std::size_t k = 0; k < 4; ++k) columns[k][c] = of[c][k];
    }
    HWY_ALIGN static constexpr std::int32_t kAlpha[4] = {0, 0, 0, -1};
    change_pixels(
        texels, count,
        [&](auto d, auto texel) HWY_ATTR {
            const hn::RebindToSigned<decltype(d)> bits;
            auto sum = hn::Mul(hn::LoadDup128(d, columns[0]), hn::Broadcast<0>(texel));
            sum = hn::Add(sum, hn::Mul(hn::LoadDup128(d, columns[1]), hn::Broadcast<1>(texel)));
            sum = hn::Add(sum, hn::Mul(hn::LoadDup128(d, columns[2]), hn::Broadcast<2>(texel)));
            sum = hn::Add(sum, hn::LoadDup128(d, columns[3]));
            return hn::IfThenElse(hn::MaskFromVec(hn::BitCast(d, hn::LoadDup128(bits, kAlpha))), texel, sum);
        },
        pixels, past_caches);
}

HWY_INLINE void scaled_rows(float by, const float* texels, std::size_t count, float* pixels, bool past_caches) {
    HWY_ALIGN const float factors[4] = {by, by, by, 1};
    change_pixels(
        texels, count, [&](auto d, auto texel) HWY_ATTR { return hn::Mul(texel, hn::LoadDup128(d, factors)); }, pixels,
        past_caches);
}
#endif

// --- separate channels: a vector has one channel of several pixels ---------------------------------------------------

constexpr hn::CappedTag<float, 16> kChannel;
static_assert(TexelPlanes::kMax % hn::MaxLanes(kChannel) == 0);

HWY_INLINE void matrix_planes(const float (&of)[3][4], std::size_t colors, std::size_t count, TexelPlanes& pixels) {
    for (std::size_t i = 0; i < count; i += hn::Lanes(kChannel)) {
        const auto red = hn::Load(kChannel, pixels.channel[0] + i);
        const auto green = hn::Load(kChannel, pixels.channel[1] + i);
        const auto blue = hn::Load(kChannel, pixels.channel[2] + i);
        for (std::size_t c = 0; c < colors; ++c) {
            const auto factor = [&](std::size_t k) HWY_ATTR { return hn::Set(kChannel, of[c][k]); };
            const auto sum = hn::Add(hn::Mul(factor(0), red), hn::Mul(factor(1), green));
            hn::Store(hn::Add(hn::Add(sum, hn::Mul(factor(2), blue)), factor(3)), kChannel, pixels.channel[c] + i);
        }
    }
}

HWY_INLINE void scaled_planes(float by, std::size_t colors, std::size_t count, TexelPlanes& pixels) {
    for (std::size_t c = 0; c < colors; ++c) {
        for (std::size_t i = 0; i < count; i += hn::Lanes(kChannel)) {
            float* const values = pixels.channel[c] + i;
            hn::Store(hn::Mul(hn::Load(kChannel, values), hn::Set(kChannel, by)), kChannel, values);
        }
    }
}

}  // namespace

void apply_matrix_to_planes(const float (&of)[3][4], std::size_t colors, std::size_t count, TexelPlanes& pixels) {
    matrix_planes(of, colors, count, pixels);
}

void scale_planes(float by, std::size_t colors, std::size_t count, TexelPlanes& pixels) {
    scaled_planes(by, colors, count, pixels);
}

void apply_matrix_on_vectors(const float (&of)[3][4], const float* texels, std::size_t count, float* pixels,
                             bool past_caches) {
    matrix_rows(of, texels, count, pixels, past_caches);
}

void scale_color_rows_on_vectors(float by, const float* texels, std::size_t count, float* pixels, bool past_caches) {
    scaled_rows(by, texels, count, pixels, past_caches);
}

}  // namespace HWY_NAMESPACE
}  // namespace texton::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace texton::detail {

HWY_EXPORT(apply_matrix_on_vectors);
HWY_EXPORT(scale_color_rows_on_vectors);
HWY_EXPORT(apply_matrix_to_planes);
HWY_EXPORT(scale_planes);

void apply_matrix(const float (&of)[3][4], const float* texels, std::size_t count, float* pixels, bool past_caches) {
    HWY_DYNAMIC_DISPATCH(apply_matrix_on_vectors)(of, texels, count, pixels, past_caches);
}

void scale_color_rows(float by, const float* texels, std::size_t count, float* pixels, bool past_caches) {
    HWY_DYNAMIC_DISPATCH(scale_color_rows_on_vectors)(by, texels, count, pixels, past_caches);
}

void apply_matrix(const float (&of)[3][4], std::size_t colors, std::size_t count, TexelPlanes& pixels) {
    HWY_DYNAMIC_DISPATCH(apply_matrix_to_planes)(of, colors, count, pixels);
}

void scale_color_planes(float by, std::size_t colors, std::size_t count, TexelPlanes& pixels) {
    HWY_DYNAMIC_DISPATCH(scale_planes)(by, colors, count, pixels);
}

}  // namespace texton::detail
#endif

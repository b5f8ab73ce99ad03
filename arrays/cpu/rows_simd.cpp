// Implements the rules of the texture unit (texture_unit.h) on vectors. Each stage processes a whole block of fetches:
// 1. Coordinates are converted to first texels and weights.
// 2. The texels are copied side by side.
// 3. The weighted texels are summed.
// 4. The sums are converted to pixels or Texels.
//
// Texels are copied with plain loads, a pair with one load, and several are stored at once. If pairs are adjacent in a
// row of the texture, as in the computation of a mip chain, they are not copied. Rows of fetches that have their
// columns in common copy the pairs of a row of texels once.
//
// Sums are exact: 16-bit integers for 8-bit texels, 32-bit integers for 16-bit and sRGB texels, two 32-bit integers,
// two float32 or a float64 for float32 texels. So the results depend neither on the order of summation nor on fused
// products. The only rounding is at the end, and it is that of the hardware.
#include "arrays/cpu/rows_simd.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include <texton/pixel_encode.h>

#include "arrays/cpu/srgb_rows.h"
#include "arrays/unit/affine_map.h"
#include "arrays/unit/texture_unit.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "arrays/cpu/rows_simd.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace texton::detail {
namespace HWY_NAMESPACE {

// Highway's fallback for CPUs without SSSE3 has no vectors, so the model is used instead.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
RowKernels kernels_for(const TexelFormat&, Filter) { return {}; }
const LatticeKernels& lattice() {
    static constexpr LatticeKernels kNone;
    return kNone;
}

void positions_of_row(const AffineMap& map, std::uint32_t i, std::uint32_t j, std::size_t count, float* x, float* y) {
    for (std::size_t k = 0; k < count; ++k) {
        const Coordinates at = position_of_pixel(map, i + static_cast<std::uint32_t>(k), j);
        x[k] = at.x;
        y[k] = at.y;
    }
}
#else
namespace {

#include "arrays/cpu/rows_taps.h"

#include "arrays/cpu/rows_windows.h"

#include "arrays/cpu/rows_fixed.h"

#include "arrays/cpu/rows_floating.h"

#include "arrays/cpu/rows_srgb.h"

#include "arrays/cpu/rows_lattice.h"

// --- blocks ----------------------------------------------------------------------------------------------------------

template <class Kind>
struct AsPixels {
    static constexpr std::size_t kBytes = Kind::kBytes;
    static constexpr bool kPointwise = Kind::kResultsArePixels;

    static HWY_INLINE void finish(const typename Kind::Result* results, unsigned char* pixels) {
        if constexpr (!kPointwise) Kind::encode(results, pixels);
    }
};

// Converts the results to Texels. Channels that the format lacks are 0.
template <class Kind>
struct AsTexels {
    static constexpr std::size_t kBytes = sizeof(Texel);
    static constexpr bool kPointwise = false;

    static HWY_INLINE void finish(const typename Kind::Result* results, unsigned char* texels) {
        auto* to = reinterpret_cast<float*>(texels);
        constexpr std::size_t kFloats = 4 / Kind::kChannels;  // of a texel, for each channel
        for (std::size_t i = 0; i < kRowBlock * Kind::kChannels; i += hn::Lanes(kFloat))
            store_texels(Kind::widen(results + i), to + kFloats * i);
    }

private:
    static HWY_INLINE void store_texels(FloatVector values, float* texels) {
        const FloatVector zero = hn::Zero(kFloat);
        if constexpr (Kind::kChannels == 4) {
            hn::StoreU(values, kFloat, texels);
        } else if constexpr (Kind::kChannels == 2) {
            const hn::Repartition<double, Float> pairs;
            const auto both = hn::BitCast(pairs, values), none = hn::BitCast(pairs, zero);
            hn::StoreInterleaved2(both, none, pairs, reinterpret_cast<double*>(texels));
        } else {
            hn::StoreInterleaved4(values, zero, zero, zero, kFloat, texels);
        }
    }
};

// Kinds with blend_inside() sum texels that are inside the texture where they are.
template <class Kind>
constexpr bool kSumsInside = requires(const RowPlan& plan, const Taps& taps, typename Kind::Result* results) {
    Kind::blend_inside(plan, taps, results);
};

// A block is staged while the one before it is summed, so that its texels are in memory when they are loaded.
template <class Kind, class As>
void fetch_linear(const RowPlan& plan, const float* x, const float* y, std::size_t blocks, unsigned char* out) {
    Taps taps[3];
    Stage stages[2];
    Rows rows[2];
    using Result = typename Kind::Result;
    HWY_ALIGN Result kept[kRowBlock * Kind::kChannels];
    const auto find = [&](std::size_t block) HWY_ATTR {
        if (block >= blocks) return;
        Taps& found = taps[block % 3];
        find_linear_taps(plan, x + block * kRowBlock, y + block * kRowBlock, found);
        prefetch_inside<Kind::kBytes>(plan, found);
    };
    const auto stage = [&](std::size_t block) HWY_ATTR {
        const Taps& found = taps[block % 3];
        if (block >= blocks || (kSumsInside<Kind> && found.inside)) return;
        rows[block % 2] = stage_rows<Kind::kBytes>(plan, found, stages[block % 2]);
    };
    find(0);
    find(1);
    stage(0);
    for (std::size_t block = 0; block < blocks; ++block) {
        find(block + 2);
        stage(block + 1);
        unsigned char* to = out + block * kRowBlock * As::kBytes;
        Result* results = As::kPointwise ? reinterpret_cast<Result*>(to) : kept;
        const Taps& current = taps[block % 3];
        if constexpr (kSumsInside<Kind>) {
            if (current.inside) {
                Kind::blend_inside(plan, current, results);
                As::finish(results, to);
                continue;
            }
        }
        Kind::blend(rows[block % 2], current, results);
        As::finish(results, to);
    }
}

// --- rows with columns in common -------------------------------------------------------------------------------------

template <std::size_t bytes>
void stage_pairs(const RowPlan& plan, const unsigned char* texels, const TexelPairs& pairs, unsigned char* staged) {
    const auto texel = [&](std::int32_t x)
                           HWY_ATTR { return x < 0 ? plan.border : texels + static_cast<std::size_t>(x) * bytes; };
    for (std::size_t block = 0; block < pairs.blocks; ++block, staged += kRowBlock * 2 * bytes) {
        const std::int32_t* const first = pairs.first + block * kRowBlock;
        const std::int32_t* const second = pairs.second + block * kRowBlock;
        if (pairs.neighbors[block] == Neighbors::near) {
            stage_near<bytes>(plan, texels, first, staged);
        } else if (pairs.neighbors[block] == Neighbors::pairs) {
            copy_pairs<bytes>(texels, first, staged);
        } else if (pairs.neighbors[block] == Neighbors::any) {
            for (std::size_t i = 0; i < kRowBlock; ++i) {
                copy_texels<bytes>(texel(first[i]), staged + i * 2 * bytes);
                copy_texels<bytes>(texel(second[i]), staged + (i * 2 + 1) * bytes);
            }
        }
    }
}

// Converts the pairs of a row of texels, block by block.
template <class Kind>
void stage_decoded(const RowPlan& plan, const unsigned char* texels, const TexelPairs& pairs, unsigned char* staged) {
    HWY_ALIGN unsigned char stored[kRowBlock * 2 * Kind::kBytes];
    auto* decoded = reinterpret_cast<typename Kind::Decoded*>(staged);
    for (std::size_t block = 0; block < pairs.blocks; ++block, decoded += Kind::kDecoded) {
        const std::int32_t* const first = pairs.first + block * kRowBlock;
        if (pairs.neighbors[block] == Neighbors::all_pairs) {
            Kind::decode(texels + static_cast<std::size_t>(*first) * Kind::kBytes, decoded);
            continue;
        }
        stage_pairs<Kind::kBytes>(
            plan, texels, {first, pairs.second + block * kRowBlock, nullptr, pairs.neighbors + block, 1}, stored);
        Kind::decode(stored, decoded);
    }
}

template <class Kind>
constexpr bool kDecodes = requires {
    &Kind::decode;
};

template <class Kind, class As>
void blend_staged(const StagedRows& rows, const TexelPairs& pairs, unsigned char* out) {
    using Result = typename Kind::Result;
    HWY_ALIGN Result kept[kRowBlock * Kind::kChannels];
    [[maybe_unused]] Attempts attempts;
    for (std::size_t block = 0; block < pairs.blocks; ++block, out += kRowBlock * As::kBytes) {
        const std::size_t pixel = block * kRowBlock;
        const auto row = [&](int k) HWY_ATTR {
            if (pairs.neighbors[block] != Neighbors::all_pairs) return rows.staged[k] + pixel * 2 * Kind::kBytes;
            return rows.texels[k] + static_cast<std::size_t>(pairs.first[pixel]) * Kind::kBytes;
        };
        Result* results = As::kPointwise ? reinterpret_cast<Result*>(out) : kept;
        if constexpr (kDecodes<Kind>) {
            const auto decoded = [&](int k) HWY_ATTR {
                return reinterpret_cast<const typename Kind::Decoded*>(rows.staged[k]) + block * Kind::kDecoded;
            };
            Kind::blend_decoded(decoded(0), decoded(1), pairs.share + pixel, rows.share, attempts, results);
        } else {
            Taps taps;
            store_weights_of_row(pairs.share + pixel, rows.share, taps);
            Kind::blend({row(0), row(1)}, taps, results);
        }
        As::finish(results, out);
    }
}

template <class Kind>
constexpr RowKernels make_kernels() {
    RowKernels kernels{.pixels = fetch_linear<Kind, AsPixels<Kind>>, .texels = fetch_linear<Kind, AsTexels<Kind>>};
    if constexpr (Kind::kBytes < 16) {
        kernels.staged_bytes = 2 * Kind::kBytes;
        kernels.near_texels = kNearTexels<Kind::kBytes>;
        kernels.stage = stage_pairs<Kind::kBytes>;
        if constexpr (kDecodes<Kind>) {
            kernels.staged_bytes = Kind::kDecoded / kRowBlock * sizeof(typename Kind::Decoded);
            kernels.stage = stage_decoded<Kind>;
        }
        kernels.blend_pixels = blend_staged<Kind, AsPixels<Kind>>;
        kernels.blend_texels = blend_staged<Kind, AsTexels<Kind>>;
    }
    return kernels;
}

template <class Kind>
constexpr RowKernels kKernels = make_kernels<Kind>();

template <template <std::size_t> class Kind>
RowKernels by_channels(int channels) {
    if (channels == 1) return kKernels<Kind<1>>;
    return channels == 2 ? kKernels<Kind<2>> : kKernels<Kind<4>>;
}

RowKernels point_kernels(int bytes) {
    switch (bytes) {
        case 1: return {.pixels = fetch_nearest<1>};
        case 2: return {.pixels = fetch_nearest<2>};
        case 4: return {.pixels = fetch_nearest<4>};
        case 8: return {.pixels = fetch_nearest<8>};
        case 16: return {.pixels = fetch_nearest<16>};
    }
    return {};
}

RowKernels linear_kernels(const TexelFormat& format) {
    switch (format.encoding) {
        case Encoding::unorm:
            return format.bits == 8 ? by_channels<Unorm8>(format.channels) : by_channels<Unorm16>(format.channels);
        case Encoding::srgb: return by_channels<Srgb>(format.channels);
        case Encoding::floating:
            return format.bits == 16 ? by_channels<Float16>(format.channels) : by_channels<Float32>(format.channels);
        case Encoding::uint:
        case Encoding::sint:
        case Encoding::snorm: break;
    }
    return {};
}

}  // namespace

void positions_of_row(const AffineMap& map, std::uint32_t i, std::uint32_t j, std::size_t count, float* x, float* y) {
    const Coordinates start = position_of_pixel({0, map.xy, 0, 0, map.yy, 0}, 0, j);  // the terms that contain j
    const IntVector first = hn::Iota(kInt, static_cast<std::int32_t>(i));
    for (std::size_t k = 0; k < count; k += hn::Lanes(kInt)) {
        const IntVector pixel = hn::Add(first, whole(static_cast<std::int32_t>(k)));
        const FloatVector center = hn::Add(hn::ConvertTo(kFloat, pixel), number(0.5f));
        const auto lead = [&](float factor, float other, float offset) HWY_ATTR {
            return hn::Add(hn::Add(hn::Mul(number(factor), center), number(other)), number(offset));
        };
        hn::StoreU(lead(map.xx, start.x, map.x0), kFloat, x + k);
        hn::StoreU(lead(map.yx, start.y, map.y0), kFloat, y + k);
    }
}

RowKernels kernels_for(const TexelFormat& format, Filter filter) {
    if (filter == Filter::point) return format.packing <= Packing::packed ? point_kernels(format.bytes) : RowKernels{};
    return format.packing == Packing::plain ? linear_kernels(format) : RowKernels{};
}

const LatticeKernels& lattice() { return kLattice; }
#endif

}  // namespace HWY_NAMESPACE
}  // namespace texton::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace texton::detail {

HWY_EXPORT(kernels_for);
HWY_EXPORT(lattice);
HWY_EXPORT(positions_of_row);

RowKernels row_kernels(const TexelFormat& format, Filter filter) {
    return HWY_DYNAMIC_DISPATCH(kernels_for)(format, filter);
}

const LatticeKernels& lattice_kernels() { return HWY_DYNAMIC_DISPATCH(lattice)(); }

void find_row_positions(const AffineMap& map, std::uint32_t i, std::uint32_t j, std::size_t count, float* x, float* y) {
    HWY_DYNAMIC_DISPATCH(positions_of_row)(map, i, j, count, x, y);
}

}  // namespace texton::detail
#endif

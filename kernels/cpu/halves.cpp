#include "kernels/cpu/halves.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <texton/channel_codes.h>

#include "arrays/cpu/pixel_rows.h"
#include "arrays/cpu/srgb_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/halves.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace texton::detail {
namespace HWY_NAMESPACE {

// Some targets have no vectors (see arrays/cpu/rows_simd.cpp).
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
HalveRow halve_row_of(const TexelFormat&, HalfMean) { return nullptr; }
#else
namespace {

#include "arrays/cpu/pixel_codes.h"

#include "arrays/cpu/pixel_channels.h"

// --- 8-bit codes -----------------------------------------------------------------------------------------------------

// Returns a quarter of the sum of four codes in each 16-bit lane, rounded.
template <class D, class V>
HWY_INLINE V quarter(D d, V left_top, V right_top, V left_bottom, V right_bottom) {
    const V sum = hn::Add(hn::Add(left_top, right_top), hn::Add(left_bottom, right_bottom));
    return hn::ShiftRight<2>(hn::Add(sum, hn::Set(d, 2)));
}

// Computes as many pixels as a vector has lanes. A lane is one pixel.
template <class D>
HWY_INLINE void halve_vector(D d, const unsigned char* top, const unsigned char* bottom, unsigned char* halves) {
    using Pixel = hn::TFromD<D>;
    const hn::Repartition<std::uint16_t, D> codes;
    const auto column = [&](const unsigned char* row, bool right) HWY_ATTR {
        const auto* pixels = reinterpret_cast<const Pixel*>(row);
        const auto first = hn::LoadU(d, pixels);
        const auto second = hn::LoadU(d, pixels + hn::Lanes(d));
        return hn::BitCast(codes, right ? hn::ConcatOdd(d, second, first) : hn::ConcatEven(d, second, first));
    };
    const auto even = [&](auto two) HWY_ATTR { return hn::And(two, hn::Set(codes, 0xff)); };
    const auto odd = [&](auto two) HWY_ATTR { return hn::ShiftRight<8>(two); };
    const auto a = column(top, false), b = column(top, true), c = column(bottom, false), e = column(bottom, true);
    const auto evens = quarter(codes, even(a), even(b), even(c), even(e));
    const auto odds = quarter(codes, odd(a), odd(b), odd(c), odd(e));
    hn::StoreU(hn::BitCast(d, hn::Or(evens, hn::ShiftLeft<8>(odds))), d, reinterpret_cast<Pixel*>(halves));
}

// Computes the whole vectors of a row and returns their number of pixels.
template <class Pixel>
HWY_INLINE std::size_t halve_vectors(const unsigned char* top, const unsigned char* bottom, std::size_t pixels,
                                     unsigned char* halves) {
    constexpr std::size_t kChannels = sizeof(Pixel);
    const hn::ScalableTag<Pixel> d;
    std::size_t i = 0;
    for (; i + hn::Lanes(d) <= pixels; i += hn::Lanes(d))
        halve_vector(d, top + 2 * kChannels * i, bottom + 2 * kChannels * i, halves + kChannels * i);
    return i;
}

template <class Pixel>
void halve_codes(const unsigned char* top, const unsigned char* bottom, std::size_t pixels, unsigned char* halves,
                 bool) {
    constexpr std::size_t kChannels = sizeof(Pixel);
    const std::size_t done = halve_vectors<Pixel>(top, bottom, pixels, halves);
    for (std::size_t k = kChannels * done; k < kChannels * pixels; ++k) {
        const std::size_t left = k / kChannels * 2 * kChannels + k % kChannels;
        const std::size_t right = left + kChannels;
        halves[k] = static_cast<unsigned char>((top[left] + top[right] + bottom[left] + bottom[right] + 2) >> 2);
    }
}

// --- other formats ---------------------------------------------------------------------------------------------------

template <HalfMean kind, class D>
HWY_INLINE hn::Vec<D> mean(D d, hn::Vec<D> top_left, hn::Vec<D> top_right, hn::Vec<D> bottom_left,
                           hn::Vec<D> bottom_right) {
    if constexpr (kind == HalfMean::of_sums) {
        const auto sum = hn::Add(hn::Add(top_left, top_right), hn::Add(bottom_left, bottom_right));
        // Adding zero makes a sum of negative zeros positive, like a sum that starts with zero.
        return hn::Mul(hn::Add(sum, hn::Zero(d)), hn::Set(d, 0.25f));
    } else {
        const auto half = hn::Set(d, 0.5f);
        const auto top = hn::MulAdd(top_right, half, hn::MulAdd(top_left, half, hn::Zero(d)));
        const auto bottom = hn::MulAdd(bottom_right, half, hn::MulAdd(bottom_left, half, hn::Zero(d)));
        return hn::MulAdd(bottom, half, hn::MulAdd(top, half, hn::Zero(d)));
    }
}

// Loads every second pixel of two vectors of stored values.
template <class Channel, std::size_t channels>
HWY_INLINE FloatVector load_side(const typename Channel::Stored* row, bool right) {
    constexpr auto kTag = Channel::kTag;
    const auto low = hn::LoadU(kTag, row), high = hn::LoadU(kTag, row + hn::Lanes(kTag));
    if constexpr (hn::MaxLanes(kTag) == channels) {
        return Channel::decode(right ? high : low);
    } else if constexpr (sizeof(typename Channel::Stored) * channels == 16) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
        return FloatVector{right ? _mm512_shuffle_f32x4(low.raw, high.raw, 0xdd)
                                 : _mm512_shuffle_f32x4(low.raw, high.raw, 0x88)};
#else
        static_assert(hn::MaxLanes(kTag) == 2 * channels);
        return Channel::decode(right ? hn::ConcatUpperUpper(kTag, high, low) : hn::ConcatLowerLower(kTag, high, low));
#endif
    } else {
        const hn::Repartition<hwy::UnsignedFromSize<sizeof(typename Channel::Stored) * channels>, decltype(kTag)>
            pixels;
        const auto first = hn::BitCast(pixels, low), second = hn::BitCast(pixels, high);
        return Channel::decode(
            hn::BitCast(kTag, right ? hn::ConcatOdd(pixels, second, first) : hn::ConcatEven(pixels, second, first)));
    }
}

// Computes a vector of stored values.
template <class Channel, std::size_t channels, HalfMean kind, bool past_caches>
HWY_INLINE void halve_vector_of(const typename Channel::Stored* top, const typename Channel::Stored* bottom,
                                typename Channel::Stored* halves) {
    const auto side = [](const typename Channel::Stored* row, bool right)
                          HWY_ATTR { return load_side<Channel, channels>(row, right); };
    const FloatVector means =
        mean<kind>(kFloat, side(top, false), side(top, true), side(bottom, false), side(bottom, true));
    store_vector_to<past_caches>(Channel::encode(means), Channel::kTag, halves);
}

template <class Channel, std::size_t channels, HalfMean kind, bool past_caches>
HWY_INLINE void halve_values(const typename Channel::Stored* top, const typename Channel::Stored* bottom,
                             std::size_t values, typename Channel::Stored* halves) {
    using Stored = typename Channel::Stored;
    constexpr std::size_t kAhead = 2048 / sizeof(Stored);  // to prefetch: memory is the only bottleneck
    const std::size_t lanes = hn::Lanes(Channel::kTag);
    std::size_t i = 0;
    for (; i + lanes <= values; i += lanes) {
        hwy::Prefetch(top + 2 * i + kAhead);
        hwy::Prefetch(bottom + 2 * i + kAhead);
        halve_vector_of<Channel, channels, kind, past_caches>(top + 2 * i, bottom + 2 * i, halves + i);
    }
    if (i == values) return;
    Stored last[3][2 * hn::MaxLanes(Channel::kTag)] = {};
    std::copy_n(top + 2 * i, 2 * (values - i), last[0]);
    std::copy_n(bottom + 2 * i, 2 * (values - i), last[1]);
    halve_vector_of<Channel, channels, kind, false>(last[0], last[1], last[2]);
    std::copy_n(last[2], values - i, halves + i);
}

template <class Channel, std::size_t channels, HalfMean kind>
void halve_row_as(const unsigned char* top, const unsigned char* bottom, std::size_t pixels, unsigned char* halves,
                  bool past_caches) {
    using Stored = typename Channel::Stored;
    const auto* const upper = reinterpret_cast<const Stored*>(top);
    const auto* const lower = reinterpret_cast<const Stored*>(bottom);
    auto* const to = reinterpret_cast<Stored*>(halves);
    if (past_caches && begins_vector(Channel::kTag, to))
        return halve_values<Channel, channels, kind, true>(upper, lower, pixels * channels, to);
    halve_values<Channel, channels, kind, false>(upper, lower, pixels * channels, to);
}

template <class Channel, HalfMean kind>
HalveRow by_channels(int channels) {
    if (channels == 1) return halve_row_as<Channel, 1, kind>;
    return channels == 2 ? halve_row_as<Channel, 2, kind> : halve_row_as<Channel, 4, kind>;
}

template <class Channel>
HalveRow by_kind(int channels, HalfMean kind) {
    return kind == HalfMean::of_sums ? by_channels<Channel, HalfMean::of_sums>(channels)
                                     : by_channels<Channel, HalfMean::of_halves>(channels);
}

// --- sRGB formats ----------------------------------------------------------------------------------------------------

constexpr std::size_t kMaxPixels = hn::MaxLanes(kFloat);  // of a vector

// The channels of the left and of the right texels of a vector of pixels.
template <std::size_t channels>
struct SrgbTexels {
    FloatVector side[2][channels];

    HWY_INLINE SrgbTexels(const Srgb& srgb, const unsigned char* row) {
        if constexpr (channels == 4) {
            const auto first = hn::BitCast(kWord, hn::LoadU(kBytes, row));
            const auto second = hn::BitCast(kWord, hn::LoadU(kBytes, row + hn::Lanes(kBytes)));
            const auto left = hn::ConcatEven(kWord, second, first), right = hn::ConcatOdd(kWord, second, first);
#if TEXTON_LOOKS_UP_SRGB
            srgb.decode_two(left, right, side);
#else
            srgb.decode_pixels(left, side[0]);
            srgb.decode_pixels(right, side[1]);
#endif
        } else if constexpr (channels == 2) {
            hn::Vec<Byte> left[2], right[2];
            hn::LoadInterleaved4(kByte, row, left[0], left[1], right[0], right[1]);
            side[0][0] = srgb.decode(left[0]);
            side[0][1] = Unorm8::decode(left[1]);
            side[1][0] = srgb.decode(right[0]);
            side[1][1] = Unorm8::decode(right[1]);
        } else {
            hn::Vec<Byte> left, right;
            hn::LoadInterleaved2(kByte, row, left, right);
            side[0][0] = srgb.decode(left);
            side[1][0] = srgb.decode(right);
        }
    }
};

// Means are computed in parts that stay in the L1 cache, and then encoded: the tables of both conversions do not fit
// the registers.
template <std::size_t channels, HalfMean kind>
void halve_srgb(const unsigned char* top, const unsigned char* bottom, std::size_t pixels, unsigned char* halves,
                bool) {
    constexpr std::size_t kPart = 256;  // pixels
    const Srgb srgb;
    const PlaneEncode encode = plane_encoder({Encoding::srgb, Packing::plain, channels, 8, channels});
    HWY_ALIGN float means[channels * kPart];
    unsigned char last[2][2 * kMaxPixels * channels] = {};
    for (std::size_t begin = 0; begin < pixels; begin += kPart) {
        const std::size_t count = std::min(kPart, pixels - begin);
        for (std::size_t i = 0; i < count; i += kMaxPixels) {
            const unsigned char* rows[] = {top + 2 * (begin + i) * channels, bottom + 2 * (begin + i) * channels};
            if (i + kMaxPixels > count) {
                for (std::size_t k = 0; k < 2; ++k) std::copy_n(rows[k], 2 * (count - i) * channels, last[k]);
                rows[0] = last[0];
                rows[1] = last[1];
            }
            const SrgbTexels<channels> upper(srgb, rows[0]), lower(srgb, rows[1]);
            for (std::size_t c = 0; c < channels; ++c) {
                hn::Store(mean<kind>(kFloat, upper.side[0][c], upper.side[1][c], lower.side[0][c], lower.side[1][c]),
                          kFloat, means + c * kPart + i);
            }
        }
        encode(means, kPart, count, halves + begin * channels);
    }
}

template <HalfMean kind>
HalveRow halve_srgb_of(int channels) {
    if (channels == 1) return halve_srgb<1, kind>;
    return channels == 2 ? halve_srgb<2, kind> : halve_srgb<4, kind>;
}

HalveRow halve_bytes(int channels) {
    if (channels == 1) return halve_codes<std::uint8_t>;
    return channels == 2 ? halve_codes<std::uint16_t> : halve_codes<std::uint32_t>;
}

}  // namespace

HalveRow halve_row_of(const TexelFormat& format, HalfMean kind) {
    if (format.packing != Packing::plain) return nullptr;
    if (format.encoding == Encoding::unorm)
        return format.bits == 8 ? halve_bytes(format.channels) : by_kind<Unorm16>(format.channels, kind);
    if (format.encoding == Encoding::srgb) {
        return kind == HalfMean::of_sums ? halve_srgb_of<HalfMean::of_sums>(format.channels)
                                         : halve_srgb_of<HalfMean::of_halves>(format.channels);
    }
    if (format.encoding != Encoding::floating) return nullptr;
    if (format.bits == 32) return by_kind<Float32>(format.channels, kind);
#if TEXTON_CONVERTS_HALVES
    return by_kind<Float16>(format.channels, kind);
#else
    return nullptr;
#endif
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace texton::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace texton::detail {

HWY_EXPORT(halve_row_of);

HalveRow halve_row(const TexelFormat& format, HalfMean kind) {
    return HWY_DYNAMIC_DISPATCH(halve_row_of)(format, kind);
}

}  // namespace texton::detail
#endif

#include "arrays/cpu/pixel_rows.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "arrays/cpu/srgb_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "arrays/cpu/pixel_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace texton::detail {
namespace HWY_NAMESPACE {

// As in rows_simd.cpp: without vectors, the scalar implementation is used.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
RowDecode decoder_for(const TexelFormat&) { return nullptr; }
RowEncode encoder_for(const TexelFormat&) { return nullptr; }
PlaneDecode plane_decoder_for(const TexelFormat&) { return nullptr; }
PlaneEncode plane_encoder_for(const TexelFormat&) { return nullptr; }
void store_floats_on_vectors(const float* values, std::size_t count, float* stored, bool) {
    for (std::size_t i = 0; i < count; ++i) stored[i] = float_of(plain_bits_of(values[i]));
}
#else
namespace {

#include "arrays/cpu/pixel_codes.h"

#include "arrays/cpu/pixel_channels.h"

// --- one vector of pixels, interleaved channels ----------------------------------------------------------------------

template <class Channel>
using Alpha = ChannelAt<Channel, 3, 4>;

// Returns `alphas` for each fourth value, and `colors` for the others.
template <class Channel>
HWY_INLINE FloatVector by_channel(FloatVector colors, FloatVector alphas) {
    if constexpr (std::is_same_v<Channel, Alpha<Channel>>) return colors;
    const IntVector last = hn::Set(kInt, 3);
    const auto is_alpha = hn::Eq(hn::And(hn::Iota(kInt, 0), last), last);
    return hn::IfThenElse(hn::RebindMask(kFloat, is_alpha), alphas, colors);
}

template <class Channel, std::size_t channels>
HWY_INLINE void decode_vector(const Channel& channel, const typename Channel::Stored* stored, float* texels) {
    const FloatVector zero = hn::Zero(kFloat);
    constexpr auto kTag = Channel::kTag;
    if constexpr (channels == 4) {
        for (std::size_t part = 0; part < 4 * hn::Lanes(kFloat); part += hn::Lanes(kFloat)) {
            const auto values = hn::LoadU(kTag, stored + part);
            hn::StoreU(by_channel<Channel>(channel.decode(values), Alpha<Channel>::decode(values)), kFloat,
                       texels + part);
        }
    } else if constexpr (channels == 2) {
        hn::Vec<decltype(kTag)> red, green;
        hn::LoadInterleaved2(kTag, stored, red, green);
        hn::StoreInterleaved4(channel.decode(red), ChannelAt<Channel, 1, 2>::decode(green), zero, zero, kFloat, texels);
    } else {
        hn::StoreInterleaved4(channel.decode(hn::LoadU(kTag, stored)), zero, zero, zero, kFloat, texels);
    }
}

template <class Channel, std::size_t channels>
HWY_INLINE void encode_vector(const Channel& channel, const float* pixels, typename Channel::Stored* stored) {
    constexpr auto kTag = Channel::kTag;
    if constexpr (channels == 4 && sizeof(*stored) == 1) {
        channel.encode_interleaved(pixels, stored);
    } else if constexpr (channels == 4) {
        for (std::size_t part = 0; part < 4 * hn::Lanes(kFloat); part += hn::Lanes(kFloat))
            hn::StoreU(channel.encode(hn::LoadU(kFloat, pixels + part)), kTag, stored + part);
    } else {
        FloatVector red, green, blue, alpha;
        hn::LoadInterleaved4(kFloat, pixels, red, green, blue, alpha);
        if constexpr (channels == 2) {
            hn::StoreInterleaved2(channel.encode(red), ChannelAt<Channel, 1, 2>::encode(green), kTag, stored);
        } else {
            hn::StoreU(channel.encode(red), kTag, stored);
        }
    }
}

// --- one vector of pixels, separate channels -------------------------------------------------------------------------

struct FloatPixels {
    FloatVector channel[4];
};

// Loads pixels of four channels.
template <class D>
HWY_INLINE void load_four(D d, const hn::TFromD<D>* stored, hn::Vec<D> (&of)[4]) {
    hn::LoadInterleaved4(d, stored, of[0], of[1], of[2], of[3]);
}

// Stores pixels of four channels.
template <class D>
HWY_INLINE void store_four(D d, const hn::Vec<D> (&of)[4], hn::TFromD<D>* stored) {
    hn::StoreInterleaved4(of[0], of[1], of[2], of[3], d, stored);
}

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
// The same for 16 bits, with a quarter of the instructions: two channels at a time are looked up in all pixels, and the
// channels of eight pixels in two vectors of two channels.
HWY_INLINE void load_four(Short, const std::uint16_t* stored, hn::Vec<Short> (&of)[4]) {
    alignas(64) static constexpr auto kFirst = [] {
        std::array<std::uint16_t, 32> lanes{};
        for (std::uint16_t i = 0; i < 32; ++i) lanes[i] = static_cast<std::uint16_t>(i % 16 * 4 + i / 16);
        return lanes;
    }();
    const __m512i first = _mm512_load_si512(kFirst.data());
    const __m512i low = _mm512_loadu_si512(stored), high = _mm512_loadu_si512(stored + 32);
    const __m512i two[] = {_mm512_permutex2var_epi16(low, first, high),
                           _mm512_permutex2var_epi16(low, _mm512_add_epi16(first, _mm512_set1_epi16(2)), high)};
    for (std::size_t i = 0; i < 2; ++i) {
        of[2 * i] = hn::Vec<Short>{_mm512_castsi512_si256(two[i])};
        of[2 * i + 1] = hn::Vec<Short>{_mm512_extracti64x4_epi64(two[i], 1)};
    }
}

HWY_INLINE void store_four(Short, const hn::Vec<Short> (&of)[4], std::uint16_t* stored) {
    alignas(64) static constexpr auto kFirst = [] {
        std::array<std::uint16_t, 32> lanes{};
        for (std::uint16_t i = 0; i < 32; ++i) lanes[i] = static_cast<std::uint16_t>(i % 4 * 16 + i / 4);
        return lanes;
    }();
    const __m512i first = _mm512_load_si512(kFirst.data());
    const auto two = [&](std::size_t c)
                         HWY_ATTR { return _mm512_inserti64x4(_mm512_castsi256_si512(of[c].raw), of[c + 1].raw, 1); };
    const __m512i low = two(0), high = two(2);
    _mm512_storeu_si512(stored, _mm512_permutex2var_epi16(low, first, high));
    const __m512i second = _mm512_add_epi16(first, _mm512_set1_epi16(8));
    _mm512_storeu_si512(stored + 32, _mm512_permutex2var_epi16(low, second, high));
}
#endif

template <class Channel, std::size_t channels>
HWY_INLINE FloatPixels load_pixels(const Channel& channel, const typename Channel::Stored* stored) {
    constexpr auto kTag = Channel::kTag;
    const FloatVector zero = hn::Zero(kFloat);
    FloatPixels pixels{{zero, zero, zero, zero}};
    if constexpr (channels == 1) {
        pixels.channel[0] = channel.decode(hn::LoadU(kTag, stored));
    } else if constexpr (channels == 2) {
        hn::Vec<decltype(kTag)> red, green;
        hn::LoadInterleaved2(kTag, stored, red, green);
        pixels.channel[0] = channel.decode(red);
        pixels.channel[1] = ChannelAt<Channel, 1, 2>::decode(green);
    } else if constexpr (sizeof(*stored) == 1) {
        channel.decode_pixels(hn::BitCast(kWord, hn::LoadU(kBytes, stored)), pixels.channel);
    } else {
        hn::Vec<decltype(kTag)> of[4];
        load_four(kTag, stored, of);
        for (std::size_t c = 0; c < 4; ++c) pixels.channel[c] = channel.decode(of[c]);
    }
    return pixels;
}

template <class Channel, std::size_t channels>
HWY_INLINE void store_pixels(const Channel& channel, const FloatPixels& pixels, typename Channel::Stored* stored) {
    constexpr auto kTag = Channel::kTag;
    const FloatVector(&of)[4] = pixels.channel;
    if constexpr (channels == 1) {
        hn::StoreU(channel.encode(of[0]), kTag, stored);
    } else if constexpr (channels == 2) {
        hn::StoreInterleaved2(channel.encode(of[0]), ChannelAt<Channel, 1, 2>::encode(of[1]), kTag, stored);
    } else if constexpr (sizeof(*stored) == 1) {
        channel.encode_pixels(of, stored);
    } else {
        store_four(kTag, {channel.encode(of[0]), channel.encode(of[1]), channel.encode(of[2]), channel.encode(of[3])},
                   stored);
    }
}

// Whether two vectors of pixels of four channels take less time together.
template <class Channel, std::size_t channels>
constexpr bool kConvertsTwo = requires {
    &Channel::decode_two;
}
&&channels == 4;

// --- rows: the last vector may begin inside the one before it, and short rows pass through a buffer -----------------

constexpr std::size_t kMaxLanes = 16;

template <class Channel, std::size_t channels>
void decode_row(const unsigned char* stored, std::size_t count, float* texels) {
    constexpr std::size_t kPixel = channels * sizeof(typename Channel::Stored);
    const Channel channel;
    const std::size_t lanes = hn::Lanes(kFloat);
    using Stored = typename Channel::Stored;
    if (count < lanes) {
        Stored row[kMaxLanes * channels] = {};
        float decoded[kMaxLanes * 4];
        std::memcpy(row, stored, count * kPixel);
        decode_row<Channel, channels>(reinterpret_cast<const unsigned char*>(row), lanes, decoded);
        std::memcpy(texels, decoded, count * 4 * sizeof(float));
        return;
    }
    for (std::size_t i = 0; i < count; i += lanes) {
        const std::size_t at = std::min(i, count - lanes);
        decode_vector<Channel, channels>(channel, reinterpret_cast<const Stored*>(stored + at * kPixel),
                                         texels + 4 * at);
    }
}

template <class Channel, std::size_t channels>
void encode_row(const float* pixels, std::size_t count, unsigned char* stored) {
    constexpr std::size_t kPixel = channels * sizeof(typename Channel::Stored);
    const Channel channel;
    const std::size_t lanes = hn::Lanes(kFloat);
    using Stored = typename Channel::Stored;
    if (count < lanes) {
        float row[kMaxLanes * 4] = {};
        Stored encoded[kMaxLanes * channels];
        std::memcpy(row, pixels, count * 4 * sizeof(float));
        encode_row<Channel, channels>(row, lanes, reinterpret_cast<unsigned char*>(encoded));
        std::memcpy(stored, encoded, count * kPixel);
        return;
    }
    for (std::size_t i = 0; i < count; i += lanes) {
        const std::size_t at = std::min(i, count - lanes);
        encode_vector<Channel, channels>(channel, pixels + 4 * at, reinterpret_cast<Stored*>(stored + at * kPixel));
    }
}

template <class Channel, std::size_t channels>
void decode_planes(const unsigned char* stored, std::size_t count, float* planes, std::size_t apart) {
    constexpr std::size_t kPixel = channels * sizeof(typename Channel::Stored);
    const Channel channel;
    const std::size_t lanes = hn::Lanes(kFloat);
    using Stored = typename Channel::Stored;
    if (count < lanes) {
        Stored row[kMaxLanes * channels] = {};
        float decoded[kMaxLanes * channels];
        std::memcpy(row, stored, count * kPixel);
        decode_planes<Channel, channels>(reinterpret_cast<const unsigned char*>(row), lanes, decoded, kMaxLanes);
        for (std::size_t c = 0; c < channels; ++c)
            std::memcpy(planes + c * apart, decoded + c * kMaxLanes, count * sizeof(float));
        return;
    }
    std::size_t i = 0;
    if constexpr (kConvertsTwo<Channel, channels>) {
        for (; i + 2 * lanes <= count; i += 2 * lanes) {
            const auto load = [&](std::size_t first)
                                  HWY_ATTR { return hn::BitCast(kWord, hn::LoadU(kBytes, stored + first * kPixel)); };
            FloatVector pixels[2][4];
            channel.decode_two(load(i), load(i + lanes), pixels);
            for (std::size_t c = 0; c < channels; ++c) {
                hn::StoreU(pixels[0][c], kFloat, planes + c * apart + i);
                hn::StoreU(pixels[1][c], kFloat, planes + c * apart + i + lanes);
            }
        }
    }
    for (; i < count; i += lanes) {
        const std::size_t at = std::min(i, count - lanes);
        const auto pixels =
            load_pixels<Channel, channels>(channel, reinterpret_cast<const Stored*>(stored + at * kPixel));
        for (std::size_t c = 0; c < channels; ++c) hn::StoreU(pixels.channel[c], kFloat, planes + c * apart + at);
    }
}

template <class Channel, std::size_t channels>
void encode_planes(const float* planes, std::size_t apart, std::size_t count, unsigned char* stored) {
    constexpr std::size_t kPixel = channels * sizeof(typename Channel::Stored);
    const Channel channel;
    const std::size_t lanes = hn::Lanes(kFloat);
    using Stored = typename Channel::Stored;
    if (count < lanes) {
        float row[kMaxLanes * channels] = {};
        Stored encoded[kMaxLanes * channels];
        for (std::size_t c = 0; c < channels; ++c)
            std::memcpy(row + c * kMaxLanes, planes + c * apart, count * sizeof(float));
        encode_planes<Channel, channels>(row, kMaxLanes, lanes, reinterpret_cast<unsigned char*>(encoded));
        std::memcpy(stored, encoded, count * kPixel);
        return;
    }
    std::size_t i = 0;
    if constexpr (channels == 1 && sizeof(Stored) == 1) {
        for (; i + 4 * lanes <= count; i += 4 * lanes) channel.encode_four(planes + i, stored + i);
    }
    if constexpr (kConvertsTwo<Channel, channels>) {
        for (; i + 2 * lanes <= count; i += 2 * lanes) {
            FloatVector pixels[2][4];
            for (std::size_t c = 0; c < channels; ++c) {
                pixels[0][c] = hn::LoadU(kFloat, planes + c * apart + i);
                pixels[1][c] = hn::LoadU(kFloat, planes + c * apart + i + lanes);
            }
            channel.encode_two(pixels, stored + i * kPixel);
        }
    }
    for (; i < count; i += lanes) {
        const std::size_t at = std::min(i, count - lanes);
        FloatPixels pixels;
        for (std::size_t c = 0; c < channels; ++c) pixels.channel[c] = hn::LoadU(kFloat, planes + c * apart + at);
        store_pixels<Channel, channels>(channel, pixels, reinterpret_cast<Stored*>(stored + at * kPixel));
    }
}

template <class Channel>
PlaneDecode plane_decoder_of(int channels) {
    if (channels == 1) return decode_planes<Channel, 1>;
    return channels == 2 ? decode_planes<Channel, 2> : decode_planes<Channel, 4>;
}

template <class Channel>
PlaneEncode plane_encoder_of(int channels) {
    if (channels == 1) return encode_planes<Channel, 1>;
    return channels == 2 ? encode_planes<Channel, 2> : encode_planes<Channel, 4>;
}

template <class Channel>
RowDecode decoder_of(int channels) {
    if (channels == 1) return decode_row<Channel, 1>;
    return channels == 2 ? decode_row<Channel, 2> : decode_row<Channel, 4>;
}

template <class Channel>
RowEncode encoder_of(int channels) {
    if (channels == 1) return encode_row<Channel, 1>;
    return channels == 2 ? encode_row<Channel, 2> : encode_row<Channel, 4>;
}

bool is_unorm(const TexelFormat& format, int bits) {
    return format.packing == Packing::plain && format.encoding == Encoding::unorm && format.bits == bits;
}

bool is_srgb(const TexelFormat& format) {
    return format.packing == Packing::plain && format.encoding == Encoding::srgb;
}

bool is_floating(const TexelFormat& format, int bits) {
    return format.packing == Packing::plain && format.encoding == Encoding::floating && format.bits == bits;
}

/// Returns of(conversion of a channel) for the format, or null.
template <class Of>
auto with_channel(const TexelFormat& format, const Of& of) -> decltype(of(Float32())) {
    if (is_unorm(format, 8)) return of(Unorm8());
    if (is_srgb(format)) return of(Srgb());
    if (is_unorm(format, 16)) return of(Unorm16());
    if (is_floating(format, 32)) return of(Float32());
#if TEXTON_CONVERTS_HALVES
    if (is_floating(format, 16)) return of(Float16());
#endif
    return nullptr;
}

}  // namespace

RowDecode decoder_for(const TexelFormat& format) {
    return with_channel(format, [&](auto channel) { return decoder_of<decltype(channel)>(format.channels); });
}

RowEncode encoder_for(const TexelFormat& format) {
    return with_channel(format, [&](auto channel) { return encoder_of<decltype(channel)>(format.channels); });
}

PlaneDecode plane_decoder_for(const TexelFormat& format) {
    return with_channel(format, [&](auto channel) { return plane_decoder_of<decltype(channel)>(format.channels); });
}

PlaneEncode plane_encoder_for(const TexelFormat& format) {
    return with_channel(format, [&](auto channel) { return plane_encoder_of<decltype(channel)>(format.channels); });
}
#undef TEXTON_CONVERTS_HALVES

template <bool past_caches>
HWY_INLINE std::size_t store_whole_vectors(const float* values, std::size_t i, std::size_t count, float* stored) {
    const std::size_t lanes = hn::Lanes(kFloat);
    for (; i + lanes <= count; i += lanes)
        store_vector_to<past_caches>(with_one_nan(kFloat, hn::LoadU(kFloat, values + i)), kFloat, stored + i);
    return i;
}

void store_floats_on_vectors(const float* values, std::size_t count, float* stored, bool past_caches) {
    constexpr hn::CappedTag<float, 1> kOne;
    const auto store_one = [&](std::size_t i) HWY_ATTR {
        hn::StoreU(with_one_nan(kOne, hn::LoadU(kOne, values + i)), kOne, stored + i);
    };
    std::size_t i = 0;
    if (past_caches) {
        for (; i < count && !begins_vector(kFloat, stored + i); ++i) store_one(i);
        i = store_whole_vectors<true>(values, i, count, stored);
    } else {
        i = store_whole_vectors<false>(values, i, count, stored);
    }
    for (; i < count; ++i) store_one(i);
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace texton::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace texton::detail {

HWY_EXPORT(decoder_for);
HWY_EXPORT(encoder_for);
HWY_EXPORT(plane_decoder_for);
HWY_EXPORT(plane_encoder_for);
HWY_EXPORT(store_floats_on_vectors);

namespace {
// Returns whether all channels are stored in the same way. The alpha of sRGB formats is linear.
bool has_equal_channels(const TexelFormat& format) {
    return format.packing == Packing::plain && (format.encoding != Encoding::srgb || format.channels == 1);
}

// Returns the format of a single channel.
TexelFormat channel_format(TexelFormat format) {
    format.bytes = static_cast<std::uint8_t>(format.bytes / format.channels);
    format.channels = 1;
    return format;
}
}  // namespace

RowDecode row_decoder(const TexelFormat& format) { return HWY_DYNAMIC_DISPATCH(decoder_for)(format); }
RowEncode row_encoder(const TexelFormat& format) { return HWY_DYNAMIC_DISPATCH(encoder_for)(format); }
PlaneDecode plane_decoder(const TexelFormat& format) { return HWY_DYNAMIC_DISPATCH(plane_decoder_for)(format); }
PlaneEncode plane_encoder(const TexelFormat& format) { return HWY_DYNAMIC_DISPATCH(plane_encoder_for)(format); }
PlaneDecode value_decoder(const TexelFormat& format) {
    return has_equal_channels(format) ? plane_decoder(channel_format(format)) : nullptr;
}
PlaneEncode value_encoder(const TexelFormat& format) {
    return has_equal_channels(format) ? plane_encoder(channel_format(format)) : nullptr;
}

void store_floats(const float* values, std::size_t count, float* stored, bool past_caches) {
    HWY_DYNAMIC_DISPATCH(store_floats_on_vectors)(values, count, stored, past_caches);
}

}  // namespace texton::detail
#endif

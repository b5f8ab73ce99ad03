#include "arrays/cpu_pixel_rows.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "arrays/cpu_pixel_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace texton::detail {
namespace HWY_NAMESPACE {

// As cpu_rows_simd.cpp: without vectors the plain way does as well.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
RowDecode decoder_for(const TexelFormat&) { return nullptr; }
RowEncode encoder_for(const TexelFormat&) { return nullptr; }
#else
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Float = hn::CappedTag<float, 16>;
using Int = hn::Rebind<std::int32_t, Float>;
using Byte = hn::Rebind<std::uint8_t, Float>;
using FloatVector = hn::Vec<Float>;

constexpr Float kFloat;
constexpr Int kInt;
constexpr Byte kByte;

// --- a channel -------------------------------------------------------------------------------------------------------

// A code over 255, rounded once: the product with the upper part of 1 / 255 is exact.
HWY_INLINE FloatVector float_of_code(hn::Vec<Byte> code) {
    constexpr float kUpper = 0x1.01p-8f;
    constexpr float kLower = 0x1.010102p-24f;
    const FloatVector value = hn::ConvertTo(kFloat, hn::PromoteTo(kInt, code));
    return hn::MulAdd(value, hn::Set(kFloat, kUpper), hn::Mul(value, hn::Set(kFloat, kLower)));
}

// unorm_code_of()
HWY_INLINE hn::Vec<Byte> code_of_float(FloatVector value) {
    const FloatVector positive = hn::IfThenElseZero(hn::Gt(value, hn::Zero(kFloat)), value);
    const FloatVector clamped = hn::Min(positive, hn::Set(kFloat, 1.0f));
    const FloatVector scaled = hn::Add(hn::Mul(clamped, hn::Set(kFloat, 255.0f)), hn::Set(kFloat, 0.5f));
    return hn::DemoteTo(kByte, hn::ConvertTo(kInt, scaled));
}

struct Unorm8 {
    using Stored = std::uint8_t;
    static HWY_INLINE FloatVector decode(hn::Vec<Byte> code) { return float_of_code(code); }
    static HWY_INLINE hn::Vec<Byte> encode(FloatVector value) { return code_of_float(value); }
    static constexpr Byte kTag{};
};

struct Float32 {
    using Stored = float;
    static HWY_INLINE FloatVector decode(FloatVector value) { return value; }
    static HWY_INLINE FloatVector encode(FloatVector value) {
        return hn::IfThenElse(hn::IsNaN(value), hn::BitCast(kFloat, hn::Set(kInt, 0x7fffffff)), value);
    }
    static constexpr Float kTag{};
};

// --- as many pixels as a vector has lanes ----------------------------------------------------------------------------

template <class Channel, std::size_t channels>
HWY_INLINE void decode_vector(const typename Channel::Stored* stored, float* texels) {
    const FloatVector zero = hn::Zero(kFloat);
    constexpr auto kTag = Channel::kTag;
    if constexpr (channels == 4) {
        for (std::size_t part = 0; part < 4 * hn::Lanes(kFloat); part += hn::Lanes(kFloat))
            hn::StoreU(Channel::decode(hn::LoadU(kTag, stored + part)), kFloat, texels + part);
    } else if constexpr (channels == 2) {
        hn::Vec<decltype(kTag)> red, green;
        hn::LoadInterleaved2(kTag, stored, red, green);
        hn::StoreInterleaved4(Channel::decode(red), Channel::decode(green), zero, zero, kFloat, texels);
    } else {
        hn::StoreInterleaved4(Channel::decode(hn::LoadU(kTag, stored)), zero, zero, zero, kFloat, texels);
    }
}

template <class Channel, std::size_t channels>
HWY_INLINE void encode_vector(const float* pixels, typename Channel::Stored* stored) {
    constexpr auto kTag = Channel::kTag;
    if constexpr (channels == 4) {
        for (std::size_t part = 0; part < 4 * hn::Lanes(kFloat); part += hn::Lanes(kFloat))
            hn::StoreU(Channel::encode(hn::LoadU(kFloat, pixels + part)), kTag, stored + part);
    } else {
        FloatVector red, green, blue, alpha;
        hn::LoadInterleaved4(kFloat, pixels, red, green, blue, alpha);
        if constexpr (channels == 2) {
            hn::StoreInterleaved2(Channel::encode(red), Channel::encode(green), kTag, stored);
        } else {
            hn::StoreU(Channel::encode(red), kTag, stored);
        }
    }
}

// --- rows: the last few pixels go through room for a whole vector ----------------------------------------------------

constexpr std::size_t kMostLanes = 16;

template <class Channel, std::size_t channels>
void decode_row(const unsigned char* stored, std::size_t count, float* texels) {
    constexpr std::size_t kBytes = channels * sizeof(typename Channel::Stored);
    const std::size_t lanes = hn::Lanes(kFloat);
    using Stored = typename Channel::Stored;
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes)
        decode_vector<Channel, channels>(reinterpret_cast<const Stored*>(stored + i * kBytes), texels + 4 * i);
    if (i == count) return;
    Stored last[kMostLanes * channels] = {};
    float decoded[kMostLanes * 4];
    std::memcpy(last, stored + i * kBytes, (count - i) * kBytes);
    decode_vector<Channel, channels>(last, decoded);
    std::memcpy(texels + 4 * i, decoded, (count - i) * 4 * sizeof(float));
}

template <class Channel, std::size_t channels>
void encode_row(const float* pixels, std::size_t count, unsigned char* stored) {
    constexpr std::size_t kBytes = channels * sizeof(typename Channel::Stored);
    const std::size_t lanes = hn::Lanes(kFloat);
    using Stored = typename Channel::Stored;
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes)
        encode_vector<Channel, channels>(pixels + 4 * i, reinterpret_cast<Stored*>(stored + i * kBytes));
    if (i == count) return;
    float last[kMostLanes * 4] = {};
    Stored encoded[kMostLanes * channels];
    std::memcpy(last, pixels + 4 * i, (count - i) * 4 * sizeof(float));
    encode_vector<Channel, channels>(last, encoded);
    std::memcpy(stored + i * kBytes, encoded, (count - i) * kBytes);
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

bool is_unorm8(const TexelFormat& format) {
    return format.packing == Packing::plain && format.encoding == Encoding::unorm && format.bits == 8;
}

bool is_float32(const TexelFormat& format) {
    return format.packing == Packing::plain && format.encoding == Encoding::floating && format.bits == 32;
}

}  // namespace

RowDecode decoder_for(const TexelFormat& format) {
    if (is_unorm8(format)) return decoder_of<Unorm8>(format.channels);
    return is_float32(format) ? decoder_of<Float32>(format.channels) : nullptr;
}

RowEncode encoder_for(const TexelFormat& format) {
    if (is_unorm8(format)) return encoder_of<Unorm8>(format.channels);
    return is_float32(format) ? encoder_of<Float32>(format.channels) : nullptr;
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace texton::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace texton::detail {

HWY_EXPORT(decoder_for);
HWY_EXPORT(encoder_for);

RowDecode row_decoder(const TexelFormat& format) { return HWY_DYNAMIC_DISPATCH(decoder_for)(format); }
RowEncode row_encoder(const TexelFormat& format) { return HWY_DYNAMIC_DISPATCH(encoder_for)(format); }

}  // namespace texton::detail
#endif

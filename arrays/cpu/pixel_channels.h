// pixel_channels.h: conversions between the stored values of a channel and floats, on vectors: a struct for each kind
// of channel.
//
// Included after pixel_codes.h and srgb_rows.h by vectorized sources once for each instruction set, inside its
// namespace. So there is no include guard.

using Byte = hn::Rebind<std::uint8_t, Float>;
using Short = hn::Rebind<std::uint16_t, Float>;
using Bytes = hn::Repartition<std::uint8_t, Word>;

constexpr Byte kByte;
constexpr Short kShort;
constexpr Bytes kBytes;

#include "arrays/cpu/srgb_vectors.h"

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX2
// Stores the codes of pixels of four channels, narrowed to 16 bits. Each block has four codes of red and then of blue,
// or of green and then of alpha.
template <class Raw>
HWY_INLINE void store_codes(Raw red_blue, Raw green_alpha, std::uint8_t* stored) {
    alignas(16) static constexpr std::uint8_t kOrder[] = {0, 8, 4, 12, 1, 9, 5, 13, 2, 10, 6, 14, 3, 11, 7, 15};
#if HWY_TARGET == HWY_AVX2
    const hn::Vec<Bytes> bytes{_mm256_packus_epi16(red_blue, green_alpha)};
#else
    const hn::Vec<Bytes> bytes{_mm512_packus_epi16(red_blue, green_alpha)};
#endif
    hn::StoreU(hn::TableLookupBytes(bytes, hn::LoadDup128(kBytes, kOrder)), kBytes, stored);
}
#endif

struct Unorm8 {
    using Stored = std::uint8_t;
    static HWY_INLINE FloatVector decode(hn::Vec<Byte> code) { return float_of_unorm8(hn::PromoteTo(kInt, code)); }
    static HWY_INLINE hn::Vec<Byte> encode(FloatVector value) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
        return hn::Vec<Byte>{_mm512_cvtepi32_epi8(unorm_of_float<255>(value).raw)};  // codes need no saturation
#else
        return hn::DemoteTo(kByte, unlimited_unorm_of_float<255>(value));
#endif
    }
    // Stores four vectors of values.
    static HWY_INLINE void encode_four(const float* values, std::uint8_t* stored) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX2
        // The conversions limit codes to the range. They keep the order only within each block of four codes.
        const auto codes = [&](std::size_t i) HWY_ATTR {
            return unlimited_unorm_of_float<255>(hn::LoadU(kFloat, values + i * hn::Lanes(kFloat))).raw;
        };
#if HWY_TARGET == HWY_AVX2
        const __m256i low = _mm256_packs_epi32(codes(0), codes(1)), high = _mm256_packs_epi32(codes(2), codes(3));
        const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
        const hn::Vec<Bytes> bytes{_mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), order)};
#else
        const __m512i low = _mm512_packs_epi32(codes(0), codes(1)), high = _mm512_packs_epi32(codes(2), codes(3));
        const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        const hn::Vec<Bytes> bytes{_mm512_permutexvar_epi32(order, _mm512_packus_epi16(low, high))};
#endif
        hn::StoreU(bytes, kBytes, stored);
#else
        for (std::size_t i = 0; i < 4 * hn::Lanes(kFloat); i += hn::Lanes(kFloat))
            hn::StoreU(encode(hn::LoadU(kFloat, values + i)), kByte, stored + i);
#endif
    }
    static HWY_INLINE FloatVector decode_word(hn::Vec<Word> code) { return float_of_unorm8(hn::BitCast(kInt, code)); }
    // Stores four vectors of pixels of four channels.
    static HWY_INLINE void encode_interleaved(const float* values, std::uint8_t* stored) {
        encode_four(values, stored);
    }
    // Reads pixels of four channels. Interleaving bytes would take more instructions than shifts.
    static HWY_INLINE void decode_pixels(hn::Vec<Word> pixels, FloatVector (&channels)[4]) {
        const auto low = hn::Set(kWord, 0xff);
        channels[0] = decode_word(hn::And(pixels, low));
        channels[1] = decode_word(hn::And(hn::ShiftRight<8>(pixels), low));
        channels[2] = decode_word(hn::And(hn::ShiftRight<16>(pixels), low));
        channels[3] = decode_word(hn::ShiftRight<24>(pixels));
    }
    // Stores pixels of four channels.
    static HWY_INLINE void encode_pixels(const FloatVector (&channels)[4], std::uint8_t* stored) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX2
        // As in encode_four(). Each block has four codes of red, then of blue, green and alpha.
        const auto codes = [&](std::size_t c) HWY_ATTR { return unlimited_unorm_of_float<255>(channels[c]).raw; };
#if HWY_TARGET == HWY_AVX2
        store_codes(_mm256_packs_epi32(codes(0), codes(2)), _mm256_packs_epi32(codes(1), codes(3)), stored);
#else
        store_codes(_mm512_packs_epi32(codes(0), codes(2)), _mm512_packs_epi32(codes(1), codes(3)), stored);
#endif
#else
        const auto codes = [&](std::size_t c) HWY_ATTR { return hn::BitCast(kWord, unorm_of_float<255>(channels[c])); };
        const auto low = hn::Or(codes(0), hn::ShiftLeft<8>(codes(1)));
        const auto high = hn::Or(codes(2), hn::ShiftLeft<8>(codes(3)));
        hn::StoreU(hn::BitCast(kBytes, hn::Or(low, hn::ShiftLeft<16>(high))), kBytes, stored);
#endif
    }
    static constexpr Byte kTag{};
};

// Colors of sRGB formats. Their alpha is Unorm8.
class Srgb {
public:
    using Stored = std::uint8_t;
    static constexpr Byte kTag{};

    HWY_INLINE Srgb() : Srgb(srgb_row_tables()) {}  // has the target's attributes
    HWY_INLINE FloatVector decode(hn::Vec<Byte> code) const { return decode_word(hn::PromoteTo(kWord, code)); }
    HWY_INLINE hn::Vec<Byte> encode(FloatVector value) const {
        return hn::TruncateTo(kByte, hn::BitCast(kWord, code_of(value)));
    }

#if TEXTON_LOOKS_UP_SRGB
    // Reads pixels of four channels.
    HWY_INLINE void decode_pixels(hn::Vec<Word> pixels, FloatVector (&channels)[4]) const {
        const auto red_blue = look_up(hn::And(pixels, hn::Set(kWord, 0xff00ff)));
        channels[0] = hn::BitCast(kFloat, hn::ShiftLeft<16>(red_blue));
        channels[1] = decode_word(hn::And(hn::ShiftRight<8>(pixels), hn::Set(kWord, 0xff)));
        channels[2] = hn::BitCast(kFloat, hn::And(red_blue, hn::Set(kWord, 0xffff0000)));
        channels[3] = Unorm8::decode_word(hn::ShiftRight<24>(pixels));
    }
    // Reads two vectors of pixels, whose greens are looked up together.
    HWY_INLINE void decode_two(hn::Vec<Word> first, hn::Vec<Word> second, FloatVector (&channels)[2][4]) const {
        const auto upper = hn::Set(kWord, 0xffff0000), byte = hn::Set(kWord, 0xff);
        const auto greens = look_up(hn::Or(hn::And(hn::ShiftRight<8>(first), byte),
                                           hn::And(hn::ShiftLeft<8>(second), hn::Set(kWord, 0xff0000))));
        channels[0][1] = hn::BitCast(kFloat, hn::ShiftLeft<16>(greens));
        channels[1][1] = hn::BitCast(kFloat, hn::And(greens, upper));
        const auto decode_others = [&](hn::Vec<Word> pixels, FloatVector(&of)[4]) HWY_ATTR {
            const auto red_blue = look_up(hn::And(pixels, hn::Set(kWord, 0xff00ff)));
            of[0] = hn::BitCast(kFloat, hn::ShiftLeft<16>(red_blue));
            of[2] = hn::BitCast(kFloat, hn::And(red_blue, upper));
            of[3] = Unorm8::decode_word(hn::ShiftRight<24>(pixels));
        };
        decode_others(first, channels[0]);
        decode_others(second, channels[1]);
    }
    HWY_INLINE IntVector code_of(FloatVector value) const { return codes_.of(value); }
    HWY_INLINE void encode_four(const float* values, std::uint8_t* stored) const {
        const auto load = [&](std::size_t i) HWY_ATTR { return hn::LoadU(kFloat, values + i * hn::Lanes(kFloat)); };
        hn::StoreU(narrow_in_order(codes_.of(load(0), load(1)), codes_.of(load(2), load(3))), kBytes, stored);
    }
    // Stores two vectors of pixels of four channels, whose greens are converted together.
    HWY_INLINE void encode_two(const FloatVector (&channels)[2][4], std::uint8_t* stored) const {
        const __m512i greens = codes_.of(channels[0][1], channels[1][1]).raw;
        const __m512i alphas = _mm512_packs_epi32(unlimited_unorm_of_float<255>(channels[0][3]).raw,
                                                  unlimited_unorm_of_float<255>(channels[1][3]).raw);
        store_codes(codes_.of(channels[0][0], channels[0][2]).raw, _mm512_unpacklo_epi64(greens, alphas), stored);
        store_codes(codes_.of(channels[1][0], channels[1][2]).raw, _mm512_unpackhi_epi64(greens, alphas), stored + 64);
    }
    HWY_INLINE void encode_pixels(const FloatVector (&channels)[4], std::uint8_t* stored) const {
        const auto alpha = unlimited_unorm_of_float<255>(channels[3]);
        store_codes(codes_.of(channels[0], channels[2]).raw, _mm512_packs_epi32(code_of(channels[1]).raw, alpha.raw),
                    stored);
    }
    // Stores four vectors of pixels of four channels.
    HWY_INLINE void encode_interleaved(const float* values, std::uint8_t* stored) const {
        const hn::Repartition<std::uint64_t, Word> pixels;
        const auto is_alpha =
            hn::TestBit(hn::BitCast(kUnit, hn::Set(pixels, std::uint64_t{1} << 48)), hn::Set(kUnit, 1));
        const auto codes = [&](std::size_t i) HWY_ATTR {
            const FloatVector first = hn::LoadU(kFloat, values + i), second = hn::LoadU(kFloat, values + i + 16);
            const UnitVector linear{_mm512_packs_epi32(unlimited_unorm_of_float<255>(first).raw,
                                                       unlimited_unorm_of_float<255>(second).raw)};
            return hn::IfThenElse(is_alpha, linear, codes_.of(first, second));
        };
        hn::StoreU(narrow_in_order(codes(0), codes(32)), kBytes, stored);
    }

private:
    HWY_INLINE explicit Srgb(const SrgbRowTables& tables) : colors_(tables.upper_halves), codes_(tables) {}

    HWY_INLINE hn::Vec<Word> look_up(hn::Vec<Word> codes) const {
        return hn::BitCast(kWord, colors_(hn::BitCast(kUnit, codes)));
    }
    HWY_INLINE FloatVector decode_word(hn::Vec<Word> code) const {
        return hn::BitCast(kFloat, hn::ShiftLeft<16>(look_up(code)));
    }

    CodeWords colors_;
    SrgbCodes codes_;
#else
    HWY_INLINE void decode_pixels(hn::Vec<Word> pixels, FloatVector (&channels)[4]) const {
        const auto low = hn::Set(kWord, 0xff);
        channels[0] = decode_word(hn::And(pixels, low));
        channels[1] = decode_word(hn::And(hn::ShiftRight<8>(pixels), low));
        channels[2] = decode_word(hn::And(hn::ShiftRight<16>(pixels), low));
        channels[3] = Unorm8::decode_word(hn::ShiftRight<24>(pixels));
    }
    HWY_INLINE IntVector code_of(FloatVector value) const {
        const FloatVector first = hn::Set(kFloat, SrgbRowTables::kFirst), last = hn::Set(kFloat, SrgbRowTables::kLast);
        const FloatVector positive = hn::IfThenElse(hn::Gt(value, first), value, first);  // `first` for NaN
        return srgb_codes_of(tables_, hn::BitCast(kInt, hn::Min(positive, last)));
    }
    HWY_INLINE void encode_four(const float* values, std::uint8_t* stored) const {
        for (std::size_t i = 0; i < 4 * hn::Lanes(kFloat); i += hn::Lanes(kFloat))
            hn::StoreU(encode(hn::LoadU(kFloat, values + i)), kByte, stored + i);
    }
    HWY_INLINE void encode_pixels(const FloatVector (&channels)[4], std::uint8_t* stored) const {
        const auto color = [&](std::size_t c) HWY_ATTR { return hn::BitCast(kWord, code_of(channels[c])); };
        const auto alpha = hn::BitCast(kWord, unorm_of_float<255>(channels[3]));
        const auto low = hn::Or(color(0), hn::ShiftLeft<8>(color(1)));
        const auto high = hn::Or(color(2), hn::ShiftLeft<8>(alpha));
        hn::StoreU(hn::BitCast(kBytes, hn::Or(low, hn::ShiftLeft<16>(high))), kBytes, stored);
    }
    HWY_INLINE void encode_interleaved(const float* values, std::uint8_t* stored) const {
        const auto is_alpha = hn::Eq(hn::And(hn::Iota(kInt, 0), hn::Set(kInt, 3)), hn::Set(kInt, 3));
        for (std::size_t i = 0; i < 4 * hn::Lanes(kFloat); i += hn::Lanes(kFloat)) {
            const FloatVector value = hn::LoadU(kFloat, values + i);
            const IntVector codes = hn::IfThenElse(is_alpha, unorm_of_float<255>(value), code_of(value));
            hn::StoreU(hn::TruncateTo(kByte, hn::BitCast(kWord, codes)), kByte, stored + i);
        }
    }

private:
    HWY_INLINE explicit Srgb(const SrgbRowTables& tables) : tables_(tables) {}

    HWY_INLINE FloatVector decode_word(hn::Vec<Word> code) const {
        return hn::BitCast(kFloat, words_at(tables_.colors, hn::BitCast(kInt, code)));
    }

    const SrgbRowTables& tables_;
#endif
};

// The conversion of channel `channel` of a format with so many channels.
template <class Channel, std::size_t channel, std::size_t channels>
using ChannelAt =
    std::conditional_t<std::is_same_v<Channel, Srgb> && channels == channel + 1 && channel != 0, Unorm8, Channel>;

struct Unorm16 {
    using Stored = std::uint16_t;
    static HWY_INLINE FloatVector decode(hn::Vec<Short> code) { return float_of_unorm16(hn::PromoteTo(kInt, code)); }
    static HWY_INLINE hn::Vec<Short> encode(FloatVector value) {
        return hn::DemoteTo(kShort, unlimited_unorm_of_float<65535>(value));
    }
    static constexpr Short kTag{};
};

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX2
#define TEXTON_CONVERTS_HALVES 1  // in hardware, denormals included
struct Float16 {
    using Stored = std::uint16_t;
    using Half = hn::Rebind<hwy::float16_t, Float>;
    static HWY_INLINE FloatVector decode(hn::Vec<Short> code) {
        const FloatVector value = hn::PromoteTo(kFloat, hn::BitCast(Half(), code));
        // The conversion makes NaNs quiet. Fetches return them as they are.
        const auto is_nan = hn::IsNaN(value);
        if (HWY_LIKELY(hn::AllFalse(kFloat, is_nan))) return value;
        const IntVector bits = hn::PromoteTo(kInt, hn::BitCast(hn::Rebind<std::int16_t, Float>(), code));
        const IntVector fraction = hn::ShiftLeft<13>(hn::And(bits, hn::Set(kInt, 0x3ff)));
        const IntVector exponent = hn::Or(hn::And(bits, hn::Set(kInt, INT32_MIN)), hn::Set(kInt, 0x7f800000));
        return hn::IfThenElse(is_nan, hn::BitCast(kFloat, hn::Or(exponent, fraction)), value);
    }
    static HWY_INLINE hn::Vec<Short> encode(FloatVector value) {
        return hn::BitCast(kShort, hn::DemoteTo(Half(), with_one_nan(kFloat, value)));
    }
    static constexpr Short kTag{};
};
#else
#define TEXTON_CONVERTS_HALVES 0
#endif

struct Float32 {
    using Stored = float;
    static HWY_INLINE FloatVector decode(FloatVector value) { return value; }
    static HWY_INLINE FloatVector encode(FloatVector value) { return with_one_nan(kFloat, value); }
    static constexpr Float kTag{};
};

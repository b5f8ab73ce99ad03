// rows_srgb.h: computes the results of fetches of sRGB texels on vectors, as rows_fixed.h does for normalized texels.
//
// Included by rows_simd.cpp once for each instruction set, inside its namespace. So there is no include guard, and no
// other file may include it.
//
// The filter truncates colors to the 8 bits of the largest one's exponent, see texel_decode.h. A color is an integer of
// 16 bits, and its exponent is marked below the last bit of its mantissa, in the same word:
//
//     word = mantissa << (exponent + 8) | 1 << (exponent + 7), where exponent is from -7 to 0
//
// The largest word has the largest exponent, and the bits up to its lowest 1 are those that are dropped of all words.
// A linear channel has words with the exponent -1, whose mantissa is the code, so nothing is ever dropped. Sums are
// integers of 24 bits: colors times 2^23, or linear codes times 2^15.
//
// Words are stored minus 2^15, since products need signed factors. This changes neither the order of words nor the bits
// that can be dropped.

#include "arrays/cpu/srgb_vectors.h"

template <std::size_t channels>
struct Srgb {
    using Result = std::uint32_t;  // a sum
    using Decoded = std::uint16_t;
    static constexpr std::size_t kBytes = channels;
    static constexpr std::size_t kChannels = channels;
    static constexpr bool kResultsArePixels = false;
    static constexpr std::size_t kDecoded = 2 * kRowBlock * channels;  // of a block of pairs

    /// Converts a block of pairs of texels to words. The words of a channel follow each other.
    static HWY_NOINLINE void decode(const unsigned char* pairs, std::uint16_t* words) {
#if TEXTON_LOOKS_UP_SRGB
        const CodeWords color_words(srgb_row_tables().filter_words);
        const hn::Rebind<std::uint8_t, Code> bytes;
        for (std::size_t i = 0; i < kDecoded; i += hn::Lanes(kCode)) {
            const auto codes = by_channels(hn::PromoteTo(kCode, hn::LoadU(bytes, pairs + i)));
            const IntVector colors = hn::BitCast(kInt, color_words(codes));
            const auto linear = hn::Xor(hn::ShiftLeft<7>(codes), hn::Set(kCode, kLinear));
            hn::StoreU(hn::BitCast(kCode, hn::IfThenElse(linear_lanes(), hn::BitCast(kInt, linear), colors)), kCode,
                       words + i);
        }
#else
        const std::uint16_t* const colors = srgb_row_tables().filter_words;
        for (std::size_t i = 0; i < kDecoded; i += 2 * channels) {
            for (std::size_t k = 0; k < 2 * channels; ++k) {
                const unsigned char code = pairs[i + k % 2 * channels + k / 2];
                const bool is_linear = channels > 1 && k / 2 == channels - 1;
                words[i + k] = is_linear ? static_cast<std::uint16_t>(code << 7 ^ kLinear) : colors[code];
            }
        }
#endif
    }

    static HWY_INLINE void blend(const Rows& rows, const Taps& taps, Result* sums) {
        HWY_ALIGN std::uint16_t top[kDecoded], bottom[kDecoded];
        decode(rows.top, top);
        decode(rows.bottom, bottom);
        blend_any(top, bottom, taps, sums);
    }

    /// Blends what decode() returned, in rows of pixels at equal distances: these often have few different weights.
    static HWY_NOINLINE void blend_decoded(const std::uint16_t* top, const std::uint16_t* bottom,
                                           const std::int32_t* shares, std::int32_t share, Attempts&, Result* sums) {
        Taps taps;
        store_weights_of_row(shares, share, taps);
        if (all_count(taps)) return blend_all<true>(top, bottom, taps, sums);
        blend_any(top, bottom, taps, sums);
    }

#if TEXTON_LOOKS_UP_SRGB
    static HWY_INLINE void encode(const Result* sums, unsigned char* pixels) {
        const SrgbUnitCodes codes(srgb_row_tables());
        const IntVector shift = hn::IfThenElse(linear_lanes(), whole(15), whole(SrgbRowTables::kUnitBits));
        const IntVector half = hn::IfThenElse(linear_lanes(), whole(1 << 14), whole(kHalfUnit - kFirstSum));
        const IntVector linear = hn::IfThenElseZero(linear_lanes(), whole(0x7fff));
        const auto linear_in_pair = hn::TestBit(narrow(linear, linear), hn::Set(kCode, 1));
        // Returns the units of colors and the codes of linear channels.
        const auto units = [&](std::size_t i) HWY_ATTR {
            const IntVector sum = hn::BitCast(kInt, hn::Load(kWord, sums + i));
            const IntVector at = hn::IfThenElse(linear_lanes(), sum, bits(hn::ConvertTo(kFloat, sum)));
            return hn::Shr(hn::Add(at, half), shift);
        };
        const auto encoded = [&](std::size_t i) HWY_ATTR {
            const auto both = narrow(units(i), units(i + hn::Lanes(kInt)));
            return hn::IfThenElse(linear_in_pair, both, codes(both));
        };
        for (std::size_t i = 0; i < kRowBlock * channels; i += hn::Lanes(kByte))
            hn::StoreU(narrow_in_order(encoded(i), encoded(i + hn::Lanes(kCode))), kByte, pixels + i);
    }
#else
    static HWY_INLINE void encode(const Result* sums, unsigned char* pixels) {
        const hn::Rebind<std::uint8_t, Int> bytes;
        const SrgbRowTables& tables = srgb_row_tables();
        for (std::size_t i = 0; i < kRowBlock * channels; i += hn::Lanes(kInt)) {
            const IntVector sum = hn::BitCast(kInt, hn::Load(kWord, sums + i));
            const IntVector at = hn::Add(bits(hn::ConvertTo(kFloat, sum)), whole(kHalfUnit - kScale));
            const IntVector rounded = hn::And(at, whole(-1 << SrgbRowTables::kUnitBits));
            const IntVector color = srgb_codes_of(tables, hn::Max(rounded, whole(SrgbRowTables::kFirstBits)));
            const IntVector linear = hn::ShiftRight<15>(hn::Add(sum, whole(1 << 14)));
            const WordVector code = hn::BitCast(kWord, hn::IfThenElse(linear_lanes(), linear, color));
            hn::StoreU(hn::TruncateTo(bytes, code), bytes, pixels + i);
        }
    }
#endif

    static HWY_INLINE FloatVector widen(const Result* sums) {
        const IntVector sum = hn::BitCast(kInt, hn::Load(kWord, sums));
        const IntVector half = half_of_sum(hn::Mul(hn::ConvertTo(kFloat, sum), number(0x1p-23f)));
        const WordVector code = hn::BitCast(kWord, hn::ShiftRight<7>(sum));
        return hn::IfThenElse(hn::RebindMask(kFloat, linear_lanes()), float_of_unorm16(in_65535th(kWord, code)),
                              float_of_half(hn::BitCast(kWord, half)));
    }

private:
    static constexpr std::uint16_t kBelowAll = 0x8000;                              // the word of a color of 0
    static constexpr std::uint16_t kLinear = kBelowAll | 1 << 6;                    // of the word of a linear 0
    static constexpr std::int32_t kScale = 23 << 23;                                // of the bits of sums
    static constexpr std::int32_t kFirstSum = SrgbRowTables::kFirstBits + kScale;   // bits
    static constexpr std::int32_t kHalfUnit = 1 << (SrgbRowTables::kUnitBits - 1);  // float16s round ties away from 0

    static HWY_INLINE hn::Mask<Int> linear_lanes() {
        const IntVector last = whole(static_cast<std::int32_t>(channels) - 1);
        const auto last_lanes = hn::Eq(hn::And(hn::Iota(kInt, 0), last), last);
        return channels > 1 ? last_lanes : hn::FirstN(kInt, 0);
    }

    // Returns pairs of texels with the codes of each channel side by side.
    static HWY_INLINE hn::Vec<Code> by_channels(hn::Vec<Code> pairs) {
        if constexpr (channels == 1) return pairs;
        HWY_ALIGN static constexpr std::uint8_t kInTurns[2][16] = {
            {0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15},
            {0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15}};
        const auto order = hn::LoadDup128(kByte, kInTurns[channels / 4]);
        return hn::BitCast(kCode, hn::TableLookupBytes(hn::BitCast(kByte, pairs), order));
    }

    static HWY_NOINLINE void blend_any(const std::uint16_t* top, const std::uint16_t* bottom, const Taps& taps,
                                       Result* sums) {
        blend_all<false>(top, bottom, taps, sums);
    }

    // Returns whether all texels of a block have a weight.
    static HWY_INLINE bool all_count(const Taps& taps) {
        const auto one = hn::Set(kCode, 1);
        auto least = one;
        for (std::size_t i = 0; i < kRowBlock; i += hn::Lanes(kWord)) {
            const auto load = [&](const std::uint32_t* weights)
                                  HWY_ATTR { return hn::BitCast(kCode, hn::LoadU(kWord, weights + i)); };
            least = hn::Min(least, hn::Min(load(taps.top), load(taps.bottom)));
        }
        return hn::AllTrue(kCode, hn::Eq(least, one));
    }

    template <bool all_count>
    static HWY_INLINE void blend_all(const std::uint16_t* top, const std::uint16_t* bottom, const Taps& taps,
                                     Result* sums) {
        for (std::size_t i = 0; i < kRowBlock * channels; i += hn::Lanes(kInt)) {
            const WeightPairs weights = load_weights<channels>(taps, i);
            const auto upper = reached<all_count>(hn::LoadU(kCode, top + 2 * i), weights.top);
            const auto lower = reached<all_count>(hn::LoadU(kCode, bottom + 2 * i), weights.bottom);
            const auto larger = hn::BitCast(kWord, larger_of(upper, lower));
            const auto largest = larger_of(hn::BitCast(kCode, larger), hn::BitCast(kCode, hn::RotateRight<16>(larger)));
            const auto dropped = hn::Xor(largest, hn::Sub(largest, hn::Set(kCode, 1)));
            const auto kept = [&](hn::Vec<Code> words)
                                  HWY_ATTR { return hn::BitCast(kInt, hn::AndNot(dropped, words)); };
            const IntVector sum = add_products(whole(256 << 15), kept(upper), weights.top);
            hn::Store(hn::BitCast(kWord, add_products(sum, kept(lower), weights.bottom)), kWord, sums + i);
        }
    }

    // Texels without weight have no exponent.
    template <bool all_count>
    static HWY_INLINE hn::Vec<Code> reached(hn::Vec<Code> words, IntVector weights) {
        if constexpr (all_count) return words;
        const auto without = hn::Eq(hn::BitCast(kCode, weights), hn::Zero(kCode));
        return hn::IfThenElse(without, hn::Set(kCode, kBelowAll), words);
    }
    static HWY_INLINE hn::Vec<Code> larger_of(hn::Vec<Code> a, hn::Vec<Code> b) {
        const hn::RebindToSigned<Code> shorts;
        return hn::BitCast(kCode, hn::Max(hn::BitCast(shorts, a), hn::BitCast(shorts, b)));
    }
};

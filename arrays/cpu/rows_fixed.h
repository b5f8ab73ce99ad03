// rows_fixed.h: computes the results of fetches of normalized texels from texels and weights, on vectors. For each kind
// of texel there is a struct, which sums a block and converts the results to pixels or floats.
//
// Included by rows_simd.cpp once for each instruction set, inside its namespace. So there is no include guard, and no
// other file may include it.

// --- weights of interleaved channels ---------------------------------------------------------------------------------

// Returns the number of its pixel for each lane. A lane is one of the `channels` channels of a pixel.
template <std::size_t channels>
HWY_INLINE IntVector spread_over_channels(const std::int32_t* of_pixels) {
    const auto pixels = hn::LoadU(kInt, of_pixels);
    if constexpr (channels == 1) return pixels;
    HWY_ALIGN static constexpr std::int32_t kPixel[2][16] = {{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7},
                                                             {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}};
    return hn::TableLookupLanes(pixels, hn::SetTableIndices(kInt, kPixel[channels / 4]));
}

HWY_INLINE WeightPairs pairs_of(const Weights& weights) {
    return {hn::Or(weights.of[0], hn::ShiftLeft<16>(weights.of[1])),
            hn::Or(weights.of[2], hn::ShiftLeft<16>(weights.of[3]))};
}

HWY_INLINE Weights single_weights(const WeightPairs& pairs) {
    const IntVector low = whole(0xffff);
    return {{hn::And(pairs.top, low), hn::ShiftRight<16>(pairs.top), hn::And(pairs.bottom, low),
             hn::ShiftRight<16>(pairs.bottom)}};
}

template <std::size_t channels>
HWY_INLINE WeightPairs load_weights(const Taps& taps, std::size_t element) {
    const auto spread = [&](const std::uint32_t* weights) HWY_ATTR {
        return spread_over_channels<channels>(reinterpret_cast<const std::int32_t*>(weights + element / channels));
    };
    return {spread(taps.top), spread(taps.bottom)};
}

constexpr std::int32_t kSign = -0x7fffffff - 1;

// --- sums of products of 16-bit numbers ------------------------------------------------------------------------------

// Returns the low halves of the lanes of `low` and the high halves of those of `high`.
HWY_INLINE IntVector halves_of(IntVector low, IntVector high) {
    return hn::BitCast(kInt, hn::OddEven(hn::BitCast(kCode, high), hn::BitCast(kCode, low)));
}

// Adds the products of the low halves and of the high halves of lanes, as signed numbers, to `sum`. Highway's function
// adds the same products on x86 only.
HWY_INLINE IntVector add_products(IntVector sum, IntVector a, IntVector b) {
#if HWY_ARCH_X86
    const hn::RebindToSigned<Code> shorts;
    IntVector unused = hn::Zero(kInt);
    return hn::ReorderWidenMulAccumulate(kInt, hn::BitCast(shorts, a), hn::BitCast(shorts, b), sum, unused);
#else
    const auto low = [](IntVector lane) HWY_ATTR { return hn::ShiftRight<16>(hn::ShiftLeft<16>(lane)); };
    const IntVector of_low = hn::Mul(low(a), low(b));
    return hn::Add(sum, hn::Add(of_low, hn::Mul(hn::ShiftRight<16>(a), hn::ShiftRight<16>(b))));
#endif
}

// Narrows codes of 16 bits.
HWY_INLINE hn::Vec<Code> narrowed(IntVector low, IntVector high) {
#if HWY_TARGET == HWY_AVX2
    return hn::Vec<Code>{_mm256_permute4x64_epi64(_mm256_packus_epi32(low.raw, high.raw), 0xd8)};
#elif HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
    const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    return hn::Vec<Code>{_mm512_permutexvar_epi64(order, _mm512_packus_epi32(low.raw, high.raw))};
#else
    return hn::Combine(kCode, hn::DemoteTo(kFewCodes, high), hn::DemoteTo(kFewCodes, low));
#endif
}

// --- channels of staged texels ---------------------------------------------------------------------------------------

struct Sides {
    WordVector left;
    WordVector right;
};

template <class Lane, class D>
HWY_INLINE void load_pairs(D d, const unsigned char* pairs, hn::Vec<D>& left, hn::Vec<D>& right) {
    const hn::Repartition<Lane, D> texels;
    hn::Vec<decltype(texels)> even, odd;
    hn::LoadInterleaved2(texels, reinterpret_cast<const Lane*>(pairs), even, odd);
    left = hn::BitCast(d, even);
    right = hn::BitCast(d, odd);
}

// Loads the left and right texels from channel number `element` on.
template <class Element, std::size_t channels>
HWY_INLINE Sides load_sides(const unsigned char* row, std::size_t element) {
    constexpr std::size_t kBytes = sizeof(Element) * channels;
    if constexpr (kBytes == 16) {
        const auto* words = reinterpret_cast<const std::uint32_t*>(row) + element;
        return {hn::LoadU(kWord, words), hn::LoadU(kWord, words + kRowBlock * channels)};
    } else if constexpr (sizeof(Element) == 4) {
        Sides sides;
        load_pairs<typename Unsigned<kBytes>::type>(kWord, row + 2 * element * 4, sides.left, sides.right);
        return sides;
    } else {
        hn::Vec<FewCodes> left, right;
        load_pairs<typename Unsigned<kBytes>::type>(kFewCodes, row + 2 * element * 2, left, right);
        return {hn::PromoteTo(kWord, left), hn::PromoteTo(kWord, right)};
    }
}

// Whether to sum the pixels of a row as alike, see rows_floating.h. After pixels whose texels are not alike, the next
// ones are not either, most likely.
class Attempts {
public:
    HWY_INLINE bool is_due() { return left_ == 0 || --left_ == 0; }
    HWY_INLINE void fail() { left_ = 16; }

private:
    int left_ = 0;
};

// --- sums of channels ------------------------------------------------------------------------------------------------

HWY_INLINE hn::Vec<Code> load_codes(const unsigned char* pairs) { return hn::BitCast(kCode, hn::LoadU(kByte, pairs)); }
HWY_INLINE hn::Vec<Code> even_bytes(hn::Vec<Code> pairs) { return hn::And(pairs, hn::Set(kCode, 0xff)); }
HWY_INLINE hn::Vec<Code> odd_bytes(hn::Vec<Code> pairs) { return hn::ShiftRight<8>(pairs); }

// Convert a sum of weighted 8-bit codes to 1/255 and, with the rounding of the filter, to 1/65535.
template <class D>
HWY_INLINE hn::Vec<D> in_255th(D codes, hn::Vec<D> sum) {
    return hn::ShiftRight<8>(hn::Add(sum, hn::Set(codes, 128)));
}
template <class D>
HWY_INLINE hn::Vec<D> in_65535th(D codes, hn::Vec<D> sum) {
    return hn::Add(sum, in_255th(codes, sum));
}
// Returns code / 65535, rounded once. The product with the upper part of 1 / 65535 is exact.
// CpuResampleTest.EveryCodeOf16BitsIsFetchedAsItsFraction tests all codes.
HWY_INLINE FloatVector float_of_unorm16(WordVector codes) {
    const FloatVector value = hn::ConvertTo(kFloat, hn::BitCast(kInt, codes));
    return hn::MulAdd(value, number(0x1p-16f), hn::Mul(value, number(0x1.0001p-32f)));
}

// Results are sums of weighted texels, at most 255 * 256.
template <std::size_t channels>
struct Unorm8 {
    using Result = std::uint16_t;
    static constexpr std::size_t kBytes = channels;
    static constexpr std::size_t kChannels = channels;
    static constexpr bool kResultsArePixels = false;

    static HWY_NOINLINE void blend(const Rows& rows, const Taps& taps, Result* sums) {
        if constexpr (channels == 1) {
            for (std::size_t i = 0; i < kRowBlock; i += hn::Lanes(kInt)) {
                const WeightPairs weights = load_weights<1>(taps, i);
                const IntVector top = add_products(hn::Zero(kInt), widened(rows.top + 2 * i), weights.top);
                const IntVector sum = add_products(top, widened(rows.bottom + 2 * i), weights.bottom);
                hn::StoreU(hn::DemoteTo(kFewCodes, sum), kFewCodes, sums + i);
            }
        } else {
            blend_several(rows, taps, sums);
        }
    }

    static HWY_INLINE void encode(const Result* sums, unsigned char* pixels) {
        const hn::Rebind<std::uint8_t, Code> bytes;
        for (std::size_t i = 0; i < kRowBlock * channels; i += hn::Lanes(kCode))
            hn::StoreU(hn::TruncateTo(bytes, in_255th(kCode, hn::Load(kCode, sums + i))), bytes, pixels + i);
    }

    static HWY_INLINE FloatVector widen(const Result* sums) {
        return float_of_unorm16(hn::PromoteTo(kWord, in_65535th(kFewCodes, hn::Load(kFewCodes, sums))));
    }

private:
    static HWY_INLINE IntVector widened(const unsigned char* pairs) {
        const hn::Rebind<std::uint8_t, Code> bytes;
        return hn::BitCast(kInt, hn::PromoteTo(kCode, hn::LoadU(bytes, pairs)));
    }

    // Separates the bytes of a pair of texels into even and odd ones: channels 0 and 2, and channels 1 and 3.
    static HWY_INLINE void blend_several(const Rows& rows, const Taps& taps, Result* sums) {
        constexpr std::size_t kPair = 2 * channels;  // bytes
        for (std::size_t i = 0; i < kRowBlock; i += hn::Lanes(kByte) / kPair) {
            const auto top = load_codes(rows.top + i * kPair);
            const auto bottom = load_codes(rows.bottom + i * kPair);
            const auto top_weights = pair_weights(taps.top + i);
            const auto bottom_weights = pair_weights(taps.bottom + i);
            const auto even =
                hn::Add(hn::Mul(even_bytes(top), top_weights), hn::Mul(even_bytes(bottom), bottom_weights));
            const auto odd = hn::Add(hn::Mul(odd_bytes(top), top_weights), hn::Mul(odd_bytes(bottom), bottom_weights));
            hn::Store(add_sides(even, odd), kCode, sums + i * channels);
        }
    }

    // Returns the left weight once for each even byte of a texel, then the right weight in the same way.
    static HWY_INLINE hn::Vec<Code> pair_weights(const std::uint32_t* weights) {
        if constexpr (channels == 2) return hn::BitCast(kCode, hn::LoadU(kWord, weights));
        HWY_ALIGN static constexpr std::uint8_t kTwice[16] = {0, 1, 0, 1, 2, 3, 2, 3, 8, 9, 8, 9, 10, 11, 10, 11};
        const hn::Repartition<std::uint64_t, Code> pairs;
        const auto wide = hn::PromoteTo(pairs, hn::LoadU(kHalfWord, weights));
        return hn::BitCast(kCode, hn::TableLookupBytes(hn::BitCast(kByte, wide), hn::LoadDup128(kByte, kTwice)));
    }

    // Adds the left and right texels, and restores the order of the channels.
    static HWY_INLINE hn::Vec<Code> add_sides(hn::Vec<Code> even, hn::Vec<Code> odd) {
        constexpr int kSide = 8 * channels;  // bits
        const hn::Repartition<typename Unsigned<2 * channels>::type, Code> pairs;
        const hn::Repartition<typename Unsigned<channels>::type, Code> sides;
        const auto low = hn::Add(even, hn::BitCast(kCode, hn::ShiftRight<kSide>(hn::BitCast(pairs, even))));
        const auto high = hn::Add(odd, hn::BitCast(kCode, hn::ShiftLeft<kSide>(hn::BitCast(pairs, odd))));
        const auto both = hn::BitCast(kByte, hn::OddEven(hn::BitCast(sides, high), hn::BitCast(sides, low)));
        if constexpr (channels == 2) return hn::BitCast(kCode, both);
        HWY_ALIGN static constexpr std::uint8_t kInTurns[16] = {0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15};
        return hn::BitCast(kCode, hn::TableLookupBytes(both, hn::LoadDup128(kByte, kInTurns)));
    }
};

template <class Element, std::size_t channels>
HWY_INLINE void load_taps(const Rows& rows, std::size_t element, WordVector (&texels)[4]) {
    const Sides top = load_sides<Element, channels>(rows.top, element);
    const Sides bottom = load_sides<Element, channels>(rows.bottom, element);
    texels[0] = top.left;
    texels[1] = top.right;
    texels[2] = bottom.left;
    texels[3] = bottom.right;
}

HWY_INLINE FloatVector float_of_weight(IntVector weight) { return hn::ConvertTo(kFloat, weight); }

// Results are rounded codes.
template <std::size_t channels>
struct Unorm16 {
    using Result = std::uint16_t;
    static constexpr std::size_t kBytes = 2 * channels;
    static constexpr std::size_t kChannels = channels;
    static constexpr bool kResultsArePixels = true;

    static HWY_NOINLINE void blend(const Rows& rows, const Taps& taps, Result* codes) {
        const std::size_t lanes = hn::Lanes(kInt);
        for (std::size_t i = 0; i < kRowBlock * channels; i += 2 * lanes)
            hn::StoreU(narrowed(sum(rows, taps, i), sum(rows, taps, i + lanes)), kCode, codes + i);
    }

    static HWY_INLINE FloatVector widen(const Result* codes) {
        return float_of_unorm16(hn::PromoteTo(kWord, hn::Load(kFewCodes, codes)));
    }

private:
    static HWY_INLINE IntVector sum(const Rows& rows, const Taps& taps, std::size_t i) {
        const WeightPairs weights = load_weights<channels>(taps, i);
        const IntVector top = add_products(whole((1 << 23) + 128), load_sides_by_channels(rows.top, i), weights.top);
        return hn::ShiftRight<8>(add_products(top, load_sides_by_channels(rows.bottom, i), weights.bottom));
    }

    // Loads the codes of the left and the right texels, minus 2^15: those of a channel share a lane.
    static HWY_INLINE IntVector load_sides_by_channels(const unsigned char* row, std::size_t element) {
        auto pairs = hn::LoadU(kByte, row + 4 * element);
        HWY_ALIGN static constexpr std::uint8_t kInTurns[2][16] = {
            {0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15},
            {0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15}};
        if constexpr (channels > 1) pairs = hn::TableLookupBytes(pairs, hn::LoadDup128(kByte, kInTurns[channels / 4]));
        return hn::Xor(hn::BitCast(kInt, pairs), whole(kSign | 0x8000));
    }
};

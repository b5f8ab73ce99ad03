#include "kernels/cpu/byte_rows.h"

#include <algorithm>
#include <cstring>

#include <texton/channel_codes.h>

#include "arrays/cpu/stores.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/byte_rows.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace texton::detail {
namespace HWY_NAMESPACE {

// Without vectors the plain implementation is as fast (see arrays/cpu/rows_simd.cpp).
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
const ByteKernels* kernels_for_bytes() { return nullptr; }
#else
namespace {

#include "kernels/cpu/byte_windows.h"

// --- pairs -----------------------------------------------------------------------------------------------------------

// The left and right codes of channels 0 and 2 of each pixel, and of channels 1 and 3. So both vectors have the same
// weights, and their sums are combined by bytes. 128 is subtracted from the codes, since the products need one signed
// factor.
struct Pairs {
    WordVector even;
    WordVector odd;
};

HWY_INLINE Pairs pairs_of(const TwoTexels& texels) {
    const ByteVector center = hn::Set(kByte, 128);
    const CodeVector left = hn::BitCast(kCode, hn::Xor(hn::BitCast(kByte, texels.left), center));
    const CodeVector right = hn::BitCast(kCode, hn::Xor(hn::BitCast(kByte, texels.right), center));
    return {words(hn::OddEven(bytes(hn::ShiftLeft<8>(right)), bytes(left))),
            words(hn::OddEven(bytes(right), bytes(hn::ShiftRight<8>(left))))};
}

HWY_INLINE Pairs load_pairs(const std::uint32_t* pairs) {
    return {hn::LoadU(kWord, pairs), hn::LoadU(kWord, pairs + lanes())};
}

// Stores the lower halves of words.
HWY_INLINE void store_halves(WordVector words, std::uint16_t* to) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi32_epi16(words.raw));
#else
    const auto low = hn::And(words, hn::Set(kWord, 0xffff));
    hn::StoreU(hn::DemoteTo(kTwoBytes, hn::BitCast(kInt, low)), kTwoBytes, to);
#endif
}

// Stores the pairs of a vector of pixels, of which `at` is the first. For one and two channels, channels 0 and 1 are in
// the lower halves of the words.
template <std::size_t channels>
HWY_INLINE void store_pairs(const Pairs& pairs, std::uint32_t* to, std::size_t at) {
    if constexpr (channels == 4) {
        hn::StoreU(pairs.even, kWord, to + 2 * at);
        hn::StoreU(pairs.odd, kWord, to + 2 * at + lanes());
    } else if constexpr (channels == 2) {
        const auto low = hn::And(pairs.even, hn::Set(kWord, 0xffff));
        hn::StoreU(hn::Or(low, hn::ShiftLeft<16>(pairs.odd)), kWord, to + at);
    } else {
        store_halves(pairs.even, reinterpret_cast<std::uint16_t*>(to) + at);
    }
}

// --- sums ------------------------------------------------------------------------------------------------------------

// Multiplies unsigned with signed bytes and adds the products in pairs, an operation that Highway lacks. Nothing
// saturates if the sum of two weights is at most 256 with signed texels, or at most 128 with unsigned texels.
HWY_INLINE CodeVector add_pairs(WordVector without_sign, WordVector with_sign) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
    return codes(WordVector{_mm512_maddubs_epi16(without_sign.raw, with_sign.raw)});
#elif HWY_TARGET == HWY_AVX2
    return codes(WordVector{_mm256_maddubs_epi16(without_sign.raw, with_sign.raw)});
#elif HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3
    return codes(WordVector{_mm_maddubs_epi16(without_sign.raw, with_sign.raw)});
#else
    const hn::RebindToSigned<Code> shorts;
    const auto factor = hn::BitCast(shorts, with_sign);
    const CodeVector left = hn::BitCast(kCode, hn::ShiftRight<8>(hn::ShiftLeft<8>(factor)));
    const CodeVector right = hn::BitCast(kCode, hn::ShiftRight<8>(factor));
    return hn::Add(hn::Mul(left, hn::And(codes(without_sign), hn::Set(kCode, 255))),
                   hn::Mul(right, hn::ShiftRight<8>(codes(without_sign))));
#endif
}

// Sums of texels times weights, minus 32768.
struct Sums {
    CodeVector even;
    CodeVector odd;
};

HWY_INLINE Sums sum_pairs(const Pairs& top, const Pairs& bottom, const ByteWeights& weights, std::size_t i) {
    const WordVector of_top = hn::LoadU(kWord, weights.top + i);
    const WordVector of_bottom = hn::LoadU(kWord, weights.bottom + i);
    return {hn::Add(add_pairs(of_top, top.even), add_pairs(of_bottom, bottom.even)),
            hn::Add(add_pairs(of_top, top.odd), add_pairs(of_bottom, bottom.odd))};
}

HWY_INLINE Sums sum_kept(const BytePairs& rows, const ByteWeights& weights, std::size_t i) {
    return sum_pairs(load_pairs(rows.top + 2 * i), load_pairs(rows.bottom + 2 * i), weights, i);
}

// Prefetches two vectors of each of two rows. The CPU prefetches less of two rows than of one, and memory is the only
// bottleneck.
HWY_INLINE void prefetch_after(const unsigned char* top, const unsigned char* bottom, std::int32_t first) {
    constexpr std::size_t kAhead = 1024;  // bytes
    const std::size_t low = 4 * static_cast<std::size_t>(first) + kAhead;
    const std::size_t high = low + 4 * lanes();
    hwy::Prefetch(top + low);
    hwy::Prefetch(top + high);
    hwy::Prefetch(bottom + low);
    hwy::Prefetch(bottom + high);
}

// Sums for pixels at the center of four texels: each texel has the weight 64.
HWY_INLINE CodeVector sum_neighbors(const unsigned char* texels, std::int32_t first) {
    HWY_ALIGN static constexpr std::uint8_t kPairs[16] = {0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15};
    const ByteVector pairs =
        hn::TableLookupBytes(hn::BitCast(kByte, load_texels<4>(texels, first)), hn::LoadDup128(kByte, kPairs));
    return add_pairs(words(pairs), words(hn::Set(kByte, 64)));
}

HWY_INLINE CodeVector halve_part(const unsigned char* top, const unsigned char* bottom, std::int32_t first) {
    const CodeVector sum = hn::Add(sum_neighbors(top, first), sum_neighbors(bottom, first));
    return hn::ShiftRight<8>(hn::Add(sum, hn::Set(kCode, 128)));
}

HWY_INLINE WordVector halve(const unsigned char* top, const unsigned char* bottom, std::int32_t first) {
    prefetch_after(top, bottom, first);
    const CodeVector low = halve_part(top, bottom, first);
    const CodeVector high = halve_part(top, bottom, first + static_cast<std::int32_t>(lanes()));
    return words(hn::ConcatEven(kByte, bytes(high), bytes(low)));
}

// Returns the sums rounded to 1/255, like in_255th() of arrays/cpu/rows_fixed.h.
HWY_INLINE WordVector pixels_of(const Sums& sums) {
    const CodeVector half = hn::Set(kCode, 128);
    const CodeVector even = hn::ShiftRight<8>(hn::Add(sums.even, half));
    const CodeVector odd = hn::Add(sums.odd, half);
    return words(hn::Xor(hn::OddEven(bytes(odd), bytes(even)), hn::Set(kByte, 128)));
}

// --- windows ---------------------------------------------------------------------------------------------------------

ByteWindow find_window(const std::int32_t* left, const std::int32_t* right, const std::uint32_t* shares,
                       std::int32_t width) {
    const auto count = static_cast<std::int32_t>(lanes());
    const auto [minimum, maximum] = std::minmax_element(left, left + count);
    bool pairs = true;
    bool every_second = true;
    for (std::int32_t i = 0; i < count; ++i) {
        pairs &= shares[i] == 0 || right[i] == left[i] + 1;
        every_second &= left[i] == left[0] + 2 * i;
    }
    if (*minimum < 0 || *maximum >= width || !pairs) return {};
    if (every_second && *minimum + 2 * count <= width) {
        constexpr std::uint32_t kHalf = 128 * 0x10001;
        const bool halves = std::all_of(shares, shares + count, [](std::uint32_t share) { return share == kHalf; });
        return {halves ? Kind::halves : Kind::every_second, *minimum};
    }
    for (const auto& [kind, texels] : {std::pair{Kind::one, count}, std::pair{Kind::two, 2 * count}}) {
        const std::int32_t first = std::min(*minimum, width - texels - 1);
        if (first >= 0 && *maximum - first < texels) return {kind, first};
    }
    return {*maximum + 1 < width ? Kind::pairs : Kind::scattered, 0};
}

void find_windows(ByteColumns& columns, std::int32_t width) {
    columns.offsets.resize(columns.left.size());
    for (std::size_t i = 0; i < columns.left.size(); i += lanes()) {
        const ByteWindow window = find_window(&columns.left[i], &columns.right[i], &columns.shares[i], width);
        for (std::size_t k = i; k < i + lanes(); ++k)
            columns.offsets[k] = static_cast<std::uint32_t>(columns.left[k] - window.first);
        columns.windows.push_back(window);
    }
}

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
// Looks up texels of 16 bits in the vectors that begin with the first texel of a window and with the texel after it. Half
// a vector has a window of Kind::one.
template <Kind kind>
HWY_INLINE __m512i look_up_pairs(const Positions& positions, std::size_t pixel, __m512i left, __m512i right) {
    constexpr std::uint32_t kRight = kind == Kind::one ? 16 : 32;
    const WordVector offset = hn::LoadU(kWord, positions.offsets + pixel);
    const WordVector both = hn::Or(offset, hn::ShiftLeft<16>(hn::Add(offset, hn::Set(kWord, kRight))));
    if constexpr (kind == Kind::one) {
        return _mm512_permutexvar_epi16(both.raw, _mm512_inserti64x4(left, _mm512_castsi512_si256(right), 1));
    } else {
        return _mm512_permutex2var_epi16(left, both.raw, right);
    }
}

// Stores the pairs of a vector of pixels of one or two channels.
template <Kind kind, std::size_t channels>
HWY_INLINE void store_window(const Positions& positions, const ByteRow& row, std::uint32_t* to, std::size_t at) {
    const unsigned char* const left =
        row.texels + static_cast<std::ptrdiff_t>(channels) * positions.windows[at / lanes()].first;
    const unsigned char* const right = left + channels;
    if constexpr (channels == 1) {
        const auto load = [](const unsigned char* from) HWY_ATTR {
            if constexpr (kind == Kind::one)
                return _mm512_cvtepu8_epi16(
                    _mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
            return _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
        };
        const __m256i pairs = _mm512_cvtepi16_epi8(look_up_pairs<kind>(positions, at, load(left), load(right)));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(reinterpret_cast<std::uint16_t*>(to) + at),
                            _mm256_xor_si256(pairs, _mm256_set1_epi8(-128)));
    } else {
        const auto load = [](const unsigned char* from) HWY_ATTR {
            if constexpr (kind == Kind::one)
                return _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
            return _mm512_loadu_si512(from);
        };
        HWY_ALIGN static constexpr std::uint8_t kByChannels[16] = {0, 2,  1, 3,  4,  6,  5,  7,
                                                                   8, 10, 9, 11, 12, 14, 13, 15};
        const ByteVector texels{look_up_pairs<kind>(positions, at, load(left), load(right))};
        const ByteVector pairs = hn::TableLookupBytes(texels, hn::LoadDup128(kByte, kByChannels));
        hn::StoreU(words(hn::Xor(pairs, hn::Set(kByte, 128))), kWord, to + at);
    }
}

template <Kind kind, std::size_t channels>
constexpr bool kLooksUpPairs = channels < 4 && (kind == Kind::one || kind == Kind::two);
#elif HWY_TARGET == HWY_AVX2
// Stores the pairs of a vector of pixels of one channel. Left and right texels are looked up in 16 bytes each, of which
// a window of Kind::one has half.
template <Kind kind, std::size_t>
HWY_INLINE void store_window(const Positions& positions, const ByteRow& row, std::uint32_t* to, std::size_t at) {
    const ByteWindow& window = positions.windows[at / lanes()];
    const unsigned char* const left = row.texels + window.first;
    const auto load = [](const unsigned char* from) HWY_ATTR {
        const auto* const texels = reinterpret_cast<const __m128i*>(from);
        return kind == Kind::one ? _mm_loadl_epi64(texels) : _mm_loadu_si128(texels);
    };
    const auto* const offsets = reinterpret_cast<const __m128i*>(positions.offsets + at);
    const __m128i few = _mm_packus_epi32(_mm_loadu_si128(offsets), _mm_loadu_si128(offsets + 1));
    const __m128i index = _mm_packus_epi16(few, few);
    const __m128i pairs =
        _mm_unpacklo_epi8(_mm_shuffle_epi8(load(left), index), _mm_shuffle_epi8(load(left + 1), index));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(reinterpret_cast<std::uint16_t*>(to) + at),
                     _mm_xor_si128(pairs, _mm_set1_epi8(-128)));
}

template <Kind kind, std::size_t channels>
constexpr bool kLooksUpPairs = channels == 1 && (kind == Kind::one || kind == Kind::two);
#else
template <Kind kind, std::size_t channels>
constexpr bool kLooksUpPairs = false;
#endif

template <std::size_t channels>
HWY_INLINE void pair_channels(const ByteColumns& columns, const ByteSpan& span, const ByteRow& row,
                              std::uint32_t* pairs) {
    if (row.texels == nullptr) {
        const WordVector border = hn::Set(kWord, row.border);
        for (std::size_t i = 0; i < span.count; i += lanes())
            store_pairs<channels>(pairs_of({border, border}), pairs, i);
        return;
    }
    const Positions positions(columns, span);
    for_each_run(positions, span.count, [=](auto kind, std::size_t begin, std::size_t end) HWY_ATTR {
        for (std::size_t i = begin; i < end; i += lanes()) {
            if constexpr (kLooksUpPairs<kind.value, channels>) {
                store_window<kind.value, channels>(positions, row, pairs, i);
            } else {
                store_pairs<channels>(pairs_of(load_two<kind.value, channels>(positions, row, i)), pairs, i);
            }
        }
    });
}

void pair_bytes(const ByteColumns& columns, const ByteSpan& span, const ByteRow& row, std::uint32_t* pairs) {
    if (row.channels == 1) return pair_channels<1>(columns, span, row, pairs);
    if (row.channels == 2) return pair_channels<2>(columns, span, row, pairs);
    pair_channels<4>(columns, span, row, pairs);
}

// Computes the weights of footprint_weights(), whose sum is 256: one rounded product determines all four weights. The
// part of a weight above 255 goes to the lower row, which is then the same row.
void weigh(const ByteColumns& columns, const ByteSpan& span, std::uint32_t share, std::size_t channels,
           std::uint32_t* top, std::uint32_t* bottom) {
    const CodeVector y = hn::Set(kCode, static_cast<std::uint16_t>(share));
    const std::uint32_t* const shares = &columns.shares[span.first];
    const auto load = [=](std::size_t i) HWY_ATTR { return codes(hn::LoadU(kWord, shares + i)); };
    const auto store = [=](CodeVector x, std::size_t word) HWY_ATTR {
        const CodeVector right_bottom = hn::ShiftRight<8>(hn::Add(hn::Mul(x, y), hn::Set(kCode, 128)));
        const CodeVector right_top = hn::Sub(x, right_bottom);
        const CodeVector left = hn::Sub(hn::Set(kCode, 256), x);
        const CodeVector left_top = hn::Min(hn::Sub(left, hn::Sub(y, right_bottom)), hn::Set(kCode, 255));
        const CodeVector left_bottom = hn::Sub(left, left_top);
        const auto both = [](CodeVector low, CodeVector high)
                              HWY_ATTR { return hn::BitCast(kWord, hn::Or(low, hn::ShiftLeft<8>(high))); };
        hn::StoreU(both(left_top, right_top), kWord, top + word);
        hn::StoreU(both(left_bottom, right_bottom), kWord, bottom + word);
    };
    if (channels > 1) {
        for (std::size_t i = 0; i < span.count; i += lanes()) store(load(i), i);
        return;
    }
    // A vector has the weights of twice as many pixels. There is room for one vector more.
    for (std::size_t i = 0; i < span.count; i += 2 * lanes())
        store(hn::ConcatEven(kCode, load(std::min(i + lanes(), span.count - lanes())), load(i)), i / 2);
}

// Pixels of one or two channels: a vector has the pairs and the weights of twice as many codes as it has words.
void blend_codes(const BytePairs& rows, const ByteWeights& weights, const BytePixels& pixels) {
    constexpr hn::Rebind<std::uint8_t, Code> kCodes;
    const hn::RebindToSigned<Code> shorts;
    const std::size_t count = pixels.count * pixels.channels;
    const auto load = [](const std::uint32_t* from, std::size_t i) HWY_ATTR { return hn::LoadU(kWord, from + i / 2); };
    for (std::size_t i = 0; i < count; i += 2 * lanes()) {
        const CodeVector sum = hn::Add(add_pairs(load(weights.top, i), load(rows.top, i)),
                                       add_pairs(load(weights.bottom, i), load(rows.bottom, i)));
        const CodeVector code = hn::Xor(hn::ShiftRight<8>(hn::Add(sum, hn::Set(kCode, 128))), hn::Set(kCode, 128));
        const auto stored = hn::DemoteTo(kCodes, hn::BitCast(shorts, code));
        if (i + 2 * lanes() <= count) {
            hn::StoreU(stored, kCodes, pixels.stored + i);
        } else {
            HWY_ALIGN unsigned char last[2 * kByteBlock];
            hn::StoreU(stored, kCodes, last);
            std::memcpy(pixels.stored + i, last, count - i);
        }
    }
}

void blend(const BytePairs& rows, const ByteWeights& weights, const BytePixels& pixels) {
    if (pixels.channels != 4) return blend_codes(rows, weights, pixels);
    store_words(pixels, [=](std::size_t i) HWY_ATTR { return pixels_of(sum_kept(rows, weights, i)); });
}

void blend_rows(const ByteColumns& columns, const ByteSpan& span, const ByteRow (&rows)[2], std::uint32_t share,
                const ByteWeights& weights, const BytePixels& pixels) {
    const Positions positions(columns, span);
    const ByteRow upper = rows[0];
    const ByteRow lower = rows[1];
    for_each_run(positions, span.count, [=](auto kind, std::size_t begin, std::size_t end) HWY_ATTR {
        if (kind.value == Kind::halves && share == 128) {
            store_words(pixels, begin, end, [=](std::size_t i) HWY_ATTR {
                return halve(upper.texels, lower.texels, positions.windows[i / lanes()].first);
            });
            return;
        }
        store_words(pixels, begin, end, [=](std::size_t i) HWY_ATTR {
            if (kind.value == Kind::every_second)
                prefetch_after(upper.texels, lower.texels, positions.windows[i / lanes()].first);
            const Pairs top = pairs_of(load_two<kind.value, 4>(positions, upper, i));
            const Pairs bottom = pairs_of(load_two<kind.value, 4>(positions, lower, i));
            return pixels_of(sum_pairs(top, bottom, weights, i));
        });
    });
}

template <std::size_t bytes>
HWY_INLINE void copy_texels_of(const ByteColumns& columns, const ByteSpan& span, const unsigned char* texels,
                               const BytePixels& pixels) {
    const Positions positions(columns, span);
    const ByteRow row{texels, bytes, 0};
    for_each_run(positions, span.count, [=](auto kind, std::size_t begin, std::size_t end) HWY_ATTR {
        store_words(pixels, begin, end,
                    [=](std::size_t i) HWY_ATTR { return load_two<kind.value, bytes>(positions, row, i).left; });
    });
}

void copy_texels(const ByteColumns& columns, const ByteSpan& span, const unsigned char* texels,
                 const BytePixels& pixels) {
    if (pixels.channels == 1) return copy_texels_of<1>(columns, span, texels, pixels);
    if (pixels.channels == 2) return copy_texels_of<2>(columns, span, texels, pixels);
    copy_texels_of<4>(columns, span, texels, pixels);
}

constexpr ByteKernels kKernels{find_windows, pair_bytes, weigh, blend, blend_rows, copy_texels};

}  // namespace

const ByteKernels* kernels_for_bytes() { return &kKernels; }
#endif

}  // namespace HWY_NAMESPACE
}  // namespace texton::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace texton::detail {
HWY_EXPORT(kernels_for_bytes);

const ByteKernels* byte_kernels() { return HWY_DYNAMIC_DISPATCH(kernels_for_bytes)(); }

}  // namespace texton::detail
#endif

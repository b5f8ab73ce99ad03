// Loads 8-bit texels into vectors through the windows of columns, and stores 8-bit pixels.
//
// Sources with vector code include this file once for each instruction set, in its namespace. So it has no include
// guard.

#include "arrays/cpu/pixel_codes.h"

static_assert(hn::MaxLanes(kWord) <= kByteBlock);

using Code = hn::Repartition<std::uint16_t, Word>;
using Byte = hn::Repartition<std::uint8_t, Word>;
using WordVector = hn::Vec<Word>;
using CodeVector = hn::Vec<Code>;
using ByteVector = hn::Vec<Byte>;

constexpr Code kCode;
constexpr Byte kByte;

HWY_INLINE std::size_t lanes() { return hn::Lanes(kWord); }
HWY_INLINE CodeVector codes(WordVector words) { return hn::BitCast(kCode, words); }
HWY_INLINE ByteVector bytes(CodeVector words) { return hn::BitCast(kByte, words); }
HWY_INLINE WordVector words(ByteVector all) { return hn::BitCast(kWord, all); }

// --- texels ----------------------------------------------------------------------------------------------------------

// The texels of the pixels of a span. Loops that store bytes capture this by value: stored bytes might alias anything
// that is only referenced, and the compiler would reload it each time.
struct Positions {
    Positions(const ByteColumns& columns, const ByteSpan& span)
        : left(&columns.left[span.first]),
          right(&columns.right[span.first]),
          offsets(&columns.offsets[span.first]),
          windows(&columns.windows[span.first / lanes()]) {}

    const std::int32_t* left;
    const std::int32_t* right;
    const std::uint32_t* offsets;
    const ByteWindow* windows;
};

constexpr hn::Rebind<std::uint8_t, Word> kOneByte;
constexpr hn::Rebind<std::uint16_t, Word> kTwoBytes;

// Texels of fewer than four channels become words.
template <std::size_t channels>
HWY_INLINE WordVector load_texels(const unsigned char* texels, std::int32_t first) {
    const unsigned char* const from = texels + static_cast<std::ptrdiff_t>(channels) * first;
    if constexpr (channels == 1) return hn::PromoteTo(kWord, hn::LoadU(kOneByte, from));
    if constexpr (channels == 2)
        return hn::PromoteTo(kWord, hn::LoadU(kTwoBytes, reinterpret_cast<const std::uint16_t*>(from)));
    if constexpr (channels == 4) return hn::BitCast(kWord, hn::LoadU(kByte, from));
}

struct TwoTexels {
    WordVector left;
    WordVector right;
};

using Kind = ByteWindow::Kind;

template <Kind kind, std::size_t channels>
HWY_INLINE WordVector from_window(const unsigned char* texels, std::int32_t first, const std::uint32_t* offsets) {
    const WordVector offset = hn::LoadU(kWord, offsets);
    const WordVector maximum = hn::Set(kWord, static_cast<std::uint32_t>(lanes() - 1));
    const auto lane = hn::IndicesFromVec(kWord, hn::And(offset, maximum));
    const WordVector low = hn::TableLookupLanes(load_texels<channels>(texels, first), lane);
    if constexpr (kind == Kind::one) return low;
    const std::int32_t second = first + static_cast<std::int32_t>(lanes());
    const WordVector high = hn::TableLookupLanes(load_texels<channels>(texels, second), lane);
    const auto is_high = hn::Gt(hn::BitCast(kInt, offset), hn::BitCast(kInt, maximum));
    return hn::IfThenElse(hn::RebindMask(kWord, is_high), high, low);
}

template <std::size_t channels>
HWY_INLINE std::uint32_t texel_or_border(const ByteRow& row, std::int32_t texel) {
    if (texel < 0) return row.border;
    std::uint32_t word = 0;
    std::memcpy(&word, row.texels + static_cast<std::size_t>(texel) * channels, channels);
    return word;
}

template <std::size_t channels>
HWY_INLINE TwoTexels load_scattered(const Positions& positions, const ByteRow& row, std::size_t pixel) {
    HWY_ALIGN std::uint32_t left[kByteBlock];
    HWY_ALIGN std::uint32_t right[kByteBlock];
    for (std::size_t i = 0; i < lanes(); ++i) {
        left[i] = texel_or_border<channels>(row, positions.left[pixel + i]);
        right[i] = texel_or_border<channels>(row, positions.right[pixel + i]);
    }
    return {hn::Load(kWord, left), hn::Load(kWord, right)};
}

using Long = hn::Repartition<std::uint64_t, Word>;

// Returns get(first), get(first + 1), ...
template <class D, class Get>
HWY_INLINE hn::Vec<D> vector_of(D d, std::size_t first, const Get& get) {
    constexpr std::size_t kLanes = hn::MaxLanes(D());
    if constexpr (kLanes == 1) {
        return hn::Set(d, get(first));
    } else {
        constexpr hn::Half<D> kHalf;
        return hn::Combine(d, vector_of(kHalf, first + kLanes / 2, get), vector_of(kHalf, first, get));
    }
}

// Loads each pair with one instruction. A vector that is loaded after its parts were stored one by one would wait.
template <std::size_t channels>
HWY_INLINE TwoTexels load_each_pair(const Positions& positions, const ByteRow& row, std::size_t pixel) {
    constexpr Long kLong;
    using Pair = std::conditional_t<channels == 1, std::uint16_t,
                                    std::conditional_t<channels == 2, std::uint32_t, std::uint64_t>>;
    const auto pair = [&](std::size_t i) HWY_ATTR {
        Pair word;
        std::memcpy(&word, row.texels + static_cast<std::size_t>(positions.left[i]) * channels, sizeof word);
        return std::uint64_t{word};
    };
    if constexpr (channels == 4) {
        const WordVector low = hn::BitCast(kWord, vector_of(kLong, pixel, pair));
        const WordVector high = hn::BitCast(kWord, vector_of(kLong, pixel + lanes() / 2, pair));
        return {hn::ConcatEven(kWord, high, low), hn::ConcatOdd(kWord, high, low)};
    } else {
        const auto two = [&](std::size_t i) HWY_ATTR { return pair(pixel + 2 * i) | pair(pixel + 2 * i + 1) << 32; };
        const WordVector both = hn::BitCast(kWord, vector_of(kLong, 0, two));
        constexpr int kBits = 8 * static_cast<int>(channels);
        return {hn::And(both, hn::Set(kWord, (1u << kBits) - 1)), hn::ShiftRight<kBits>(both)};
    }
}

template <Kind kind, std::size_t channels>
HWY_INLINE TwoTexels load_two(const Positions& positions, const ByteRow& row, std::size_t pixel) {
    const std::int32_t first = positions.windows[pixel / lanes()].first;
    if constexpr (kind == Kind::scattered) {
        return load_scattered<channels>(positions, row, pixel);
    } else if constexpr (kind == Kind::pairs) {
        return load_each_pair<channels>(positions, row, pixel);
    } else if constexpr (kind == Kind::every_second || kind == Kind::halves) {
        const std::int32_t second = first + static_cast<std::int32_t>(lanes());
        const WordVector low = load_texels<channels>(row.texels, first);
        const WordVector high = load_texels<channels>(row.texels, second);
        return {hn::ConcatEven(kWord, high, low), hn::ConcatOdd(kWord, high, low)};
    } else {
        const std::uint32_t* offsets = positions.offsets + pixel;
        return {from_window<kind, channels>(row.texels, first, offsets),
                from_window<kind, channels>(row.texels, first + 1, offsets)};
    }
}

template <Kind kind>
struct OfKind {
    static constexpr Kind value = kind;
};

// Calls visit(OfKind, begin, end) for each run of pixels whose windows have the same kind, among the first `count`
// pixels.
template <class Visit>
HWY_INLINE void for_each_run(const Positions& positions, std::size_t count, const Visit& visit) {
    for (std::size_t begin = 0; begin < count;) {
        const ByteWindow* window = &positions.windows[begin / lanes()];
        const Kind kind = window->kind;
        std::size_t end = begin;
        for (; end < count && window->kind == kind; ++window) end += lanes();
        switch (kind) {
            case Kind::scattered: visit(OfKind<Kind::scattered>{}, begin, end); break;
            case Kind::pairs: visit(OfKind<Kind::pairs>{}, begin, end); break;
            case Kind::one: visit(OfKind<Kind::one>{}, begin, end); break;
            case Kind::two: visit(OfKind<Kind::two>{}, begin, end); break;
            case Kind::every_second: visit(OfKind<Kind::every_second>{}, begin, end); break;
            case Kind::halves: visit(OfKind<Kind::halves>{}, begin, end); break;
        }
        begin = end;
    }
}

// --- pixels ----------------------------------------------------------------------------------------------------------

// Stores the lowest bytes of each pixel, as many as a lane of `d` has.
template <class D>
HWY_INLINE void store_low_bytes(D d, WordVector pixels, unsigned char* stored) {
    constexpr auto kMax = static_cast<std::uint32_t>(hwy::LimitsMax<hn::TFromD<D>>());
    const auto low = hn::And(pixels, hn::Set(kWord, kMax));
    hn::StoreU(hn::DemoteTo(d, hn::BitCast(kInt, low)), d, reinterpret_cast<hn::TFromD<D>*>(stored));
}

HWY_INLINE void store_vector(WordVector vector, std::size_t channels, unsigned char* stored) {
    if (channels == 4) {
        hn::StoreU(hn::BitCast(kByte, vector), kByte, stored);
    } else if (channels == 2) {
        store_low_bytes(kTwoBytes, vector, stored);
    } else {
        store_low_bytes(kOneByte, vector, stored);
    }
}

HWY_INLINE void store_part(WordVector vector, std::size_t count, std::size_t channels, unsigned char* stored) {
    HWY_ALIGN std::uint32_t last[kByteBlock];
    hn::Store(vector, kWord, last);
    for (std::size_t k = 0; k < count; ++k) std::memcpy(stored + k * channels, &last[k], channels);
}

// Stores pixels from `begin` to `end`; the last vector may be incomplete. There is a single call of make(), so that the
// compiler inlines it into the loop.
template <class Make>
HWY_INLINE void store_words(BytePixels pixels, std::size_t begin, std::size_t end, const Make& make) {
    end = std::min(end, pixels.count);
    const unsigned char* const last = pixels.stored + end * pixels.channels - 1;
    const bool streams = pixels.past_caches && pixels.channels == 4 && begins_vector(kByte, pixels.stored);
    for (std::size_t i = begin; i < end; i += lanes()) {
        const WordVector vector = make(i);
        unsigned char* const stored = pixels.stored + i * pixels.channels;
        if (i + lanes() > end) return store_part(vector, end - i, pixels.channels, stored);
        if (streams) {
            store_vector_to<true>(hn::BitCast(kByte, vector), kByte, stored);
            continue;
        }
        prefetch_for_stores(std::min<const unsigned char*>(stored + kStoresAhead, last));
        store_vector(vector, pixels.channels, stored);
    }
}

template <class Make>
HWY_INLINE void store_words(const BytePixels& pixels, const Make& make) {
    store_words(pixels, 0, pixels.count, make);
}

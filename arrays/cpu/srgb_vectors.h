// srgb_vectors.h: conversions between sRGB codes and floats, on vectors.
//
// Included after the tags kInt, kWord and kFloat by vectorized sources once for each instruction set, inside their
// namespaces. So there is no include guard.
//
// A gather takes longer than all other instructions of a conversion together. With AVX-512, 256 words of 16 bits are
// looked up in registers instead. Codes of floats are looked up in two steps: lines below the curve of codes return the
// code or the one before it, and the first float of the code after it decides. Codes of units are on parabolas.

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
#define TEXTON_LOOKS_UP_SRGB 1

using Unit = hn::Repartition<std::uint16_t, Int>;  // see SrgbRowTables
using UnitVector = hn::Vec<Unit>;
constexpr Unit kUnit;

// Looks up words of 8-bit codes.
class CodeWords {
public:
    HWY_INLINE explicit CodeWords(const std::uint16_t* words) {  // has the target's attributes
        for (std::size_t i = 0; i < 8; ++i) words_[i] = _mm512_loadu_si512(words + 32 * i);
    }

    HWY_INLINE UnitVector operator()(UnitVector codes) const {
        const auto in_quarter = [&](int i) HWY_ATTR {
            return UnitVector{_mm512_permutex2var_epi16(words_[2 * i], codes.raw, words_[2 * i + 1])};
        };
        const auto is_odd = hn::TestBit(codes, hn::Set(kUnit, 64));
        const auto lower = hn::IfThenElse(is_odd, in_quarter(1), in_quarter(0));
        const auto upper = hn::IfThenElse(is_odd, in_quarter(3), in_quarter(2));
        return hn::IfThenElse(hn::TestBit(codes, hn::Set(kUnit, 128)), upper, lower);
    }

private:
    __m512i words_[8];
};

// Narrows two vectors of numbers to 16 bits, and limits them to those. In each block, four numbers of the second vector
// follow four of the first.
HWY_INLINE UnitVector narrow(IntVector first, IntVector second) {
    return UnitVector{_mm512_packus_epi32(first.raw, second.raw)};
}

// Narrows vectors of codes to bytes. Restores the order of the four vectors that were narrowed to them.
HWY_INLINE hn::Vec<hn::Repartition<std::uint8_t, Int>> narrow_in_order(UnitVector first, UnitVector second) {
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return hn::Vec<hn::Repartition<std::uint8_t, Int>>{
        _mm512_permutexvar_epi32(order, _mm512_packus_epi16(first.raw, second.raw))};
}

// Words of 64 indices.
class LineWords {
public:
    HWY_INLINE explicit LineWords(const std::uint16_t* from)  // has the target's attributes
        : words_{_mm512_loadu_si512(from), _mm512_loadu_si512(from + 32)} {}

    HWY_INLINE UnitVector operator()(UnitVector index) const {
        return UnitVector{_mm512_permutex2var_epi16(words_[0], index.raw, words_[1])};
    }

private:
    __m512i words_[2];
};

// Codes of floats that have only the bits of their units.
class SrgbUnitCodes {
public:
    HWY_INLINE explicit SrgbUnitCodes(const SrgbRowTables& tables)
        : codes_(tables.parabola_codes), slopes_(tables.parabola_slopes), curves_(tables.parabola_curves) {}

    /// Units must be at most kUnits.
    HWY_INLINE UnitVector operator()(UnitVector units) const {
        const UnitVector parabola = hn::ShiftRight<8>(units), along = hn::ShiftLeft<8>(units);
        const UnitVector slope = hn::Sub(slopes_(parabola), hn::MulHigh(along, curves_(parabola)));
        return hn::ShiftRight<8>(hn::Add(codes_(parabola), hn::MulHigh(along, slope)));
    }

private:
    LineWords codes_;
    LineWords slopes_;
    LineWords curves_;
};

class SrgbCodes {
public:
    HWY_INLINE explicit SrgbCodes(const SrgbRowTables& tables)
        : first_codes_(tables.first_codes),
          more_codes_(tables.more_codes),
          next_units_(tables.next_units),
          next_bits_(tables.next_bits) {}

    /// Returns the codes of floats with these units and lower bits. Units must be at most kUnits.
    HWY_INLINE UnitVector of_floats(UnitVector units, UnitVector lower) const {
        const UnitVector code = code_or_one_less(units);
        const UnitVector next = next_units_(code);
        const auto not_last = hn::Ne(hn::Add(units, hn::Set(kUnit, 1)), next);
        return or_next(code, hn::And(hn::Gt(next, units), hn::Or(not_last, hn::Gt(next_bits_(code), lower))));
    }
    /// Returns the codes of two vectors of floats in the order of narrow().
    HWY_INLINE UnitVector of(FloatVector first, FloatVector second) const {
        const IntVector a = from_first(first), b = from_first(second);
        const UnitVector units = narrow(hn::ShiftRight<kUnitBits>(a), hn::ShiftRight<kUnitBits>(b));
        return of_floats(hn::Min(units, hn::Set(kUnit, SrgbRowTables::kUnits)), narrow(lower_bits(a), lower_bits(b)));
    }
    /// Returns the codes of floats.
    HWY_INLINE IntVector of(FloatVector values) const {
        const IntVector at = from_first(values);
        const IntVector units = hn::Min(hn::ShiftRight<kUnitBits>(at), hn::Set(kInt, SrgbRowTables::kUnits));
        return hn::BitCast(kInt, of_floats(hn::BitCast(kUnit, units), hn::BitCast(kUnit, lower_bits(at))));
    }

private:
    static constexpr int kUnitBits = SrgbRowTables::kUnitBits;

    // Returns the distance from kFirst. NaN and smaller numbers return 0.
    static HWY_INLINE IntVector from_first(FloatVector value) {
        const FloatVector limited{_mm512_max_ps(value.raw, _mm512_set1_ps(SrgbRowTables::kFirst))};
        return hn::Sub(hn::BitCast(kInt, limited), hn::Set(kInt, SrgbRowTables::kFirstBits));
    }
    static HWY_INLINE IntVector lower_bits(IntVector at) { return hn::And(at, hn::Set(kInt, (1 << kUnitBits) - 1)); }

    HWY_INLINE UnitVector code_or_one_less(UnitVector units) const {
        const UnitVector line = hn::ShiftRight<8>(units);
        const UnitVector more = hn::MulHigh(hn::ShiftLeft<8>(units), more_codes_(line));
        return hn::ShiftRight<8>(hn::Add(first_codes_(line), more));
    }
    static HWY_INLINE UnitVector or_next(UnitVector code, hn::Mask<Unit> is_below) {
        return hn::IfThenElse(is_below, code, hn::Add(code, hn::Set(kUnit, 1)));
    }

    LineWords first_codes_;
    LineWords more_codes_;
    CodeWords next_units_;
    CodeWords next_bits_;
};
#else
#define TEXTON_LOOKS_UP_SRGB 0

// Looks up words of 32 bits. With AVX2, pairs of words are loaded and joined in less time than gathered.
HWY_INLINE IntVector words_at(const std::uint32_t* words, IntVector index) {
#if HWY_TARGET == HWY_AVX2
    const __m128i low = _mm256_castsi256_si128(index.raw), high = _mm256_extracti128_si256(index.raw, 1);
    const auto two = [=](long long both) HWY_ATTR {
        const auto at = static_cast<std::uint64_t>(both);
        const std::uint64_t second = words[at >> 32];
        return static_cast<long long>(words[static_cast<std::uint32_t>(at)] | second << 32);
    };
    return IntVector{_mm256_setr_epi64x(two(_mm_cvtsi128_si64(low)), two(_mm_extract_epi64(low, 1)),
                                        two(_mm_cvtsi128_si64(high)), two(_mm_extract_epi64(high, 1)))};
#else
    return hn::GatherIndex(kInt, reinterpret_cast<const std::int32_t*>(words), index);
#endif
}

// Returns the codes of floats between kFirst and kLast.
HWY_INLINE IntVector srgb_codes_of(const SrgbRowTables& tables, IntVector bits) {
    const IntVector interval = hn::Sub(hn::ShiftRight<16>(bits), hn::Set(kInt, SrgbRowTables::kFirstBits >> 16));
    const IntVector step = words_at(tables.steps, interval);
    return hn::ShiftRight<16>(hn::Add(step, hn::And(bits, hn::Set(kInt, 0xffff))));
}
#endif

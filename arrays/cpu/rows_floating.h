// rows_floating.h: computes the results of fetches of floating-point texels on vectors, as rows_fixed.h does for
// normalized texels.
//
// Included by rows_simd.cpp once for each instruction set, inside its namespace. So there is no include guard, and no
// other file may include it.

// --- floating-point texels: shared parts of the sums -----------------------------------------------------------------

constexpr std::int32_t kMagnitude = 0x7fffffff;  // a float32's bits without the sign
constexpr auto kNanWord = static_cast<std::int32_t>(kNanBits);
constexpr std::int32_t kExponentOne = 1 << 23;
constexpr std::int32_t kInfinity = 255 << 23;

// Returns 2^(power - e), where `exponent` contains the bits of 2^e.
HWY_INLINE FloatVector inverse_scale(int power, IntVector exponent) {
    const auto biased = static_cast<std::uint32_t>(power + 2 * 127) << 23;
    return as_floats(hn::Sub(whole(static_cast<std::int32_t>(biased)), exponent));
}

// The four texels of footprints, in the order of Weights.
struct Texels {
    FloatVector of[4];
};

HWY_INLINE IntVector magnitude_of(FloatVector value) { return hn::And(bits(value), whole(kMagnitude)); }

// Returns the bits of 2^e, where e is the largest exponent of the texels that have weight, or that of `minimum` if it
// is larger.
HWY_INLINE IntVector largest_exponent(const Texels& texels, const WeightPairs& weights, std::int32_t minimum) {
    IntVector largest = whole(minimum);
    const auto take = [&](IntVector pair, FloatVector left, FloatVector right) HWY_ATTR {
        const auto codes = hn::BitCast(kCode, pair);
        const auto without = hn::Eq(codes, hn::Zero(kCode));
        // In each half, the exponent's bits in the upper half of a float32. What else passes is below the exponent.
        const IntVector exponent = hn::BitCast(kInt, hn::IfThenZeroElse(without, hn::Set(kCode, kInfinity >> 16)));
        largest = hn::Max(largest, hn::And(bits(left), hn::ShiftLeft<16>(exponent)));
        largest = hn::Max(largest, hn::And(bits(right), exponent));
    };
    take(weights.top, texels.of[0], texels.of[1]);
    take(weights.bottom, texels.of[2], texels.of[3]);
    return hn::And(largest, whole(kInfinity));
}

// Texels that a footprint reaches. They count even if their weight rounds to 0, as in ChannelSum::add().
struct Reached {
    Texels texels;  // -0 for unreached texels and negative denormals
    hn::Mask<Int> all_minus_zero;
    hn::Mask<Int> any_special;  // infinity or NaN
};

HWY_INLINE Reached find_reached(const Texels& texels, const Weights& weights) {
    const IntVector zero = hn::Zero(kInt);
    const auto no_right = hn::Eq(hn::Or(weights.of[1], weights.of[3]), zero);
    const auto no_bottom = hn::Eq(hn::Or(weights.of[2], weights.of[3]), zero);
    IntVector reached[4];
    for (int k = 0; k < 4; ++k) {
        const auto denormal = hn::Lt(magnitude_of(texels.of[k]), whole(kExponentOne));
        reached[k] = hn::IfThenElse(denormal, hn::And(bits(texels.of[k]), whole(kSign)), bits(texels.of[k]));
    }
    reached[1] = hn::IfThenElse(no_right, whole(kSign), reached[1]);
    reached[2] = hn::IfThenElse(no_bottom, whole(kSign), reached[2]);
    reached[3] = hn::IfThenElse(hn::Or(no_right, no_bottom), whole(kSign), reached[3]);
    Reached result;
    IntVector highest = whole(kSign);
    IntVector largest = zero;
    for (int k = 0; k < 4; ++k) {
        result.texels.of[k] = as_floats(reached[k]);
        highest = hn::Max(highest, reached[k]);
        largest = hn::Max(largest, hn::And(reached[k], whole(kMagnitude)));
    }
    result.all_minus_zero = hn::Eq(highest, whole(kSign));
    result.any_special = hn::Gt(largest, whole(kInfinity - 1));
    return result;
}

// Returns the sum of texels of which at least one is infinite or NaN.
HWY_INLINE FloatVector special_sum(const Reached& reached) {
    FloatVector sum = hn::Zero(kFloat);
    for (const FloatVector texel : reached.texels.of) {
        const auto special = hn::Gt(magnitude_of(texel), whole(kInfinity - 1));
        sum = hn::Add(sum, hn::IfThenElseZero(hn::RebindMask(kFloat, special), texel));
    }
    return with_one_nan(kFloat, sum);
}

// Takes vectors, so that callers keep them in registers.
template <class Kind>
HWY_NOINLINE FloatVector sum_anew(FloatVector left_top, FloatVector right_top, FloatVector left_bottom,
                                  FloatVector right_bottom, IntVector top, IntVector bottom) {
    const Texels texels{{left_top, right_top, left_bottom, right_bottom}};
    const WeightPairs pairs{top, bottom};
    const Weights weights = single_weights(pairs);
    const Reached reached = find_reached(texels, weights);
    Texels finite;
    for (int k = 0; k < 4; ++k) {
        const IntVector texel = hn::IfThenZeroElse(hn::Eq(weights.of[k], hn::Zero(kInt)), bits(reached.texels.of[k]));
        const auto special = hn::Gt(hn::And(texel, whole(kMagnitude)), whole(kInfinity - 1));
        finite.of[k] = as_floats(hn::IfThenZeroElse(special, texel));
    }
    const IntVector sum = bits(Kind::sum_finite(finite, pairs));
    const IntVector result = hn::IfThenElse(reached.any_special, bits(special_sum(reached)), sum);
    return as_floats(hn::IfThenElse(reached.all_minus_zero, whole(kSign), result));
}

// Returns the quick sum, or recomputes it with sum_anew() if `doubt` is negative in some lanes: the quick sum assumes
// finite texels, it can be a zero with the wrong sign, and it can have lost digits. If all texels are positive zeros,
// the result is 0.
template <class Kind>
HWY_INLINE FloatVector settle(FloatVector quick, IntVector doubt, const Texels& texels, const WeightPairs& weights) {
    const auto doubtful = hn::Lt(doubt, hn::Zero(kInt));
    if (HWY_LIKELY(hn::AllFalse(kInt, doubtful))) return quick;
    const IntVector any =
        hn::Or(hn::Or(bits(texels.of[0]), bits(texels.of[1])), hn::Or(bits(texels.of[2]), bits(texels.of[3])));
    const auto zeros = hn::Eq(any, hn::Zero(kInt));
    if (hn::AllFalse(kInt, hn::AndNot(zeros, doubtful))) return as_floats(hn::IfThenZeroElse(zeros, bits(quick)));
    return sum_anew<Kind>(texels.of[0], texels.of[1], texels.of[2], texels.of[3], weights.top, weights.bottom);
}

// Texels as floats: of a block, all left ones, and then all right ones.
constexpr std::size_t floats_of_sides(std::size_t channels) { return 2 * channels * kRowBlock; }

template <std::size_t channels>
HWY_INLINE void store_sides(FloatVector left, FloatVector right, std::size_t element, float* sides) {
    hn::StoreU(left, kFloat, sides + element);
    hn::StoreU(right, kFloat, sides + floats_of_sides(channels) / 2 + element);
}

template <std::size_t channels>
HWY_INLINE Texels load_four(const float* top, const float* bottom, std::size_t element) {
    const auto load = [=](const float* sides) HWY_ATTR { return hn::LoadU(kFloat, sides + element); };
    constexpr std::size_t kRight = floats_of_sides(channels) / 2;
    return {{load(top), load(top + kRight), load(bottom), load(bottom + kRight)}};
}

// --- float16 ---------------------------------------------------------------------------------------------------------

// Returns round_to_half() of a sum that float32 holds exactly, as the bits of the float16.
HWY_INLINE IntVector half_of_sum(FloatVector sum) {
    const IntVector magnitude = magnitude_of(sum);
    const IntVector exponent = hn::Max(hn::And(magnitude, whole(kInfinity)), whole(113 * kExponentOne));
    const IntVector rounded =
        hn::ConvertTo(kInt, hn::MulAdd(as_floats(magnitude), inverse_scale(10, exponent), number(0.5f)));
    const IntVector finite = hn::Add(rounded, hn::ShiftRight<13>(hn::Sub(exponent, whole(113 * kExponentOne))));
    const IntVector sign = hn::And(hn::ShiftRight<16>(bits(sum)), whole(0x8000));
    const auto special = hn::Gt(magnitude, whole(kInfinity - 1));
    const auto no_number = hn::Gt(magnitude, whole(kInfinity));
    const IntVector code = hn::Or(hn::IfThenElse(special, whole(0x7c00), finite), sign);
    return hn::IfThenElse(no_number, whole(kHalfNanBits), code);
}

HWY_INLINE FloatVector float_of_half(WordVector half) {
    const IntVector code = hn::BitCast(kInt, half);
    const IntVector magnitude = hn::ShiftLeft<13>(hn::And(code, whole(0x7fff)));
    const IntVector finite = bits(hn::Mul(as_floats(magnitude), number(0x1p112f)));
    const auto special = hn::Gt(magnitude, whole((31 << 23) - 1));
    const IntVector value = hn::IfThenElse(special, hn::Or(magnitude, whole(kInfinity)), finite);
    return as_floats(hn::Or(value, hn::ShiftLeft<16>(hn::And(code, whole(0x8000)))));
}

// Returns 0, or NaN if a texel is infinite or NaN.
HWY_INLINE FloatVector zero_if_finite(const Texels& texels) {
    FloatVector zero = hn::Mul(texels.of[0], number(0));
    for (int k = 1; k < 4; ++k) zero = hn::MulAdd(texels.of[k], number(0), zero);
    return zero;
}

// Returns the weighted sum of texels. Each texel is truncated to `cut_bits` bits below the first bit of 2^exponent, at
// most 14. The unit of the result is 1/256 of the last of these bits, so the result is an integer. It is below 2^24.
template <int cut_bits>
HWY_INLINE FloatVector sum_of_cut(const Texels& texels, const WeightPairs& weights, IntVector exponent) {
    const FloatVector steps = inverse_scale(cut_bits, exponent);
    const auto pair = [&](int k) HWY_ATTR {
        const IntVector left = whole_part(kFloat, hn::Mul(texels.of[k], steps));
        return halves_of(left, hn::ShiftLeft<16>(whole_part(kFloat, hn::Mul(texels.of[k + 1], steps))));
    };
    const IntVector sum = add_products(hn::Zero(kInt), pair(0), weights.top);
    return hn::ConvertTo(kFloat, add_products(sum, pair(2), weights.bottom));
}

// Returns the value of a result of sum_of_cut().
template <int cut_bits>
HWY_INLINE FloatVector scale_sum(FloatVector sum, IntVector exponent) {
    return hn::Mul(sum, as_floats(hn::Sub(exponent, whole((cut_bits + 8) * kExponentOne))));
}

// Does the same for texels: each NaN may become another one.
HWY_INLINE FloatVector float_of_texel(hn::Vec<FewCodes> code) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX2
    return hn::PromoteTo(kFloat, hn::BitCast(hn::Rebind<hwy::float16_t, Float>(), code));
#else
    return float_of_half(hn::PromoteTo(kWord, code));
#endif
}

template <std::size_t channels>
struct Float16 {
    using Result = std::uint16_t;
    static constexpr std::size_t kBytes = 2 * channels;
    static constexpr std::size_t kChannels = channels;
    static constexpr bool kResultsArePixels = true;

    static HWY_NOINLINE void blend(const Rows& rows, const Taps& taps, Result* halves) {
        Attempts attempts;
        for (std::size_t i = 0; i < kRowBlock * channels; i += hn::Lanes(kInt)) {
            Texels texels;
            load_values(rows.top + 4 * i, texels.of[0], texels.of[1]);
            load_values(rows.bottom + 4 * i, texels.of[2], texels.of[3]);
            store_sum(texels, load_weights<channels>(taps, i), attempts, halves + i);
        }
    }

    using Decoded = float;
    static constexpr std::size_t kDecoded = floats_of_sides(channels);

    /// Converts a block of pairs of texels for blend_decoded().
    static HWY_NOINLINE void decode(const unsigned char* pairs, float* sides) {
        for (std::size_t i = 0; i < kRowBlock * channels; i += hn::Lanes(kFloat)) {
            FloatVector left, right;
            load_values(pairs + 4 * i, left, right);
            store_sides<channels>(left, right, i, sides);
        }
    }

    /// Blends what decode() returned.
    static HWY_NOINLINE void blend_decoded(const float* top, const float* bottom, const std::int32_t* shares,
                                           std::int32_t share, Attempts& attempts, Result* halves) {
        for (std::size_t i = 0; i < kRowBlock * channels; i += hn::Lanes(kInt)) {
            const IntVector x = spread_over_channels<channels>(shares + i / channels);
            store_sum(load_four<channels>(top, bottom, i), weights_of(x, whole(share)), attempts, halves + i);
        }
    }

    static HWY_INLINE FloatVector sum_finite(const Texels& texels, const WeightPairs& weights) {
        constexpr int kCutBits = 14;  // including guard bits
        const IntVector exponent = largest_exponent(texels, weights, 113 * kExponentOne);
        return scale_sum<kCutBits>(sum_of_cut<kCutBits>(texels, weights, exponent), exponent);
    }

    static HWY_INLINE FloatVector widen(const Result* halves) {
        return float_of_half(hn::PromoteTo(kWord, hn::Load(kFewCodes, halves)));
    }

private:
    using Pair = typename Unsigned<2 * channels>::type;

    static HWY_INLINE void load_values(const unsigned char* pairs, FloatVector& left, FloatVector& right) {
        hn::Vec<FewCodes> codes[2];
        load_pairs<Pair>(kFewCodes, pairs, codes[0], codes[1]);
        left = float_of_texel(codes[0]);
        right = float_of_texel(codes[1]);
    }

    static HWY_INLINE void store_sum(const Texels& texels, const WeightPairs& weights, Attempts& attempts,
                                     Result* halves) {
        if (attempts.is_due()) {
            if (HWY_LIKELY(store_alike(texels, weights, halves))) return;
            attempts.fail();
        }
        const FloatVector quick = hn::Add(sum_finite(texels, weights), zero_if_finite(texels));
        const IntVector magnitude = magnitude_of(quick);
        const IntVector doubt = hn::Or(hn::Sub(magnitude, whole(1)), hn::Sub(whole(kInfinity - 1), magnitude));
        const FloatVector sum = settle<Float16>(quick, doubt, texels, weights);
        hn::StoreU(hn::DemoteTo(kFewCodes, half_of_sum(sum)), kFewCodes, halves);
    }

    // Sums a vector of pixels before it is known whether their texels are alike: in each lane, all are positive, finite
    // and within four exponents of each other, or all are 0. Returns false if some are not. Texels within four
    // exponents of the largest one have no bits below its guard bits, and float32 holds the sums exactly.
    static HWY_INLINE bool store_alike(const Texels& texels, const WeightPairs& pairs, Result* halves) {
        constexpr std::int32_t kMin = 113 * kExponentOne;  // of normal numbers
        constexpr std::int32_t kEnd = 143 * kExponentOne;  // infinity
        const Weights weights = single_weights(pairs);
        FloatVector sum = hn::Mul(texels.of[0], float_of_weight(weights.of[0]));
        IntVector largest = bits(texels.of[0]), smallest = largest;
        for (int k = 1; k < 4; ++k) {
            sum = hn::MulAdd(texels.of[k], float_of_weight(weights.of[k]), sum);
            largest = hn::Max(largest, bits(texels.of[k]));
            smallest = hn::Min(smallest, bits(texels.of[k]));
        }
        const auto near = hn::Lt(hn::Sub(largest, smallest), whole(4 * kExponentOne + 1));
        const auto safe = hn::And(hn::Gt(smallest, whole(kMin - 1)), hn::Lt(largest, whole(kEnd)));
        const auto zeros = hn::Eq(hn::Or(largest, smallest), hn::Zero(kInt));
        if (HWY_UNLIKELY(!hn::AllTrue(kInt, hn::Or(hn::And(near, safe), zeros)))) return false;
        // Half of a last bit is added. 0 becomes a negative number.
        const IntVector rounded = hn::Add(bits(sum), whole((1 << 12) - (112 + 8) * kExponentOne));
        hn::StoreU(hn::DemoteTo(kFewCodes, hn::ShiftRight<13>(rounded)), kFewCodes, halves);
        return true;
    }
};

// --- float32 ---------------------------------------------------------------------------------------------------------

// The four weights of footprints as parts of 1, in the order of Weights.
struct FloatWeights {
    FloatVector of[4];
};

HWY_INLINE FloatVector part_of_one(IntVector weight) { return hn::Mul(float_of_weight(weight), number(0x1p-8f)); }

// Returns the weights of footprint_weights() for shares that are parts of 1. Adding a number of this amount rounds the
// product to whole 256ths. The product is a little larger than it should be, so that halves are rounded up.
HWY_INLINE FloatWeights weights_of_parts(FloatVector x, float y) {
    const FloatVector to_256ths = number(0x1.8p15f);
    const FloatVector right_bottom = hn::Sub(hn::MulAdd(x, number(y + y * 0x1p-20f), to_256ths), to_256ths);
    const FloatVector left_bottom = hn::Sub(number(y), right_bottom);
    return {{hn::Sub(hn::Sub(number(1), x), left_bottom), hn::Sub(x, right_bottom), left_bottom, right_bottom}};
}

// Sums pixels before it is known whether their texels are alike. Most are: in each lane, all are positive and within
// three exponents of each other, or all are 0. Then every sum is reliable, and none needs special handling.
//
// Texels within three exponents of the largest one have no bits below its guard bits. So each texel is split into its
// upper and lower twelve bits, and float32 holds the sums of both exactly. Half of a last bit is added, which changes
// only the rounding of ties: they are rounded away from zero.
class AlikeTexels {
public:
    struct Sum {
        FloatVector upper;
        FloatVector lower;
    };

    HWY_INLINE AlikeTexels() : largest_(hn::Zero(kInt)), smallest_(whole(kMagnitude)) {}  // has the target's attributes

    /// Starts a sum with its first texel.
    HWY_INLINE Sum first(FloatVector texel, FloatVector weight) {
        const FloatVector upper = take(texel);
        return {hn::Mul(upper, weight), hn::Mul(hn::Sub(texel, upper), weight)};
    }
    HWY_INLINE void add(FloatVector texel, FloatVector weight, Sum& sum) {
        const FloatVector upper = take(texel);
        sum.upper = hn::MulAdd(upper, weight, sum.upper);
        sum.lower = hn::MulAdd(hn::Sub(texel, upper), weight, sum.lower);
    }

    /// Rounds sums whose weights add up to 1. Returns false if some texels are not alike.
    template <std::size_t count>
    HWY_INLINE bool round(const Sum (&sums)[count], FloatVector (&rounded)[count]) const {
        const IntVector exponent = hn::And(largest_, whole(kInfinity));
        const FloatVector half = as_floats(hn::Sub(exponent, whole(kHalfOfLastBit)));
        for (std::size_t i = 0; i < count; ++i) rounded[i] = hn::Add(sums[i].upper, hn::Add(sums[i].lower, half));
        const auto near = hn::Lt(hn::Sub(largest_, smallest_), whole(3 * kExponentOne + 1));
        const auto safe = hn::And(hn::Gt(smallest_, whole(kMin - 1)), hn::Lt(largest_, whole(kEnd)));
        const auto alike = hn::And(near, safe);
        if (HWY_LIKELY(hn::AllTrue(kInt, alike))) return true;
        const auto zeros = hn::Eq(hn::Or(largest_, smallest_), hn::Zero(kInt));
        if (!hn::AllTrue(kInt, hn::Or(alike, zeros))) return false;
        for (FloatVector& sum : rounded) sum = as_floats(hn::IfThenZeroElse(zeros, bits(sum)));
        return true;
    }

private:
    static constexpr std::int32_t kMin = 40 * kExponentOne;                          // all factors are normal
    static constexpr std::int32_t kEnd = 254 * kExponentOne;                         // sums can be infinite from here
    static constexpr std::int32_t kHalfOfLastBit = (23 + 3 + 8 + 1) * kExponentOne;  // of weighted texels

    HWY_INLINE FloatVector take(FloatVector texel) {
        largest_ = hn::Max(largest_, bits(texel));
        smallest_ = hn::Min(smallest_, bits(texel));
        return as_floats(hn::And(bits(texel), whole(~0xfff)));
    }

    IntVector largest_;  // bits of texels
    IntVector smallest_;
};

template <std::size_t channels>
struct Float32 {
    using Result = float;
    static constexpr std::size_t kBytes = 4 * channels;
    static constexpr std::size_t kChannels = channels;
    static constexpr bool kResultsArePixels = true;

    static HWY_NOINLINE void blend(const Rows& rows, const Taps& taps, Result* results) {
        Attempts attempts;
        for (std::size_t i = 0; i < kRowBlock * channels; i += hn::Lanes(kInt)) {
            WordVector words[4];
            load_taps<float, channels>(rows, i, words);
            const WeightPairs pairs = load_weights<channels>(taps, i);
            Texels texels;
            for (int k = 0; k < 4; ++k) texels.of[k] = hn::BitCast(kFloat, words[k]);
            if (attempts.is_due()) {
                const Weights weights = single_weights(pairs);
                AlikeTexels alike;
                AlikeTexels::Sum sums[] = {alike.first(texels.of[0], part_of_one(weights.of[0]))};
                for (int k = 1; k < 4; ++k) alike.add(texels.of[k], part_of_one(weights.of[k]), sums[0]);
                FloatVector rounded[1];
                if (HWY_LIKELY(alike.round(sums, rounded))) {
                    hn::StoreU(rounded[0], kFloat, results + i);
                    continue;
                }
                attempts.fail();
            }
            hn::StoreU(sum<true>(texels, pairs), kFloat, results + i);
        }
    }

    using Decoded = float;
    static constexpr std::size_t kDecoded = floats_of_sides(channels);

    /// Separates the left and the right texels of a block of pairs.
    static HWY_NOINLINE void decode(const unsigned char* pairs, float* sides) {
        for (std::size_t i = 0; i < kRowBlock * channels; i += hn::Lanes(kFloat)) {
            const Sides both = load_sides<float, channels>(pairs, i);
            store_sides<channels>(hn::BitCast(kFloat, both.left), hn::BitCast(kFloat, both.right), i, sides);
        }
    }

    /// Blends what decode() returned.
    static HWY_NOINLINE void blend_decoded(const float* top, const float* bottom, const std::int32_t* shares,
                                           std::int32_t share, Attempts& attempts, float* results) {
        const float part = static_cast<float>(share) * 0x1p-8f;
        for (std::size_t i = 0; i < kRowBlock * channels; i += hn::Lanes(kInt)) {
            const Texels texels = load_four<channels>(top, bottom, i);
            const IntVector x = spread_over_channels<channels>(shares + i / channels);
            if (attempts.is_due()) {
                const FloatWeights weights = weights_of_parts(part_of_one(x), part);
                AlikeTexels alike;
                AlikeTexels::Sum sums[] = {alike.first(texels.of[0], weights.of[0])};
                for (int k = 1; k < 4; ++k) alike.add(texels.of[k], weights.of[k], sums[0]);
                FloatVector rounded[1];
                if (HWY_LIKELY(alike.round(sums, rounded))) {
                    hn::StoreU(rounded[0], kFloat, results + i);
                    continue;
                }
                attempts.fail();
            }
            hn::StoreU(sum<false>(texels, weights_of(x, whole(share))), kFloat, results + i);
        }
    }

    /// Does the same with texels that are read directly from the texture. A vector must hold whole texels.
    static HWY_NOINLINE void blend_inside(const RowPlan& plan, const Taps& taps,
                                          Result* results) requires(channels == kParts) {
        const auto* const top = reinterpret_cast<const float*>(plan.texels);
        const float* const bottom = top + std::ptrdiff_t{4} * plan.pitch;
        Attempts attempts;
        for (std::size_t i = 0; i < kRowBlock; i += kGroup, results += 4 * kGroup) {
            if (!attempts.is_due()) {
                blend_any(top, bottom, taps, i, results);
                continue;
            }
            const FloatVector weights[] = {share(taps.top + i, false), share(taps.top + i, true),
                                           share(taps.bottom + i, false), share(taps.bottom + i, true)};
            AlikeTexels alike;
            AlikeTexels::Sum sums[kParts];
            const auto texel = [&](int k, std::size_t at) HWY_ATTR {
                return load_pixels(kFloat, (k < 2 ? top : bottom) + (k % 2 == 0 ? 0 : 4), taps.position + at);
            };
            for_parts([&](auto part) HWY_ATTR {
                const std::size_t at = i + part * kPixels;
                sums[part] = alike.first(texel(0, at), spread<part>(weights[0]));
                for (int k = 1; k < 4; ++k) alike.add(texel(k, at), spread<part>(weights[k]), sums[part]);
            });
            FloatVector pixels[kParts];
            if (HWY_UNLIKELY(!alike.round(sums, pixels))) {
                attempts.fail();
                blend_any(top, bottom, taps, i, results);
                continue;
            }
            for (std::size_t part = 0; part < kParts; ++part)
                hn::StoreU(pixels[part], kFloat, results + 4 * part * kPixels);
        }
    }

    /// `often_without`: in many vectors, a texel has no weight. If that is rare, the CPU predicts that all have one.
    template <bool often_without>
    static HWY_INLINE FloatVector sum(const Texels& texels, const WeightPairs& weights) {
        IntVector exponent, largest;
        if constexpr (often_without) {
            exponent = largest_exponent(texels, weights, 0);
            largest = magnitude_of(zero_if_finite(texels));
        } else {
            largest = hn::Max(hn::Max(magnitude_of(texels.of[0]), magnitude_of(texels.of[1])),
                              hn::Max(magnitude_of(texels.of[2]), magnitude_of(texels.of[3])));
            exponent = hn::And(largest, whole(kInfinity));
            const auto least = hn::Min(hn::BitCast(kCode, weights.top), hn::BitCast(kCode, weights.bottom));
            if (HWY_UNLIKELY(!hn::AllFalse(kCode, hn::Eq(least, hn::Zero(kCode)))))
                exponent = largest_exponent(texels, weights, 0);
        }
        const FloatVector doubled = quick_sum(texels, weights, exponent);
        const FloatVector unit = as_floats(hn::Sub(exponent, whole((kCutBits + 8 + 1) * kExponentOne)));
        // The sum has 25 bits or more, its texels are not too small for quick_sum(), and all are finite.
        const IntVector doubt = hn::Or(hn::Or(hn::Sub(magnitude_of(doubled), whole((127 + 25 + 1) * kExponentOne)),
                                              hn::Sub(exponent, whole(kSmallest))),
                                       hn::Sub(whole(kInfinity - 1), largest));
        return settle<Float32>(hn::Mul(doubled, unit), doubt, texels, weights);
    }

    // Also handles texels so small that float32 cannot hold the scale for truncating them. These texels are enlarged
    // first.
    static HWY_INLINE FloatVector sum_finite(const Texels& texels, const WeightPairs& weights) {
        const IntVector exponent = largest_exponent(texels, weights, kExponentOne);
        const auto tiny = hn::Lt(exponent, whole(kSmallest));
        const IntVector enlarged = hn::Add(exponent, hn::IfThenElseZero(tiny, whole(64 * kExponentOne)));
        const FloatVector factor = hn::IfThenElse(hn::RebindMask(kFloat, tiny), number(0x1p64f), number(1));
        Texels large;
        for (int k = 0; k < 4; ++k) large.of[k] = hn::Mul(texels.of[k], factor);
        const IntVector sum =
            bits(sum_of_cut(large, single_weights(weights), exponent, inverse_scale(kCutBits, enlarged)));
        const auto denormal = hn::Lt(hn::And(sum, whole(kMagnitude)), whole(kExponentOne));
        return as_floats(hn::IfThenElse(denormal, hn::And(sum, whole(kSign)), sum));
    }

    static HWY_INLINE FloatVector widen(const Result* results) { return hn::Load(kFloat, results); }

private:
    // Returns the weights of the texels on one side as parts of 1, in the order of by_parts().
    static HWY_INLINE FloatVector share(const std::uint32_t* both, bool right) {
        const IntVector weights = hn::BitCast(kInt, hn::LoadU(kWord, both));
        const IntVector one = right ? hn::ShiftRight<16>(weights) : hn::And(weights, whole(0xffff));
        return by_parts(part_of_one(one));
    }

    // Not inlined, since its vectors would displace those of alike texels from registers.
    static HWY_NOINLINE void blend_any(const float* top, const float* bottom, const Taps& taps, std::size_t pixel,
                                       Result* results) {
        for (std::size_t at = pixel; at < pixel + kGroup; at += kPixels, results += 4 * kPixels) {
            const Texels texels{
                {load_pixels(kFloat, top, taps.position + at), load_pixels(kFloat, top + 4, taps.position + at),
                 load_pixels(kFloat, bottom, taps.position + at), load_pixels(kFloat, bottom + 4, taps.position + at)}};
            hn::StoreU(sum<true>(texels, load_weights<channels>(taps, 4 * at)), kFloat, results);
        }
    }

    static constexpr std::int32_t kCutBits = 27;                  // including guard bits
    static constexpr std::int32_t kSmallest = 40 * kExponentOne;  // exponent whose factors are all normal

    // Returns twice the sum. Texels are truncated to integers below 2^28, whose upper and lower 16 bits are summed
    // separately. Half of a last bit is added, away from zero. If the total has 25 bits or more, this changes only the
    // rounding of ties.
    static HWY_INLINE FloatVector quick_sum(const Texels& texels, const WeightPairs& weights, IntVector exponent) {
        const FloatVector steps = inverse_scale(kCutBits, exponent);
        // 2^15 is subtracted from the lower bits, since products need signed factors. The weights add up to 256.
        IntVector upper = whole(256 / 2);
        IntVector lower = hn::Zero(kInt);
        const auto add = [&](int k, IntVector pair) HWY_ATTR {
            const IntVector left = whole_part(kFloat, hn::Mul(texels.of[k], steps));
            const IntVector right = whole_part(kFloat, hn::Mul(texels.of[k + 1], steps));
            const IntVector low = hn::Xor(halves_of(left, hn::ShiftLeft<16>(right)), whole(kSign | 0x8000));
            upper = add_products(upper, halves_of(hn::ShiftRight<16>(left), right), pair);
            lower = add_products(lower, low, pair);
        };
        add(0, weights.top);
        add(2, weights.bottom);
        const IntVector half = hn::Or(hn::ShiftRight<31>(upper), whole(1));
        const FloatVector doubled_lower = hn::ConvertTo(kFloat, hn::Add(hn::Add(lower, lower), half));
        return hn::MulAdd(hn::ConvertTo(kFloat, upper), number(2 << 16), doubled_lower);
    }

    // Texels are truncated in float32, where none has more than 24 bits, and summed in float64.

    static HWY_INLINE FloatVector sum_of_cut(const Texels& texels, const Weights& weights, IntVector exponent,
                                             FloatVector steps) {
        Texels cut;
        for (int k = 0; k < 4; ++k) cut.of[k] = hn::Trunc(hn::Mul(texels.of[k], steps));
        return hn::Combine(kFloat, sum_half<true>(cut, weights, exponent), sum_half<false>(cut, weights, exponent));
    }

    template <bool upper, class D, class V>
    static HWY_INLINE hn::Vec<D> half(D d, V vector) {
        if constexpr (upper) return hn::UpperHalf(d, vector);
        return hn::LowerHalf(d, vector);
    }

    // The sum is an integer below 2^37. The factor is enlarged by 2^-44 of itself, which moves the product by less than
    // half the distance to the next value where the rounding of DemoteTo changes. So only ties change: they are rounded
    // away from zero.
    template <bool upper>
    static HWY_INLINE hn::Vec<HalfFloat> sum_half(const Texels& cut, const Weights& weights, IntVector exponent) {
        DoubleVector sum = hn::Zero(kDouble);
        for (int k = 0; k < 4; ++k) {
            sum = hn::MulAdd(hn::PromoteTo(kDouble, half<upper>(kHalfFloat, cut.of[k])),
                             hn::PromoteTo(kDouble, half<upper>(kHalfInt, weights.of[k])), sum);
        }
        const hn::Repartition<std::int64_t, Double> bits64;
        const auto shifted = hn::ShiftLeft<52 - 23>(hn::PromoteTo(bits64, half<upper>(kHalfInt, exponent)));
        const auto unit = hn::Add(shifted, hn::Set(bits64, (std::int64_t{1023 - 127 - kCutBits - 8} << 52) + (1 << 8)));
        return hn::DemoteTo(kHalfFloat, hn::Mul(sum, hn::BitCast(kDouble, unit)));
    }
};

// cpu_rows_lattice.h: rows of fetches at prepared places, of texels of four floats.
//
// Included by cpu_rows_simd.cpp once for each instruction set, in its namespace: there is no guard, and nothing else
// includes it.

// --- sums ------------------------------------------------------------------------------------------------------------

// Vectors are named one by one here: arrays of them would be put into memory for what is hardly ever called.

// As cpu_rows_floating.h has it, of any texels t and weights w.
HWY_NOINLINE FloatVector sum_any(FloatVector t0, FloatVector t1, FloatVector t2, FloatVector t3, FloatVector w0,
                                 FloatVector w1, FloatVector w2, FloatVector w3) {
    return Float32<4>::sum({{t0, t1, t2, t3}}, {{hn::ConvertTo(kInt, w0), hn::ConvertTo(kInt, w1),
                                                 hn::ConvertTo(kInt, w2), hn::ConvertTo(kInt, w3)}});
}

// Texels that are 0, or within three exponents of the largest, have no bits below its guard bits. So each is taken
// apart into upper and lower twelve bits, whose sums float32 holds exactly, and half of the last bit more: it is felt
// at halves alone, which so leave zero.
struct NearSum {
    WordVector largest;  // bits without the sign, twice
    WordVector smallest;
    IntVector any;
    FloatVector upper_sum;
    FloatVector lower_sum;

    HWY_INLINE void add(FloatVector texel, FloatVector weight) {
        const WordVector twice = hn::BitCast(kWord, hn::Add(bits(texel), bits(texel)));
        largest = hn::Max(largest, twice);
        smallest = hn::Min(smallest, hn::Sub(twice, hn::Set(kWord, 1)));  // 0 is none
        any = hn::Or(any, bits(texel));
        const FloatVector upper = as_floats(hn::And(bits(texel), whole(~0xfff)));
        upper_sum = hn::MulAdd(upper, weight, upper_sum);
        lower_sum = hn::MulAdd(hn::Sub(texel, upper), weight, lower_sum);
    }

    // False where the sum is not safe from the half that is added, or texels are further apart.
    HWY_INLINE bool finish(FloatVector& sum) const {
        constexpr std::uint32_t kNear = (3u << 24) + 1;
        constexpr std::int32_t kLeast = 40 * kExponentOne;  // exponent for which all factors are float32
        constexpr std::int32_t kHalf = (23 + 3 + 1) * kExponentOne;
        const IntVector bits_of_largest = hn::BitCast(kInt, hn::ShiftRight<1>(largest));
        const IntVector exponent = hn::And(hn::Max(bits_of_largest, whole(kLeast)), whole(kInfinity));
        const FloatVector half = as_floats(hn::Sub(exponent, whole(kHalf)));
        const FloatVector beyond_half = hn::Add(lower_sum, hn::CopySign(half, upper_sum));
        sum = hn::Mul(hn::Add(upper_sum, beyond_half), number(0x1p-8f));
        const IntVector magnitude = magnitude_of(sum);
        // Leaves the sum 25 bits, and is more than texels have that are too small.
        const IntVector safe = hn::Max(hn::Sub(exponent, whole(10 * kExponentOne)), whole(kLeast));
        const auto unsafe = hn::Or(hn::Lt(magnitude, safe), hn::Gt(magnitude, whole(kInfinity - 1)));
        const auto apart = hn::Gt(hn::Sub(largest, smallest), hn::Set(kWord, kNear));
        const auto doubtful = hn::Or(unsafe, hn::RebindMask(kInt, apart));
        if (HWY_LIKELY(hn::AllFalse(kInt, doubtful))) return true;
        const auto zeros = hn::Eq(any, hn::Zero(kInt));
        sum = as_floats(hn::IfThenZeroElse(zeros, bits(sum)));
        return hn::AllFalse(kInt, hn::AndNot(zeros, doubtful));
    }
};

// A texel by itself is what decoding makes of it: without denormals, and with one NaN.
HWY_INLINE FloatVector single_texel(FloatVector texel) {
    const IntVector magnitude = magnitude_of(texel);
    const auto denormal = hn::Lt(magnitude, whole(kExponentOne));
    const auto no_number = hn::Gt(magnitude, whole(kInfinity));
    const IntVector number = hn::IfThenElse(denormal, hn::And(bits(texel), whole(kSign)), bits(texel));
    return as_floats(hn::IfThenElse(no_number, whole(kMagnitude), number));
}

// --- rows ------------------------------------------------------------------------------------------------------------

// As many pixels of a row of texels as a vector holds.
template <class D>
HWY_INLINE hn::Vec<D> load_pixels(D d, const float* row, const std::int32_t* columns) {
    if constexpr (hn::MaxLanes(D()) == 4) {
        return hn::LoadU(d, row + std::ptrdiff_t{4} * columns[0]);
    } else {
        const hn::Half<D> half;
        constexpr std::size_t kPixels = hn::MaxLanes(D()) / 8;
        return hn::Combine(d, load_pixels(half, row, columns + kPixels), load_pixels(half, row, columns));
    }
}

// The texels' weights as floats, in the order of Weights.
struct FloatWeights {
    FloatVector of[4];
};

// footprint_weights() of all 256, of columns with the shares x in a row with the share y.
HWY_INLINE FloatWeights weights_of_shares(IntVector x, IntVector y) {
    const IntVector right_bottom = hn::ShiftRight<8>(hn::Add(hn::Mul(x, y), whole(128)));
    const IntVector left_bottom = hn::Sub(y, right_bottom);
    const IntVector left_top = hn::Sub(hn::Sub(whole(256), x), left_bottom);
    return {{hn::ConvertTo(kFloat, left_top), hn::ConvertTo(kFloat, hn::Sub(x, right_bottom)),
             hn::ConvertTo(kFloat, left_bottom), hn::ConvertTo(kFloat, right_bottom)}};
}

template <bool two_columns, bool two_rows>
HWY_INLINE FloatVector fetch_pixels(const LatticeRow& row, const std::int32_t* left, const std::int32_t* right,
                                    const FloatWeights& weights, IntVector lanes) {
    const FloatVector t0 = load_pixels(kFloat, row.top, left);
    if constexpr (!two_columns && !two_rows) return single_texel(t0);
    const auto spread = hn::IndicesFromVec(kFloat, lanes);
    const FloatVector zero = hn::Zero(kFloat);
    const FloatVector w0 = hn::TableLookupLanes(weights.of[0], spread);
    FloatVector t1 = zero, t2 = zero, t3 = zero, w1 = zero, w2 = zero, w3 = zero;
    NearSum near{hn::Zero(kWord), hn::Set(kWord, ~0u), hn::Zero(kInt), zero, zero};
    near.add(t0, w0);
    if constexpr (two_columns) {
        t1 = load_pixels(kFloat, row.top, right);
        w1 = hn::TableLookupLanes(weights.of[1], spread);
        near.add(t1, w1);
    }
    if constexpr (two_rows) {
        t2 = load_pixels(kFloat, row.bottom, left);
        w2 = hn::TableLookupLanes(weights.of[2], spread);
        near.add(t2, w2);
    }
    if constexpr (two_columns && two_rows) {
        t3 = load_pixels(kFloat, row.bottom, right);
        w3 = hn::TableLookupLanes(weights.of[3], spread);
        near.add(t3, w3);
    }
    FloatVector sum;
    return HWY_LIKELY(near.finish(sum)) ? sum : sum_any(t0, t1, t2, t3, w0, w1, w2, w3);
}

// `two_columns` and `two_rows`: the second one has a share.
template <bool two_columns, bool two_rows>
void fetch_lattice_row(const LatticeRow& row, const PreparedPlaces& columns, std::size_t pixels, float* texels) {
    constexpr std::size_t kPixels = hn::MaxLanes(kFloat) / 4;  // of a vector
    HWY_ALIGN static constexpr std::int32_t kSpread[16] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
    const IntVector share_y = whole(row.share);
    for (std::size_t i = 0; i < pixels; i += hn::Lanes(kInt)) {
        const FloatWeights weights = weights_of_shares(hn::LoadU(kInt, columns.share + i), share_y);
        for (std::size_t part = 0; part < 4; ++part) {
            const std::size_t first = i + part * kPixels;
            if (row.soon[0] != nullptr) {
                for (std::size_t k = 0; k < kPixels; ++k) {
                    hwy::Prefetch(row.soon[0] + std::ptrdiff_t{4} * columns.first[first + k]);
                    hwy::Prefetch(row.soon[1] + std::ptrdiff_t{4} * columns.first[first + k]);
                }
            }
            const IntVector lanes = hn::Add(hn::Load(kInt, kSpread), whole(static_cast<std::int32_t>(part * kPixels)));
            hn::StoreU(
                fetch_pixels<two_columns, two_rows>(row, columns.first + first, columns.second + first, weights, lanes),
                kFloat, texels + 4 * first);
        }
    }
}

// --- places ----------------------------------------------------------------------------------------------------------

void find_places(const AxisPlan& axis, const float* places, std::size_t count, const PreparedPlaces& prepared) {
    for (std::size_t i = 0; i < count; i += hn::Lanes(kInt)) {
        const IntVector place = linear_place(axis, places + i);
        const IntVector texel = hn::ShiftRight<8>(place);
        hn::StoreU(address(axis, texel), kInt, prepared.first + i);
        hn::StoreU(address(axis, hn::Add(texel, whole(1))), kInt, prepared.second + i);
        hn::StoreU(hn::And(place, whole(255)), kInt, prepared.share + i);
    }
}

constexpr LatticeKernels kLattice{find_places,
                                  {{fetch_lattice_row<false, false>, fetch_lattice_row<false, true>},
                                   {fetch_lattice_row<true, false>, fetch_lattice_row<true, true>}}};

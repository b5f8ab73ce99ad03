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

constexpr std::int32_t kLeastAlike = 40 * kExponentOne;               // exponent for which all factors are float32
constexpr std::int32_t kEndOfAlike = 247 * kExponentOne;              // from which on 256 times a texel is infinite
constexpr std::int32_t kHalfOfLastBit = (23 + 3 + 1) * kExponentOne;  // of texels within three exponents

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
        const IntVector bits_of_largest = hn::BitCast(kInt, hn::ShiftRight<1>(largest));
        const IntVector exponent = hn::And(hn::Max(bits_of_largest, whole(kLeastAlike)), whole(kInfinity));
        const FloatVector half = as_floats(hn::Sub(exponent, whole(kHalfOfLastBit)));
        const FloatVector beyond_half = hn::Add(lower_sum, hn::CopySign(half, upper_sum));
        sum = hn::Mul(hn::Add(upper_sum, beyond_half), number(0x1p-8f));
        const IntVector magnitude = magnitude_of(sum);
        // Leaves the sum 25 bits, and is more than texels have that are too small.
        const IntVector safe = hn::Max(hn::Sub(exponent, whole(10 * kExponentOne)), whole(kLeastAlike));
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

// Pixels that are summed up before it is known whether their texels are alike, which most are: in each lane all positive
// and within three exponents of each other, or all 0. Then no sum is in doubt, and none has to be looked at by itself.
struct AlikeTexels {
    IntVector largest;  // bits
    IntVector smallest;

    template <bool two_columns, bool two_rows>
    HWY_INLINE FloatVector sum(FloatVector t0, FloatVector t1, FloatVector t2, FloatVector t3, FloatVector w0,
                               FloatVector w1, FloatVector w2, FloatVector w3) {
        IntVector most = bits(t0);
        IntVector least = most;
        FloatVector upper = as_floats(hn::And(bits(t0), whole(~0xfff)));
        FloatVector upper_sum = hn::Mul(upper, w0);
        FloatVector lower_sum = hn::Mul(hn::Sub(t0, upper), w0);
        const auto add = [&](FloatVector texel, FloatVector weight) HWY_ATTR {
            most = hn::Max(most, bits(texel));
            least = hn::Min(least, bits(texel));
            upper = as_floats(hn::And(bits(texel), whole(~0xfff)));
            upper_sum = hn::MulAdd(upper, weight, upper_sum);
            lower_sum = hn::MulAdd(hn::Sub(texel, upper), weight, lower_sum);
        };
        if constexpr (two_columns) add(t1, w1);
        if constexpr (two_rows) add(t2, w2);
        if constexpr (two_columns && two_rows) add(t3, w3);
        largest = hn::Max(largest, most);
        smallest = hn::Min(smallest, least);
        const IntVector exponent = hn::And(most, whole(kInfinity));
        const FloatVector half = as_floats(hn::Sub(exponent, whole(kHalfOfLastBit)));
        return hn::Mul(hn::Add(upper_sum, hn::Add(lower_sum, half)), number(0x1p-8f));
    }

    // Mends the sums of zeros; false if some texels are not alike.
    HWY_INLINE bool settle(float* sums, std::size_t vectors) const {
        const auto near = hn::Lt(hn::Sub(largest, smallest), whole(3 * kExponentOne + 1));
        const auto safe = hn::And(hn::Gt(smallest, whole(kLeastAlike - 1)), hn::Lt(largest, whole(kEndOfAlike)));
        const auto alike = hn::And(near, safe);
        if (HWY_LIKELY(hn::AllTrue(kInt, alike))) return true;
        const auto zeros = hn::Eq(hn::Or(largest, smallest), hn::Zero(kInt));
        if (!hn::AllTrue(kInt, hn::Or(alike, zeros))) return false;
        for (std::size_t i = 0; i < vectors; ++i, sums += hn::Lanes(kFloat))
            hn::StoreU(as_floats(hn::IfThenZeroElse(zeros, bits(hn::LoadU(kFloat, sums)))), kFloat, sums);
        return true;
    }
};

constexpr std::size_t kParts = 4;                               // vectors of as many pixels as one has lanes
constexpr std::size_t kPixels = hn::MaxLanes(kFloat) / kParts;  // of a vector
constexpr std::size_t kGroup = kParts * kPixels;

// Lanes of two vectors.
HWY_INLINE FloatVector look_up_in_two(FloatVector low, FloatVector high, IntVector lanes) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
    return FloatVector{_mm512_permutex2var_ps(low.raw, lanes.raw, high.raw)};
#else
    const IntVector last = whole(static_cast<std::int32_t>(hn::Lanes(kInt)) - 1);
    const auto lane = hn::IndicesFromVec(kFloat, hn::And(lanes, last));
    const auto is_high = hn::RebindMask(kFloat, hn::Gt(lanes, last));
    return hn::IfThenElse(is_high, hn::TableLookupLanes(high, lane), hn::TableLookupLanes(low, lane));
#endif
}

template <Columns kind>
struct OfKind {
    static constexpr Columns value = kind;
};

template <class Call>
HWY_INLINE void with_kind(Columns kind, const Call& call) {
    switch (kind) {
        case Columns::any: return call(OfKind<Columns::any>{});
        case Columns::run: return call(OfKind<Columns::run>{});
        case Columns::one: return call(OfKind<Columns::one>{});
        case Columns::two: return call(OfKind<Columns::two>{});
    }
}

// Of a vector of pixels the texels, or those after them.
template <Columns kind>
HWY_INLINE FloatVector load_columns(const float* row, const PreparedColumns& columns, std::size_t pixel,
                                    std::ptrdiff_t after) {
    const float* window = row + 4 * (columns.window[pixel] + after);
    if constexpr (kind == Columns::run) return hn::LoadU(kFloat, window);
    const IntVector lanes = hn::LoadU(kInt, columns.lanes + 4 * pixel);
    const FloatVector low = hn::LoadU(kFloat, window);
    if constexpr (kind == Columns::one) return hn::TableLookupLanes(low, hn::IndicesFromVec(kFloat, lanes));
    return look_up_in_two(low, hn::LoadU(kFloat, window + hn::Lanes(kFloat)), lanes);
}

template <Columns kind>
HWY_INLINE FloatVector load_first(const float* row, const PreparedColumns& columns, std::size_t pixel) {
    if constexpr (kind == Columns::any) return load_pixels(kFloat, row, columns.texels + pixel);
    return load_columns<kind>(row, columns, pixel, 0);
}

template <Columns kind>
HWY_INLINE FloatVector load_second(const float* row, const PreparedPlaces& places, std::size_t pixel) {
    if constexpr (kind == Columns::any) return load_pixels(kFloat, row, places.second + pixel);
    return load_columns<kind>(row, places.first, pixel, 1);
}

// The lanes of the pixels' weights that the vector takes.
HWY_INLINE IntVector lanes_of_part(std::size_t part) {
    HWY_ALIGN static constexpr std::int32_t kSpread[16] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
    return hn::Add(hn::Load(kInt, kSpread), whole(static_cast<std::int32_t>(part * kPixels)));
}

template <bool two_columns, bool two_rows, Columns kind>
HWY_INLINE bool fetch_alike(const LatticeRow& row, const PreparedPlaces& places, std::size_t pixel,
                            const FloatWeights& weights, float* texels) {
    AlikeTexels alike{hn::Zero(kInt), whole(kMagnitude)};
    for (std::size_t part = 0; part < kParts; ++part) {
        const auto spread = hn::IndicesFromVec(kFloat, lanes_of_part(part));
        const auto weight = [&](int k) HWY_ATTR {
            return two_columns ? hn::TableLookupLanes(weights.of[k], spread) : weights.of[k];  // else all are alike
        };
        const std::size_t at = pixel + part * kPixels;
        const FloatVector zero = hn::Zero(kFloat);
        FloatVector t1 = zero, t2 = zero, t3 = zero, w1 = zero, w2 = zero, w3 = zero;
        const FloatVector t0 = load_first<kind>(row.top, places.first, at);
        if constexpr (two_columns) t1 = load_second<kind>(row.top, places, at), w1 = weight(1);
        if constexpr (two_rows) t2 = load_first<kind>(row.bottom, places.first, at), w2 = weight(2);
        if constexpr (two_columns && two_rows) t3 = load_second<kind>(row.bottom, places, at), w3 = weight(3);
        hn::StoreU(alike.sum<two_columns, two_rows>(t0, t1, t2, t3, weight(0), w1, w2, w3), kFloat,
                   texels + 4 * part * kPixels);
    }
    return alike.settle(texels, kParts);
}

template <Columns kind>
HWY_INLINE void decode_group(const float* row, const PreparedColumns& columns, std::size_t pixel, float* texels) {
    for (std::size_t part = 0; part < kParts; ++part) {
        const FloatVector texel = load_first<kind>(row, columns, pixel + part * kPixels);
        hn::StoreU(single_texel(texel), kFloat, texels + 4 * part * kPixels);
    }
}

// Any texels.
template <bool two_columns, bool two_rows>
HWY_INLINE void fetch_group(const LatticeRow& row, const PreparedPlaces& places, std::size_t pixel,
                            const FloatWeights& weights, float* texels) {
    for (std::size_t part = 0; part < kParts; ++part) {
        const std::size_t at = pixel + part * kPixels;
        hn::StoreU(fetch_pixels<two_columns, two_rows>(row, places.first.texels + at, places.second + at, weights,
                                                       lanes_of_part(part)),
                   kFloat, texels + 4 * part * kPixels);
    }
}

// A line of the cache holds four texels.
HWY_INLINE void prefetch_pixels(const LatticeRow& row, const std::int32_t* columns) {
    if (row.soon[0] == nullptr) return;
    const auto [first, last] = std::minmax(columns[0], columns[kGroup - 1]);
    for (std::ptrdiff_t at = 4 * std::ptrdiff_t{first}; at <= 4 * std::ptrdiff_t{last}; at += 16) {
        hwy::Prefetch(row.soon[0] + at);
        hwy::Prefetch(row.soon[1] + at);
    }
}

// Whole vectors of texels, which begin with one.
HWY_INLINE void stream_texels(const float* from, float* to) {
    const std::size_t lanes = hn::Lanes(kFloat);
    for (std::size_t i = 0; i < kParts; ++i) hn::Stream(hn::Load(kFloat, from + i * lanes), kFloat, to + i * lanes);
}

// `two_columns` and `two_rows`: the second one has a share.
template <bool two_columns, bool two_rows>
void fetch_lattice_row(const LatticeRow& row, const PreparedPlaces& places, std::size_t pixels, float* texels) {
    const IntVector share_y = whole(row.share);
    FloatWeights weights = weights_of_shares(hn::Zero(kInt), share_y);
    const bool streams = row.past_caches && reinterpret_cast<std::uintptr_t>(texels) % sizeof(FloatVector) == 0;
    HWY_ALIGN float kept[4 * kGroup];
    for (std::size_t i = 0; i < pixels; i += kGroup, texels += 4 * kGroup) {
        if constexpr (two_columns) weights = weights_of_shares(hn::LoadU(kInt, places.share + i), share_y);
        float* const to = streams ? kept : texels;
        prefetch_pixels(row, places.first.texels + i);
        with_kind(places.first.kinds[i], [&](auto kind) HWY_ATTR {
            if constexpr (!two_columns && !two_rows) {
                decode_group<kind.value>(row.top, places.first, i, to);
            } else if (HWY_UNLIKELY((!fetch_alike<two_columns, two_rows, kind.value>(row, places, i, weights, to)))) {
                fetch_group<two_columns, two_rows>(row, places, i, weights, to);
            }
        });
        if (streams) stream_texels(kept, texels);
    }
    if (streams) hwy::FlushStream();
}

void take_texels(const float* row, const PreparedColumns& columns, std::size_t pixels, float* texels) {
    for (std::size_t i = 0; i < pixels; i += kGroup) {
        with_kind(columns.kinds[i], [&](auto kind) HWY_ATTR {
            for (std::size_t at = i; at < i + kGroup; at += kPixels)
                hn::StoreU(load_first<kind.value>(row, columns, at), kFloat, texels + 4 * at);
        });
    }
}

// --- places ----------------------------------------------------------------------------------------------------------

void find_places(const AxisPlan& axis, const float* places, std::size_t count, const PlacesToFind& found) {
    for (std::size_t i = 0; i < count; i += hn::Lanes(kInt)) {
        const IntVector place = linear_place(axis, places + i);
        const IntVector texel = hn::ShiftRight<8>(place);
        hn::StoreU(address(axis, texel), kInt, found.first + i);
        hn::StoreU(address(axis, hn::Add(texel, whole(1))), kInt, found.second + i);
        hn::StoreU(hn::And(place, whole(255)), kInt, found.share + i);
    }
}

// The first texel of so many that have all those of a vector of pixels among them, and lie in the row, with one more;
// negative: there is none.
std::int32_t find_window(const std::int32_t* texels, std::int32_t width, std::int32_t window) {
    const auto [least, most] = std::minmax_element(texels, texels + kPixels);
    const std::int32_t first = std::min(*least, width - window - 1);
    return *most - first < window ? first : -1;
}

bool is_run(const std::int32_t* texels) {
    return std::adjacent_find(texels, texels + kGroup, [](auto texel, auto next) { return next != texel + 1; }) ==
           texels + kGroup;
}

// `second`: the texels that are read besides, which beyond an edge are not those after the first ones; null: none.
Columns find_group(const std::int32_t* texels, const std::int32_t* second, std::int32_t width, std::int32_t* window) {
    constexpr auto kVector = static_cast<std::int32_t>(kPixels);
    const auto is_next = [](std::int32_t texel, std::int32_t next) { return next == texel + 1; };
    const bool pairs = second == nullptr || std::equal(texels, texels + kGroup, second, is_next);
    if (kPixels == 1 || !pairs) return Columns::any;
    if (is_run(texels)) {
        for (std::size_t i = 0; i < kGroup; ++i) window[i] = texels[i];
        return Columns::run;
    }
    for (const Columns kind : {Columns::one, Columns::two}) {
        bool found = true;
        for (std::size_t i = 0; i < kGroup && found; i += kPixels) {
            window[i] = find_window(texels + i, width, kind == Columns::one ? kVector : 2 * kVector);
            found = window[i] >= 0;
        }
        if (found) return kind;
    }
    return Columns::any;
}

void find_windows(const std::int32_t* texels, const std::int32_t* second, std::size_t count, std::int32_t width,
                  Columns* kinds, std::int32_t* window, std::int32_t* lanes) {
    for (std::size_t i = 0; i < count; i += kGroup) {
        kinds[i] = find_group(texels + i, second == nullptr ? nullptr : second + i, width, window + i);
        for (std::size_t k = i; k < i + kGroup; ++k) {
            const std::int32_t offset = texels[k] - window[k / kPixels * kPixels];
            for (std::int32_t c = 0; c < 4; ++c) lanes[4 * k + static_cast<std::size_t>(c)] = 4 * offset + c;
        }
    }
}

constexpr LatticeKernels kLattice{find_places,
                                  find_windows,
                                  {{fetch_lattice_row<false, false>, fetch_lattice_row<false, true>},
                                   {fetch_lattice_row<true, false>, fetch_lattice_row<true, true>}},
                                  take_texels};

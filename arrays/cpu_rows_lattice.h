// cpu_rows_lattice.h: rows of fetches at prepared places, of texels of four floats.
//
// Included by cpu_rows_simd.cpp once for each instruction set, in its namespace: there is no guard, and nothing else
// includes it.

// --- sums ------------------------------------------------------------------------------------------------------------

// Vectors are named one by one here: arrays of them would be put into memory for what is hardly ever called.

// As cpu_rows_floating.h has it, of any texels t and weights w.
HWY_NOINLINE FloatVector sum_any(FloatVector t0, FloatVector t1, FloatVector t2, FloatVector t3, FloatVector w0,
                                 FloatVector w1, FloatVector w2, FloatVector w3) {
    const auto in_256th = [](FloatVector weight) HWY_ATTR { return hn::ConvertTo(kInt, hn::Mul(weight, number(256))); };
    return Float32<4>::sum({{t0, t1, t2, t3}}, {{in_256th(w0), in_256th(w1), in_256th(w2), in_256th(w3)}});
}

constexpr std::int32_t kLeastAlike = 40 * kExponentOne;   // exponent for which all factors are float32
constexpr std::int32_t kEndOfAlike = 254 * kExponentOne;  // from which on a sum may be infinite
constexpr std::int32_t kHalfOfLastBit =
    (23 + 3 + 8 + 1) * kExponentOne;  // of products of texels within three exponents

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
        sum = hn::Add(upper_sum, beyond_half);
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

// The texels' weights, of all 1, in the order of Weights.
struct FloatWeights {
    FloatVector of[4];
};

// footprint_weights() of columns with the shares x in a row with the share y, in 256th.
HWY_INLINE FloatWeights weights_of_shares(IntVector x, IntVector y) {
    const IntVector right_bottom = hn::ShiftRight<8>(hn::Add(hn::Mul(x, y), whole(128)));
    const IntVector left_bottom = hn::Sub(y, right_bottom);
    const IntVector left_top = hn::Sub(hn::Sub(whole(256), x), left_bottom);
    const auto weight = [](IntVector in_256th)
                            HWY_ATTR { return hn::Mul(hn::ConvertTo(kFloat, in_256th), number(0x1p-8f)); };
    return {{weight(left_top), weight(hn::Sub(x, right_bottom)), weight(left_bottom), weight(right_bottom)}};
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
        return hn::Add(upper_sum, hn::Add(lower_sum, half));
    }

    // Mends the sums of zeros; false if some texels are not alike.
    HWY_INLINE bool settle(FloatVector (&sums)[4]) const {
        const auto near = hn::Lt(hn::Sub(largest, smallest), whole(3 * kExponentOne + 1));
        const auto safe = hn::And(hn::Gt(smallest, whole(kLeastAlike - 1)), hn::Lt(largest, whole(kEndOfAlike)));
        const auto alike = hn::And(near, safe);
        if (HWY_LIKELY(hn::AllTrue(kInt, alike))) return true;
        const auto zeros = hn::Eq(hn::Or(largest, smallest), hn::Zero(kInt));
        if (!hn::AllTrue(kInt, hn::Or(alike, zeros))) return false;
        for (FloatVector& sum : sums) sum = as_floats(hn::IfThenZeroElse(zeros, bits(sum)));
        return true;
    }
};

template <bool two_columns, bool two_rows, Columns kind>
HWY_INLINE bool fetch_alike(const LatticeRow& row, const PreparedPlaces& places, std::size_t pixel,
                            const FloatWeights& weights, FloatVector (&texels)[kParts]) {
    AlikeTexels alike{hn::Zero(kInt), whole(kMagnitude)};
    for_parts([&](auto part) HWY_ATTR {
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
        texels[part] = alike.sum<two_columns, two_rows>(t0, t1, t2, t3, weight(0), w1, w2, w3);
    });
    return alike.settle(texels);
}

// A group of pixels; false if their texels are not alike where some are weighed.
template <bool two_columns, bool two_rows>
HWY_INLINE bool fetch_group(const LatticeRow& row, const PreparedPlaces& places, std::size_t pixel,
                            const FloatWeights& weights, FloatVector (&texels)[kParts]) {
    return with_kind(places.first.kinds[pixel], [&](auto kind) HWY_ATTR {
        if constexpr (two_columns || two_rows) {
            return fetch_alike<two_columns, two_rows, kind.value>(row, places, pixel, weights, texels);
        } else {
            for_parts([&](auto part) HWY_ATTR {
                texels[part] = single_texel(load_first<kind.value>(row.top, places.first, pixel + part * kPixels));
            });
            return true;
        }
    });
}

// Any texels. By itself, since its vectors would drive those of alike ones out of registers.
template <bool two_columns, bool two_rows>
HWY_NOINLINE void fetch_any_group(const LatticeRow& row, const PreparedPlaces& places, std::size_t pixel,
                                  float* texels) {
    IntVector share_x = hn::Zero(kInt);
    if constexpr (two_columns) share_x = hn::LoadU(kInt, places.share + pixel);
    const FloatWeights weights = weights_of_shares(share_x, whole(row.share));
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
    for (const float* soon : row.soon) {
        for (std::ptrdiff_t at = 4 * std::ptrdiff_t{first}; soon != nullptr && at <= 4 * std::ptrdiff_t{last}; at += 16)
            hwy::Prefetch(soon + at);
    }
}

// `two_columns` and `two_rows`: the second one has a share.
template <bool two_columns, bool two_rows>
HWY_FLATTEN void fetch_lattice_row(const LatticeRow& row, const PreparedPlaces& places, std::size_t pixels,
                                   float* texels) {
    const IntVector share_y = whole(row.share);
    FloatWeights weights = weights_of_shares(hn::Zero(kInt), share_y);
    const bool streams = row.past_caches && reinterpret_cast<std::uintptr_t>(texels) % sizeof(FloatVector) == 0;
    for (std::size_t i = 0; i < pixels; i += kGroup, texels += 4 * kGroup) {
        if constexpr (two_columns) weights = weights_of_shares(hn::LoadU(kInt, places.share + i), share_y);
        prefetch_pixels(row, places.first.texels + i);
        FloatVector fetched[kParts];
        if (HWY_UNLIKELY((!fetch_group<two_columns, two_rows>(row, places, i, weights, fetched)))) {
            fetch_any_group<two_columns, two_rows>(row, places, i, texels);
        } else if (streams) {
            for_parts([&](auto part) HWY_ATTR { hn::Stream(fetched[part], kFloat, texels + 4 * part * kPixels); });
        } else {
            for_parts([&](auto part) HWY_ATTR { hn::StoreU(fetched[part], kFloat, texels + 4 * part * kPixels); });
        }
    }
    if (streams) hwy::FlushStream();
}

// --- sums of taps ----------------------------------------------------------------------------------------------------

template <bool two_rows>
HWY_NOINLINE void sum_any_group(const LatticeRow& row, const LatticeTaps& taps, std::size_t pixel, float* sums) {
    HWY_ALIGN float texels[4 * kGroup];
    std::fill_n(sums, 4 * kGroup, 0.0f);
    for (const LatticeTap& tap : taps.taps) {
        if (two_rows && tap.taken.texels != nullptr) {
            for (std::size_t part = 0; part < kParts; ++part)
                hn::Store(load_pixels(kFloat, taps.fetched, tap.taken.texels + pixel + part * kPixels), kFloat,
                          texels + 4 * part * kPixels);
        } else if (tap.two_columns) {
            fetch_any_group<true, two_rows>(row, tap.places, pixel, texels);
        } else {
            fetch_any_group<false, two_rows>(row, tap.places, pixel, texels);
        }
        for (std::size_t k = 0; k < 4 * kGroup; ++k) sums[k] += texels[k] * tap.weights[pixel + k / 4];
    }
}

HWY_INLINE void take_group(const float* row, const PreparedColumns& columns, std::size_t pixel,
                           FloatVector (&texels)[kParts]) {
    with_kind(columns.kinds[pixel], [&](auto kind) HWY_ATTR {
        for_parts([&](auto part)
                      HWY_ATTR { texels[part] = load_first<kind.value>(row, columns, pixel + part * kPixels); });
        return true;
    });
}

// What is left of single_texel() where neither the sign of zeros nor the kind of NaN counts.
HWY_INLINE FloatVector without_denormals(FloatVector texel) {
    return as_floats(hn::IfThenZeroElse(hn::Lt(magnitude_of(texel), whole(kExponentOne)), bits(texel)));
}

// False if some texels are not alike.
template <bool two_rows>
HWY_INLINE bool sum_group(const LatticeRow& row, const LatticeTaps& taps, std::size_t pixel, float* sums) {
    const IntVector share_y = whole(row.share);
    FloatVector sum[kParts];
    for_parts([&](auto part) HWY_ATTR { sum[part] = hn::Zero(kFloat); });
    for (const LatticeTap& tap : taps.taps) {
        const PreparedPlaces& places = tap.places;
        const FloatVector weights = hn::LoadU(kFloat, tap.weights + pixel);
        FloatVector texels[kParts];
        bool alike = true;
        if (two_rows && tap.taken.texels != nullptr) {
            take_group(taps.fetched, tap.taken, pixel, texels);
        } else if (!two_rows && !tap.two_columns) {
            take_group(row.top, places.first, pixel, texels);
            for_parts([&](auto part) HWY_ATTR { texels[part] = without_denormals(texels[part]); });
        } else if (tap.two_columns) {
            const FloatWeights shares = weights_of_shares(hn::LoadU(kInt, places.share + pixel), share_y);
            alike = fetch_group<true, two_rows>(row, places, pixel, shares, texels);
        } else {
            const FloatWeights shares = weights_of_shares(hn::Zero(kInt), share_y);
            alike = fetch_group<false, two_rows>(row, places, pixel, shares, texels);
        }
        if (HWY_UNLIKELY(!alike)) return false;
        for_parts([&](auto part) HWY_ATTR {
            const auto spread = hn::IndicesFromVec(kFloat, lanes_of_part(part));
            sum[part] = hn::Add(sum[part], hn::Mul(texels[part], hn::TableLookupLanes(weights, spread)));
        });
    }
    for_parts([&](auto part) HWY_ATTR { hn::StoreU(sum[part], kFloat, sums + 4 * part * kPixels); });
    return true;
}

template <bool two_rows>
HWY_FLATTEN void sum_lattice_row(const LatticeRow& row, const LatticeTaps& taps, std::size_t pixels, float* sums) {
    for (std::size_t i = 0; i < pixels; i += kGroup, sums += 4 * kGroup) {
        prefetch_pixels(row, taps.taps[0].places.first.texels + i);
        if (HWY_UNLIKELY(!sum_group<two_rows>(row, taps, i, sums))) sum_any_group<two_rows>(row, taps, i, sums);
    }
}

constexpr LatticeKernels kLattice{find_places,
                                  find_windows,
                                  {{fetch_lattice_row<false, false>, fetch_lattice_row<false, true>},
                                   {fetch_lattice_row<true, false>, fetch_lattice_row<true, true>}},
                                  {sum_lattice_row<false>, sum_lattice_row<true>}};

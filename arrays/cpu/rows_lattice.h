// rows_lattice.h: rows of fetches at prepared positions, for texels of four floats.
//
// Included by rows_simd.cpp once for each instruction set, inside its namespace. So there is no include guard, and no
// other file may include it.

// --- single texels ---------------------------------------------------------------------------------------------------

// Returns the result for a texel that is not blended. Denormals become zeros with the same sign, and all NaNs become
// the same NaN.
HWY_INLINE FloatVector single_texel(FloatVector texel) {
    const IntVector magnitude = magnitude_of(texel);
    const auto denormal = hn::Lt(magnitude, whole(kExponentOne));
    const auto no_number = hn::Gt(magnitude, whole(kInfinity));
    const IntVector number = hn::IfThenElse(denormal, hn::And(bits(texel), whole(kSign)), bits(texel));
    return as_floats(hn::IfThenElse(no_number, whole(kNanWord), number));
}

// --- rows ------------------------------------------------------------------------------------------------------------

template <bool two_columns, bool two_rows, Columns kind>
HWY_INLINE bool fetch_alike(const LatticeRow& row, const PreparedPositions& positions, std::size_t pixel,
                            const FloatWeights& weights, FloatVector (&texels)[kParts]) {
    AlikeTexels alike;
    AlikeTexels::Sum sums[kParts];
    for_parts([&](auto part) HWY_ATTR {
        const auto weight = [&](int k) HWY_ATTR { return spread<part>(weights.of[k]); };
        const std::size_t at = pixel + part * kPixels;
        AlikeTexels::Sum& sum = sums[part];
        sum = alike.first(load_first<kind>(row.top, positions.first, at), weight(0));
        if constexpr (two_columns) alike.add(load_second<kind>(row.top, positions, at), weight(1), sum);
        if constexpr (two_rows) alike.add(load_first<kind>(row.bottom, positions.first, at), weight(2), sum);
        if constexpr (two_columns && two_rows) alike.add(load_second<kind>(row.bottom, positions, at), weight(3), sum);
    });
    return alike.round(sums, texels);
}

// Fetches a group of pixels. Returns false if blended texels are not alike (see AlikeTexels).
template <bool two_columns, bool two_rows>
HWY_INLINE bool fetch_group(const LatticeRow& row, const PreparedPositions& positions, std::size_t pixel,
                            const FloatWeights& weights, FloatVector (&texels)[kParts]) {
    return with_kind(positions.first.kinds[pixel], [&](auto kind) HWY_ATTR {
        if constexpr (two_columns || two_rows) {
            return fetch_alike<two_columns, two_rows, kind.value>(row, positions, pixel, weights, texels);
        } else {
            for_parts([&](auto part) HWY_ATTR {
                texels[part] = single_texel(load_first<kind.value>(row.top, positions.first, pixel + part * kPixels));
            });
            return true;
        }
    });
}

// Fetches a group of pixels of any texels. Not inlined, since its vectors would displace those of alike texels from
// registers.
template <bool two_columns, bool two_rows, Columns kind>
HWY_NOINLINE void fetch_any_of_kind(const LatticeRow& row, const PreparedPositions& positions, std::size_t pixel,
                                    float* texels, bool streams) {
    IntVector share_x = hn::Zero(kInt);
    if constexpr (two_columns) share_x = hn::LoadU(kInt, positions.share + pixel);
    const WeightPairs of_group = pairs_of(footprint_weights(share_x, whole(row.share)));
    for (std::size_t part = 0; part < kParts; ++part) {
        const auto spread = hn::IndicesFromVec(kInt, lanes_of_part(part));
        const WeightPairs weights{hn::TableLookupLanes(of_group.top, spread),
                                  hn::TableLookupLanes(of_group.bottom, spread)};
        const std::size_t at = pixel + part * kPixels;
        const FloatVector none = hn::Zero(kFloat);
        Texels four{{load_first<kind>(row.top, positions.first, at), none, none, none}};
        if constexpr (two_columns) four.of[1] = load_second<kind>(row.top, positions, at);
        if constexpr (two_rows) four.of[2] = load_first<kind>(row.bottom, positions.first, at);
        if constexpr (two_columns && two_rows) four.of[3] = load_second<kind>(row.bottom, positions, at);
        const FloatVector sum = Float32<4>::sum<false>(four, weights);
        if (streams) {
            store_vector_to<true>(sum, kFloat, texels + 4 * part * kPixels);
        } else {
            store_vector_to<false>(sum, kFloat, texels + 4 * part * kPixels);
        }
    }
}

template <bool two_columns, bool two_rows>
HWY_INLINE void fetch_any_group(const LatticeRow& row, const PreparedPositions& positions, std::size_t pixel,
                                float* texels, bool streams) {
    with_kind(positions.first.kinds[pixel], [&](auto kind) HWY_ATTR {
        fetch_any_of_kind<two_columns, two_rows, kind.value>(row, positions, pixel, texels, streams);
        return true;
    });
}

// Prefetches the columns of a group in the rows `row.soon`. A cache line holds four texels.
HWY_INLINE void prefetch_pixels(const LatticeRow& row, const std::int32_t* columns) {
    if (row.soon[0] == nullptr) return;
    const auto [first, last] = std::minmax(columns[0], columns[kGroup - 1]);
    for (const float* soon : row.soon) {
        for (std::ptrdiff_t at = 4 * std::ptrdiff_t{first}; soon != nullptr && at <= 4 * std::ptrdiff_t{last}; at += 16)
            hwy::Prefetch(soon + at);
    }
}

// `two_columns` and `two_rows`: the second column or row has a share, so it is read.
template <bool two_columns, bool two_rows>
HWY_FLATTEN void fetch_lattice_row(const LatticeRow& row, const PreparedPositions& positions, std::size_t pixels,
                                   float* texels) {
    const float share_y = static_cast<float>(row.share) * 0x1p-8f;
    FloatWeights weights = weights_of_parts(hn::Zero(kFloat), share_y);
    const bool streams = row.past_caches && begins_vector(kFloat, texels);
    Attempts attempts;
    for (std::size_t i = 0; i < pixels; i += kGroup, texels += 4 * kGroup) {
        if constexpr (two_columns)
            weights = weights_of_parts(part_of_one(by_parts(hn::LoadU(kInt, positions.share + i))), share_y);
        prefetch_pixels(row, positions.first.texels + i);
        FloatVector fetched[kParts];
        if (HWY_UNLIKELY(!attempts.is_due())) {
            fetch_any_group<two_columns, two_rows>(row, positions, i, texels, streams);
        } else if (HWY_UNLIKELY((!fetch_group<two_columns, two_rows>(row, positions, i, weights, fetched)))) {
            attempts.fail();
            fetch_any_group<two_columns, two_rows>(row, positions, i, texels, streams);
        } else if (streams) {
            for_parts([&](auto part)
                          HWY_ATTR { store_vector_to<true>(fetched[part], kFloat, texels + 4 * part * kPixels); });
        } else {
            for_parts([&](auto part)
                          HWY_ATTR { store_vector_to<false>(fetched[part], kFloat, texels + 4 * part * kPixels); });
        }
    }
}

constexpr LatticeKernels kLattice{find_positions,
                                  find_windows,
                                  {{fetch_lattice_row<false, false>, fetch_lattice_row<false, true>},
                                   {fetch_lattice_row<true, false>, fetch_lattice_row<true, true>}}};

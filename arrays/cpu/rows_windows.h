// rows_windows.h: finds once which texels of a row the pixels read, and loads them for one row after the other.
//
// Included by rows_simd.cpp once for each instruction set, inside its namespace. So there is no include guard, and no
// other file may include it.

constexpr std::size_t kParts = 4;                               // vectors in a group of pixels
constexpr std::size_t kPixels = hn::MaxLanes(kFloat) / kParts;  // pixels in a vector
constexpr std::size_t kGroup = kParts * kPixels;

template <std::size_t part>
using Part = std::integral_constant<std::size_t, part>;

// Calls `make` for each part. A loop would move the arrays that it indexes from registers to memory.
template <class Make>
HWY_INLINE void for_parts(const Make& make) {
    make(Part<0>());
    make(Part<1>());
    make(Part<2>());
    make(Part<3>());
}

// Returns the index of the pixel in the group for each lane of a part.
HWY_INLINE IntVector lanes_of_part(std::size_t part) {
    HWY_ALIGN static constexpr std::int32_t kSpread[16] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
    return hn::Add(hn::Load(kInt, kSpread), whole(static_cast<std::int32_t>(part * kPixels)));
}

// Reorders one number for each pixel of a group. In the result, lane `part` of each block of four lanes belongs to a
// pixel of that part.
template <class V>
HWY_INLINE V by_parts(V numbers) {
    const IntVector each = hn::Iota(kInt, 0);
    const IntVector part = hn::And(each, whole(kParts - 1));
    const IntVector order = hn::Add(hn::Mul(part, whole(kPixels)), hn::ShiftRight<2>(each));
    return hn::TableLookupLanes(numbers, hn::IndicesFromVec(hn::DFromV<V>(), order));
}

// Returns the number of each pixel of a part in all lanes of the pixel. `numbers` are in the order of by_parts().
template <std::size_t part, class V>
HWY_INLINE V spread(V numbers) {
    return hn::Broadcast<part>(numbers);
}

// --- texels of a vector of pixels ------------------------------------------------------------------------------------

// Loads the texels of a vector of pixels, one by one.
template <class D>
HWY_INLINE hn::Vec<D> load_pixels(D d, const float* row, const std::int32_t* columns) {
    if constexpr (hn::MaxLanes(D()) == 4) {
        return hn::LoadU(d, row + std::ptrdiff_t{4} * columns[0]);
    } else {
        const hn::Half<D> half;
        constexpr std::size_t kOfHalf = hn::MaxLanes(D()) / 8;
        return hn::Combine(d, load_pixels(half, row, columns + kOfHalf), load_pixels(half, row, columns));
    }
}

// Looks up lanes in two vectors.
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
HWY_INLINE bool with_kind(Columns kind, const Call& call) {
    switch (kind) {
        case Columns::any: return call(OfKind<Columns::any>{});
        case Columns::pairs: return call(OfKind<Columns::pairs>{});
        case Columns::run: return call(OfKind<Columns::run>{});
        case Columns::even: return call(OfKind<Columns::even>{});
        case Columns::one: return call(OfKind<Columns::one>{});
        case Columns::two: return call(OfKind<Columns::two>{});
    }
    return false;
}

// Returns every second texel of two vectors, from the first one on or, with `after`, from the second one on.
HWY_INLINE FloatVector every_second(FloatVector low, FloatVector high, bool after) {
    if constexpr (kPixels == 2)
        return after ? hn::ConcatUpperUpper(kFloat, high, low) : hn::ConcatLowerLower(kFloat, high, low);
    HWY_ALIGN static constexpr std::int32_t kLanes[16] = {0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27};
    return look_up_in_two(low, high, hn::Add(hn::Load(kInt, kLanes), whole(after ? 4 : 0)));
}

// Loads the texels of a vector of pixels or, if `after` is 1, the texels after them.
template <Columns kind>
HWY_INLINE FloatVector load_columns(const float* row, const PreparedColumns& columns, std::size_t pixel,
                                    std::ptrdiff_t after) {
    const float* window = row + 4 * (columns.window[pixel] + (kind == Columns::even ? 0 : after));
    const FloatVector low = hn::LoadU(kFloat, window);
    if constexpr (kind == Columns::run) return low;
    const IntVector lanes = hn::LoadU(kInt, columns.lanes + 4 * pixel);
    if constexpr (kind == Columns::one) return hn::TableLookupLanes(low, hn::IndicesFromVec(kFloat, lanes));
    const FloatVector high = hn::LoadU(kFloat, window + hn::Lanes(kFloat));
    return kind == Columns::even ? every_second(low, high, after != 0) : look_up_in_two(low, high, lanes);
}

template <Columns kind>
HWY_INLINE FloatVector load_first(const float* row, const PreparedColumns& columns, std::size_t pixel) {
    if constexpr (kind == Columns::any || kind == Columns::pairs)
        return load_pixels(kFloat, row, columns.texels + pixel);
    return load_columns<kind>(row, columns, pixel, 0);
}

template <Columns kind>
HWY_INLINE FloatVector load_second(const float* row, const PreparedPositions& positions, std::size_t pixel) {
    if constexpr (kind == Columns::any) return load_pixels(kFloat, row, positions.second + pixel);
    if constexpr (kind == Columns::pairs) return load_pixels(kFloat, row + 4, positions.first.texels + pixel);
    return load_columns<kind>(row, positions.first, pixel, 1);
}

// --- preparation of columns ------------------------------------------------------------------------------------------

void find_positions(const AxisPlan& axis, const float* positions, std::size_t count, const PositionsToFind& found) {
    for (std::size_t i = 0; i < count; i += hn::Lanes(kInt)) {
        const IntVector position = linear_position(axis, positions + i);
        const IntVector texel = hn::ShiftRight<8>(position);
        hn::StoreU(address(axis, texel), kInt, found.first + i);
        hn::StoreU(address(axis, hn::Add(texel, whole(1))), kInt, found.second + i);
        hn::StoreU(hn::And(position, whole(255)), kInt, found.share + i);
    }
}

// Returns the first texel of a window of `window` texels that contains all texels of a vector of pixels. The window and
// one more texel are inside the row. Returns a negative number if there is no such window.
std::int32_t find_window(const std::int32_t* texels, std::int32_t width, std::int32_t window) {
    const auto [minimum, maximum] = std::minmax_element(texels, texels + kPixels);
    const std::int32_t first = std::min(*minimum, width - window - 1);
    return *maximum - first < window ? first : -1;
}

// Finds out how to load a group of texels. `second` contains the second texels that are also read, or is null. Beyond
// an edge, these do not follow the first texels.
Columns find_group(const std::int32_t* texels, const std::int32_t* second, std::int32_t width, std::int32_t* window) {
    constexpr auto kVector = static_cast<std::int32_t>(kPixels);
    const IntVector first = hn::LoadU(kInt, texels);
    const auto is_next = [&]() HWY_ATTR { return hn::Eq(hn::LoadU(kInt, second), hn::Add(first, whole(1))); };
    if (kPixels == 1 || (second != nullptr && !hn::AllTrue(kInt, is_next()))) return Columns::any;
    hn::StoreU(first, kInt, window);
    const IntVector each = hn::Iota(kInt, 0);
    if (hn::AllTrue(kInt, hn::Eq(first, hn::Add(whole(texels[0]), each)))) return Columns::run;
    const auto is_even = hn::Eq(first, hn::Add(whole(texels[0]), hn::Add(each, each)));
    if (hn::AllTrue(kInt, is_even) && texels[kGroup - 1] + 1 < width) return Columns::even;
    if (kPixels == 2) return Columns::pairs;  // two loads are faster than a lookup
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
    const IntVector channel = hn::And(hn::Iota(kInt, 0), whole(3));
    for (std::size_t i = 0; i < count; i += kGroup) {
        kinds[i] = find_group(texels + i, second == nullptr ? nullptr : second + i, width, window + i);
        for (std::size_t part = 0; part < kParts; ++part) {
            const std::size_t at = i + part * kPixels;
            const auto spread = hn::IndicesFromVec(kInt, lanes_of_part(part));
            const IntVector texel = hn::TableLookupLanes(hn::LoadU(kInt, texels + i), spread);
            const IntVector offset = hn::Sub(texel, whole(window[at]));
            hn::StoreU(hn::Add(hn::ShiftLeft<2>(offset), channel), kInt, lanes + 4 * at);
        }
    }
}

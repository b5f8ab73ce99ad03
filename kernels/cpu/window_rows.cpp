#include "kernels/cpu/window_rows.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <texton/channel_codes.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/window_rows.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace texton::detail {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#include "arrays/cpu/pixel_vectors.h"

// Same as filters::ByComparison. On x86, the minimum and maximum instructions return the second operand if either is
// NaN.
template <class V>
HWY_INLINE V lower(V first, V second) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
    return hn::Min(second, first);
#else
    return hn::IfThenElse(hn::Lt(second, first), second, first);
#endif
}
template <class V>
HWY_INLINE V higher(V first, V second) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
    return hn::Max(first, second);
#else
    return hn::IfThenElse(hn::Lt(second, first), first, second);
#endif
}

template <class V>
HWY_INLINE void put_in_order(V& low, V& high) {
    const V first = lower(low, high);
    high = higher(low, high);
    low = first;
}

// The functions below do the same as those in median_functors.h.

template <class V>
HWY_INLINE void sort(V (&of)[3]) {
    put_in_order(of[0], of[1]);
    put_in_order(of[1], of[2]);
    put_in_order(of[0], of[1]);
}

template <class V>
HWY_INLINE void sort(V (&of)[5]) {
    put_in_order(of[0], of[1]);
    put_in_order(of[3], of[4]);
    put_in_order(of[2], of[4]);
    put_in_order(of[2], of[3]);
    put_in_order(of[1], of[4]);
    put_in_order(of[0], of[3]);
    put_in_order(of[0], of[2]);
    put_in_order(of[1], of[3]);
    put_in_order(of[1], of[2]);
}

template <class V>
HWY_INLINE V middle_of(V a, V b, V c) {
    return higher(lower(a, b), lower(higher(a, b), c));
}

// Rows of columns, which are sorted once for all pixels that they are part of. A pixel starts with the column at `at`,
// and its columns are `step` values apart.
template <class T, std::size_t side, std::size_t room>
struct SortedColumns {
    static constexpr std::size_t kLine = 64 / sizeof(T);
    T of[side][(room + kLine - 1) / kLine * kLine];

    template <class D>
    HWY_INLINE hn::Vec<D> load(D d, int row, std::size_t at) const {
        return hn::LoadU(d, of[row] + at);
    }
};

template <class D>
struct RowOfFive {
    using V = hn::Vec<D>;
    V a, b, c, d, e;

    template <class Columns>
    HWY_INLINE RowOfFive(D tag, const Columns& columns, int row, std::size_t step, std::size_t at)
        : a(columns.load(tag, row, at)),
          b(columns.load(tag, row, at + step)),
          c(columns.load(tag, row, at + 3 * step)),
          d(columns.load(tag, row, at + 4 * step)),
          e(columns.load(tag, row, at + 2 * step)) {
        put_in_order(a, b);
        put_in_order(c, d);
    }

    HWY_INLINE void two_highest(V& low, V& high) const {
        const V first = higher(b, d);
        const V second = higher(lower(b, d), higher(a, c));
        high = higher(first, e);
        low = higher(second, lower(first, e));
    }
    HWY_INLINE void two_lowest(V& low, V& high) const {
        const V first = lower(a, c);
        const V second = lower(higher(a, c), lower(b, d));
        low = lower(first, e);
        high = lower(second, higher(first, e));
    }
    HWY_INLINE void three_highest(V (&of)[3]) const {
        V p = higher(a, c), q = lower(b, d);
        put_in_order(p, q);
        const V highest = higher(b, d);
        const V next = lower(highest, e);
        of[2] = higher(highest, e);
        of[1] = higher(q, next);
        of[0] = higher(p, lower(q, next));
    }
    HWY_INLINE void three_middle(V (&of)[3]) const {
        V p = higher(a, c), q = lower(b, d);
        put_in_order(p, q);
        const V next = lower(higher(lower(a, c), e), higher(b, d));
        const V rest = higher(p, next);
        of[0] = lower(p, next);
        of[1] = lower(q, rest);
        of[2] = higher(q, rest);
    }
    HWY_INLINE void three_lowest(V (&of)[3]) const {
        V p = higher(a, c), q = lower(b, d);
        put_in_order(p, q);
        const V lowest = lower(a, c);
        const V next = higher(lowest, e);
        of[0] = lower(lowest, e);
        of[1] = lower(p, next);
        of[2] = lower(q, higher(p, next));
    }
};

template <class D, class T, std::size_t room>
HWY_INLINE hn::Vec<D> median_of_columns(D d, const SortedColumns<T, 3, room>& columns, std::size_t step,
                                        std::size_t at) {
    const auto load = [&](int row, std::size_t column) HWY_ATTR { return columns.load(d, row, at + column * step); };
    const auto low = higher(higher(load(0, 0), load(0, 1)), load(0, 2));
    const auto middle = middle_of(load(1, 0), load(1, 1), load(1, 2));
    const auto high = lower(lower(load(2, 0), load(2, 1)), load(2, 2));
    return middle_of(low, middle, high);
}

template <class D, class T, std::size_t room>
HWY_INLINE hn::Vec<D> median_of_columns(D d, const SortedColumns<T, 5, room>& columns, std::size_t step,
                                        std::size_t at) {
    using V = hn::Vec<D>;
    using Row = RowOfFive<D>;
    V first[2], second[3], third[3], fourth[3], fifth[2];
    Row(d, columns, 0, step, at).two_highest(first[0], first[1]);
    Row(d, columns, 1, step, at).three_highest(second);
    Row(d, columns, 2, step, at).three_middle(third);
    Row(d, columns, 3, step, at).three_lowest(fourth);
    Row(d, columns, 4, step, at).two_lowest(fifth[0], fifth[1]);
    const V low = higher(higher(first[0], second[0]), higher(third[0], fourth[0]));
    const V high = lower(lower(second[2], third[2]), lower(fourth[2], fifth[1]));
    V a = first[1], b = second[1], c = third[1], e = fourth[1];
    put_in_order(a, b);
    put_in_order(c, e);
    const V middle = middle_of(higher(a, c), lower(b, e), fifth[0]);
    return middle_of(low, middle, high);
}

// Calls of(tag, i) for vectors that cover [0, count). The first and the last vector may overlap their neighbors, so
// that the vectors between them are aligned if `to` is the address of 0.
template <class T, class Of>
HWY_INLINE void for_each_vector(const T* to, std::size_t count, const Of& of) {
    constexpr hn::ScalableTag<T> kWhole;
    constexpr hn::CappedTag<T, 1> kOne;
    const std::size_t lanes = hn::Lanes(kWhole);
    std::size_t i = 0;
    if (count >= lanes && !begins_vector(kWhole, to)) {
        of(kWhole, 0);
        i = lanes - reinterpret_cast<std::uintptr_t>(to) / sizeof(T) % lanes;
    }
    for (; i + lanes <= count; i += lanes) of(kWhole, i);
    if (i == count) return;
    if (count >= lanes) return of(kWhole, count - lanes);
    for (; i < count; ++i) of(kOne, i);
}

template <class D>
HWY_INLINE void store_median(hn::Vec<D> median, D d, hn::TFromD<D>* to, bool past_caches) {
    if constexpr (std::is_floating_point_v<hn::TFromD<D>>) median = with_one_nan(d, median);
    if constexpr (hn::MaxLanes(D()) > 1) {
        if (past_caches && begins_vector(d, to)) return store_vector_to<true>(median, d, to);
    }
    store_vector_to<false>(median, d, to);
}

// Sorts the columns of `count` values, of which the first one is number `from` of those that the pixels read.
template <std::size_t side, class T, class Columns>
HWY_INLINE void sort_columns(const WindowRows<T>& window, std::size_t from, std::size_t count, Columns& columns) {
    const std::size_t step = window.step, before = window.before * step, inside = window.count * step;
    const auto sort_column = [&](auto d, std::size_t value, std::size_t to) HWY_ATTR {
        hn::Vec<decltype(d)> column[side];
        for (std::size_t i = 0; i < side; ++i) column[i] = hn::LoadU(d, window.rows[i] + value);
        sort(column);
        for (std::size_t i = 0; i < side; ++i) hn::StoreU(column[i], d, columns.of[i] + to);
    };
    const std::size_t begin = std::clamp(before, from, from + count) - from;
    const std::size_t end = std::clamp(before + inside, from, from + count) - from;
    constexpr hn::CappedTag<T, 1> kOne;
    for (std::size_t to = 0; to < begin; ++to) sort_column(kOne, to % step, to);
    for_each_vector(columns.of[0] + begin, end - begin,
                    [&](auto d, std::size_t at) HWY_ATTR { sort_column(d, from + begin - before + at, begin + at); });
    for (std::size_t to = end; to < count; ++to) sort_column(kOne, inside - step + to % step, to);
}

template <std::size_t side, class T>
HWY_INLINE void medians_of(const WindowRows<T>& window, std::span<T> medians, bool past_caches) {
    constexpr std::size_t kAtOnce = 4096 / sizeof(T);  // whole texels; the columns stay in the L1 cache
    constexpr std::size_t kMaxChannels = 4;
    const std::size_t step = window.step;
    alignas(64) SortedColumns<T, side, kAtOnce + (side - 1) * kMaxChannels> columns;
    for (std::size_t from = 0; from < medians.size(); from += kAtOnce) {
        const std::size_t pixels = std::min(kAtOnce, medians.size() - from);
        sort_columns<side>(window, from, pixels + (side - 1) * step, columns);
        for_each_vector(&medians[from], pixels, [&](auto d, std::size_t at) HWY_ATTR {
            store_median(median_of_columns(d, columns, step, at), d, &medians[from + at], past_caches);
        });
    }
}

template <class T>
HWY_INLINE void medians_of_rows(const WindowRows<T>& window, std::span<T> medians, bool past_caches) {
    if (window.side == 3) return medians_of<3>(window, medians, past_caches);
    medians_of<5>(window, medians, past_caches);
}

}  // namespace

void median_of_floats(const WindowRows<float>& window, std::span<float> medians, bool past_caches) {
    medians_of_rows(window, medians, past_caches);
}

void median_of_bytes(const WindowRows<std::uint8_t>& window, std::span<std::uint8_t> medians, bool past_caches) {
    medians_of_rows(window, medians, past_caches);
}

void median_of_shorts(const WindowRows<std::uint16_t>& window, std::span<std::uint16_t> medians, bool past_caches) {
    medians_of_rows(window, medians, past_caches);
}

}  // namespace HWY_NAMESPACE
}  // namespace texton::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace texton::detail {

HWY_EXPORT(median_of_floats);
HWY_EXPORT(median_of_bytes);
HWY_EXPORT(median_of_shorts);

template <>
void median_of_rows(const WindowRows<float>& window, std::span<float> medians, bool past_caches) {
    HWY_DYNAMIC_DISPATCH(median_of_floats)(window, medians, past_caches);
}

template <>
void median_of_rows(const WindowRows<std::uint8_t>& window, std::span<std::uint8_t> medians, bool past_caches) {
    HWY_DYNAMIC_DISPATCH(median_of_bytes)(window, medians, past_caches);
}

template <>
void median_of_rows(const WindowRows<std::uint16_t>& window, std::span<std::uint16_t> medians, bool past_caches) {
    HWY_DYNAMIC_DISPATCH(median_of_shorts)(window, medians, past_caches);
}

}  // namespace texton::detail
#endif

#pragma once
// The median of 9 or 25 texels, in each channel.
//
// The columns of the square are sorted, and then its rows, which leaves the columns sorted. In a square of 3 x 3, the
// median of the highest value of the lowest row, the middle value of the middle row and the lowest value of the highest
// row is the median of all. In a square of 5 x 5, the values that can be the median form three diagonals. Of the lower
// diagonal only the highest value can be the median, and of the upper diagonal only the lowest. Values of rows are
// found only as far as they are needed. The sequence of comparisons does not depend on the values.
#include <texton/pixel.h>

#include "kernels/functors/neighborhood.h"

namespace texton::filters {

using detail::NumberedTexels;

/// Returns the lower or the higher of two values, with one comparison. If a value is NaN, lower() returns the first and
/// higher() the second.
struct ByComparison {
    TEXTON_HD float lower(float first, float second) const { return second < first ? second : first; }
    TEXTON_HD float higher(float first, float second) const { return second < first ? first : second; }
};

/// Applies an order to each channel.
template <class Order>
struct InEachChannel {
    Order order;
    TEXTON_HD Float4 lower(const Float4& a, const Float4& b) const {
        return {order.lower(a.x, b.x), order.lower(a.y, b.y), order.lower(a.z, b.z), order.lower(a.w, b.w)};
    }
    TEXTON_HD Float4 higher(const Float4& a, const Float4& b) const {
        return {order.higher(a.x, b.x), order.higher(a.y, b.y), order.higher(a.z, b.z), order.higher(a.w, b.w)};
    }
};

template <class V, class Order>
TEXTON_HD void put_in_order(V& low, V& high, const Order& order) {
    const V lower = order.lower(low, high);
    high = order.higher(low, high);
    low = lower;
}

template <class V, class Order>
TEXTON_HD void sort(V (&of)[3], const Order& order) {
    put_in_order(of[0], of[1], order);
    put_in_order(of[1], of[2], order);
    put_in_order(of[0], of[1], order);
}

template <class V, class Order>
TEXTON_HD void sort(V (&of)[5], const Order& order) {
    put_in_order(of[0], of[1], order);
    put_in_order(of[3], of[4], order);
    put_in_order(of[2], of[4], order);
    put_in_order(of[2], of[3], order);
    put_in_order(of[1], of[4], order);
    put_in_order(of[0], of[3], order);
    put_in_order(of[0], of[2], order);
    put_in_order(of[1], of[3], order);
    put_in_order(of[1], of[2], order);
}

template <class V, class Order>
TEXTON_HD V middle_of(const V& a, const V& b, const V& c, const Order& order) {
    return order.higher(order.lower(a, b), order.lower(order.higher(a, b), c));
}

/// Returns the median of sorted columns, of which columns[c][0] is the lowest value of column c.
template <class V, class Order>
TEXTON_HD V median_of_columns(const V (&columns)[3][3], const Order& order) {
    const V low = order.higher(order.higher(columns[0][0], columns[1][0]), columns[2][0]);
    const V middle = middle_of(columns[0][1], columns[1][1], columns[2][1], order);
    const V high = order.lower(order.lower(columns[0][2], columns[1][2]), columns[2][2]);
    return middle_of(low, middle, high, order);
}

/// Five values of a row: two pairs in order, and one more.
template <class V, class Order>
struct RowOfFive {
    V a, b;  // a <= b
    V c, d;  // c <= d
    V e;
    const Order& order;

    TEXTON_HD RowOfFive(const V (&columns)[5][5], int row, const Order& by)
        : a(columns[0][row]),
          b(columns[1][row]),
          c(columns[3][row]),
          d(columns[4][row]),
          e(columns[2][row]),
          order(by) {
        put_in_order(a, b, order);
        put_in_order(c, d, order);
    }

    /// Writes the two highest values, the lower one first.
    TEXTON_HD void two_highest(V& lower, V& higher) const {
        const V first = order.higher(b, d);
        const V second = order.higher(order.lower(b, d), order.higher(a, c));
        higher = order.higher(first, e);
        lower = order.higher(second, order.lower(first, e));
    }
    TEXTON_HD void two_lowest(V& lower, V& higher) const {
        const V first = order.lower(a, c);
        const V second = order.lower(order.higher(a, c), order.lower(b, d));
        lower = order.lower(first, e);
        higher = order.lower(second, order.higher(first, e));
    }
    /// Writes three values in order: without the two lowest, the lowest and the highest, or the two highest.
    TEXTON_HD void three_highest(V (&of)[3]) const {
        V p = order.higher(a, c), q = order.lower(b, d);
        put_in_order(p, q, order);
        const V highest = order.higher(b, d);
        const V next = order.lower(highest, e);
        of[2] = order.higher(highest, e);
        of[1] = order.higher(q, next);
        of[0] = order.higher(p, order.lower(q, next));
    }
    TEXTON_HD void three_middle(V (&of)[3]) const {
        V p = order.higher(a, c), q = order.lower(b, d);
        put_in_order(p, q, order);
        const V next = order.lower(order.higher(order.lower(a, c), e), order.higher(b, d));
        const V rest = order.higher(p, next);
        of[0] = order.lower(p, next);
        of[1] = order.lower(q, rest);
        of[2] = order.higher(q, rest);
    }
    TEXTON_HD void three_lowest(V (&of)[3]) const {
        V p = order.higher(a, c), q = order.lower(b, d);
        put_in_order(p, q, order);
        const V lowest = order.lower(a, c);
        const V next = order.higher(lowest, e);
        of[0] = order.lower(lowest, e);
        of[1] = order.lower(p, next);
        of[2] = order.lower(q, order.higher(p, next));
    }
};

template <class V, class Order>
TEXTON_HD V median_of_columns(const V (&columns)[5][5], const Order& order) {
    using Row = RowOfFive<V, Order>;
    V first[2], second[3], third[3], fourth[3], fifth[2];
    Row(columns, 0, order).two_highest(first[0], first[1]);
    Row(columns, 1, order).three_highest(second);
    Row(columns, 2, order).three_middle(third);
    Row(columns, 3, order).three_lowest(fourth);
    Row(columns, 4, order).two_lowest(fifth[0], fifth[1]);
    const V low = order.higher(order.higher(first[0], second[0]), order.higher(third[0], fourth[0]));
    const V high = order.lower(order.lower(second[2], third[2]), order.lower(fourth[2], fifth[1]));
    V a = first[1], b = second[1], c = third[1], d = fourth[1];
    put_in_order(a, b, order);
    put_in_order(c, d, order);
    const V middle = middle_of(order.higher(a, c), order.lower(b, d), fifth[0], order);
    return middle_of(low, middle, high, order);
}

template <int side>
struct Median {
    static constexpr bool kMayBeCalledWithZeros = true;
    static constexpr unsigned kPixels = 1;
    NumberedTexels texels;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        return in_order(at, source, ByComparison{});
    }
    template <class Source, class Order>
    TEXTON_HD Float4 in_order(PixelPosition at, const Source& source, const Order& order) const {
        const InEachChannel<Order> of_channels{order};
        Float4 columns[side][side];
        for (int i = 0; i < side; ++i) {
            for (int j = 0; j < side; ++j)
                columns[i][j] = texels(source, at.z, at.x + i - side / 2, at.y + j - side / 2);
            sort(columns[i], of_channels);
        }
        return median_of_columns(columns, of_channels);
    }
};

}  // namespace texton::filters

// The middle one of 9 or 25 values.
//
// Of n values, those that are neither lowest nor highest among any n / 2 + 2 of them may be the middle one. So that
// many are taken, the lowest and the highest of them left out, one of the others taken in, and so on, until three are
// left: always the same comparisons, whatever the values are.
#include <texton/filter.h>

#include <texton/launch.h>

#include "kernels/filter_texels.h"
#include "kernels/registry.h"

namespace texton {
namespace {

constexpr const char* kMedian = "texton::median";

TEXTON_HD inline void put_in_order(float& low, float& high) {
    const bool swap = high < low;
    const float lower = swap ? high : low;
    high = swap ? low : high;
    low = lower;
}

TEXTON_HD inline void put_in_order(Float4& low, Float4& high) {
    put_in_order(low.x, high.x);
    put_in_order(low.y, high.y);
    put_in_order(low.z, high.z);
    put_in_order(low.w, high.w);
}

/// The lowest becomes the first, the highest the last.
template <int count>
TEXTON_HD void move_extremes_out(Float4* values) {
    for (int i = 0; i < count / 2; ++i) put_in_order(values[i], values[count - 1 - i]);
    for (int i = 1; i < (count + 1) / 2; ++i) put_in_order(values[0], values[i]);
    for (int i = count / 2; i < count - 1; ++i) put_in_order(values[i], values[count - 1]);
}

/// Of `count` values at hand, which are changed, and count - 3 more that `next` returns.
template <int count, class Next>
TEXTON_HD Float4 median_of(Float4* values, const Next& next) {
    move_extremes_out<count>(values);
    if constexpr (count == 3) {
        return values[1];
    } else {
        values[0] = next(count);
        return median_of<count - 1>(values, next);
    }
}

/// The texels of a square, row by row, the last one first: number n is asked for while n values are at hand.
template <int side, class Source>
struct Square {
    const detail::NumberedTexels& texels;
    const Source& source;
    PixelPlace middle;

    TEXTON_HD Float4 operator()(int number) const {
        return texels(source, middle.z, middle.x + number % side - side / 2, middle.y + number / side - side / 2);
    }
};

template <int side>
struct Median {
    static constexpr unsigned kPixels = 1;
    static constexpr int kAtHand = side * side / 2 + 2;
    detail::NumberedTexels texels;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPlace at, const Source& source) const {
        const Square<side, Source> square{texels, source, at};
        Float4 values[kAtHand];
        for (int i = 0; i < kAtHand; ++i) values[i] = square(side * side - 1 - i);
        return median_of<kAtHand>(values, [&](int count) { return square(count - 4); });
    }
};

}  // namespace

void median(const Stream& stream, const View& picture, const Texture& texture, MedianSize size) {
    const detail::NumberedTexels texels = detail::texels_of(kMedian, picture, texture);
    switch (size) {
        case MedianSize::three: return detail::launch_as(kMedian, stream, picture, Median<3>{texels}, texture);
        case MedianSize::five: return detail::launch_as(kMedian, stream, picture, Median<5>{texels}, texture);
    }
}

Kernel detail::median_kernel() {
    KernelInfo info;
    info.name = "median";
    info.group = "filter";
    info.summary = "the middle one of the values around, in each channel";
    info.inputs = {{"picture", "what is filtered", {ArrayKind::array_2d, ArrayKind::layered_2d}}};
    info.parameters = {{.name = "size",
                        .kind = ParameterKind::choice,
                        .summary = "texels a side",
                        .standard = "3",
                        .choices = {"3", "5"}}};
    return {std::move(info), shapes_like_input,
            [](const Stream& stream, std::span<const View> pictures, const Arguments& arguments,
               std::span<const Texture> inputs) {
                median(stream, pictures[0], inputs[0], arguments.choice<MedianSize>("size"));
            }};
}

}  // namespace texton

// The median of 9 or 25 values. kernels/functors/median_functors.h explains the algorithm.
#include <texton/filter.h>

#include <texton/launch.h>

#include "arrays/texture_state.h"
#include "kernels/functors/median_functors.h"
#include "kernels/launch/dispatch.h"
#include "kernels/launch/registry.h"

namespace texton {
namespace {

using namespace filters;

constexpr const char* kMedian = "texton::median";

template <int side>
void enqueue(const Stream& stream, const View& image, const Texture& texture, const Median<side>& filter) {
    const Texture texels = detail::by_points(texture);
    detail::Launch launch(kMedian, stream, image, {&texels, 1}, detail::Overlap::refused);
    if (!detail::device_kernels(launch).median(launch, filter)) detail::run<1>(launch, filter);
}

}  // namespace

void median(const Stream& stream, const View& image, const Texture& texture, MedianSize size) try {
    const NumberedTexels texels = detail::texels_of(kMedian, image, texture);
    switch (size) {
        case MedianSize::three: return enqueue(stream, image, texture, Median<3>{texels});
        case MedianSize::five: return enqueue(stream, image, texture, Median<5>{texels});
    }
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::median");
}

Kernel detail::median_kernel() {
    KernelInfo info;
    info.name = "median";
    info.group = "filter";
    info.summary = "replaces each value by the median of its neighborhood, in each channel";
    info.inputs = {{"image", "image to filter", {ArrayKind::array_2d, ArrayKind::layered_2d}}};
    info.parameters = {{.name = "window",
                        .kind = ParameterKind::choice,
                        .summary = "width and height of the neighborhood, in texels",
                        .standard = "3",
                        .choices = {"3", "5"}}};
    return {std::move(info), shapes_like_input,
            [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
               std::span<const Texture> inputs) {
                median(stream, images[0], inputs[0], arguments.choice<MedianSize>("window"));
            }};
}

}  // namespace texton

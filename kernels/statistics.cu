// The kernels that return statistics as images: a table and a histogram.
#include "kernels/functors/statistics.h"

#include <texton/copy.h>
#include <texton/launch.h>
#include <texton/linear.h>

#include "kernels/launch/checks.h"
#include "kernels/launch/registry.h"

namespace texton {
namespace {

constexpr std::size_t kTableRows = 5;

/// The table has one column per channel, and the rows lowest, highest, mean, NaNs and infinities.
struct Table {
    const Statistics* statistics;

    TEXTON_HD Float4 operator()(PixelPosition at) const { return {value(at.x, at.y), 0, 0, 0}; }

private:
    TEXTON_HD float value(int channel, int row) const {
        switch (row) {
            case 0: return statistics->lowest(channel);
            case 1: return statistics->highest(channel);
            case 2: return statistics->mean(channel);
            case 3: return static_cast<float>(statistics->nans[channel]);
            default: return static_cast<float>(statistics->infinities[channel]);
        }
    }
};

/// Returns a kernel that collects the statistics of a texture in scratch memory and calls `show` to write an image from
/// them. The scratch memory comes from the current pool of the stream's device.
Kernel kernel_of_statistics(const char* name, const char* summary, std::vector<ParameterInfo> parameters,
                            ImageShape (*shape)(const Texture& texture),
                            void (*show)(const Stream& stream, const View& image, const Linear& statistics),
                            StatisticsOptions (*options)(const Arguments& arguments)) {
    KernelInfo info;
    info.name = name;
    info.group = "statistics";
    info.summary = summary;
    info.inputs = {{"image", "image to analyze", {ArrayKind::array_2d, ArrayKind::layered_2d}}};
    info.parameters = std::move(parameters);
    return {std::move(info),
            [shape](const Arguments&, std::span<const Texture> inputs) {
                return std::vector<ImageShape>{shape(inputs[0])};
            },
            [shape, show, options, object = std::string("texton::") + name](
                const Stream& stream, std::span<const View> images, const Arguments& arguments,
                std::span<const Texture> inputs) {
                detail::check_extent(object.c_str(), "the destination image", images[0], shape(inputs[0]).extent);
                const Linear memory = Linear::async(sizeof(Statistics), stream);
                collect_statistics(stream, memory.view(), inputs[0], options(arguments));
                show(stream, images[0], memory);
            }};
}

ImageShape table_shape(const Texture& texture) {
    return {{info(texture.format()).channels, kTableRows}, Format::r32_float};
}

void show_table(const Stream& stream, const View& image, const Linear& statistics) {
    detail::launch_as("texton::statistics", stream, image,
                      Table{reinterpret_cast<const Statistics*>(statistics.data())});
}

ImageShape histogram_shape(const Texture& texture) {
    return {{Statistics::kBins, info(texture.format()).channels}, Format::r32_uint};
}

/// Writes the histogram with a copy, because floats cannot represent all counts.
void show_histogram(const Stream& stream, const View& image, const Linear& statistics) {
    static_assert(offsetof(Statistics, histogram) == 0);
    if (image.format() != Format::r32_uint)
        detail::refuse_argument(
            "texton::histogram",
            "the destination image has format " + std::string(name(image.format())) + ", but counts need r32_uint",
            "Pass an image of r32_uint.");
    const ConstView bins = statistics.view(Format::r32_uint, {Statistics::kBins, image.extent().height});
    copy(image, bins, stream);
}

}  // namespace

Kernel detail::statistics_kernel() {
    return kernel_of_statistics(
        "statistics",
        "computes the lowest, highest and mean value and the numbers of NaNs and infinities of each channel", {},
        table_shape, show_table, [](const Arguments&) { return StatisticsOptions{}; });
}

Kernel detail::histogram_kernel() {
    return kernel_of_statistics(
        "histogram", "counts the values of each channel in 256 equal parts of a range",
        {{.name = "range",
          .kind = ParameterKind::numbers,
          .summary = "lower and upper end of the range; values outside are counted in the first and last part",
          .standard = std::vector<double>{0, 1},
          .count = 2}},
        histogram_shape, show_histogram, [](const Arguments& arguments) {
            const std::vector<double>& range = arguments.numbers("range");
            return StatisticsOptions{static_cast<float>(range[0]), static_cast<float>(range[1])};
        });
}

}  // namespace texton

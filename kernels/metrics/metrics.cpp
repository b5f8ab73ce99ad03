#include <texton/metrics.h>

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <string>

#include <texton/error.h>

#include "core/file_error.h"
#include "core/request.h"
#include "kernels/metrics/parts.h"

namespace texton {
namespace {

using detail::Progress;
using detail::TexelReader;

[[noreturn]] void refuse(const char* object, std::string problem, std::string remedy) {
    throw Error({.code = ErrorCode::bad_argument,
                 .object = object,
                 .problem = std::move(problem),
                 .remedy = std::move(remedy)});
}

std::string words(const ConstView& view) {
    return fmt::format("{} texels of {}", to_string(view.extent()), name(view.format()));
}

void check(const char* object, const ConstView& view) {
    const FormatLayout layout = info(view.format()).layout;
    if (layout == FormatLayout::block || layout == FormatLayout::planar) {
        refuse(object, fmt::format("{} does not store each texel separately", name(view.format())),
               layout == FormatLayout::block ? "Decode the image with sample() and pass the result."
                                             : "Pass one plane at a time.");
    }
    switch (view.kind()) {
        case MemoryKind::host:
        case MemoryKind::pinned:
        case MemoryKind::registered:
        case MemoryKind::managed:
            if (view.data() != nullptr) return;
            refuse(object, "an empty view was passed", "Pass a view of host memory.");
        case MemoryKind::linear:
        case MemoryKind::pitched:
        case MemoryKind::mapped:
        case MemoryKind::symbol:
        case MemoryKind::array:
            refuse(object, fmt::format("the texels are in {} memory of a device", name(view.kind())),
                   "Copy them to host memory with copy() first.");
    }
}

void check_pair(const char* object, const ConstView& a, const ConstView& b) {
    check(object, a);
    check(object, b);
    if (a.format() == b.format() && a.extent() == b.extent()) return;
    refuse(object, fmt::format("the images have {} and {}", words(a), words(b)),
           a.extent() == b.extent() ? "Convert both with read_channels() and compare the results."
                                    : "Crop or resize the images to the same size first.");
}

}  // namespace

Comparison compare(const ConstView& a, const ConstView& b, const ComparisonOptions& options) try {
    constexpr const char* kObject = "texton::compare";
    check_pair(kObject, a, b);
    if (options.channels < 1) refuse(kObject, "the number of channels to compare is 0", "Compare at least 1 channel.");
    if (!(options.pixels_per_degree >= 1 && options.pixels_per_degree <= 1000)) {
        refuse(kObject, fmt::format("{} pixels per degree were requested", options.pixels_per_degree),
               "Use 1 to 1000; a screen at arm's length has about 67.");
    }
    const TexelReader first(a), second(b);
    Comparison result;
    result.peak = options.peak.value_or(first.range());
    if (!(result.peak > 0 && std::isfinite(result.peak)))
        refuse(kObject, fmt::format("the peak is {}", result.peak), "Use a finite number above 0.");
    result.channels.resize(std::min(options.channels, first.channels()));
    if (options.flip) result.flip = detail::flip_exposures(first);

    const double flip_work = result.flip ? detail::kFlipWork * result.flip->exposures : 0;
    std::function<void(double)> report;
    if (options.progress) report = [&](double done) { detail::call_back([&] { options.progress(done); }); };
    Progress progress(report, detail::kDifferenceWork + (options.ssim ? detail::kSsimWork : 0) + flip_work);
    detail::measure_differences(first, second, options.worst, progress, result);
    if (options.ssim) detail::measure_ssim(first, second, progress, result);
    if (result.flip) detail::measure_flip(first, second, options.pixels_per_degree, progress, *result.flip);
    return result;
} catch (const detail::CallbackException& exception) {
    std::rethrow_exception(exception.thrown);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::compare");
}

std::vector<std::uint32_t> ulp_distances(const ConstView& a, const ConstView& b) try {
    check_pair("texton::ulp_distances", a, b);
    const TexelReader first(a), second(b);
    const Extent extent = a.extent();
    const std::size_t channels = first.channels();
    std::vector<std::uint32_t> distances(extent.width * extent.height * extent.depth);
    using Codes = std::array<std::vector<std::uint32_t>, 2>;
    Progress silent({}, 1);
    detail::for_each_piece<Codes>(extent.height * extent.depth, silent, 1, [&](Codes& codes, std::size_t row) {
        const Offset at{0, row % extent.height, row / extent.height};
        for (auto& each : codes) each.resize(extent.width * channels);
        first.read(at, extent.width, codes[0].data());
        second.read(at, extent.width, codes[1].data());
        for (std::size_t i = 0; i < extent.width * channels; ++i) {
            std::uint32_t& distance = distances[row * extent.width + i / channels];
            distance = std::max(distance, first.distance(codes[0][i], codes[1][i]));
        }
    });
    return distances;
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::ulp_distances");
}

std::vector<float> read_channels(const ConstView& view) try {
    check("texton::read_channels", view);
    const TexelReader reader(view);
    const Extent extent = view.extent();
    const std::size_t channels = reader.channels();
    std::vector<float> values(4 * extent.width * extent.height * extent.depth);
    using Codes = std::vector<std::uint32_t>;
    Progress silent({}, 1);
    detail::for_each_piece<Codes>(extent.height * extent.depth, silent, 1, [&](Codes& codes, std::size_t row) {
        codes.resize(extent.width * channels);
        reader.read({0, row % extent.height, row / extent.height}, extent.width, codes.data());
        float* out = values.data() + 4 * row * extent.width;
        for (std::size_t x = 0; x < extent.width; ++x, out += 4) {
            out[3] = 1;
            for (std::size_t c = 0; c < channels; ++c)
                out[c] = static_cast<float>(reader.value(codes[x * channels + c], c));
        }
    });
    return values;
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::read_channels");
}

// --- maps -----------------------------------------------------------------------------------------------------------

namespace {

// Lightness rises with `t`. Red rises first; blue has one maximum in the lower half and rises again at the end.
std::array<double, 3> ramp(double t) {
    const double red = 1 - std::pow(1 - t, 1.7);
    const double green = std::pow(t, 2.2);
    const double blue =
        0.55 * std::sin(std::min(2.2 * t, 1.0) * 3.14159265358979 / 2) * (1 - std::pow(t, 1.5)) + 0.78 * std::pow(t, 5);
    return {red, green, std::min(blue, 1.0)};
}

template <class Value, class Position>
std::vector<std::byte> colored(std::span<const Value> values, Position position) {
    constexpr std::size_t kSteps = 1024;
    std::array<std::array<std::byte, 4>, kSteps + 1> colors;
    for (std::size_t i = 0; i <= kSteps; ++i) {
        const std::array<double, 3> color = ramp(static_cast<double>(i) / kSteps);
        for (std::size_t c = 0; c < 3; ++c) colors[i][c] = static_cast<std::byte>(std::lround(255 * color[c]));
        colors[i][3] = std::byte{255};
    }
    std::vector<std::byte> texels(4 * values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double t = position(values[i]);
        const auto step = static_cast<std::size_t>(std::lround(kSteps * (t > 0 ? std::min(t, 1.0) : 0)));
        std::memcpy(texels.data() + 4 * i, colors[step].data(), 4);
    }
    return texels;
}

}  // namespace

std::vector<std::byte> ulp_map(std::span<const std::uint32_t> distances) try {
    constexpr double kFirst = 0.25;
    return colored(distances, [](std::uint32_t distance) {
        return distance == 0 ? 0 : kFirst + (1 - kFirst) * std::log2(static_cast<double>(distance)) / 16;
    });
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::ulp_map");
}

std::vector<std::byte> heat_map(std::span<const float> errors) try {
    return colored(errors, [](float error) { return static_cast<double>(error); });
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::heat_map");
}

}  // namespace texton

#include <texton/metrics.h>

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <string>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/linear.h>

#include "core/file_error.h"
#include "core/request.h"
#include "core/transfer.h"
#include "kernels/launch/dispatch.h"
#include "kernels/metrics/image_pair.h"
#include "kernels/metrics/parts.h"

namespace texton {
namespace {

using detail::Progress;
using detail::TexelReader;

constexpr const char* kCompare = "texton::compare";

[[noreturn]] void refuse(const char* object, std::string problem, std::string remedy) {
    throw Error({.code = ErrorCode::bad_argument,
                 .object = object,
                 .problem = std::move(problem),
                 .remedy = std::move(remedy)});
}

std::string words(const ConstView& view) {
    return fmt::format("{} texels of {}", to_string(view.extent()), name(view.format()));
}

void check_layout(const char* object, const ConstView& view) {
    const FormatLayout layout = info(view.format()).layout;
    if (layout != FormatLayout::block && layout != FormatLayout::planar) return;
    refuse(object, fmt::format("{} does not store each texel separately", name(view.format())),
           layout == FormatLayout::block ? "Decode the image with sample() and pass the result."
                                         : "Pass one plane at a time.");
}

void check(const char* object, const ConstView& view) {
    check_layout(object, view);
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
                   "Compare them on a stream of the device, or copy them to host memory with copy() first.");
    }
}

void check_alike(const char* object, const ConstView& a, const ConstView& b) {
    if (a.format() == b.format() && a.extent() == b.extent()) return;
    refuse(object, fmt::format("the images have {} and {}", words(a), words(b)),
           a.extent() == b.extent() ? "Convert both with read_channels() and compare the results."
                                    : "Crop or resize the images to the same size first.");
}

void check_pair(const char* object, const ConstView& a, const ConstView& b) {
    check(object, a);
    check(object, b);
    check_alike(object, a, b);
}

// Checks the options, and returns a result with the peak and the channels to compare.
Comparison begin_comparison(const detail::CodeFormat& format, const ComparisonOptions& options) {
    if (options.channels < 1) refuse(kCompare, "the number of channels to compare is 0", "Compare at least 1 channel.");
    if (!(options.pixels_per_degree >= 1 && options.pixels_per_degree <= 1000)) {
        refuse(kCompare, fmt::format("{} pixels per degree were requested", options.pixels_per_degree),
               "Use 1 to 1000; a screen at arm's length has about 67.");
    }
    Comparison result;
    result.peak = options.peak.value_or(format.range());
    if (!(result.peak > 0 && std::isfinite(result.peak)))
        refuse(kCompare, fmt::format("the peak is {}", result.peak), "Use a finite number above 0.");
    result.channels.resize(std::min(options.channels, format.channels()));
    return result;
}

std::function<void(double)> reporter(const ComparisonOptions& options) {
    if (!options.progress) return {};
    return [&options](double done) { detail::call_back([&] { options.progress(done); }); };
}

Comparison compare_in_host_memory(const TexelReader& a, const TexelReader& b, const ComparisonOptions& options) {
    Comparison result = begin_comparison(a, options);
    if (options.flip) result.flip = detail::flip_exposures(a);
    const double flip_work = result.flip ? detail::kFlipWork * result.flip->exposures : 0;
    Progress progress(reporter(options), detail::kDifferenceWork + (options.ssim ? detail::kSsimWork : 0) + flip_work);
    detail::measure_differences(a, b, options.worst, progress, result);
    if (options.ssim) detail::measure_ssim(a, b, progress, result);
    if (result.flip) detail::measure_flip(a, b, options.pixels_per_degree, progress, *result.flip);
    if (result.flip && !options.flip_errors) result.flip->errors = {};
    return result;
}

// An image in memory that the device of a stream reads: where it is, or a copy in scratch memory.
class ImageOfDevice {
public:
    ImageOfDevice(const Stream& stream, const ConstView& view) {
        detail::check_live(view.location(), kCompare);
        check_layout(kCompare, view);
        if (is_readable(stream, view.location())) {
            view_ = view;
            return;
        }
        copy_ = Linear::async(packed_bytes(view.format(), view.extent()), stream);
        const View copied = copy_.view(view.format(), view.extent());
        copy(copied, view, stream);
        view_ = copied;
    }

    const ConstView& view() const { return view_; }

private:
    static bool is_readable(const Stream& stream, const detail::MemoryLocation& image) {
        if (image.address == nullptr) return false;
        const detail::Backend& backend = stream.device().backend();
        const bool on_cpu = backend.properties().kind == DeviceKind::cpu;
        const detail::Backend* home = detail::home(image);
        if (home == nullptr) return on_cpu;
        const bool is_aligned = (reinterpret_cast<std::uintptr_t>(image.address) | image.pitch | image.slice_pitch) %
                                    info(image.format).bytes ==
                                0;
        return home == &backend && (on_cpu || is_aligned);
    }

    Linear copy_;
    ConstView view_;
};

}  // namespace

Comparison compare(const ConstView& a, const ConstView& b, const ComparisonOptions& options) try {
    check_pair(kCompare, a, b);
    return compare_in_host_memory(TexelReader(a), TexelReader(b), options);
} catch (const detail::CallbackException& exception) {
    std::rethrow_exception(exception.thrown);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kCompare);
}

Comparison compare(const Stream& stream, const ConstView& a, const ConstView& b, const ComparisonOptions& options) try {
    check_alike(kCompare, a, b);
    detail::refuse_while_recording(kCompare, "comparing images");
    const ImageOfDevice first(stream, a), second(stream, b);
    const detail::CodeFormat format(a.format());
    Comparison result = begin_comparison(format, options);
    const detail::ImagePair images{stream, first.view().location(), second.view().location(), format, kCompare};
    const detail::DeviceKernels& kernels = detail::device_kernels(stream.device().backend());
    if (kernels.compare(images, options, reporter(options), result)) return result;
    stream.synchronize();
    return compare_in_host_memory(TexelReader(first.view()), TexelReader(second.view()), options);
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

#include "viewer/model/reduced_image.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

#include <fmt/format.h>

#include <texton/copy.h>
#include <texton/layers.h>
#include <texton/pitched.h>
#include <texton/resample.h>
#include <texton/stream.h>
#include <texton/texture.h>

namespace texton::viewer {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBandBytes = std::size_t{8} << 20;
constexpr std::size_t kPieceSide =
    32768;                        // maximum width and height of an array for part of a band; all devices support it
constexpr int kMaxHalvings = 14;  // so that a square is not larger than a piece
constexpr int kMaxHalvingsOfVolumes = 9;  // limit of layers in layer_sum()

bool has_squares(const ArrayInfo& array) {
    return array.levels == 1 && block_side(array.format) == 1 && !is_flat(array.kind);
}

bool is_planar(const ArrayInfo& array) { return plane_count(array.format) > 1; }

Format floats_like(Format format) {
    constexpr std::array kFormats{Format::r32_float, Format::r32_float, Format::rg32_float};
    const auto channels = static_cast<std::size_t>(info(format).channels);
    return channels < kFormats.size() ? kFormats[channels] : Format::rgba32_float;
}

// Returns the means of squares of texels. The layers of a layered texture are averaged, too.
Pitched2D mean_of(const Stream& stream, const Texture& squares, Format format, Extent extent) {
    const Device device = squares.device();
    Pitched2D small(device, format, extent);
    const ResampleOptions by_area{.filter = is_whole_numbers(format) ? ResampleFilter::nearest : ResampleFilter::area};
    if (squares.kind() == ArrayKind::array_2d) {
        resample(stream, small.view(), squares, by_area);
        return small;
    }
    const Array floats(device, {.format = floats_like(format),
                                .extent = extent,
                                .kind = ArrayKind::layered_2d,
                                .layers = squares.layers(),
                                .usage = {.surface = true}});
    resample(stream, floats.view(), squares, by_area);
    layer_sum(stream, small.view(), Texture(floats));
    return small;
}

class Halving {
public:
    Halving(const LoadOptions& options, std::size_t total) : options_(options), total_(total) {}

    // Loads all slices of an image that is not planar into an array of its kind.
    void load(const Array& out, const ImageFile& image, int halvings) {
        const ArrayInfo& made = out.info();
        const std::size_t side = std::size_t{1} << halvings;
        const std::size_t faces = is_cube(made.kind) ? 6 : 1;
        for (std::size_t slice = 0; slice < slice_count(made, 0); ++slice) {
            Slice of{.to = {}, .depth = 1};
            if (is_layered(made.kind)) of.to.layer = slice / faces;
            if (is_cube(made.kind)) of.to.face = static_cast<int>(slice % faces);
            of.from = of.to;
            if (made.kind == ArrayKind::array_3d) {
                // With integers the result is the texel in the middle of each cube.
                of.depth = is_whole_numbers(made.format) ? 1 : side;
                of.first = slice * side + (of.depth == 1 ? side / 2 : 0);
                of.slice = slice;
            }
            load(out, image, side, of);
        }
    }

    void finish() {
        timing_.total = now();
        if (options_.timing != nullptr) *options_.timing = std::move(timing_);
    }

private:
    struct Slice {
        Subresource to;
        Subresource from{};
        std::size_t slice = 0;  // slice of the array, if it is a volume
        std::size_t first = 0;  // first slice of the image
        std::size_t depth = 1;  // number of slices of the image to average
    };

    void load(const Array& out, const ImageFile& image, std::size_t side, Slice slice) {
        const Extent whole = image.info().extent;
        const Extent extent = out.info().extent;
        const std::size_t row = row_bytes(image.info().format, whole.width) * side * slice.depth;
        const std::size_t max_rows = std::max<std::size_t>(std::min(kBandBytes / row, kPieceSide / side), 1);
        for (std::size_t top = 0; top < extent.height; top += max_rows) {
            const std::size_t rows = std::min(max_rows, extent.height - top);
            const Extent band{whole.width, rows * side, slice.depth};
            texels_.resize(packed_bytes(image.info().format, band));
            LoadStep step{.bytes = texels_.size(), .decode_begin = now()};
            slice.from.region = Region{{0, top * side, slice.first}, band};
            image.read(slice.from, texels_);
            step.decode_end = step.copy_begin = now();
            shrink(out, slice, top, side, host_view(texels_.data(), image.info().format, band));
            step.copy_end = now();
            timing_.steps.push_back(step);
            report(step.bytes);
        }
    }

    // Reduces the squares of a band to texels of `out`, starting at row `top`.
    static void shrink(const Array& out, Slice slice, std::size_t top, std::size_t side, const ConstView& band) {
        const Device device = out.device();
        const Format format = out.info().format;
        const Stream stream(device);
        for (std::size_t left = 0; left < out.info().extent.width; left += kPieceSide / side) {
            const Extent extent{std::min(kPieceSide / side, out.info().extent.width - left),
                                band.extent().height / side};
            const Extent squares{extent.width * side, extent.height * side};
            const Array piece(device, {.format = format,
                                       .extent = squares,
                                       .kind = slice.depth > 1 ? ArrayKind::layered_2d : ArrayKind::array_2d,
                                       .layers = slice.depth});
            copy(piece.view(), band.region({{left * side, 0, 0}, {squares.width, squares.height, slice.depth}}));
            const Pitched2D small = mean_of(stream, Texture(piece), format, extent);
            slice.to.region = Region{{left, top, slice.slice}, extent};
            copy(out.view(slice.to), small.view(), stream);
            stream.synchronize();
        }
    }

    void report(std::size_t bytes) {
        done_ += bytes;
        if (!options_.progress || options_.progress({std::min(done_, total_), total_})) return;
        throw Canceled({.code = ErrorCode::io,
                        .object = "texton-view",
                        .problem = fmt::format("loading an image was canceled after {} of {} bytes", done_, total_),
                        .remedy = "The progress callback canceled the operation."});
    }

    double now() const { return std::chrono::duration<double, std::milli>(Clock::now() - begin_).count(); }

    const LoadOptions& options_;
    std::size_t total_;
    std::size_t done_ = 0;
    Clock::time_point begin_ = Clock::now();
    LoadTiming timing_;
    std::vector<std::byte> texels_;
};

}  // namespace

Extent halved(Extent extent, int times) {
    const auto side = [times](std::size_t value) { return std::max<std::size_t>(value >> times, 1); };
    return {side(extent.width), side(extent.height), side(extent.depth)};
}

ArrayInfo halved(ArrayInfo array, int times) {
    array.extent = halved(array.extent, times);
    array.levels = std::max(1, array.levels - times);
    if (times > 0 && is_planar(array)) {
        array.extent.width = std::max<std::size_t>(array.extent.width / 2, 1) * 2;
        array.extent.height = std::max<std::size_t>(array.extent.height / 2, 1) * 2;
    }
    return array;
}

bool is_whole_numbers(Format format) noexcept {
    const FormatKind kind = info(format).kind;
    return kind == FormatKind::uint || kind == FormatKind::sint;
}

bool fits(const Device& device, const ArrayInfo& array) {
    const DeviceLimits& limits = device.limits();
    const auto within = [&](std::size_t width, std::size_t height) {
        return array.extent.width <= width && array.extent.height <= height;
    };
    const auto sides = [&] {
        switch (array.kind) {
            case ArrayKind::array_1d:
            case ArrayKind::layered_1d: return true;  // they are not halved
            case ArrayKind::array_2d: {
                const auto& maximum = array.levels > 1 ? limits.mipmap_2d : limits.texture_2d;
                return within(maximum[0], maximum[1]);
            }
            case ArrayKind::array_3d:
                return within(limits.texture_3d[0], limits.texture_3d[1]) && array.extent.depth <= limits.texture_3d[2];
            case ArrayKind::layered_2d: return within(limits.texture_2d_layered[0], limits.texture_2d_layered[1]);
            case ArrayKind::cubemap: return within(limits.cubemap, limits.cubemap);
            case ArrayKind::cubemap_layered: return within(limits.cubemap_layered[0], limits.cubemap_layered[0]);
        }
        return true;
    };
    return sides() && packed_bytes(array) <= device.memory().free / 4 * 3;
}

int max_halvings(const ArrayInfo& array) {
    if (!has_squares(array)) return array.levels - 1;
    const bool volume = array.kind == ArrayKind::array_3d;
    std::size_t side = std::min(array.extent.width, array.extent.height);
    if (volume) side = std::min(side, array.extent.depth);
    if (is_planar(array)) side /= 2;
    int maximum = volume ? kMaxHalvingsOfVolumes : kMaxHalvings;
    while (maximum > 0 && side >> maximum == 0) --maximum;
    return maximum;
}

int needed_halvings(const Device& device, const ArrayInfo& array) {
    const int maximum = max_halvings(array);
    for (int times = 0; times <= maximum; ++times) {
        if (fits(device, halved(array, times))) return times;
    }
    return 0;
}

Array load_halved(const Device& device, const ImageFile& image, int halvings, const LoadOptions& options) {
    ArrayInfo made = halved(image.info(), halvings);
    made.usage = options.usage;
    Array out(device, made);
    Halving halving(options, packed_bytes(image.info()));
    halving.load(out, image, halvings);
    halving.finish();
    return out;
}

PlanarArray load_planar_halved(const Device& device, const ImageFile& image, int halvings, const LoadOptions& options) {
    PlanarArray out(device, image.info().format, halved(image.info(), halvings).extent);
    Halving halving(options, packed_bytes(image.info()));
    for (int plane = 0; plane < 2; ++plane) halving.load(out.plane(plane), image.plane(plane), halvings);
    halving.finish();
    return out;
}

}  // namespace texton::viewer

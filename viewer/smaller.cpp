#include "viewer/smaller.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include <fmt/format.h>

#include <texton/copy.h>
#include <texton/pitched.h>
#include <texton/resample.h>
#include <texton/stream.h>
#include <texton/texture.h>

namespace texton::viewer {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBandBytes = std::size_t{8} << 20;
constexpr std::size_t kPieceWidth = 32768;  // texels of a band that are one array: any device takes as many

bool has_squares(const ArrayInfo& array) {
    return array.kind == ArrayKind::array_2d && array.levels == 1 && block_side(array.format) == 1 &&
           plane_count(array.format) == 1;
}

ArrayInfo with_halved_sides(ArrayInfo array, int times) {
    array.extent = halved(array.extent, times);
    if (array.kind != ArrayKind::array_3d) array.extent.depth = 1;
    array.levels = std::max(1, array.levels - times);
    return array;
}

// The squares of a band of rows, made texels of `out` from row `top` on.
void shrink(const Array& out, std::size_t top, std::size_t side, const ConstView& band) {
    const Device device = out.device();
    const Format format = out.info().format;
    const Stream stream(device);
    for (std::size_t left = 0; left < out.info().extent.width; left += kPieceWidth / side) {
        const Extent extent{std::min(kPieceWidth / side, out.info().extent.width - left), band.extent().height / side};
        const Extent squares{extent.width * side, extent.height * side};
        const Array piece(device, {.format = format, .extent = squares});
        copy(piece.view(), band.region({{left * side, 0, 0}, squares}));
        const Pitched2D small(device, format, extent);
        resample(stream, small.view(), Texture(piece),
                 {.filter = is_whole_numbers(format) ? ResampleFilter::nearest : ResampleFilter::area});
        copy(out.view({.region = Region{{left, top, 0}, extent}}), small.view(), stream);
        stream.synchronize();
    }
}

void report(const OnPictureProgress& progress, std::size_t done, std::size_t total) {
    if (!progress || progress({done, total})) return;
    throw Cancelled({.code = ErrorCode::io,
                     .object = "texton-view",
                     .problem = fmt::format("a picture was stopped after {} of {} bytes", done, total),
                     .remedy = "The callback said so."});
}

}  // namespace

Extent halved(Extent extent, int times) {
    const auto side = [times](std::size_t value) { return std::max<std::size_t>(value >> times, 1); };
    return {side(extent.width), side(extent.height), side(extent.depth)};
}

bool is_whole_numbers(Format format) noexcept {
    const FormatKind kind = info(format).kind;
    return kind == FormatKind::uint || kind == FormatKind::sint;
}

bool fits(const Device& device, const ArrayInfo& array) {
    const auto& [width, height] = device.limits().texture_2d;
    if (array.kind == ArrayKind::array_2d && (array.extent.width > width || array.extent.height > height)) return false;
    return packed_bytes(array) <= device.memory().free / 4 * 3;
}

int most_halvings(const ArrayInfo& array) {
    if (!has_squares(array)) return array.levels - 1;
    int most = 0;
    while (std::min(array.extent.width, array.extent.height) >> (most + 1) > 0) ++most;
    return most;
}

int needed_halvings(const Device& device, const ArrayInfo& array) {
    const int most = most_halvings(array);
    for (int times = 0; times <= most; ++times) {
        if (fits(device, with_halved_sides(array, times))) return times;
    }
    return 0;
}

Array load_halved(const Device& device, const Picture& picture, int halvings, const LoadOptions& options) {
    const ArrayInfo& whole = picture.info();
    const std::size_t side = std::size_t{1} << halvings;
    Array out(device, {.format = whole.format, .extent = halved(whole.extent, halvings), .usage = options.usage});
    const std::size_t row = row_bytes(whole.format, whole.extent.width) * side;
    const std::size_t most_rows = std::max<std::size_t>(kBandBytes / row, 1);
    const std::size_t total = row * out.info().extent.height;
    LoadTiming timing;
    const Clock::time_point begin = Clock::now();
    const auto now = [begin] { return std::chrono::duration<double, std::milli>(Clock::now() - begin).count(); };
    std::vector<std::byte> texels;
    for (std::size_t top = 0; top < out.info().extent.height; top += most_rows) {
        const std::size_t rows = std::min(most_rows, out.info().extent.height - top);
        const Extent band{whole.extent.width, rows * side};
        texels.resize(packed_bytes(whole.format, band));
        LoadStep step{.bytes = texels.size(), .decode_begin = now()};
        picture.read({.region = Region{{0, top * side, 0}, band}}, texels);
        step.decode_end = step.copy_begin = now();
        shrink(out, top, side, host_view(texels.data(), whole.format, band));
        step.copy_end = now();
        timing.steps.push_back(step);
        report(options.progress, (top + rows) * row, total);
    }
    timing.total = now();
    if (options.timing != nullptr) *options.timing = std::move(timing);
    return out;
}

}  // namespace texton::viewer

#include "kernels/launch/rows_read.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace texton::detail {
namespace {

// Rows of a texture, which can lie beyond its edges.
struct Span {
    double first;
    double end;
};

// Coordinates are rounded to float32, and fetches at integral coordinates may read a further row with weight 0.
constexpr double kMore = 2;

// Kernels that read the texel at the position of the pixel.
constexpr std::array<std::string_view, 11> kPointwise{"blend",    "blend_masked", "change_alpha", "color_matrix",
                                                      "exposure", "grade",        "lut_1d",       "lut_3d",
                                                      "swizzle",  "tone_curve",   "transfer"};

// Returns how many rows above and below the pixel a filter reads, or -1 for other kernels.
double radius_of(const Kernel& kernel, const Arguments& arguments) {
    const std::string_view name = kernel.info.name;
    const auto automatic = [&](const char* sigma, double times) {
        return std::ceil(times * static_cast<double>(static_cast<float>(arguments.number(sigma))));
    };
    if (std::ranges::find(kPointwise, name) != kPointwise.end()) return 0;
    if (name == "median") return 2;
    if (name == "convolve") return static_cast<double>(arguments.numbers("down").size() / 2);
    if (name == "unsharp") return automatic("sigma", 3);
    if (name == "gaussian" && arguments.integer("radius") == 0) return automatic("sigma", 3);
    if (name == "bilateral" && arguments.integer("radius") == 0) return automatic("sigma_space", 2);
    if (name == "gaussian" || name == "bilateral") return arguments.integer("radius");
    return -1;
}

// The rows around the coordinates of the pixels that each filter weights, in rows of pixels or of texels, whichever are
// larger.
double support_of(std::string_view filter) { return filter == "lanczos3" ? 3 : filter == "area" ? 1 : 2; }

Span resampled_rows(const Arguments& arguments, const Extent& texture, const Extent& image, const Span& rows) {
    const std::vector<double>& crop = arguments.numbers("crop");
    const double begin = crop[1];
    const double height = crop[3] != 0 ? crop[3] : static_cast<double>(texture.height) - begin;
    const double step = height / static_cast<double>(image.height);
    const double around = support_of(arguments.text("filter")) * std::max(step, 1.0);
    return {(rows.first + 0.5) * step + begin - around, (rows.end - 0.5) * step + begin + around};
}

// Returns the rows of the texture that contain texels of a span, according to the address mode.
std::optional<RowRange> addressed(Span span, AddressMode mode, std::size_t height) {
    const auto end = static_cast<double>(height);
    if (!std::isfinite(span.first) || !std::isfinite(span.end)) return std::nullopt;
    const double above = std::max(-span.first, 0.0);  // rows beyond the edges
    const double below = std::max(span.end - end, 0.0);
    if (above > 0 || below > 0) {
        switch (mode) {
            case AddressMode::clamp:
            case AddressMode::border: break;
            case AddressMode::mirror:
                if (above > end || below > end) return std::nullopt;
                span = {below > 0 ? std::min(span.first, end - below) : span.first,
                        above > 0 ? std::max(span.end, above) : span.end};
                break;
            case AddressMode::wrap: return std::nullopt;
        }
    }
    const double first = std::clamp(span.first, 0.0, end - 1);
    return RowRange{static_cast<std::size_t>(first), static_cast<std::size_t>(std::clamp(span.end, first + 1, end))};
}

}  // namespace

const char* why_not_in_rows(const Kernel& kernel, const Arguments& arguments) {
    struct Row {
        std::string_view name;
        const char* why;
    };
    static constexpr std::array<Row, 6> kReasons{{
        {"from_rgb", "writes planes, which belong together"},
        {"histogram", "counts the texels of the whole image"},
        {"min_max_pyramid", "computes each level from the whole level above"},
        {"mips", "writes several levels, unless level_count is 1"},
        {"prefilter_ggx", "writes several levels, each from the whole cube"},
        {"statistics", "sums the texels of the whole image"},
    }};
    if (kernel.info.name == "mips" && arguments.integer("level_count") == 1) return nullptr;
    const auto found = std::ranges::find(kReasons, kernel.info.name, &Row::name);
    return found != kReasons.end() ? found->why : nullptr;
}

std::optional<RowRange> rows_around(const Texture& texture, std::size_t apron, const Extent& image, RowRange rows) {
    if (texture.kind() != ArrayKind::array_2d || texture.levels() != 1 || image.height != texture.extent().height)
        return std::nullopt;
    const double around = static_cast<double>(apron) + kMore;
    return addressed({static_cast<double>(rows.first) - around, static_cast<double>(rows.end) + around},
                     texture.sampler().address[1], texture.extent().height);
}

std::optional<RowRange> rows_read(const Kernel& kernel, const Arguments& arguments, std::span<const Texture> inputs,
                                  std::size_t input, const Extent& image, RowRange rows) {
    const Texture& texture = inputs[input];
    if (texture.kind() != ArrayKind::array_2d || texture.levels() != 1) return std::nullopt;
    const Span given{static_cast<double>(rows.first), static_cast<double>(rows.end)};
    Span read = given;
    AddressMode mode = texture.sampler().address[1];
    if (kernel.info.name == "mips") {
        const double step = static_cast<double>(texture.extent().height) / static_cast<double>(image.height);
        const bool is_kaiser = arguments.text("filter") == "kaiser";
        const double around = is_kaiser ? arguments.number("kaiser_width") * step : 1;
        read = {given.first * step - around, given.end * step + around};
        if (is_kaiser) mode = arguments.choice<AddressMode>("address");
    } else if (kernel.info.name == "resample") {
        read = resampled_rows(arguments, texture.extent(), image, given);
    } else {
        const double radius = radius_of(kernel, arguments);
        if (radius < 0 || image.height != texture.extent().height) return std::nullopt;
        if (radius == 0) return rows;
        read = {given.first - radius, given.end + radius};
    }
    return addressed({std::floor(read.first) - kMore, std::ceil(read.end) + kMore}, mode, texture.extent().height);
}

}  // namespace texton::detail

#include "kernels/launch/checks.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <texton/error.h>

#include "arrays/texture_state.h"
#include "arrays/written_image.h"
#include "kernels/launch/image_rows.h"
#include "kernels/launch/launch_state.h"

namespace texton::detail {

void refuse_argument(const char* object, std::string problem, std::string remedy) {
    throw Error({.code = ErrorCode::bad_argument,
                 .object = object,
                 .problem = std::move(problem),
                 .remedy = std::move(remedy)});
}

void check_kind(const char* object, const char* name, const Texture& texture, std::initializer_list<ArrayKind> kinds) {
    if (std::ranges::find(kinds, texture.kind()) != kinds.end()) return;
    std::vector<std::string_view> names;
    for (const ArrayKind kind : kinds) names.push_back(texton::name(kind));
    refuse_argument(object, fmt::format("{} is a texture of kind {}", name, texton::name(texture.kind())),
                    fmt::format("Pass a texture of kind {}.", fmt::join(names, " or ")));
}

void check_filter(const char* object, const char* name, const Texture& texture, Filter filter) {
    if (texture.sampler().filter == filter) return;
    const char* needed = filter == Filter::linear ? "linear" : "point";
    refuse_argument(object,
                    fmt::format("{} is a texture with Filter::{}", name, filter == Filter::linear ? "point" : "linear"),
                    fmt::format("Create the texture with Filter::{}.", needed));
}

void check_floats(const char* object, const char* name, const Texture& texture) {
    const FormatKind kind = info(texture.format()).kind;
    if (kind != FormatKind::uint && kind != FormatKind::sint) return;
    refuse_argument(object,
                    fmt::format("{} is a texture of {}, which returns integers", name, texton::name(texture.format())),
                    "Pass a texture of a unorm, snorm, srgb or float format.");
}

void check_levels(const char* object, const char* name, const Texture& texture) {
    if (texture.levels() > 1) return;
    refuse_argument(object, fmt::format("{} has 1 level, but minification needs more", name),
                    "Create the array with more levels and the texture with all of them, or use Minification::none.");
}

void check_slices(const char* object, const View& image, const Texture& texture) {
    const std::size_t layers = is_layered(texture.kind()) ? texture.layers() : 1;
    const std::size_t slices = image.extent().depth;
    if (slices == layers) return;
    refuse_argument(object,
                    fmt::format("the destination image has {} slices, but the texture has {} layers", slices, layers),
                    "Pass an image with one slice per layer.");
}

void check_same_size(const char* object, const View& image, const char* name, const Texture& texture) {
    const Extent& expected = texture.extent();
    const Extent& given = image.extent();
    if (given.width == expected.width && given.height == expected.height) return;
    refuse_argument(object,
                    fmt::format("the destination image has {} x {} pixels, but {} is a texture of {} x {} texels",
                                given.width, given.height, name, expected.width, expected.height),
                    "Pass an image of the texture's size.");
}

void check_extent(const char* object, const char* name, const View& image, const Extent& extent) {
    if (image.extent() == extent) return;
    refuse_argument(object, fmt::format("{} has {} pixels", name, to_string(image.extent())),
                    fmt::format("Pass an image of {} pixels.", to_string(extent)));
}

void check_range(const char* object, const char* name, double value, double low, double high) {
    if (value >= low && value <= high) return;
    refuse_argument(object, fmt::format("{} is {}", name, value), fmt::format("Use {} to {}.", low, high));
}

void check_finite(const char* object, const char* name, double value) {
    if (!std::isfinite(value)) refuse_argument(object, fmt::format("{} is {}", name, value), "Use a finite number.");
}

void check_positive(const char* object, const char* name, double value) {
    if (std::isfinite(value) && value > 0) return;
    refuse_argument(object, fmt::format("{} is {}", name, value), "Use a finite number above 0.");
}

void check_weights(const char* object, const char* name, std::span<const float> weights, std::size_t maximum) {
    if (weights.size() % 2 == 0 || weights.size() > maximum)
        refuse_argument(object, fmt::format("{} has {} weights", name, weights.size()),
                        fmt::format("Pass an odd number of weights, at most {}.", maximum));
    for (std::size_t i = 0; i < weights.size(); ++i)
        check_finite(object, fmt::format("{}[{}]", name, i).c_str(), weights[i]);
}

bool fits_sample(const View& image, const Texture& texture) {
    const auto has_integers = [](Format format) {
        const FormatKind kind = info(format).kind;
        return kind == FormatKind::uint || kind == FormatKind::sint;
    };
    return image.kind() != MemoryKind::array && image.extent().depth == 1 &&
           ImageRowsScope::of(image.location()) == nullptr &&  // sample_grid() computes whole images
           has_integers(image.format()) == has_integers(texture.format());
}

void check_texel_count(const char* object, const Texture& texture) {
    constexpr std::size_t kMaxTexels = std::size_t{1} << 31;
    const Extent extent = texture.extent();
    const std::size_t max_rows = (kMaxTexels - 1) / extent.width;
    if (extent.height <= max_rows && texture.layers() <= max_rows / extent.height) return;
    throw Error({.code = ErrorCode::overflow,
                 .object = object,
                 .problem = fmt::format("the texture has {} texels and {} layers, which is 2^31 texels or more",
                                        to_string(extent), texture.layers()),
                 .remedy = "Split the layers or the memory into several textures with fewer texels.",
                 .numbers = {{"width", extent.width}, {"height", extent.height}, {"layers", texture.layers()}}});
}

void check_gathers(const char* object, const char* name, const Texture& texture) {
    if (texture.state()->gathers) return;
    const char* source = texture.source() == TextureSource::array ? "an array" : "memory";
    refuse_argument(object, fmt::format("{} is a texture of {} that does not support gather", name, source),
                    "Create the texture from an array with ArrayUsage::gather.");
}

void check_distinct(std::span<const Launch> launches, std::string (*name_of)(std::size_t index)) {
    for (std::size_t second = 1; second < launches.size(); ++second) {
        const MemoryLocation& image = launches[second].state().image;
        for (std::size_t first = 0; first < second; ++first) {
            if (!images_meet(launches[first].state().image, image)) continue;
            throw Error({.code = ErrorCode::overlap,
                         .object = launches[second].state().object,
                         .problem = fmt::format("{} and {} share {}", name_of(first), name_of(second),
                                                image.kind == MemoryKind::array ? "texels" : "bytes"),
                         .remedy = "Pass images that share no memory."});
        }
    }
}

std::string level_name(std::size_t index) { return fmt::format("levels[{}]", index); }

}  // namespace texton::detail

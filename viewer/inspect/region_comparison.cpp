#include "viewer/inspect/region_comparison.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <texton/error.h>

#include "viewer/inspect/region_statistics.h"
#include "viewer/inspect/region_texture.h"
#include "viewer/inspect/ulp_map.h"

namespace texton::viewer {
namespace {

// Returns the unorm format for an sRGB format, so that code values are compared.
Format as_codes(Format format) {
    const std::string text(name(format));
    const std::size_t end = text.rfind("_srgb");
    return end == std::string::npos ? format : format_named(text.substr(0, end) + "_unorm").value_or(format);
}

// One of the two compared images.
struct Side {
    const Document& document;
    SubresourceIndex subresource;
    TexelBox box;

    Format format() const { return document.info(subresource.plane).format; }
    bool has_blocks() const { return block_side(format()) > 1; }
    // sRGB values are code values, not linear light.
    std::vector<float> stored_values() const {
        if (has_blocks()) return BoxTexture(document, subresource, box, as_codes(format())).values();
        const std::vector<std::byte> texels = document.texels(subresource, box);
        return read_channels(host_view(static_cast<const void*>(texels.data()), format(), {box.width, box.height}));
    }
};

Comparison compare_values(const std::vector<float>& a, const std::vector<float>& b, Extent extent,
                          const ComparisonOptions& options) {
    const auto view = [&](const std::vector<float>& values) {
        return host_view(static_cast<const void*>(values.data()), Format::rgba32_float, extent);
    };
    return compare(view(a), view(b), options);
}

// Converts positions to texels of the image's files.
std::vector<Position> corners_of(std::span<const WorstTexel> worst, int halvings) {
    std::vector<Position> out;
    for (const WorstTexel& texel : worst)
        out.push_back({std::ldexp(static_cast<double>(texel.at.x), halvings),
                       std::ldexp(static_cast<double>(texel.at.y), halvings)});
    return out;
}

}  // namespace

RegionComparison compare_region(const Scene& scene, const ComparisonOptions& options) {
    const bool samplers = scene.session.compare.against == Against::sampler;
    if (!scene.shown || !scene.against || samplers) {
        throw Error(
            {.object = "texton::viewer::compare_region",
             .problem = samplers ? "the scene compares two samplers of one image" : "an image to compare is missing",
             .remedy = samplers ? "Use compare_samplers()." : "Open an image and choose a reference."});
    }
    RegionComparison out{.subresource = scene.shown->clamped(scene.session.subresource)};
    const SubresourceIndex other = scene.against->clamped(scene.session.subresource);
    const int halvings = scene.shown->halvings(out.subresource);
    if (halvings != scene.against->halvings(other)) {
        throw Error(
            {.code = ErrorCode::unsupported,
             .object = "texton::viewer::compare_region",
             .problem = fmt::format(
                 "the image is reduced to 1/{} of its width and height on its device, and the reference to 1/{}",
                 1 << halvings, 1 << scene.against->halvings(other)),
             .remedy = "Zoom in. The canvas then compares the texels of the files."});
    }
    const std::shared_ptr<const Document> shown = scene.shown->as_loaded(), against = scene.against->as_loaded();
    const SubresourceIndex shown_subresource = scene.shown->in_array(out.subresource),
                           other_subresource = scene.against->in_array(other);
    const Extent shown_extent = shown->extent(shown_subresource);
    const Extent other_extent = against->extent(other_subresource);
    out.extent = {std::min(shown_extent.width, other_extent.width), std::min(shown_extent.height, other_extent.height)};
    const TexelBox box{0, 0, out.extent.width, out.extent.height};
    if (shown_extent != other_extent)
        out.note = fmt::format("Only the common {} texels were compared.", to_string(out.extent));
    if (halvings > 0)
        out.note += fmt::format("{}Both images were compared at 1/{} of their width and height.",
                                out.note.empty() ? "" : " ", 1 << halvings);

    const Side b{*shown, shown_subresource, box};
    const Side a{*against, other_subresource, box};
    ComparisonOptions limited = options;
    limited.channels = static_cast<std::size_t>(
        std::min(file_channels(a.document, a.subresource.plane), file_channels(b.document, b.subresource.plane)));
    if (!a.has_blocks() && a.format() == b.format()) {
        const std::vector<std::byte> of_a = a.document.texels(a.subresource, box);
        const std::vector<std::byte> of_b = b.document.texels(b.subresource, box);
        const auto view = [&](const std::vector<std::byte>& texels) {
            return host_view(static_cast<const void*>(texels.data()), a.format(), out.extent);
        };
        out.comparison = compare(view(of_a), view(of_b), limited);
        out.worst = corners_of(out.comparison.worst, halvings);
        return out;
    }
    out.comparison = compare_values(a.stored_values(), b.stored_values(), out.extent, limited);
    out.worst = corners_of(out.comparison.worst, halvings);
    out.note += fmt::format("{}Values were compared as 32-bit floats (formats: {} and {}).",
                            out.note.empty() ? "" : " ", name(b.format()), name(a.format()));
    return out;
}

std::string worst_text(const RegionComparison& found, std::size_t index) {
    const WorstTexel& texel = found.comparison.worst[index];
    const auto short_number = [](double number) { return std::round(number * 100) / 100; };
    return fmt::format("({}, {}): {}, {:.4g}", short_number(found.worst[index].x), short_number(found.worst[index].y),
                       ulp_text(texel.ulp), texel.difference);
}

}  // namespace texton::viewer

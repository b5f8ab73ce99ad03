#pragma once
// The list of all fields of a session: keys in session files, their order, and the allowed values. Reading, writing and
// tests visit the fields through this header.
//
// visit_fields(part, visitor) calls visitor(key, field) or visitor(key, field, rule) for each field. It calls
// visitor.object(key, fields) for fields that are grouped in files but not in the struct; `fields` is a function that
// takes a visitor. The structured bindings name every member of a struct, so a new member causes a compile error until
// it is added here.
#include <concepts>
#include <type_traits>

#include "viewer/model/session.h"
#include "viewer/model/session_names.h"

namespace texton::viewer {

// --- rules ---
// A rule can also be a table of names (session_names.h).

/// A number from `low` to `high`, inclusive.
template <class Number>
struct Within {
    Number low;
    Number high;
};
template <class Number>
Within(Number, Number) -> Within<Number>;  // Clang 14 does not deduce the argument of an aggregate

/// A list. If elements have no fields, messages contain "Use `elements`.". If they have fields, messages identify an
/// element as "`elements` 0".
struct ListOf {
    const char* elements;         ///< name of the elements
    std::size_t minimum = 0;      ///< minimum number of elements
    std::size_t maximum = 10000;  ///< maximum number of elements
};

/// A text with a maximum number of characters.
struct TextUpTo {
    std::size_t characters;
};

/// The field is written only if it differs from its default.
struct UnlessUsual {};
/// Only the fields of the object that differ from their defaults are written. If there are none, the object is omitted.
struct OnlyUnusual {};

template <class Value, class Plain>
concept Maybe = std::same_as<std::remove_const_t<Value>, Plain>;  // accepts const and non-const values

inline constexpr Within kChannel{0, 3};

// --- fields ---

void visit_fields(Maybe<RawFrames> auto& raw, auto& visit) {
    auto& [format, extent, frame, layout] = raw;
    visit("format", format);
    visit("width", extent.width);
    visit("height", extent.height);
    visit("frame", frame);
    visit("layout", layout, kRawLayouts);
}

void visit_fields(Maybe<ImageOptions> auto& options, auto& visit) {
    auto& [kind, format, bc, color, window, upright, cube, cube_side, part, part_name, channels, first_level, levels,
           layer, face, frame, raw] = options;
    visit("kind", kind);
    visit("format", format);
    visit("bc", bc, kBlockDecodings);
    visit("color", color, kImageColors);
    visit("window", window, kImageWindows);
    visit("upright", upright);
    visit("cube", cube, kCubeLayouts);
    visit("cube_side", cube_side);
    visit("part", part);
    visit("part_name", part_name);
    visit("channels", channels, ListOf{"channel names", 0, 4});
    visit("first_level", first_level);
    visit("levels", levels);
    visit("layer", layer);
    visit("face", face);
    visit("frame", frame);
    visit("raw", raw);
}

void visit_fields(Maybe<Source> auto& source, auto& visit) {
    auto& [paths, options] = source;
    visit("files", paths, ListOf{"file names", 1, 100000});
    visit("read_as", options, OnlyUnusual{});
}

void visit_fields(Maybe<SubresourceIndex> auto& subresource, auto& visit) {
    auto& [level, layer, face, slice, plane] = subresource;
    visit("level", level);
    visit("layer", layer);
    visit("face", face);
    visit("slice", slice);
    visit("plane", plane);
}

void visit_fields(Maybe<Sampler> auto& sampler, auto& visit) {
    auto& [address, filter, mip_filter, normalized, seamless, trilinear, anisotropy, bias, minimum, maximum, border] =
        sampler;
    visit("address", address, kAddressModes);
    visit("filter", filter, kFilters);
    visit("mip_filter", mip_filter, kFilters);
    visit("normalized_coordinates", normalized);
    visit("seamless_cubemap", seamless);
    visit("trilinear_optimization", trilinear);
    visit("max_anisotropy", anisotropy);
    visit("mip_bias", bias);
    visit("mip_min", minimum);
    visit("mip_max", maximum);
    visit("border", border);
}

void visit_fields(Maybe<ColorConversion> auto& color, auto& visit) {
    auto& [config, input, display, view] = color;
    visit("config", config);
    visit("input", input);
    visit("display", display);
    visit("view", view);
}

void visit_fields(Maybe<Display> auto& display, auto& visit) {
    auto& [channels, luminance, exposure, gamma, low, high, false_color, mark_nan, mark_range, zebra, tone_curve,
           color] = display;
    visit("channels", channels);
    visit("luminance", luminance);
    visit("exposure", exposure);
    visit("gamma", gamma);
    visit("low", low);
    visit("high", high);
    visit("false_color", false_color, kFalseColors);
    visit("mark_nan", mark_nan);
    visit("mark_range", mark_range);
    visit("zebra", zebra);
    visit("tone_curve", tone_curve, kToneCurves);
    visit("color", color, OnlyUnusual{});
}

void visit_fields(Maybe<Compare> auto& compare, auto& visit) {
    auto& [mode, against, wipe, flip] = compare;
    visit("mode", mode, kCompareModes);
    visit("against", against, kAgainst);
    visit("wipe", wipe);
    visit("flip", flip);
}

void visit_fields(Maybe<KernelChoice> auto& kernel, auto& visit) {
    auto& [name, parameters, more_inputs] = kernel;
    visit("name", name);
    visit("parameters", parameters);
    visit("more_inputs", more_inputs, ListOf{"indices of images, counted from 0"});
}

void visit_fields(Maybe<TexelBox> auto& box, auto& visit) {
    auto& [x, y, width, height] = box;
    visit("x", x);
    visit("y", y);
    visit("width", width);
    visit("height", height);
}

void visit_fields(Maybe<Annotation> auto& annotation, auto& visit) {
    auto& [kind, image, subresource, from, to, text, color] = annotation;
    visit("kind", kind, kAnnotationKinds);
    visit("image", image);
    visit("subresource", subresource, OnlyUnusual{});
    visit("from", from);
    visit("to", to);
    visit("text", text, TextUpTo{kMaxAnnotationText});
    visit("color", color, kAnnotationColors);
}

void visit_fields(Maybe<Probe> auto& probe, auto& visit) {
    auto& [operation, u, v, w, lod, line_from, line_to, component, plot_first, plot_last] = probe;
    visit("operation", operation, kFetchOperations);
    visit("u", u);
    visit("v", v);
    visit("w", w);
    visit("lod", lod);
    visit("line_from", line_from);
    visit("line_to", line_to);
    visit("component", component, kChannel);
    visit("plot_first", plot_first);
    visit("plot_last", plot_last);
}

void visit_fields(Maybe<FootprintChoice> auto& footprint, auto& visit) {
    auto& [fetch, longer, shorter, turn, channel] = footprint;
    visit("fetch", fetch, kFootprintFetches);
    visit("longer", longer);
    visit("shorter", shorter);
    visit("turn", turn);
    visit("channel", channel, kChannel);
}

void visit_fields(Maybe<UlpRegion> auto& region, auto& visit) {
    auto& [whole, points] = region;
    visit("whole", whole);
    visit("points", points, UlpRegion::kPoints);
}

void visit_fields(Maybe<LodPlane> auto& plane, auto& visit) {
    auto& [shown, tilt, turn, repeats] = plane;
    visit("shown", shown);
    visit("tilt", tilt);
    visit("turn", turn);
    visit("repeats", repeats);
}

void visit_fields(Maybe<Overlays> auto& overlays, auto& visit) {
    auto& [values, grid, footprint, hexadecimal, annotations] = overlays;
    visit("values", values);
    visit("grid", grid);
    visit("footprint", footprint);
    visit("hexadecimal", hexadecimal);
    visit("annotations", annotations);
}

void visit_fields(Maybe<Session> auto& session, auto& visit) {
    auto& [images, current, reference, device, subresource, layout, view, fits, reading, sampler, second_sampler,
           display, compare, kernel, selection, pins, annotations, probe, footprint, ulp_region, lod_plane,
           lod_quantity, histogram_scope, sphere_yaw, sphere_pitch, overlays, panels] = session;
    visit("images", images, ListOf{"image"});
    visit("current", current);
    visit("reference", reference);
    visit("device", device);
    visit("subresource", subresource);
    visit("layout", layout, kLayouts);
    visit.object("view", [&session](auto& visit_view) {
        auto& [zoom, center] = session.view;
        visit_view("fits", session.fits);
        visit_view("zoom", zoom, Within{kMinZoom, kMaxZoom});
        visit_view("x", center.x);
        visit_view("y", center.y);
    });
    visit("reading", reading, kReadings);
    visit("sampler", sampler);
    visit("second_sampler", second_sampler);
    visit("display", display);
    visit("compare", compare);
    visit("kernel", kernel, UnlessUsual{});
    visit("selection", selection);
    visit("pins", pins, ListOf{"pairs of numbers"});
    visit("annotations", annotations, ListOf{"annotation", 0, kMaxAnnotations});
    visit("probe", probe);
    visit("footprint", footprint);
    visit("ulp_region", ulp_region);
    visit("lod_plane", lod_plane);
    visit("lod_quantity", lod_quantity, kLodQuantities);
    visit("histogram_scope", histogram_scope, kHistogramScopes);
    visit.object("sphere", [&session](auto& visit_sphere) {
        visit_sphere("yaw", session.sphere_yaw);
        visit_sphere("pitch", session.sphere_pitch);
    });
    visit("overlays", overlays);
    visit("panels", panels, ListOf{"panel names"});
}

/// A struct with an overload of visit_fields().
template <class Value>
concept Part = requires(Value& value) {
    visit_fields(value, value);
};

}  // namespace texton::viewer

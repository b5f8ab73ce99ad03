#include "viewer/model/session.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <texton/error.h>

#include "viewer/model/json_object.h"
#include "viewer/model/kernel_run.h"
#include "viewer/model/session_names.h"

// Each part of a session has a put_ that makes an object of it and a take_ that reads one: what the object lacks stays as it is.

namespace texton::viewer {
namespace {

using verify::Json;
using verify::JsonObject;

// --- values ----------------------------------------------------------------------------------------------------------

template <class Value, std::size_t count>
void take(JsonObject& object, const char* key, const Names<Value, count>& names, Value& value) {
    const std::optional<std::string> text = object.text(key);
    if (!text) return;
    const std::optional<Value> named = value_of(names, *text);
    if (!named)
        object.refuse(key, fmt::format("is '{}'", *text),
                      fmt::format("Use one of {}.", fmt::join(all_names(names), ", ")));
    value = *named;
}

void take(JsonObject& object, const char* key, bool& value) { value = object.flag(key).value_or(value); }
void take(JsonObject& object, const char* key, std::string& value) { value = object.text(key).value_or(value); }
void take(JsonObject& object, const char* key, std::size_t& value) { value = object.count(key).value_or(value); }
void take(JsonObject& object, const char* key, double& value) { value = object.number(key).value_or(value); }
void take(JsonObject& object, const char* key, float& value) {
    value = static_cast<float>(object.number(key).value_or(value));
}
void take(JsonObject& object, const char* key, int& value) {
    const std::optional<std::size_t> count = object.count(key);
    if (!count) return;
    if (*count > static_cast<std::size_t>(std::numeric_limits<int>::max()))
        object.refuse(key, fmt::format("is {}", *count), "Give a smaller number.");
    value = static_cast<int>(*count);
}

void take_channel(JsonObject& object, const char* key, int& value) {
    take(object, key, value);
    if (value > 3) object.refuse(key, fmt::format("is {}", value), "Use 0 to 3.");
}

const Json& list(JsonObject& object, const char* key, std::size_t count = 0) {
    static const Json none = Json::array();
    const Json* value = object.find(key);
    if (value == nullptr) return none;
    if (!value->is_array() || (count != 0 && value->size() != count))
        object.refuse(key, "is " + value->dump(), count == 0 ? "Give a list." : fmt::format("Give {} values.", count));
    return *value;
}

template <std::size_t count>
void take(JsonObject& object, const char* key, std::array<float, count>& value) {
    if (object.find(key) == nullptr) return;
    const Json& numbers = list(object, key, count);
    for (std::size_t i = 0; i < count; ++i) {
        if (!numbers[i].is_number()) object.refuse(key, "is " + numbers.dump(), "Give numbers.");
        value[i] = numbers[i].get<float>();
    }
}

// A part that is an object: taken if it is there.
template <class Take>
void part(JsonObject& object, const char* key, Take&& take_fields) {
    const Json* value = object.find(key);
    if (value == nullptr) return;
    JsonObject fields(*value, object.where() + ", '" + key + "'");
    take_fields(fields);
    fields.refuse_others();
}

// --- parts -----------------------------------------------------------------------------------------------------------

Json put(const PictureOptions& options) {
    const PictureOptions usual;
    Json out = Json::object();
    if (options.kind) out["kind"] = name(*options.kind);
    if (options.format) out["format"] = name(*options.format);
    if (options.color != usual.color) out["color"] = name_of(kPictureColors, options.color);
    if (options.window != usual.window) out["window"] = name_of(kPictureWindows, options.window);
    if (!options.upright) out["upright"] = false;
    if (options.cube) out["cube"] = name_of(kCubeLayouts, *options.cube);
    if (options.cube_side != 0) out["cube_side"] = options.cube_side;
    if (options.part != 0) out["part"] = options.part;
    if (options.first_level != 0) out["first_level"] = options.first_level;
    if (options.levels != 0) out["levels"] = options.levels;
    if (options.raw)
        out["raw"] = {{"format", name(options.raw->format)},
                      {"width", options.raw->extent.width},
                      {"height", options.raw->extent.height},
                      {"frame", options.raw->frame}};
    return out;
}

PictureOptions take_options(JsonObject& object) {
    PictureOptions options;
    if (const auto kind = object.text("kind")) options.kind = verify::kind_of(*kind, object.where());
    if (const auto format = object.text("format")) options.format = verify::format_of(*format, object.where());
    take(object, "color", kPictureColors, options.color);
    take(object, "window", kPictureWindows, options.window);
    take(object, "upright", options.upright);
    if (object.find("cube") != nullptr) take(object, "cube", kCubeLayouts, options.cube.emplace());
    take(object, "cube_side", options.cube_side);
    take(object, "part", options.part);
    take(object, "first_level", options.first_level);
    take(object, "levels", options.levels);
    part(object, "raw", [&](JsonObject& raw) {
        RawFrames& frames = options.raw.emplace();
        if (const auto format = raw.text("format")) frames.format = verify::format_of(*format, raw.where());
        take(raw, "width", frames.extent.width);
        take(raw, "height", frames.extent.height);
        take(raw, "frame", frames.frame);
    });
    return options;
}

Json put(const Sampler& sampler) {
    Json out = Json::object();
    for (const AddressMode mode : sampler.address) out["address"].push_back(name_of(kAddressModes, mode));
    out["filter"] = name_of(kFilters, sampler.filter);
    out["mip_filter"] = name_of(kFilters, sampler.mip_filter);
    out["normalized_coordinates"] = sampler.normalized_coordinates;
    out["seamless_cubemap"] = sampler.seamless_cubemap;
    out["trilinear_optimization"] = sampler.trilinear_optimization;
    out["max_anisotropy"] = sampler.max_anisotropy;
    out["mip_bias"] = sampler.mip_bias;
    out["mip_min"] = sampler.mip_min;
    out["mip_max"] = sampler.mip_max;
    out["border"] = sampler.border;
    return out;
}

Json put(const ParameterValue& value) {
    return std::visit([](const auto& each) { return Json(each); }, value);
}

ParameterValue take_parameter(const Json& value, const JsonObject& object, const std::string& key) {
    if (value.is_boolean()) return value.get<bool>();
    if (value.is_number()) return value.get<double>();
    if (value.is_string()) return value.get<std::string>();
    bool numbers = value.is_array();
    for (const Json& each : value) numbers = numbers && each.is_number();
    if (!numbers) object.refuse(key, "is " + value.dump(), "Give a flag, a number, text or numbers.");
    return value.get<std::vector<double>>();
}

Json put(const Source& source) {
    Json out = Json::object();
    for (const std::filesystem::path& path : source.paths) out["files"].push_back(path.string());
    const Json options = put(source.options);
    if (!options.empty()) out["read_as"] = options;
    return out;
}

Source take_source(const Json& value, const std::string& where, const std::filesystem::path& folder) {
    JsonObject object(value, where);
    Source source;
    for (const Json& path : list(object, "files")) {
        if (!path.is_string()) object.refuse("files", "holds " + path.dump(), "Give names of files.");
        source.paths.push_back(folder / path.get<std::string>());
    }
    if (source.paths.empty()) object.refuse("files", "names no file", "Name one or more.");
    part(object, "read_as", [&](JsonObject& options) { source.options = take_options(options); });
    object.refuse_others();
    return source;
}

Json put(const Display& display) {
    return {{"channels", display.channels},
            {"luminance", display.luminance},
            {"exposure", display.exposure},
            {"gamma", display.gamma},
            {"low", display.low},
            {"high", display.high},
            {"false_colour", name_of(kFalseColours, display.false_colour)},
            {"mark_nan", display.mark_nan},
            {"mark_range", display.mark_range}};
}

void take_display(JsonObject& object, Display& display) {
    if (object.find("channels") != nullptr) {
        const Json& flags = list(object, "channels", 4);
        for (std::size_t i = 0; i < 4; ++i) {
            if (!flags[i].is_boolean())
                object.refuse("channels", "is " + flags.dump(), "Give true or false, four times.");
            display.channels[i] = flags[i].get<bool>();
        }
    }
    take(object, "luminance", display.luminance);
    take(object, "exposure", display.exposure);
    take(object, "gamma", display.gamma);
    take(object, "low", display.low);
    take(object, "high", display.high);
    take(object, "false_colour", kFalseColours, display.false_colour);
    take(object, "mark_nan", display.mark_nan);
    take(object, "mark_range", display.mark_range);
}

void take_kernel(JsonObject& object, KernelChoice& kernel) {
    take(object, "name", kernel.name);
    if (const Json* parameters = object.find("parameters")) {
        JsonObject(*parameters, object.where() + ", 'parameters'");  // an object, or an error
        for (const auto& [key, value] : parameters->items())
            kernel.parameters[key] = take_parameter(value, object, key);
    }
    for (const Json& index : list(object, "more_inputs")) {
        if (!index.is_number_unsigned())
            object.refuse("more_inputs", "holds " + index.dump(), "Give numbers of pictures, from 0 on.");
        kernel.more_inputs.push_back(index.get<std::size_t>());
    }
}

std::optional<Sampler> take_sampler(JsonObject& object, const char* key) {
    const Json* value = object.find(key);
    if (value == nullptr) return {};
    return verify::sampler_of(*value, object.where() + ", '" + key + "'", ArrayInfo{});
}

void take_probe(JsonObject& object, Probe& probe) {
    take(object, "operation", kFetchOperations, probe.operation);
    take(object, "u", probe.u);
    take(object, "v", probe.v);
    take(object, "w", probe.w);
    take(object, "lod", probe.lod);
    take(object, "line_from", probe.line_from);
    take(object, "line_to", probe.line_to);
    take_channel(object, "component", probe.component);
    take(object, "plot_first", probe.plot_first);
    take(object, "plot_last", probe.plot_last);
}

void take_footprint(JsonObject& object, FootprintChoice& footprint) {
    take(object, "fetch", kFootprintFetches, footprint.fetch);
    take(object, "longer", footprint.longer);
    take(object, "shorter", footprint.shorter);
    take(object, "turn", footprint.turn);
    take_channel(object, "channel", footprint.channel);
}

void take_ulp_region(JsonObject& object, UlpRegion& region) {
    take(object, "whole", region.whole);
    take(object, "points", region.points);
    if (std::ranges::find(UlpRegion::kPoints, region.points) == UlpRegion::kPoints.end())
        object.refuse("points", fmt::format("is {}", region.points),
                      fmt::format("Use one of {}.", fmt::join(UlpRegion::kPoints, ", ")));
}

void take_pins(JsonObject& object, std::vector<Position>& pins) {
    for (const Json& pin : list(object, "pins")) {
        if (!pin.is_array() || pin.size() != 2 || !pin[0].is_number() || !pin[1].is_number())
            object.refuse("pins", "holds " + pin.dump(), "Give two numbers each.");
        pins.push_back({pin[0].get<double>(), pin[1].get<double>()});
    }
}

void take_view(JsonObject& object, Session& session) {
    take(object, "fits", session.fits);
    take(object, "zoom", session.view.zoom);
    take(object, "x", session.view.centre.x);
    take(object, "y", session.view.centre.y);
    if (!(session.view.zoom >= kLeastZoom && session.view.zoom <= kMostZoom))
        object.refuse("zoom", fmt::format("is {}", session.view.zoom),
                      fmt::format("Use {} to {}.", kLeastZoom, kMostZoom));
}

void take_session(JsonObject& object, Session& session, const std::filesystem::path& folder) {
    std::size_t count = 0;
    for (const Json& source : list(object, "pictures"))
        session.pictures.push_back(take_source(source, fmt::format("{}, picture {}", object.where(), count++), folder));
    take(object, "current", session.current);
    if (const auto reference = object.count("reference")) session.reference = *reference;
    take(object, "device", session.device);
    part(object, "place", [&](JsonObject& place) {
        take(place, "level", session.place.level);
        take(place, "layer", session.place.layer);
        take(place, "face", session.place.face);
        take(place, "slice", session.place.slice);
        take(place, "plane", session.place.plane);
    });
    take(object, "layout", kLayouts, session.layout);
    part(object, "view", [&](JsonObject& view) { take_view(view, session); });
    take(object, "reading", kReadings, session.reading);
    session.sampler = take_sampler(object, "sampler");
    session.second_sampler = take_sampler(object, "second_sampler");
    part(object, "display", [&](JsonObject& display) { take_display(display, session.display); });
    part(object, "compare", [&](JsonObject& compare) {
        take(compare, "mode", kCompareModes, session.compare.mode);
        take(compare, "against", kAgainst, session.compare.against);
        take(compare, "wipe", session.compare.wipe);
        take(compare, "flip", session.compare.flip);
    });
    part(object, "kernel", [&](JsonObject& kernel) { take_kernel(kernel, session.kernel); });
    part(object, "selection", [&](JsonObject& box) {
        TexelBox& selection = session.selection.emplace();
        take(box, "x", selection.x);
        take(box, "y", selection.y);
        take(box, "width", selection.width);
        take(box, "height", selection.height);
    });
    take_pins(object, session.pins);
    part(object, "probe", [&](JsonObject& probe) { take_probe(probe, session.probe); });
    part(object, "footprint", [&](JsonObject& footprint) { take_footprint(footprint, session.footprint); });
    part(object, "ulp_region", [&](JsonObject& region) { take_ulp_region(region, session.ulp_region); });
    part(object, "lod_plane", [&](JsonObject& plane) {
        take(plane, "shown", session.lod_plane.shown);
        take(plane, "tilt", session.lod_plane.tilt);
        take(plane, "turn", session.lod_plane.turn);
        take(plane, "repeats", session.lod_plane.repeats);
    });
    take(object, "lod_quantity", kLodQuantities, session.lod_quantity);
    take(object, "histogram_scope", kHistogramScopes, session.histogram_scope);
    part(object, "sphere", [&](JsonObject& sphere) {
        take(sphere, "yaw", session.sphere_yaw);
        take(sphere, "pitch", session.sphere_pitch);
    });
    part(object, "overlays", [&](JsonObject& overlays) {
        take(overlays, "values", session.overlays.values);
        take(overlays, "grid", session.overlays.grid);
        take(overlays, "footprint", session.overlays.footprint);
        take(overlays, "hexadecimal", session.overlays.hexadecimal);
    });
    if (object.find("panels") != nullptr) session.panels.clear();
    for (const Json& panel : list(object, "panels")) {
        if (!panel.is_string()) object.refuse("panels", "holds " + panel.dump(), "Give names of panels.");
        session.panels.push_back(panel.get<std::string>());
    }
}

[[noreturn]] void refuse_file(const std::filesystem::path& path, const char* problem, const char* remedy) {
    throw Error({.code = ErrorCode::io,
                 .object = "texton::viewer::Session",
                 .problem = fmt::format("{} {}", path.string(), problem),
                 .remedy = remedy});
}

}  // namespace

std::string to_json(const Session& session) {
    Json out = Json::object();
    out["pictures"] = Json::array();
    for (const Source& source : session.pictures) out["pictures"].push_back(put(source));
    out["current"] = session.current;
    if (session.reference) out["reference"] = *session.reference;
    out["device"] = session.device;
    out["place"] = {{"level", session.place.level},
                    {"layer", session.place.layer},
                    {"face", session.place.face},
                    {"slice", session.place.slice},
                    {"plane", session.place.plane}};
    out["layout"] = name_of(kLayouts, session.layout);
    out["view"] = {{"fits", session.fits},
                   {"zoom", session.view.zoom},
                   {"x", session.view.centre.x},
                   {"y", session.view.centre.y}};
    out["reading"] = name_of(kReadings, session.reading);
    if (session.sampler) out["sampler"] = put(*session.sampler);
    if (session.second_sampler) out["second_sampler"] = put(*session.second_sampler);
    out["display"] = put(session.display);
    out["compare"] = {{"mode", name_of(kCompareModes, session.compare.mode)},
                      {"against", name_of(kAgainst, session.compare.against)},
                      {"wipe", session.compare.wipe},
                      {"flip", session.compare.flip}};
    if (session.kernel != KernelChoice{}) {
        Json& kernel = out["kernel"] = {{"name", session.kernel.name}, {"parameters", Json::object()}};
        for (const auto& [key, value] : session.kernel.parameters) kernel["parameters"][key] = put(value);
        kernel["more_inputs"] = session.kernel.more_inputs;
    }
    if (const auto& box = session.selection)
        out["selection"] = {{"x", box->x}, {"y", box->y}, {"width", box->width}, {"height", box->height}};
    out["pins"] = Json::array();
    for (const Position& pin : session.pins) out["pins"].push_back({pin.x, pin.y});
    const Probe& probe = session.probe;
    out["probe"] = {{"operation", name_of(kFetchOperations, probe.operation)},
                    {"u", probe.u},
                    {"v", probe.v},
                    {"w", probe.w},
                    {"lod", probe.lod},
                    {"line_from", probe.line_from},
                    {"line_to", probe.line_to},
                    {"component", probe.component},
                    {"plot_first", probe.plot_first},
                    {"plot_last", probe.plot_last}};
    const FootprintChoice& footprint = session.footprint;
    out["footprint"] = {{"fetch", name_of(kFootprintFetches, footprint.fetch)},
                        {"longer", footprint.longer},
                        {"shorter", footprint.shorter},
                        {"turn", footprint.turn},
                        {"channel", footprint.channel}};
    out["ulp_region"] = {{"whole", session.ulp_region.whole}, {"points", session.ulp_region.points}};
    out["lod_plane"] = {{"shown", session.lod_plane.shown},
                        {"tilt", session.lod_plane.tilt},
                        {"turn", session.lod_plane.turn},
                        {"repeats", session.lod_plane.repeats}};
    out["lod_quantity"] = name_of(kLodQuantities, session.lod_quantity);
    out["histogram_scope"] = name_of(kHistogramScopes, session.histogram_scope);
    out["sphere"] = {{"yaw", session.sphere_yaw}, {"pitch", session.sphere_pitch}};
    out["overlays"] = {{"values", session.overlays.values},
                       {"grid", session.overlays.grid},
                       {"footprint", session.overlays.footprint},
                       {"hexadecimal", session.overlays.hexadecimal}};
    out["panels"] = session.panels;
    return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Session session_of(const std::string& json, const std::string& where, const std::filesystem::path& folder) {
    const Json value = Json::parse(json, nullptr, false);
    if (value.is_discarded()) verify::refuse_words(where, "it is no JSON", "Give what the viewer saved as a session.");
    Session session;
    JsonObject object(value, where);
    take_session(object, session, folder);
    object.refuse_others();
    if (session.current >= session.pictures.size()) session.current = 0;
    if (session.reference && *session.reference >= session.pictures.size()) session.reference.reset();
    return session;
}

Session read_session(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file || !text) refuse_file(path, "cannot be read", "Name a session file that is there.");
    return session_of(text.str(), path.string(), path.parent_path());
}

void write_session(const std::filesystem::path& path, const Session& session) {
    // Aside, and renamed when it is complete.
    std::filesystem::path aside = path;
    aside += fmt::format(".{}", getpid());
    std::ofstream file(aside, std::ios::binary);
    file << to_json(session);
    file.close();
    std::error_code failed;
    if (file) std::filesystem::rename(aside, path, failed);
    if (!file || failed) {
        std::filesystem::remove(aside, failed);
        refuse_file(path, "cannot be written", "Write to another path.");
    }
}

}  // namespace texton::viewer

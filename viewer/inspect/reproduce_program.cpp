#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <variant>

#include "viewer/inspect/reproduce.h"
#include "viewer/model/kernel_run.h"
#include "viewer/model/reduced_image.h"
#include "viewer/text/enum_names.h"

namespace texton::viewer {
namespace {

const char* word_of(bool value) { return value ? "true" : "false"; }

std::string word_of(Format format) { return fmt::format("texton::Format::{}", name(format)); }
std::string word_of(ArrayKind kind) { return fmt::format("texton::ArrayKind::{}", name(kind)); }
std::string word_of(Filter filter) { return fmt::format("texton::Filter::{}", name_of(kFilters, filter)); }
std::string word_of(AddressMode mode) { return fmt::format("texton::AddressMode::{}", name_of(kAddressModes, mode)); }

std::string number(float value) {
    if (std::isnan(value)) return "NAN";
    if (std::isinf(value)) return value > 0 ? "INFINITY" : "-INFINITY";
    const std::string text = fmt::format("{}", value);
    return text.find_first_of(".e") == std::string::npos ? text + ".0f" : text + "f";
}

struct ParameterText {
    std::string operator()(bool value) const { return word_of(value); }
    std::string operator()(double value) const { return fmt::format("double({})", value); }
    std::string operator()(const std::string& value) const {
        return fmt::format("std::string({})", cpp_literal(value));
    }
    std::string operator()(const std::vector<double>& value) const {
        return fmt::format("std::vector<double>{{{}}}", fmt::join(value, ", "));
    }
};

class Program {
public:
    explicit Program(const Seen& seen) : seen_(seen) {}

    std::string text() {
        const Session& session = seen_.session;
        if (session.current >= session.images.size()) return "// There is no image.\n";
        line("const texton::Device device = {};", device());
        const bool kernel = !session.kernel.name.empty();
        load(seen_.halvings > 0 ? "whole" : "image", session.images[session.current], seen_.planar);
        if (seen_.halvings > 0) halve();
        if (kernel) {
            run_kernel();
        } else if (seen_.planar) {
            line("const texton::Array& array = planes.plane({});", session.subresource.plane);
        } else {
            line("const texton::Array& array = image_array;");
        }
        if (session.reading == Reading::sampled && session.layout == Layout::single &&
            seen_.shown.kind == ArrayKind::array_2d) {
            sample();
        } else {
            save_part();
        }
        return whole();
    }

private:
    template <class... Values>
    void line(fmt::format_string<Values...> format, Values&&... values) {
        body_ += "        " + fmt::format(format, std::forward<Values>(values)...) + "\n";
    }

    std::string device() const {
        const std::string& name = seen_.session.device;
        const std::size_t colon = name.find(':');
        const std::string index = colon == std::string::npos ? "" : name.substr(colon + 1);
        if (name.empty()) return "texton::Device::best()";
        return fmt::format("texton::Device::{}({})", name.substr(0, colon), index);
    }

    void load(const std::string& name, const Source& source, bool planar) {
        std::vector<std::string> paths;
        for (const std::filesystem::path& path : source.paths) paths.push_back(cpp_literal(path.string()));
        line("const std::vector<std::filesystem::path> {}_files{{{}}};", name, fmt::join(paths, ", "));
        line("texton::ImageOptions {}_options;", name);
        options(name + "_options", source.options);
        line("const texton::ImageFile {0} = texton::open_image({0}_files, {0}_options);", name);
        if (planar) {
            line("const texton::PlanarArray planes = texton::load_planar(device, {});", name);
        } else {
            line("const texton::Array {0}_array = texton::load(device, {0});", name);
        }
    }

    void options(const std::string& name, const ImageOptions& options) {
        const ImageOptions standard;
        if (options.kind) line("{}.kind = {};", name, word_of(*options.kind));
        if (options.format) line("{}.format = {};", name, word_of(*options.format));
        if (options.bc != standard.bc)
            line("{}.bc = texton::BlockDecoding::{};", name, name_of(kBlockDecodings, options.bc));
        if (options.color != standard.color)
            line("{}.color = texton::ImageColor::{};", name, name_of(kImageColors, options.color));
        if (options.window != standard.window) line("{}.window = texton::ImageWindow::display;", name);
        if (!options.upright) line("{}.upright = false;", name);
        if (options.cube) line("{}.cube = texton::CubeLayout::{};", name, name_of(kCubeLayouts, *options.cube));
        if (options.cube_side != 0) line("{}.cube_side = {};", name, options.cube_side);
        if (options.part != 0) line("{}.part = {};", name, options.part);
        if (!options.part_name.empty()) line("{}.part_name = {};", name, cpp_literal(options.part_name));
        if (!options.channels.empty()) {
            std::vector<std::string> channels;
            for (const std::string& channel : options.channels) channels.push_back(cpp_literal(channel));
            line("{}.channels = {{{}}};", name, fmt::join(channels, ", "));
        }
        if (options.first_level != 0) line("{}.first_level = {};", name, options.first_level);
        if (options.levels != 0) line("{}.levels = {};", name, options.levels);
        if (options.layer) line("{}.layer = {};", name, *options.layer);
        if (options.face) line("{}.face = {};", name, *options.face);
        if (options.frame != 0) line("{}.frame = {};", name, options.frame);
        if (options.raw) line("{}.raw = texton::raw_frames_of({});", name, cpp_literal(to_string(*options.raw)));
    }

    void sampler(const Sampler& sampler) {
        line("texton::Sampler sampler;");
        const Sampler standard;
        for (int i = 0; i < 3; ++i) {
            if (sampler.address[i] != standard.address[i])
                line("sampler.address[{}] = {};", i, word_of(sampler.address[i]));
        }
        if (sampler.filter != standard.filter) line("sampler.filter = {};", word_of(sampler.filter));
        if (sampler.mip_filter != standard.mip_filter) line("sampler.mip_filter = {};", word_of(sampler.mip_filter));
        if (sampler.normalized_coordinates) line("sampler.normalized_coordinates = true;");
        if (sampler.seamless_cubemap) line("sampler.seamless_cubemap = true;");
        if (!sampler.trilinear_optimization) line("sampler.trilinear_optimization = false;");
        if (sampler.max_anisotropy != 1) line("sampler.max_anisotropy = {};", int{sampler.max_anisotropy});
        if (sampler.mip_bias != 0) line("sampler.mip_bias = {};", number(sampler.mip_bias));
        if (sampler.mip_min != standard.mip_min) line("sampler.mip_min = {};", number(sampler.mip_min));
        if (sampler.mip_max != standard.mip_max) line("sampler.mip_max = {};", number(sampler.mip_max));
        for (int i = 0; i < 4; ++i) {
            if (sampler.border[i] != 0) line("sampler.border[{}] = {};", i, number(sampler.border[i]));
        }
    }

    // Writes code that computes the reduced image from the whole image.
    void halve() {
        const Extent extent = seen_.image.extent;
        const std::string format = word_of(seen_.image.format);
        line("const texton::Extent halved{{{}, {}}};", extent.width, extent.height);
        line("const texton::Linear squares(device, {}, halved);", format);
        line("const texton::Stream halving(device);");
        line("texton::resample(halving, squares.view({}, halved), texton::Texture(whole_array),", format);
        line("                 {{.filter = texton::ResampleFilter::{}, .crop = {{0, 0, {}, {}}}}});",
             is_whole_numbers(seen_.image.format) ? "nearest" : "area", extent.width << seen_.halvings,
             extent.height << seen_.halvings);
        line("halving.synchronize();");
        line("const texton::Array image_array(device, {{.format = {}, .extent = halved}});", format);
        line("texton::copy(image_array.view(), squares.view({}, halved));", format);
    }

    void run_kernel() {
        const Session& session = seen_.session;
        sampler(session.sampler.value_or(verify::standard_sampler(seen_.image)));
        std::vector<std::string> textures;
        if (seen_.planar) {
            textures = {"texton::Texture(planes.plane(0), sampler)", "texton::Texture(planes.plane(1), sampler)"};
        } else {
            textures = {"texton::Texture(image_array, sampler)"};
        }
        for (std::size_t i = 0; i < session.kernel.more_inputs.size(); ++i) {
            if (session.kernel.more_inputs[i] >= session.images.size()) continue;
            const std::string name = fmt::format("input_{}", i + 1);
            load(name, session.images[session.kernel.more_inputs[i]], false);
            textures.push_back(fmt::format("texton::Texture({}_array, sampler)", name));
        }
        line("const std::vector<texton::Texture> textures{{{}}};", fmt::join(textures, ", "));
        line("const texton::Kernel& kernel = texton::kernel_named({});", cpp_literal(session.kernel.name));
        std::vector<std::string> parameters;
        for (const auto& [name, value] : session.kernel.parameters)
            parameters.push_back(fmt::format("{{{}, {}}}", cpp_literal(name), std::visit(ParameterText{}, value)));
        line("const std::map<std::string, texton::ParameterValue> parameters{{{}}};", fmt::join(parameters, ", "));
        line("const texton::Arguments arguments(kernel.info, parameters);");
        line("std::vector<texton::Linear> memory;");
        line("std::vector<texton::View> results;");
        line("for (const texton::ImageShape& shape : texton::shapes(kernel, arguments, textures)) {{");
        line("    memory.emplace_back(device, shape.format, shape.extent);");
        line("    results.push_back(memory.back().view(shape.format, shape.extent));");
        line("}}");
        line("const texton::Stream stream(device);");
        line("texton::enqueue(kernel, stream, results, arguments, textures);");
        line("stream.synchronize();");
        line("const texton::Extent extent = results[0].extent();");
        line("const texton::ArrayInfo made{{.format = results[0].format(),");
        line("                              .extent = {{extent.width, extent.height}},");
        line("                              .kind = extent.depth > 1 ? texton::ArrayKind::layered_2d");
        line("                                                       : texton::ArrayKind::array_2d,");
        line("                              .layers = extent.depth}};");
        line("const texton::Array array(device, made);");
        line("texton::copy(array.view(), results[0]);");
    }

    void sample() {
        const TexelBox box = visible_box(seen_);
        const double zoom = seen_.session.view.zoom;
        const auto pixels = [zoom](std::size_t texels) {
            return std::max(1l, std::lround(static_cast<double>(texels) * zoom));
        };
        const bool kernel = !seen_.session.kernel.name.empty();
        const Sampler of_canvas = seen_.session.sampler.value_or(verify::standard_sampler(seen_.shown));
        if (!kernel) sampler(of_canvas);
        line("const texton::Texture texture(array, sampler);");
        line("const texton::Extent size{{{}, {}}};", pixels(box.width), pixels(box.height));
        line("const texton::Linear pixels(device, {}, size);", word_of(seen_.shown.format));
        line("const texton::View view = pixels.view({}, size);", word_of(seen_.shown.format));
        line("const texton::Stream {}(device);", kernel ? "sampling" : "stream");
        line("texton::resample({}, view, texture, {{.filter = texton::ResampleFilter::{},",
             kernel ? "sampling" : "stream", of_canvas.filter == Filter::linear ? "linear" : "nearest");
        line("                                    .crop = {{{}, {}, {}, {}}}}});", box.x, box.y, box.width, box.height);
        line("{}.synchronize();", kernel ? "sampling" : "stream");
        line("texton::save({}, view);", cpp_literal(file_for(seen_.shown.format, "view")));
    }

    void save_part() {
        const SubresourceIndex& subresource = seen_.session.subresource;
        const ArrayInfo& info = seen_.shown;
        if (seen_.session.layout != Layout::single) return line("texton::save(\"view.dds\", array);");
        line("texton::Subresource part;");
        if (subresource.level != 0) line("part.level = {};", subresource.level);
        if (is_layered(info.kind)) line("part.layer = {};", subresource.layer);
        if (is_cube(info.kind)) line("part.face = {};", subresource.face);
        const Extent extent = level_extent(info, subresource.level);
        const TexelBox box = visible_box(seen_);
        const bool volume = info.kind == ArrayKind::array_3d;
        const bool cut = box != TexelBox{0, 0, extent.width, extent.height} && block_side(info.format) == 1;
        if (cut || volume) {
            const TexelBox part = cut ? box : TexelBox{0, 0, extent.width, extent.height};
            line("part.region = texton::Region{{{{{}, {}, {}}}, {{{}, {}, 1}}}};", part.x, part.y,
                 volume ? subresource.slice : 0, part.width, part.height);
        }
        line("texton::save({}, array.view(part));", cpp_literal(file_for(info.format, "view")));
    }

    std::string whole() const {
        constexpr const char* kHeaders[] = {"array.h",      "copy.h",       "error.h",      "kernel.h",   "linear.h",
                                            "image_file.h", "image_load.h", "image_save.h", "resample.h", "texture.h"};
        std::string out =
            "// find_package(texton REQUIRED)\n"
            "// target_link_libraries(program PRIVATE texton::kernels texton::io)\n";
        for (const char* header : kHeaders) out += fmt::format("#include <texton/{}>\n", header);
        for (const char* header : {"cmath", "filesystem", "iostream", "map", "string", "vector"})
            out += fmt::format("{}#include <{}>\n", header == std::string_view("cmath") ? "\n" : "", header);
        out += "\nint main() {\n    try {\n" + body_;
        out +=
            "    } catch (const texton::Error& error) {\n"
            "        std::cerr << error.what() << '\\n';\n"
            "        return 1;\n"
            "    }\n"
            "}\n";
        return out;
    }

    const Seen& seen_;
    std::string body_;
};

}  // namespace

std::string cpp_literal(const std::string& text) {
    std::string out = "\"";
    for (const char letter : text) {
        const auto code = static_cast<unsigned char>(letter);
        if (letter == '"' || letter == '\\') {
            out += std::string("\\") + letter;
        } else if (code < 0x20) {
            out += fmt::format("\\{:03o}", code);
        } else {
            out += letter;
        }
    }
    return out + '"';
}

std::string cpp_program(const Seen& seen) { return Program(seen).text(); }

}  // namespace texton::viewer

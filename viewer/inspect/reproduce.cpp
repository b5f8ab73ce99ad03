#include "viewer/inspect/reproduce.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <tuple>
#include <variant>

#include "viewer/model/kernel_run.h"
#include "viewer/model/reduced_image.h"
#include "viewer/model/view_state.h"
#include "viewer/text/enum_names.h"

// The commands form a chain: read the files as one array, run the kernel, extract the displayed level, layer, face or
// slice, and write its visible part. Steps without effect are omitted. If a command cannot read the files with the
// session's options, `texton convert` first writes an intermediate file.

namespace texton::viewer {
namespace {

using Text = std::vector<std::string>;

// --- text of options -------------------------------------------------------------------------------------------------

struct ParameterText {
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(double value) const { return fmt::format("{}", value); }
    std::string operator()(const std::string& value) const { return value; }
    std::string operator()(const std::vector<double>& value) const { return fmt::format("{}", fmt::join(value, ",")); }
};

void add(Text& text, const char* option, std::string value) {
    text.emplace_back(option);
    text.push_back(std::move(value));
}

Text words_of(const ImageOptions& options) {
    const ImageOptions standard;
    Text out;
    if (options.kind) add(out, "--kind", std::string(name(*options.kind)));
    if (options.raw) add(out, "--raw", to_string(*options.raw));
    if (options.frame != 0) add(out, "--frame", std::to_string(options.frame));
    if (options.format) add(out, "--format", std::string(name(*options.format)));
    if (options.bc != standard.bc) add(out, "--bc", name_of(kBlockDecodings, options.bc));
    if (options.color != standard.color) add(out, "--color", name_of(kImageColors, options.color));
    if (options.window != standard.window) add(out, "--window", "display");
    if (!options.upright) out.emplace_back("--as-stored");
    if (options.cube) add(out, "--cube", name_of(kCubeLayouts, *options.cube));
    if (options.cube_side != 0) add(out, "--cube-side", std::to_string(options.cube_side));
    if (!options.part_name.empty()) {
        add(out, "--part", options.part_name);
    } else if (options.part != 0) {
        add(out, "--part", std::to_string(options.part));
    }
    if (!options.channels.empty()) add(out, "--channels", fmt::format("{}", fmt::join(options.channels, ",")));
    if (options.first_level != 0) add(out, "--first-level", std::to_string(options.first_level));
    if (options.levels != 0) add(out, "--levels", std::to_string(options.levels));
    if (options.layer) add(out, "--layer", std::to_string(*options.layer));
    if (options.face) add(out, "--face", std::to_string(*options.face));
    return out;
}

// Returns the value of `--sampler`: normalized_coordinates, and the fields that differ from the standard sampler of the
// commands.
std::string words_of(const Sampler& sampler, const ArrayInfo& info) {
    const Sampler standard = verify::standard_sampler(info);
    const auto filter = [](Filter value) { return name_of(kFilters, value); };
    const auto flag = [](bool value) { return value ? "true" : "false"; };
    Text out;
    if (!std::ranges::equal(sampler.address, standard.address))
        out.push_back(fmt::format("address={}/{}/{}", name_of(kAddressModes, sampler.address[0]),
                                  name_of(kAddressModes, sampler.address[1]),
                                  name_of(kAddressModes, sampler.address[2])));
    // Always written, because the commands normalize coordinates for wrap and mirror if it is not given.
    out.push_back(fmt::format("normalized_coordinates={}", flag(sampler.normalized_coordinates)));
    if (sampler.filter != standard.filter) out.push_back(fmt::format("filter={}", filter(sampler.filter)));
    if (sampler.mip_filter != standard.mip_filter)
        out.push_back(fmt::format("mip_filter={}", filter(sampler.mip_filter)));
    if (sampler.seamless_cubemap != standard.seamless_cubemap)
        out.push_back(fmt::format("seamless_cubemap={}", flag(sampler.seamless_cubemap)));
    if (sampler.trilinear_optimization != standard.trilinear_optimization)
        out.push_back(fmt::format("trilinear_optimization={}", flag(sampler.trilinear_optimization)));
    if (sampler.max_anisotropy != standard.max_anisotropy)
        out.push_back(fmt::format("max_anisotropy={}", int{sampler.max_anisotropy}));
    if (sampler.mip_bias != standard.mip_bias) out.push_back(fmt::format("mip_bias={}", sampler.mip_bias));
    if (sampler.mip_min != standard.mip_min) out.push_back(fmt::format("mip_min={}", sampler.mip_min));
    if (sampler.mip_max != standard.mip_max) out.push_back(fmt::format("mip_max={}", sampler.mip_max));
    if (!std::ranges::equal(sampler.border, standard.border))
        out.push_back(fmt::format("border={}", fmt::join(sampler.border, "/")));
    return fmt::format("{}", fmt::join(out, ","));
}

// --- chain of commands -----------------------------------------------------------------------------------------------

// Files that the next command reads, and the options to read them.
struct Input {
    Text paths;
    ImageOptions options;

    // True if `texton run` can read the input: one file with no options except the kind.
    bool is_plain() const {
        ImageOptions rest = options;
        rest.kind.reset();
        return paths.size() == 1 && rest == ImageOptions{};
    }
};

class Chain {
public:
    explicit Chain(const Seen& seen) : seen_(seen) {}

    CommandLines all() {
        const Session& session = seen_.session;
        if (session.current >= session.images.size()) {
            lines_.notes.emplace_back("There is no image.");
            return lines_;
        }
        now_ = input_of(session.images[session.current]);
        if (seen_.halvings > 0) halve();
        if (seen_.planar && session.kernel.name.empty()) {
            lines_.notes.emplace_back(
                "The commands read planar images only as input of a kernel. This command copies the whole frame.");
            convert("view.yuv");
            return lines_;
        }
        if (!session.kernel.name.empty()) run_kernel();
        if (take_position()) cut();
        return lines_;
    }

private:
    static Input input_of(const Source& source) {
        Input input{{}, source.options};
        for (const std::filesystem::path& path : source.paths) input.paths.push_back(path.string());
        return input;
    }

    void write(const Text& text, const std::string& out) {
        Text quoted;
        for (const std::string& word : text) quoted.push_back(shell_word(word));
        lines_.lines.push_back(fmt::format("{}", fmt::join(quoted, " ")));
        lines_.out = out;
        now_ = {{out}, {}};
    }

    void convert(const std::string& out, const Text& more = {}) {
        Text text{"texton", "convert"};
        text.insert(text.end(), now_.paths.begin(), now_.paths.end());
        text.push_back(out);
        const Text options = words_of(now_.options);
        text.insert(text.end(), options.begin(), options.end());
        text.insert(text.end(), more.begin(), more.end());
        write(text, out);
    }

    // Returns a file that `texton run` can read, and adds a command that writes the file if necessary.
    std::string plain(Input input, const std::string& name) {
        if (input.is_plain()) return input.paths.front();
        const Input before = std::exchange(now_, std::move(input));
        convert(name);
        now_ = before;
        return name;
    }

    void run(const std::string& kernel, const std::string& out, const Text& options) {
        const std::string kind = kind_word();
        Text text{"texton", "run", kernel, plain(now_, "input.dds"), "-o", out};
        text.insert(text.end(), options.begin(), options.end());
        if (!kind.empty()) add(text, "--kind", kind);
        add_device(text);
        write(text, out);
    }

    void halve() {
        const auto& [format, extent] = std::tie(seen_.image.format, seen_.image.extent);
        const std::string out = file_for(format, "halved");
        run("resample", out,
            {"--size", fmt::format("{}x{}", extent.width, extent.height), "--set",
             fmt::format("filter={}", is_whole_numbers(format) ? "nearest" : "area"), "--set",
             fmt::format("crop=0,0,{},{}", extent.width << seen_.halvings, extent.height << seen_.halvings),
             "--sampler", "filter=point", "--format", std::string(name(format))});
        lines_.notes.emplace_back(
            "The first resample command needs memory for the whole image. The viewer shows a reduced image.");
    }

    // Returns the kind for `--kind`. Files written by `texton convert` do not need it.
    std::string kind_word() const {
        return now_.is_plain() && now_.options.kind ? std::string(name(*now_.options.kind)) : std::string();
    }

    void add_device(Text& text) const {
        if (!seen_.session.device.empty()) add(text, "--device", seen_.session.device);
    }

    void run_kernel() {
        const Session& session = seen_.session;
        Text text{"texton", "run", session.kernel.name, plain(now_, "input.dds")};
        const std::string kind = kind_word();
        for (std::size_t i = 0; i < session.kernel.more_inputs.size(); ++i) {
            const std::size_t index = session.kernel.more_inputs[i];
            if (index < session.images.size())
                text.push_back(plain(input_of(session.images[index]), fmt::format("input_{}.dds", i + 1)));
        }
        add(text, "-o", "result.dds");
        for (const auto& [parameter, value] : session.kernel.parameters)
            add(text, "--set", fmt::format("{}={}", parameter, std::visit(ParameterText{}, value)));
        if (session.sampler) add(text, "--sampler", words_of(*session.sampler, seen_.image));
        if (!kind.empty()) add(text, "--kind", kind);
        add_device(text);
        write(text, "result.dds");
    }

    // Extracts the displayed level, layer, face or slice as a 2D image. Returns false if there is no further step.
    bool take_position() {
        const SubresourceIndex& subresource = seen_.session.subresource;
        const ArrayInfo& info = seen_.shown;
        if (seen_.session.layout != Layout::single) {
            convert("view.dds");
            lines_.notes.emplace_back("The file contains all levels, layers and faces, one after the other.");
            return false;
        }
        if (subresource.level > 0) now_.options.first_level += subresource.level;
        if (info.levels > 1) now_.options.levels = 1;
        switch (info.kind) {
            case ArrayKind::array_2d: return true;
            case ArrayKind::array_1d:
            case ArrayKind::layered_1d:
            case ArrayKind::cubemap_layered:
                convert("view.dds");
                lines_.notes.push_back(
                    fmt::format("No command extracts a part of an image of kind {}. The file contains the whole level.",
                                name(info.kind)));
                return false;
            case ArrayKind::layered_2d:
                now_.options.kind = info.kind;
                run("layer", file_for(plain_format(), "layer"),
                    {"--set", fmt::format("layer={}", subresource.layer), "--sampler", "filter=point", "--format",
                     std::string(name(plain_format()))});
                return true;
            case ArrayKind::array_3d: {
                now_.options.kind = info.kind;
                const Extent extent = level_extent(info, subresource.level);
                run("volume_slice", file_for(plain_format(), "slice"),
                    {"--set",
                     fmt::format("plane=0,0,{},{},0,0,0,{},0", static_cast<double>(subresource.slice) + 0.5,
                                 extent.width, extent.height),
                     "--sampler", "filter=point", "--format", std::string(name(plain_format()))});
                return true;
            }
            case ArrayKind::cubemap: {
                if (block_side(info.format) > 1) {
                    convert("view.dds");
                    lines_.notes.emplace_back(
                        "No command extracts a face of a block-compressed cubemap. The file contains the whole level.");
                    return false;
                }
                now_.options.kind = info.kind;
                convert(file_for(info.format, "faces"), {"--cube-out", "vertical_strip"});
                above_ = static_cast<std::size_t>(subresource.face) * level_extent(info, subresource.level).height;
                return true;
            }
        }
        return false;
    }

    // Writes the visible part of a 2D image.
    void cut() {
        const Session& session = seen_.session;
        const Extent extent = level_extent(seen_.shown, session.subresource.level);
        const TexelBox box = visible_box(seen_);
        const std::string out = file_for(plain_format(), "view");
        if (session.reading == Reading::sampled) {
            const double zoom = session.view.zoom;
            const auto pixels = [zoom](std::size_t texels) {
                return std::max(1l, std::lround(static_cast<double>(texels) * zoom));
            };
            const bool linear = session.sampler ? session.sampler->filter == Filter::linear
                                                : verify::standard_sampler(seen_.shown).filter == Filter::linear;
            Text text{"--size", fmt::format("{}x{}", pixels(box.width), pixels(box.height))};
            add(text, "--set", linear ? "filter=linear" : "filter=nearest");
            add(text, "--set", crop(box));
            if (session.sampler) add(text, "--sampler", words_of(*session.sampler, seen_.shown));
            add(text, "--format", std::string(name(plain_format())));
            run("resample", out, text);
            lines_.notes.emplace_back(
                "The resample command reads a single level. The canvas can read other levels, depending on the zoom.");
            return;
        }
        const bool whole =
            box == TexelBox{0, 0, extent.width, extent.height} && above_ == 0 && seen_.shown.kind != ArrayKind::cubemap;
        if (whole && block_side(seen_.shown.format) == 1) return convert(out);
        run("resample", out,
            {"--size", fmt::format("{}x{}", box.width, box.height), "--set", "filter=nearest", "--set", crop(box),
             "--sampler", "filter=point", "--format", std::string(name(plain_format()))});
    }

    std::string crop(const TexelBox& box) const {
        return fmt::format("crop={},{},{},{}", box.x, box.y + above_, box.width, box.height);
    }

    // Returns the format of the output: the format of the image, or the format to which blocks are decoded.
    Format plain_format() const {
        const FormatInfo& row = texton::info(seen_.shown.format);
        if (row.layout != FormatLayout::block) return seen_.shown.format;
        if (row.kind == FormatKind::floating) return Format::rgba16_float;
        if (row.channels == 1) return Format::r32_float;
        if (row.channels == 2) return Format::rg32_float;
        return row.kind == FormatKind::srgb ? Format::rgba8_srgb : Format::rgba8_unorm;
    }

    const Seen& seen_;
    Input now_;
    std::size_t above_ = 0;  // rows above the displayed face in a vertical strip of faces
    CommandLines lines_;
};

}  // namespace

TexelBox visible_box(const Seen& seen) {
    const Extent extent = level_extent(seen.shown, seen.session.subresource.level);
    const TexelBox whole{0, 0, extent.width, extent.height};
    if (seen.session.layout != Layout::single || is_flat(seen.shown.kind) || seen.width <= 0 || seen.height <= 0)
        return whole;
    const ViewState view = seen.session.fits ? fitted(extent, seen.width, seen.height) : seen.session.view;
    const Position from = to_image(view, {0, 0}, seen.width, seen.height);
    const Position to =
        to_image(view, {static_cast<double>(seen.width), static_cast<double>(seen.height)}, seen.width, seen.height);
    const auto first = [](double at, std::size_t end) {
        return static_cast<std::size_t>(std::clamp(std::floor(at + 1e-9), 0.0, static_cast<double>(end - 1)));
    };
    const auto past = [](double at, std::size_t begin, std::size_t end) {
        return static_cast<std::size_t>(
            std::clamp(std::ceil(at - 1e-9), static_cast<double>(begin + 1), static_cast<double>(end)));
    };
    TexelBox box{first(from.x, extent.width), first(from.y, extent.height), 0, 0};
    box.width = past(to.x, box.x, extent.width) - box.x;
    box.height = past(to.y, box.y, extent.height) - box.y;
    return box;
}

CommandLines command_lines(const Seen& seen) { return Chain(seen).all(); }

std::string file_for(Format format, const std::string& name) {
    const FormatInfo& row = info(format);
    if (row.layout == FormatLayout::planar) return name + ".yuv";
    const bool whole_bytes = row.layout == FormatLayout::plain && row.channels != 2;
    // A PNG file is read as sRGB by default, a TIFF file is not.
    if (whole_bytes && row.kind == FormatKind::srgb) return name + ".png";
    if (whole_bytes && row.kind == FormatKind::unorm) return name + ".tif";
    if (row.layout == FormatLayout::plain && row.kind == FormatKind::floating && row.bits > 8) return name + ".exr";
    return name + ".dds";
}

std::string shell_word(const std::string& text) {
    const bool plain = !text.empty() && std::ranges::all_of(text, [](unsigned char letter) {
        return std::isalnum(letter) != 0 ||
               std::string_view("-_./,:=+@%").find(static_cast<char>(letter)) != std::string_view::npos;
    });
    if (plain) return text;
    std::string out = "'";
    for (const char letter : text) out += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    return out + "'";
}

}  // namespace texton::viewer

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <texton/error.h>
#include <texton/image.h>
#include <texton/metrics.h>

#include "viewer/cli/commands.h"
#include "viewer/cli/terminal.h"

namespace texton::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const char*, 9> kMetrics{"differing", "max",  "ulp",       "mse",  "psnr",
                                              "ssim",      "flip", "histogram", "worst"};

struct Options {
    std::string a;
    std::string b;
    std::vector<std::string> metrics;
    std::size_t worst = 10;
    std::string heat_map;
    std::string ulp_map;
    std::optional<std::uint32_t> max_ulp;
    std::optional<double> min_psnr;
    std::optional<double> min_ssim;
    std::optional<double> max_flip;
    double pixels_per_degree = ComparisonOptions{}.pixels_per_degree;
    bool as_values = false;
    bool json = false;

    bool shows(const std::string& metric) const {
        return metrics.empty() || std::find(metrics.begin(), metrics.end(), metric) != metrics.end();
    }
    bool needs_ssim() const { return shows("ssim") || min_ssim; }
    bool needs_flip() const { return shows("flip") || max_flip || !heat_map.empty(); }
};

// One of the two files, and its texels in the form in which they are compared.
struct Side {
    std::string path;
    Image file;
    std::vector<float> values;  // four decoded values a texel; empty if the texels are compared as stored

    int channels() const { return std::min<int>(info(file.format).channels, std::max(file.file_channels, 1)); }
    ConstView view() const {
        if (!values.empty())
            return host_view(static_cast<const void*>(values.data()), Format::rgba32_float, file.extent);
        return host_view(static_cast<const void*>(file.texels.data()), file.format, file.extent);
    }
    std::string text() const { return fmt::format("{} is {} of {}", path, to_string(file.extent), name(file.format)); }
};

void make_alike(Side& a, Side& b, bool as_values) {
    const bool same_extent = a.file.extent == b.file.extent;
    if (same_extent && a.file.format == b.file.format) return;
    if (!same_extent || !as_values) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = "texton compare",
                     .problem = fmt::format("{}, but {}", a.text(), b.text()),
                     .remedy = same_extent ? "Compare the decoded values with --as-values, or convert one of the files."
                                           : "Crop or resample one of the images first."});
    }
    for (Side* side : {&a, &b}) side->values = read_channels(side->view());
}

// A limit that the command line sets, and the value that was found.
struct Limit {
    std::string name;
    double allowed;
    double found;
    bool held;
};

std::vector<Limit> limits(const Options& options, const Comparison& result) {
    std::vector<Limit> out;
    const auto at_most = [&](const char* name, double allowed, double found) {
        out.push_back({name, allowed, found, found <= allowed});
    };
    const auto at_least = [&](const char* name, double allowed, double found) {
        out.push_back({name, allowed, found, found >= allowed});
    };
    if (options.max_ulp) at_most("max_ulp", *options.max_ulp, result.all.max_ulp);
    if (options.min_psnr) at_least("min_psnr", *options.min_psnr, result.all.psnr);
    if (options.min_ssim) at_least("min_ssim", *options.min_ssim, *result.all.ssim);
    if (options.max_flip) at_most("max_flip", *options.max_flip, result.flip->mean);
    return out;
}

std::string number(double value) { return fmt::format("{:.6g}", value); }

std::string subresource(Offset at, Extent extent) {
    return extent.depth > 1 ? fmt::format("{}, {}, {}", at.x, at.y, at.z) : fmt::format("{}, {}", at.x, at.y);
}

std::string channel_name(std::size_t index) { return std::string(1, "rgba"[index]); }

// Returns the first and the last ulp distance of a bin of the histogram.
std::pair<std::uint64_t, std::uint64_t> bin(std::size_t index) {
    if (index == 0) return {0, 0};
    return {std::uint64_t{1} << (index - 1), (std::uint64_t{1} << index) - 1};
}

void print_differences(const Options& options, const Comparison& result) {
    std::vector<std::string> header{""};
    std::vector<const Difference*> columns;
    for (std::size_t c = 0; c < result.channels.size(); ++c) {
        header.push_back(channel_name(c));
        columns.push_back(&result.channels[c]);
    }
    header.emplace_back("all");
    columns.push_back(&result.all);
    Table table(header);
    bool rows = false;
    const auto add = [&](const char* metric, const char* title, auto cell) {
        if (!options.shows(metric)) return;
        std::vector<std::string> row{title};
        for (const Difference* column : columns) row.push_back(cell(*column));
        table.add(row);
        rows = true;
    };
    add("differing", "differing", [](const Difference& d) { return std::to_string(d.differing); });
    add("max", "max", [](const Difference& d) { return number(d.max); });
    add("max", "mean", [](const Difference& d) { return number(d.mean); });
    add("ulp", "max ulp", [](const Difference& d) { return std::to_string(d.max_ulp); });
    add("mse", "MSE", [](const Difference& d) { return number(d.mse); });
    add("mse", "RMSE", [](const Difference& d) { return number(d.rmse); });
    add("psnr", "PSNR, dB", [](const Difference& d) { return number(d.psnr); });
    add("ssim", "SSIM", [](const Difference& d) { return number(*d.ssim); });
    const auto specials = [](const auto& counts) { return fmt::format("{}/{}", counts[0], counts[1]); };
    if (result.all.nans[0] + result.all.nans[1] > 0)
        add("differing", "NaN, a/b", [&](const Difference& d) { return specials(d.nans); });
    if (result.all.infinities[0] + result.all.infinities[1] > 0)
        add("differing", "Inf, a/b", [&](const Difference& d) { return specials(d.infinities); });
    if (rows) fmt::print("\n{}", table.text());
}

void print_text(const Options& options, const Side& a, const Side& b, const Comparison& result) {
    const Extent extent = a.file.extent;
    fmt::print("a: {}\nb: {}\n", a.text(), b.text());
    if (!a.values.empty()) fmt::print("compared by decoded values: rgba32_float\n");
    fmt::print("{} of {} texels differ\n", result.all.differing, extent.width * extent.height * extent.depth);
    print_differences(options, result);
    if (options.shows("flip")) {
        const Flip& flip = *result.flip;
        fmt::print("\nFLIP: mean {}, max {}", number(flip.mean), number(flip.max));
        if (flip.exposures > 1) {
            fmt::print(", over {} exposures from {:+.2f} to {:+.2f} stops", flip.exposures, flip.first_exposure,
                       flip.last_exposure);
        }
        fmt::print("\n");
    }
    if (options.shows("histogram") && result.all.differing > 0) {
        Table table({"ulp distance", "channel values"});
        for (std::size_t i = 0; i < result.ulp_histogram.size(); ++i) {
            const auto [first, last] = bin(i);
            if (result.ulp_histogram[i] == 0) continue;
            table.add({first == last ? std::to_string(first) : fmt::format("{} to {}", first, last),
                       std::to_string(result.ulp_histogram[i])});
        }
        fmt::print("\n{}", table.text());
    }
    if (options.shows("worst") && !result.worst.empty()) {
        Table table({"worst texel", "ulp", "difference", "a", "b"});
        const auto list = [&](const std::array<double, 4>& values) {
            std::string out;
            for (std::size_t c = 0; c < result.channels.size(); ++c) out += (c == 0 ? "" : " ") + number(values[c]);
            return out;
        };
        for (const WorstTexel& texel : result.worst) {
            table.add({subresource(texel.at, extent), std::to_string(texel.ulp), number(texel.difference),
                       list(texel.a), list(texel.b)});
        }
        fmt::print("\n{}", table.of_text().text());
    }
    const std::vector<Limit> all = limits(options, result);
    if (!all.empty()) fmt::print("\n");
    for (const Limit& limit : all)
        fmt::print("{} {}: {} {}\n", limit.name, number(limit.allowed), limit.held ? "passed with" : "failed with",
                   number(limit.found));
}

Json json_of(const Options& options, const Difference& difference) {
    Json out = Json::object();
    if (options.shows("differing")) {
        out["differing"] = difference.differing;
        out["nan"] = difference.nans;
        out["inf"] = difference.infinities;
    }
    if (options.shows("max")) {
        out["max"] = difference.max;
        out["mean"] = difference.mean;
    }
    if (options.shows("ulp")) out["max_ulp"] = difference.max_ulp;
    if (options.shows("mse")) {
        out["mse"] = difference.mse;
        out["rmse"] = difference.rmse;
    }
    if (options.shows("psnr")) out["psnr"] = difference.psnr;
    if (options.shows("ssim")) out["ssim"] = *difference.ssim;
    return out;
}

Json json_of(const Side& side) {
    const Extent extent = side.file.extent;
    return {{"path", side.path},
            {"format", name(side.file.format)},
            {"width", extent.width},
            {"height", extent.height},
            {"depth", extent.depth}};
}

Json json_of(const Options& options, const Side& a, const Side& b, const Comparison& result, bool good) {
    Json out{{"a", json_of(a)},
             {"b", json_of(b)},
             {"compared_as", name(a.view().format())},
             {"peak", result.peak},
             {"equal", result.all.differing == 0},
             {"good", good},
             {"all", json_of(options, result.all)}};
    for (std::size_t c = 0; c < result.channels.size(); ++c)
        out["channels"][channel_name(c)] = json_of(options, result.channels[c]);
    if (options.shows("flip")) {
        const Flip& flip = *result.flip;
        out["flip"] = {{"mean", flip.mean}, {"max", flip.max}, {"exposures", flip.exposures}};
        if (flip.exposures > 1) {
            out["flip"]["first_exposure"] = flip.first_exposure;
            out["flip"]["last_exposure"] = flip.last_exposure;
        }
    }
    if (options.shows("histogram")) {
        out["ulp_histogram"] = Json::array();
        for (std::size_t i = 0; i < result.ulp_histogram.size(); ++i) {
            const auto [first, last] = bin(i);
            if (result.ulp_histogram[i] > 0)
                out["ulp_histogram"].push_back({{"from", first}, {"to", last}, {"count", result.ulp_histogram[i]}});
        }
    }
    if (options.shows("worst")) {
        out["worst"] = Json::array();
        for (const WorstTexel& texel : result.worst) {
            const auto channels = static_cast<std::ptrdiff_t>(result.channels.size());
            out["worst"].push_back({{"x", texel.at.x},
                                    {"y", texel.at.y},
                                    {"z", texel.at.z},
                                    {"ulp", texel.ulp},
                                    {"difference", texel.difference},
                                    {"a", std::vector<double>(texel.a.begin(), texel.a.begin() + channels)},
                                    {"b", std::vector<double>(texel.b.begin(), texel.b.begin() + channels)}});
        }
    }
    out["limits"] = Json::array();
    for (const Limit& limit : limits(options, result)) {
        out["limits"].push_back(
            {{"limit", limit.name}, {"allowed", limit.allowed}, {"found", limit.found}, {"held", limit.held}});
    }
    return out;
}

Status run(const Options& options) {
    Side a{options.a, read_image(options.a), {}};
    Side b{options.b, read_image(options.b), {}};
    make_alike(a, b, options.as_values);
    ComparisonOptions comparison{.ssim = options.needs_ssim(),
                                 .flip = options.needs_flip(),
                                 .worst = options.worst,
                                 .channels = static_cast<std::size_t>(std::max(a.channels(), b.channels())),
                                 .pixels_per_degree = options.pixels_per_degree};
    Comparison result;
    {
        ProgressBar bar("comparing");
        comparison.progress = [&](double done) { bar.show(done); };
        result = compare(a.view(), b.view(), comparison);
    }
    if (!options.heat_map.empty())
        write_image(options.heat_map, Format::rgba8_unorm, a.file.extent, heat_map(result.flip->errors));
    if (!options.ulp_map.empty())
        write_image(options.ulp_map, Format::rgba8_unorm, a.file.extent, ulp_map(ulp_distances(a.view(), b.view())));

    const std::vector<Limit> asked = limits(options, result);
    const bool good = asked.empty() ? result.all.differing == 0
                                    : std::all_of(asked.begin(), asked.end(), [](const Limit& l) { return l.held; });
    if (options.json)
        print_json(json_of(options, a, b, result, good));
    else
        print_text(options, a, b, result);
    return good ? Status::good : Status::different;
}

}  // namespace

void add_compare(CLI::App* command, Status& status) {
    const auto options = std::make_shared<Options>();
    command->add_option("A", options->a, "Reference image")->required()->type_name("FILE");
    command->add_option("B", options->b, "Image to compare with the reference")->required()->type_name("FILE");
    command
        ->add_option("--metric", options->metrics,
                     "Print only these metrics; repeat the option, or separate names by commas")
        ->delimiter(',')
        ->check(CLI::IsMember(std::set<std::string>(kMetrics.begin(), kMetrics.end())));
    command->add_option("--worst", options->worst, "Number of worst texels to list")->capture_default_str();
    command->add_option("--heat-map", options->heat_map, "Write an image of the FLIP error of each texel")
        ->type_name("FILE");
    command->add_option("--ulp-map", options->ulp_map, "Write an image of the largest ulp distance of each texel")
        ->type_name("FILE");
    command->add_option("--max-ulp", options->max_ulp, "Maximum ulp distance of any channel");
    command->add_option("--min-psnr", options->min_psnr, "Minimum PSNR of all channels, in dB");
    command->add_option("--min-ssim", options->min_ssim, "Minimum SSIM; color images are compared by luma");
    command->add_option("--max-flip", options->max_flip, "Maximum mean FLIP error");
    command
        ->add_option("--pixels-per-degree", options->pixels_per_degree,
                     "Pixels per degree of the visual angle, for FLIP")
        ->check(CLI::Range(1.0, 1000.0))
        ->type_name("FLOAT")
        ->capture_default_str();
    command->add_flag("--as-values", options->as_values,
                      "Compare files of different formats by decoded float32 values (linear light for FLIP)");
    command->add_flag("--json", options->json, "Print one JSON object instead of tables; infinities and NaN are null");
    command->footer(
        "The ulp distance of two values is the number of steps of the format from one to the other: codes of integer\n"
        "and normalized formats, representable floats otherwise. 0 equals -0, and NaN equals NaN. PSNR and SSIM use "
        "the\n"
        "stored values; sRGB is not linearized. Of two files with three channels, only these three are compared.\n"
        "--max-ulp, --min-psnr, --min-ssim and --max-flip are limits; the command passes if all of them are met.\n"
        "\n"
        "Examples:\n"
        "  texton compare golden.png new.png                      # passes if no texel differs\n"
        "  texton compare a.exr b.exr --max-ulp 1 --metric worst  # passes if all floats are at most one step apart\n"
        "  texton compare a.png b.png --max-flip 0.01 --heat-map seen.png\n"
        "\n"
        "Exit status:\n"
        "  0  all limits are met or, without limits, no texel differs\n"
        "  1  a limit is not met or, without limits, a texel differs\n"
        "  2  a file cannot be read or written, or the files cannot be compared");
    command->callback([options, &status] { status = run(*options); });
}

}  // namespace texton::cli

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <texton/error.h>
#include <texton/image.h>
#include <texton/metrics.h>

#include "viewer/cli/commands.h"
#include "viewer/cli/frame_sequence.h"
#include "viewer/cli/image_options.h"
#include "viewer/cli/progress.h"
#include "viewer/cli/terminal.h"
#include "viewer/model/compared_file.h"
#include "viewer/model/named_paths.h"

namespace texton::cli {
namespace {

using viewer::ComparedFile;
using viewer::with_srgb;
using Json = nlohmann::ordered_json;

constexpr const char* kAllMetrics = "all";
constexpr std::array kMetrics{"differing", "max",  "ulp",       "mse",   "psnr",
                              "ssim",      "flip", "histogram", "worst", kAllMetrics};

// SSIM and FLIP take several times as long as reading the files and all other metrics. Of images with more texels they
// are computed on request only.
constexpr std::size_t kMaxTexelsOfAllMetrics = std::size_t{1} << 24;

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
    bool first_image = false;
    ImageOptionText selection;
    bool json = false;

    bool shows(const std::string& metric) const {
        const auto lists = [&](const std::string& name) { return std::ranges::find(metrics, name) != metrics.end(); };
        return metrics.empty() || lists(kAllMetrics) || lists(metric);
    }
    bool needs_ssim() const { return shows("ssim") || min_ssim; }
    bool needs_flip() const { return shows("flip") || max_flip || !heat_map.empty(); }
};

// An image of one of the two files, and its texels in the form in which they are compared.
struct Side {
    std::string path;   // with the name of the image, if the file has several
    Format format;      // of the file
    std::string space;  // that the file states; empty if it states none
    Image file;
    std::vector<float> values;  // four decoded values a texel; empty if the texels are compared as stored

    int channels() const { return std::min<int>(info(file.format).channels, std::max(file.file_channels, 1)); }
    ConstView view() const {
        if (!values.empty())
            return host_view(static_cast<const void*>(values.data()), Format::rgba32_float, file.extent);
        return host_view(static_cast<const void*>(file.texels.data()), file.format, file.extent);
    }
    bool is_srgb() const { return info(format).kind == FormatKind::srgb; }
    // Returns the format of the texels that are compared.
    Format compared() const { return with_srgb(view().format(), is_srgb()); }
    std::string text() const {
        std::string out = fmt::format("{} is {} of {}", path, to_string(file.extent), name(format));
        const Format decoded = with_srgb(file.format, is_srgb());
        return decoded == format ? out : out + fmt::format(", decoded to {}", name(decoded));
    }
};

// Returns a note if two images of the same format differ in the encoding of their values, else an empty text.
std::string encoding_note(const Side& a, const Side& b) {
    const auto words = [](const Side& side) {
        if (side.is_srgb()) return std::string("sRGB");
        return side.space.empty() ? std::string("linear") : side.space;
    };
    if (a.file.format != b.file.format) return {};
    const bool states_both = !a.space.empty() && !b.space.empty();
    const bool unlike = a.is_srgb() != b.is_srgb() || (states_both && a.space != b.space);
    if (!unlike || words(a) == words(b)) return {};
    return fmt::format("The encodings differ: {} is {}, {} is {}. The stored values are compared, not the colors.",
                       a.path, words(a), b.path, words(b));
}

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
    bool is_minimum;

    // Returns true if the image of this limit is closer to failing than the image of the other one, or fails.
    bool is_worse_than(const Limit& other) const {
        if (held != other.held) return !held;
        return is_minimum ? found < other.found : found > other.found;
    }
};

std::vector<Limit> limits(const Options& options, const Comparison& result) {
    std::vector<Limit> out;
    const auto at_most = [&](const char* name, double allowed, double found) {
        out.push_back({name, allowed, found, found <= allowed, false});
    };
    const auto at_least = [&](const char* name, double allowed, double found) {
        out.push_back({name, allowed, found, found >= allowed, true});
    };
    if (options.max_ulp) at_most("max_ulp", *options.max_ulp, result.all.max_ulp);
    if (options.min_psnr) at_least("min_psnr", *options.min_psnr, result.all.psnr);
    if (options.min_ssim) at_least("min_ssim", *options.min_ssim, *result.all.ssim);
    if (options.max_flip) at_most("max_flip", *options.max_flip, result.flip->mean);
    return out;
}

// The comparison of all images.
struct Result {
    struct Row {
        std::string name;
        Extent extent;
        Difference all;
    };
    std::vector<Row> rows;      // one for each image
    std::vector<Limit> limits;  // each with the value of the image that is farthest from holding it
    std::vector<std::string> notes;
    // The image that differs most.
    std::size_t worst = 0;
    Side a;
    Side b;
    Comparison comparison;

    bool is_equal() const {
        return std::all_of(rows.begin(), rows.end(), [](const Row& row) { return row.all.differing == 0; });
    }
    bool is_good() const {
        if (limits.empty()) return is_equal();
        return std::all_of(limits.begin(), limits.end(), [](const Limit& limit) { return limit.held; });
    }
};

bool is_worse(const Difference& a, const Difference& b) {
    return std::tie(a.max, a.differing) > std::tie(b.max, b.differing);
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

void print_images(const Result& result) {
    if (result.rows.size() == 1) return;
    Table table({"image", "size", "differing", "max", "max ulp", "PSNR, dB"});
    for (const Result::Row& row : result.rows)
        table.add({row.name, to_string(row.extent), std::to_string(row.all.differing), number(row.all.max),
                   std::to_string(row.all.max_ulp), number(row.all.psnr)});
    fmt::print("{}\nThe image that differs most, or the first one:\n", table.of_text().text());
}

void print_text(const Options& options, const Result& all) {
    const Side &a = all.a, &b = all.b;
    const Comparison& result = all.comparison;
    const Extent extent = a.file.extent;
    for (const std::string& note : all.notes) fmt::print("{}\n", note);
    print_images(all);
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
    if (!all.limits.empty()) fmt::print("\n");
    for (const Limit& limit : all.limits)
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

Json json_of(const std::string& path, const Side& side) {
    const Extent extent = side.file.extent;
    return {{"path", path},
            {"format", name(side.format)},
            {"width", extent.width},
            {"height", extent.height},
            {"depth", extent.depth}};
}

Json json_of(const Options& options, const Result& all) {
    const Comparison& result = all.comparison;
    Json out{{"a", json_of(options.a, all.a)},
             {"b", json_of(options.b, all.b)},
             {"compared_as", name(all.a.compared() == all.b.compared() ? all.a.compared() : all.a.view().format())},
             {"peak", result.peak},
             {"equal", all.is_equal()},
             {"good", all.is_good()},
             {"notes", all.notes},
             {"images", Json::array()},
             {"image", all.worst},
             {"all", json_of(options, result.all)}};
    for (const Result::Row& row : all.rows)
        out["images"].push_back({{"name", row.name},
                                 {"width", row.extent.width},
                                 {"height", row.extent.height},
                                 {"depth", row.extent.depth},
                                 {"differing", row.all.differing},
                                 {"max", row.all.max},
                                 {"max_ulp", row.all.max_ulp},
                                 {"psnr", row.all.psnr}});
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
    for (const Limit& limit : all.limits) {
        out["limits"].push_back(
            {{"limit", limit.name}, {"allowed", limit.allowed}, {"found", limit.found}, {"held", limit.held}});
    }
    return out;
}

void require_alike(const ComparedFile& a, const ComparedFile& b) {
    bool same = a.size() == b.size();
    for (std::size_t i = 0; same && i < a.size(); ++i) same = a.name(i) == b.name(i);
    if (same) return;
    throw Error(
        {.code = ErrorCode::bad_argument,
         .object = "texton compare",
         .problem = fmt::format("{} has {}, but {} has {}", a.path(), a.text(), b.path(), b.text()),
         .remedy = "Compare only the first image of each file with --first-image, or convert one of the files."});
}

// The files that a name stands for: one, or numbered files.
std::vector<ComparedFile> opened(const std::string& name, const Options& options) {
    std::vector<ComparedFile> files;
    const ImageOptions selected = options.selection.options();
    const viewer::ComparedImages images{.all_parts = !options.selection.selects_part(),
                                        .all_frames = !options.selection.selects_frame(),
                                        .only_first = options.first_image};
    for (const std::filesystem::path& path : viewer::named_files(name))
        files.emplace_back(path.string(), selected, images);
    return files;
}

// An image of both sides.
struct Pair {
    const ComparedFile& a;
    const ComparedFile& b;
    std::size_t index;
    std::string name;  // among all images
};

std::vector<Pair> pairs_of(const std::vector<ComparedFile>& a, const std::vector<ComparedFile>& b) {
    if (a.size() != b.size()) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = "texton compare",
                     .problem = fmt::format("A stands for {} files, but B for {}", a.size(), b.size()),
                     .remedy = "Compare as many files with each other."});
    }
    std::vector<Pair> pairs;
    for (std::size_t file = 0; file < a.size(); ++file) {
        require_alike(a[file], b[file]);
        for (std::size_t i = 0; i < a[file].size(); ++i) {
            std::string name = a[file].name(i);
            if (a.size() > 1) name = a[file].path() + (name.empty() ? "" : ", ") + name;
            pairs.push_back({a[file], b[file], i, std::move(name)});
        }
    }
    return pairs;
}

Side read_side(const ComparedFile& file, std::size_t index) {
    const std::string name = file.name(index);
    return {name.empty() ? file.path() : fmt::format("{}, {},", file.path(), name),
            file.format(index),
            file.color_space(index),
            file.read(index),
            {}};
}

void merge(std::vector<Limit>& worst, const std::vector<Limit>& found) {
    if (worst.empty()) worst = found;
    for (std::size_t i = 0; i < found.size(); ++i)
        if (found[i].is_worse_than(worst[i])) worst[i] = found[i];
}

// The maps must not replace the images that are compared, or each other.
void require_other_files(const Options& options) {
    const auto check = [](const char* option, const std::string& out, const std::string& other) {
        if (out.empty() || !viewer::is_same_file(out, other)) return;
        throw Error({.code = ErrorCode::bad_argument,
                     .object = "texton compare",
                     .problem = fmt::format("{} would overwrite {}", option, other),
                     .remedy = "Write to another file."});
    };
    for (const std::string& name : {options.a, options.b}) {
        for (const std::filesystem::path& input : viewer::named_files(name)) {
            check("--heat-map", options.heat_map, input.string());
            check("--ulp-map", options.ulp_map, input.string());
        }
    }
    if (!options.heat_map.empty()) check("--ulp-map", options.ulp_map, options.heat_map);
}

// Leaves SSIM and FLIP out of the default metrics if the images are large and no option needs them. Adds a note that
// says so.
void choose_metrics(Options& options, const std::vector<ComparedFile>& files, std::vector<std::string>& notes) {
    const auto is_large = [](const ComparedFile& file) { return file.max_texels() > kMaxTexelsOfAllMetrics; };
    const bool needs_all = options.min_ssim || options.max_flip || !options.heat_map.empty();
    if (!options.metrics.empty() || needs_all || std::ranges::none_of(files, is_large)) return;
    for (const std::string metric : kMetrics) {
        if (metric != "ssim" && metric != "flip" && metric != kAllMetrics) options.metrics.push_back(metric);
    }
    notes.push_back(fmt::format(
        "SSIM and FLIP are not computed, because an image has more than {} texels. --metric all computes them.",
        kMaxTexelsOfAllMetrics));
}

Result compare_files(Options& options) {
    const std::vector<ComparedFile> files_a = opened(options.a, options), files_b = opened(options.b, options);
    const std::vector<Pair> pairs = pairs_of(files_a, files_b);
    Result out;
    choose_metrics(options, files_a, out.notes);
    for (const std::vector<ComparedFile>* files : {&files_a, &files_b})
        for (const ComparedFile& file : *files)
            out.notes.insert(out.notes.end(), file.notes().begin(), file.notes().end());
    std::string encodings;  // of the first images that differ in them
    ProgressBar bar("comparing", "images");
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const Pair& pair = pairs[i];
        bar.show(static_cast<double>(i), static_cast<double>(pairs.size()));
        std::future<Side> other = std::async(std::launch::async, [&] { return read_side(pair.b, pair.index); });
        Side a = read_side(pair.a, pair.index), b = other.get();
        make_alike(a, b, options.as_values);
        ComparisonOptions comparison{.ssim = options.needs_ssim(),
                                     .flip = options.needs_flip(),
                                     .worst = options.worst,
                                     .channels = static_cast<std::size_t>(std::max(a.channels(), b.channels())),
                                     .pixels_per_degree = options.pixels_per_degree};
        comparison.progress = [&](double done) {
            bar.show(static_cast<double>(i) + done, static_cast<double>(pairs.size()));
        };
        Comparison result = compare(a.view(), b.view(), comparison);
        if (encodings.empty()) encodings = encoding_note(a, b);
        out.rows.push_back({pair.name, a.file.extent, result.all});
        merge(out.limits, limits(options, result));
        if (i > 0 && !is_worse(result.all, out.comparison.all)) continue;
        out.worst = i;
        out.a = std::move(a);
        out.b = std::move(b);
        out.comparison = std::move(result);
    }
    if (!encodings.empty()) out.notes.push_back(std::move(encodings));
    return out;
}

Status run(Options& options) {
    require_other_files(options);
    const Result result = compare_files(options);
    const Extent extent = result.a.file.extent;
    if (!options.heat_map.empty())
        write_image(options.heat_map, Format::rgba8_unorm, extent, heat_map(result.comparison.flip->errors));
    if (!options.ulp_map.empty())
        write_image(options.ulp_map, Format::rgba8_unorm, extent,
                    ulp_map(ulp_distances(result.a.view(), result.b.view())));
    if (options.json)
        print_json(json_of(options, result));
    else
        print_text(options, result);
    return result.is_good() ? Status::good : Status::different;
}

}  // namespace

void add_compare(CLI::App* command, Status& status) {
    const auto options = std::make_shared<Options>();
    command->add_option("A", options->a, "Reference image; a_%03d.png stands for numbered files")
        ->required()
        ->type_name("FILE");
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
    command->add_flag("--first-image", options->first_image,
                      "Compare only the first image of each file, at full size, and no other parts, levels, layers or "
                      "faces");
    options->selection.add_selection_to(*command);
    command->add_flag("--json", options->json, "Print one JSON object instead of tables; infinities and NaN are null");
    command->footer(
        "The ulp distance of two values is the number of steps of the format from one to the other: codes of integer\n"
        "and normalized formats, representable floats otherwise. 0 equals -0, and NaN equals NaN. PSNR and SSIM use "
        "the\n"
        "stored values; sRGB is not linearized. If the encodings of the files differ, the output says so. Of two "
        "files\n"
        "with three channels, only these three are compared.\n"
        "All metrics are computed by default; of images with more than 16777216 texels, SSIM and FLIP only with\n"
        "--metric all, or if an option needs them.\n"
        "--max-ulp, --min-psnr, --min-ssim and --max-flip are limits; the command passes if all of them are met.\n"
        "\n"
        "All parts, levels, layers and faces of the files, or both planes of all frames, are compared, and each must\n"
        "meet the limits. The metrics, the worst texels and the maps describe the image that differs most. Numbered\n"
        "files are compared in the order of their numbers. --part, --channels, --raw and --frame apply to all files.\n"
        "\n"
        "Examples:\n"
        "  texton compare golden.png new.png                      # passes if no texel differs\n"
        "  texton compare a.exr b.exr --max-ulp 1 --metric worst  # passes if all floats are at most one step apart\n"
        "  texton compare a.png b.png --max-flip 0.01 --heat-map seen.png\n"
        "  texton compare a.yuv b.yuv --raw 1920x1080:nv12 --min-psnr 40\n"
        "\n"
        "Exit status:\n"
        "  0  all limits are met or, without limits, no texel differs\n"
        "  1  a limit is not met or, without limits, a texel differs\n"
        "  2  a file cannot be read or written, or the files cannot be compared: sizes, formats or numbers of images "
        "differ");
    command->callback([options, &status] { status = run(*options); });
}

}  // namespace texton::cli

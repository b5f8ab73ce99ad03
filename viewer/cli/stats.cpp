#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include <texton/image_file.h>
#include <texton/image_list.h>

#include "viewer/batch/batch_run.h"
#include "viewer/batch/ranks.h"
#include "viewer/cli/commands.h"
#include "viewer/cli/frame_sequence.h"
#include "viewer/cli/image_options.h"
#include "viewer/cli/run_in_strips.h"
#include "viewer/cli/several_files.h"
#include "viewer/cli/statistics_of_workers.h"
#include "viewer/cli/terminal.h"
#include "viewer/cli/typed_words.h"
#include "viewer/model/document.h"
#include "viewer/model/file_reading.h"
#include "viewer/model/image_statistics.h"
#include "viewer/model/json_object.h"
#include "viewer/text/memory_size.h"
#include "viewer/text/value_text.h"

namespace texton::cli {
namespace {

using verify::ImageStatistics;
using verify::Json;

struct Options {
    std::vector<std::string> files;
    ImageOptionText image;
    std::vector<double> percentiles{1, 5, 25, 50, 75, 95, 99};
    std::vector<float> range;
    std::string device;
    std::string memory;  ///< for files that are read in parts; empty: they are read as a whole
    bool json = false;
};

// Returns a number, or null for infinities and NaN, which JSON lacks.
Json finite(float value) { return std::isfinite(value) ? Json(value) : Json(); }

Json json_of(const ImageStatistics& statistics, const std::vector<double>& percentiles) {
    Json channels = Json::array();
    for (int c = 0; c < statistics.channels; ++c) {
        const TotalStatistics& all = statistics.all;
        Json channel{{"name", std::string(1, viewer::channel_letter(c))},
                     {"lowest", finite(all.lowest(c))},
                     {"highest", finite(all.highest(c))},
                     {"mean", finite(all.mean(c))},
                     {"finite", all.finite[c]},
                     {"nans", all.nans[c]},
                     {"infinities", all.infinities[c]}};
        channel["percentiles"] = Json::array();
        for (std::size_t i = 0; i < percentiles.size(); ++i)
            channel["percentiles"].push_back(
                {{"percent", percentiles[i]},
                 {"value", finite(statistics.percentiles[i][static_cast<std::size_t>(c)])}});
        channel["histogram"] = all.histogram[c];
        channels.push_back(std::move(channel));
    }
    return {{"histogram_range", {statistics.range.low, statistics.range.high}}, {"channels", std::move(channels)}};
}

// Returns a line of bars, each of which stands for a few bins of the histogram.
std::string bars(const std::uint64_t (&histogram)[Statistics::kBins]) {
    constexpr int kBars = 64;
    constexpr const char* kHeights[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    std::uint64_t counts[kBars] = {};
    for (int i = 0; i < Statistics::kBins; ++i) counts[i * kBars / Statistics::kBins] += histogram[i];
    const std::uint64_t most = *std::ranges::max_element(counts);
    std::string line;
    for (const std::uint64_t count : counts)
        line +=
            kHeights[count == 0 ? 0 : 1 + static_cast<int>(7 * static_cast<double>(count) / static_cast<double>(most))];
    return line;
}

void print_text(const ImageStatistics& statistics, const std::vector<double>& percentiles) {
    std::vector<std::string> header{"channel", "lowest"};
    for (const double percent : percentiles) header.push_back(fmt::format("{} %", percent));
    for (const char* name : {"highest", "mean", "NaNs", "infinities"}) header.emplace_back(name);
    Table table(std::move(header));
    for (int c = 0; c < statistics.channels; ++c) {
        const TotalStatistics& all = statistics.all;
        std::vector<std::string> row{std::string(1, viewer::channel_letter(c)), viewer::float_text(all.lowest(c))};
        for (const auto& values : statistics.percentiles)
            row.push_back(viewer::float_text(values[static_cast<std::size_t>(c)]));
        row.push_back(viewer::float_text(all.highest(c)));
        row.push_back(viewer::float_text(all.mean(c)));
        row.push_back(std::to_string(all.nans[c]));
        row.push_back(std::to_string(all.infinities[c]));
        table.add(std::move(row));
    }
    fmt::print("{}\nhistogram from {} to {}\n", table.text(), statistics.range.low, statistics.range.high);
    for (int c = 0; c < statistics.channels; ++c)
        fmt::print("{} |{}|\n", viewer::channel_letter(c), bars(statistics.all.histogram[c]));
}

std::vector<double> shares(const std::vector<double>& percentiles) {
    std::vector<double> out;
    for (const double percent : percentiles) out.push_back(percent / 100);
    return out;
}

// Computes the statistics of the image, or of a plane of it, that is in a file.
using StatisticsOfImage =
    std::function<ImageStatistics(const std::string& file, std::size_t plane, const ImageFile& image,
                                  const std::optional<StatisticsOptions>& range, std::span<const double> shares)>;

// Prints the statistics of an image, or of each plane of a planar image.
void describe(const std::string& file, const ImageFile& image, const Options& options,
              const StatisticsOfImage& statistics_of, ProgressBar& bar, Json& all) {
    std::optional<StatisticsOptions> range;
    if (!options.range.empty()) range = StatisticsOptions{options.range[0], options.range[1]};
    std::vector<ImageFile> planes;
    const int count = plane_count(image.info().format);
    if (count == 1) planes.push_back(image);
    for (int plane = 0; count > 1 && plane < count; ++plane) planes.push_back(image.plane(plane));
    for (std::size_t i = 0; i < planes.size(); ++i) {
        const ArrayInfo& array = planes[i].info();
        const std::string title = planes.size() > 1 ? fmt::format("{}, plane {}", file, i) : file;
        const ImageStatistics statistics = statistics_of(file, i, planes[i], range, shares(options.percentiles));
        if (options.json) {
            Json out{{"path", file}};
            if (planes.size() > 1) out["plane"] = i;
            out.update(cli::json_of(array));
            out.update(json_of(statistics, options.percentiles));
            all.push_back(std::move(out));
        } else {
            bar.hide();
            fmt::print("{}: {} of {}, {}\n", title, to_string(array.extent), name(array.format), name(array.kind));
            print_text(statistics, options.percentiles);
        }
    }
}

Status print_all(const Options& options, const StatisticsOfImage& statistics_of) {
    Json all = Json::array();
    Status status = Status::good;
    const std::vector<std::string> files = all_named_files(options.files, "texton stats", status);
    const std::vector<std::filesystem::path> paths(files.begin(), files.end());
    ImageList images(paths, options.image.options(), viewer::file_reading());
    status =
        worse(status, for_each_file("texton stats", "reading", files, [&](const std::string& file, ProgressBar& bar) {
                  describe(file, images.open_next(), options, statistics_of, bar, all);
              }));
    if (options.json) print_json({{"files", all}});
    return status;
}

std::vector<std::string> words_of_stats() {
    std::vector<std::string> words = typed_words();
    words.erase(words.begin(), std::ranges::find(words, "stats"));
    words.erase(words.begin());
    return words;
}

// Each device counts texels in a process of its own, on each rank if there are several.
Status run_with_workers(const Options& options, const std::vector<std::string>& devices) {
    const std::size_t memory =
        options.memory.empty() ? Device::cpu().memory().total / 4 : viewer::memory_size(options.memory, "--memory");
    StatisticsOfWorkers workers(devices, words_of_stats(), memory / devices.size(),
                                [](const std::string& text) { fmt::print(stderr, "{}\n", text); });
    return print_all(options, [&](const auto&... image) { return workers.statistics_of(image...); });
}

Status run(const Options& options) {
    (void)options.image.options();  // throws if an option is invalid
    const std::optional<std::size_t> memory =
        options.memory.empty() ? std::nullopt : std::optional(viewer::memory_size(options.memory, "--memory"));
    if (memory || names_all_devices(options.device)) {
        const std::vector<std::string> devices = batch::devices_named(options.device.empty() ? "cpu" : options.device);
        const auto ranks = batch::join_ranks(devices.size());
        if (ranks != nullptr && !ranks->is_first()) {
            ranks->serve();
            return Status::good;
        }
        if (names_all_devices(options.device) || batch::rank_workers != nullptr)
            return run_with_workers(options, devices);
    }
    const Device device = viewer::device_named(options.device);
    return print_all(options, [&](const std::string&, std::size_t, const ImageFile& image, const auto& range,
                                  std::span<const double> shares) {
        return memory ? verify::statistics_of(device, image, range, shares, *memory)
                      : verify::statistics_of(device, verify::read_array(image), range, shares);
    });
}

}  // namespace

void add_stats(CLI::App* command, Status& status) {
    const auto options = std::make_shared<Options>();
    command->add_option("FILE", options->files, "Image files; in_%03d.png stands for numbered files")
        ->required()
        ->type_name("FILE");
    command->add_option("--percentiles", options->percentiles, "Percentiles to compute, 0 to 100")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::Range(0.0, 100.0))
        ->type_name("PERCENT,...");
    command
        ->add_option(
            "--range", options->range,
            "Range of the histogram. Default: that of the format, or of the values of float and integer formats")
        ->delimiter(',')
        ->expected(2)
        ->type_name("LOW,HIGH");
    options->image.add_to(*command);
    command->add_option(
        "--device", options->device,
        "Device: cpu, cpu:N, cuda or cuda:N, or all devices of a kind: cpu:all or cuda:all. Default: the first CUDA "
        "device, or else the CPU");
    command
        ->add_option("--memory", options->memory,
                     "Read files in parts, several times, with at most this memory for texels: 512MiB, 2GiB. Default: "
                     "the whole file at once")
        ->type_name("SIZE");
    command->add_flag("--json", options->json, "Print one JSON object instead of text, with 256 bins of the histogram");
    command->footer(
        "The values of all texels of level 0 are counted, with all layers, faces and slices, as textures return them:\n"
        "0 to 1 for normalized formats, and linear light for sRGB formats. --color linear counts the values in the "
        "file.\n"
        "cpu:all and cuda:all start a process for each device, which reads and counts parts of each file; --memory is\n"
        "divided among them.\n"
        "The percentile P is the lowest value that at least P % of the finite values do not exceed.\n"
        "\n"
        "Examples:\n"
        "  texton stats card.png\n"
        "  texton stats sky.exr --percentiles 50,99.9 --range 0,16\n"
        "  texton stats map.tif --memory 1GiB\n"
        "  texton stats map.tif --memory 1GiB --device cuda:all\n"
        "  texton stats depth.exr --json | jq '.files[].channels[].mean'\n"
        "\n"
        "Exit status:\n"
        "  0  success\n"
        "  2  a file cannot be read with these options; the other files are printed nevertheless");
    command->callback([options, &status] { status = run(*options); });
}

}  // namespace texton::cli

#include <algorithm>
#include <bit>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <texton/error.h>
#include <texton/recording.h>

#include "viewer/cli/commands.h"
#include "viewer/cli/several_files.h"
#include "viewer/cli/terminal.h"
#include "viewer/model/document.h"

namespace texton::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
    std::vector<std::string> paths;
    std::string device;
    bool json = false;
};

// Returns the distance of two values in steps of their type: float32 or 32-bit integers. From NaN to any other bits it
// is UINT32_MAX.
std::uint32_t distance(std::uint32_t a, std::uint32_t b, bool integers) {
    if (a == b) return 0;
    if (integers) {
        const auto difference = std::int64_t{static_cast<std::int32_t>(a)} - static_cast<std::int32_t>(b);
        return static_cast<std::uint32_t>(difference < 0 ? -difference : difference);
    }
    const auto is_number = [](std::uint32_t bits) { return (bits & 0x7fffffffU) <= 0x7f800000U; };
    if (!is_number(a) || !is_number(b)) return UINT32_MAX;
    const auto ordered = [](std::uint32_t bits) {
        const auto magnitude = std::int64_t{bits & 0x7fffffffU};
        return bits >> 31 != 0 ? -magnitude : magnitude;
    };
    const std::int64_t difference = ordered(a) - ordered(b);
    return static_cast<std::uint32_t>(std::min<std::int64_t>(difference < 0 ? -difference : difference, UINT32_MAX));
}

struct Result {
    std::string name;
    std::size_t points = 0;
    std::size_t equal = 0;
    std::uint32_t max_ulp = 0;
};

Result compare(const fs::path& path, const std::optional<Device>& device) {
    const Recording recording = read_recording(path);
    const std::vector<Texel> texels = device ? replay(recording, *device) : replay(recording);
    const FormatKind kind = info(recording.array.format).kind;
    const bool integers = kind == FormatKind::uint || kind == FormatKind::sint;
    Result result{path.stem().string(), texels.size()};
    for (std::size_t i = 0; i < texels.size(); ++i) {
        result.equal += texels[i] == recording.results[i] ? 1 : 0;
        for (std::size_t c = 0; c < 4; ++c) {
            result.max_ulp =
                std::max(result.max_ulp, distance(texels[i].channel[c], recording.results[i].channel[c], integers));
        }
    }
    return result;
}

// Appends the files of a path: of a folder, the .cap files in it and in its subfolders, sorted by path.
void add_files(const std::string& path, std::vector<std::string>& files) {
    std::error_code unreadable;
    if (!fs::is_directory(path, unreadable)) {
        files.push_back(path);
        return;
    }
    std::vector<fs::path> found;
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
        if (entry.is_regular_file() && entry.path().extension() == ".cap") found.push_back(entry.path());
    }
    if (found.empty()) {
        throw Error({.code = ErrorCode::io,
                     .object = "texton replay",
                     .problem = fmt::format("the folder {} contains no .cap file", path),
                     .remedy = "Name a recording, or a folder of recordings."});
    }
    std::ranges::sort(found);
    for (const fs::path& file : found) files.push_back(file.string());
}

Status run(const Options& options) {
    std::optional<Device> device;
    if (!options.device.empty()) device = viewer::device_named(options.device);
    std::vector<std::string> files;
    const Status found = for_each_file("texton replay", "listing", options.paths,
                                       [&](const std::string& path, ProgressBar&) { add_files(path, files); });
    std::vector<Result> results;
    const auto replay_file = [&](const std::string& file, ProgressBar& bar) {
        const Result& last = results.emplace_back(compare(file, device));
        if (options.json) return;
        bar.hide();
        fmt::print("{} {} {} {}\n", last.name, last.points, last.equal, last.max_ulp);
    };
    const Status read = for_each_file("texton replay", "replaying", files, replay_file);
    Result total;
    std::size_t exact = 0;
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Result& each : results) {
        total.points += each.points;
        total.equal += each.equal;
        exact += each.equal == each.points ? 1 : 0;
        list.push_back(
            {{"name", each.name}, {"points", each.points}, {"equal", each.equal}, {"max_ulp", each.max_ulp}});
    }
    if (options.json) {
        const nlohmann::ordered_json all{
            {"files", list},
            {"total", {{"points", total.points}, {"equal", total.equal}, {"files", results.size()}, {"exact", exact}}}};
        print_json(all);
    } else {
        fmt::print("total: {} points, {} equal, {} of {} files exact\n", total.points, total.equal, exact,
                   results.size());
    }
    return worse(worse(found, read), exact == results.size() ? Status::good : Status::different);
}

}  // namespace

void add_replay(CLI::App* command, Status& status) {
    const auto options = std::make_shared<Options>();
    command->add_option("PATH", options->paths, "Recordings (.cap), or folders of recordings")->required();
    command->add_option("--device", options->device,
                        "Device: cpu, cpu:N, cuda or cuda:N. Default: no device, but the model of the texture unit");
    command->add_flag("--json", options->json, "Print one JSON object instead of text");
    command->footer(
        "Prints a line `NAME points equal max_ulp` for each recording: the number of points, the number of points\n"
        "whose results are equal in every bit, and the largest ulp distance of a channel. A line of totals follows.\n"
        "\n"
        "Examples:\n"
        "  texton replay recordings --device cuda\n"
        "  texton replay one.cap --json\n"
        "\n"
        "Exit status:\n"
        "  0  the results of all points are equal\n"
        "  1  the result of at least one point differs\n"
        "  2  a file is not a recording, cannot be read or cannot be replayed, or the device does not exist");
    command->callback([options, &status] { status = run(*options); });
}

}  // namespace texton::cli

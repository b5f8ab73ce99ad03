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
    std::string out;
    std::vector<std::string> like;
    std::size_t random = 0;
    std::uint64_t seed = 1;
    std::size_t points = 512;
    std::string kind;
    std::string format;
    std::string operation;
    std::string device = "cuda";
    bool json = false;
};

[[noreturn]] void refuse(std::string problem, std::string remedy) {
    throw Error({.code = ErrorCode::bad_argument,
                 .object = "texton record",
                 .problem = std::move(problem),
                 .remedy = std::move(remedy)});
}

FetchOperation operation_named(const std::string& name) {
    if (name == "fetch") return FetchOperation::plain;
    if (name == "lod") return FetchOperation::lod;
    if (name == "grad") return FetchOperation::gradients;
    if (name == "gather") return FetchOperation::gather;
    refuse(fmt::format("unknown --operation {}", name), "Use fetch, lod, grad or gather.");
}

RecordingChoice choice_of(const Options& options) {
    RecordingChoice choice;
    choice.points = options.points;
    if (!options.kind.empty()) {
        choice.kind = array_kind_named(options.kind);
        if (!choice.kind)
            refuse(fmt::format("unknown --kind {}", options.kind),
                   "Use array_1d, array_2d, array_3d, layered_1d, layered_2d, cubemap or cubemap_layered.");
    }
    if (!options.format.empty()) {
        choice.format = format_named(options.format);
        if (!choice.format)
            refuse(fmt::format("unknown --format {}", options.format), "Use a name such as rgba8_unorm.");
    }
    if (!options.operation.empty()) choice.operation = operation_named(options.operation);
    return choice;
}

// Records recordings on a device, writes them to a folder and prints their paths.
class Recorder {
public:
    Recorder(fs::path folder, Device device, bool json)
        : folder_(std::move(folder)), device_(std::move(device)), json_(json) {}

    void record(Recording recording, const fs::path& name, ProgressBar& bar) {
        recording.results = replay(recording, device_);
        const fs::path path = folder_ / name;
        write_recording(path, recording);
        if (!json_) {
            bar.hide();
            fmt::print("{}\n", path.string());
        }
        files_.push_back({{"path", path.string()},
                          {"kind", texton::name(recording.array.kind)},
                          {"format", texton::name(recording.array.format)},
                          {"points", recording.points.size()}});
    }
    void finish() const {
        if (json_) print_json({{"device", device_.name()}, {"files", files_}});
    }

private:
    fs::path folder_;
    Device device_;
    bool json_;
    nlohmann::ordered_json files_ = nlohmann::ordered_json::array();
};

Status run(const Options& options) {
    if (options.like.empty() == (options.random == 0))
        refuse("exactly one of --like and --random is needed", "Give --like RECORDING or --random COUNT.");
    const Device device = viewer::device_named(options.device);
    if (device.kind() != DeviceKind::cuda)
        refuse(fmt::format("{} is not a GPU, but recordings need a hardware texture unit", device.name()),
               "Use --device cuda.");
    const RecordingChoice choice = choice_of(options);
    std::error_code failure;
    fs::create_directories(options.out, failure);
    if (failure)
        refuse(fmt::format("the folder {} cannot be created: {}", options.out, failure.message()),
               "Name a folder in a writable location.");
    Recorder recorder(options.out, device, options.json);
    const auto record_again = [&](const std::string& path, ProgressBar& bar) {
        recorder.record(read_recording(path), fs::path(path).filename(), bar);
    };
    const Status status = for_each_file("texton record", "recording", options.like, record_again);
    ProgressBar bar("recording", "files");
    for (std::size_t i = 0; i < options.random; ++i) {
        bar.show(static_cast<double>(i), static_cast<double>(options.random));
        const std::uint64_t seed = options.seed + i;
        recorder.record(random_recording(seed, choice), fmt::format("random_{}.cap", seed), bar);
    }
    bar.hide();
    recorder.finish();
    return status;
}

}  // namespace

void add_record(CLI::App* command, Status& status) {
    const auto options = std::make_shared<Options>();
    command->add_option("FOLDER", options->out, "Folder for the recordings; it is created if necessary")->required();
    command->add_option("--like", options->like, "Record the textures and points of these recordings on this GPU");
    command->add_option("--random", options->random, "Number of recordings with random textures, samplers and points");
    command->add_option("--seed", options->seed, "Seed of the first random recording; each following one adds 1")
        ->capture_default_str();
    command->add_option("--points", options->points, "Number of points of a random recording")
        ->check(CLI::Range(1, 100'000'000))
        ->capture_default_str();
    command->add_option("--kind", options->kind,
                        "Array kind of random recordings: array_2d, cubemap, ... Default: random");
    command->add_option("--format", options->format,
                        "Texel format of random recordings: rgba8_unorm, bc7_srgb, ... Default: random");
    command->add_option("--operation", options->operation,
                        "Operation of random recordings: fetch, lod, grad or gather. Default: random");
    command->add_option("--device", options->device, "GPU that records: cuda or cuda:N")->capture_default_str();
    command->add_flag("--json", options->json, "Print one JSON object instead of text");
    command->footer(
        "Give either --like or --random. Recordings of random textures are called random_SEED.cap; those of --like "
        "keep\n"
        "the file names of the given recordings. `texton replay` reads them.\n"
        "\n"
        "Examples:\n"
        "  texton record mine --like recordings\n"
        "  texton record mine --random 100 --seed 7 --format bc7_unorm --operation grad\n"
        "\n"
        "Exit status:\n"
        "  0  success\n"
        "  2  there is no GPU, or a recording cannot be read, made or written; the other recordings of --like are "
        "made");
    command->callback([options, &status] { status = run(*options); });
}

}  // namespace texton::cli

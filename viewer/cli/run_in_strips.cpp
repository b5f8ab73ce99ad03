#include "viewer/cli/run_in_strips.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <texton/error.h>
#include <texton/frame_writer.h>
#include <texton/image_save.h>

#include "viewer/batch/batch_run.h"
#include "viewer/batch/ranks.h"
#include "viewer/cli/chain_in_strips.h"
#include "viewer/cli/progress.h"
#include "viewer/cli/rows_of_workers.h"
#include "viewer/cli/terminal.h"
#include "viewer/cli/typed_words.h"
#include "viewer/model/document.h"
#include "viewer/model/numbered_paths.h"
#include "viewer/model/saved_images.h"
#include "viewer/text/memory_size.h"
#include "viewer/text/value_text.h"
#include "viewer/tiles/finished_rows.h"
#include "viewer/tiles/image_levels.h"

namespace texton::cli {
namespace {

namespace fs = std::filesystem;
using verify::Json;
using verify::PipelineStep;

// Returns an error with another remedy.
Error with_remedy(const Error& error, std::string remedy) {
    return Error({.code = error.code(),
                  .object = error.object(),
                  .problem = error.problem(),
                  .remedy = std::move(remedy),
                  .numbers = error.numbers()});
}

void check(const RunOptions& options, const RunSteps& steps) {
    for (const PipelineStep& step : steps.pipeline) {
        try {
            tiles::check_kernel(step.run);
        } catch (const Error& error) {
            if (!names_all_devices(options.device)) throw;
            throw with_remedy(error, "Name a single device, for example --device cpu, without --memory.");
        }
    }
    for (const PipelineStep& step : steps.pipeline) {
        if (!step.out.empty() && &step != &steps.pipeline.back())
            refuse_in_strips(fmt::format("{} is written by a kernel before the last one", step.out.string()),
                             "Write only the last image, or run the kernels one by one.");
    }
    const fs::path& out = steps.pipeline.back().out;
    if (options.mips && !verify::holds_levels(out))
        refuse_in_strips(fmt::format("{} cannot hold levels", out.string()),
                         "Use .tif, .tx, .exr, .dds or .ktx2, or omit --mips.");
    if (viewer::is_numbered(out) || is_video_name(out))
        refuse_in_strips(fmt::format("{} stands for several frames", out.string()),
                         "Name a single image, or use one device without --memory.");
}

}  // namespace

Device strips_device(const RunOptions& options) {
    return options.device.empty() ? Device::cpu() : viewer::device_named(options.device);
}

namespace {

// Files of these kinds are written in tiles, so that their parts can be read quickly.
std::optional<Extent> tile_for(const fs::path& out) {
    constexpr std::array<const char*, 4> kTiled{".exr", ".tif", ".tiff", ".tx"};
    if (std::ranges::find(kTiled, out.extension().string()) == kTiled.end()) return std::nullopt;
    return Extent{256, 256};
}

// Returns the bytes of all workers of this process.
std::size_t memory_of(const RunOptions& options) {
    if (!options.memory.empty()) return viewer::memory_size(options.memory, "--memory");
    return Device::cpu().memory().total / 4;
}

std::vector<std::string> words_of_run() {
    std::vector<std::string> words = typed_words();
    words.erase(words.begin(), std::ranges::find(words, "run"));
    words.erase(words.begin());
    return words;
}

class StripRunner {
public:
    StripRunner(const RunOptions& options, const RunSteps& steps)
        : options_(options), memory_(memory_of(options)), steps_(steps) {
        check(options, steps);
    }

    void run() {
        if (names_all_devices(options_.device) || batch::rank_workers != nullptr) return run_with_workers();
        const Device device = strips_device(options_);
        device_ = device.name();
        ChainInStrips chain(options_, steps_, device, memory_of_kernel(1));
        files_ = chain.files();
        if (!options_.resume && !options_.mips) return save(chain.image(), nullptr, 0);
        if (const std::size_t slices = slice_count(chain.info(), 0); slices != 1)
            refuse_in_strips(fmt::format("the rows of {} slices cannot be kept by one device", slices),
                             "Omit --resume and --mips, or use all devices of a kind, for example --device cpu:all.");
        const auto finished = options_.resume ? kept_rows(chain) : unkept_rows(chain);
        const std::size_t before = finished->rows().count();
        save(tiles::with_finished_rows(chain.image(), finished), finished.get(), before);
        finished->remove();
    }

private:
    // save() reads parts of 16 MiB or rows of tiles, and encodes them in other memory. The kernels share the rest, also
    // with the one that computes levels.
    std::size_t memory_of_kernel(std::size_t workers) const {
        constexpr std::size_t kSaving = std::size_t{48} << 20;
        const std::size_t kernels = steps_.pipeline.size() + (options_.mips ? 1 : 0);
        return (memory_ - std::min(memory_ / (kernels + 1), kSaving)) / kernels / workers;
    }

    // Each device computes rows in a process of its own, on each rank if there are several.
    void run_with_workers() {
        device_ = options_.device.empty() ? "cpu" : options_.device;
        const std::vector<std::string> devices = devices_for(options_);
        const std::size_t memory = memory_of_kernel(devices.size());
        ImageFile image;
        std::shared_ptr<tiles::FinishedRows> finished;
        std::shared_ptr<RowsOfWorkers> workers;
        std::size_t before = 0;
        const auto on_loss = [this](const std::string& text) {
            bar_.hide();
            fmt::print(stderr, "{}\n", text);
        };
        {
            ChainInStrips chain = chain_for_workers(memory, devices.size());
            files_ = chain.files();
            const bool is_kept = options_.resume || batch::rank_workers != nullptr;
            finished = is_kept ? kept_rows(chain) : unkept_rows(chain);
            before = finished->rows().count();
            workers = std::make_shared<RowsOfWorkers>(WorkersOfImage{.devices = devices,
                                                                     .command = words_of_run(),
                                                                     .memory = memory,
                                                                     .strip_rows = chain.last().strip_rows(),
                                                                     .seconds = options_.seconds,
                                                                     .description = chain.description(),
                                                                     .on_loss = on_loss},
                                                      finished);
            image = with_rows_of_workers(chain.image(), workers);
        }
        save(image, finished.get(), before, workers.get());
        image = {};
        workers.reset();  // no thread writes to the files any more
        finished->remove();
    }

    // Returns the chain on the CPU device, so that this process creates no context of CUDA.
    ChainInStrips chain_for_workers(std::size_t memory, std::size_t workers) const {
        try {
            return {options_, steps_, Device::cpu(), memory};
        } catch (const Error& error) {
            if (error.code() != ErrorCode::out_of_memory || workers == 1) throw;
            throw with_remedy(error, fmt::format("{} --memory is divided among {} workers.", error.remedy(), workers));
        }
    }

    static tiles::RowLayout layout_of(const ArrayInfo& info) {
        Extent extent = info.extent;
        extent.depth = slice_count(info, 0);
        return tiles::row_layout(info.format, extent);
    }

    std::shared_ptr<tiles::FinishedRows> kept_rows(const ChainInStrips& chain) const {
        const tiles::RowLayout layout = layout_of(chain.info());
        const fs::path& out = steps_.pipeline.back().out;
        auto finished = std::make_shared<tiles::FinishedRows>(out, chain.description(), layout);
        print_disk_bytes(*finished, chain.info());
        if (finished->rows().count() > 0)
            fmt::print(stderr, "{}: {} of {} rows are finished\n", out.string(), finished->rows().count(), layout.rows);
        return finished;
    }

    std::shared_ptr<tiles::FinishedRows> unkept_rows(const ChainInStrips& chain) const {
        auto finished = std::make_shared<tiles::FinishedRows>(steps_.pipeline.back().out, layout_of(chain.info()));
        print_disk_bytes(*finished, chain.info());
        return finished;
    }

    void print_disk_bytes(const tiles::FinishedRows& finished, const ArrayInfo& image) const {
        const fs::path& out = steps_.pipeline.back().out;
        const std::size_t rows = finished.texels().max_bytes();
        const std::size_t levels = options_.mips ? tiles::bytes_of_levels(image) : 0;
        fmt::print(
            stderr,
            "{}: the finished rows are compressed, and take at most {} on the disk until the image is complete{}\n",
            out.string(), viewer::size_text(rows),
            options_.mips ? fmt::format("; its levels take {} more", viewer::size_text(levels)) : "");
        std::error_code failure;
        const fs::space_info space = fs::space(out.has_parent_path() ? out.parent_path() : fs::path("."), failure);
        const tiles::RowLayout& layout = finished.texels().layout();
        const std::size_t needed = rows / layout.rows * (layout.rows - finished.rows().count()) + levels;
        if (failure || space.available >= needed) return;
        fmt::print(stderr, "{}: the disk has {}, which suffices only if the texels can be compressed\n", out.string(),
                   viewer::size_text(space.available));
    }

    // Returns the image with its levels, for which all rows of it are computed.
    ImageFile with_levels(const ImageFile& image) {
        const Kernel& mips = kernel_named("mips");
        const fs::path& out = steps_.pipeline.back().out;
        return tiles::with_levels(image, {.kernel = &mips, .parameters = verify::parameters_of(mips.info, {})},
                                  memory_of_kernel(1), out.has_parent_path() ? out.parent_path() : fs::path("."),
                                  shown_progress());
    }

    OnImageProgress shown_progress() {
        return [this](const ImageProgress& progress) {
            bar_.show(static_cast<double>(progress.done), static_cast<double>(progress.total));
            return true;
        };
    }

    // `rows` are the rows that the image is read from, if they are on the disk, and `finished` of them were so before.
    void save(const ImageFile& computed, tiles::FinishedRows* rows, std::size_t finished,
              RowsOfWorkers* workers = nullptr) {
        const fs::path& out = steps_.pipeline.back().out;
        bar_.show(0, 1);
        const ImageFile image = options_.mips ? with_levels(computed) : computed;
        const SavedAlpha alpha = verify::saved_alpha(options_.drop_alpha, files_);
        // If alpha that would not be written is not opaque, save() begins again.
        if (rows != nullptr && (alpha != SavedAlpha::unless_opaque || texton::info(image.info().format).channels != 4))
            rows->begin_last_reading();
        texton::save(out, image, {.tile = tile_for(out), .alpha = alpha, .progress = shown_progress()});
        bar_.hide();
        const std::vector<WorkerReport> reports = workers == nullptr ? std::vector<WorkerReport>{} : workers->reports();
        if (options_.timing) {
            for (const WorkerReport& report : reports)
                fmt::print(stderr, "{}: {} rows in {:.2f} ms\n", report.device, report.rows, report.milliseconds);
        }
        const ArrayInfo& info = image.info();
        Extent extent = info.extent;
        extent.depth = slice_count(info, 0);
        std::vector<std::string> notes;
        for (const ImageFile& file : files_) std::ranges::move(left_out(file), std::back_inserter(notes));
        if (!options_.json) {
            fmt::print("{}: {} of {}{}\n", out.string(), to_string(extent), name(info.format),
                       options_.mips ? fmt::format(", {} levels", info.levels) : "");
            for (const std::string& note : notes) fmt::print("  {}\n", note);
            return;
        }
        Json printed{{"device", device_},
                     {"frames", 1},
                     {"kernel", steps_.pipeline.back().run.kernel->info.name},
                     {"memory", memory_},
                     {"resumed_rows", finished},
                     {"images",
                      {{{"format", name(info.format)},
                        {"width", extent.width},
                        {"height", extent.height},
                        {"depth", extent.depth}}}},
                     {"levels", info.levels},
                     {"files", {out.string()}},
                     {"notes", notes}};
        for (const WorkerReport& report : reports) {
            Json worker{{"device", report.device}, {"rows", report.rows}, {"milliseconds", report.milliseconds}};
            if (!report.failure.empty()) worker["failure"] = report.failure;
            printed["workers"].push_back(std::move(worker));
        }
        print_json(printed);
    }

    const RunOptions& options_;
    std::size_t memory_;
    const RunSteps& steps_;
    std::string device_;  // its name
    std::vector<ImageFile> files_;
    ProgressBar bar_{"computing", "bytes"};
};

}  // namespace

bool names_all_devices(const std::string& device) { return device == "cpu:all" || device == "cuda:all"; }

std::vector<std::string> devices_for(const RunOptions& options) {
    return batch::devices_named(options.device.empty() ? "cpu" : options.device);
}

void run_in_strips(const RunOptions& options, const RunSteps& steps) { StripRunner(options, steps).run(); }

}  // namespace texton::cli

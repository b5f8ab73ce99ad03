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

#include "arrays/files/input_file.h"
#include "viewer/cli/frame_sequence.h"
#include "viewer/cli/progress.h"
#include "viewer/cli/terminal.h"
#include "viewer/model/computed_images.h"
#include "viewer/model/document.h"
#include "viewer/model/kernel_json.h"
#include "viewer/model/numbered_paths.h"
#include "viewer/model/pipeline_images.h"
#include "viewer/model/planar_files.h"
#include "viewer/model/saved_images.h"
#include "viewer/text/memory_size.h"
#include "viewer/text/utf8.h"
#include "viewer/text/value_text.h"
#include "viewer/tiles/computed_image.h"
#include "viewer/tiles/finished_rows.h"
#include "viewer/verify/table_file.h"

namespace texton::cli {
namespace {

namespace fs = std::filesystem;
using tiles::KernelInput;
using tiles::KernelInStrips;
using verify::Json;
using verify::PipelineStep;

[[noreturn]] void refuse(std::string problem, std::string remedy) {
    throw Error({.code = ErrorCode::bad_argument,
                 .object = "texton run --memory",
                 .problem = std::move(problem),
                 .remedy = std::move(remedy)});
}

void check(const RunSteps& steps) {
    for (const PipelineStep& step : steps.pipeline) tiles::check_kernel(step.run);
    for (const PipelineStep& step : steps.pipeline) {
        if (!step.out.empty() && &step != &steps.pipeline.back())
            refuse(fmt::format("{} is written by a kernel before the last one", step.out.string()),
                   "Write only the last image, or run the kernels one by one.");
    }
    const fs::path& out = steps.pipeline.back().out;
    if (viewer::is_numbered(out) || is_video_name(out))
        refuse(fmt::format("{} stands for several frames", out.string()), "Name a single image, or omit --memory.");
}

Device device_for(const RunOptions& options) {
    return options.device.empty() ? Device::cpu() : viewer::device_named(options.device);
}

// Files of these kinds are written in tiles, so that their parts can be read quickly.
std::optional<Extent> tile_for(const fs::path& out) {
    constexpr std::array<const char*, 4> kTiled{".exr", ".tif", ".tiff", ".tx"};
    if (std::ranges::find(kTiled, out.extension().string()) == kTiled.end()) return std::nullopt;
    return Extent{256, 256};
}

class StripRunner {
public:
    StripRunner(const RunOptions& options, const RunSteps& steps)
        : options_(options),
          device_(device_for(options)),
          memory_(viewer::memory_size(options.memory, "--memory")),
          steps_(steps) {
        check(steps);
    }

    void run() {
        // save() reads parts of 16 MiB or rows of tiles, and encodes them in other memory. The kernels share the rest.
        constexpr std::size_t kSaving = std::size_t{48} << 20;
        const std::size_t kernels = steps_.pipeline.size();
        const std::size_t of_kernel = (memory_ - std::min(memory_ / (kernels + 1), kSaving)) / kernels;
        ImageFile image;
        for (std::size_t i = 0; i < kernels; ++i) image = computed(i, std::move(image), of_kernel);
        if (!options_.resume) return save(image, 0);
        const auto finished = finished_rows(image);
        save(tiles::with_finished_rows(image, finished), finished->count());
        finished->remove();
    }

private:
    ImageFile computed(std::size_t index, ImageFile before, std::size_t memory) {
        const PipelineStep& step = steps_.pipeline[index];
        verify::KernelRun run = step.run;
        const KernelInfo& kernel = run.kernel->info;
        std::vector<KernelInput> inputs;
        std::vector<std::size_t> sampler_of_input;  // the planes of a file have the same
        std::size_t files = 0;
        if (index > 0) {
            inputs.push_back({.image = std::move(before)});
            sampler_of_input.push_back(files++);
        } else {
            add_file(steps_.input, run, inputs);
            sampler_of_input.resize(inputs.size(), files++);
        }
        for (const fs::path& file : step.files) {
            add_file(file, run, inputs);
            sampler_of_input.resize(inputs.size(), files++);
        }
        if (inputs.size() != kernel.inputs.size())
            refuse(
                fmt::format("{} needs {} images, but {} were given", kernel.name, kernel.inputs.size(), inputs.size()),
                fmt::format("`texton run {} --help` lists the inputs.", kernel.name));
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const Json sampler = step.samplers.empty()      ? Json::object()
                                 : step.samplers.size() > 1 ? step.samplers[sampler_of_input[i]]
                                                            : step.samplers[0];
            const bool in_memory = inputs[i].array.block() != nullptr;
            inputs[i].sampler =
                verify::sampler_of(sampler, "--sampler", in_memory ? inputs[i].array.info() : inputs[i].image.info());
        }
        auto made = std::make_unique<KernelInStrips>(device_, std::move(run), std::move(inputs), memory);
        if (options_.timing) fmt::print(stderr, "{}: strips of {} rows\n", kernel.name, made->strip_rows());
        const ImageShape& shape = made->shape();
        ArrayInfo info;
        if (index + 1 < steps_.pipeline.size()) {
            const auto& kinds = steps_.pipeline[index + 1].run.kernel->info.inputs.front().kinds;
            info = verify::input_info_of(shape.format, shape.extent, kinds, made->input_kind());
        } else {
            info =
                verify::array_info_of(shape.format, shape.extent, 1, verify::writes_cubes(kernel, made->input_kind()));
        }
        return tiles::computed_image(std::move(made), info);
    }

    // Adds the table, the image or the planes of a file.
    void add_file(const fs::path& path, verify::KernelRun& run, std::vector<KernelInput>& inputs) {
        if (verify::is_table_file(path)) {
            inputs.push_back({.array = verify::read_table(device_, path, run, inputs.size())});
            paths_.push_back(fs::absolute(path));
            return;
        }
        const auto& described = run.kernel->info.inputs;
        ImageOptions how = options_.selection.options();
        if (!options_.kind.empty()) {
            how.kind = verify::kind_of(options_.kind, "--kind");
        } else if (inputs.size() < described.size() && described[inputs.size()].kinds.size() == 1) {
            how.kind = described[inputs.size()].kinds.front();
        }
        const FrameInput input(path, options_.selection, how);
        if (input.is_numbered()) refuse(fmt::format("{} stands for several files", path.string()), "Name one file.");
        const ImageFile image = input.open(0);
        files_.push_back(image);
        paths_.push_back(fs::absolute(path));
        verify::propose_planar(run, image);
        for (const ImageFile& plane : verify::inputs_of(image)) inputs.push_back({.image = plane});
    }

    std::shared_ptr<tiles::FinishedRows> finished_rows(const ImageFile& image) const {
        const ArrayInfo& info = image.info();
        const fs::path& out = steps_.pipeline.back().out;
        if (slice_count(info, 0) != 1)
            refuse(fmt::format("the rows of {} slices cannot be resumed", slice_count(info, 0)), "Omit --resume.");
        auto finished = std::make_shared<tiles::FinishedRows>(
            out, description(info), row_bytes(info.format, info.extent.width), info.extent.height);
        fmt::print(stderr, "{}: the finished rows take {} on the disk until the image is complete\n", out.string(),
                   viewer::size_text(finished->disk_bytes()));
        if (finished->count() > 0)
            fmt::print(stderr, "{}: {} of {} rows are finished\n", out.string(), finished->count(), info.extent.height);
        return finished;
    }

    // Describes everything that the texels depend on.
    Json description(const ArrayInfo& info) const {
        const ImageOptions how = options_.selection.options();
        Json out{{"texton", TEXTON_VERSION},   {"format", name(info.format)},
                 {"width", info.extent.width}, {"height", info.extent.height},
                 {"kind", options_.kind},      {"part", how.part},
                 {"part_name", how.part_name}, {"channels", how.channels},
                 {"frame", how.frame},         {"raw", how.raw ? to_string(*how.raw) : ""}};
        for (const PipelineStep& step : steps_.pipeline) {
            Json object = Json::object();
            verify::write_kernel_run(object, step.run);
            object["samplers"] = step.samplers;
            out["steps"].push_back(std::move(object));
        }
        for (const fs::path& path : paths_) {
            const detail::FileIdentity file = detail::identity_of(path);
            out["inputs"].push_back({{"path", viewer::to_utf8(path.native())},
                                     {"bytes", file.bytes},
                                     {"changed", fmt::format("{}.{:09}", file.seconds, file.nanoseconds)}});
        }
        return out;
    }

    void save(const ImageFile& image, std::size_t finished) {
        const fs::path& out = steps_.pipeline.back().out;
        ProgressBar bar("computing", "bytes");
        bar.show(0, 1);
        texton::save(out, image,
                     {.tile = tile_for(out),
                      .alpha = verify::saved_alpha(options_.drop_alpha, files_),
                      .progress = [&](const ImageProgress& progress) {
                          bar.show(static_cast<double>(progress.done), static_cast<double>(progress.total));
                          return true;
                      }});
        bar.hide();
        const ArrayInfo& info = image.info();
        Extent extent = info.extent;
        extent.depth = slice_count(info, 0);
        std::vector<std::string> notes;
        for (const ImageFile& file : files_) std::ranges::move(left_out(file), std::back_inserter(notes));
        if (!options_.json) {
            fmt::print("{}: {} of {}\n", out.string(), to_string(extent), name(info.format));
            for (const std::string& note : notes) fmt::print("  {}\n", note);
            return;
        }
        print_json({{"device", device_.name()},
                    {"frames", 1},
                    {"kernel", steps_.pipeline.back().run.kernel->info.name},
                    {"memory", memory_},
                    {"resumed_rows", finished},
                    {"images",
                     {{{"format", name(info.format)},
                       {"width", extent.width},
                       {"height", extent.height},
                       {"depth", extent.depth}}}},
                    {"files", {out.string()}},
                    {"notes", notes}});
    }

    const RunOptions& options_;
    Device device_;
    std::size_t memory_;
    const RunSteps& steps_;
    std::vector<ImageFile> files_;
    std::vector<fs::path> paths_;  // of the inputs
};

}  // namespace

void run_in_strips(const RunOptions& options, const RunSteps& steps) { StripRunner(options, steps).run(); }

}  // namespace texton::cli

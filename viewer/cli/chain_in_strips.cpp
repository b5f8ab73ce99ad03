#include "viewer/cli/chain_in_strips.h"

#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include <texton/error.h>

#include "arrays/files/input_file.h"
#include "viewer/cli/frame_sequence.h"
#include "viewer/model/computed_images.h"
#include "viewer/model/kernel_json.h"
#include "viewer/model/pipeline_images.h"
#include "viewer/model/planar_files.h"
#include "viewer/model/saved_images.h"
#include "viewer/text/utf8.h"
#include "viewer/verify/table_file.h"

namespace texton::cli {
namespace {

namespace fs = std::filesystem;
using tiles::KernelInput;
using tiles::KernelInStrips;
using verify::Json;
using verify::PipelineStep;

}  // namespace

void refuse_in_strips(std::string problem, std::string remedy) {
    throw Error({.code = ErrorCode::bad_argument,
                 .object = "texton run --memory",
                 .problem = std::move(problem),
                 .remedy = std::move(remedy)});
}

ChainInStrips::ChainInStrips(const RunOptions& options, const RunSteps& steps, const Device& device, std::size_t memory)
    : options_(options), steps_(steps), device_(device), memory_(memory) {
    const std::size_t last = steps_.pipeline.size() - 1;
    ImageFile before;
    for (std::size_t i = 0; i < last; ++i) {
        auto made = kernel(i, std::move(before));
        const ArrayInfo info = info_of(*made, i);
        before = tiles::computed_image(std::move(made), info);
    }
    last_ = kernel(last, std::move(before));
    info_ = info_of(*last_, last);
}

std::unique_ptr<KernelInStrips> ChainInStrips::kernel(std::size_t index, ImageFile before) {
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
        refuse_in_strips(
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
    auto made = std::make_unique<KernelInStrips>(device_, std::move(run), std::move(inputs), memory_);
    if (options_.timing) fmt::print(stderr, "{}: strips of {} rows\n", kernel.name, made->strip_rows());
    return made;
}

ArrayInfo ChainInStrips::info_of(const KernelInStrips& kernel, std::size_t index) const {
    const ImageShape& shape = kernel.shape();
    if (index + 1 < steps_.pipeline.size()) {
        const auto& kinds = steps_.pipeline[index + 1].run.kernel->info.inputs.front().kinds;
        return verify::input_info_of(shape.format, shape.extent, kinds, kernel.input_kind());
    }
    const bool cubes = verify::writes_cubes(kernel.run().kernel->info, kernel.input_kind());
    return verify::array_info_of(shape.format, shape.extent, 1, cubes);
}

// Adds the table, the image or the planes of a file.
void ChainInStrips::add_file(const fs::path& path, verify::KernelRun& run, std::vector<KernelInput>& inputs) {
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
    if (input.is_numbered())
        refuse_in_strips(fmt::format("{} stands for several files", path.string()), "Name one file.");
    const ImageFile& image = input.first();
    files_.push_back(image);
    paths_.push_back(fs::absolute(path));
    verify::propose_planar(run, image);
    for (const ImageFile& plane : verify::inputs_of(image)) inputs.push_back({.image = plane});
}

Json ChainInStrips::description() const {
    const ImageOptions how = options_.selection.options();
    Json out{{"texton", TEXTON_VERSION},
             {"format", name(info_.format)},
             {"width", info_.extent.width},
             {"height", info_.extent.height},
             {"slices", slice_count(info_, 0)},
             {"kind", options_.kind},
             {"part", how.part},
             {"part_name", how.part_name},
             {"channels", how.channels},
             {"frame", how.frame},
             {"raw", how.raw ? to_string(*how.raw) : ""}};
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

}  // namespace texton::cli

#include "viewer/batch/applied_pipeline.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/image_load.h>

#include "arrays/files/input_file.h"
#include "arrays/files/jpeg_header.h"
#include "arrays/files/layout.h"
#include "core/parallel.h"
#include "viewer/model/pipeline_images.h"
#include "viewer/model/planar_files.h"
#include "viewer/model/saved_images.h"
#include "viewer/verify/table_file.h"

namespace texton::batch {
namespace {

namespace fs = std::filesystem;
using verify::ComputedImages;

ImageOptions options_for(const KernelInfo& kernel, std::size_t input) {
    ImageOptions options;
    if (input < kernel.inputs.size() && kernel.inputs[input].kinds.size() == 1)
        options.kind = kernel.inputs[input].kinds.front();
    return options;
}

// Returns the size to which a step resamples the whole image that it reads. Parameters of other kernels, and sizes in
// proportion, depend on the size of the image.
std::optional<Extent> resampled_size(const verify::PipelineStep& step) {
    const KernelInfo& kernel = step.run.kernel->info;
    if (kernel.name != "resample" || !step.run.size || !step.run.size->is_fixed()) return {};
    const Arguments arguments(kernel, step.run.parameters);
    const bool is_whole = std::ranges::all_of(arguments.numbers("crop"), [](double number) { return number == 0; });
    return is_whole ? std::optional(step.run.size->texels) : std::nullopt;
}

detail::ReducedImage open_input(const fs::path& file, const verify::PipelineStep& step, JpegDecoding jpeg) {
    const ImageOptions options = options_for(step.run.kernel->info, 0);
    const std::optional<Extent> size = resampled_size(step);
    return jpeg == JpegDecoding::shrink && size ? detail::open_reduced(file, options, *size)
                                                : detail::ReducedImage{open_image(file, options)};
}

[[noreturn]] void refuse(ErrorCode code, const KernelInfo& kernel, std::string problem, std::string remedy) {
    throw Error(
        {.code = code, .object = "texton::" + kernel.name, .problem = std::move(problem), .remedy = std::move(remedy)});
}

// Returns how many rows are decoded together if the thread decodes and copies them itself, or 0 for load(), whose three
// buffers of 16 MiB are for threads that decode a part together, and for copies that run at the same time. A thread that
// does both takes less memory, and copies what is still in its cache. A small image is not worth a second thread.
std::size_t rows_in_cache(const Device& device, const ImageFile& image) {
    constexpr std::size_t kBytes = std::size_t{1} << 20;
    const ArrayInfo& is = image.info();
    if (device.kind() != DeviceKind::cpu || is.kind != ArrayKind::array_2d || is.levels != 1 ||
        block_side(is.format) != 1)
        return 0;
    const std::size_t step = std::max<std::size_t>(1, image.access().granule.height);
    const std::size_t bytes = packed_bytes(is.format, {is.extent.width, step, 1});
    const std::size_t rows = kBytes / bytes * step;
    return detail::cpu_cores() == 1 || rows >= is.extent.height ? rows : 0;
}

void load_rows(const ImageFile& image, std::size_t rows, const Array& array) {
    const std::size_t width = image.info().extent.width, height = image.info().extent.height;
    verify::HostImage part(image.info().format, {width, std::min(rows, height), 1});
    for (std::size_t y = 0; y < height; y += rows) {
        part.extent.height = std::min(rows, height - y);
        part.texels.resize(packed_bytes(part.format, part.extent));
        const Region box{{0, y, 0}, part.extent};
        image.read({.region = box}, part.texels);
        copy(array.view({.region = box}), part.view());
    }
}

}  // namespace

InputImage::InputImage(const fs::path& file, const verify::Pipeline& pipeline, JpegDecoding jpeg)
    : path_(file), input_(open_input(file, pipeline.front(), jpeg)) {
    if (const int frames = static_cast<int>(this->file().metadata().frames); frames > 1)
        refuse(ErrorCode::unsupported, pipeline.front().run.kernel->info,
               fmt::format("{} has {} frames, but a batch reads images", file.string(), frames),
               "Convert the frames of a video with `texton run`.");
    planes_ = verify::inputs_of(this->file());
}

void InputImage::decode() {
    for (const ImageFile& plane : planes_) decoded_.push_back(verify::read_array(plane));
}

// Returns false if the CPU must decode the file.
bool InputImage::decode_on_device(detail::JpegDecoder& decoder, const Stream& stream, const Array& array) const {
    constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30;
    const std::uint64_t bytes = detail::identity_of(path_).bytes;
    if (bytes > kMaxBytes) return false;
    const std::vector<std::byte> contents = detail::bytes_at("texton::ImageFile", path_, 0, bytes);
    return detail::is_plain_jpeg(contents) &&
           decoder.decode(contents, detail::upright_turn(file().metadata().orientation), array, stream);
}

void InputImage::load(const Stream& stream, std::vector<Array>& arrays, detail::JpegDecoder* decoder) const {
    const Device device = stream.device();
    arrays.resize(std::min(arrays.size(), planes_.size()));  // a planar image has two
    for (std::size_t i = 0; i < planes_.size(); ++i) {
        ArrayInfo info = planes_[i].info();
        info.usage = verify::usage_for_kernels(device, info);
        const bool is_reused = decoded_.empty() && i < arrays.size() && arrays[i].info() == info;
        if (!is_reused) arrays.erase(arrays.begin() + static_cast<std::ptrdiff_t>(i), arrays.end());
        if (decoder != nullptr && file().metadata().file_kind == "jpeg" && info.kind == ArrayKind::array_2d) {
            if (!is_reused) arrays.emplace_back(device, info);
            if (!decode_on_device(*decoder, stream, arrays[i])) texton::load(arrays[i], planes_[i]);
            continue;
        }
        if (!decoded_.empty()) {
            arrays.push_back(verify::upload(device, decoded_[i]));
        } else if (const std::size_t rows = rows_in_cache(device, planes_[i]); rows != 0) {
            if (!is_reused) arrays.emplace_back(device, info);
            load_rows(planes_[i], rows, arrays[i]);
        } else if (is_reused) {
            texton::load(arrays[i], planes_[i]);
        } else {
            arrays.push_back(texton::load(device, planes_[i], {.usage = info.usage}));
        }
    }
}

AppliedPipeline::AppliedPipeline(const Device& device, verify::Pipeline pipeline, JpegDecoding jpeg)
    : device_(device),
      decoder_(jpeg == JpegDecoding::gpu ? detail::make_jpeg_decoder(device, "texton::Batch") : nullptr) {
    for (verify::PipelineStep& step : pipeline) {
        steps_.push_back({.step = std::move(step)});
        read_files(steps_.back());
    }
}

void AppliedPipeline::read_files(Step& step) {
    const KernelInfo& kernel = step.step.run.kernel->info;
    const std::size_t before = kernel.inputs.size() - step.step.files.size();
    for (std::size_t i = 0; i < step.step.files.size(); ++i) {
        const fs::path& file = step.step.files[i];
        if (verify::is_table_file(file)) {
            step.arrays.push_back(verify::read_table(device_, file, step.step.run, before + i));
        } else {
            for (const ImageFile& plane : verify::inputs_of(open_image(file, options_for(kernel, before + i))))
                step.arrays.push_back(
                    load(device_, plane, {.usage = verify::usage_for_kernels(device_, plane.info())}));
        }
        step.samplers.resize(step.arrays.size(), i);
    }
}

std::vector<fs::path> AppliedPipeline::apply(const InputImage& image, std::span<const fs::path> outputs, Lane& lane,
                                             CodingTurns& turns, Phase& phase) const {
    phase = Phase::reading;
    {
        const CodingTurn turn(turns);
        image.load(lane.stream, lane.arrays, decoder_.get());
    }
    std::vector<Array> arrays = lane.arrays;
    const SavedAlpha alpha = verify::saved_alpha(false, {&image.file(), 1});

    std::vector<fs::path> written;
    ComputedImages images;
    ArrayKind kind = arrays.front().info().kind;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        phase = Phase::computing;
        const Step& step = steps_[i];
        const KernelInfo& kernel = step.step.run.kernel->info;
        verify::KernelRun run = step.step.run;
        std::vector<std::size_t> samplers;
        if (i == 0) {
            verify::propose_planar(run, image.file());
            if (image.region()) run.parameters["crop"] = *image.region();
            samplers.assign(arrays.size(), 0);
        } else {
            arrays = verify::next_inputs(device_, images, kernel, kernel.inputs.size() - step.step.files.size(), kind);
            for (std::size_t input_index = 0; input_index < arrays.size(); ++input_index)
                samplers.push_back(input_index);
        }
        const std::size_t next_sampler = samplers.back() + 1;
        std::vector<const Array*> inputs;
        for (const Array& array : arrays) inputs.push_back(&array);
        for (std::size_t k = 0; k < step.arrays.size(); ++k) {
            inputs.push_back(&step.arrays[k]);
            samplers.push_back(next_sampler + step.samplers[k]);
        }
        if (inputs.size() != kernel.inputs.size())
            refuse(
                ErrorCode::bad_argument, kernel,
                fmt::format("{} needs {} images, but {} were read", kernel.name, kernel.inputs.size(), inputs.size()),
                "Name the files of the other inputs in the pipeline.");
        images = verify::compute(lane.stream, run, inputs, step.step.samplers, samplers);
        kind = inputs.front()->info().kind;
        if (outputs[i].empty()) continue;
        const std::vector<verify::HostImage> results = verify::host_images(images.views);
        phase = Phase::writing;
        const CodingTurn turn(turns);
        if (outputs[i].has_parent_path()) {
            std::error_code failed;
            fs::create_directories(outputs[i].parent_path(), failed);  // save() reports a folder that does not exist
        }
        for (fs::path& file : verify::save_images(outputs[i], results, verify::writes_cubes(kernel, kind),
                                                  {.alpha = alpha, .waits_for_disk = false}))
            written.push_back(std::move(file));
    }
    return written;
}

}  // namespace texton::batch

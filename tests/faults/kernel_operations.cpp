// Every kernel of the registry, and the functions of kernels/ that are not in it.
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include <texton/color.h>
#include <texton/cube_file.h>
#include <texton/cubemap.h>
#include <texton/device_set.h>
#include <texton/error.h>
#include <texton/fill.h>
#include <texton/filter.h>
#include <texton/gather.h>
#include <texton/kernel.h>
#include <texton/layers.h>
#include <texton/linear.h>
#include <texton/lut.h>
#include <texton/metrics.h>
#include <texton/mips.h>
#include <texton/percentiles.h>
#include <texton/planar.h>
#include <texton/resample.h>
#include <texton/statistics.h>
#include <texton/volume.h>
#include <texton/warp.h>

#include "tests/faults/files.h"
#include "tests/faults/operations.h"
#include "tests/support/arrays.h"

namespace texton::test {
namespace {

// Inputs of a kernel: the formats of the first one and of the others, and the size of 2D inputs.
struct Inputs {
    Format first, others;
    bool halves = false;  // the others have half the size, as chroma has
    Extent extent{24, 20};
};
constexpr Inputs kInputs[] = {{Format::rgba8_unorm, Format::rgba8_unorm},
                              {Format::rgba32_float, Format::rgba32_float},
                              {Format::r32_float, Format::rg32_float},
                              {Format::r8_unorm, Format::rg8_unorm, true},
                              {Format::rgba8_unorm, Format::r8_unorm, false, {24, 18}},
                              {Format::rgba16_float, Format::r8_unorm, false, {30, 5}}};

Texture input(const Device& device, ArrayKind kind, Format format, Extent extent, bool levels) {
    ArrayInfo info{.format = format, .extent = extent, .kind = kind, .usage = {.gather = kind == ArrayKind::array_2d}};
    if (is_flat(kind)) info.extent = {24};
    if (kind == ArrayKind::array_3d) info.extent = {9, 8, 7};
    if (is_cube(kind)) info.extent = {12, 12};
    if (is_layered(kind)) info.layers = 3;
    if (levels) info.levels = full_levels(info);
    const Array array(device, info);
    upload(array, ReferenceArray(info, 1));
    return Texture(array, {.filter = Filter::linear,
                           .mip_filter = Filter::linear,
                           .normalized_coordinates = levels,
                           .seamless_cubemap = levels && is_cube(kind)});
}

// A kernel with inputs that it accepts, and its images.
struct Job {
    Device device;
    std::map<std::string, ParameterValue> values;
    std::vector<Texture> inputs;
    std::vector<Linear> memory;
    std::vector<View> images;
};

Bytes run(const Kernel& kernel, const Job& job) {
    const Arguments arguments(kernel.info, job.values);
    (void)shapes(kernel, arguments, job.inputs);
    const Stream stream(job.device);
    enqueue(kernel, stream, job.images, arguments, job.inputs);
    stream.synchronize();
    Bytes result;
    for (const View& image : job.images) append(result, texels_of(image));
    return result;
}

std::shared_ptr<Job> job_of(const Device& device, const Kernel& kernel) {
    std::string refusal;
    for (const Inputs& formats : kInputs) {
        for (const bool levels : {false, true}) {
            const auto job = std::make_shared<Job>(Job{device, {}, {}, {}, {}});
            for (const ParameterInfo& parameter : kernel.info.parameters) {
                if (parameter.name == "samples") job->values["samples"] = 40.0;  // the default number takes long
            }
            try {
                for (const InputInfo& each : kernel.info.inputs) {
                    const ArrayKind kind = each.kinds.front();
                    const bool first = job->inputs.empty();
                    const bool half = !first && formats.halves && kind == ArrayKind::array_2d;
                    job->inputs.push_back(input(device, kind, first ? formats.first : formats.others,
                                                half ? Extent{12, 10} : formats.extent, levels));
                }
                const Arguments arguments(kernel.info, job->values);
                for (const ImageShape& shape : shapes(kernel, arguments, job->inputs)) {
                    job->memory.emplace_back(device, shape.format, shape.extent);
                    job->images.push_back(job->memory.back().view(shape.format, shape.extent));
                }
                (void)run(kernel, *job);
                return job;
            } catch (const Error& error) {
                refusal = error.what();
            }
        }
    }
    throw std::logic_error("no inputs for the kernel " + kernel.info.name + ": " + refusal);
}

Operation kernel_operation(const Kernel& kernel) {
    return {"Kernel_" + kernel.info.name, {"kernel"}, [&kernel](const Device& device) {
                return Prepared{[job = job_of(device, kernel), &kernel] { return run(kernel, *job); }};
            }};
}

// A texture and an image of the same size in memory, for functions that are called directly.
struct Picture {
    explicit Picture(const Device& device, ArrayKind kind = ArrayKind::array_2d, Extent extent = {24, 20})
        : texture(input(device, kind, Format::rgba8_unorm, extent, false)),
          memory(device, Format::rgba8_unorm, extent),
          image(memory.view(Format::rgba8_unorm, extent)) {}

    Texture texture;
    Linear memory;
    View image;
};

using Draw = void (*)(const Picture&, const Stream&);

std::function<Prepared(const Device&)> drawn(Draw draw) {
    return [draw](const Device& device) {
        return Prepared{[draw, picture = std::make_shared<Picture>(device)] {
            const Stream stream(picture->texture.device());
            draw(*picture, stream);
            return texels_of(picture->image, stream);
        }};
    };
}

void draw_colors(const Picture& picture, const Stream& stream) {
    const auto& [texture, memory, image] = picture;
    exposure(stream, image, texture, 1.0f);
    swizzle(stream, image, texture, "bgra");
}

void draw_filters(const Picture& picture, const Stream& stream) {
    const auto& [texture, memory, image] = picture;
    static constexpr float kWeights[] = {0.25f, 0.5f, 0.25f};
    convolve(stream, image, texture, kWeights, kWeights);
    gaussian(stream, image, texture);
    median(stream, image, texture, MedianSize::five);
}

Prepared make_all_mips(const Device& device) {
    const auto array = std::make_shared<Array>(
        device, ArrayInfo{.format = Format::rgba8_unorm, .extent = {50, 40}, .levels = 4, .usage = {.surface = true}});
    fill(array->view(), std::uint32_t{0x10203040});
    return {[device, array] {
        const Stream stream(device);
        make_mips(stream, *array);
        Bytes result = texels_of(array->view({.level = 1}), stream);
        append(result, texels_of(array->view({.level = 3}), stream));
        return result;
    }};
}

Prepared collect(const Device& device) {
    const auto picture = std::make_shared<Picture>(device);
    return {[device, picture] {
        const Linear memory(device, sizeof(Statistics));
        const Stream stream(device);
        collect_statistics(stream, memory.view(), picture->texture);
        const Statistics found = read_statistics(stream, memory.view());
        Bytes result;
        append(result, std::as_bytes(std::span(&found, 1)));
        return result;
    }};
}

Prepared find_percentiles(const Device& device) {
    const auto picture = std::make_shared<Picture>(device);
    return {[device, picture] {
        const double shares[] = {0, 0.5, 1};
        const auto found = percentiles(Stream(device), picture->texture, shares);
        Bytes result;
        append(result, std::as_bytes(std::span(found)));
        return result;
    }};
}

Prepared find_percentiles_of_parts(const Device& device) {
    const auto picture = std::make_shared<Picture>(device);
    return {[device, picture] {
        const double shares[] = {0.25, 1};
        const TextureParts parts = [&](const std::function<void(const Texture&)>& count) {
            count(picture->texture);
            count(picture->texture);
        };
        const auto found = percentiles(Stream(device), parts, shares);
        Bytes result;
        append(result, std::as_bytes(std::span(found)));
        return result;
    }};
}

Prepared compare_images(const Device&) {
    const auto first = std::make_shared<Bytes>(pattern(20 * 20 * 4, 1));
    const auto second = std::make_shared<Bytes>(pattern(20 * 20 * 4, 2));
    return {[=] {
        const ConstView a = host_view(static_cast<const void*>(first->data()), Format::rgba8_unorm, {20, 20});
        const ConstView b = host_view(static_cast<const void*>(second->data()), Format::rgba8_unorm, {20, 20});
        const Comparison comparison = compare(a, b, {.flip = true});
        const auto distances = ulp_distances(a, b);
        const auto channels = read_channels(a);
        Bytes result;
        append(result, ulp_map(distances));
        append(result, heat_map(comparison.flip->errors));
        append(result, std::as_bytes(std::span(channels)));
        append(result, std::as_bytes(std::span(&comparison.all.rmse, 1)));
        return result;
    }};
}

Prepared compare_images_of_device(const Device& device) {
    constexpr Extent kExtent{20, 20};
    const auto first = std::make_shared<Linear>(device, Format::rgba8_unorm, kExtent);
    const auto second = std::make_shared<Linear>(device, Format::rgba8_unorm, kExtent);
    upload(first->view(), pattern(first->bytes(), 1));
    upload(second->view(), pattern(second->bytes(), 2));
    const auto stream = std::make_shared<Stream>(device);
    return {[=] {
        const Comparison comparison = compare(*stream, first->view(Format::rgba8_unorm, kExtent),
                                              second->view(Format::rgba8_unorm, kExtent), {.flip = true});
        Bytes result;
        append(result, std::as_bytes(std::span(&comparison.all.rmse, 1)));
        append(result, std::as_bytes(std::span(&*comparison.all.ssim, 1)));
        append(result, std::as_bytes(std::span(comparison.flip->errors)));
        return result;
    }};
}

Prepared use_cube_file(const Device& device) {
    const auto files = std::make_shared<Files>();
    const auto path = files->at("a.cube");
    const auto lut = std::make_shared<CubeLut>();
    lut->title = "a title that is longer than a short string";
    lut->size = 2;
    for (int i = 0; i < 24; ++i) lut->entries.push_back(static_cast<float>(i) / 24);
    write_cube_file(path, *lut);
    const Bytes contents = contents_of(path);
    return {[=] {
                write_cube_file(path, *lut);
                return texels_of(cube_array(device, read_cube_file(path)).view());
            },
            [=] {
                files->expect({{"a.cube", {contents}}});
            }};
}

// Two kernels on two parts of an image. If one part finds no memory, the other one is the whole image.
Prepared split_image(const Device& device) {
    constexpr Extent kExtent{256, 512};
    struct Parts {
        std::vector<Device> devices;
        Bytes texels;
        Bytes result;
        std::map<std::string, ParameterValue> values{{"sigma", 1.0}};
        std::map<std::string, ParameterValue> none{};
    };
    const auto parts = std::make_shared<Parts>();
    parts->devices = {device, device};
    parts->texels = pattern(kExtent.width * kExtent.height, 1);
    parts->result.resize(parts->texels.size());
    return {[=] {
        const DeviceSet set([&] {
            const Aside own;
            return parts->devices;
        }());
        const auto input = [](const SplitImage& image) {
            const Aside own;
            return std::vector<SplitInput>{{image}};
        };
        const SplitImage image = set.split(host_view(std::as_const(parts->texels).data(), Format::r8_unorm, kExtent));
        const Kernel& gaussian = kernel_named("gaussian");
        const Kernel& median = kernel_named("median");
        const SplitImage blurred = set.apply(gaussian, Arguments(gaussian.info, parts->values), input(image));
        const SplitImage filtered = set.apply(median, Arguments(median.info, parts->none), input(blurred));
        set.join(host_view(parts->result.data(), Format::r8_unorm, kExtent), filtered);
        Bytes result;
        append(result, parts->result);
        return result;
    }};
}

}  // namespace

std::vector<Operation> kernel_operations() {
    std::vector<Operation> all;
    for (const Kernel& kernel : kernels()) all.push_back(kernel_operation(kernel));
    // The kernels of the registry call the functions of these headers.
    for (Operation& each : all) {
        each.headers.insert(each.headers.end(), {"color", "cubemap", "filter", "gather", "layers", "lut", "planar",
                                                 "resample", "volume", "warp"});
    }
    all.insert(all.end(), {
                              {"Colors", {"color"}, drawn(draw_colors)},
                              {"Filters", {"filter"}, drawn(draw_filters)},
                              {"MakeMips", {"mips"}, make_all_mips},
                              {"Statistics", {"statistics"}, collect},
                              {"Percentiles", {"percentiles"}, find_percentiles},
                              {"PercentilesOfParts", {"percentiles"}, find_percentiles_of_parts},
                              {"Metrics", {"metrics"}, compare_images, true},
                              {"MetricsOfDevice", {"metrics"}, compare_images_of_device},
                              {"CubeFile", {"cube_file"}, use_cube_file},
                              {"DeviceSet", {"device_set"}, split_image},
                          });
    return all;
}

}  // namespace texton::test

// `texton bench`: measures how long kernels take on a device.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/fill.h>
#include <texton/kernel.h>
#include <texton/linear.h>

#include "viewer/cli/commands.h"
#include "viewer/cli/kernel_options.h"
#include "viewer/cli/progress.h"
#include "viewer/cli/terminal.h"
#include "viewer/model/document.h"
#include "viewer/model/kernel_run.h"
#include "viewer/verify/pattern.h"

namespace texton::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

struct Options {
    std::vector<std::string> kernels;
    std::string size = "1024x1024";
    std::string format = "rgba8_unorm";
    std::string device;
    bool json = false;
};

struct Measured {
    std::string kernel;
    double milliseconds = 0;
    double gigabytes = 0;   // per second; each input and each result counts once
    std::string refusal{};  // why the kernel cannot be measured; empty if it was
};

// Returns the array for an input of a kernel, of the first kind that the input accepts. Volumes and cubemaps have about
// as many texels as an image of `size`.
ArrayInfo input_info(const Device& device, const InputInfo& input, Format format, const Extent& size) {
    ArrayInfo info{.format = format, .extent = {size.width, size.height}, .kind = input.kinds.front()};
    info.usage = verify::usage_for_kernels(device, info);
    if (is_flat(info.kind)) info.extent = {size.width};
    std::size_t side = 1;
    if (info.kind == ArrayKind::array_3d) {
        while ((side + 1) * (side + 1) * (side + 1) <= size.width * size.height) ++side;
        info.extent = {side, side, side};
    }
    if (is_cube(info.kind)) {
        while (6 * (side + 1) * (side + 1) <= size.width * size.height) ++side;
        info.extent = {side, side};
    }
    return info;
}

// Returns an array whose neighboring texels have similar but different values, as in a photograph; block-compressed
// formats get random blocks. The coordinates in an input called `map` are close to the position of each pixel.
Array like_an_image(const Device& device, const InputInfo& input, const ArrayInfo& info) {
    const bool blocks = texton::info(info.format).layout == FormatLayout::block;
    verify::Pattern pattern{.kind = blocks ? verify::PatternKind::noise : verify::PatternKind::gradient};
    if (input.name == "map") pattern.range = {0, static_cast<float>(info.extent.width)};
    return verify::upload(device, verify::draw(pattern, info));
}

// Returns the median time of a call in 5 rounds, in milliseconds. A round repeats the call until it takes about 20 ms,
// at most 1000 times. A kernel that takes at least a second is measured in one round.
double time_of(const Kernel& kernel, const Stream& stream, std::span<const View> images, const Arguments& arguments,
               std::span<const Texture> inputs) {
    constexpr int kRounds = 5;
    constexpr double kRound = 20;  // milliseconds
    const auto took = [&](int calls) {
        const auto begin = Clock::now();
        for (int i = 0; i < calls; ++i) enqueue(kernel, stream, images, arguments, inputs);
        stream.synchronize();
        return std::chrono::duration<double, std::milli>(Clock::now() - begin).count() / calls;
    };
    const double first = std::max(took(1), 1e-3);
    const int calls = std::clamp(static_cast<int>(kRound / first), 1, 1000);
    std::vector<double> rounds;
    for (int i = 0; i < kRounds && (rounds.empty() || first < 1000); ++i) rounds.push_back(took(calls));
    std::ranges::nth_element(rounds, rounds.begin() + static_cast<std::ptrdiff_t>(rounds.size() / 2));
    return rounds[rounds.size() / 2];
}

Measured measure(const Device& device, const Kernel& kernel, Format format, const Extent& size) {
    Measured result{.kernel = kernel.info.name};
    try {
        const Arguments arguments(kernel.info);
        const Stream stream(device);
        std::vector<Texture> inputs;
        std::size_t bytes = 0;
        for (const InputInfo& input : kernel.info.inputs) {
            const Array array = like_an_image(device, input, input_info(device, input, format, size));
            inputs.emplace_back(array, verify::standard_sampler(array.info()));
            bytes += packed_bytes(format, array.view().extent());
        }
        std::vector<Linear> memory;
        std::vector<View> images;
        for (const ImageShape& shape : shapes(kernel, arguments, inputs)) {
            memory.emplace_back(device, shape.format, shape.extent);
            images.push_back(memory.back().view(shape.format, shape.extent));
            bytes += memory.back().bytes();
        }
        result.milliseconds = time_of(kernel, stream, images, arguments, inputs);
        result.gigabytes = static_cast<double>(bytes) / result.milliseconds * 1e-6;
    } catch (const Error& error) {
        if (error.code() != ErrorCode::bad_argument) throw;
        result.refusal = error.problem();
    }
    return result;
}

// Returns the bandwidth of a copy within the device, in GB/s; bytes count twice, read and written. This is the upper
// limit for a kernel.
double copy_speed(const Device& device) {
    constexpr Extent kSide{4096, 4096};
    const Linear from(device, Format::rgba8_unorm, kSide);
    const Linear to(device, Format::rgba8_unorm, kSide);
    const Stream stream(device);
    fill(from.view(), std::uint8_t{1});
    double best = 0;
    for (int i = 0; i < 5; ++i) {
        const auto begin = Clock::now();
        copy(to.view(), from.view(), stream);
        stream.synchronize();
        best = std::max(best, 2e-9 * static_cast<double>(from.bytes()) /
                                  std::chrono::duration<double>(Clock::now() - begin).count());
    }
    return best;
}

void print(const Device& device, const std::vector<Measured>& all, double limit, bool json) {
    if (json) {
        Json out{{"device", device.name()}, {"copy_gigabytes_a_second", limit}, {"kernels", Json::array()}};
        for (const Measured& row : all) {
            if (row.refusal.empty()) {
                out["kernels"].push_back({{"kernel", row.kernel},
                                          {"milliseconds", row.milliseconds},
                                          {"gigabytes_a_second", row.gigabytes}});
            } else {
                out["kernels"].push_back({{"kernel", row.kernel}, {"refusal", row.refusal}});
            }
        }
        return print_json(out);
    }
    fmt::print("{}; copy bandwidth: {:.1f} GB/s\n\n", device.name(), limit);
    Table table({"kernel", "ms", "GB/s", "ratio to copy"});
    for (const Measured& row : all) {
        if (row.refusal.empty())
            table.add({row.kernel, fmt::format("{:.3f}", row.milliseconds), fmt::format("{:.2f}", row.gigabytes),
                       fmt::format("{:.3f}", row.gigabytes / limit)});
    }
    fmt::print("{}", table.text());
    for (const Measured& row : all) {
        if (!row.refusal.empty()) fmt::print("{} was not measured: {}\n", row.kernel, row.refusal);
    }
}

Status run(const Options& options) {
    const Extent size = verify::size_of(options.size, "--size");
    const Format format = verify::format_of(options.format, "--format");
    const Device device = viewer::device_named(options.device);
    std::vector<const Kernel*> selected;
    for (const std::string& name : options.kernels) selected.push_back(&kernel_typed(name));
    if (selected.empty()) {
        for (const Kernel& kernel : kernels()) selected.push_back(&kernel);
    }
    std::vector<Measured> all;
    {
        ProgressBar bar("measuring", "kernels");
        for (const Kernel* kernel : selected) {
            bar.show(static_cast<double>(all.size()), static_cast<double>(selected.size()));
            all.push_back(measure(device, *kernel, format, size));
        }
    }
    print(device, all, copy_speed(device), options.json);
    return Status::good;
}

}  // namespace

void add_bench(CLI::App* command, Status& status) {
    const auto options = std::make_shared<Options>();
    command->add_option("KERNEL", options->kernels, "Kernels to measure. Default: all kernels")->type_name("KERNEL...");
    command->add_option("--size", options->size, "Size of the input images")->type_name("WxH")->capture_default_str();
    command->add_option("--format", options->format, "Texel format of the input images")
        ->type_name("FORMAT")
        ->capture_default_str();
    command->add_option("--device", options->device,
                        "Device: cpu, cpu:N, cuda or cuda:N. Default: the first CUDA device, or else the CPU");
    command->add_flag("--json", options->json, "Print one JSON object instead of tables");
    command->footer(
        "Parameters have their default values. GB/s counts the bytes of all inputs and results once, and `ratio to "
        "copy`\n"
        "divides it by the bandwidth of a copy within the device. A kernel that reads each texel many times is far "
        "below 1.\n"
        "Kernels that do not accept inputs of this size and format are listed below the table.\n"
        "\n"
        "Examples:\n"
        "  texton bench\n"
        "  texton bench resample gaussian --size 4096x4096 --format rgba32_float --device cpu\n"
        "\n"
        "Exit status:\n"
        "  0  success\n"
        "  2  a kernel, the format or the device does not exist, or the size is invalid");
    command->callback([options, &status] { status = run(*options); });
}

}  // namespace texton::cli

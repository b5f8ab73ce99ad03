// `texton bench`: what kernels take on the devices at hand.
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
    double gigabytes = 0;  // read and written, once each, a second
    std::string refusal{};
};

/// Its first kind: volumes and cubes have about as many texels as a picture of that size.
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

/// Neighbours are alike, but not equal; a map leads each pixel to about its own place.
Array like_a_picture(const Device& device, const InputInfo& input, const ArrayInfo& info) {
    const bool blocks = texton::info(info.format).layout == FormatLayout::block;
    verify::Pattern pattern{.kind = blocks ? verify::PatternKind::noise : verify::PatternKind::gradient};
    if (input.name == "map") pattern.range = {0, static_cast<float>(info.extent.width)};
    return verify::upload(device, verify::draw(pattern, info));
}

/// The middle one of several rounds, in milliseconds; short ones are repeated, so that each round takes a while.
double time_of(const Kernel& kernel, const Stream& stream, std::span<const View> pictures, const Arguments& arguments,
               std::span<const Texture> inputs) {
    constexpr int kRounds = 5;
    constexpr double kRound = 20;  // milliseconds
    const auto took = [&](int calls) {
        const auto begin = Clock::now();
        for (int i = 0; i < calls; ++i) enqueue(kernel, stream, pictures, arguments, inputs);
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
            const Array array = like_a_picture(device, input, input_info(device, input, format, size));
            inputs.emplace_back(array, verify::standard_sampler(array.info()));
            bytes += packed_bytes(format, array.view().extent());
        }
        std::vector<Linear> memory;
        std::vector<View> pictures;
        for (const PictureShape& shape : shapes(kernel, arguments, inputs)) {
            memory.emplace_back(device, shape.format, shape.extent);
            pictures.push_back(memory.back().view(shape.format, shape.extent));
            bytes += memory.back().bytes();
        }
        result.milliseconds = time_of(kernel, stream, pictures, arguments, inputs);
        result.gigabytes = static_cast<double>(bytes) / result.milliseconds * 1e-6;
    } catch (const Error& error) {
        if (error.code() != ErrorCode::bad_argument) throw;
        result.refusal = error.problem();
    }
    return result;
}

/// What a copy within the device moves: the most that a kernel can.
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
    fmt::print("{}; a copy moves {:.1f} GB/s\n\n", device.name(), limit);
    Table table({"kernel", "ms", "GB/s", "of a copy"});
    for (const Measured& row : all) {
        if (row.refusal.empty())
            table.add({row.kernel, fmt::format("{:.3f}", row.milliseconds), fmt::format("{:.2f}", row.gigabytes),
                       fmt::format("{:.3f}", row.gigabytes / limit)});
    }
    fmt::print("{}", table.text());
    for (const Measured& row : all) {
        if (!row.refusal.empty()) fmt::print("{} is not measured: {}\n", row.kernel, row.refusal);
    }
}

Status run(const Options& options) {
    const Extent size = verify::size_of(options.size, "--size");
    const Format format = verify::format_of(options.format, "--format");
    const Device device = viewer::device_named(options.device);
    std::vector<const Kernel*> wanted;
    for (const std::string& name : options.kernels) wanted.push_back(&kernel_named(name));
    if (wanted.empty()) {
        for (const Kernel& kernel : kernels()) wanted.push_back(&kernel);
    }
    std::vector<Measured> all;
    {
        ProgressBar bar("measuring");
        for (const Kernel* kernel : wanted) {
            bar.show(static_cast<double>(all.size()) / static_cast<double>(wanted.size()));
            all.push_back(measure(device, *kernel, format, size));
        }
    }
    print(device, all, copy_speed(device), options.json);
    return Status::good;
}

}  // namespace

void add_bench(CLI::App* command, Status& status) {
    const auto options = std::make_shared<Options>();
    command->add_option("KERNEL", options->kernels, "Which; without any, all of them")->type_name("KERNEL...");
    command->add_option("--size", options->size, "Of the pictures that they read")
        ->type_name("WxH")
        ->capture_default_str();
    command->add_option("--format", options->format, "Of those pictures")->type_name("FORMAT")->capture_default_str();
    command->add_option("--device", options->device, "cpu, cpu:N, cuda or cuda:N; without it the best there is");
    command->add_flag("--json", options->json, "Print one JSON object instead");
    command->footer(
        "Parameters have their standard values. Bytes are those of all pictures, read or written once; a kernel that\n"
        "reads each many times is far from the limit. Those that take no such pictures are named below the table.\n"
        "\n"
        "Examples:\n"
        "  texton bench\n"
        "  texton bench resample gaussian --size 4096x4096 --format rgba32_float --device cpu\n"
        "\n"
        "Exit status: 0; 2 if there is no such kernel, format or device.");
    command->callback([options, &status] { status = run(*options); });
}

}  // namespace texton::cli

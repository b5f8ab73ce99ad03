// Kernels that compute their image in strips, with less memory than their inputs take, return the bits of a kernel that
// has everything in memory.
#include "viewer/tiles/computed_image.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/image_save.h>

#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"
#include "tests/support/kernel_experiments.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"
#include "viewer/model/saved_images.h"

// Defined if the program was built with the sanitizer.
extern "C" __attribute__((weak)) void __asan_init();
extern "C" __attribute__((weak)) void __tsan_init();

namespace texton::tiles {
namespace {

using test::KernelExperiment;

const std::set<std::string> kRefused{"from_rgb", "histogram", "min_max_pyramid", "mips", "prefilter_ggx", "statistics"};

/// Returns the first image of the kernel, or the message of the error.
struct Outcome {
    std::vector<std::byte> texels{};
    std::string refusal{};
};

/// The inputs of an experiment: arrays, and files of the same texels that are read in small blocks.
class Inputs {
public:
    explicit Inputs(const KernelExperiment& experiment) : experiment_(experiment) {
        for (std::size_t i = 0; i < experiment.inputs.size(); ++i)
            arrays_.push_back(test::random_array(Device::cpu(), experiment.inputs[i], static_cast<unsigned>(i) + 1));
    }

    std::vector<Texture> textures() const {
        std::vector<Texture> all;
        for (const Array& array : arrays_) all.emplace_back(array, sampler_for(experiment_, array.info().kind));
        return all;
    }
    /// `in_rows`: the images are read in whole rows.
    std::vector<KernelInput> kernel_inputs(bool in_rows) const {
        std::vector<KernelInput> all;
        for (const Array& array : arrays_) {
            KernelInput input{.image = image_of(array), .sampler = sampler_for(experiment_, array.info().kind)};
            if (!in_rows) {
                const std::filesystem::path file = folder_.at(std::to_string(all.size()) + ".dds");
                save(file, array);
                input.image = open_image(file);
            }
            all.push_back(std::move(input));
        }
        return all;
    }
    std::size_t bytes() const {
        std::size_t all = 0;
        for (const Array& array : arrays_) all += packed_bytes(array.info());
        return all;
    }

private:
    const KernelExperiment& experiment_;
    test::ImageFolder folder_;
    std::vector<Array> arrays_;
};

Outcome in_memory(const verify::KernelRun& run, const Inputs& inputs) {
    try {
        return {verify::run(Device::cpu(), run, inputs.textures()).front().texels, {}};
    } catch (const Error& error) {
        return {{}, error.what()};
    }
}

std::vector<std::byte> texels_of(const ImageFile& image) {
    std::vector<std::byte> texels(packed_bytes(image.info()));
    image.read({}, texels);
    return texels;
}

/// Computes the image with the least of several memories that suffice. `is_small` becomes whether the inputs are
/// larger.
Outcome in_strips(const Device& device, StripInputs strip_inputs, const verify::KernelRun& run, const Inputs& inputs,
                  bool in_rows, bool& is_small) {
    for (std::size_t memory = inputs.bytes() / 4;; memory = memory * 3 / 2) {
        try {
            is_small = memory < inputs.bytes();
            auto kernel =
                std::make_unique<KernelInStrips>(device, run, inputs.kernel_inputs(in_rows), memory, strip_inputs);
            const ImageShape& shape = kernel->shape();
            const ArrayInfo info = verify::array_info_of(shape.format, shape.extent, 1, false);
            return {texels_of(computed_image(std::move(kernel), info)), {}};
        } catch (const Error& error) {
            if (error.code() != ErrorCode::out_of_memory || memory > 100 * inputs.bytes()) return {{}, error.what()};
        }
    }
}

/// The experiments, and some of them with other address modes.
std::vector<KernelExperiment> all_experiments(const KernelInfo& kernel) {
    std::vector<KernelExperiment> all = test::kernel_experiments(kernel);
    const std::size_t count = all.size();
    for (std::size_t i = 0; i < count; i += 5) {
        constexpr AddressMode kModes[] = {AddressMode::wrap, AddressMode::mirror, AddressMode::border};
        KernelExperiment other = all[i];
        std::ranges::fill(other.sampler.address, kModes[i / 5 % 3]);
        other.sampler.normalized_coordinates = true;
        all.push_back(other);
    }
    return all;
}

class EveryKernelInStripsTest : public testing::TestWithParam<std::string> {};

std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const Kernel& kernel : kernels()) all.push_back(kernel.info.name);
    return all;
}
INSTANTIATE_TEST_SUITE_P(Kernels, EveryKernelInStripsTest, testing::ValuesIn(names()),
                         [](const auto& info) { return info.param; });

TEST_P(EveryKernelInStripsTest, GivesTheBitsOfTheKernelInMemoryOrIsRefusedByName) {
    const Kernel& kernel = kernel_named(GetParam());
    if (kRefused.contains(kernel.info.name)) {
        test::expect_error([&] { check_kernel({.kernel = &kernel, .parameters = {}}); }, ErrorCode::unsupported,
                           "texton::" + kernel.info.name, {"cannot be computed in parts", "--memory"});
        return;
    }
    std::vector<KernelExperiment> all = all_experiments(kernel.info);
    std::size_t made = 0, small = 0, different = 0;
    for (KernelExperiment& experiment : all) {
        const auto has_levels = [](const ArrayInfo& info) { return info.levels <= full_levels(info); };
        if (!std::ranges::all_of(experiment.inputs, has_levels)) continue;
        for (ArrayInfo& info : experiment.inputs) info.usage = verify::usage_for_kernels(Device::cpu(), info);
        const Inputs inputs(experiment);
        const verify::KernelRun run{.kernel = &kernel, .parameters = experiment.values};
        const Outcome expected = in_memory(run, inputs);
        if (!expected.refusal.empty()) continue;
        for (const bool in_rows : {true, false}) {
            bool is_small = false;
            const Outcome outcome = in_strips(Device::cpu(), StripInputs::loaded, run, inputs, in_rows, is_small);
            ++made;
            if (is_small) ++small;
            if (outcome.texels == expected.texels) continue;
            if (++different > 3) continue;
            ADD_FAILURE() << describe(experiment) << (in_rows ? ", in rows\n" : ", in blocks\n") << outcome.refusal;
        }
        for (const Device& device : test::one_of_each_kind()) {
            bool is_small = false;
            const Outcome outcome = in_strips(device, StripInputs::copied, run, inputs, true, is_small);
            if (outcome.texels == expected.texels) continue;
            if (++different > 3) continue;
            ADD_FAILURE() << describe(experiment) << ", copied to " << device.name() << "\n" << outcome.refusal;
        }
    }
    EXPECT_EQ(different, 0U) << "of " << made;
    EXPECT_GT(made, 0U);
    EXPECT_GT(small, 0U) << "no memory below the size of the inputs was enough";
}

TEST(LargeImageInStripsTest, StripsTakeNoMoreMemoryThanMakesThemEfficient) {
    constexpr std::size_t kWidth = 4096, kHeight = 4096;
    const std::vector<std::byte> texels(kWidth * kHeight * 4);
    const ConstView whole = host_view(texels.data(), Format::rgba8_unorm, {kWidth, kHeight});
    const auto strip_rows = [&](double sigma, std::size_t memory) {
        const verify::KernelRun run{.kernel = &kernel_named("gaussian"), .parameters = {{"sigma", sigma}}};
        return KernelInStrips(Device::cpu(), run, {{.image = image_of(whole)}}, memory).strip_rows();
    };
    const std::size_t rows = strip_rows(1, std::size_t{512} << 20);
    EXPECT_LT(rows * kWidth * 4 * 4, std::size_t{40} << 20) << "two strips, and the rows that they read";
    EXPECT_EQ(strip_rows(1, std::size_t{256} << 20), rows);
    EXPECT_LT(strip_rows(1, std::size_t{8} << 20), rows);
    EXPECT_GE(strip_rows(100, std::size_t{512} << 20), 300U) << "most rows that a strip reads are its own";
}

TEST(LargeImageInStripsTest, ImagesBeyondTheLimitsOfTexturesHaveTheTexelsOfTheirParts) {
    // Wider than a texture can be.
    constexpr std::size_t kWidth = 140001, kHeight = 120;
    const std::vector<std::byte> texels = test::pattern(kWidth * kHeight, 5);
    const ConstView whole = host_view(texels.data(), Format::r8_unorm, {kWidth, kHeight});
    for (const auto& [name, values] : std::vector<std::pair<std::string, std::map<std::string, ParameterValue>>>{
             {"gaussian", {{"sigma", 2.0}}}, {"median", {}}, {"exposure", {{"stops", 0.5}}}}) {
        SCOPED_TRACE(name);
        const verify::KernelRun run{.kernel = &kernel_named(name), .parameters = values};
        auto kernel = std::make_unique<KernelInStrips>(Device::cpu(), run,
                                                       std::vector<KernelInput>{{.image = image_of(whole)}}, 9000000);
        EXPECT_LT(kernel->strip_rows(), kHeight);
        const ImageShape shape = kernel->shape();
        const ImageFile image =
            computed_image(std::move(kernel), verify::array_info_of(shape.format, shape.extent, 1, false));
        const std::vector<std::byte> result = texels_of(image);
        // A part around the limit, and the last columns. Pixels near the edges of the part read other texels.
        constexpr std::size_t kPart = 512, kEdge = 8;
        for (const std::size_t first : {std::size_t{131072} - kPart / 2, kWidth - kPart}) {
            const Array part(Device::cpu(), {Format::r8_unorm, {kPart, kHeight}});
            copy(part.view(), whole.region({{first, 0, 0}, {kPart, kHeight, 1}}));
            const Texture texture(part);
            const verify::HostImage expected = verify::run(Device::cpu(), run, std::span(&texture, 1)).front();
            const std::size_t end = first + kPart == kWidth ? kPart : kPart - kEdge;
            for (std::size_t y = 0; y < kHeight; ++y) {
                const auto row = std::span(expected.texels).subspan(y * kPart + kEdge, end - kEdge);
                ASSERT_TRUE(test::same_bytes(std::span(result).subspan(y * kWidth + first + kEdge, row.size()), row))
                    << y;
            }
        }
    }
    const std::vector<std::byte> row(300000);
    test::expect_error(
        [&] {
            const KernelInStrips kernel(Device::cpu(), {.kernel = &kernel_named("median"), .parameters = {}},
                                        {{.image = image_of(host_view(row.data(), Format::r8_unorm, {300000, 1}))}},
                                        9000000);
        },
        ErrorCode::overflow, "texton::loaded_array", {"300000", "262144"});
}

// --- inputs that are copied to the device ----------------------------------------------------------------------------

class CopiedStripsTest : public test::OnEveryDevice {
protected:
    static Array input(const Extent& extent, Format format, unsigned seed) {
        return test::random_array(Device::cpu(), {.format = format, .extent = extent}, seed);
    }
    std::unique_ptr<KernelInStrips> in_strips(const verify::KernelRun& run, const std::vector<Array>& inputs,
                                              std::size_t memory) const {
        std::vector<KernelInput> all;
        for (const Array& array : inputs) all.push_back({.image = image_of(array), .sampler = kSampler});
        return std::make_unique<KernelInStrips>(device(), run, std::move(all), memory, StripInputs::copied);
    }
    static constexpr Sampler kSampler{.filter = Filter::linear};
};
INSTANTIATE_TEST_SUITE_P(Devices, CopiedStripsTest, test::every_device(), test::device_label);

TEST_P(CopiedStripsTest, KernelsOfHighImagesReturnTheBitsOfTheKernelInMemory) {
    struct Row {
        const char* name;
        std::map<std::string, ParameterValue> values;
        std::size_t inputs = 1;
        std::optional<verify::ResultSize> size{};
    };
    const std::vector<Row> rows{
        {"gaussian", {{"sigma", 3.0}}},
        {"median", {}},
        {"exposure", {{"stops", 0.5}}},
        {"resample", {{"filter", std::string("catmull_rom")}}, 1, verify::ResultSize{{200, 1700, 1}}},
        {"resample", {{"filter", std::string("area")}}, 1, verify::ResultSize{{50, 300, 1}}},
        {"resample", {{"filter", std::string("area")}}, 1, verify::ResultSize{.percent = 40}},
        {"mips", {{"level_count", 1.0}, {"filter", std::string("kaiser")}}},
        {"warp_affine", {{"map", std::vector<double>{0.9, 0.2, 3, -0.1, 0.9, 30}}}},
        {"blend", {{"opacity", 0.5}}, 2}};
    // Sparse arrays of whole tiles and of parts of tiles.
    for (const auto& [format, extent] :
         {std::pair(Format::rgba32_float, Extent{128, 1024}), std::pair(Format::rgba8_unorm, Extent{140, 1000})}) {
        const Array arrays[] = {input(extent, format, 1), input(extent, format, 2)};
        for (const Row& row : rows) {
            SCOPED_TRACE(std::string(row.name) + " of " + std::string(name(format)));
            const verify::KernelRun run{.kernel = &kernel_named(row.name), .parameters = row.values, .size = row.size};
            std::vector<Texture> textures;
            for (std::size_t i = 0; i < row.inputs; ++i) textures.emplace_back(arrays[i], kSampler);
            const verify::HostImage expected = verify::run(Device::cpu(), run, textures).front();
            constexpr std::size_t kMemory = std::size_t{16} << 20;
            auto kernel = in_strips(run, {arrays, arrays + row.inputs}, kMemory);
            EXPECT_EQ(kernel->device(), Device::cpu());
            EXPECT_EQ(kernel->strip_rows() % 128, 0U);
            EXPECT_LT(kernel->strip_rows(), kernel->shape().extent.height + 128);
            const ImageShape shape = kernel->shape();
            const ImageFile image =
                computed_image(std::move(kernel), verify::array_info_of(shape.format, shape.extent, 1, false));
            EXPECT_TRUE(test::same_bytes(texels_of(image), expected.texels));
        }
    }
}

TEST_P(CopiedStripsTest, WhatDoesNotFitIsRefusedWithTheBytesOrAnotherDevice) {
    const verify::KernelRun exposure{.kernel = &kernel_named("exposure"), .parameters = {}};
    const verify::KernelRun warp{.kernel = &kernel_named("warp_affine"), .parameters = {}};
    const std::vector<Array> high{input({1024, 4096}, Format::rgba8_unorm, 1)};  // 16 MiB
    test::expect_error([&] { in_strips(exposure, high, 1 << 20); }, ErrorCode::out_of_memory, "texton::exposure",
                       {"128 rows of the image and the texels that they read take", "times as large"});
    EXPECT_LT(in_strips(exposure, high, 12 << 20)->strip_rows(), 4096U);
    test::expect_error([&] { in_strips(warp, high, 12 << 20); }, ErrorCode::out_of_memory, "texton::warp_affine",
                       {"needs all rows of an input", "--device cpu"});
    if (on_cpu()) return;  // the CPU device has no limit here
    std::vector<std::byte> texels(140000 * 40);
    test::expect_error(
        [&] {
            const KernelInStrips kernel(device(), exposure,
                                        {{.image = image_of(host_view(texels.data(), Format::r8_unorm, {140000, 40}))}},
                                        std::size_t{64} << 20, StripInputs::copied);
        },
        ErrorCode::overflow, "texton::exposure", {"140000", "texture_2d", "--device cpu"});
}

class StripMemoryTest : public testing::Test {
protected:
    static std::size_t status(const char* key) {
        std::ifstream in("/proc/self/status");
        for (std::string line; std::getline(in, line);) {
            if (line.starts_with(key)) return std::stoul(line.substr(line.find(':') + 1)) << 10;
        }
        return 0;
    }
    /// Reads all texels of an image and returns by how much the memory of the process grew.
    static std::size_t growth(const std::string& kernel, std::map<std::string, ParameterValue> values,
                              const std::filesystem::path& file, std::size_t memory) {
        std::ofstream("/proc/self/clear_refs") << 5;
        const std::size_t before = status("VmRSS");
        const verify::KernelRun run{.kernel = &kernel_named(kernel), .parameters = std::move(values)};
        auto made = std::make_unique<KernelInStrips>(Device::cpu(), run,
                                                     std::vector<KernelInput>{{.image = open_image(file)}}, memory);
        const ImageShape shape = made->shape();
        const ImageFile image =
            computed_image(std::move(made), verify::array_info_of(shape.format, shape.extent, 1, false));
        std::vector<std::byte> row(row_bytes(shape.format, shape.extent.width));
        for (std::size_t y = 0; y < shape.extent.height; ++y)
            image.read({.region = Region{{0, y, 0}, {shape.extent.width, 1, 1}}}, row);
        return status("VmHWM") - std::min(before, status("VmHWM"));
    }
};

TEST_F(StripMemoryTest, AnImageAndItsInputTakeTheMemoryThatWasGiven) {
    if (__asan_init != nullptr || __tsan_init != nullptr) GTEST_SKIP() << "a sanitizer keeps freed memory";
    constexpr std::size_t kSide = 6144;
    constexpr std::size_t kMemory = std::size_t{32} << 20;
    const test::ImageFolder folder;
    const std::vector<std::byte> texels(kSide * kSide * 4);
    save(folder.at("a.tif"), host_view(texels.data(), Format::rgba8_unorm, {kSide, kSide}), {.tile = Extent{256, 256}});
    // Buffers of the decoder and of threads.
    constexpr std::size_t kMore = std::size_t{32} << 20;
    EXPECT_LE(growth("gaussian", {{"sigma", 3.0}}, folder.at("a.tif"), kMemory), kMemory + kMore);
    EXPECT_LE(
        growth("warp_affine", {{"map", std::vector<double>{0.9, 0.1, 0, -0.1, 0.9, 0}}}, folder.at("a.tif"), kMemory),
        kMemory + kMore);
}

}  // namespace
}  // namespace texton::tiles

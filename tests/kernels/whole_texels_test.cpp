// Kernels that read whole texels give the same result whichever filter the sampler has, also beside NaN and infinite
// texels.
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/graph.h>
#include <texton/kernel.h>
#include <texton/linear.h>
#include <texton/mips.h>
#include <texton/pitched.h>

#include "tests/support/arrays.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::Bytes;
using Values = std::map<std::string, ParameterValue>;

constexpr Extent kExtent{37, 23};

struct Case {
    std::string kernel;
    Values values = {};
};

std::vector<Case> cases() {
    std::vector<Case> all{{"resample", {{"filter", std::string("nearest")}}},
                          {"resample", {{"filter", std::string("lanczos3")}}},
                          {"resample", {{"filter", std::string("area")}, {"crop", std::vector<double>{3, 2, 21, 9}}}}};
    for (const Kernel& kernel : kernels()) {
        const std::string& group = kernel.info.group;
        const bool of_textures = kernel.info.name.starts_with("lut_") || kernel.info.name.starts_with("layer");
        if ((group == "color" || group == "filter" || group == "statistics" || group == "layers") && !of_textures)
            all.push_back({kernel.info.name});
    }
    return all;
}

class WholeTexelsTest : public test::OnEveryDevice {
protected:
    // Texels with random bits: some floats are NaN or infinite.
    Array filled(Format format, unsigned seed) const {
        test::Random random(seed);
        const Array array(device(), {.format = format, .extent = kExtent, .levels = 2});
        for (int level = 0; level < 2; ++level) {
            const View view = array.view({.level = level});
            test::upload(view, test::random_texels(random, format, packed_bytes(format, view.extent())));
        }
        return array;
    }
    std::vector<Bytes> run(const Case& of, const std::vector<Texture>& inputs) const {
        const Kernel& kernel = kernel_named(of.kernel);
        const Arguments arguments(kernel.info, of.values);
        const Stream stream(device());
        std::vector<Linear> memory;
        std::vector<View> images;
        for (const ImageShape& shape : shapes(kernel, arguments, inputs)) {
            memory.emplace_back(device(), shape.format, shape.extent);
            images.push_back(memory.back().view(shape.format, shape.extent));
        }
        enqueue(kernel, stream, images, arguments, inputs);
        stream.synchronize();
        std::vector<Bytes> results;
        for (const View& image : images) results.push_back(test::download(image));
        return results;
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, WholeTexelsTest, test::every_device(), test::device_label);

const Sampler kPoint{.normalized_coordinates = true};
const Sampler kOthers[] = {
    {.filter = Filter::linear, .normalized_coordinates = true},
    {.mip_filter = Filter::linear, .normalized_coordinates = true},
    {.filter = Filter::linear, .mip_filter = Filter::linear, .normalized_coordinates = true, .max_anisotropy = 8}};

TEST_P(WholeTexelsTest, TheFilterOfTheSamplerChangesNoResult) {
    for (const Format format : {Format::rgba8_unorm, Format::rgba8_srgb, Format::rgba32_float, Format::rgba16_float}) {
        const Array first = filled(format, 1), second = filled(format, 2), third = filled(format, 3);
        for (const Case& each : cases()) {
            SCOPED_TRACE(each.kernel + " of " + std::string(name(format)));
            const std::size_t count = kernel_named(each.kernel).info.inputs.size();
            const auto with = [&](const Sampler& sampler) {
                std::vector<Texture> inputs{Texture(first, sampler), Texture(second, sampler), Texture(third, sampler)};
                inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(count), inputs.end());
                return run(each, inputs);
            };
            const std::vector<Bytes> expected = with(kPoint);
            for (const Sampler& sampler : kOthers) {
                const std::vector<Bytes> results = with(sampler);
                ASSERT_EQ(results.size(), expected.size());
                for (std::size_t i = 0; i < results.size(); ++i)
                    EXPECT_TRUE(test::same_bytes(results[i], expected[i])) << "image " << i;
            }
        }
    }
}

TEST_P(WholeTexelsTest, MipsOfATextureAreThoseOfItsTexels) {
    const Array array = filled(Format::rgba32_float, 4);
    const Stream stream(device());
    const auto levels_of = [&](const Sampler& sampler) {
        const Pitched2D first(device(), Format::rgba32_float, {18, 11}), second(device(), Format::rgba32_float, {9, 5});
        const std::vector<View> levels{first.view(), second.view()};
        make_mips(stream, levels, Texture(array, sampler));
        stream.synchronize();
        return std::pair(test::download(levels[0]), test::download(levels[1]));
    };
    const auto expected = levels_of(kPoint);
    for (const Sampler& sampler : kOthers) {
        const auto levels = levels_of(sampler);
        EXPECT_TRUE(test::same_bytes(levels.first, expected.first));
        EXPECT_TRUE(test::same_bytes(levels.second, expected.second));
    }
}

TEST_P(WholeTexelsTest, AKernelOfANewTextureCanBeRecorded) {
    const Array array = filled(Format::rgba32_float, 5);
    const Texture linear(array, kOthers[0]), point(array, kPoint);
    const Linear memory(device(), Format::rgba32_float, kExtent);
    const View image = memory.view(Format::rgba32_float, kExtent);
    const Kernel& kernel = kernel_named("median");
    const Stream stream(device());
    const Graph graph = Graph::capture(stream, [&] {
        enqueue(kernel, stream, {&image, 1}, Arguments(kernel.info), {&linear, 1});
    });
    graph.launch(stream);
    stream.synchronize();
    EXPECT_TRUE(test::same_bytes(test::download(image), run({"median"}, {point})[0]));
}

TEST_P(WholeTexelsTest, AKernelOfOneLaunchIsOneNodeOfAGraph) {
    const Array array = filled(Format::rgba8_unorm, 5);
    const Texture texture(array, kOthers[0]);
    const Linear memory(device(), Format::rgba8_unorm, kExtent);
    const View image = memory.view(Format::rgba8_unorm, kExtent);
    const Stream stream(device());
    for (const char* name : {"color_matrix", "transfer", "exposure", "swizzle", "gaussian", "median", "resample"}) {
        const Kernel& kernel = kernel_named(name);
        const Graph graph = Graph::capture(stream, [&] {
            enqueue(kernel, stream, {&image, 1}, Arguments(kernel.info), {&texture, 1});
        });
        EXPECT_EQ(graph.size(), 1U) << name;
    }
}

}  // namespace
}  // namespace texton

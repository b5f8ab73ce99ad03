// Every named kernel with every choice of its parameters: the CPU device and the CUDA device must produce the same
// bits, or the same error message. Without a CUDA device the CPU device is compared with itself, which finds
// differences caused by its threads.
#include <texton/kernel.h>

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/error.h>
#include <texton/linear.h>

#include "tests/support/arrays.h"
#include "tests/support/expect_error.h"
#include "tests/support/kernel_experiments.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::Bytes;

/// The images that were computed, or the error message.
struct Outcome {
    std::vector<Bytes> images;
    std::string refusal;
    bool operator==(const Outcome&) const = default;
};

Outcome run(const Device& device, const Kernel& kernel, const test::KernelExperiment& experiment) {
    Outcome outcome;
    try {
        const Stream stream(device);
        std::vector<Texture> inputs;
        for (std::size_t i = 0; i < experiment.inputs.size(); ++i)
            inputs.emplace_back(test::random_array(device, experiment.inputs[i], static_cast<unsigned>(i) + 1),
                                test::sampler_for(experiment, experiment.inputs[i].kind));
        const Arguments arguments(kernel.info, experiment.values);
        std::vector<Linear> memory;
        std::vector<View> images;
        for (const ImageShape& shape : shapes(kernel, arguments, inputs)) {
            memory.emplace_back(device, shape.format, shape.extent);
            images.push_back(memory.back().view(shape.format, shape.extent));
        }
        enqueue(kernel, stream, images, arguments, inputs);
        stream.synchronize();
        for (const View& image : images) outcome.images.push_back(test::download(image));
    } catch (const Error& error) {
        if (error.code() == ErrorCode::device_failure) throw;
        outcome.refusal = error.what();
    }
    return outcome;
}

class KernelParityTest : public testing::TestWithParam<std::string> {};

std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const Kernel& kernel : kernels()) all.push_back(kernel.info.name);
    return all;
}
INSTANTIATE_TEST_SUITE_P(Kernels, KernelParityTest, testing::ValuesIn(names()),
                         [](const auto& info) { return info.param; });

TEST_P(KernelParityTest, EveryDeviceGivesTheSameBits) {
    const Kernel& kernel = kernel_named(GetParam());
    const Device cpu = Device::cpu();
    const bool has_cuda = Device::why_no_cuda().empty();
    ASSERT_TRUE(has_cuda || !test::gpu_required()) << Device::why_no_cuda();
    const Device other = has_cuda ? Device::cuda() : cpu;
    std::size_t made = 0, different = 0;
    std::string refusal;
    for (const test::KernelExperiment& experiment : test::kernel_experiments(kernel.info)) {
        const Outcome expected = run(cpu, kernel, experiment);
        if (expected.refusal.empty())
            ++made;
        else
            refusal = expected.refusal;
        const Outcome outcome = run(other, kernel, experiment);
        if (outcome == expected) continue;
        if (++different > 3) continue;
        ADD_FAILURE() << test::describe(experiment) << "\n" << expected.refusal << "\n" << outcome.refusal;
        for (std::size_t i = 0; i < std::min(outcome.images.size(), expected.images.size()); ++i)
            EXPECT_TRUE(test::same_bytes(outcome.images[i], expected.images[i])) << "image " << i;
    }
    EXPECT_EQ(different, 0U);
    EXPECT_GT(made, 0U) << refusal;
}

TEST(KernelTest, ArgumentsAreCheckedByNameAndRange) {
    const Kernel& kernel = kernel_named("resample");
    EXPECT_EQ(Arguments(kernel.info).text("filter"), "linear");
    for (const auto& [values, fragment] : std::vector<std::pair<std::map<std::string, ParameterValue>, std::string>>{
             {{{"filtre", std::string("area")}}, "there is no parameter 'filtre'"},
             {{{"filter", std::string("best")}}, "filter is 'best'"},
             {{{"filter", 3.0}}, "filter has a value of the wrong kind"},
             {{{"crop", std::vector<double>{1, 2}}}, "crop has 2 numbers"}}) {
        try {
            const Arguments arguments(kernel.info, values);
            ADD_FAILURE() << fragment;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::bad_argument);
            EXPECT_NE(std::string(error.what()).find(fragment), std::string::npos) << error.what();
        }
    }
}

TEST(KernelTest, IntegersBeyondTheRangeOfIntAreRefused) {
    const KernelInfo& info = kernel_named("min_max_pyramid").info;
    EXPECT_EQ(Arguments(info, {{"level_count", 2147483647.0}}).integer("level_count"), 2147483647);
    for (const double levels : {2147483648.0, -1.0, 1e300, std::numeric_limits<double>::infinity()}) {
        test::expect_error(
            [&] {
                const Arguments arguments(info, {{"level_count", levels}});
            },
            ErrorCode::bad_argument, "texton::min_max_pyramid", {"level_count", "0 to 2147483647"});
    }
}

TEST(KernelTest, ArgumentsReadUnderAnotherNameOrKindAreRefused) {
    const KernelInfo info{.name = "mine",
                          .group = "test",
                          .summary = "Does nothing",
                          .parameters = {{"way", ParameterKind::choice, "a choice without choices", std::string("c")},
                                         {"count", ParameterKind::integer, "an integer", 1.0},
                                         {"scale", ParameterKind::number, "a number", 1e10}}};
    const Arguments arguments(info);
    enum class Way { a, b };
    const auto refused = [](const auto& read, const char* fragment) {
        try {
            (void)read();
            ADD_FAILURE() << fragment;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::bad_argument);
            EXPECT_NE(std::string(error.what()).find(fragment), std::string::npos) << error.what();
        }
    };
    refused([&] { return arguments.choice<Way>("ways"); }, "there is no parameter 'ways'");
    refused([&] { return arguments.choice<Way>("way"); }, "way is 'c', which is none of its choices");
    refused([&] { return arguments.choice<Way>("scale"); }, "scale was read as a value of another kind");
    refused([&] { return arguments.flag("scale"); }, "scale was read as a value of another kind");
    refused([&] { return arguments.number("way"); }, "way was read as a value of another kind");
    refused([&] { return arguments.text("count"); }, "count was read as a value of another kind");
    refused([&] { return arguments.numbers("count"); }, "count was read as a value of another kind");
    refused([&] { return arguments.integer("scale"); }, "scale is 10000000000, but an integer was read");
    for (const double wrong : {0.5, std::numeric_limits<double>::quiet_NaN()})
        refused([&] { return Arguments(info, {{"count", wrong}}); }, "count has a value of the wrong kind");
    for (const double wrong : {1e300, -1e300, 2147483648.0, std::numeric_limits<double>::infinity()})
        refused([&] { return Arguments(info, {{"count", wrong}}); }, "Use -2147483648 to 2147483647");
    EXPECT_EQ(Arguments(info, {{"count", -2147483648.0}}).integer("count"), std::numeric_limits<int>::min());
}

TEST(KernelTest, AnUnknownNameIsRefusedWithSimilarNames) {
    try {
        (void)kernel_named("resampling");
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("resample"), std::string::npos) << error.what();
    }
}

TEST(KernelTest, KernelsAreFullyDescribedAndNamesAreUnique) {
    std::map<std::string, int> count;
    for (const Kernel& kernel : kernels()) {
        ++count[kernel.info.name];
        EXPECT_FALSE(kernel.info.group.empty()) << kernel.info.name;
        EXPECT_FALSE(kernel.info.summary.empty()) << kernel.info.name;
        for (const ParameterInfo& parameter : kernel.info.parameters) {
            EXPECT_FALSE(parameter.summary.empty()) << kernel.info.name << " " << parameter.name;
            EXPECT_NO_THROW(Arguments(kernel.info, {{parameter.name, parameter.standard}}))
                << kernel.info.name << " " << parameter.name;
        }
    }
    for (const auto& [name, times] : count) EXPECT_EQ(times, 1) << name;
}

}  // namespace
}  // namespace texton

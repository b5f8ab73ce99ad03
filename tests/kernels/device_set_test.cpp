// Images whose rows are split over devices have the bits that one device computes.
#include <texton/device_set.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/filter.h>
#include <texton/linear.h>

#include "core/backend.h"
#include "kernels/launch/image_rows.h"
#include "tests/support/arrays.h"
#include "tests/support/expect_error.h"
#include "tests/support/failing_device.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::Bytes;
using Values = std::map<std::string, ParameterValue>;

constexpr std::size_t kAlignment = detail::kRowAlignment;

Bytes texels_of(Format format, const Extent& extent, unsigned seed) {
    test::Random random(seed);
    return test::random_texels(random, format, test::box_bytes(format, extent));
}

Bytes joined(const DeviceSet& set, const SplitImage& image) {
    const ImageShape shape = image.shape();
    Bytes all(test::box_bytes(shape.format, shape.extent));
    set.join(host_view(all.data(), shape.format, shape.extent), image);
    return all;
}

/// An image on one device and its texels.
struct OneImage {
    ImageShape shape;
    Bytes texels;
};

class DeviceSetTest : public test::OnEveryDevice {
protected:
    /// Returns the device and a second one. It is the same device if there is no other.
    std::vector<Device> two_devices() const { return {device(), peer().value_or(device())}; }

    static OneImage image(Format format, const Extent& extent, unsigned seed = 1) {
        return {{extent, format}, texels_of(format, extent, seed)};
    }
    static SplitImage split(const DeviceSet& set, const OneImage& image) {
        return set.split(host_view(image.texels.data(), image.shape.format, image.shape.extent));
    }
    Array array_of(const OneImage& image) const {
        const Array array(device(), {.format = image.shape.format, .extent = image.shape.extent});
        test::upload(array.view(), image.texels);
        return array;
    }
    /// Runs a kernel on one device. `extent` is that of the result unless it is empty.
    OneImage on_one(const std::string& name, const Values& values, const std::vector<Texture>& textures,
                    const Extent& extent = {0, 0, 0}) const {
        const Kernel& kernel = kernel_named(name);
        const Arguments arguments(kernel.info, values);
        ImageShape shape = shapes(kernel, arguments, textures).front();
        if (extent.width != 0) shape.extent = extent;
        const Linear memory(device(), shape.format, shape.extent);
        const View view = memory.view(shape.format, shape.extent);
        const Stream stream(device());
        enqueue(kernel, stream, {&view, 1}, arguments, textures);
        stream.synchronize();
        return {shape, test::download(view)};
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, DeviceSetTest, test::every_device(), test::device_label);

TEST_P(DeviceSetTest, AnImageIsSplitIntoBandsAndJoinedAgain) {
    for (const Extent& extent : {Extent{300, 700}, Extent{256, 1024}, Extent{5, 3}, Extent{40, 129}}) {
        SCOPED_TRACE(to_string(extent));
        const DeviceSet set({device(), two_devices()[1], device()});
        const OneImage whole = image(Format::rgba8_unorm, extent);
        const SplitImage parts = split(set, whole);
        EXPECT_EQ(parts.shape().extent, extent);
        EXPECT_EQ(joined(set, parts), whole.texels);
        std::size_t next = 0;
        for (const SplitRows& rows : parts.rows()) {
            EXPECT_EQ(rows.first, next);
            EXPECT_EQ(rows.first % kAlignment, 0U);
            next += rows.count;
        }
        EXPECT_EQ(next, extent.height);
        EXPECT_EQ(parts.rows().size(), std::min<std::size_t>(3, (extent.height + kAlignment - 1) / kAlignment));
    }
}

TEST_P(DeviceSetTest, KernelsReturnTheBitsOfOneDevice) {
    struct Row {
        const char* name;
        Values values;
        Extent extent{0, 0, 0};  // of the result, unless empty
    };
    const std::vector<double> turned{0.9, 0.3, 4, -0.3, 0.9, 60};
    const std::vector<Row> rows{
        {"gaussian", {{"sigma", 3.0}, {"radius", 8.0}}},
        {"gaussian", {{"sigma", 30.0}, {"radius", 70.0}}},  // more rows than a part of a tile has
        {"unsharp", {{"sigma", 2.0}}},
        {"median", {}},
        {"exposure", {{"stops", 0.5}}},
        {"resample", {{"filter", std::string("catmull_rom")}}, {280, 900}},
        {"resample", {{"filter", std::string("area")}}, {60, 300}},
        {"mips", {{"level_count", 1.0}, {"filter", std::string("kaiser")}}},
        {"warp_affine", {{"map", turned}}},  // reads any rows
    };
    // Sparse arrays of whole tiles, of parts of tiles, and images too small for tiles.
    const std::vector<std::pair<Format, Extent>> images{
        {Format::rgba32_float, {64, 448}}, {Format::rgba8_unorm, {140, 450}}, {Format::r16_unorm, {33, 261}}};
    for (const auto& [format, extent] : images) {
        const OneImage whole = image(format, extent);
        const Texture texture(array_of(whole), {.filter = Filter::linear});
        const DeviceSet two(two_devices()), twice({device(), device(), device()}), one({device()});
        const DeviceSet sets[] = {two, twice, one};
        const SplitImage inputs[] = {split(two, whole), split(twice, whole), split(one, whole)};
        for (const Row& row : rows) {
            const OneImage expected = on_one(row.name, row.values, {texture}, row.extent);
            const Kernel& kernel = kernel_named(row.name);
            for (std::size_t i = 0; i < std::size(sets); ++i) {
                SCOPED_TRACE(std::string(row.name) + " of " + std::string(name(format)) + " on " +
                             std::to_string(sets[i].devices().size()));
                const SplitImage result = sets[i].create(expected.shape);
                sets[i].apply(kernel, Arguments(kernel.info, row.values),
                              std::vector<SplitInput>{{inputs[i], texture.sampler()}}, result);
                EXPECT_TRUE(test::same_bytes(joined(sets[i], result), expected.texels));
            }
        }
    }
}

TEST_P(DeviceSetTest, AChainOfKernelsReadsTheRowsOfOtherDevicesThatWereComputedBefore) {
    const DeviceSet set(two_devices());
    const OneImage whole = image(Format::rgba8_unorm, {128, 640});
    const auto run = [&](const char* name, const Values& values, const SplitImage& input) {
        const Kernel& kernel = kernel_named(name);
        return set.apply(kernel, Arguments(kernel.info, values), {{input}});
    };
    const auto array = [&](const OneImage& image) { return std::vector<Texture>{Texture(array_of(image))}; };
    const OneImage blurred = on_one("gaussian", {{"sigma", 2.0}}, array(whole));
    const OneImage sharpened = on_one("unsharp", {{"sigma", 1.0}}, array(blurred));
    const OneImage expected = on_one("median", {}, array(sharpened));
    SplitImage image = split(set, whole);
    for (int round = 0; round < 3; ++round) {
        SplitImage result = run("gaussian", {{"sigma", 2.0}}, image);
        result = run("unsharp", {{"sigma", 1.0}}, result);
        result = run("median", {}, result);
        EXPECT_TRUE(test::same_bytes(joined(set, result), expected.texels));
    }
}

TEST_P(DeviceSetTest, AResultThatIsWrittenAgainHasTheNewPixelsOnAllDevices) {
    const DeviceSet set(two_devices());
    const Kernel& gaussian = kernel_named("gaussian");
    const Kernel& median = kernel_named("median");
    const Arguments soft(gaussian.info, {{"sigma", 2.0}});
    const Arguments none(median.info);
    SplitImage blurred, result;
    for (const unsigned seed : {1U, 2U, 3U}) {
        const OneImage whole = image(Format::rgba8_unorm, {256, 512}, seed);
        const std::vector<SplitInput> input{{split(set, whole)}};
        if (seed == 1) {
            blurred = set.apply(gaussian, soft, input);
            result = set.create(blurred.shape());
        } else {
            set.apply(gaussian, soft, input, blurred);
        }
        set.apply(median, none, std::vector<SplitInput>{{blurred}}, result);
        const OneImage expected = on_one("gaussian", {{"sigma", 2.0}}, {Texture(array_of(whole))});
        EXPECT_TRUE(test::same_bytes(joined(set, result), on_one("median", {}, {Texture(array_of(expected))}).texels));
    }
}

TEST_P(DeviceSetTest, SeveralInputsAreSplitOrShared) {
    const DeviceSet set(two_devices());
    const OneImage below = image(Format::rgba8_unorm, {150, 400}, 1), above = image(Format::rgba8_unorm, {150, 400}, 2);
    const Kernel& blend = kernel_named("blend");
    const OneImage expected = on_one("blend", {}, {Texture(array_of(below)), Texture(array_of(above))});
    const SplitImage first = split(set, below);
    EXPECT_EQ(joined(set, set.apply(blend, Arguments(blend.info), {{first}, {split(set, above)}})), expected.texels);
    const SplitImage shared = set.share(array_of(above));
    EXPECT_TRUE(shared.rows().empty());
    EXPECT_EQ(joined(set, set.apply(blend, Arguments(blend.info), {{first}, {shared}})), expected.texels);
    // A cube with levels.
    const Array cube(Device::cpu(), {.format = Format::rgba8_unorm, .extent = {64, 64}, .kind = ArrayKind::cubemap});
    test::upload(cube.view(), texels_of(Format::rgba8_unorm, {64, 64, 6}, 3));
    const Kernel& unrolled = kernel_named("cube_to_equirect");
    const Sampler sampler{.filter = Filter::linear, .normalized_coordinates = true};
    const SplitImage split_result = set.apply(unrolled, Arguments(unrolled.info), {{set.share(cube), sampler}});
    const Array own(device(), cube.info());
    copy(own.view(), cube.view());
    EXPECT_EQ(joined(set, split_result), on_one("cube_to_equirect", {}, {Texture(own, sampler)}).texels);
}

TEST_P(DeviceSetTest, AFunctionOfTheCallerRunsOnEachDeviceWithItsApron) {
    const DeviceSet set(two_devices());
    const OneImage whole = image(Format::rgba8_unorm, {256, 700});
    const OneImage expected = on_one("gaussian", {{"sigma", 2.5}, {"radius", 5.0}}, {Texture(array_of(whole))});
    const SplitImage result = set.create(expected.shape);
    std::size_t calls = 0;
    set.apply(
        5,
        [&](const Stream& stream, const View& image, std::span<const Texture> textures) {
            ++calls;
            EXPECT_EQ(image.extent(), expected.shape.extent);
            gaussian(stream, image, textures[0], {.sigma = 2.5f, .radius = 5});
        },
        std::vector<SplitInput>{{split(set, whole)}}, result);
    EXPECT_EQ(calls, 2U);
    EXPECT_TRUE(test::same_bytes(joined(set, result), expected.texels));
}

TEST_P(DeviceSetTest, ADeviceHasMemoryForItsRowsAlone) {
    if (!on_cpu()) GTEST_SKIP() << "only CPU devices count every byte: the test runs on the CPU device";
    const DeviceSet set(two_devices());
    const OneImage whole = image(Format::rgba8_unorm, {1024, 2048});
    const std::size_t before[] = {set.devices()[0].memory().free, set.devices()[1].memory().free};
    const SplitImage input = split(set, whole);
    const Kernel& gaussian = kernel_named("gaussian");
    const SplitImage result = set.apply(gaussian, Arguments(gaussian.info, {{"sigma", 2.0}}), {{input}});
    for (std::size_t i = 0; i < 2; ++i) {
        // The rows of the input and of the result, a row of tiles for the apron, and its rows in linear memory.
        const std::size_t used = before[i] - set.devices()[i].memory().free;
        EXPECT_GE(used, whole.texels.size());
        EXPECT_LE(used, whole.texels.size() + whole.texels.size() / 2 * 3);
    }
}

TEST_P(DeviceSetTest, WrongArgumentsAreRefusedByName) {
    const DeviceSet set(two_devices());
    const DeviceSet other({device()});
    const OneImage whole = image(Format::rgba8_unorm, {64, 200});
    const SplitImage input = split(set, whole);
    const Kernel& median = kernel_named("median");
    const Arguments none(median.info);
    const auto refused = [](const auto& call, ErrorCode code, const char* fragment, const char* object) {
        test::expect_error(call, code, object, {fragment});
    };
    constexpr const char* kSet = "texton::DeviceSet";
    refused([] { DeviceSet({}); }, ErrorCode::bad_argument, "no devices", kSet);
    refused([&] { (void)other.apply(median, none, {{input}}); }, ErrorCode::bad_argument, "another set", kSet);
    refused([&] { (void)set.apply(median, none, {{SplitImage()}}); }, ErrorCode::released, "empty", kSet);
    refused([&] { (void)SplitImage().shape(); }, ErrorCode::released, "empty", kSet);
    refused([&] { set.apply(median, none, std::vector<SplitInput>{{input}}, input); }, ErrorCode::bad_argument,
            "an input is the result", kSet);
    refused([&] { (void)set.apply(median, none, {}); }, ErrorCode::bad_argument, "1 inputs", "texton::median");
    const Kernel& statistics = kernel_named("statistics");
    refused([&] { (void)set.apply(statistics, Arguments(statistics.info), {{input}}); }, ErrorCode::unsupported,
            "sums the texels of the whole image", "texton::statistics");
    refused([&] { (void)set.create({{0, 3}, Format::r8_unorm}); }, ErrorCode::bad_argument, "0 x 3", kSet);
    refused([&] { (void)set.create({{4, 4}, Format::bc1_unorm}); }, ErrorCode::bad_argument, "bc1_unorm", kSet);
    refused(
        [&] {
            (void)set.split(host_view(whole.texels.data(), Format::r8_unorm, {4, 4, 2}));
        },
        ErrorCode::bad_argument, "4 x 4 x 2", kSet);
    refused(
        [&] {
            (void)set.split(host_view(whole.texels.data(), Format::bc1_unorm, {8, 8}));
        },
        ErrorCode::unsupported, "bc1_unorm", kSet);
    Bytes bytes(64 * 100 * 4);
    refused(
        [&] {
            set.join(host_view(bytes.data(), Format::rgba8_unorm, {64, 100}), input);
        },
        ErrorCode::bad_argument, "64 x 200", kSet);
    const SplitImage shared = set.share(array_of(whole));
    refused([&] { joined(set, shared); }, ErrorCode::bad_argument, "each device has a copy", kSet);
    refused([&] { set.apply(median, none, std::vector<SplitInput>{{input}}, shared); }, ErrorCode::bad_argument,
            "each device has a copy", kSet);
    refused(
        [&] {
            set.apply(median, none, {}, set.create({{64, 200}, Format::rgba8_unorm}));
        },
        ErrorCode::bad_argument, "1 inputs", "texton::median");
    // The images are as before.
    EXPECT_EQ(joined(set, input), whole.texels);
}

TEST_P(DeviceSetTest, AllHasEachDeviceOfAKind) {
    const DeviceSet set = DeviceSet::all(GetParam());
    EXPECT_EQ(set.devices(), Device::list(GetParam()));
    set.synchronize();
}

// --- failures --------------------------------------------------------------------------------------------------------

/// A CPU device with little memory.
class SmallDevice {
public:
    explicit SmallDevice(std::size_t bytes) : backend_(detail::make_cpu_device(6, bytes)) {}
    Device device() const { return Device(*backend_); }

private:
    std::unique_ptr<detail::Backend> backend_;
};

constexpr std::size_t kMega = std::size_t{1} << 20;

TEST(DeviceSetMemoryTest, TheRowsOfADeviceWithTooLittleMemoryAreGivenToTheOthers) {
    const Extent extent{1024, 2048};
    const ImageShape shape{extent, Format::rgba8_unorm};
    const Bytes texels = texels_of(shape.format, extent, 4);  // 8 MiB
    const Kernel& gaussian = kernel_named("gaussian");
    const Arguments arguments(gaussian.info, {{"sigma", 2.0}});
    const DeviceSet one({Device::cpu()});
    const ConstView view = host_view(texels.data(), shape.format, extent);
    const Bytes expected = joined(one, one.apply(gaussian, arguments, {{one.split(view)}}));
    // Too little for a part of the input, for a part of the result, and for the apron; enough.
    std::vector<std::size_t> input_parts, result_parts;
    for (const std::size_t bytes : {2 * kMega, 5 * kMega, 7 * kMega, 9 * kMega, 64 * kMega}) {
        SCOPED_TRACE(bytes / kMega);
        const SmallDevice small(bytes);
        const DeviceSet set({small.device(), Device::cpu()});
        const SplitImage input = set.split(view);
        EXPECT_EQ(joined(set, input), texels);
        const SplitImage result = set.apply(gaussian, arguments, {{input}});
        EXPECT_TRUE(test::same_bytes(joined(set, result), expected));
        input_parts.push_back(input.rows().size());
        result_parts.push_back(result.rows().size());
    }
    EXPECT_EQ(input_parts.front(), 1U);
    EXPECT_EQ(result_parts.front(), 1U);
    EXPECT_EQ(input_parts.back(), 2U);
    EXPECT_EQ(result_parts.back(), 2U);
    EXPECT_NE(input_parts, result_parts) << "no device had memory for the input but not for the result";
}

TEST(DeviceSetMemoryTest, ApplyGivesRowsOfAnExistingResultToTheOthers) {
    const Extent extent{1024, 2048};
    const Bytes texels = texels_of(Format::rgba8_unorm, extent, 4);
    const SmallDevice small(9 * kMega);
    const DeviceSet set({small.device(), Device::cpu()});
    const SplitImage result = set.create({extent, Format::rgba8_unorm});  // 4 MiB of each device
    ASSERT_EQ(result.rows().size(), 2U);
    const SplitImage input = set.split(host_view(texels.data(), Format::rgba8_unorm, extent));
    const Kernel& kernel = kernel_named("warp_affine");  // needs all rows
    const Arguments arguments(kernel.info, {{"map", std::vector<double>{1, 0, 3, 0, 1, 900}}});
    set.apply(kernel, arguments, std::vector<SplitInput>{{input}}, result);
    EXPECT_EQ(result.rows().size(), 1U);
    const DeviceSet one({Device::cpu()});
    const SplitImage expected =
        one.apply(kernel, arguments, {{one.split(host_view(texels.data(), Format::rgba8_unorm, extent))}});
    EXPECT_TRUE(test::same_bytes(joined(set, result), joined(one, expected)));
}

TEST(DeviceSetMemoryTest, TooLittleMemoryOnAllDevicesIsAnErrorAndLeavesNothing) {
    const SmallDevice first(3 * kMega), second(4 * kMega);
    const std::size_t free = first.device().memory().free;
    const Bytes texels = texels_of(Format::rgba8_unorm, {1024, 4096}, 4);
    {
        const DeviceSet set({first.device(), second.device()});
        test::expect_error(
            [&] {
                (void)set.split(host_view(texels.data(), Format::rgba8_unorm, {1024, 4096}));
            },
            ErrorCode::out_of_memory, "texton::");
        test::expect_error(
            [&] {
                (void)set.create({{1024, 4096}, Format::rgba8_unorm});
            },
            ErrorCode::out_of_memory, "texton::");
    }
    EXPECT_EQ(first.device().memory().free, free);
}

TEST(DeviceSetFailureTest, AnErrorOfALostDeviceNamesTheRowsThatAreComplete) {
    test::FailingDevice failing(Device::cpu());
    const Extent extent{256, 600};
    const Bytes texels = texels_of(Format::r8_unorm, extent, 7);
    const DeviceSet set({Device::cpu(1), failing.device(), Device::cpu(1)});
    const SplitImage image = set.split(host_view(texels.data(), Format::r8_unorm, extent));
    ASSERT_EQ(image.rows(), (std::vector<SplitRows>{{0, 0, 128}, {1, 128, 256}, {2, 384, 216}}));
    failing.fail_with(ErrorCode::device_lost);
    failing.fail_after(0, "copy");
    Bytes result(texels.size());
    test::expect_error([&] { set.join(host_view(result.data(), Format::r8_unorm, extent), image); },
                       ErrorCode::device_lost, "texton::DeviceSet",
                       {"device 1 of the set", "was lost", "rows 0 to 127, 384 to 599 are complete"});
    EXPECT_EQ(failing.finish(), "copy");
    EXPECT_TRUE(std::equal(texels.begin(), texels.begin() + 128 * 256, result.begin()));
    EXPECT_TRUE(std::equal(texels.begin() + 384 * 256, texels.end(), result.begin() + 384 * 256));
}

TEST(DeviceSetMemoryTest, AResultWhoseKernelFailedIsRefusedUntilItIsWritten) {
    const Extent extent{1024, 2048};
    const Bytes texels = texels_of(Format::rgba8_unorm, extent, 4);
    const SmallDevice first(9 * kMega), second(18 * kMega);
    const DeviceSet set({first.device(), second.device()});
    const SplitImage result = set.create({extent, Format::rgba8_unorm});
    const SplitImage input = set.split(host_view(texels.data(), Format::rgba8_unorm, extent));
    const Kernel& warp = kernel_named("warp_affine");  // needs all rows
    test::expect_error([&] { set.apply(warp, Arguments(warp.info), std::vector<SplitInput>{{input}}, result); },
                       ErrorCode::out_of_memory, "texton::");
    test::expect_error([&] { joined(set, result); }, ErrorCode::bad_argument, "texton::DeviceSet",
                       {"of 2048 rows", "Apply a kernel to it first"});
    const Kernel& exposure = kernel_named("exposure");
    const Arguments arguments(exposure.info, {{"stops", 1.0}});
    set.apply(exposure, arguments, std::vector<SplitInput>{{input}}, result);
    const DeviceSet one({Device::cpu()});
    const SplitImage expected =
        one.apply(exposure, arguments, {{one.split(host_view(texels.data(), Format::rgba8_unorm, extent))}});
    EXPECT_TRUE(test::same_bytes(joined(set, result), joined(one, expected)));
}

}  // namespace
}  // namespace texton

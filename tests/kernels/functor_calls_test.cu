// How launch() calls functors: for which pixels, how often, and what their fetches return.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/fill.h>
#include <texton/launch.h>
#include <texton/linear.h>
#include <texton/physical.h>
#include <texton/pitched.h>

#include "tests/support/arrays.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::Bytes;
using test::download;
using test::Random;
using test::same_bytes;
using test::upload;

TEXTON_HD inline void increment(std::uint32_t* counter) {
#if defined(__CUDA_ARCH__)
    atomicAdd(counter, 1u);
#else
    __atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED);
#endif
}

/// Counts the calls of a functor for each pixel of an image, and the calls for positions outside of it.
struct Calls {
    std::uint32_t* counters;  // the last one counts the calls outside
    std::int32_t width;
    std::int32_t height;
    std::int32_t depth;

    TEXTON_HD void add(const PixelPosition& at) const {
        const bool inside = at.x >= 0 && at.x < width && at.y >= 0 && at.y < height && at.z >= 0 && at.z < depth;
        increment(counters + (inside ? (at.z * height + at.y) * width + at.x : width * height * depth));
    }
};

// --- functors --------------------------------------------------------------------------------------------------------

template <unsigned pixels>
struct Counting {
    static constexpr unsigned kPixels = pixels;
    Calls calls;
    TEXTON_HD Float4 operator()(PixelPosition at) const {
        calls.add(at);
        return {1, 1, 1, 1};
    }
};

/// Counts the pixels of runs.
template <int pixels>
struct CountingRuns {
    Calls calls;
    TEXTON_HD PixelRun<pixels> operator()(RunPosition at) const {
        PixelRun<pixels> run;
        for (int i = 0; i < pixels; ++i) {
            run[i] = {1, 1, 1, 1};
            if (i < at.count) calls.add({at.x + i, at.y, at.z});
        }
        if (at.count < 1 || at.count > pixels || at.x % pixels != 0) calls.add({-1, 0, 0});
        return run;
    }
};

struct CountingFetches {
    Calls calls;
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        calls.add(at);
        const Float4 texel = source.at_texel(at.center_x(), at.center_y());
        return texel + source.at_texel(texel.x * 100, texel.y * 100);
    }
};

struct CountingPointwise {
    static constexpr bool kPointwise = true;
    Calls calls;
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        calls.add(at);
        return source.at_texel(at.center_x(), at.center_y());
    }
};

struct CountingWithTables {
    static constexpr bool kPointwiseWithTables = true;
    Calls calls;
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        calls.add(at);
        return source.at_texel(at.center_x(), at.center_y());
    }
};

/// Reads a number at its position.
struct AtPosition {
    const float* numbers;
    std::int32_t width;
    TEXTON_HD Float4 operator()(PixelPosition at) const { return {numbers[at.y * width + at.x], 0, 0, 0}; }
};

/// Reads the numbers of a run.
struct AtPositions {
    const float* numbers;
    std::int32_t width;
    TEXTON_HD PixelRun<8> operator()(RunPosition at) const {
        PixelRun<8> run;
        for (int i = 0; i < 8; ++i) run[i] = {i < at.count ? numbers[at.y * width + at.x + i] : 1.0f, 0, 0, 0};
        return run;
    }
};

/// The mean of three texels of a row, pixel by pixel, and in runs that fetch each texel once.
struct MeanOfThree {
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        const auto texel = [&](float x) { return source.layer_at_texel(at.z, at.center_x() + x, at.center_y()); };
        return (texel(-1) + texel(0) + texel(1)) * (1.0f / 3.0f);
    }
};
template <int pixels>
struct MeanOfThreeInRuns {
    template <class Source>
    TEXTON_HD PixelRun<pixels> operator()(RunPosition at, const Source& source) const {
        const auto texel = [&](int x) {
            return source.layer_at_texel(at.z, at.center_x() + static_cast<float>(x), at.center_y());
        };
        PixelRun<pixels> run;
        Float4 left = texel(-1), middle = texel(0);
        for (int i = 0; i < pixels; ++i) {
            const Float4 right = texel(i + 1);
            run[i] = (left + middle + right) * (1.0f / 3.0f);
            left = middle;
            middle = right;
        }
        return run;
    }
};
/// The same from an array of sources, of which it reads the second.
struct MeanOfThreeOfSecond {
    template <class Source, std::size_t count>
    TEXTON_HD PixelRun<4> operator()(RunPosition at, const SourceArray<Source, count>& sources) const {
        return MeanOfThreeInRuns<4>{}(at, sources[1]);
    }
};

/// A texel of 0 would give an index beyond the table.
struct Reciprocal {
    const float* table;
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        const float value = source.at_texel(at.center_x(), at.center_y()).x;
        return {table[static_cast<int>(1.0f / value)], 0, 0, 0};
    }
};

/// Counts the steps to the end of a row. The texel is the length of a step, and 0 would give an endless loop.
struct Steps {
    float end;
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        const float length = source.at_texel(at.center_x(), at.center_y()).x;
        float steps = 0;
        for (float x = at.center_x(); x < end; x += length) steps += 1.0f;
        return {steps, 0, 0, 0};
    }
};

/// Returns 1, 2 or 3: which source of the CPU device the functor gets.
struct WhichSource {
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition, const Source&) const {
        if constexpr (std::is_same_v<Source, CpuSource>) return {1, 0, 0, 0};
        if constexpr (std::is_same_v<Source, RecordingSource>) return {2, 0, 0, 0};
        if constexpr (std::is_same_v<Source, PointwiseSource>) return {3, 0, 0, 0};
        return {};
    }
};
template <class Functor>
struct Promising : Functor {
    static constexpr bool kMayBeCalledWithZeros = true;
};
template <class Functor>
struct Pointwise : Functor {
    static constexpr bool kPointwise = true;
};
template <class Functor>
struct Refusing : Functor {
    static constexpr bool kMayBeCalledWithZeros = false;
};

static_assert(!detail::may_be_called_with_zeros<WhichSource>());
static_assert(!detail::may_be_called_with_zeros<Pointwise<WhichSource>>());
static_assert(!detail::may_be_called_with_zeros<Refusing<WhichSource>>());
static_assert(detail::may_be_called_with_zeros<Promising<WhichSource>>());

// --- tests -----------------------------------------------------------------------------------------------------------

class FunctorCallsTest : public test::OnEveryDevice {
protected:
    void SetUp() override {
        OnEveryDevice::SetUp();
        if (!IsSkipped() && !HasFatalFailure()) stream_.emplace(device());
    }
    void TearDown() override {
        stream_.reset();
        OnEveryDevice::TearDown();
    }

    const Stream& stream() const { return *stream_; }

    /// Runs a functor, which `make` creates from counters, and expects one call for each pixel of the image and none for
    /// other positions.
    template <class Make, class... Textures>
    void expect_one_call_per_pixel(const View& image, const Make& make, const Textures&... textures) const {
        const Extent extent = image.extent();
        const std::size_t pixels = extent.width * extent.height * extent.depth;
        const Linear memory(device(), Format::r32_uint, {pixels + 1});
        fill(memory.view(), std::uint8_t{0});
        launch(stream(), image, make(calls_of(memory, extent)), textures...);
        stream().synchronize();
        expect_ones(memory, pixels);
    }

    static Calls calls_of(const Linear& memory, const Extent& extent) {
        return {reinterpret_cast<std::uint32_t*>(memory.data()), static_cast<std::int32_t>(extent.width),
                static_cast<std::int32_t>(extent.height), static_cast<std::int32_t>(extent.depth)};
    }
    static void expect_ones(const Linear& memory, std::size_t pixels) {
        const Bytes bytes = download(memory.view());
        std::vector<std::uint32_t> counters(pixels + 1);
        ASSERT_GE(bytes.size(), counters.size() * 4);
        std::memcpy(counters.data(), bytes.data(), counters.size() * 4);
        EXPECT_EQ(counters[pixels], 0u) << "calls outside of the image";
        for (std::size_t i = 0; i < pixels; ++i) ASSERT_EQ(counters[i], 1u) << "calls for pixel " << i;
    }

    /// Expects one call per pixel of all kinds of functors without textures.
    void expect_calls_for(const View& image) const {
        expect_one_call_per_pixel(image, [](const Calls& calls) { return Counting<1>{calls}; });
        expect_one_call_per_pixel(image, [](const Calls& calls) { return Counting<3>{calls}; });
        expect_one_call_per_pixel(image, [](const Calls& calls) { return Counting<4>{calls}; });
        expect_one_call_per_pixel(image, [](const Calls& calls) { return CountingRuns<1>{calls}; });
        expect_one_call_per_pixel(image, [](const Calls& calls) { return CountingRuns<8>{calls}; });
        expect_one_call_per_pixel(image, [](const Calls& calls) { return CountingRuns<64>{calls}; });
    }

private:
    std::optional<Stream> stream_;
};
INSTANTIATE_TEST_SUITE_P(Devices, FunctorCallsTest, test::every_device(), test::device_label);

constexpr Extent kExtents[] = {{1, 1}, {1, 9}, {9, 1}, {33, 25}, {4, 31}, {260, 3}};

TEST_P(FunctorCallsTest, EachPixelOfMemoryIsComputedOnce) {
    for (const Format format :
         {Format::r8_unorm, Format::rgba8_unorm, Format::rgba16_float, Format::rgba32_float, Format::rgb10a2_unorm}) {
        for (const Extent& extent : kExtents) {
            SCOPED_TRACE(std::string(name(format)) + ' ' + to_string(extent));
            expect_calls_for(Linear(device(), format, extent).view(format, extent));
            const Extent larger{extent.width + 3, extent.height + 5};
            expect_calls_for(Pitched2D(device(), format, larger).view().region({{1, 2}, extent}));
        }
        const Extent volume{5, 13, 3};
        expect_calls_for(Linear(device(), format, volume).view(format, volume));
    }
}

TEST_P(FunctorCallsTest, EachPixelOfAnArrayIsComputedOnce) {
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : {Format::r8_unorm, Format::rgba32_float}) {
            ArrayInfo info = test::small_info(kind, format);
            info.usage.surface = true;
            SCOPED_TRACE(test::describe(info));
            const Array array(device(), info);
            for (int level = 0; level < info.levels; ++level) expect_calls_for(array.view({.level = level}));
        }
    }
}

TEST_P(FunctorCallsTest, EachPixelOfABatchIsComputedOnce) {
    std::vector<LaunchJob<Counting<4>, 0>> jobs;
    std::vector<Linear> memory, counters;
    for (const Extent& extent : kExtents) {
        memory.emplace_back(device(), Format::rgba8_unorm, extent);
        counters.emplace_back(device(), Format::r32_uint, Extent{extent.width * extent.height + 1});
        fill(counters.back().view(), std::uint8_t{0});
        jobs.push_back({memory.back().view(Format::rgba8_unorm, extent), {calls_of(counters.back(), extent)}, {}});
    }
    launch(stream(), jobs);
    stream().synchronize();
    for (std::size_t i = 0; i < jobs.size(); ++i) expect_ones(counters[i], kExtents[i].width * kExtents[i].height);
}

TEST_P(FunctorCallsTest, FunctorsWithFetchesAreCalledOncePerPixel) {
    for (const Format format : {Format::rgba8_unorm, Format::rgba32_float}) {
        for (const Extent& extent : {Extent{1, 1}, Extent{4, 31}, Extent{33, 25}, Extent{260, 3}}) {
            SCOPED_TRACE(std::string(name(format)) + ' ' + to_string(extent));
            const Array array(device(), {format, extent});
            Random random(1);
            upload(array.view(), test::random_texels(random, format, packed_bytes(format, extent)));
            const Texture texture(array);
            const Linear memory(device(), format, extent);
            const View image = memory.view(format, extent);
            expect_one_call_per_pixel(
                image, [](const Calls& calls) { return CountingFetches{calls}; }, texture);
            expect_one_call_per_pixel(
                image, [](const Calls& calls) { return CountingPointwise{calls}; }, texture);
            expect_one_call_per_pixel(
                image, [](const Calls& calls) { return CountingWithTables{calls}; }, texture);
        }
    }
}

TEST_P(FunctorCallsTest, AFunctorMayReadMemoryThatEndsAfterTheLastPixel) {
    const std::size_t unit = Physical::granularity(device());
    AddressRange range(device(), 2 * unit);  // the second half has no memory
    range.map(0, Physical(device(), unit));
    range.set_access();
    fill(range.view(Format::r8_uint, {unit}), std::uint8_t{0});
    for (const Extent& extent : kExtents) {
        SCOPED_TRACE(to_string(extent));
        const std::size_t bytes = extent.width * extent.height * sizeof(float);
        const auto* numbers = reinterpret_cast<const float*>(range.data() + unit - bytes);
        const Linear memory(device(), Format::r32_float, extent);
        const View image = memory.view(Format::r32_float, extent);
        fill(image, std::uint8_t{1});
        launch(stream(), image, AtPosition{numbers, static_cast<std::int32_t>(extent.width)});
        stream().synchronize();
        EXPECT_TRUE(test::all_bytes(download(image), 0));
        fill(image, std::uint8_t{1});
        launch(stream(), image, AtPositions{numbers, static_cast<std::int32_t>(extent.width)});
        stream().synchronize();
        EXPECT_TRUE(test::all_bytes(download(image), 0));
    }
}

TEST_P(FunctorCallsTest, RunsOfPixelsGiveTheResultsOfSinglePixels) {
    for (const Format format : {Format::r8_unorm, Format::rgba8_srgb, Format::rg16_float, Format::rgba32_float}) {
        for (const Extent& extent : kExtents) {
            SCOPED_TRACE(std::string(name(format)) + ' ' + to_string(extent));
            constexpr std::size_t kLayers = 2;
            const Array array(device(), {.format = format,
                                         .extent = extent,
                                         .kind = ArrayKind::layered_2d,
                                         .layers = kLayers,
                                         .usage = {.surface = true}});
            Random random(2);
            upload(array.view(), test::random_texels(random, format, kLayers * packed_bytes(format, extent)));
            const Texture texture(array);
            const Extent slices{extent.width, extent.height, kLayers};
            const Linear memory(device(), format, slices);
            const View image = memory.view(format, slices);
            const auto made = [&](const auto& functor, const auto& textures) {
                fill(image, std::uint8_t{0x5a});
                launch(stream(), image, functor, textures);
                stream().synchronize();
                return download(image);
            };
            const Bytes expected = made(MeanOfThree{}, texture);
            EXPECT_TRUE(same_bytes(made(MeanOfThreeInRuns<1>{}, texture), expected));
            EXPECT_TRUE(same_bytes(made(MeanOfThreeInRuns<8>{}, texture), expected));
            EXPECT_TRUE(same_bytes(made(MeanOfThreeInRuns<64>{}, texture), expected));
            EXPECT_TRUE(same_bytes(made(MeanOfThreeOfSecond{}, std::array{texture, texture}), expected));
        }
    }
}

TEST_P(FunctorCallsTest, AnIndexMayDependOnATexelThatIsNeverZero) {
    constexpr Extent kExtent{255, 3};
    const Array array(device(), {Format::r8_unorm, kExtent});
    Bytes texels(kExtent.width * kExtent.height);
    for (std::size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<std::byte>(1 + i % 255);
    upload(array.view(), texels);
    std::vector<float> numbers(256);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(3 * i);
    const Linear table(device(), Format::r32_float, {numbers.size()});
    upload(table.view(Format::r32_float, {numbers.size()}), std::as_bytes(std::span(numbers)));
    const Linear memory(device(), Format::r32_float, kExtent);
    const View image = memory.view(Format::r32_float, kExtent);
    launch(stream(), image, Reciprocal{reinterpret_cast<const float*>(table.data())}, Texture(array));
    stream().synchronize();
    std::vector<float> expected;
    for (const std::byte texel : texels) {
        const float value = static_cast<float>(std::to_integer<int>(texel)) / 255.0f;
        expected.push_back(numbers[static_cast<std::size_t>(1.0f / value)]);
    }
    EXPECT_TRUE(same_bytes(download(image), std::as_bytes(std::span(expected))));
}

TEST_P(FunctorCallsTest, ALoopMayStepByTexelsThatAreNeverZero) {
    constexpr Extent kExtent{150, 4};
    const Array array(device(), {Format::r32_float, kExtent});
    std::vector<float> lengths(kExtent.width * kExtent.height);
    for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = static_cast<float>(1 + i * 7 % 5);
    upload(array.view(), std::as_bytes(std::span(lengths)));
    const Linear memory(device(), Format::r32_float, kExtent);
    const View image = memory.view(Format::r32_float, kExtent);
    launch(stream(), image, Steps{static_cast<float>(kExtent.width)}, Texture(array));
    stream().synchronize();
    std::vector<float> expected;
    for (std::size_t y = 0; y < kExtent.height; ++y) {
        for (std::size_t first = 0; first < kExtent.width; ++first) {
            float steps = 0;
            const auto length = static_cast<std::size_t>(lengths[y * kExtent.width + first]);
            for (std::size_t x = first; x < kExtent.width; x += length) steps += 1;
            expected.push_back(steps);
        }
    }
    EXPECT_TRUE(same_bytes(download(image), std::as_bytes(std::span(expected))));
}

/// The CPU device has a source for each way of calling functors.
TEST_P(FunctorCallsTest, OnlyFunctorsThatPromiseItAreRecorded) {
    if (!on_cpu()) GTEST_SKIP() << "the test runs on the CPU device";
    const Array array(device(), {Format::r8_unorm, {8, 8}});
    const Texture texture(array);
    const Linear memory(device(), Format::r8_uint, {8, 8});
    const View image = memory.view(Format::r8_uint, {8, 8});
    const auto source_of = [&](const auto& functor) {
        launch(stream(), image, functor, texture);
        stream().synchronize();
        const Bytes bytes = download(image);
        EXPECT_TRUE(test::all_bytes(bytes, std::to_integer<std::uint8_t>(bytes[0])));
        return std::to_integer<int>(bytes[0]);
    };
    EXPECT_EQ(source_of(WhichSource{}), 1);
    EXPECT_EQ(source_of(Refusing<WhichSource>{}), 1);
    EXPECT_EQ(source_of(Promising<WhichSource>{}), 2);
    EXPECT_EQ(source_of(Pointwise<WhichSource>{}), 3);
    EXPECT_EQ(source_of(Pointwise<Promising<WhichSource>>{}), 3);
}

}  // namespace
}  // namespace texton

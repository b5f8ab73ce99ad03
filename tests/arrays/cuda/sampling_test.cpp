// Properties of textures, surfaces and batches that are specific to the CUDA device. array_parity_test compares the
// results of both devices.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include <texton/cuda_interop.h>
#include <texton/fill.h>
#include <texton/sample.h>
#include <texton/surface.h>

#include "arrays/cuda/sampling.h"
#include "tests/support/gate.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

constexpr FetchOperation kOperations[] = {FetchOperation::plain, FetchOperation::lod, FetchOperation::gradients,
                                          FetchOperation::gather, FetchOperation::texel};
constexpr ArrayKind kKinds[] = {ArrayKind::array_1d,       ArrayKind::array_2d,   ArrayKind::array_3d,
                                ArrayKind::layered_1d,     ArrayKind::layered_2d, ArrayKind::cubemap,
                                ArrayKind::cubemap_layered};

// --- kernel tables (no GPU needed) -----------------------------------------------------------------------------------

TEST(CudaKernelsTest, EverySupportedFetchHasItsOwnKernel) {
    const auto exists = [](FetchOperation operation, ArrayKind kind, bool residency) {
        if (operation == FetchOperation::gather) return kind == ArrayKind::array_2d;
        if (operation == FetchOperation::texel) return kind == ArrayKind::array_1d && !residency;
        return !residency || kind == ArrayKind::array_2d || kind == ArrayKind::array_3d ||
               kind == ArrayKind::layered_2d;
    };
    std::set<const void*> kernels;
    std::size_t count = 0;
    for (const FetchOperation operation : kOperations) {
        for (const ArrayKind kind : kKinds) {
            for (const bool residency : {false, true}) {
                const void* kernel = detail::fetch_kernel(operation, kind, residency);
                EXPECT_EQ(kernel != nullptr, exists(operation, kind, residency))
                    << "operation " << static_cast<int>(operation) << " of " << name(kind);
                if (kernel == nullptr) continue;
                kernels.insert(kernel);
                ++count;
            }
        }
    }
    EXPECT_EQ(kernels.size(), count);
    EXPECT_EQ(count, 33u);
}

TEST(CudaKernelsTest, SurfacesHaveAKernelForEachTexelSizeAndTreatFacesAsLayers) {
    std::set<const void*> kernels;
    for (const int bytes : {1, 2, 4, 8, 16}) {
        for (const ArrayKind kind : kKinds) {
            kernels.insert(detail::surface_read_kernel(kind, bytes));
            kernels.insert(detail::surface_write_kernel(kind, bytes));
        }
        EXPECT_EQ(detail::surface_read_kernel(ArrayKind::cubemap, bytes),
                  detail::surface_read_kernel(ArrayKind::layered_2d, bytes));
        EXPECT_EQ(detail::surface_write_kernel(ArrayKind::cubemap_layered, bytes),
                  detail::surface_write_kernel(ArrayKind::layered_2d, bytes));
    }
    EXPECT_EQ(kernels.count(nullptr), 0u);
    EXPECT_EQ(kernels.size(), 5u * 5u * 2u);
}

TEST(CudaViewFormatTest, TheViewFormatDependsOnlyOnTheChannelTypes) {
    EXPECT_EQ(detail::view_format(Format::r8_uint), cudaResViewFormatUnsignedChar1);
    EXPECT_EQ(detail::view_format(Format::rgba8_srgb), cudaResViewFormatUnsignedChar4);
    EXPECT_EQ(detail::view_format(Format::rg8_snorm), cudaResViewFormatSignedChar2);
    EXPECT_EQ(detail::view_format(Format::rg16_unorm), cudaResViewFormatUnsignedShort2);
    EXPECT_EQ(detail::view_format(Format::rgba16_sint), cudaResViewFormatSignedShort4);
    EXPECT_EQ(detail::view_format(Format::r32_uint), cudaResViewFormatUnsignedInt1);
    EXPECT_EQ(detail::view_format(Format::rgba32_sint), cudaResViewFormatSignedInt4);
    EXPECT_EQ(detail::view_format(Format::rg16_float), cudaResViewFormatHalf2);
    EXPECT_EQ(detail::view_format(Format::rgba32_float), cudaResViewFormatFloat4);
    EXPECT_EQ(detail::view_format(Format::bc3_srgb), cudaResViewFormatUnsignedBlockCompressed3);
    EXPECT_EQ(detail::view_format(Format::bc5_snorm), cudaResViewFormatSignedBlockCompressed5);
    EXPECT_EQ(detail::view_format(Format::bc6h_sfloat), cudaResViewFormatSignedBlockCompressed6H);
    EXPECT_EQ(detail::view_format(Format::bc7_unorm), cudaResViewFormatUnsignedBlockCompressed7);
    EXPECT_EQ(detail::view_format(Format::rgb10a2_unorm), cudaResViewFormatNone);
}

// --- batches ---------------------------------------------------------------------------------------------------------

class CudaSamplingTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, CudaSamplingTest, testing::Values(DeviceKind::cuda), test::device_label);

constexpr Extent kSide{64, 64};

// Texel (x, y) has the value y * 64 + x + first.
Array counting(const Device& device, std::uint32_t first, ArrayUsage usage = {}) {
    Array array(device, {.format = Format::r32_uint, .extent = kSide, .usage = usage});
    std::vector<std::uint32_t> texels(kSide.width * kSide.height);
    std::iota(texels.begin(), texels.end(), first);
    test::upload(array.view(), std::as_bytes(std::span(texels)));
    return array;
}

// Returns the center of texel `index % 4096`.
FetchPoint center(std::size_t index) {
    FetchPoint point;
    point.x = static_cast<float>(index % 64) + 0.5f;
    point.y = static_cast<float>(index / 64 % 64) + 0.5f;
    return point;
}

std::vector<FetchPoint> centers(std::size_t count) {
    std::vector<FetchPoint> points(count);
    for (std::size_t i = 0; i < count; ++i) points[i] = center(i);
    return points;
}

std::size_t count_wrong(const Samples& samples, std::uint32_t first) {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < samples.texels.size(); ++i) wrong += samples.texels[i].channel[0] != first + i % 4096;
    return wrong;
}

TEST_P(CudaSamplingTest, LargeFetchBatchesInSeveralChunksAreComplete) {
    const Array array = counting(device(), 7);
    const std::size_t count = 1'000'003;
    const std::vector<FetchPoint> points = centers(count);
    const Samples plain = sample(Texture(array), points);
    ASSERT_EQ(plain.texels.size(), count);
    EXPECT_EQ(count_wrong(plain, 7), 0u);

    const Samples flagged = sample(Texture(array), points, {.residency = true});
    EXPECT_EQ(count_wrong(flagged, 7), 0u);
    ASSERT_EQ(flagged.resident.size(), count);
    EXPECT_EQ(std::count(flagged.resident.begin(), flagged.resident.end(), 1), static_cast<std::ptrdiff_t>(count));
}

TEST_P(CudaSamplingTest, LargeSurfaceBatchesInSeveralChunksAreComplete) {
    constexpr std::size_t kCount = 2048 * 1500;
    const Array array(device(), {.format = Format::r8_uint, .extent = {2048, 1500}, .usage = {.surface = true}});
    const Surface surface(array);
    std::vector<SurfacePoint> points(kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
        points[i].x = static_cast<std::int32_t>(i % 2048);
        points[i].y = static_cast<std::int32_t>(i / 2048);
    }
    const test::Bytes texels = test::pattern(kCount, 3);
    write(surface, points, texels);
    EXPECT_TRUE(test::same_bytes(test::download(array.view()), texels));
    EXPECT_TRUE(test::same_bytes(read(surface, points), texels));
}

TEST_P(CudaSamplingTest, SamplingDoesNotWaitForOtherStreams) {
    const Array array = counting(device(), 0, {.surface = true});
    const std::vector<FetchPoint> points = centers(4096);
    const Texture texture(array);
    const Surface surface(array);
    const SurfacePoint corner[] = {{63, 63, 0}};
    (void)sample(texture, points);  // the first launch of a kernel loads it, which waits for the device
    (void)read(surface, corner);
    const Stream stream(device());
    const test::Gate gate;
    gate.close(stream);
    EXPECT_EQ(count_wrong(sample(texture, points), 0), 0u);
    EXPECT_EQ(read(surface, corner).size(), 4u);
    EXPECT_FALSE(stream.idle()) << "the held stream finished before the gate opened";
    gate.open();
    stream.synchronize();
}

TEST_P(CudaSamplingTest, ConcurrentThreadsGetTheirOwnResults) {
    constexpr std::size_t kThreads = 4;
    const std::vector<FetchPoint> points = centers(300'000);
    std::size_t wrong[kThreads] = {};
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < kThreads; ++i) {
        threads.emplace_back([&, i] {
            const auto first = static_cast<std::uint32_t>(i * 100'000);
            const Array array = counting(device(), first);
            for (int round = 0; round < 3; ++round) wrong[i] += count_wrong(sample(Texture(array), points), first);
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::size_t count : wrong) EXPECT_EQ(count, 0u);
}

TEST_P(CudaSamplingTest, SamplingKeepsTheCurrentCudaDeviceOfTheCaller) {
    const auto other = peer();
    if (!other) GTEST_SKIP() << "needs a second device of the kind";
    ASSERT_EQ(cudaSetDevice(ordinal(device())), cudaSuccess);
    const Array array = counting(*other, 5, {.surface = true});
    EXPECT_EQ(count_wrong(sample(Texture(array), centers(4096)), 5), 0u);
    const SurfacePoint corner[] = {{0, 0, 0}};
    EXPECT_EQ(read(Surface(array), corner).front(), std::byte{5});
    int current = -1;
    ASSERT_EQ(cudaGetDevice(&current), cudaSuccess);
    EXPECT_EQ(current, ordinal(device()));
}

// --- views -----------------------------------------------------------------------------------------------------------

// Every texel of a level and layer (or face) has the value level * 100 + the index of the layer or face.
Array numbered(const Device& device, const ArrayInfo& info) {
    Array array(device, info);
    for (int level = 0; level < info.levels; ++level) {
        const View all = array.view({.level = level});
        for (std::size_t z = 0; z < slice_count(info, level); ++z) {
            const Extent slice{all.extent().width, all.extent().height, 1};
            const auto value = static_cast<std::uint32_t>(static_cast<std::size_t>(level) * 100 + z);
            fill(all.region({{0, 0, z}, slice}), value);
        }
    }
    return array;
}

constexpr Sampler kNormalized{.normalized_coordinates = true};

TEST_P(CudaSamplingTest, ALevelRangeStartsAtItsFirstLevel) {
    for (const ArrayKind kind : {ArrayKind::array_1d, ArrayKind::array_2d, ArrayKind::array_3d, ArrayKind::cubemap}) {
        SCOPED_TRACE(std::string(name(kind)));
        const Extent extent{16, is_flat(kind) ? 1u : 16u, kind == ArrayKind::array_3d ? 16u : 1u};
        const Array array =
            numbered(device(), {.format = Format::r32_uint, .extent = extent, .kind = kind, .levels = 4});
        const Texture texture(array, kNormalized, {.first_level = 1, .levels = 2});
        std::vector<FetchPoint> points(4, {.x = 0.9f, .y = 0.01f, .z = 0.01f});
        for (std::size_t i = 0; i < points.size(); ++i) points[i].lod = static_cast<float>(i);
        const Samples samples = sample(texture, points, {.operation = FetchOperation::lod});
        EXPECT_EQ(samples.texels[0].channel[0], 100u);
        EXPECT_EQ(samples.texels[1].channel[0], 200u);
        EXPECT_EQ(samples.texels[2].channel[0], 200u) << "beyond the last level of the view";
        EXPECT_EQ(samples.texels[3].channel[0], 200u);
    }
}

TEST_P(CudaSamplingTest, ALayerRangeStartsAtItsFirstLayer) {
    for (const ArrayKind kind : {ArrayKind::layered_1d, ArrayKind::layered_2d, ArrayKind::cubemap_layered}) {
        SCOPED_TRACE(std::string(name(kind)));
        const Extent extent{16, is_flat(kind) ? 1u : 16u};
        const std::uint32_t faces = is_cube(kind) ? 6 : 1;
        const Array array =
            numbered(device(), {.format = Format::r32_uint, .extent = extent, .kind = kind, .layers = 5, .levels = 3});
        const Texture texture(array, kNormalized, {.first_level = 1, .first_layer = 2, .layers = 2});
        std::vector<FetchPoint> points(3, {.x = 1, .y = 0.01f, .z = 0.01f});  // for cubes: direction to face 0
        for (std::size_t i = 0; i < points.size(); ++i) points[i].layer = static_cast<std::int32_t>(i);
        const Samples samples = sample(texture, points);
        EXPECT_EQ(samples.texels[0].channel[0], 100 + 2 * faces);
        EXPECT_EQ(samples.texels[1].channel[0], 100 + 3 * faces);
        EXPECT_EQ(samples.texels[2].channel[0], 100 + 3 * faces) << "beyond the last layer of the view";
    }
}

TEST_P(CudaSamplingTest, ASingleLevelIsReadInEveryLayerAndFormat) {
    for (const ArrayKind kind : kKinds) {
        const bool volume = kind == ArrayKind::array_3d;
        const ArrayInfo info{.format = Format::r32_uint,
                             .extent = {13,
                                        is_flat(kind)   ? 1u
                                        : is_cube(kind) ? 13u
                                                        : 7u,
                                        volume ? 5u : 1u},
                             .kind = kind,
                             .layers = is_layered(kind) ? 5u : 1u,
                             .levels = 3};
        const Array array = numbered(device(), info);
        const std::uint32_t faces = is_cube(kind) ? 6 : 1;
        for (const Format format : {Format::r32_uint, Format::r32_sint}) {
            for (const std::size_t first : {0u, 2u}) {
                if (first > 0 && !is_layered(kind)) continue;
                SCOPED_TRACE(std::string(name(kind)) + " as " + std::string(name(format)) + " from layer " +
                             std::to_string(first));
                const std::size_t layers = !is_layered(kind) ? 1 : first == 0 ? 5 : 2;
                const Texture texture(
                    array, kNormalized,
                    {.format = format, .first_level = 1, .levels = 1, .first_layer = first, .layers = layers});
                std::vector<FetchPoint> points(5, {.x = 1, .y = 0.01f, .z = 0.01f});  // for cubes: direction to face 0
                for (std::size_t i = 0; i < points.size(); ++i) points[i].layer = static_cast<std::int32_t>(i);
                const Samples samples = sample(texture, points);
                for (std::size_t i = 0; i < points.size(); ++i) {
                    const auto layer = static_cast<std::uint32_t>(first + std::min(i, layers - 1));
                    EXPECT_EQ(samples.texels[i].channel[0], 100 + layer * faces) << "layer " << i;
                }
            }
        }
    }
}

TEST_P(CudaSamplingTest, AnotherTextureFormatReadsTheSameBits) {
    const test::Bytes texels = test::pattern(64 * 64 * 4, 11);
    const Array array(device(), {.format = Format::rgba8_uint, .extent = kSide});
    test::upload(array.view(), texels);
    const std::vector<FetchPoint> points = centers(4096);
    const Samples as_bytes = sample(Texture(array), points);
    const Samples as_words = sample(Texture(array, {}, {.format = Format::r32_uint}), points);
    const Samples as_signed = sample(Texture(array, {}, {.format = Format::rgba8_sint}), points);
    const Samples as_fractions = sample(Texture(array, {}, {.format = Format::rgba8_unorm}), points);
    for (std::size_t i = 0; i < points.size(); ++i) {
        std::uint32_t word = 0;
        std::memcpy(&word, texels.data() + 4 * i, sizeof(word));
        ASSERT_EQ(as_words.texels[i].channel[0], word) << i;
        for (int c = 0; c < 4; ++c) {
            const auto byte = static_cast<std::uint8_t>(texels[4 * i + static_cast<std::size_t>(c)]);
            ASSERT_EQ(as_bytes.texels[i].channel[c], byte) << i;
            ASSERT_EQ(static_cast<std::int32_t>(as_signed.texels[i].channel[c]), static_cast<std::int8_t>(byte)) << i;
            ASSERT_EQ(as_fractions.texels[i].as_float(c), static_cast<float>(byte) / 255.0f) << i;
        }
    }
}

TEST_P(CudaSamplingTest, ASingleLevelIsReadForFormatsWithoutResourceViews) {
    const Array packed(device(), {.format = Format::rgb10a2_unorm, .extent = {16, 16}, .levels = 3});
    fill(packed.view(), std::uint32_t{0});
    fill(packed.view({.level = 1}), 1023U << 10 | 3U << 30);
    fill(packed.view({.level = 2}), std::uint32_t{0});
    const Array blocks(device(), {.format = Format::bc1_unorm, .extent = {16, 16}, .levels = 3});
    const std::vector<std::byte> black(8, std::byte{0});
    std::vector<std::byte> white(8, std::byte{0});  // both end points are white; every texel uses the first
    std::fill_n(white.begin(), 4, std::byte{0xFF});
    fill(blocks.view(), black);
    fill(blocks.view({.level = 1}), white);
    fill(blocks.view({.level = 2}), black);
    const FetchPoint center{.x = 0.5f, .y = 0.5f};
    const auto green = [&](const Array& array, const TextureRange& range) {
        const Samples samples = sample(Texture(array, kNormalized, range), std::span(&center, 1));
        return samples.texels.front().as_float(1);
    };
    for (const Array* array : {&packed, &blocks}) {
        EXPECT_EQ(green(*array, {}), 0.0f);
        EXPECT_EQ(green(*array, {.first_level = 1, .levels = 1}), 1.0f);
        EXPECT_EQ(green(*array, {.first_level = 2, .levels = 1}), 0.0f);
    }
}

TEST_P(CudaSamplingTest, FloatsStoredInAByteFormatAreFiltered) {
    const Array array(device(), {.format = Format::rgba8_uint, .extent = {2, 1}});
    const float values[] = {1.5f, -0.25f};
    test::upload(array.view(), std::as_bytes(std::span(values)));
    const Texture texture(array, {.filter = Filter::linear}, {.format = Format::r32_float});
    const std::vector<FetchPoint> points{{.x = 0.5f, .y = 0.5f}, {.x = 1, .y = 0.5f}, {.x = 1.5f, .y = 0.5f}};
    const Samples samples = sample(texture, points);
    EXPECT_EQ(samples.texels[0].as_float(0), 1.5f);
    EXPECT_EQ(samples.texels[1].as_float(0), 0.625f);
    EXPECT_EQ(samples.texels[2].as_float(0), -0.25f);
}

// --- surfaces --------------------------------------------------------------------------------------------------------

TEST_P(CudaSamplingTest, SurfacesAccessEveryKindAndTexelSizeInsideAndOutOfBounds) {
    for (const ArrayKind kind : kKinds) {
        for (const Format format :
             {Format::r8_uint, Format::r16_uint, Format::rgba8_unorm, Format::rg32_float, Format::rgba32_uint}) {
            SCOPED_TRACE(std::string(name(kind)) + " " + std::string(name(format)));
            const bool volume = kind == ArrayKind::array_3d;
            const Extent extent{8, is_flat(kind) ? 1u : 8u, volume ? 3u : 1u};
            const Array array(device(), {.format = format,
                                         .extent = extent,
                                         .kind = kind,
                                         .layers = is_layered(kind) ? 2u : 1u,
                                         .levels = 2,
                                         .usage = {.surface = true}});
            for (int level = 0; level < 2; ++level) {
                const Surface surface(array, level);
                const Extent size = surface.extent();
                const std::size_t bytes = info(format).bytes;
                std::vector<SurfacePoint> points;
                for (std::size_t i = 0; i < size.width * size.height * size.depth; ++i) {
                    points.push_back({static_cast<std::int32_t>(i % size.width),
                                      static_cast<std::int32_t>(i / size.width % size.height),
                                      static_cast<std::int32_t>(i / size.width / size.height)});
                }
                const test::Bytes texels = test::pattern(points.size() * bytes, 40 + static_cast<unsigned>(level));
                write(surface, points, texels);
                EXPECT_TRUE(test::same_bytes(test::download(array.view({.level = level})), texels));
                EXPECT_TRUE(test::same_bytes(read(surface, points), texels));

                const SurfacePoint last = points.back();
                const SurfacePoint outside[] = {{last.x + 1, last.y, last.z},
                                                {last.x, last.y + 1, last.z},
                                                {last.x, last.y, last.z + 1},
                                                {1 << 30, 1 << 30, 1 << 30},
                                                {-1, -1, -1},
                                                {-(1 << 30), 0, 0}};
                const test::Bytes ones(std::size(outside) * bytes, std::byte{0xFF});
                write(surface, outside, ones, Boundary::zero);
                EXPECT_TRUE(test::same_bytes(test::download(array.view({.level = level})), texels))
                    << "the write changed texels outside its points";
                EXPECT_TRUE(test::all_bytes(read(surface, outside, Boundary::zero), 0));

                const test::Bytes nearest = read(surface, outside, Boundary::clamp);
                const auto texel = [&](std::span<const std::byte> all, std::size_t index) {
                    return test::Bytes(all.begin() + static_cast<std::ptrdiff_t>(index * bytes),
                                       all.begin() + static_cast<std::ptrdiff_t>((index + 1) * bytes));
                };
                for (std::size_t i = 0; i < 4; ++i) {
                    EXPECT_EQ(texel(nearest, i), texel(texels, points.size() - 1)) << "point " << i;
                }
                EXPECT_EQ(texel(nearest, 4), texel(texels, 0));
                EXPECT_EQ(texel(nearest, 5), texel(texels, 0));
            }
        }
    }
}

}  // namespace
}  // namespace texton

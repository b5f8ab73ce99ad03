#include <texton/cuda_arrays.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/cuda_interop.h>
#include <texton/fill.h>
#include <texton/linear.h>
#include <texton/pitched.h>
#include <texton/sample.h>

#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

// Handles of Texton in kernels and CUDA calls of the caller, and CUDA handles of the caller in Texton.

namespace texton {
namespace {

using test::Bytes;
using test::expect_error;

constexpr Extent kSide{32, 16};
constexpr std::size_t kTexels = 32 * 16;

__global__ void read_texture(cudaTextureObject_t texture, uchar4* out) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    out[i] = tex2D<uchar4>(texture, static_cast<float>(i % 32) + 0.5f, static_cast<float>(i / 32) + 0.5f);
}

__global__ void write_surface(cudaSurfaceObject_t surface, int first) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    surf2Dwrite(first + i, surface, (i % 32) * static_cast<int>(sizeof(int)), i / 32);
}

__global__ void read_row(cudaTextureObject_t texture, int* out) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    out[i] = tex1Dfetch<int>(texture, i);
}

TEST(CudaArraysCpuTest, ObjectsOfTheCpuDeviceHaveNoCudaHandle) {
    const Device cpu = Device::cpu();
    const Array array(cpu, {.format = Format::rgba8_uint, .extent = kSide, .levels = 2, .usage = {.surface = true}});
    const Texture texture(array, {.normalized_coordinates = true});
    const Surface surface(array);
    const auto refused = [&](const std::function<void()>& action, const char* object) {
        expect_error(action, ErrorCode::wrong_device, object, {cpu.name()});
    };
    refused([&] { (void)native(array); }, "texton::native");
    refused([&] { (void)native_mipmapped(array); }, "texton::native_mipmapped");
    refused([&] { (void)native(texture); }, "texton::native");
    refused([&] { (void)native(surface); }, "texton::native");
    refused([&] { (void)adopt_array(cpu, nullptr); }, "texton::adopt_array");
    refused([&] { (void)adopt_mipmapped_array(cpu, nullptr); }, "texton::adopt_mipmapped_array");
    refused([&] { (void)adopt_texture(cpu, 1); }, "texton::adopt_texture");
    expect_error([] { (void)native(Array()); }, ErrorCode::released, "texton::native");
}

class CudaArraysTest : public test::OnEveryDevice {
protected:
    void SetUp() override {
        OnEveryDevice::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        ASSERT_EQ(cudaSetDevice(ordinal(device())), cudaSuccess);
    }

    // Returns the result of a kernel that reads 32 x 16 texels of 4 bytes.
    Bytes read_by_kernel(cudaTextureObject_t texture) const {
        const Linear out(device(), kTexels * 4);
        read_texture<<<kTexels / 128, 128>>>(texture, reinterpret_cast<uchar4*>(out.data()));
        EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
        return test::download(out.view());
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, CudaArraysTest, testing::Values(DeviceKind::cuda), test::device_label);

/// An array that the caller created with CUDA: 32 x 16 texels of uchar4.
class Foreign {
public:
    explicit Foreign(unsigned flags = cudaArrayDefault) {
        const cudaChannelFormatDesc channels = cudaCreateChannelDesc<uchar4>();
        EXPECT_EQ(cudaMallocArray(&array, &channels, kSide.width, kSide.height, flags), cudaSuccess);
    }
    ~Foreign() { EXPECT_EQ(cudaFreeArray(array), cudaSuccess) << "Texton freed the caller's array"; }
    Foreign(const Foreign&) = delete;
    Foreign& operator=(const Foreign&) = delete;

    void write(const Bytes& texels) const {
        EXPECT_EQ(cudaMemcpy2DToArray(array, 0, 0, texels.data(), kSide.width * 4, kSide.width * 4, kSide.height,
                                      cudaMemcpyDefault),
                  cudaSuccess);
    }
    Bytes read() const {
        Bytes texels(kTexels * 4);
        EXPECT_EQ(cudaMemcpy2DFromArray(texels.data(), kSide.width * 4, array, 0, 0, kSide.width * 4, kSide.height,
                                        cudaMemcpyDefault),
                  cudaSuccess);
        return texels;
    }

    cudaArray_t array = nullptr;
};

/// A mipmapped array that the caller created with CUDA, with layers if the flags request them.
class ForeignLevels {
public:
    ForeignLevels(cudaExtent extent, unsigned levels, unsigned flags) {
        const cudaChannelFormatDesc channels = cudaCreateChannelDesc<uchar4>();
        EXPECT_EQ(cudaMallocMipmappedArray(&array, &channels, extent, levels, flags), cudaSuccess);
    }
    ~ForeignLevels() { EXPECT_EQ(cudaFreeMipmappedArray(array), cudaSuccess) << "Texton freed the caller's array"; }
    ForeignLevels(const ForeignLevels&) = delete;
    ForeignLevels& operator=(const ForeignLevels&) = delete;

    cudaMipmappedArray_t array = nullptr;
};

class ForeignTexture {
public:
    ForeignTexture(const cudaResourceDesc& resource, const cudaTextureDesc& how,
                   const cudaResourceViewDesc* view = nullptr) {
        EXPECT_EQ(cudaCreateTextureObject(&texture, &resource, &how, view), cudaSuccess);
    }
    ~ForeignTexture() { EXPECT_EQ(cudaDestroyTextureObject(texture), cudaSuccess); }
    ForeignTexture(const ForeignTexture&) = delete;
    ForeignTexture& operator=(const ForeignTexture&) = delete;

    cudaTextureObject_t texture = 0;
};

// --- Texton's handles in CUDA calls ----------------------------------------------------------------------------------

TEST_P(CudaArraysTest, ACustomKernelReadsATexture) {
    const Bytes texels = test::pattern(kTexels * 4, 1);
    const Array array(device(), {.format = Format::rgba8_uint, .extent = kSide});
    test::upload(array.view(), texels);
    const Texture texture(array);
    EXPECT_EQ(native(texture), texture.handle());
    EXPECT_TRUE(test::same_bytes(read_by_kernel(native(texture)), texels));
}

TEST_P(CudaArraysTest, ACustomKernelReadsATextureOfMemory) {
    const Bytes texels = test::pattern(kTexels * 4, 2);
    const Pitched2D rows(device(), Format::rgba8_uint, kSide);
    test::upload(rows.view(), texels);
    EXPECT_TRUE(test::same_bytes(read_by_kernel(native(Texture(rows.view()))), texels));

    const Linear row(device(), Format::r32_sint, {kTexels});
    test::upload(row.view(Format::r32_sint, {kTexels}), texels);
    const Texture on_row(row.view(Format::r32_sint, {kTexels}));
    const Linear out(device(), kTexels * 4);
    read_row<<<kTexels / 128, 128>>>(native(on_row), reinterpret_cast<int*>(out.data()));
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_TRUE(test::same_bytes(test::download(out.view()), texels));
}

TEST_P(CudaArraysTest, ACustomKernelWritesALevelThroughASurface) {
    const Array array(device(),
                      {.format = Format::r32_sint, .extent = {64, 32}, .levels = 3, .usage = {.surface = true}});
    fill(array.view(), std::uint32_t{5});
    const Surface surface(array, 1);  // 32 x 16
    EXPECT_EQ(native(surface), surface.handle());
    write_surface<<<kTexels / 128, 128>>>(native(surface), 1000);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    std::vector<int> seen(kTexels);
    copy(host_view(seen.data(), Format::r32_sint, kSide), array.view({.level = 1}));
    for (std::size_t i = 0; i < kTexels; ++i) ASSERT_EQ(seen[i], 1000 + static_cast<int>(i));
    std::vector<int> level_0(64 * 32);
    copy(host_view(level_0.data(), Format::r32_sint, {64, 32}), array.view());
    EXPECT_EQ(level_0, std::vector<int>(64 * 32, 5)) << "another level changed";
}

TEST_P(CudaArraysTest, AnArrayHasANativeCudaHandle) {
    const Array array(device(), {.format = Format::rgba8_unorm, .extent = kSide});
    cudaChannelFormatDesc channels{};
    cudaExtent extent{};
    unsigned flags = 0;
    ASSERT_EQ(cudaArrayGetInfo(&channels, &extent, &flags, native(array)), cudaSuccess);
    EXPECT_EQ(extent.width, kSide.width);
    EXPECT_EQ(extent.height, kSide.height);
    EXPECT_EQ(channels.w, 8);
    const Bytes texels = test::pattern(kTexels * 4, 3);
    ASSERT_EQ(cudaMemcpy2DToArray(native(array), 0, 0, texels.data(), kSide.width * 4, kSide.width * 4, kSide.height,
                                  cudaMemcpyDefault),
              cudaSuccess);
    EXPECT_TRUE(test::same_bytes(test::download(array.view()), texels));
    expect_error([&] { (void)native(array, 1); }, ErrorCode::out_of_bounds, "texton::native", {"level 1"});
    expect_error([&] { (void)native_mipmapped(array); }, ErrorCode::bad_argument, "texton::native_mipmapped");
}

TEST_P(CudaArraysTest, LevelsHaveNativeCudaHandles) {
    const Array array(device(), {.format = Format::rgba8_unorm, .extent = {64, 32}, .levels = 3});
    cudaArray_t level = nullptr;
    ASSERT_EQ(cudaGetMipmappedArrayLevel(&level, native_mipmapped(array), 1), cudaSuccess);
    cudaExtent extent{};
    ASSERT_EQ(cudaArrayGetInfo(nullptr, &extent, nullptr, native(array, 1)), cudaSuccess);
    EXPECT_EQ(extent.width, kSide.width);
    EXPECT_EQ(extent.height, kSide.height);
    const Bytes texels = test::pattern(kTexels * 4, 4);
    for (const cudaArray_t raw : {level, native(array, 1)}) {
        fill(array.view({.level = 1}), std::uint32_t{0});
        ASSERT_EQ(cudaMemcpy2DToArray(raw, 0, 0, texels.data(), kSide.width * 4, kSide.width * 4, kSide.height,
                                      cudaMemcpyDefault),
                  cudaSuccess);
        EXPECT_TRUE(test::same_bytes(test::download(array.view({.level = 1})), texels));
    }
    expect_error([&] { (void)native(array, 3); }, ErrorCode::out_of_bounds, "texton::native", {"levels is 3"});
    expect_error([&] { (void)native(array, -1); }, ErrorCode::out_of_bounds, "texton::native");
}

// --- foreign arrays --------------------------------------------------------------------------------------------------

TEST_P(CudaArraysTest, AnAdoptedArrayIsCopiedAndSampledButNotFreed) {
    const Foreign foreign;
    const Bytes texels = test::pattern(kTexels * 4, 5);
    foreign.write(texels);
    const Bytes others = test::pattern(kTexels * 4, 6);
    {
        const Array array = adopt_array(device(), foreign.array, Format::rgba8_unorm);
        EXPECT_EQ(native(array), foreign.array);
        EXPECT_EQ(array.device(), device());
        EXPECT_EQ(array.info(), (ArrayInfo{.format = Format::rgba8_unorm, .extent = kSide}));
        EXPECT_TRUE(test::same_bytes(test::download(array.view()), texels));
        const Point2 at[] = {{3.5f, 2.5f}};
        const std::array<float, 4> texel = sample(Texture(array), at).front();
        for (std::size_t c = 0; c < 4; ++c) {
            const auto byte = static_cast<std::uint8_t>(texels[(2 * 32 + 3) * 4 + c]);
            EXPECT_EQ(texel[c], static_cast<float>(byte) / 255.0f);
        }
        test::upload(array.view(), others);
    }
    EXPECT_TRUE(test::same_bytes(foreign.read(), others));
}

TEST_P(CudaArraysTest, AnAdoptedArrayHasAnIntegerFormatByDefault) {
    const Foreign foreign(cudaArraySurfaceLoadStore);
    const Array array = adopt_array(device(), foreign.array);
    EXPECT_EQ(array.info().format, Format::rgba8_uint);
    EXPECT_TRUE(array.info().usage.surface);
    expect_error([&] { (void)adopt_array(device(), foreign.array, Format::rgba16_uint); }, ErrorCode::bad_argument,
                 "texton::adopt_array", {"rgba16_uint"});
    expect_error([&] { (void)adopt_array(device(), nullptr); }, ErrorCode::bad_argument, "texton::adopt_array",
                 {"null"});
    expect_error([&] { (void)adopt_mipmapped_array(device(), nullptr); }, ErrorCode::bad_argument,
                 "texton::adopt_mipmapped_array", {"null"});
}

TEST_P(CudaArraysTest, AnAdoptedMipmappedArrayIsCopiedAndSampledButNotFreed) {
    const ForeignLevels foreign({16, 16, 3}, 4, cudaArrayLayered);
    {
        const Array array = adopt_mipmapped_array(device(), foreign.array, Format::rgba8_uint);
        EXPECT_EQ(native_mipmapped(array), foreign.array);
        EXPECT_EQ(array.info(), (ArrayInfo{.format = Format::rgba8_uint,
                                           .extent = {16, 16},
                                           .kind = ArrayKind::layered_2d,
                                           .layers = 3,
                                           .levels = 4}));
        fill(array.view({.level = 2, .layer = 1}), std::uint32_t{0x04030201});
        FetchPoint point{.x = 0.5f, .y = 0.5f, .layer = 1, .lod = 2};
        const Texture texture(array, {.normalized_coordinates = true});
        const Samples samples = sample(texture, std::span(&point, 1), {.operation = FetchOperation::lod});
        EXPECT_EQ(samples.texels.front(), (Texel{{1, 2, 3, 4}}));
    }
    cudaArray_t level = nullptr;
    ASSERT_EQ(cudaGetMipmappedArrayLevel(&level, foreign.array, 2), cudaSuccess);
    std::uint32_t seen = 0;
    cudaMemcpy3DParms all{};
    all.srcArray = level;
    all.srcPos = make_cudaPos(3, 3, 1);
    all.dstPtr = make_cudaPitchedPtr(&seen, 4, 1, 1);
    all.extent = make_cudaExtent(1, 1, 1);
    all.kind = cudaMemcpyDefault;
    ASSERT_EQ(cudaMemcpy3D(&all), cudaSuccess);
    EXPECT_EQ(seen, 0x04030201U);
}

// --- foreign textures ------------------------------------------------------------------------------------------------

TEST_P(CudaArraysTest, AnAdoptedTextureIsDescribedAndSampledButNotDestroyed) {
    const ForeignLevels levels({32, 16, 0}, 4, 0);
    const Array array = adopt_mipmapped_array(device(), levels.array, Format::rgba8_unorm);
    for (int level = 0; level < 4; ++level) {
        const View view = array.view({.level = level});
        test::upload(view, test::pattern(packed_bytes(Format::rgba8_unorm, view.extent()), 7));
    }
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = levels.array;
    cudaTextureDesc how{};
    how.addressMode[0] = cudaAddressModeMirror;
    how.addressMode[1] = cudaAddressModeBorder;
    how.addressMode[2] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    how.mipmapFilterMode = cudaFilterModeLinear;
    how.readMode = cudaReadModeNormalizedFloat;
    how.normalizedCoords = 1;
    how.mipmapLevelBias = 0.25f;
    how.maxMipmapLevelClamp = 2.5f;
    how.borderColor[1] = 0.5f;
    const ForeignTexture foreign(resource, how);
    const Sampler sampler{.address = {AddressMode::mirror, AddressMode::border, AddressMode::clamp},
                          .filter = Filter::linear,
                          .mip_filter = Filter::linear,
                          .normalized_coordinates = true,
                          .mip_bias = 0.25f,
                          .mip_max = 2.5f,
                          .border = {0, 0.5f, 0, 0}};
    std::vector<FetchPoint> points(500);
    for (std::size_t i = 0; i < points.size(); ++i) {
        points[i].x = static_cast<float>(i % 37) * 0.06f - 0.6f;
        points[i].y = static_cast<float>(i % 53) * 0.04f - 0.5f;
        points[i].lod = static_cast<float>(i % 29) * 0.15f;
    }
    const SampleOptions options{.operation = FetchOperation::lod};
    {
        const Texture texture = adopt_texture(device(), foreign.texture);
        EXPECT_EQ(texture.handle(), foreign.texture);
        EXPECT_EQ(texture.source(), TextureSource::array);
        EXPECT_EQ(texture.kind(), ArrayKind::array_2d);
        EXPECT_EQ(texture.format(), Format::rgba8_unorm);
        EXPECT_EQ(texture.extent(), kSide);
        EXPECT_EQ(texture.levels(), 4);
        EXPECT_EQ(texture.layers(), 1u);
        Sampler said = texture.sampler();
        std::copy(std::begin(sampler.border), std::end(sampler.border),
                  said.border);  // CUDA does not report the border
        EXPECT_EQ(said, sampler);
        EXPECT_EQ(texture.device(), device());
        EXPECT_EQ(sample(texture, points, options).texels, sample(Texture(array, sampler), points, options).texels);
    }
    EXPECT_EQ(sample(adopt_texture(device(), foreign.texture), points, options).texels.size(), points.size())
        << "the texture object was destroyed";
}

TEST_P(CudaArraysTest, TheFormatOfAnAdoptedTextureFollowsItsReadMode) {
    const Foreign foreign;
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = foreign.array;
    cudaTextureDesc how{};
    const ForeignTexture integers(resource, how);
    EXPECT_EQ(adopt_texture(device(), integers.texture).format(), Format::rgba8_uint);
    how.readMode = cudaReadModeNormalizedFloat;
    const ForeignTexture fractions(resource, how);
    EXPECT_EQ(adopt_texture(device(), fractions.texture).format(), Format::rgba8_unorm);
    how.sRGB = 1;
    const ForeignTexture light(resource, how);
    EXPECT_EQ(adopt_texture(device(), light.texture).format(), Format::rgba8_srgb);
}

TEST_P(CudaArraysTest, AnAdoptedTextureViewCanBeARangeOfLevels) {
    const ForeignLevels levels({64, 32, 0}, 5, 0);
    const Array array = adopt_mipmapped_array(device(), levels.array, Format::rgba8_uint);
    fill(array.view({.level = 1}), std::uint32_t{0x01010101});
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = levels.array;
    cudaTextureDesc how{};
    how.normalizedCoords = 1;
    how.maxMipmapLevelClamp = 15;
    cudaResourceViewDesc view{};
    view.format = cudaResViewFormatUnsignedChar4;
    view.width = 64;
    view.height = 32;
    view.firstMipmapLevel = 1;
    view.lastMipmapLevel = 3;
    const ForeignTexture foreign(resource, how, &view);
    const Texture texture = adopt_texture(device(), foreign.texture);
    EXPECT_EQ(texture.format(), Format::rgba8_uint);
    EXPECT_EQ(texture.levels(), 3);
    EXPECT_EQ(texture.extent(), kSide);
    const FetchPoint center{.x = 0.5f, .y = 0.5f};
    EXPECT_EQ(sample(texture, std::span(&center, 1)).texels.front(), (Texel{{1, 1, 1, 1}}));
}

TEST_P(CudaArraysTest, AnAdoptedTextureViewOfCubesCanBeARangeOfLayers) {
    const ForeignLevels levels({16, 16, 4 * 6}, 2, cudaArrayLayered | cudaArrayCubemap);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = levels.array;
    cudaTextureDesc how{};
    how.normalizedCoords = 1;
    cudaResourceViewDesc view{};
    view.format = cudaResViewFormatUnsignedChar4;
    view.width = view.height = 16;
    view.depth = 4 * 6;
    view.lastMipmapLevel = 1;
    view.firstLayer = 6;  // a face
    view.lastLayer = 7;   // counts cubes
    const ForeignTexture two(resource, how, &view);
    EXPECT_EQ(adopt_texture(device(), two.texture).layers(), 2u);
    view.lastLayer = 23;
    const ForeignTexture rest(resource, how, &view);
    EXPECT_EQ(adopt_texture(device(), rest.texture).layers(), 3u);
}

TEST_P(CudaArraysTest, AnAdoptedTextureOfMemoryIsSampled) {
    const Bytes texels = test::pattern(kTexels * 4, 8);
    const Linear memory(device(), kTexels * 4);
    test::upload(memory.view(), texels);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = memory.data();
    resource.res.linear.desc = cudaCreateChannelDesc<unsigned int>();
    resource.res.linear.sizeInBytes = memory.bytes();
    const ForeignTexture row(resource, cudaTextureDesc{});
    const Texture texture = adopt_texture(device(), row.texture);
    EXPECT_EQ(texture.source(), TextureSource::linear);
    EXPECT_EQ(texture.format(), Format::r32_uint);
    EXPECT_EQ(texture.extent(), Extent{kTexels});
    FetchPoint point;
    point.layer = 77;
    std::uint32_t word = 0;
    std::memcpy(&word, texels.data() + 77 * 4, sizeof(word));
    EXPECT_EQ(sample(texture, std::span(&point, 1), {.operation = FetchOperation::texel}).texels.front().channel[0],
              word);

    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = memory.data();
    resource.res.pitch2D.desc = cudaCreateChannelDesc<unsigned int>();
    resource.res.pitch2D.width = 32;
    resource.res.pitch2D.height = 16;
    resource.res.pitch2D.pitchInBytes = 32 * 4;
    const ForeignTexture rows(resource, cudaTextureDesc{});
    const Texture on_rows = adopt_texture(device(), rows.texture);
    EXPECT_EQ(on_rows.source(), TextureSource::pitched);
    EXPECT_EQ(on_rows.extent(), kSide);
    point.x = 13.5f;
    point.y = 2.5f;
    EXPECT_EQ(sample(on_rows, std::span(&point, 1)).texels.front().channel[0], word);
    expect_error([&] { (void)adopt_texture(device(), 0); }, ErrorCode::bad_argument, "texton::adopt_texture", {"null"});
}

}  // namespace
}  // namespace texton

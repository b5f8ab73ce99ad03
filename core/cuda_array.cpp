#include <algorithm>
#include <memory>

#include <texton/error.h>

#include "core/cuda_backend.h"
#include "core/cuda_sample.h"

// 2D arrays of plain and packed formats, and point fetches from them.

namespace texton::detail {
namespace {

cudaChannelFormatDesc descriptor(Format format) noexcept {
    const CudaChannels& is = info(format).cuda;
    return {is.bits[0], is.bits[1], is.bits[2], is.bits[3], static_cast<cudaChannelFormatKind>(is.kind)};
}

Reading reading_of(Format format) noexcept {
    switch (info(format).kind) {
        case FormatKind::uint: return Reading::unsigned_integer;
        case FormatKind::sint: return Reading::signed_integer;
        case FormatKind::floating:
        case FormatKind::unorm:
        case FormatKind::snorm:
        case FormatKind::srgb: break;
    }
    return Reading::floating;
}

// Arrays of plain unorm, snorm and srgb formats hold integers, which the texture turns into fractions. Packed texels are
// fractions already.
bool normalizes(Format format) noexcept {
    const FormatKind kind = info(format).kind;
    if (info(format).layout == FormatLayout::packed) return false;
    return kind == FormatKind::unorm || kind == FormatKind::snorm || kind == FormatKind::srgb;
}

class DeviceBytes {
public:
    explicit DeviceBytes(std::size_t bytes) { call<cudaMalloc>(&address_, bytes); }
    ~DeviceBytes() { (void)ask<cudaFree>(address_); }
    DeviceBytes(const DeviceBytes&) = delete;
    DeviceBytes& operator=(const DeviceBytes&) = delete;
    void* get() const noexcept { return address_; }

private:
    void* address_ = nullptr;
};

}  // namespace

ArrayHandle CudaBackend::create_array(Format format, Extent extent) {
    const DeviceScope scope(ordinal_);
    const cudaChannelFormatDesc channels = descriptor(format);
    cudaArray_t array = nullptr;
    call<cudaMallocArray>(&array, &channels, extent.width, extent.height, cudaArrayDefault);
    return reinterpret_cast<ArrayHandle>(array);
}

void CudaBackend::destroy_array(ArrayHandle array) noexcept {
    quietly([&] {
        const DeviceScope scope(ordinal_);
        call<cudaFreeArray>(native(array));
    });
}

TextureHandle CudaBackend::create_texture(ArrayHandle array, Format format) {
    const DeviceScope scope(ordinal_);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = native(array);
    cudaTextureDesc how{};
    how.addressMode[0] = cudaAddressModeClamp;
    how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModePoint;
    how.readMode = normalizes(format) ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    how.sRGB = info(format).kind == FormatKind::srgb ? 1 : 0;
    auto texture = std::make_unique<NativeTexture>();
    call<cudaCreateTextureObject>(&texture->value, &resource, &how, nullptr);
    return texture.release();
}

void CudaBackend::destroy_texture(TextureHandle texture) noexcept {
    const std::unique_ptr<NativeTexture> owned(texture);
    quietly([&] {
        const DeviceScope scope(ordinal_);
        call<cudaDestroyTextureObject>(owned->value);
    });
}

void CudaBackend::sample(TextureHandle texture, Format format, std::span<const float> coordinates,
                         std::span<float> results) {
    unsigned long long count = std::min(coordinates.size() / 2, results.size() / 4);
    if (count == 0) return;
    const DeviceScope scope(ordinal_);
    const std::size_t bytes_in = count * 2 * sizeof(float);
    const std::size_t bytes_out = count * 4 * sizeof(float);
    const DeviceBytes in(bytes_in);
    const DeviceBytes out(bytes_out);
    call<cudaMemcpy>(in.get(), coordinates.data(), bytes_in, cudaMemcpyHostToDevice);
    void* from = in.get();
    void* to = out.get();
    int channels = info(format).channels;
    void* arguments[] = {&texture->value, &from, &to, &count, &channels};
    constexpr unsigned int kThreads = 256;
    const auto blocks =
        static_cast<unsigned int>(std::min<unsigned long long>((count + kThreads - 1) / kThreads, 65535));
    call<cudaLaunchKernel>(sample_kernel(reading_of(format)), dim3{blocks, 1, 1}, dim3{kThreads, 1, 1}, arguments, 0,
                           cudaStream_t{});
    call<cudaMemcpy>(results.data(), to, bytes_out, cudaMemcpyDeviceToHost);
}

}  // namespace texton::detail

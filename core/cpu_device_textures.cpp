#include <algorithm>

#include <texton/error.h>

#include "core/cpu_copy.h"
#include "core/cpu_device.h"
#include "core/cpu_parallel.h"
#include "core/cpu_texel.h"

namespace texton::detail {
namespace {

struct CpuTexture {
    const CpuArray* array;
    DecodeTexel decode;
};

CpuArray& array_of(ArrayHandle handle) { return *reinterpret_cast<CpuArray*>(handle); }
CpuTexture& texture_of(TextureHandle handle) { return *reinterpret_cast<CpuTexture*>(handle); }

[[noreturn]] void refuse_format(Format format) {
    throw Error({.code = ErrorCode::unsupported,
                 .problem = std::string("arrays of ") + std::string(name(format)) + " cannot be made or read",
                 .remedy = "Use a plain or packed format."});
}

// Clamped to the edge; NaN is texel 0.
std::size_t texel_of(float coordinate, std::size_t size) {
    if (!(coordinate > 0.0F)) return 0;
    return coordinate >= static_cast<float>(size) ? size - 1 : std::min(static_cast<std::size_t>(coordinate), size - 1);
}

}  // namespace

ArrayHandle CpuDevice::create_array(Format format, Extent extent) {
    if (texel_decoder(format) == nullptr || extent.depth != 1) refuse_format(format);
    auto array = std::make_unique<CpuArray>();
    array->pitch = row_bytes(format, extent.width);
    array->bytes = packed_bytes(format, extent);
    array->format = format;
    array->extent = extent;
    array->address = allocate(array->bytes);
    return reinterpret_cast<ArrayHandle>(array.release());
}

void CpuDevice::destroy_array(ArrayHandle handle) noexcept {
    free(array_of(handle).address);
    delete &array_of(handle);
}

TextureHandle CpuDevice::create_texture(ArrayHandle array, Format format) {
    const DecodeTexel decode = texel_decoder(format);
    if (decode == nullptr || info(format).bytes != info(array_of(array).format).bytes) refuse_format(format);
    return reinterpret_cast<TextureHandle>(new CpuTexture{&array_of(array), decode});
}

void CpuDevice::destroy_texture(TextureHandle texture) noexcept { delete &texture_of(texture); }

void CpuDevice::sample(TextureHandle handle, Format, std::span<const float> coordinates, std::span<float> results) {
    const CpuTexture texture = texture_of(handle);
    const CpuArray& array = *texture.array;
    const std::size_t texel_bytes = info(array.format).bytes;
    const std::size_t count = coordinates.size() / 2;
    const auto fetch = [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t x = texel_of(coordinates[2 * i], array.extent.width);
            const std::size_t y = texel_of(coordinates[2 * i + 1], array.extent.height);
            texture.decode(array.address + y * array.pitch + x * texel_bytes, &results[4 * i]);
        }
    };
    constexpr std::size_t kGrain = 16384;  // fetches
    const std::size_t pieces = (count + kGrain - 1) / kGrain;
    const auto piece = [&](std::size_t i) { fetch(i * kGrain, std::min((i + 1) * kGrain, count)); };
    if (pieces <= 1) {
        fetch(0, count);
    } else {
        run_in_parallel(pieces, piece);
    }
}

}  // namespace texton::detail

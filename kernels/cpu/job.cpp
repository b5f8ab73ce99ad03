#include "kernels/cpu/job.h"

#include <algorithm>
#include <cstring>

#include <hwy/cache_control.h>

#include "arrays/unit/texel_format.h"
#include "core/parallel.h"

namespace texton::detail {

CpuImage::CpuImage(const MemoryLocation& location)
    : target_{.address = location.address, .pitch = location.pitch, .slice_pitch = location.slice_pitch},
      format_(location.format),
      offset_(location.array_offset) {
    if (location.kind == MemoryKind::array)
        level_ = &cpu_array(location.array).parts[static_cast<std::size_t>(location.array_part)];
    pixel_.stored = texel_format(location.format);
    pixel_.from_signed = pixel_.stored.encoding == Encoding::sint;
    encode_row_ = row_encoder(pixel_.stored);
    has_floats_ = is_four_floats(pixel_.stored);
    encode_planes_ = plane_encoder(pixel_.stored);
    encode_values_ = value_encoder(pixel_.stored);
}

std::byte* CpuImage::address(PixelPosition at) const {
    const auto x = static_cast<std::size_t>(at.x);
    const auto y = static_cast<std::size_t>(at.y);
    const auto z = static_cast<std::size_t>(at.z);
    if (level_ != nullptr) return level_->texel(offset_.x + x, offset_.y + y, offset_.z + z, format_);
    return target_.address + z * target_.slice_pitch + y * target_.pitch + x * pixel_.stored.bytes;
}

void CpuImage::store(PixelPosition at, const float* channels, std::size_t apart, std::size_t count) const {
    if (encode_planes_ != nullptr)
        return encode_planes_(channels, apart, count, reinterpret_cast<unsigned char*>(address(at)));
    constexpr std::size_t kTurn = 256;  // pixels
    for (std::size_t begin = 0; begin < count; begin += kTurn, at.x += static_cast<std::int32_t>(kTurn)) {
        Float4 pixels[kTurn];
        const std::size_t turn = std::min(kTurn, count - begin);
        for (std::size_t i = 0; i < turn; ++i) {
            const float* const pixel = channels + begin + i;
            pixels[i] = {pixel[0], pixel[apart], pixel[2 * apart], pixel[3 * apart]};
        }
        store(at, {pixels, turn});
    }
}

void CpuImage::store_values(PixelPosition at, const float* values, std::size_t count, bool past_caches) const {
    const std::size_t all = count * pixel_.stored.channels;
    if (has_floats(pixel_.stored)) return store_floats(values, all, reinterpret_cast<float*>(address(at)), past_caches);
    encode_values_(values, 0, all, reinterpret_cast<unsigned char*>(address(at)));
}

void CpuImage::encode(std::span<const Float4> pixels, std::byte* to) const {
    if (encode_row_ != nullptr)
        return encode_row_(&pixels.data()->x, pixels.size(), reinterpret_cast<unsigned char*>(to));
    const std::size_t bytes = pixel_.stored.bytes;
    for (std::size_t i = 0; i < pixels.size(); ++i)
        std::memcpy(to + i * bytes, encode_pixel(texel_of(pixels[i], pixel_.stored), pixel_).word, bytes);
}

bool CpuJob::stores_fetches(std::size_t number) const {
    const CpuTexture& texture = textures[number];
    const TexelFormat& stored = image.format().stored;
    // The linear filter returns the canonical NaN only. That of 16 bits is another one than that of 32 bits.
    if (texture.format.encoding == Encoding::floating)
        return texture.sampler.filter == Filter::linear && stored.encoding == Encoding::floating &&
               stored.bits <= texture.format.bits;
    const auto is_fraction = [](Encoding encoding) {
        return encoding == Encoding::unorm || encoding == Encoding::snorm || encoding == Encoding::srgb;
    };
    const Encoding written = stored.encoding;
    return is_fraction(texture.format.encoding) && (is_fraction(written) || written == Encoding::floating);
}

bool CpuJob::exceeds_caches() const {
    constexpr std::size_t kInCaches = std::size_t{64} << 20;  // bytes that are assumed to fit into the caches
    std::size_t bytes = extent.width * extent.height * image.format().stored.bytes;
    for (std::size_t i = 0; i < textures.size(); ++i) {
        const auto texels = static_cast<std::size_t>(shapes[i].width) * static_cast<std::size_t>(shapes[i].height);
        bytes += texels * textures[i].format.bytes;
    }
    return bytes > kInCaches;
}

bool CpuJob::goes_past_caches() const { return is_four_floats(image.format().stored) && exceeds_caches(); }

std::size_t rows_of_tiles(const CpuJob& job, std::size_t columns, std::size_t minimum) {
    constexpr std::size_t kOfCore = 4;          // tiles per core, so that a late or slow core leaves some to others
    constexpr std::size_t kLeastPixels = 8192;  // smaller tiles take less time than it takes to wake another core
    const Extent& extent = job.extent;
    const std::size_t across = std::min(columns, extent.width);
    minimum = std::max(minimum, (kLeastPixels + across - 1) / across);
    const std::size_t beside = (extent.width + columns - 1) / columns * extent.depth;
    const std::size_t down = (kOfCore * cpu_cores() + beside - 1) / beside;
    return std::max(minimum, (job.rows + down - 1) / down);
}

std::size_t rows_of_quick_tiles(const CpuJob& job, std::size_t columns) {
    constexpr std::size_t kLeastBytes = std::size_t{64} << 10;
    const std::size_t of_row = std::min(columns, job.extent.width) * job.image.format().stored.bytes;
    return (kLeastBytes + of_row - 1) / of_row;
}

void for_each_tile(
    const CpuJob& job, std::size_t columns, std::size_t rows,
    const std::function<void(const PixelPosition& corner, std::size_t width, std::size_t height)>& make) {
    const Extent& extent = job.extent;
    const std::size_t across = (extent.width + columns - 1) / columns;
    const std::size_t down = (job.rows + rows - 1) / rows;
    run_in_parallel(across * down * extent.depth, [&](std::size_t tile) {
        const std::size_t x = tile % across * columns;
        const std::size_t y = tile / across % down * rows;
        const PixelPosition corner{static_cast<std::int32_t>(x), static_cast<std::int32_t>(job.first_row + y),
                                   static_cast<std::int32_t>(tile / across / down)};
        make(corner, std::min(columns, extent.width - x), std::min(rows, job.rows - y));
        hwy::FlushStream();
    });
}

}  // namespace texton::detail

// Swizzles on the CPU device: reorders bytes if texels and pixels have the same storage, else copies rows of channels.
#include <algorithm>
#include <cstring>

#include <texton/launch.h>

#include "kernels/cpu/byte_order.h"
#include "kernels/cpu/job.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/texel_rows.h"

namespace texton::detail {
namespace {

constexpr std::size_t kPiece = 65536;  // pixels, in whole rows

struct Swizzle {
    std::uint8_t from[4];

    /// Returns true if the codes of texels can be copied to pixels without decoding them.
    bool keeps_codes(const TexelFormat& texture, const TexelFormat& image) const {
        const bool alike = texture.encoding == image.encoding && texture.packing == Packing::plain &&
                           image.packing == Packing::plain && texture.bits == image.bits &&
                           texture.channels == image.channels && 16 % image.bytes == 0;
        if (!alike) return false;
        if (texture.encoding == Encoding::srgb) return keeps_linear(texture.channels);
        return texture.encoding == Encoding::unorm || texture.encoding == Encoding::floating;
    }

    // Returns true if linear channels of an sRGB format are copied to linear channels only, and colors to colors. Their
    // codes mean different values.
    bool keeps_linear(std::size_t channels) const {
        const auto is_linear = [&](std::size_t channel) { return channels > 1 && channel == channels - 1; };
        for (std::size_t c = 0; c < channels; ++c) {
            if (from[c] < channels && is_linear(from[c]) != is_linear(c)) return false;
        }
        return true;
    }

    // Channels that the format lacks are 0.
    ByteOrder order_of(const TexelFormat& format) const {
        const float one = 1;
        const std::uint16_t half_one = 0x3c00;
        std::uint8_t one_code[4] = {0xff, 0xff, 0xff, 0xff};
        if (format.encoding == Encoding::floating && format.bits == 32) std::memcpy(one_code, &one, sizeof one);
        if (format.encoding == Encoding::floating && format.bits == 16) std::memcpy(one_code, &half_one, 2);
        ByteOrder order{};
        const std::size_t of_channel = format.bits / 8u;
        for (std::size_t i = 0; i < 16; ++i) {
            const std::size_t channel = i / of_channel % format.channels;
            const std::size_t of_pixel = i - i % format.bytes;
            const bool is_texels = from[channel] < format.channels;
            order.from[i] =
                static_cast<std::uint8_t>(is_texels ? of_pixel + from[channel] * of_channel + i % of_channel : 0x80);
            order.set[i] = from[channel] == 5 ? one_code[i % of_channel] : 0;
        }
        return order;
    }

    void turn(const TexelPlanes& texels, std::size_t count, TexelPlanes& pixels) const {
        for (std::size_t c = 0; c < 4; ++c) {
            if (from[c] < 4) {
                std::copy_n(texels.channel[from[c]], count, pixels.channel[c]);
            } else {
                std::fill_n(pixels.channel[c], count, from[c] == 5 ? 1.0f : 0.0f);
            }
        }
    }
};

void swizzle_rows(const CpuJob& job, const Swizzle& swizzle, PixelPosition at, std::size_t width, std::size_t height) {
    const TexelRows rows(job.textures[0], job.shapes[0], at.z);
    const TexelFormat& format = job.textures[0].format;
    const bool keeps_codes = rows.are_stored() && swizzle.keeps_codes(format, job.image.format().stored);
    const ReorderBytes reorder = keeps_codes ? byte_reorderer(format) : nullptr;
    const ByteOrder order = swizzle.order_of(format);
    const bool past_caches = job.exceeds_caches();
    for (std::size_t y = 0; y < height; ++y, ++at.y) {
        at.x = 0;
        if (reorder != nullptr) {
            reorder(order, rows.stored(0, at.y), width * format.bytes,
                    reinterpret_cast<unsigned char*>(job.image.address(at)), past_caches);
            continue;
        }
        for (std::size_t x = 0; x < width; x += TexelPlanes::kMax) {
            TexelPlanes texels;
            TexelPlanes pixels;
            const std::size_t length = std::min(TexelPlanes::kMax, width - x);
            at.x = static_cast<std::int32_t>(x);
            rows.centers(at.x, at.y, length, texels);
            swizzle.turn(texels, length, pixels);
            job.image.store(at, pixels, length);
        }
    }
}

}  // namespace

bool CpuKernels::swizzle(Launch& launch, const std::uint8_t (&from)[4]) const {
    const Swizzle swizzle{{from[0], from[1], from[2], from[3]}};
    launch.run_job([swizzle](const CpuJob& job) {
        const std::size_t rows = std::max<std::size_t>(1, kPiece / job.extent.width);
        for_each_tile(job, job.extent.width, rows,
                      [&](const PixelPosition& corner, std::size_t width, std::size_t height) {
                          swizzle_rows(job, swizzle, corner, width, height);
                      });
    });
    return true;
}

}  // namespace texton::detail

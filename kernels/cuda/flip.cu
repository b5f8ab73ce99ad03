#include "kernels/cuda/flip.h"

#include "kernels/cuda/over_warp.h"
#include "kernels/metrics/weighted_sum.h"

namespace texton::detail {
namespace {

constexpr unsigned kThreads = FlipBlocks::kThreads;

__device__ std::uint64_t column() { return std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; }

__device__ std::uint64_t plane_size(const ComparedImages& images, const FlipStrip& strip) {
    return images.width * strip.all_rows;
}

/// Returns a row of a plane of an image.
__device__ float* row_of(float* planes, unsigned planes_of_image, unsigned plane, unsigned image, unsigned row,
                         const ComparedImages& images, const FlipStrip& strip) {
    return planes + (image * planes_of_image + plane) * plane_size(images, strip) + row * images.width;
}

__device__ float light_of_channel(const CodeFormat& format, const FlipStrip& strip, const std::byte* texel,
                                  unsigned color) {
    const unsigned channel = format.channels() == 1 ? 0 : color;
    if (channel >= format.channels()) return format.is_float() ? tone_mapped(0) : 0;
    const std::uint32_t code = format.code(texel, channel);
    if (format.is_float()) return tone_mapped(light_of(format.value(code, channel)) * strip.exposure);
    return strip.lights != nullptr ? strip.lights[code] : light_of_code(format, code);
}

__global__ void __launch_bounds__(kThreads)
    compute_opponents(const __grid_constant__ ComparedImages images, const __grid_constant__ FlipStrip strip,
                      const __grid_constant__ FlipColors colors) {
    const std::uint64_t x = column();
    if (x >= images.width) return;
    const unsigned row = blockIdx.y, image = blockIdx.z;
    const std::int64_t wanted = static_cast<std::int64_t>(strip.y + row) - strip.rim;
    const auto last = static_cast<std::int64_t>(images.height) - 1;
    const std::int64_t y = wanted < 0 ? 0 : wanted > last ? last : wanted;
    const ComparedImage& from = image == 0 ? images.a : images.b;
    const std::byte* const texel = from.at(images.format, x, static_cast<std::uint64_t>(y), strip.z);
    Rgb rgb;
    for (unsigned c = 0; c < 3; ++c) rgb[c] = light_of_channel(images.format, strip, texel, c);
    const Rgb opponent = colors.opponent(rgb);
    for (unsigned c = 0; c < 3; ++c)
        row_of(strip.opponents, FlipStrip::kOpponents, c, image, row, images, strip)[x] = opponent[c];
}

__global__ void __launch_bounds__(kThreads)
    filter_rows(const __grid_constant__ ComparedImages images, const __grid_constant__ FlipStrip strip,
                const __grid_constant__ DeviceFilters filters) {
    const std::uint64_t x = column();
    if (x >= images.width) return;
    const unsigned row = blockIdx.y, image = blockIdx.z;
    const auto last = static_cast<std::int64_t>(images.width) - 1;
    const auto from = [&](unsigned plane) {
        return row_of(strip.opponents, FlipStrip::kOpponents, plane, image, row, images, strip);
    };
    const auto filter = [&](const DeviceTaps& taps, const auto& value) {
        const std::int64_t first = static_cast<std::int64_t>(x) - taps.count / 2;
        return weighted_sum(taps.weights, taps.count, taps.mirror, [&](std::size_t k) {
            const std::int64_t at = first + k;
            return value(at < 0 ? 0 : at > last ? last : at);
        });
    };
    const auto store = [&](unsigned plane, float value) {
        row_of(strip.filtered, FlipStrip::kFiltered, plane, image, row, images, strip)[x] = value;
    };
    for (unsigned i = 0; i < 4; ++i) {
        const float* const values = from(i < 2 ? i : 2);
        store(i, filter(filters.across[i], [&](std::int64_t at) { return values[at]; }));
    }
    const float* const luminances = from(0);
    const auto luminance = [&](std::int64_t at) { return FlipColors::luminance_of(luminances[at]); };
    store(4, filter(filters.smooth, luminance));
    store(5, filter(filters.edge, luminance));
    store(6, filter(filters.point, luminance));
}

/// What the eye sees of a texel of one image.
struct Seen {
    Rgb lab;
    float edges;
    float points;
};

__device__ Seen seen(const ComparedImages& images, const FlipStrip& strip, const FlipColors& colors,
                     const DeviceFilters& filters, unsigned image, unsigned row, std::uint64_t x) {
    const auto filter = [&](unsigned plane, const DeviceTaps& taps) {
        const float* const values = row_of(strip.filtered, FlipStrip::kFiltered, plane, image,
                                           row + strip.rim - taps.count / 2, images, strip) +
                                    x;
        return weighted_sum(taps.weights, taps.count, taps.mirror,
                            [&](std::size_t k) { return values[k * images.width]; });
    };
    float opponents[4];
    for (unsigned i = 0; i < 4; ++i) opponents[i] = filter(i, filters.down[i]);
    const auto strength = [&](unsigned plane, const DeviceTaps& along) {
        const float across = filter(plane, filters.smooth), down = filter(4, along);
        return sqrtf(across * across + down * down);
    };
    return {colors.lab({opponents[0], opponents[1], opponents[2] + opponents[3]}), strength(5, filters.edge),
            strength(6, filters.point)};
}

__global__ void __launch_bounds__(kThreads)
    compute_errors(const __grid_constant__ ComparedImages images, const __grid_constant__ FlipStrip strip,
                   const __grid_constant__ FlipColors colors, const __grid_constant__ DeviceFilters filters) {
    const std::uint64_t x = column();
    if (x >= images.width) return;
    const unsigned row = blockIdx.y;
    const Seen a = seen(images, strip, colors, filters, 0, row, x);
    const Seen b = seen(images, strip, colors, filters, 1, row, x);
    const float error = colors.error(a.lab, b.lab, fabsf(a.edges - b.edges), fabsf(a.points - b.points));
    float& to = strip.errors[row * images.width + x];
    if (strip.is_first || error > to) to = error;
}

__device__ bool compares_special_values(const ComparedImages& images, const std::byte* a, const std::byte* b) {
    const CodeFormat& format = images.format;
    for (unsigned c = 0; c < format.channels() && c < 3; ++c) {
        const std::uint32_t one = format.code(a, c), other = format.code(b, c);
        if (one != other && (!format.is_finite(one) || !format.is_finite(other))) return true;
    }
    return false;
}

__global__ void __launch_bounds__(kThreads) add_errors(const __grid_constant__ ComparedImages images,
                                                       const __grid_constant__ FlipStrip strip, FlipSums* result) {
    const std::uint64_t x = column();
    const unsigned row = blockIdx.y;
    float error = 0;
    if (x < images.width) {
        float& of_texel = strip.errors[row * images.width + x];
        const std::uint64_t y = strip.y + row;
        if (images.format.is_float() && compares_special_values(images, images.a.at(images.format, x, y, strip.z),
                                                                images.b.at(images.format, x, y, strip.z)))
            of_texel = 1;
        error = of_texel;
    }
    const auto fixed = static_cast<unsigned long long>(static_cast<double>(error) * 0x1p32);
    const unsigned long long sum = over_warp(fixed, Sum{});
    const unsigned max = over_warp(__float_as_uint(error), Largest{});  // errors are not negative: ordered as bits
    if (threadIdx.x % 32 != 0 || sum == 0) return;
    atomicAdd(&result->errors, sum);
    atomicMax(&result->max_bits, max);
}

__global__ void __launch_bounds__(kThreads)
    count_luminances(const __grid_constant__ ComparedImages images, const LuminanceWeights weights,
                     const unsigned upper, LuminanceCounts* result) {
    const CodeFormat& format = images.format;
    const std::uint64_t texels = images.texels(), step = std::uint64_t{gridDim.x} * kThreads;
    unsigned max = 0;
    for (std::uint64_t i = column(); i < texels; i += step) {
        const std::uint64_t row = i / images.width;
        const std::byte* const texel =
            images.a.at(format, i - row * images.width, row % images.height, row / images.height);
        bool is_finite = true;
        for (unsigned c = 0; c < format.channels() && c < 3; ++c)
            is_finite = is_finite && format.is_finite(format.code(texel, c));
        if (!is_finite) continue;
        const float luminance = luminance_of_light(
            weights, format.channels(), [&](std::size_t c) { return format.value(format.code(texel, c), c); });
        const unsigned bits = __float_as_uint(luminance);
        if (bits > max) max = bits;
        if (upper == LuminanceCounts::kAll)
            atomicAdd(&result->counts[bits >> 16], 1u);
        else if (bits >> 16 == upper)
            atomicAdd(&result->counts[bits & 0xffffu], 1u);
    }
    max = over_warp(max, Largest{});
    if (threadIdx.x % 32 == 0) atomicMax(&result->max_bits, max);
}

}  // namespace

const void* flip_opponents_kernel() { return reinterpret_cast<const void*>(&compute_opponents); }
const void* flip_rows_kernel() { return reinterpret_cast<const void*>(&filter_rows); }
const void* flip_errors_kernel() { return reinterpret_cast<const void*>(&compute_errors); }
const void* flip_sums_kernel() { return reinterpret_cast<const void*>(&add_errors); }
const void* count_luminances_kernel() { return reinterpret_cast<const void*>(&count_luminances); }

}  // namespace texton::detail

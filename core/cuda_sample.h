#pragma once
// The kernel behind Backend::sample, for the host compiler to launch.
#include <cstdint>

namespace texton::detail {

/// How a fetch returns texels: as floats, or as integers, which are then turned into floats.
enum class Reading : std::uint8_t { floating, unsigned_integer, signed_integer };

/// The kernel, for cudaLaunchKernel. Its arguments: cudaTextureObject_t texture, const float2* coordinates, float4*
/// results, unsigned long long count, int channels. Any launch shape covers all points. Channels that the format lacks
/// are 0, and 1 for alpha.
const void* sample_kernel(Reading reading) noexcept;

}  // namespace texton::detail

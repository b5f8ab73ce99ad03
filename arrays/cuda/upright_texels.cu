#include "arrays/cuda/upright_texels.h"

namespace texton::detail {
namespace {

template <bool has_colors>
__global__ void to_upright(const UprightMove move) {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= move.width || y >= move.height) return;
    const unsigned u = move.turn.reversed_x ? move.width - 1 - x : x;
    const unsigned v = move.turn.reversed_y ? move.height - 1 - y : y;
    const std::size_t from_x = move.turn.transposed ? v : u;
    const std::size_t from_y = move.turn.transposed ? u : v;
    const unsigned char* row = move.from + from_y * move.from_pitch;
    unsigned char* to = move.to + y * move.to_pitch;
    if constexpr (has_colors) {
        const unsigned char* texel = row + 3 * from_x;
        reinterpret_cast<uchar4*>(to)[x] = make_uchar4(texel[0], texel[1], texel[2], 255);
    } else {
        to[x] = row[from_x];
    }
}

}  // namespace

const void* upright_kernel(bool has_colors) noexcept {
    return has_colors ? reinterpret_cast<const void*>(&to_upright<true>)
                      : reinterpret_cast<const void*>(&to_upright<false>);
}

}  // namespace texton::detail

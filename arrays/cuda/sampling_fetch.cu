// CUDA kernels for fetches: one for each operation and kind of texture, with and without residency.
#include <texton/cuda_fetch.h>

#include "arrays/cuda/sampling.h"

namespace texton::detail {
namespace {

template <FetchOperation operation, ArrayKind kind, bool residency>
__global__ void fetch_points(cudaTextureObject_t texture, const FetchPoint* points, uint4* texels,
                             std::uint8_t* resident, unsigned count, int component) {
    const unsigned step = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        if constexpr (residency) {
            bool found = false;
            texels[i] = fetch_words<operation, kind>(texture, points[i], component, &found);
            resident[i] = found;
        } else {
            texels[i] = fetch_words<operation, kind>(texture, points[i], component);
        }
    }
}

template <FetchOperation operation, ArrayKind kind, bool residency>
const void* kernel() noexcept {
    if constexpr (has_fetch(operation, kind, residency)) {
        return reinterpret_cast<const void*>(&fetch_points<operation, kind, residency>);
    } else {
        return nullptr;
    }
}

template <FetchOperation operation, bool residency>
const void* kernel(ArrayKind kind) noexcept {
    switch (kind) {
        case ArrayKind::array_1d: return kernel<operation, ArrayKind::array_1d, residency>();
        case ArrayKind::array_2d: return kernel<operation, ArrayKind::array_2d, residency>();
        case ArrayKind::array_3d: return kernel<operation, ArrayKind::array_3d, residency>();
        case ArrayKind::layered_1d: return kernel<operation, ArrayKind::layered_1d, residency>();
        case ArrayKind::layered_2d: return kernel<operation, ArrayKind::layered_2d, residency>();
        case ArrayKind::cubemap: return kernel<operation, ArrayKind::cubemap, residency>();
        case ArrayKind::cubemap_layered: return kernel<operation, ArrayKind::cubemap_layered, residency>();
    }
    return nullptr;
}

template <bool residency>
const void* kernel(FetchOperation operation, ArrayKind kind) noexcept {
    switch (operation) {
        case FetchOperation::plain: return kernel<FetchOperation::plain, residency>(kind);
        case FetchOperation::lod: return kernel<FetchOperation::lod, residency>(kind);
        case FetchOperation::gradients: return kernel<FetchOperation::gradients, residency>(kind);
        case FetchOperation::gather: return kernel<FetchOperation::gather, residency>(kind);
        case FetchOperation::texel: return kernel<FetchOperation::texel, residency>(kind);
    }
    return nullptr;
}

}  // namespace

const void* fetch_kernel(FetchOperation operation, ArrayKind kind, bool residency) noexcept {
    return residency ? kernel<true>(operation, kind) : kernel<false>(operation, kind);
}

}  // namespace texton::detail

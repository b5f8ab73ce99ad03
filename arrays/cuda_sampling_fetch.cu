// Kernels of fetches: one for each operation, kind of texture, type of channels, and with or without residency.
#include "arrays/cuda_sampling.h"

namespace texton::detail {
namespace {

__device__ uint4 words(uint4 texel) { return texel; }
__device__ uint4 words(float4 texel) {
    return make_uint4(__float_as_uint(texel.x), __float_as_uint(texel.y), __float_as_uint(texel.z),
                      __float_as_uint(texel.w));
}

__device__ float2 plane(const float (&change)[3]) { return make_float2(change[0], change[1]); }
__device__ float4 space(const float (&change)[3]) { return make_float4(change[0], change[1], change[2], 0); }

/// True for the kinds that have sparse arrays, whose fetches say what is resident.
constexpr bool may_be_sparse(ArrayKind kind) {
    return kind == ArrayKind::array_2d || kind == ArrayKind::array_3d || kind == ArrayKind::layered_2d;
}

constexpr bool exists(FetchOperation operation, ArrayKind kind, bool residency) {
    if (residency && !may_be_sparse(kind)) return false;
    switch (operation) {
        case FetchOperation::plain:
        case FetchOperation::lod:
        case FetchOperation::gradients: return true;
        case FetchOperation::gather: return kind == ArrayKind::array_2d;
        case FetchOperation::texel: return kind == ArrayKind::array_1d;
    }
    return false;
}

// `resident` is nothing, or one bool*.
template <ArrayKind kind, class Channels, class... Resident>
__device__ Channels fetch_plain(cudaTextureObject_t texture, const FetchPoint& at, Resident*... resident) {
    if constexpr (kind == ArrayKind::array_1d) return tex1D<Channels>(texture, at.x);
    if constexpr (kind == ArrayKind::array_2d) return tex2D<Channels>(texture, at.x, at.y, resident...);
    if constexpr (kind == ArrayKind::array_3d) return tex3D<Channels>(texture, at.x, at.y, at.z, resident...);
    if constexpr (kind == ArrayKind::layered_1d) return tex1DLayered<Channels>(texture, at.x, at.layer);
    if constexpr (kind == ArrayKind::layered_2d)
        return tex2DLayered<Channels>(texture, at.x, at.y, at.layer, resident...);
    if constexpr (kind == ArrayKind::cubemap) return texCubemap<Channels>(texture, at.x, at.y, at.z);
    if constexpr (kind == ArrayKind::cubemap_layered)
        return texCubemapLayered<Channels>(texture, at.x, at.y, at.z, at.layer);
}

template <ArrayKind kind, class Channels, class... Resident>
__device__ Channels fetch_lod(cudaTextureObject_t texture, const FetchPoint& at, Resident*... resident) {
    if constexpr (kind == ArrayKind::array_1d) return tex1DLod<Channels>(texture, at.x, at.lod);
    if constexpr (kind == ArrayKind::array_2d) return tex2DLod<Channels>(texture, at.x, at.y, at.lod, resident...);
    if constexpr (kind == ArrayKind::array_3d)
        return tex3DLod<Channels>(texture, at.x, at.y, at.z, at.lod, resident...);
    if constexpr (kind == ArrayKind::layered_1d) return tex1DLayeredLod<Channels>(texture, at.x, at.layer, at.lod);
    if constexpr (kind == ArrayKind::layered_2d)
        return tex2DLayeredLod<Channels>(texture, at.x, at.y, at.layer, at.lod, resident...);
    if constexpr (kind == ArrayKind::cubemap) return texCubemapLod<Channels>(texture, at.x, at.y, at.z, at.lod);
    if constexpr (kind == ArrayKind::cubemap_layered)
        return texCubemapLayeredLod<Channels>(texture, at.x, at.y, at.z, at.layer, at.lod);
}

template <ArrayKind kind, class Channels, class... Resident>
__device__ Channels fetch_gradients(cudaTextureObject_t texture, const FetchPoint& at, Resident*... resident) {
    if constexpr (kind == ArrayKind::array_1d) return tex1DGrad<Channels>(texture, at.x, at.dx[0], at.dy[0]);
    if constexpr (kind == ArrayKind::array_2d)
        return tex2DGrad<Channels>(texture, at.x, at.y, plane(at.dx), plane(at.dy), resident...);
    if constexpr (kind == ArrayKind::array_3d)
        return tex3DGrad<Channels>(texture, at.x, at.y, at.z, space(at.dx), space(at.dy), resident...);
    if constexpr (kind == ArrayKind::layered_1d)
        return tex1DLayeredGrad<Channels>(texture, at.x, at.layer, at.dx[0], at.dy[0]);
    if constexpr (kind == ArrayKind::layered_2d)
        return tex2DLayeredGrad<Channels>(texture, at.x, at.y, at.layer, plane(at.dx), plane(at.dy), resident...);
    if constexpr (kind == ArrayKind::cubemap)
        return texCubemapGrad<Channels>(texture, at.x, at.y, at.z, space(at.dx), space(at.dy));
    if constexpr (kind == ArrayKind::cubemap_layered)
        return texCubemapLayeredGrad<Channels>(texture, at.x, at.y, at.z, at.layer, space(at.dx), space(at.dy));
}

template <FetchOperation operation, ArrayKind kind, class Channels, class... Resident>
__device__ Channels fetch(cudaTextureObject_t texture, const FetchPoint& at, int component, Resident*... resident) {
    if constexpr (operation == FetchOperation::plain) return fetch_plain<kind, Channels>(texture, at, resident...);
    if constexpr (operation == FetchOperation::lod) return fetch_lod<kind, Channels>(texture, at, resident...);
    if constexpr (operation == FetchOperation::gradients)
        return fetch_gradients<kind, Channels>(texture, at, resident...);
    if constexpr (operation == FetchOperation::gather)
        return tex2Dgather<Channels>(texture, at.x, at.y, resident..., component);
    if constexpr (operation == FetchOperation::texel) return tex1Dfetch<Channels>(texture, at.layer);
}

template <FetchOperation operation, ArrayKind kind, class Channels, bool residency>
__global__ void fetch_points(cudaTextureObject_t texture, const FetchPoint* points, uint4* texels,
                             std::uint8_t* resident, unsigned count, int component) {
    const unsigned step = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        if constexpr (residency) {
            bool found = false;
            texels[i] = words(fetch<operation, kind, Channels>(texture, points[i], component, &found));
            resident[i] = found;
        } else {
            texels[i] = words(fetch<operation, kind, Channels>(texture, points[i], component));
        }
    }
}

template <FetchOperation operation, ArrayKind kind, class Channels, bool residency>
const void* kernel() noexcept {
    if constexpr (exists(operation, kind, residency)) {
        return reinterpret_cast<const void*>(&fetch_points<operation, kind, Channels, residency>);
    } else {
        return nullptr;
    }
}

template <FetchOperation operation, class Channels, bool residency>
const void* kernel(ArrayKind kind) noexcept {
    switch (kind) {
        case ArrayKind::array_1d: return kernel<operation, ArrayKind::array_1d, Channels, residency>();
        case ArrayKind::array_2d: return kernel<operation, ArrayKind::array_2d, Channels, residency>();
        case ArrayKind::array_3d: return kernel<operation, ArrayKind::array_3d, Channels, residency>();
        case ArrayKind::layered_1d: return kernel<operation, ArrayKind::layered_1d, Channels, residency>();
        case ArrayKind::layered_2d: return kernel<operation, ArrayKind::layered_2d, Channels, residency>();
        case ArrayKind::cubemap: return kernel<operation, ArrayKind::cubemap, Channels, residency>();
        case ArrayKind::cubemap_layered: return kernel<operation, ArrayKind::cubemap_layered, Channels, residency>();
    }
    return nullptr;
}

template <class Channels, bool residency>
const void* kernel(FetchOperation operation, ArrayKind kind) noexcept {
    switch (operation) {
        case FetchOperation::plain: return kernel<FetchOperation::plain, Channels, residency>(kind);
        case FetchOperation::lod: return kernel<FetchOperation::lod, Channels, residency>(kind);
        case FetchOperation::gradients: return kernel<FetchOperation::gradients, Channels, residency>(kind);
        case FetchOperation::gather: return kernel<FetchOperation::gather, Channels, residency>(kind);
        case FetchOperation::texel: return kernel<FetchOperation::texel, Channels, residency>(kind);
    }
    return nullptr;
}

}  // namespace

const void* fetch_kernel(FetchOperation operation, ArrayKind kind, bool integers, bool residency) noexcept {
    // A register of the texture unit has no sign: uint4 takes the words of signed channels as well.
    if (integers) return residency ? kernel<uint4, true>(operation, kind) : kernel<uint4, false>(operation, kind);
    return residency ? kernel<float4, true>(operation, kind) : kernel<float4, false>(operation, kind);
}

}  // namespace texton::detail

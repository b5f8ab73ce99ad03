#pragma once
// All texture fetches of CUDA behind one function template, for code that nvcc compiles.
#include <cuda_runtime.h>

#include <texton/array_info.h>
#include <texton/fetch.h>

namespace texton {

/// Returns true if CUDA has this fetch. Only fetches of array_2d, array_3d and layered_2d, the kinds of sparse arrays,
/// can return the residency.
constexpr bool has_fetch(FetchOperation operation, ArrayKind kind, bool residency) {
    const bool may_be_sparse =
        kind == ArrayKind::array_2d || kind == ArrayKind::array_3d || kind == ArrayKind::layered_2d;
    if (residency && !may_be_sparse) return false;
    switch (operation) {
        case FetchOperation::plain:
        case FetchOperation::lod:
        case FetchOperation::gradients: return true;
        case FetchOperation::gather: return kind == ArrayKind::array_2d;
        case FetchOperation::texel: return kind == ArrayKind::array_1d;
    }
    return false;
}

namespace detail {

// In these functions `resident` is empty or one bool*, which receives the residency.
template <ArrayKind kind, class... Resident>
__device__ uint4 fetch_plain(cudaTextureObject_t texture, const FetchPoint& at, Resident*... resident) {
    if constexpr (kind == ArrayKind::array_1d) return tex1D<uint4>(texture, at.x);
    if constexpr (kind == ArrayKind::array_2d) return tex2D<uint4>(texture, at.x, at.y, resident...);
    if constexpr (kind == ArrayKind::array_3d) return tex3D<uint4>(texture, at.x, at.y, at.z, resident...);
    if constexpr (kind == ArrayKind::layered_1d) return tex1DLayered<uint4>(texture, at.x, at.layer);
    if constexpr (kind == ArrayKind::layered_2d) return tex2DLayered<uint4>(texture, at.x, at.y, at.layer, resident...);
    if constexpr (kind == ArrayKind::cubemap) return texCubemap<uint4>(texture, at.x, at.y, at.z);
    if constexpr (kind == ArrayKind::cubemap_layered)
        return texCubemapLayered<uint4>(texture, at.x, at.y, at.z, at.layer);
}

template <ArrayKind kind, class... Resident>
__device__ uint4 fetch_lod(cudaTextureObject_t texture, const FetchPoint& at, Resident*... resident) {
    if constexpr (kind == ArrayKind::array_1d) return tex1DLod<uint4>(texture, at.x, at.lod);
    if constexpr (kind == ArrayKind::array_2d) return tex2DLod<uint4>(texture, at.x, at.y, at.lod, resident...);
    if constexpr (kind == ArrayKind::array_3d) return tex3DLod<uint4>(texture, at.x, at.y, at.z, at.lod, resident...);
    if constexpr (kind == ArrayKind::layered_1d) return tex1DLayeredLod<uint4>(texture, at.x, at.layer, at.lod);
    if constexpr (kind == ArrayKind::layered_2d)
        return tex2DLayeredLod<uint4>(texture, at.x, at.y, at.layer, at.lod, resident...);
    if constexpr (kind == ArrayKind::cubemap) return texCubemapLod<uint4>(texture, at.x, at.y, at.z, at.lod);
    if constexpr (kind == ArrayKind::cubemap_layered)
        return texCubemapLayeredLod<uint4>(texture, at.x, at.y, at.z, at.layer, at.lod);
}

__device__ inline float2 plane(const float (&change)[3]) { return make_float2(change[0], change[1]); }
__device__ inline float4 space(const float (&change)[3]) { return make_float4(change[0], change[1], change[2], 0); }

template <ArrayKind kind, class... Resident>
__device__ uint4 fetch_gradients(cudaTextureObject_t texture, const FetchPoint& at, Resident*... resident) {
    if constexpr (kind == ArrayKind::array_1d) return tex1DGrad<uint4>(texture, at.x, at.dx[0], at.dy[0]);
    if constexpr (kind == ArrayKind::array_2d)
        return tex2DGrad<uint4>(texture, at.x, at.y, plane(at.dx), plane(at.dy), resident...);
    if constexpr (kind == ArrayKind::array_3d)
        return tex3DGrad<uint4>(texture, at.x, at.y, at.z, space(at.dx), space(at.dy), resident...);
    if constexpr (kind == ArrayKind::layered_1d)
        return tex1DLayeredGrad<uint4>(texture, at.x, at.layer, at.dx[0], at.dy[0]);
    if constexpr (kind == ArrayKind::layered_2d)
        return tex2DLayeredGrad<uint4>(texture, at.x, at.y, at.layer, plane(at.dx), plane(at.dy), resident...);
    if constexpr (kind == ArrayKind::cubemap)
        return texCubemapGrad<uint4>(texture, at.x, at.y, at.z, space(at.dx), space(at.dy));
    if constexpr (kind == ArrayKind::cubemap_layered)
        return texCubemapLayeredGrad<uint4>(texture, at.x, at.y, at.z, at.layer, space(at.dx), space(at.dy));
}

}  // namespace detail

/// Returns the four words that a fetch returns. The words contain floats or integers according to the format of the
/// texture. The template argument `uint4` of the CUDA functions does not convert them. `component` is used by gather
/// only. `resident` is empty or one bool*, which receives true if all texels of the fetch have memory. The combination
/// must satisfy has_fetch().
template <FetchOperation operation, ArrayKind kind, class... Resident>
__device__ uint4 fetch_words(cudaTextureObject_t texture, const FetchPoint& at, int component, Resident*... resident) {
    if constexpr (operation == FetchOperation::plain) return detail::fetch_plain<kind>(texture, at, resident...);
    if constexpr (operation == FetchOperation::lod) return detail::fetch_lod<kind>(texture, at, resident...);
    if constexpr (operation == FetchOperation::gradients)
        return detail::fetch_gradients<kind>(texture, at, resident...);
    if constexpr (operation == FetchOperation::gather)
        return tex2Dgather<uint4>(texture, at.x, at.y, resident..., component);
    if constexpr (operation == FetchOperation::texel) return tex1Dfetch<uint4>(texture, at.layer);
}

}  // namespace texton

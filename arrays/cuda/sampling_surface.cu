// CUDA kernels for surfaces. Positions are checked here before the access, so the same rule applies to x, y and z, to
// layers and to faces.
#include "arrays/cuda/sampling.h"

namespace texton::detail {
namespace {

// All accesses are inside the surface. Unlike cudaBoundaryModeTrap, this mode cannot end the CUDA kernel.
constexpr cudaSurfaceBoundaryMode kMode = cudaBoundaryModeZero;

template <class T, ArrayKind kind>
__device__ T read_texel(cudaSurfaceObject_t surface, const SurfacePoint& at) {
    const int x = at.x * static_cast<int>(sizeof(T));
    if constexpr (kind == ArrayKind::array_1d) return surf1Dread<T>(surface, x, kMode);
    if constexpr (kind == ArrayKind::array_2d) return surf2Dread<T>(surface, x, at.y, kMode);
    if constexpr (kind == ArrayKind::array_3d) return surf3Dread<T>(surface, x, at.y, at.z, kMode);
    if constexpr (kind == ArrayKind::layered_1d) return surf1DLayeredread<T>(surface, x, at.z, kMode);
    if constexpr (kind == ArrayKind::layered_2d) return surf2DLayeredread<T>(surface, x, at.y, at.z, kMode);
}

template <class T, ArrayKind kind>
__device__ void write_texel(T texel, cudaSurfaceObject_t surface, const SurfacePoint& at) {
    const int x = at.x * static_cast<int>(sizeof(T));
    if constexpr (kind == ArrayKind::array_1d) surf1Dwrite(texel, surface, x, kMode);
    if constexpr (kind == ArrayKind::array_2d) surf2Dwrite(texel, surface, x, at.y, kMode);
    if constexpr (kind == ArrayKind::array_3d) surf3Dwrite(texel, surface, x, at.y, at.z, kMode);
    if constexpr (kind == ArrayKind::layered_1d) surf1DLayeredwrite(texel, surface, x, at.z, kMode);
    if constexpr (kind == ArrayKind::layered_2d) surf2DLayeredwrite(texel, surface, x, at.y, at.z, kMode);
}

/// Moves a point to the texel to access. Returns false if there is no access.
__device__ bool resolve(SurfacePoint& at, const SurfaceSize& size, Boundary boundary) {
    if (boundary == Boundary::zero) return is_inside(at, size);
    at = nearest_inside(at, size);
    return true;
}

template <class T, ArrayKind kind>
__global__ void read_points(cudaSurfaceObject_t surface, const SurfacePoint* points, T* texels, unsigned count,
                            SurfaceSize size, Boundary boundary) {
    const unsigned step = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        SurfacePoint at = points[i];
        texels[i] = resolve(at, size, boundary) ? read_texel<T, kind>(surface, at) : T{};
    }
}

template <class T, ArrayKind kind>
__global__ void write_points(cudaSurfaceObject_t surface, const SurfacePoint* points, const T* texels, unsigned count,
                             SurfaceSize size, Boundary boundary) {
    const unsigned step = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        SurfacePoint at = points[i];
        if (resolve(at, size, boundary)) write_texel<T, kind>(texels[i], surface, at);
    }
}

struct Kernels {
    const void* read;
    const void* write;
};

template <class T, ArrayKind kind>
Kernels kernels() noexcept {
    return {reinterpret_cast<const void*>(&read_points<T, kind>),
            reinterpret_cast<const void*>(&write_points<T, kind>)};
}

template <ArrayKind kind>
Kernels kernels(int texel_bytes) noexcept {
    switch (texel_bytes) {
        case 1: return kernels<unsigned char, kind>();
        case 2: return kernels<unsigned short, kind>();
        case 4: return kernels<unsigned int, kind>();
        case 8: return kernels<uint2, kind>();
        default: return kernels<uint4, kind>();
    }
}

Kernels kernels(ArrayKind kind, int texel_bytes) noexcept {
    switch (kind) {
        case ArrayKind::array_1d: return kernels<ArrayKind::array_1d>(texel_bytes);
        case ArrayKind::array_2d: return kernels<ArrayKind::array_2d>(texel_bytes);
        case ArrayKind::array_3d: return kernels<ArrayKind::array_3d>(texel_bytes);
        case ArrayKind::layered_1d: return kernels<ArrayKind::layered_1d>(texel_bytes);
        case ArrayKind::layered_2d:
        case ArrayKind::cubemap:
        case ArrayKind::cubemap_layered: break;  // faces are layers
    }
    return kernels<ArrayKind::layered_2d>(texel_bytes);
}

}  // namespace

const void* surface_read_kernel(ArrayKind kind, int texel_bytes) noexcept { return kernels(kind, texel_bytes).read; }
const void* surface_write_kernel(ArrayKind kind, int texel_bytes) noexcept { return kernels(kind, texel_bytes).write; }

}  // namespace texton::detail

#include "arrays/cuda/grids.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "arrays/cuda/sampling.h"
#include "arrays/sampling.h"
#include "core/cuda/array.h"

namespace texton::detail {
namespace {

// Formats with one or four 32-bit words per texel. For two words, touching is slower than direct fetches.
std::optional<TouchedTexels> touched_texels(Format format) noexcept {
    switch (format) {
        case Format::rgba8_unorm: return TouchedTexels::unorm8_x4;
        case Format::r32_float: return TouchedTexels::float32_x1;
        case Format::rgba32_float: return TouchedTexels::float32_x4;
        default: return std::nullopt;
    }
}

constexpr unsigned kMaxBlocks = 65535;  // limit of the grid in y

unsigned blocks_of(unsigned size, unsigned of_block) { return (size + of_block - 1) / of_block; }

void sample_fetched(const NativeTexture& texture, AffineMap map, PixelTarget image, cudaStream_t on) {
    cudaTextureObject_t object = texture.value;
    void* arguments[] = {&object, &map, &image};
    const unsigned down = blocks_of(image.height, kGridTile);
    const unsigned rows = std::min(down, kMaxBlocks);
    const dim3 grid{blocks_of(image.width, kGridTile), rows, blocks_of(down, rows)};
    call<cudaLaunchKernel>(grid_kernel(texture.kind), grid, dim3{kGridTile, kGridRows, 1}, arguments, std::size_t{0},
                           on);
}

}  // namespace

std::optional<TouchedTexture> touched_texture(const TextureRequest& request) noexcept {
    const Sampler& sampler = request.sampler;
    const ArrayInfo& array = request.array->info;
    const bool one_level = request.range.levels == 1 && sampler.max_anisotropy < 2;
    const auto texels = touched_texels(request.format);
    if (!texels || !one_level || sampler.filter != Filter::linear) return std::nullopt;
    if (array.kind != ArrayKind::array_2d && array.kind != ArrayKind::layered_2d) return std::nullopt;
    const Extent extent = level_extent(array, request.range.first_level);
    const auto units = [&](std::size_t side) { return sampler.normalized_coordinates ? static_cast<float>(side) : 1; };
    return TouchedTexture{*texels, request.format, packed_bytes(request.format, {extent.width, extent.height}),
                          units(extent.width), units(extent.height)};
}

void CudaGrids::load() {
    std::call_once(loaded_, [] {
        for (const ArrayKind kind : {ArrayKind::array_2d, ArrayKind::layered_2d}) {
            cudaFuncAttributes unused{};
            call<cudaFuncGetAttributes>(&unused, grid_kernel(kind));
            using enum TouchedTexels;
            for (const TouchedTexels texels : {unorm8_x4, float32_x1, float32_x4})
                call<cudaFuncGetAttributes>(&unused, touched_kernel(kind, texels).function);
        }
    });
}

void CudaGrids::enqueue(const NativeTexture& texture, const GridRequest& request, cudaStream_t on) {
    load();
    PixelTarget image = cuda_pixel_target(*request.image);
    image.format.from_signed = request.from_signed;
    if (!sample_touched(texture, request, image, on)) sample_fetched(texture, request.map, image, on);
}

bool CudaGrids::sample_touched(const NativeTexture& texture, const GridRequest& request, PixelTarget image,
                               cudaStream_t on) {
    if (!texture.touched) return false;
    const TouchedTexture& source = *texture.touched;
    AffineMap map = request.map;
    const auto pixels = std::size_t{image.width} * image.height;
    const double texels_a_pixel =
        std::fabs((double{map.xx} * map.yy - double{map.xy} * map.yx) * source.texels_x * source.texels_y);
    const double read = std::min(static_cast<double>(source.bytes),
                                 static_cast<double>(pixels) * texels_a_pixel * info(source.format).bytes);
    constexpr double kMaxTexels = 1.1;
    if (read < 2.0 * cache_bytes() || texels_a_pixel > kMaxTexels) return false;
    const TouchedKernel kernel = touched_kernel(texture.kind, source.texels);
    const dim3 grid{blocks_of(image.width, kernel.width) * kernel.band,
                    blocks_of(image.height, kernel.height * kernel.band), 1};
    if (request.image->format != source.format || !image.aligned || grid.y > kMaxBlocks) return false;
    Touches touches{0, 1, source.texels_x, source.texels_y, 1 / source.texels_x, 1 / source.texels_y};
    if (source.texels != TouchedTexels::float32_x4) touches.shift_x = 2;
    const bool turned = std::fabs(map.yx * source.texels_y) > std::fabs(map.xx * source.texels_x);
    if (turned) std::swap(touches.shift_x, touches.shift_y);
    cudaTextureObject_t object = texture.value;
    void* arguments[] = {&object, &map, &image, &touches};
    call<cudaLaunchKernel>(kernel.function, grid, dim3{kernel.threads, 1, 1}, arguments, std::size_t{0}, on);
    return true;
}

double CudaGrids::cache_bytes() {
    std::call_once(cache_asked_, [this] {
        int bytes = 0;
        call<cudaDeviceGetAttribute>(&bytes, cudaDevAttrL2CacheSize, ordinal_);
        cache_bytes_ = bytes;
    });
    return cache_bytes_;
}

}  // namespace texton::detail

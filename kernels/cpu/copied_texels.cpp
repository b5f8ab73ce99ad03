// Resampling on the CPU device where each pixel is a texel as it is stored.
#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/cpu/byte_axes.h"
#include "kernels/cpu/byte_lattice.h"
#include "kernels/cpu/byte_order.h"

namespace texton::detail {
namespace {

struct Copies {
    const ByteKernels* kernels;  // null if texels are copied one by one
    ByteColumns columns;
    std::vector<AxisTaps> rows;
    bool run;                 // whether the texels of a row of pixels are consecutive
    ReorderBytes put_floats;  // stores floats as those of images; null for other formats
};

bool is_copy(std::span<const AxisTaps> taps) {
    return std::ranges::all_of(
        taps, [](const AxisTaps& of_pixel) { return of_pixel.weight == 0 && of_pixel.texel[0] != kBorderTexel; });
}

bool is_run(std::span<const AxisTaps> taps) {
    return std::ranges::adjacent_find(taps, [](const AxisTaps& of_pixel, const AxisTaps& of_next) {
               return of_next.texel[0] != of_pixel.texel[0] + 1;
           }) == taps.end();
}

template <std::size_t bytes>
void copy_one_by_one(const std::int32_t* texels, const unsigned char* row, std::size_t count, unsigned char* to) {
#pragma GCC unroll 4  // the instructions of the loop take as long as a copy
    for (std::size_t i = 0; i < count; ++i)
        std::memcpy(to + i * bytes, row + static_cast<std::size_t>(texels[i]) * bytes, bytes);
}

void copy_each(const std::int32_t* texels, const unsigned char* row, std::size_t count, std::size_t bytes,
               unsigned char* to) {
    switch (bytes) {
        case 1: return copy_one_by_one<1>(texels, row, count, to);
        case 2: return copy_one_by_one<2>(texels, row, count, to);
        case 4: return copy_one_by_one<4>(texels, row, count, to);
        case 8: return copy_one_by_one<8>(texels, row, count, to);
        case 16: return copy_one_by_one<16>(texels, row, count, to);
    }
}

// Returns true if vectors would load texels one by one, which takes longer than copies.
bool are_far_apart(const ByteColumns& columns) {
    if (columns.windows.empty()) return true;
    const ByteWindow::Kind kind = columns.windows.front().kind;
    return kind == ByteWindow::Kind::scattered || kind == ByteWindow::Kind::pairs;
}

// Copies texels that need not be consecutive.
void copy_each(const Copies& copies, const ByteSpan& span, const unsigned char* row, const BytePixels& pixels) {
    if (pixels.channels <= 4 && copies.kernels != nullptr)
        return copies.kernels->copy(copies.columns, span, row, pixels);
    copy_each(&copies.columns.left[span.first], row, pixels.count, pixels.channels, pixels.stored);
}

// Works on parts that stay in the L1 cache.
void copy_floats(const Copies& copies, const ByteSpan& span, const unsigned char* row, const BytePixels& pixels) {
    constexpr std::size_t kPart = 4096;  // bytes
    constexpr ByteOrder kAsTheyAre{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {}};
    const std::size_t bytes = pixels.channels;
    alignas(64) unsigned char part[kPart];
    for (std::size_t i = 0; i < pixels.count; i += kPart / bytes) {
        const std::size_t count = std::min(kPart / bytes, pixels.count - i);
        copy_each(copies, {span.first + i, whole_blocks(count)}, row, {part, count, bytes, false});
        copies.put_floats(kAsTheyAre, part, count * bytes, pixels.stored + i * bytes, pixels.past_caches);
    }
}

void copy_row(const Copies& copies, const ByteSpan& span, const unsigned char* row, const BytePixels& pixels) {
    if (copies.put_floats != nullptr) return copy_floats(copies, span, row, pixels);
    if (!copies.run) return copy_each(copies, span, row, pixels);
    const auto first = static_cast<std::size_t>(copies.columns.left[span.first]);
    std::memcpy(pixels.stored, row + first * pixels.channels, pixels.count * pixels.channels);
}

void copy_tile(const CpuJob& job, const Copies& copies, PixelPosition at, std::size_t width, std::size_t height) {
    const TextureReader reader(job.textures[0]);
    const std::size_t bytes = job.image.format().stored.bytes;
    const ByteSpan span{static_cast<std::size_t>(at.x), whole_blocks(width)};
    const bool past_caches = job.exceeds_caches();
    const std::byte* above = nullptr;
    for (std::size_t i = 0; i < height; ++i, ++at.y) {
        std::byte* pixels = job.image.address(at);
        const auto y = static_cast<std::size_t>(at.y);
        const std::int32_t row = copies.rows[y].texel[0];
        if (above != nullptr && !past_caches && row == copies.rows[y - 1].texel[0]) {
            std::memcpy(pixels, above, width * bytes);
        } else {
            copy_row(copies, span, texels_of_row(reader.view(), at.z, row),
                     {reinterpret_cast<unsigned char*>(pixels), width, bytes, past_caches});
        }
        above = pixels;
    }
}

bool is_fraction(const TexelFormat& format) {
    return format.packing == Packing::plain &&
           (format.encoding == Encoding::unorm || format.encoding == Encoding::srgb);
}

bool is_float(const TexelFormat& format) {
    return format.packing == Packing::plain && format.encoding == Encoding::floating;
}

bool are_alike(const TexelFormat& a, const TexelFormat& b) {
    return a.packing == b.packing && a.encoding == b.encoding && a.bits == b.bits && a.channels == b.channels;
}

// Returns true if a fetch that reads a single texel returns it as it is stored, but for NaN and denormals.
bool reads_as_stored(const CpuTexture& texture) {
    const Sampler& sampler = texture.sampler;
    if (sampler.filter == Filter::linear) return true;
    return sampler.max_anisotropy < 2 && (sampler.mip_filter == Filter::point || texture.levels == 1);
}

// Linear filtering has no denormal float32.
StoredFloats results_of(const CpuTexture& texture, bool positive_zeros) {
    if (positive_zeros) return StoredFloats::positive_zeros;
    return texture.sampler.filter == Filter::linear ? StoredFloats::no_denormals : StoredFloats::keep;
}

}  // namespace

bool copy_texels_on_cpu(const CpuJob& job, const Lattice& lattice, bool positive_zeros) {
    constexpr std::size_t kTile = 1 << 16;  // pixels, in whole rows
    const CpuTexture& texture = job.textures[0];
    const ReorderBytes put_floats =
        is_float(texture.format) ? byte_reorderer(texture.format, results_of(texture, positive_zeros)) : nullptr;
    if (!(is_fraction(texture.format) || put_floats != nullptr) || !reads_as_stored(texture)) return false;
    if (!are_alike(texture.format, job.image.format().stored)) return false;
    const TextureReader reader(texture);
    if (reader.view().levels[0].partial != nullptr) return false;
    const auto first_columns = std::span(lattice.x).first(std::min(kByteBlock, lattice.x.size()));
    if (!is_copy(taps_along(texture, reader.view(), 0, first_columns))) return false;
    const std::vector<AxisTaps> columns = taps_along(texture, reader.view(), 0, lattice.x);
    Copies copies{byte_kernels(), columns_of(columns), taps_along(texture, reader.view(), 1, lattice.y),
                  is_run(columns), put_floats};
    if (!is_copy(columns) || !is_copy(copies.rows)) return false;
    // Linear fetches of large texels that are not consecutive take no longer than copies and a second pass over them.
    if (texture.sampler.filter == Filter::linear && texture.format.bytes == 16 && !copies.run) return false;
    if (copies.kernels != nullptr) copies.kernels->find_windows(copies.columns, reader.view().levels[0].width);
    if (are_far_apart(copies.columns)) copies.kernels = nullptr;
    const std::size_t rows = std::max<std::size_t>(1, kTile / job.extent.width);
    for_each_tile(job, job.extent.width, rows, [&](const PixelPosition& corner, std::size_t width, std::size_t height) {
        copy_tile(job, copies, corner, width, height);
    });
    return true;
}

}  // namespace texton::detail

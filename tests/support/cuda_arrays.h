#pragma once
// Arrays and memory of the CUDA device through the backend, with the CUDA runtime's own copies to check their contents.
#include <gtest/gtest.h>

#include <texton/linear.h>

#include "core/cuda/array.h"
#include "core/cuda/shape.h"
#include "tests/support/arrays.h"
#include "tests/support/on_every_device.h"

namespace texton::test {

/// Array of the backend without an owning Array above it.
class HeldArray {
public:
    HeldArray(detail::CudaBackend& backend, const ArrayInfo& info,
              detail::ArrayBacking backing = detail::ArrayBacking::own)
        : backend_(backend), info_(info), handle_(backend.create_array(info, backing)) {}
    ~HeldArray() { backend_.destroy_array(handle_); }
    HeldArray(const HeldArray&) = delete;
    HeldArray& operator=(const HeldArray&) = delete;

    const ArrayInfo& info() const { return info_; }
    detail::ArrayHandle handle() const { return handle_; }
    detail::CudaArray& cuda() const { return detail::cuda_array(handle_); }
    detail::MemoryLocation location(int level, const Region& region) const {
        detail::MemoryLocation out;
        out.backend = &backend_;
        out.array = handle_;
        out.array_part = level;
        out.array_offset = region.offset;
        out.kind = MemoryKind::array;
        out.format = info_.format;
        out.extent = region.extent;
        return out;
    }
    Region whole(int level) const { return {{}, level_box(info_, level)}; }

private:
    detail::CudaBackend& backend_;
    ArrayInfo info_;
    detail::ArrayHandle handle_;
};

inline detail::Box box_of(Format format, Extent extent) {
    return {row_bytes(format, extent.width), row_count(format, extent.height), extent.depth};
}

/// Rows of texels in device memory with any pitch.
struct Rows {
    std::size_t offset, pitch, slice_pitch, bytes;

    static Rows packed(const detail::Box& box) {
        return {0, box.row_bytes, box.row_bytes * box.rows, box.row_bytes * box.rows * box.slices};
    }
    /// Offset and pitches are multiples of `alignment`.
    static Rows loose(Random& random, const detail::Box& box, std::size_t alignment) {
        const auto up = [alignment](std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; };
        Rows rows{};
        rows.offset = alignment * random.below(40);
        rows.pitch = up(box.row_bytes) + alignment * random.below(5);
        rows.slice_pitch = rows.pitch * (box.rows + random.below(3));
        rows.bytes = rows.offset + rows.slice_pitch * box.slices + 64;
        return rows;
    }
    Layout layout() const { return {offset, pitch, slice_pitch}; }
    detail::MemoryLocation location(const Linear& memory, detail::CudaBackend& backend, Format format,
                                    Extent extent) const {
        detail::MemoryLocation out;
        out.owner = memory.view().location().owner;
        out.backend = &backend;
        out.address = memory.data() + offset;
        out.pitch = pitch;
        out.slice_pitch = slice_pitch;
        out.kind = MemoryKind::linear;
        out.format = format;
        out.extent = extent;
        return out;
    }
};

/// One format for each texel size that the copy kernels handle.
inline constexpr Format kTexels[] = {Format::r8_uint, Format::rg8_unorm, Format::rgba8_srgb, Format::rgba16_float,
                                     Format::rgba32_float};

inline ArrayInfo info_of(ArrayKind kind, Format format, int levels) {
    ArrayInfo info{.format = format, .extent = {53}, .kind = kind, .levels = levels};
    if (!is_flat(kind)) info.extent.height = is_cube(kind) ? 53 : 39;
    if (kind == ArrayKind::array_3d) info.extent.depth = 11;
    if (is_layered(kind)) info.layers = kind == ArrayKind::cubemap_layered ? 2 : 5;
    return info;
}

/// Base of suites that run on the CUDA device only.
class OnCudaArrays : public OnEveryDevice {
protected:
    detail::CudaBackend& backend() const { return static_cast<detail::CudaBackend&>(device().backend()); }

    /// Copies a level from or to packed host memory with the CUDA runtime alone, without Texton.
    void raw_copy(const HeldArray& array, int level, Bytes& host, cudaMemcpyKind kind) const {
        const detail::DeviceScope scope(backend().ordinal());
        const Extent extent = level_box(array.info(), level);
        const detail::Box box = box_of(array.info().format, extent);
        cudaMemcpy3DParms all{};
        const cudaPitchedPtr memory = detail::cuda_pitched(host.data(), box.row_bytes, box.row_bytes, box.rows);
        const cudaArray_t part = array.cuda().parts.at(static_cast<std::size_t>(level));
        if (kind == cudaMemcpyHostToDevice) {
            all.srcPtr = memory;
            all.dstArray = part;
        } else {
            all.srcArray = part;
            all.dstPtr = memory;
        }
        all.extent = detail::cuda_extent(extent.width, extent.height, extent.depth);
        all.kind = kind;
        detail::call<cudaMemcpy3D>(&all);
    }
    void write(const HeldArray& array, int level, Bytes& bytes) const {
        raw_copy(array, level, bytes, cudaMemcpyHostToDevice);
        detail::call<cudaStreamSynchronize>(cudaStream_t{});
    }
    Bytes read(const HeldArray& array, int level) const {
        Bytes bytes(box_bytes(array.info().format, level_box(array.info(), level)));
        raw_copy(array, level, bytes, cudaMemcpyDeviceToHost);
        return bytes;
    }
    void write(const Linear& memory, const Bytes& bytes) const {
        detail::call<cudaMemcpy>(memory.data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice);
        detail::call<cudaStreamSynchronize>(cudaStream_t{});
    }
    Bytes read(const Linear& memory) const {
        Bytes bytes(memory.bytes());
        detail::call<cudaMemcpy>(bytes.data(), memory.data(), bytes.size(), cudaMemcpyDeviceToHost);
        return bytes;
    }
    static Layout layout_in(const HeldArray& array, int level, const Offset& at) {
        const Rows rows = Rows::packed(box_of(array.info().format, level_box(array.info(), level)));
        const std::size_t side = block_side(array.info().format);
        return {at.z * rows.slice_pitch + at.y / side * rows.pitch + at.x / side * info(array.info().format).bytes,
                rows.pitch, rows.slice_pitch};
    }
};

}  // namespace texton::test

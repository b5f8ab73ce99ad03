#include <algorithm>
#include <cstring>
#include <optional>

#include "core/cuda/array_copy.h"
#include "core/cuda/shape.h"
#include "core/transfer.h"

// Patterns of 1 byte are filled with the runtime's memset in up to 3 dimensions. Patterns of 2 and 4 bytes use the
// driver's memset, which has no third dimension. Longer patterns use a CUDA kernel. Host memory is filled by the device
// if the device has an address for it. Otherwise the host fills it in the order of the stream.
//
// Arrays are filled by a CUDA kernel through surfaces. Arrays without surfaces are filled by copies from a pinned
// buffer that holds the pattern.

namespace texton::detail {
namespace {

// The memory to fill, independent of the caller's views, because the host may fill it after fill() returns.
struct Target {
    std::byte* address;
    std::size_t pitch, slice_pitch;
    Box box;
    std::array<std::byte, 16> pattern;
    std::size_t pattern_bytes;  // the shortest length that gives the same contents
};

Target target_of(const FillRequest& request) noexcept {
    const MemoryLocation& location = *request.destination;
    Target target{location.address, location.pitch,  location.slice_pitch,
                  request.box,      request.pattern, static_cast<std::size_t>(request.pattern_bytes)};
    const auto halves_agree = [&] {
        const auto center = target.pattern.begin() + static_cast<std::ptrdiff_t>(target.pattern_bytes / 2);
        return std::equal(target.pattern.begin(), center, center);
    };
    while (target.pattern_bytes > 1 && halves_agree()) target.pattern_bytes /= 2;
    return target;
}

template <class Word>
Word word_of(const Target& target) noexcept {
    Word word{};
    std::memcpy(&word, target.pattern.data(), sizeof word);
    return word;
}

template <class Row>
void each_row(const Target& target, Row&& row) {
    for (std::size_t slice = 0; slice < target.box.slices; ++slice) {
        for (std::size_t y = 0; y < target.box.rows; ++y)
            row(target.address + slice * target.slice_pitch + y * target.pitch);
    }
}

void fill_on_host(const Target& target) {
    each_row(target, [&](std::byte* row) {
        for (std::size_t at = 0; at < target.box.row_bytes; at += target.pattern_bytes) {
            std::memcpy(row + at, target.pattern.data(), target.pattern_bytes);
        }
    });
}

void fill_bytes(const Target& target, std::optional<cudaStream_t> stream, std::size_t max_pitch) {
    const int byte = word_of<std::uint8_t>(target);
    const Box& box = target.box;
    if ((box.rows == 1 && box.slices == 1) || target.pitch > max_pitch) {
        each_row(target, [&](std::byte* row) {
            if (stream) {
                call<cudaMemsetAsync>(row, byte, box.row_bytes, *stream);
            } else {
                call<cudaMemset>(row, byte, box.row_bytes);
            }
        });
        return;
    }
    if (box.slices == 1) {
        if (stream) {
            call<cudaMemset2DAsync>(target.address, target.pitch, byte, box.row_bytes, box.rows, *stream);
        } else {
            call<cudaMemset2D>(target.address, target.pitch, byte, box.row_bytes, box.rows);
        }
        return;
    }
    const cudaPitchedPtr memory =
        cuda_pitched(target.address, target.pitch, box.row_bytes, target.slice_pitch / target.pitch);
    const cudaExtent extent = cuda_extent(box.row_bytes, box.rows, box.slices);
    if (stream) {
        call<cudaMemset3DAsync>(memory, byte, extent, *stream);
    } else {
        call<cudaMemset3D>(memory, byte, extent);
    }
}

void fill_words(const Target& target, cudaStream_t stream, std::size_t max_pitch) {
    const Box& box = target.box;
    const std::size_t count = box.row_bytes / target.pattern_bytes;
    const auto half = word_of<std::uint16_t>(target);
    const auto word = word_of<std::uint32_t>(target);
    if (box.rows == 1 || target.pitch > max_pitch) {
        each_row(target, [&](std::byte* row) {
            const auto at = reinterpret_cast<CUdeviceptr>(row);
            if (target.pattern_bytes == 2) {
                driver<cuMemsetD16Async>(at, half, count, stream);
            } else {
                driver<cuMemsetD32Async>(at, word, count, stream);
            }
        });
        return;
    }
    for (std::size_t slice = 0; slice < box.slices; ++slice) {
        const auto at = reinterpret_cast<CUdeviceptr>(target.address + slice * target.slice_pitch);
        if (target.pattern_bytes == 2) {
            driver<cuMemsetD2D16Async>(at, target.pitch, half, count, box.rows, stream);
        } else {
            driver<cuMemsetD2D32Async>(at, target.pitch, word, count, box.rows, stream);
        }
    }
}

bool is_host(const MemoryLocation& location) noexcept {
    return location.kind == MemoryKind::host || location.kind == MemoryKind::pinned ||
           location.kind == MemoryKind::registered || as_cuda(location.backend) == nullptr;
}

// Fills an array that no CUDA kernel can write by copying rows of the pattern into it.
void fill_by_copies(CudaBackend& backend, const FillRequest& request, StreamHandle stream) {
    const Box& box = request.box;
    const std::size_t rows = std::clamp<std::size_t>(HostStage::kBytes / box.row_bytes, 1, box.rows);
    const std::size_t slices =
        rows < box.rows ? 1 : std::clamp<std::size_t>(HostStage::kBytes / (box.row_bytes * rows), 1, box.slices);
    const std::size_t bytes = box.row_bytes * rows * slices;
    const HostStage stage(backend, stream, bytes);
    MemoryLocation from;
    from.address = stage.written_by_host();
    from.pitch = box.row_bytes;
    from.slice_pitch = box.row_bytes * rows;
    from.kind = MemoryKind::pinned;
    from.format = request.destination->format;
    const auto pattern_bytes = static_cast<std::size_t>(request.pattern_bytes);
    fill_on_host({from.address, bytes, bytes, {bytes, 1, 1}, request.pattern, pattern_bytes});
    const std::size_t side = block_side(from.format);
    for (std::size_t slice = 0; slice < box.slices; slice += slices) {
        for (std::size_t row = 0; row < box.rows; row += rows) {
            MemoryLocation to = *request.destination;
            to.array_offset.y += row * side;
            to.array_offset.z += slice;
            const Box part{box.row_bytes, std::min(rows, box.rows - row), std::min(slices, box.slices - slice)};
            backend.copy({&to, &from, part}, &stream);
        }
    }
}

}  // namespace

void CudaBackend::fill(const FillRequest& request, const StreamHandle* stream) {
    const StreamHandle on = stream != nullptr ? *stream : nullptr;
    if (request.destination->kind == MemoryKind::array) {
        if (!fill_array_by_kernel(*this, request, native(on))) fill_by_copies(*this, request, on);
        if (stream == nullptr) synchronize_stream(on);
        return;
    }
    Target target = target_of(request);
    if (is_host(*request.destination)) {
        cudaPointerAttributes known{};
        const bool mapped = request.destination->kind != MemoryKind::host &&
                            ask<cudaPointerGetAttributes>(&known, target.address) == cudaSuccess &&
                            known.type == cudaMemoryTypeHost && known.devicePointer != nullptr;
        if (!mapped) return fill_host(request, stream);
        target.address = static_cast<std::byte*>(known.devicePointer);
    }
    // Functions of the driver need a context, the default stream needs its device to be current, and memory of a pool
    // is only accepted if the current device can access it.
    const DeviceScope scope(ordinal_);
    if (target.pattern_bytes > 4) {
        MemoryLocation reached = *request.destination;
        reached.address = target.address;
        fill_memory_by_kernel(*this, {&reached, request.box, request.pattern, request.pattern_bytes}, native(on));
    } else if (target.pattern_bytes > 1) {
        fill_words(target, native(on), limits_.max_pitch);
    } else {
        fill_bytes(target, stream != nullptr ? std::optional(native(*stream)) : std::nullopt, limits_.max_pitch);
    }
    if (stream == nullptr) call<cudaStreamSynchronize>(cudaStream_t{});  // a memset of device memory does not wait
}

// Pageable memory may be freed after the call, so it is filled before the call returns. In a graph capture it is filled
// at launch.
void CudaBackend::fill_host(const FillRequest& request, const StreamHandle* stream) {
    const Target target = target_of(request);
    if (stream != nullptr && stream_capturing(*stream)) {
        run_on_host(*stream, [target] { fill_on_host(target); });
    } else {
        synchronize_stream(stream != nullptr ? *stream : nullptr);
        fill_on_host(target);
    }
}

}  // namespace texton::detail

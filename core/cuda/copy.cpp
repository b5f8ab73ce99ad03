#include <algorithm>
#include <optional>

#include "core/cuda/array.h"
#include "core/cuda/array_copy.h"
#include "core/cuda/shape.h"
#include "core/transfer.h"

// copy() selects the CUDA function that fits: a peer copy between two devices, else a copy with arrays, with a symbol,
// or in 1D, 2D or 3D. Copies between arrays and memory of one device run Texton's own CUDA kernel. The copy direction
// is always cudaMemcpyDefault, because memory of a pool may be host memory and the driver determines it from the
// address.
//
// Each copy has a form with a stream and a form without. A copy without a stream is complete when copy() returns.
// CUDA's own functions without a stream wait only if the host's memory is involved, so copy() also waits for the
// default stream.
//
// A batch of rows is passed to the driver in one call. Copies that cannot be part of a batch are made one by one.

namespace texton::detail {
namespace {

bool on_device(const MemoryLocation& location) noexcept {
    switch (location.kind) {
        case MemoryKind::host:
        case MemoryKind::pinned:
        case MemoryKind::registered: return false;
        case MemoryKind::managed:
        case MemoryKind::linear:
        case MemoryKind::pitched:
        case MemoryKind::mapped:
        case MemoryKind::symbol:
        case MemoryKind::array: break;
    }
    return as_cuda(location.backend) != nullptr;  // all memory of a CPU device is host memory here
}

// The buffers of copies through the host are pinned and have no backend, so the kind decides.
bool pageable(const MemoryLocation& location) noexcept {
    return location.kind == MemoryKind::host ||
           (location.backend != nullptr && location.backend->properties().kind == DeviceKind::cpu);
}

bool is_line(const Box& box) noexcept { return box.rows == 1 && box.slices == 1; }

// Returns the distance between slices in rows. For a box of one slice, the slice pitch may be smaller than the box.
std::size_t slice_rows(const MemoryLocation& location, const Box& box) noexcept {
    return box.slices == 1 ? box.rows : location.slice_pitch / location.pitch;
}

cudaPitchedPtr pitched(const MemoryLocation& location, const Box& box) noexcept {
    return cuda_pitched(location.address, location.pitch, box.row_bytes, slice_rows(location, box));
}

// Returns the position in an array where a 3D copy starts, in texels even for block-compressed formats.
cudaPos position(const MemoryLocation& location) noexcept {
    return cuda_position(location.array_offset.x, location.array_offset.y, location.array_offset.z);
}

// Returns the part of the location that belongs to one slice of the copy.
MemoryLocation slice_of(const MemoryLocation& location, std::size_t slice) {
    MemoryLocation part = location;
    if (location.array != nullptr) {
        part.array_offset.z += slice;
    } else {
        part.address += slice * location.slice_pitch;
    }
    return part;
}

cudaArray_t native(const MemoryLocation& location) noexcept {
    return cuda_array(location.array).parts[static_cast<std::size_t>(location.array_part)];
}

// Returns true if copies within the device do not work for this array. Driver 580 assumes a row distance that is too
// small for these arrays in all of its functions, and so do surfaces. Copies from and to the host and texture fetches
// are correct.
//
// Observed on an H200 for sparse arrays whose width is not a multiple of the tile width, for the levels of a mip tail,
// and for planes of 7 and 11 rows, but not of 32, 64, 65 and 600 rows.
bool misread_on_device(const MemoryLocation& location) {
    if (location.array == nullptr) return false;
    const CudaArray& array = cuda_array(location.array);
    if (info(array.info.format).layout == FormatLayout::planar) {
        const std::size_t rows =
            array.info.extent.height / plane_info(array.info.format, location.array_part).divide_height;
        return rows < 64;
    }
    if (array.backing != ArrayBacking::sparse) return false;
    const Extent level = level_extent(array.info, location.array_part);
    const Extent tile = tile_extent(array.info.format, array.info.kind == ArrayKind::array_3d ? 3 : 2);
    return level.width % tile.width != 0 || level.height % tile.height != 0 || level.depth % tile.depth != 0;
}

// Performs one copy, on a stream or without one. It refers to the request, which must outlive it.
class Copier {
public:
    Copier(CudaBackend& runs, const CopyRequest& request, std::optional<cudaStream_t> stream) noexcept
        : runs_(runs), to_(*request.destination), from_(*request.source), box_(request.box), stream_(stream) {}

    void run() const {
        const std::size_t max_pitch = runs_.limits().max_pitch;
        if (slices_of_blocks()) {
            slice_by_slice();
        } else if (two_devices()) {
            peer();
        } else if (to_.array != nullptr || from_.array != nullptr) {
            arrays();
        } else if (is_line(box_) && named_here(to_)) {
            to_symbol();
        } else if (is_line(box_) && named_here(from_)) {
            from_symbol();
        } else if (is_line(box_)) {
            line(to_.address, from_.address);
        } else if (to_.pitch > max_pitch || from_.pitch > max_pitch) {
            row_by_row();
        } else if (box_.slices == 1) {
            rows();
        } else {
            box();
        }
    }

    /// Two backends can have the same GPU (TEXTON_CUDA_DEVICES=0,0). Peer copies are only for two GPUs.
    bool two_devices() const noexcept {
        // Managed memory belongs to no single device, so the driver finds its location from the address.
        const auto fixed = [](const MemoryLocation& location) {
            return on_device(location) && location.kind != MemoryKind::managed;
        };
        return fixed(to_) && fixed(from_) && as_cuda(to_.backend)->ordinal() != as_cuda(from_.backend)->ordinal();
    }

private:
    // A symbol of the copying device is passed by its handle. A symbol of another device is passed by its address.
    bool named_here(const MemoryLocation& location) const noexcept {
        return location.kind == MemoryKind::symbol && location.backend == &runs_;
    }

    void line(std::byte* to, const std::byte* from) const {
        if (stream_) {
            call<cudaMemcpyAsync>(to, from, box_.row_bytes, cudaMemcpyDefault, *stream_);
        } else {
            call<cudaMemcpy>(to, from, box_.row_bytes, cudaMemcpyDefault);
        }
    }

    void rows() const {
        if (stream_) {
            call<cudaMemcpy2DAsync>(to_.address, to_.pitch, from_.address, from_.pitch, box_.row_bytes, box_.rows,
                                    cudaMemcpyDefault, *stream_);
        } else {
            call<cudaMemcpy2D>(to_.address, to_.pitch, from_.address, from_.pitch, box_.row_bytes, box_.rows,
                               cudaMemcpyDefault);
        }
    }

    // Copies rows whose pitch exceeds the device's limit.
    void row_by_row() const {
        for (std::size_t slice = 0; slice < box_.slices; ++slice) {
            for (std::size_t row = 0; row < box_.rows; ++row) {
                line(to_.address + slice * to_.slice_pitch + row * to_.pitch,
                     from_.address + slice * from_.slice_pitch + row * from_.pitch);
            }
        }
    }

    // CUDA does not document the distance between slices in memory for block-compressed formats.
    bool slices_of_blocks() const noexcept {
        const bool memory = to_.array == nullptr || from_.array == nullptr;
        const MemoryLocation& other = to_.array == nullptr ? from_ : to_;
        return box_.slices > 1 && memory && other.array != nullptr && block_side(other.format) > 1;
    }

    // Within a device, the driver copies only the first of several layers of a layered 1D array. Observed with managed
    // memory.
    bool layers_of_lines() const noexcept {
        const auto lines = [](const MemoryLocation& location) {
            return location.array != nullptr && cuda_array(location.array).info.kind == ArrayKind::layered_1d;
        };
        return box_.slices > 1 && (lines(to_) || lines(from_)) && on_device(to_) && on_device(from_);
    }

    void slice_by_slice() const {
        for (std::size_t slice = 0; slice < box_.slices; ++slice) {
            const MemoryLocation to = slice_of(to_, slice);
            const MemoryLocation from = slice_of(from_, slice);
            Copier(runs_, {&to, &from, {box_.row_bytes, box_.rows, 1}}, stream_).run();
        }
    }

    // Returns the extent in bytes, or in texels if an array is involved. Blocks at the edge of a level count only with
    // the texels inside.
    cudaExtent extent() const noexcept {
        const MemoryLocation* array = to_.array != nullptr ? &to_ : from_.array != nullptr ? &from_ : nullptr;
        if (array == nullptr) return cuda_extent(box_.row_bytes, box_.rows, box_.slices);
        const std::size_t elements = box_.row_bytes / info(array->format).bytes;
        const std::size_t side = block_side(array->format);
        if (side == 1) return cuda_extent(elements, box_.rows, box_.slices);
        const Extent level = level_extent(cuda_array(array->array).info, array->array_part);
        return cuda_extent(std::min(elements * side, level.width - array->array_offset.x),
                           std::min(box_.rows * side, level.height - array->array_offset.y), box_.slices);
    }

    // Parameters is cudaMemcpy3DParms or cudaMemcpy3DPeerParms.
    template <class Parameters>
    Parameters both_sides() const {
        Parameters all{};
        if (from_.array != nullptr) {
            all.srcArray = native(from_);
        } else {
            all.srcPtr = pitched(from_, box_);
        }
        if (to_.array != nullptr) {
            all.dstArray = native(to_);
        } else {
            all.dstPtr = pitched(to_, box_);
        }
        all.srcPos = position(from_);
        all.dstPos = position(to_);
        all.extent = extent();
        return all;
    }

    void box() const {
        auto all = both_sides<cudaMemcpy3DParms>();
        all.kind = cudaMemcpyDefault;
        if (stream_) {
            call<cudaMemcpy3DAsync>(&all, *stream_);
        } else {
            call<cudaMemcpy3D>(&all);
        }
    }

    void peer() const {
        const int to = as_cuda(to_.backend)->ordinal();
        const int from = as_cuda(from_.backend)->ordinal();
        if (is_line(box_) && to_.array == nullptr && from_.array == nullptr) {
            if (stream_) {
                call<cudaMemcpyPeerAsync>(to_.address, to, from_.address, from, box_.row_bytes, *stream_);
            } else {
                call<cudaMemcpyPeer>(to_.address, to, from_.address, from, box_.row_bytes);
            }
            return;
        }
        auto all = both_sides<cudaMemcpy3DPeerParms>();
        all.srcDevice = from;
        all.dstDevice = to;
        if (stream_) {
            call<cudaMemcpy3DPeerAsync>(&all, *stream_);
        } else {
            call<cudaMemcpy3DPeer>(&all);
        }
    }

    void to_symbol() const {
        if (stream_) {
            call<cudaMemcpyToSymbolAsync>(to_.symbol, from_.address, box_.row_bytes, to_.symbol_offset,
                                          cudaMemcpyDefault, *stream_);
        } else {
            call<cudaMemcpyToSymbol>(to_.symbol, from_.address, box_.row_bytes, to_.symbol_offset, cudaMemcpyDefault);
        }
    }

    void from_symbol() const {
        if (stream_) {
            call<cudaMemcpyFromSymbolAsync>(to_.address, from_.symbol, box_.row_bytes, from_.symbol_offset,
                                            cudaMemcpyDefault, *stream_);
        } else {
            call<cudaMemcpyFromSymbol>(to_.address, from_.symbol, box_.row_bytes, from_.symbol_offset,
                                       cudaMemcpyDefault);
        }
    }

    void arrays() const {
        if (on_device(to_) && on_device(from_) && (misread_on_device(to_) || misread_on_device(from_))) {
            const cudaStream_t stream = stream_.value_or(cudaStream_t{});
            copy_through_host(runs_, {&to_, &from_, box_}, reinterpret_cast<StreamHandle>(stream));
            return;
        }
        if (copy_by_kernel(runs_, {&to_, &from_, box_}, stream_.value_or(cudaStream_t{}))) return;
        if (layers_of_lines()) return slice_by_slice();
        const bool both = to_.array != nullptr && from_.array != nullptr;
        const bool blocks = block_side(to_.array != nullptr ? to_.format : from_.format) > 1;
        const auto flat = [](const MemoryLocation& location) {
            return location.array == nullptr || cuda_array(location.array).info.kind == ArrayKind::array_2d;
        };
        // There is no 2D function for two arrays on a stream, and the 2D function without a stream is not documented
        // for blocks.
        if (!flat(to_) || !flat(from_) || (both && (stream_ || blocks))) {
            box();
        } else if (both) {
            call<cudaMemcpy2DArrayToArray>(native(to_), x_bytes(to_), rows_before(to_), native(from_), x_bytes(from_),
                                           rows_before(from_), box_.row_bytes, box_.rows, cudaMemcpyDefault);
        } else if (to_.array != nullptr && stream_) {
            call<cudaMemcpy2DToArrayAsync>(native(to_), x_bytes(to_), rows_before(to_), from_.address, from_.pitch,
                                           box_.row_bytes, box_.rows, cudaMemcpyDefault, *stream_);
        } else if (to_.array != nullptr) {
            call<cudaMemcpy2DToArray>(native(to_), x_bytes(to_), rows_before(to_), from_.address, from_.pitch,
                                      box_.row_bytes, box_.rows, cudaMemcpyDefault);
        } else if (stream_) {
            call<cudaMemcpy2DFromArrayAsync>(to_.address, to_.pitch, native(from_), x_bytes(from_), rows_before(from_),
                                             box_.row_bytes, box_.rows, cudaMemcpyDefault, *stream_);
        } else {
            call<cudaMemcpy2DFromArray>(to_.address, to_.pitch, native(from_), x_bytes(from_), rows_before(from_),
                                        box_.row_bytes, box_.rows, cudaMemcpyDefault);
        }
    }

    // The 2D functions count bytes of a row and rows. For block-compressed formats these are rows of blocks.
    static std::size_t x_bytes(const MemoryLocation& array) noexcept {
        return array.array_offset.x / block_side(array.format) * info(array.format).bytes;
    }
    static std::size_t rows_before(const MemoryLocation& array) noexcept {
        return array.array_offset.y / block_side(array.format);
    }

    CudaBackend& runs_;
    const MemoryLocation& to_;
    const MemoryLocation& from_;
    const Box& box_;
    std::optional<cudaStream_t> stream_;
};

// Excludes pageable memory: a batch does not read a large source during the call, and a destination is not yet written
// when the call returns. Excludes boxes of several rows, because a batch of them is no faster than a loop.
bool fits_batch(CudaBackend& runs, const CopyRequest& request) noexcept {
    const MemoryLocation& to = *request.destination;
    const MemoryLocation& from = *request.source;
    return is_line(request.box) && to.array == nullptr && from.array == nullptr && !pageable(to) && !pageable(from) &&
           (on_device(to) || on_device(from)) && !Copier(runs, request, std::nullopt).two_devices();
}

}  // namespace

void CudaBackend::copy(const CopyRequest& request, const StreamHandle* stream) {
    const MemoryLocation& to = *request.destination;
    const MemoryLocation& from = *request.source;
    if (stream == nullptr) {
        const DeviceScope scope(ordinal_);
        const Copier copier(*this, request, std::nullopt);
        copier.run();
        if (on_device(from) && !on_device(to)) return;  // CUDA's own function waits only in this direction
        call<cudaStreamSynchronize>(cudaStream_t{});
        if (copier.two_devices()) {
            const DeviceScope other(
                (as_cuda(to.backend) == this ? as_cuda(from.backend) : as_cuda(to.backend))->ordinal());
            call<cudaStreamSynchronize>(cudaStream_t{});
        }
        return;
    }
    // A stream knows its device. But the default stream and symbols are those of the current device, and memory of a
    // pool is only accepted if the current device can access it.
    const DeviceScope scope(ordinal_);
    Copier(*this, request, native(*stream)).run();
    // If the device reads pageable memory directly, the copy may still run after the call. Otherwise it cannot.
    if (properties_.pageable_memory_access && (pageable(to) || pageable(from)) && !stream_capturing(*stream)) {
        call<cudaStreamSynchronize>(native(*stream));
    }
}

void CudaBackend::copy_batch(std::span<const CopyRequest> requests, StreamHandle stream) {
    const DeviceScope scope(ordinal_);
    // The driver rejects batches on the default stream and cannot capture them into a graph.
    const bool one_by_one = stream == nullptr || requests.size() == 1 || stream_capturing(stream);
    std::vector<void*> to;
    std::vector<const void*> from;
    std::vector<std::size_t> bytes;
    for (const CopyRequest& request : requests) {
        if (one_by_one || !fits_batch(*this, request)) {
            copy(request, &stream);
            continue;
        }
        to.push_back(request.destination->address);
        from.push_back(request.source->address);
        bytes.push_back(request.box.row_bytes);
    }
    if (to.empty()) return;
    cudaMemcpyAttributes attributes{};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    std::size_t first = 0;
    call<cudaMemcpyBatchAsync>(to.data(), from.data(), bytes.data(), to.size(), &attributes, &first, std::size_t{1},
                               native(stream));
}

}  // namespace texton::detail

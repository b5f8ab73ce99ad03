#include <optional>

#include "core/cuda_backend.h"
#include "core/cuda_shape.h"

// copy() picks the one call that fits: two devices (Peer), arrays, symbols, else 1D, 2D or 3D. Everything has a form
// that takes a stream and one that does not. A copy without a stream is done at return: CUDA's own forms without a
// stream wait for the host's side alone, so that what they leave on the default stream is waited for here. The driver finds
// out by the addresses which way a copy goes: memory of a pool may be the host's.
//
// A batch of rows goes to the driver as one call; what cannot be in it is copied one by one.

namespace texton::detail {
namespace {

bool on_device(const Place& place) noexcept {
    switch (place.kind) {
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
    return as_cuda(place.backend) != nullptr;  // all memory of a CPU device is host memory here
}

// Page-locked memory may have lost its backend, if only its address was given: then it is what its kind says.
bool pageable(const Place& place) noexcept {
    return place.kind == MemoryKind::host ||
           (place.backend != nullptr && place.backend->properties().kind == DeviceKind::cpu);
}

bool is_line(const Box& box) noexcept { return box.rows == 1 && box.slices == 1; }

// Rows from slice to slice. A box of one slice may have more rows than the view's slices had.
std::size_t slice_rows(const Place& place, const Box& box) noexcept {
    return box.slices == 1 ? box.rows : place.slice_pitch / place.pitch;
}

cudaPitchedPtr pitched(const Place& place, const Box& box) noexcept {
    return cuda_pitched(place.address, place.pitch, box.row_bytes, slice_rows(place, box));
}

// Where a copy begins in an array, in elements: texels, or blocks of a block-compressed format.
cudaPos position(const Place& place) noexcept {
    if (place.array == nullptr) return cuda_position(0, 0, 0);
    const std::size_t side = block_side(place.format);
    return cuda_position(place.array_offset.x / side, place.array_offset.y / side, place.array_offset.z);
}

// One copy on one stream, or without one.
class Copier {
public:
    Copier(const CudaBackend& runs, const CopyRequest& request, std::optional<cudaStream_t> stream) noexcept
        : runs_(runs), to_(*request.destination), from_(*request.source), box_(request.box), stream_(stream) {}

    void run() const {
        const std::size_t max_pitch = runs_.limits().max_pitch;
        if (two_devices()) {
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

    bool two_devices() const noexcept {
        // Managed memory is no one device's: its address says where it is.
        const auto fixed = [](const Place& place) { return on_device(place) && place.kind != MemoryKind::managed; };
        return to_.backend != from_.backend && fixed(to_) && fixed(from_);
    }

private:
    // A symbol of the device that copies goes by its name, another's by its address.
    bool named_here(const Place& place) const noexcept {
        return place.kind == MemoryKind::symbol && place.backend == &runs_;
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

    // Rows further apart than a pitch may be.
    void row_by_row() const {
        for (std::size_t slice = 0; slice < box_.slices; ++slice) {
            for (std::size_t row = 0; row < box_.rows; ++row) {
                line(to_.address + slice * to_.slice_pitch + row * to_.pitch,
                     from_.address + slice * from_.slice_pitch + row * from_.pitch);
            }
        }
    }

    // The element is a byte, or an array's.
    cudaExtent extent() const noexcept {
        const Place* array = to_.array != nullptr ? &to_ : from_.array != nullptr ? &from_ : nullptr;
        const std::size_t element = array != nullptr ? info(array->format).bytes : 1;
        return cuda_extent(box_.row_bytes / element, box_.rows, box_.slices);
    }

    // cudaMemcpy3DParms or cudaMemcpy3DPeerParms.
    template <class Parameters>
    Parameters both_sides() const {
        Parameters all{};
        if (from_.array != nullptr) {
            all.srcArray = native(from_.array);
        } else {
            all.srcPtr = pitched(from_, box_);
        }
        if (to_.array != nullptr) {
            all.dstArray = native(to_.array);
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

    // The 2D forms count x in bytes. They know neither slices nor an asynchronous copy between two arrays.
    void arrays() const {
        const cudaPos at_to = position(to_);
        const cudaPos at_from = position(from_);
        const std::size_t x_to = at_to.x * info(to_.format).bytes;
        const std::size_t x_from = at_from.x * info(from_.format).bytes;
        const bool both = to_.array != nullptr && from_.array != nullptr;
        if (box_.slices > 1 || at_to.z > 0 || at_from.z > 0 || (both && stream_)) {
            box();
        } else if (both) {
            call<cudaMemcpy2DArrayToArray>(native(to_.array), x_to, at_to.y, native(from_.array), x_from, at_from.y,
                                           box_.row_bytes, box_.rows, cudaMemcpyDefault);
        } else if (to_.array != nullptr && stream_) {
            call<cudaMemcpy2DToArrayAsync>(native(to_.array), x_to, at_to.y, from_.address, from_.pitch, box_.row_bytes,
                                           box_.rows, cudaMemcpyDefault, *stream_);
        } else if (to_.array != nullptr) {
            call<cudaMemcpy2DToArray>(native(to_.array), x_to, at_to.y, from_.address, from_.pitch, box_.row_bytes,
                                      box_.rows, cudaMemcpyDefault);
        } else if (stream_) {
            call<cudaMemcpy2DFromArrayAsync>(to_.address, to_.pitch, native(from_.array), x_from, at_from.y,
                                             box_.row_bytes, box_.rows, cudaMemcpyDefault, *stream_);
        } else {
            call<cudaMemcpy2DFromArray>(to_.address, to_.pitch, native(from_.array), x_from, at_from.y, box_.row_bytes,
                                        box_.rows, cudaMemcpyDefault);
        }
    }

    const CudaBackend& runs_;
    const Place& to_;
    const Place& from_;
    const Box& box_;
    std::optional<cudaStream_t> stream_;
};

// Pageable memory is left out: a batch neither reads a large source during the call, nor is a destination written when it
// returns. Boxes are, too: a batch of them is no faster than a loop.
bool fits_batch(const CudaBackend& runs, const CopyRequest& request) noexcept {
    const Place& to = *request.destination;
    const Place& from = *request.source;
    return is_line(request.box) && to.array == nullptr && from.array == nullptr && !pageable(to) && !pageable(from) &&
           (on_device(to) || on_device(from)) && !Copier(runs, request, std::nullopt).two_devices();
}

}  // namespace

void CudaBackend::copy(const CopyRequest& request, const StreamHandle* stream) {
    const Place& to = *request.destination;
    const Place& from = *request.source;
    if (stream == nullptr) {
        const DeviceScope scope(ordinal_);
        const Copier copier(*this, request, std::nullopt);
        copier.run();
        if (on_device(from) && !on_device(to)) return;  // the one direction that CUDA itself waits for
        call<cudaStreamSynchronize>(cudaStream_t{});
        if (copier.two_devices()) {
            const DeviceScope other(
                (as_cuda(to.backend) == this ? as_cuda(from.backend) : as_cuda(to.backend))->ordinal());
            call<cudaStreamSynchronize>(cudaStream_t{});
        }
        return;
    }
    // A stream of its own knows its device; the default stream and symbols are the current device's.
    std::optional<DeviceScope> scope;
    if (*stream == nullptr || to.kind == MemoryKind::symbol || from.kind == MemoryKind::symbol) scope.emplace(ordinal_);
    Copier(*this, request, native(*stream)).run();
    // Where the device reads pageable memory by itself, such a copy may still run after the call; elsewhere it cannot.
    if (properties_.pageable_memory_access && (pageable(to) || pageable(from)) && !stream_capturing(*stream)) {
        call<cudaStreamSynchronize>(native(*stream));
    }
}

void CudaBackend::copy_batch(std::span<const CopyRequest> requests, StreamHandle stream) {
    // The driver takes no batch on the default stream, and records none into a graph.
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

#include <texton/copy.h>

#include <deque>
#include <memory>

#include <texton/error.h>

#include "core/backing.h"
#include "core/block.h"
#include "core/request.h"
#include "core/transfer.h"

namespace texton {
namespace {

using detail::Transfer;

constexpr const char* kCopy = "texton::copy";
constexpr const char* kBatch = "texton::CopyBatch";

std::size_t total(const detail::Box& box) { return box.row_bytes * box.rows * box.slices; }

// Returns true for host memory that is not page-locked. For a CUDA device, memory of a CPU device is pageable too.
bool pageable(const detail::MemoryLocation& location) {
    return location.kind == MemoryKind::host ||
           (location.backend != nullptr && location.backend->properties().kind == DeviceKind::cpu &&
            detail::home(location) != nullptr && location.address != nullptr);
}

// Returns true for copies between pageable memory and a CUDA device that are large enough for the ring of pinned
// buffers.
bool worth_staging(const detail::CopyRequest& request) {
    if (total(request.box) < detail::kStagedBytes) return false;
    const bool from_host = pageable(*request.source);
    if (from_host == pageable(*request.destination)) return false;
    const detail::MemoryLocation& other = from_host ? *request.destination : *request.source;
    const detail::Backend* device = detail::home(other);
    return device != nullptr && device->properties().kind == DeviceKind::cuda && other.kind != MemoryKind::symbol;
}

// Returns the device that runs a copy without a stream: a CUDA device if there is one, or else any device.
detail::Backend& executor(const detail::CopyRequest& request) {
    detail::Backend* to = detail::home(*request.destination);
    detail::Backend* from = detail::home(*request.source);
    if (from != nullptr && (to == nullptr || from->properties().kind == DeviceKind::cuda)) return *from;
    return to != nullptr ? *to : Device::cpu().backend();
}

bool is_cpu_array(const detail::MemoryLocation& location) {
    return location.kind == MemoryKind::array && location.backend->properties().kind == DeviceKind::cpu;
}

// Copies between an array of the CPU device and a CUDA device through packed host memory, because no backend can do
// this directly. The copy is done when the call returns.
void copy_through_host(const detail::CopyRequest& request, detail::Backend& cuda, const detail::StreamHandle* stream) {
    if (stream != nullptr && cuda.stream_capturing(*stream)) {
        throw Error(
            {.code = ErrorCode::capturing,
             .problem = "a copy between an array of the CPU device and a CUDA device cannot be recorded into a graph",
             .remedy = "Copy to memory of the CUDA device before the recording, and record a copy from that memory."});
    }
    const auto bytes = std::make_unique_for_overwrite<std::byte[]>(total(request.box));
    detail::MemoryLocation packed;
    packed.address = bytes.get();
    packed.pitch = request.box.row_bytes;
    packed.slice_pitch = request.box.row_bytes * request.box.rows;
    packed.format = request.source->format;
    packed.extent = request.source->extent;
    const auto run = [&](const detail::MemoryLocation& to, const detail::MemoryLocation& from,
                         const detail::MemoryLocation& array) {
        const detail::CopyRequest half{&to, &from, request.box};
        if (!is_cpu_array(array)) {
            cuda.copy(half, stream);
        } else if (stream == nullptr) {
            array.backend->copy(half, nullptr);
        } else {  // `stream` alone orders the copy, so it must not wait for the default stream of the CPU device
            const Stream own{Device(*array.backend)};
            array.backend->copy(half, &own.state()->handle);
        }
    };
    run(packed, *request.source, *request.source);
    run(*request.destination, packed, *request.destination);
}

bool goes_through_host(const detail::CopyRequest& request, const detail::Backend& backend) {
    return backend.properties().kind == DeviceKind::cuda &&
           (is_cpu_array(*request.source) || is_cpu_array(*request.destination));
}

void run_copy(const detail::CopyRequest& request, detail::Backend& backend, const detail::StreamHandle* stream) {
    if (goes_through_host(request, backend)) {
        copy_through_host(request, backend, stream);
    } else if (worth_staging(request) &&
               (stream == nullptr || (!detail::recording() && !backend.stream_capturing(*stream)))) {
        detail::copy_staged(backend, request, stream);
    } else {
        backend.copy(request, stream);
    }
}

}  // namespace

void copy(const View& destination, const ConstView& source) try {
    const Transfer transfer(destination, source);
    detail::refuse_while_recording(kCopy, "copying without a stream");
    detail::Backend& backend = executor(transfer.request);
    const detail::BackingUse use(kCopy, destination.location().owner, source.location().owner);
    detail::request(&backend, kCopy, {{"bytes", total(transfer.request.box)}}, [&] {
        detail::wait_for_default_stream(*transfer.request.source, backend);
        detail::wait_for_default_stream(*transfer.request.destination, backend);
        run_copy(transfer.request, backend, nullptr);
    });
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kCopy);
}

void copy(const View& destination, const ConstView& source, const Stream& stream) try {
    const Transfer transfer(destination, source);
    detail::check_stream(stream, detail::home(destination.location()), detail::home(source.location()), kCopy);
    detail::Backend& backend = stream.device().backend();
    detail::BackingUse use(kCopy, stream, destination.location().owner, source.location().owner);
    detail::request(&backend, kCopy, {{"bytes", total(transfer.request.box)}},
                    [&] { run_copy(transfer.request, backend, &stream.state()->handle); });
    use.enqueued();
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kCopy);
}

void CopyBatch::add(const View& destination, const ConstView& source) try {
    const Transfer checked(destination, source);
    pairs_.push_back({destination, source});
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kBatch);
}

void CopyBatch::run(const Stream& stream) const try {
    if (pairs_.empty()) return;
    std::deque<Transfer> transfers;  // the requests point into these
    std::vector<detail::CopyRequest> requests;
    std::vector<detail::CopyRequest> through_host;
    std::vector<std::shared_ptr<const detail::Block>> guarded;
    requests.reserve(pairs_.size());
    detail::Backend& backend = stream.device().backend();
    for (const Pair& pair : pairs_) {
        const Transfer& transfer = transfers.emplace_back(pair.destination, pair.source);
        const detail::MemoryLocation& to = pair.destination.location();
        const detail::MemoryLocation& from = pair.source.location();
        detail::check_stream(stream, detail::home(to), detail::home(from), kBatch);
        for (const detail::MemoryLocation* location : {&to, &from}) {
            if (location->owner != nullptr && location->owner->backing != nullptr) guarded.push_back(location->owner);
        }
        (goes_through_host(transfer.request, backend) ? through_host : requests).push_back(transfer.request);
    }
    const detail::StreamHandle handle = stream.state()->handle;
    detail::BackingUse use(kBatch, stream, guarded);
    detail::request(&backend, kBatch, {{"copies", pairs_.size()}}, [&] {
        if (!requests.empty()) backend.copy_batch(requests, handle);
        for (const detail::CopyRequest& request : through_host) copy_through_host(request, backend, &handle);
    });
    use.enqueued();
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kBatch);
}

}  // namespace texton

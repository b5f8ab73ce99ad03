#include <texton/copy.h>

#include <deque>

#include <texton/error.h>

#include "core/block.h"
#include "core/transfer.h"

namespace texton {
namespace {

using detail::Transfer;

constexpr const char* kCopy = "texton::copy";
constexpr const char* kBatch = "texton::CopyBatch";

std::size_t total(const detail::Box& box) { return box.row_bytes * box.rows * box.slices; }

// Host memory that is not page-locked; a CPU device's memory is that for a CUDA device.
bool pageable(const detail::Place& place) {
    return place.kind == MemoryKind::host ||
           (place.backend != nullptr && place.backend->properties().kind == DeviceKind::cpu &&
            detail::home(place) != nullptr && place.address != nullptr);
}

// Pageable memory on one side and a CUDA device on the other, large enough for the ring to pay.
bool worth_staging(const detail::CopyRequest& request) {
    if (total(request.box) < detail::kStagedBytes) return false;
    const bool from_host = pageable(*request.source);
    if (from_host == pageable(*request.destination)) return false;
    const detail::Place& other = from_host ? *request.destination : *request.source;
    const detail::Backend* device = detail::home(other);
    return device != nullptr && device->properties().kind == DeviceKind::cuda && other.kind != MemoryKind::symbol;
}

// Who runs a copy without a stream: a CUDA device if one is involved, else any device.
detail::Backend& executor(const detail::CopyRequest& request) {
    detail::Backend* to = detail::home(*request.destination);
    detail::Backend* from = detail::home(*request.source);
    if (from != nullptr && (to == nullptr || from->properties().kind == DeviceKind::cuda)) return *from;
    return to != nullptr ? *to : Device::cpu().backend();
}

}  // namespace

void copy(const View& destination, const ConstView& source) {
    const Transfer transfer(destination, source);
    detail::refuse_while_recording(kCopy, "copying without a stream");
    detail::Backend& backend = executor(transfer.request);
    detail::request(&backend, kCopy, {{"bytes", total(transfer.request.box)}}, [&] {
        if (worth_staging(transfer.request)) {
            detail::copy_staged(backend, transfer.request, nullptr);
        } else {
            backend.copy(transfer.request, nullptr);
        }
    });
}

void copy(const View& destination, const ConstView& source, const Stream& stream) {
    const Transfer transfer(destination, source);
    detail::check_stream(stream, detail::home(destination.place()), detail::home(source.place()), kCopy);
    detail::Backend& backend = stream.device().backend();
    const detail::StreamHandle handle = stream.state()->handle;
    detail::request(&backend, kCopy, {{"bytes", total(transfer.request.box)}}, [&] {
        if (worth_staging(transfer.request) && !detail::recording() && !backend.stream_capturing(handle)) {
            detail::copy_staged(backend, transfer.request, &handle);
        } else {
            backend.copy(transfer.request, &handle);
        }
    });
}

void CopyBatch::add(const View& destination, const ConstView& source) {
    const Transfer checked(destination, source);
    pairs_.push_back({destination, source});
}

void CopyBatch::run(const Stream& stream) const {
    if (pairs_.empty()) return;
    std::deque<Transfer> transfers;  // requests point into them
    std::vector<detail::CopyRequest> requests;
    requests.reserve(pairs_.size());
    for (const Pair& pair : pairs_) {
        const Transfer& transfer = transfers.emplace_back(pair.destination, pair.source);
        detail::check_stream(stream, detail::home(pair.destination.place()), detail::home(pair.source.place()), kBatch);
        requests.push_back(transfer.request);
    }
    detail::Backend& backend = stream.device().backend();
    detail::request(&backend, kBatch, {{"copies", requests.size()}},
                    [&] { backend.copy_batch(requests, stream.state()->handle); });
}

}  // namespace texton

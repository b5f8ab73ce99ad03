#include "arrays/mapped_block.h"

#include <fmt/format.h>

#include <texton/error.h>

#include "core/backing.h"

namespace texton::detail {

void finish(const Stream& stream) noexcept {
    try {
        stream.synchronize();
    } catch (...) {
        // The device has failed, so no work is running.
    }
}

void MappedBlock::lock(const char* object) {
    mutex_.lock_shared();
    try {
        check_usable(object);
    } catch (...) {
        mutex_.unlock_shared();
        throw;
    }
}

void MappedBlock::check_stream(const Stream& stream, const char* object) const {
    refuse_while_recording(object, "changing the mapping of an array");
    if (stream.capturing()) {
        throw Error(
            {.code = ErrorCode::capturing,
             .object = object,
             .problem = "the mapping of an array cannot be changed on a stream that is being captured into a graph",
             .remedy = "Change the mapping before or after the capture."});
    }
    if (stream.device() == Device(*backend)) return;
    throw Error({.code = ErrorCode::wrong_device,
                 .object = object,
                 .problem = fmt::format("a stream of {} was given for an array of {}", stream.device().name(),
                                        Device(*backend).name()),
                 .remedy = "Use a stream of the array's device."});
}

const TileRun& MappedBlock::check_tiles(const Tiles& tiles, const char* object) const {
    const TileRun& run = live(tiles, object);
    if (run.pool->device == Device(*backend)) return run;
    throw Error({.code = ErrorCode::wrong_device,
                 .object = object,
                 .problem = fmt::format("tiles of {} were given for an array of {}", run.pool->device.name(),
                                        Device(*backend).name()),
                 .remedy = "Use a TilePool of the array's device."});
}

void MappedBlock::change(const char* object, const Stream& stream, SlotExchange& slots,
                         const std::function<void()>& map) {
    const auto done = std::make_shared<const Event>(stream.device(), EventTiming::off);
    order_->wait_for_all(stream);
    slots.wait(stream);
    request(backend, object, {}, map);
    // The device cannot take the change back, so nothing throws from here on.
    try {
        done->record(stream);
    } catch (...) {
        finish(stream);  // in place of later waits for the event, which is done if it was never recorded
    }
    slots.commit(done);
    order_->changed(done);
}

void use_on(const Array& array, const Stream& stream, const char* object) {
    (void)live(array, object);
    BackingUse(object, stream, array.block()).enqueued();
}

}  // namespace texton::detail

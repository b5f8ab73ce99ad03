#pragma once
// The common base of sparse and deferred arrays, whose memory changes in stream order.
#include <functional>
#include <shared_mutex>

#include "arrays/array_block.h"
#include "arrays/tile_run.h"
#include "arrays/work_order.h"

namespace texton::detail {

/// An array whose memory may change while it exists. Work on the array locks it shared, a change of the mapping locks
/// it exclusively, and WorkOrder orders both on the streams. Thread-safe.
class MappedBlock : public ArrayBlock, public Backing {
public:
    MappedBlock(Backend& backend, const ArrayInfo& info, std::size_t bytes) : ArrayBlock(backend, info, bytes) {
        backing = this;
    }

    void lock(const char* object) override;
    void unlock() noexcept override { mutex_.unlock_shared(); }
    void wait_for_mapping(const Stream* stream) override { order_->wait_for_change(stream); }
    void used_on(const Stream& stream) override { order_->used_on(stream); }

protected:
    /// Throws Error{not_mapped} if the array cannot be used without memory and has none.
    virtual void check_usable(const char* object) const = 0;

    /// Locked exclusively to change the mapping, and shared to read it or to enqueue work on the array.
    std::shared_mutex& mutex() const noexcept { return mutex_; }

    /// Checks the stream of a change. Throws Error{capturing} if a recording is active, or Error{wrong_device}.
    void check_stream(const Stream& stream, const char* object) const;
    /// Checks tiles for this array and returns their run. Throws Error{released} or Error{wrong_device}.
    const TileRun& check_tiles(const Tiles& tiles, const char* object) const;

    /// Enqueues a change of the mapping after all work on the array and on the slots. `map` calls the device. If it
    /// throws, the mapping is unchanged.
    void change(const char* object, const Stream& stream, SlotExchange& slots, const std::function<void()>& map);

    const std::shared_ptr<WorkOrder>& order() const noexcept { return order_; }

private:
    mutable std::shared_mutex mutex_;
    std::shared_ptr<WorkOrder> order_ = std::make_shared<WorkOrder>();
};

/// Waits for the work of the stream, after a failure. Does not throw: if the wait fails, no work is running.
void finish(const Stream& stream) noexcept;

/// Records work of the caller that was enqueued on the stream and uses the array. Throws Error{not_mapped} like other
/// work.
void use_on(const Array& array, const Stream& stream, const char* object);

}  // namespace texton::detail

#pragma once
// What sparse and deferred arrays share: memory that comes and goes in the order of a stream.
#include <functional>
#include <shared_mutex>

#include "arrays/array_block.h"
#include "arrays/tile_run.h"
#include "arrays/work_order.h"

namespace texton::detail {

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
    /// Error{not_mapped} if work on the array must not be enqueued now.
    virtual void check_usable(const char* object) const = 0;

    /// Held while what is mapped is asked or changed. Uses share it.
    std::shared_mutex& mutex() const noexcept { return mutex_; }

    /// Error{capturing}, Error{wrong_device}: what every change of the mapping asks of its stream.
    void check_stream(const Stream& stream, const char* object) const;
    /// Error{released}, Error{wrong_device}.
    const TileRun& check_tiles(const Tiles& tiles, const char* object) const;

    /// Has the device change the mapping, after all work on the array and on the slots. `map` asks the device. On an error
    /// nothing has changed.
    void change(const char* object, const Stream& stream, SlotExchange& slots, const std::function<void()>& map);

    const std::shared_ptr<WorkOrder>& order() const noexcept { return order_; }

private:
    mutable std::shared_mutex mutex_;
    std::shared_ptr<WorkOrder> order_ = std::make_shared<WorkOrder>();
};

/// Tells of work of the caller's own that was enqueued on the stream and touches the array.
void use_on(const Array& array, const Stream& stream, const char* object);

}  // namespace texton::detail

#include "arrays/tile_run.h"

#include <algorithm>

#include <fmt/format.h>

#include <texton/error.h>

#include "arrays/work_order.h"
#include "core/request.h"

namespace texton::detail {
namespace {

// Protects the slots of all pools, because one mapping may use slots of several pools. It is not held during calls to
// the device.
std::mutex& slots_mutex() {
    static std::mutex mutex;
    return mutex;
}

}  // namespace

std::size_t mapped_slots(const TileRun& run) {
    const auto slots = std::span(run.chunk->slots).subspan(run.first, run.count);
    const std::lock_guard lock(slots_mutex());
    return static_cast<std::size_t>(
        std::count_if(slots.begin(), slots.end(), [](const TileSlot& slot) { return slot.mapped > 0; }));
}

std::vector<std::shared_ptr<const Event>> last_unmappings(const TileChunk& chunk) {
    std::set<std::shared_ptr<const Event>> events;
    const std::lock_guard lock(slots_mutex());
    for (const TileSlot& slot : chunk.slots) {
        if (slot.last_unmapped != nullptr) events.insert(slot.last_unmapped);
    }
    return {events.begin(), events.end()};
}

std::span<TileSlot> SlotRange::slots() const noexcept {
    return std::span(run->chunk->slots).subspan(run->first + first, count);
}

SlotExchange::SlotExchange(std::vector<SlotRange> arriving, std::vector<SlotRange> leaving, Aliasing aliasing,
                           const char* object)
    : arriving_(std::move(arriving)), leaving_(std::move(leaving)) {
    const std::lock_guard lock(slots_mutex());
    for (const SlotRange& range : leaving_) {
        for (TileSlot& slot : range.slots()) ++slot.leaving;
    }
    for (const SlotRange& range : arriving_) {
        for (TileSlot& slot : range.slots()) ++slot.mapped;
    }
    if (aliasing == Aliasing::allowed) return;
    for (const SlotRange& range : arriving_) {
        const auto slots = range.slots();
        const auto twice = std::find_if(slots.begin(), slots.end(),
                                        [](const TileSlot& slot) { return slot.mapped - slot.leaving > 1; });
        if (twice == slots.end()) continue;
        const auto slot = range.first + static_cast<std::size_t>(twice - slots.begin());
        take_back();
        throw Error(
            {.code = ErrorCode::overlap,
             .object = object,
             .problem = fmt::format("slot {} of {} is mapped to another tile already", slot, range.run->count),
             .remedy = "Unmap the other tile first. Or pass Aliasing::allowed; both tiles have the same texels then.",
             .numbers = {{"slot", slot}}});
    }
}

void SlotExchange::take_back() noexcept {
    for (const SlotRange& range : leaving_) {
        for (TileSlot& slot : range.slots()) --slot.leaving;
    }
    for (const SlotRange& range : arriving_) {
        for (TileSlot& slot : range.slots()) --slot.mapped;
    }
}

SlotExchange::~SlotExchange() {
    if (committed_) return;
    const std::lock_guard lock(slots_mutex());
    take_back();
}

template <class Visit>
void SlotExchange::each_slot(Visit visit) const {
    for (const auto* ranges : {&arriving_, &leaving_}) {
        for (const SlotRange& range : *ranges) {
            for (TileSlot& slot : range.slots()) visit(slot);
        }
    }
}

void SlotExchange::wait(const Stream& stream) const {
    using Events = std::set<std::shared_ptr<const Event>>;
    Events events;
    {
        const std::lock_guard lock(slots_mutex());
        const Event* last = nullptr;  // neighboring slots often have the same event
        each_slot([&](const TileSlot& slot) {
            if (slot.last_unmapped == nullptr || slot.last_unmapped.get() == last) return;
            last = slot.last_unmapped.get();
            events.insert(slot.last_unmapped);
        });
    }
    Events past;
    for (const auto& event : events) {
        if (event->done()) {
            past.insert(event);
        } else {
            order(stream, *event);
        }
    }
    if (past.empty()) return;
    const std::lock_guard lock(slots_mutex());
    each_slot([&](TileSlot& slot) {
        if (past.contains(slot.last_unmapped)) slot.last_unmapped = nullptr;
    });
}

void SlotExchange::commit(const std::shared_ptr<const Event>& done) noexcept {
    const std::lock_guard lock(slots_mutex());
    for (const SlotRange& range : leaving_) {
        for (TileSlot& slot : range.slots()) {
            --slot.leaving;
            --slot.mapped;
            slot.last_unmapped = done;
        }
    }
    committed_ = true;
}

void release_slots(const SlotRange& range) noexcept {
    const std::lock_guard lock(slots_mutex());
    for (TileSlot& slot : range.slots()) --slot.mapped;
}

}  // namespace texton::detail

#include <texton/deferred_array.h>

#include <fmt/format.h>

#include <texton/error.h>

#include "arrays/mapped_block.h"
#include "core/request.h"
#include "core/transfer.h"

namespace texton {
namespace {

constexpr const char* kDeferred = "texton::DeferredArray";

using detail::SlotRange;

std::vector<SlotRange> ranges_of(const SlotRange& range) {
    return range.run != nullptr ? std::vector{range} : std::vector<SlotRange>{};
}

class DeferredBlock : public detail::MappedBlock {
public:
    using MappedBlock::MappedBlock;
    ~DeferredBlock() override { destroy(order(), remains_); }

    void find_requirements() {
        requirements_ = detail::request(backend, kDeferred, {}, [&] { return backend->array_requirements(handle); });
    }
    const MemoryRequirements& requirements() const noexcept { return requirements_; }

    bool mapped() const {
        const std::shared_lock lock(mutex());
        return remains_->memory.run != nullptr;
    }

    void map(const Tiles& tiles, const Stream& stream) {
        check_stream(stream, kDeferred);
        const SlotRange range = slots_of(tiles);
        const std::unique_lock lock(mutex());
        map_to(range, stream, [&] { map_array(handle, range, stream); });
    }

    void unmap(const Stream& stream) {
        check_stream(stream, kDeferred);
        const std::unique_lock lock(mutex());
        if (remains_->memory.run == nullptr) return;
        map_to({}, stream, [&] { map_array(handle, {}, stream); });
    }

    void move(const Tiles& tiles, const Stream& stream) {
        check_stream(stream, kDeferred);
        const SlotRange range = slots_of(tiles);
        const std::unique_lock lock(mutex());
        check_usable(kDeferred);
        if (range.run == remains_->memory.run) return;
        if (remains_->shadow == nullptr) {
            remains_->shadow = detail::make_array(Device(*backend), info, detail::ArrayBacking::deferred, kDeferred);
        }
        map_to(range, stream, [&] { move_to(range, stream); });
    }

private:
    // The memory and the copy target. They are destroyed after the array.
    struct Remains {
        ~Remains() {
            if (memory.run != nullptr) detail::release_slots(memory);
        }
        SlotRange memory;                            // empty if not mapped
        std::shared_ptr<detail::ArrayBlock> shadow;  // an array with the same description, mapped only during move()
    };

    void check_usable(const char* object) const override {
        if (remains_->memory.run != nullptr) return;
        throw Error({.code = ErrorCode::not_mapped,
                     .object = object,
                     .problem = "the deferred array has no memory",
                     .remedy = "Call DeferredArray::map() before you use the array."});
    }

    SlotRange slots_of(const Tiles& tiles) const {
        check_tiles(tiles, kDeferred);
        const std::size_t needed = requirements_.bytes / kTileBytes;
        if (tiles.size() >= needed) return {tiles.run(), 0, needed};
        throw Error(
            {.code = ErrorCode::bad_argument,
             .object = kDeferred,
             .problem = fmt::format("{} tiles of 64 KiB were given, but the array needs {}", tiles.size(), needed),
             .remedy = "Allocate the tiles with TilePool::allocate_bytes(requirements().bytes).",
             .numbers = {{"tiles", tiles.size()}, {"needed", needed}}});
    }

    void map_array(detail::ArrayHandle array, const SlotRange& slots, const Stream& stream) const {
        const detail::TileRun* run = slots.run.get();
        backend->map_array(array, run != nullptr ? run->chunk->memory : nullptr,
                           run != nullptr ? run->byte_offset(slots.first) : 0, stream.state()->handle);
    }

    void map_to(const SlotRange& range, const Stream& stream, const std::function<void()>& map) {
        detail::SlotExchange slots(ranges_of(range), ranges_of(remains_->memory), Aliasing::allowed, kDeferred);
        change(kDeferred, stream, slots, map);
        remains_->memory = range;
    }

    // Maps the shadow to the new memory, copies the texels into it and maps this array there. Arrays with the same
    // description have the same memory layout.
    void move_to(const SlotRange& range, const Stream& stream) const {
        const detail::ArrayBlock& shadow = *remains_->shadow;
        const detail::StreamHandle on = stream.state()->handle;
        map_array(shadow.handle, range, stream);
        try {
            for (int level = 0; level < info.levels; ++level) {
                const detail::MemoryLocation to = detail::location_of(shadow, level);
                const detail::MemoryLocation from = detail::location_of(*this, level);
                backend->copy({&to, &from, detail::box_of(to)}, &on);
            }
            map_array(handle, range, stream);
        } catch (...) {
            discard_shadow(stream);
            detail::finish(stream);  // the copy may still write to the slots, which stay free
            throw;
        }
        discard_shadow(stream);
    }

    // Unmaps the shadow. If the device refuses, destroys the shadow, which ends its mapping too.
    void discard_shadow(const Stream& stream) const noexcept {
        try {
            map_array(remains_->shadow->handle, {}, stream);
        } catch (...) {
            remains_->shadow = nullptr;
        }
    }

    MemoryRequirements requirements_;
    std::shared_ptr<Remains> remains_ = std::make_shared<Remains>();
};

DeferredBlock& block_of(const Array& array) { return static_cast<DeferredBlock&>(detail::live(array, kDeferred)); }

}  // namespace

DeferredArray::DeferredArray(const Device& device, const ArrayInfo& info) try {
    auto block = detail::make_array<DeferredBlock>(device, info, detail::ArrayBacking::deferred, kDeferred);
    block->find_requirements();
    array_ = Array(std::move(block));
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kDeferred);
}

MemoryRequirements DeferredArray::requirements() const { return block_of(array_).requirements(); }
bool DeferredArray::mapped() const { return block_of(array_).mapped(); }
void DeferredArray::map(const Tiles& tiles, const Stream& stream) try {
    block_of(array_).map(tiles, stream);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kDeferred);
}
void DeferredArray::move(const Tiles& tiles, const Stream& stream) try {
    block_of(array_).move(tiles, stream);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kDeferred);
}
void DeferredArray::unmap(const Stream& stream) try { block_of(array_).unmap(stream); } catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kDeferred);
}
void DeferredArray::used_on(const Stream& stream) const try {
    detail::use_on(array_, stream, kDeferred);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kDeferred);
}

}  // namespace texton

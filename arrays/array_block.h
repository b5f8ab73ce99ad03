#pragma once
// What Array, its views, textures and surfaces share.
#include <texton/array.h>

#include "core/block.h"

namespace texton::detail {

class WorkOrder;

struct ArrayBlock : Block {
    ArrayBlock(Backend& backend, const ArrayInfo& info, std::size_t bytes) noexcept
        : Block(backend, MemoryKind::array, nullptr, bytes), info(info) {}
    ~ArrayBlock() override;

    ArrayInfo info;
    ArrayHandle handle = nullptr;
    int part = 0;                       ///< the first part that `info` speaks of: the plane of a planar array
    std::shared_ptr<ArrayBlock> whole;  ///< of a plane: the planar array, which owns the handle

protected:
    /// Destroys the textures, then the array, once the work that `order` knows of is done; `memory`, which it is mapped to,
    /// last. While the calling thread records a graph, when its recording has ended.
    void destroy(std::shared_ptr<WorkOrder> order, std::shared_ptr<void> memory) noexcept;
};

/// Error{released} unless the array is there.
ArrayBlock& live(const Array& array, const char* object);

/// A level, all layers and faces; without its owner.
Place place_of(const ArrayBlock& block, int level);

/// Checks `info` against the device's limits and what its driver takes, above any driver.
void check_array(const Device& device, const ArrayInfo& info, ArrayBacking backing, const char* object);

/// Has the device make the array of a checked block.
void create_array(ArrayBlock& block, ArrayBacking backing, const char* object);

/// A checked array of any backing, not yet mapped.
template <class Made = ArrayBlock>
std::shared_ptr<Made> make_array(const Device& device, const ArrayInfo& info, ArrayBacking backing,
                                 const char* object) {
    check_array(device, info, backing, object);
    auto block = std::make_shared<Made>(device.backend(), info, packed_bytes(info));
    create_array(*block, backing, object);
    return block;
}

}  // namespace texton::detail

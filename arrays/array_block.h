#pragma once
// The internal state of arrays, which their views, textures and surfaces keep alive.
#include <texton/array.h>

#include "core/block.h"

namespace texton::detail {

class WorkOrder;

/// Owns an array of the device, or refers to a plane of a planar array. After creation only MappedBlock changes it.
struct ArrayBlock : Block {
    ArrayBlock(Backend& backend, const ArrayInfo& info, std::size_t bytes) noexcept
        : Block(backend, MemoryKind::array, nullptr, bytes), info(info) {}
    ~ArrayBlock() override;

    ArrayInfo info;
    ArrayHandle handle = nullptr;
    int part = 0;                       ///< the plane of a planar array; 0 for other arrays
    std::shared_ptr<ArrayBlock> whole;  ///< for a plane: the planar array, which owns the handle

protected:
    /// Destroys the textures, waits for the work that `order` tracks, destroys the array and finally releases `memory`,
    /// to which the array is mapped. If the calling thread records a graph, this happens after the recording has ended.
    void destroy(std::shared_ptr<WorkOrder> order, std::shared_ptr<void> memory) noexcept;
};

/// Returns the state of an array. Throws Error{released} if the object is empty.
ArrayBlock& live(const Array& array, const char* object);

/// Returns the memory location of a level with all its layers and faces. The owner is not set.
MemoryLocation location_of(const ArrayBlock& block, int level);

/// Checks `info` against the limits of the device and the rules of CUDA, without a call to the driver. Throws the
/// errors of the constructor of Array.
void check_array(const Device& device, const ArrayInfo& info, ArrayBacking backing, const char* object);

/// Creates the array of a block whose `info` has been checked.
void create_array(ArrayBlock& block, ArrayBacking backing, const char* object);

/// Checks `info` and creates an array. Sparse and deferred arrays have no memory yet.
template <class Made = ArrayBlock>
std::shared_ptr<Made> make_array(const Device& device, const ArrayInfo& info, ArrayBacking backing,
                                 const char* object) {
    return request(&device.backend(), object, {}, [&] {
        check_array(device, info, backing, object);
        auto block = std::make_shared<Made>(device.backend(), info, packed_bytes(info));
        create_array(*block, backing, object);
        return block;
    });
}

}  // namespace texton::detail

#pragma once
// The physical memory behind a view of an AddressRange.
#include <texton/physical.h>

#include "core/block.h"

namespace texton::detail {

/// Physical memory that is mapped at the address of a view.
struct MappedMemory {
    std::shared_ptr<Block> physical;  ///< the block of a Physical
    std::size_t offset = 0;           ///< of the view in this memory
};

/// Returns the memory that is mapped to `bytes` bytes from `address` on, or no memory if several objects are mapped
/// there. `block` must be the owner of a view of MemoryKind::mapped.
[[nodiscard]] MappedMemory mapped_memory(const Block& block, const std::byte* address, std::size_t bytes);

/// Returns the options of the block of a Physical.
[[nodiscard]] const PhysicalInfo& physical_info(const Block& physical);
/// Returns a handle of the block of a Physical, with the errors of Physical::export_handle().
[[nodiscard]] ShareableHandle export_physical(const Block& physical, HandleType type);

}  // namespace texton::detail

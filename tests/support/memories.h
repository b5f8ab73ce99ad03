#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <texton/device.h>
#include <texton/view.h>

#include "tests/support/texels.h"

namespace texton::test {

/// Texels in memory of one kind, and all the bytes that surround them.
struct Memory {
    std::string name;
    std::shared_ptr<void> owner;
    View texels;
    View raw;              ///< every byte of the memory, padding and margins too, as one row
    Layout layout{};       ///< of the texels in `raw`
    bool foreign = false;  ///< on another device than the one under test

    /// Where a region of the texels lies in `raw`.
    Layout layout_of(const Region& region) const;
};

/// How to make memory of one kind for an extent.
struct MemoryMaker {
    std::string name;
    bool foreign = false;
    /// `which` 0 or 1 makes two that differ, where the kind has only a few places (symbols).
    std::function<Memory(int which)> make;
};

/// All kinds that can hold an extent of the format: host, pinned, registered, managed, linear, from a pool, pitched 2D and 3D,
/// mapped, symbols (one row of bytes only), and memory of other devices, if there are any.
[[nodiscard]] std::vector<MemoryMaker> memories(const Device& device, std::optional<Device> peer, Format format,
                                                Extent extent);

}  // namespace texton::test

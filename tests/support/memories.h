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

/// Texels in one kind of memory, with all bytes around them.
struct Memory {
    std::string name;
    std::shared_ptr<void> owner;
    View texels;
    View raw;              ///< all bytes of the memory as one row, including padding and margins
    Layout layout{};       ///< layout of the texels in `raw`
    bool foreign = false;  ///< true if the memory belongs to another device than the one under test

    /// Returns the layout of a region of the texels in `raw`.
    Layout layout_of(const Region& region) const;
};

/// Creates one kind of memory for an extent.
struct MemoryMaker {
    std::string name;
    bool foreign = false;
    /// `which` (0 or 1) selects the variable if the kind has only a few memory locations (symbols).
    std::function<Memory(int which)> make;
};

/// Returns all kinds of memory that can hold an extent of the format: host, pinned, registered, managed, linear, pool,
/// pitched 2D and 3D, mapped, symbols (one row of bytes only), and memory of other devices if there are any.
[[nodiscard]] std::vector<MemoryMaker> memories(const Device& device, std::optional<Device> peer, Format format,
                                                Extent extent);

}  // namespace texton::test

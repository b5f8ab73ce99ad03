#pragma once
// Address ranges of pools. The whole range is reserved when a pool is created; memory is added to it and removed from
// it in units.
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/cpu/system.h"

namespace texton::detail {

/// The address range of one pool, optionally shareable with other processes. It has no lock of its own: the pool
/// serializes the calls. The destructor unmaps the range.
class CpuArena {
public:
    using Id = std::array<std::uint8_t, 16>;

    /// Reserves addresses without memory. `bytes`, and all offsets and counts below, are in bytes and multiples of
    /// kUnit. `node` is a NUMA node, or -1 for any. Throws Error{out_of_memory} if the system cannot reserve the
    /// addresses.
    CpuArena(std::size_t bytes, bool shareable, int node);
    /// Maps the arena behind another process's file descriptor, which is duplicated. Throws Error{bad_argument} if the
    /// descriptor is not one of an arena, and Error{device_failure} if the process can open no more descriptors.
    explicit CpuArena(int descriptor);
    ~CpuArena();
    CpuArena(const CpuArena&) = delete;
    CpuArena& operator=(const CpuArena&) = delete;

    std::byte* base() const noexcept { return base_; }
    std::size_t bytes() const noexcept { return bytes_; }
    const Id& id() const noexcept { return id_; }
    Descriptor duplicate_file() const { return file_.duplicate(); }

    /// Makes part of the range accessible. Its contents are undefined. Returns false if the system has no memory.
    bool commit(std::size_t offset, std::size_t count) noexcept;
    /// Returns the memory of part of the range to the system. Later accesses to it fault. Returns false if the system
    /// refuses: the memory then stays accessible.
    bool decommit(std::size_t offset, std::size_t count) noexcept;

private:
    void map(int protection);

    Descriptor file_;  // only if shareable: a header of one unit, followed by the arena
    std::byte* base_ = nullptr;
    std::size_t bytes_ = 0;
    int node_ = -1;
    Id id_{};
};

}  // namespace texton::detail

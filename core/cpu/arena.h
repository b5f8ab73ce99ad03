#pragma once
// The addresses of a pool, reserved as a whole when it is made; memory comes and goes behind them in units.
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/cpu/system.h"

namespace texton::detail {

class CpuArena {
public:
    using Id = std::array<std::uint8_t, 16>;

    /// `bytes` and all offsets and counts below: multiples of kUnit. `node` -1: any.
    CpuArena(std::size_t bytes, bool shareable, int node);
    /// The arena behind another process's descriptor. Error{bad_argument} if it is none.
    explicit CpuArena(int descriptor);
    ~CpuArena();
    CpuArena(const CpuArena&) = delete;
    CpuArena& operator=(const CpuArena&) = delete;

    std::byte* base() const noexcept { return base_; }
    std::size_t bytes() const noexcept { return bytes_; }
    const Id& id() const noexcept { return id_; }
    Descriptor duplicate_file() const { return file_.duplicate(); }

    /// False if the system has no memory. Contents are undefined.
    bool commit(std::size_t offset, std::size_t count) noexcept;
    /// Whoever touches it from here on faults.
    void decommit(std::size_t offset, std::size_t count) noexcept;

private:
    void map(int protection);

    Descriptor file_;  // shareable: a header of one unit, then the arena
    std::byte* base_ = nullptr;
    std::size_t bytes_ = 0;
    int node_ = -1;
    Id id_{};
};

}  // namespace texton::detail

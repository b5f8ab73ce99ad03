#include "core/cpu/copy.h"

#include <algorithm>
#include <cstring>

#include <texton/format.h>

#include "core/parallel.h"

namespace texton::detail {
namespace {

// For fewer bytes, the synchronization of the cores takes longer than the time it saves.
constexpr std::size_t kParallelBytes = std::size_t{1} << 20;

// Merges rows that are contiguous on all sides into one, and slices too.
template <class... Side>
Box merged(Box box, const Side&... sides) {
    if ((sides.tiled() || ...)) return box;
    if (box.slices > 1 && ((sides.slice_pitch == sides.pitch * box.rows) && ...)) {
        box.rows *= box.slices;
        box.slices = 1;
    }
    if (box.rows > 1 && box.slices == 1 && ((sides.pitch == box.row_bytes) && ...)) {
        box.row_bytes *= box.rows;
        box.rows = 1;
    }
    return box;
}

// Calls body(row, first byte, bytes) for pieces of the box; rows are counted through all slices. Each core gets one
// long contiguous piece, because the C library writes long pieces past the caches. Short pieces go through the caches
// and reach two thirds of the speed.
template <class Body>
void in_parallel(const Box& box, std::size_t unit, const Body& body) {
    const std::size_t rows = box.rows * box.slices;
    const std::size_t total = rows * box.row_bytes;
    const auto run = [&](std::size_t begin, std::size_t end) {  // bytes, counted through all rows
        while (begin < end) {
            const std::size_t row = begin / box.row_bytes;
            const std::size_t byte = begin % box.row_bytes;
            const std::size_t count = std::min(end - begin, box.row_bytes - byte);
            body(row, byte, count);
            begin += count;
        }
    };
    const std::size_t cores = total < kParallelBytes ? 1 : cpu_cores();
    if (cores == 1) {
        run(0, total);
        return;
    }
    const std::size_t piece = (total / cores + unit) / unit * unit;
    run_in_parallel(cores, [&](std::size_t i) { run(std::min(i * piece, total), std::min((i + 1) * piece, total)); });
}

// Returns the bytes of a row of the box from `byte` to the end of the contiguous part.
CpuRun run_of(const CpuSide& side, const Box& box, std::size_t row, std::size_t byte) noexcept {
    if (side.tiled()) {
        return side.level->run(side.byte + byte, side.row + row % box.rows, side.slice + row / box.rows);
    }
    std::byte* base = side.address;
    if (side.level != nullptr) {
        base = side.level->run(side.byte, side.row, side.slice).address;
        if (base == nullptr) return {nullptr, box.row_bytes - byte};
    }
    return {base + row / box.rows * side.slice_pitch + row % box.rows * side.pitch + byte, box.row_bytes - byte};
}

using FillRow = void (*)(std::byte* row, std::size_t bytes, const std::byte* pattern);

template <std::size_t pattern_bytes>
void fill_row(std::byte* row, std::size_t bytes, const std::byte* pattern) {
    for (std::size_t i = 0; i < bytes; i += pattern_bytes) std::memcpy(row + i, pattern, pattern_bytes);
}

// Patterns that repeat one byte use memset, which reaches the full memory bandwidth.
FillRow fill_function(const std::array<std::byte, 16>& pattern, std::size_t bytes) {
    const bool one_byte = std::all_of(pattern.begin(), pattern.begin() + static_cast<std::ptrdiff_t>(bytes),
                                      [&](std::byte each) { return each == pattern[0]; });
    if (one_byte) {
        return [](std::byte* row, std::size_t count, const std::byte* value) {
            std::memset(row, std::to_integer<int>(*value), count);
        };
    }
    switch (bytes) {
        case 2: return fill_row<2>;
        case 4: return fill_row<4>;
        case 8: return fill_row<8>;
        default: return fill_row<16>;
    }
}

}  // namespace

CpuSide::CpuSide(const MemoryLocation& location)
    : address(location.address), pitch(location.pitch), slice_pitch(location.slice_pitch) {
    if (location.array == nullptr) return;
    const CpuArray& array = cpu_array(location.array);
    const Format format = array.part_format(location.array_part);
    const std::size_t side = block_side(format);
    level = &array.parts[static_cast<std::size_t>(location.array_part)];
    byte = location.array_offset.x / side * info(format).bytes;
    row = location.array_offset.y / side;
    slice = location.array_offset.z;
    pitch = level->row_pitch;
    slice_pitch = level->slice_pitch;
}

CpuCopy::CpuCopy(const CopyRequest& request)
    : to(*request.destination),
      from(*request.source),
      box(merged(request.box, to, from)),
      pageable(request.destination->kind == MemoryKind::host || request.source->kind == MemoryKind::host) {}

void CpuCopy::run() const {
    in_parallel(box, 64, [this](std::size_t row, std::size_t byte, std::size_t bytes) {
        for (std::size_t done = 0; done < bytes;) {
            const CpuRun into = run_of(to, box, row, byte + done);
            const CpuRun out_of = run_of(from, box, row, byte + done);
            const std::size_t count = std::min({bytes - done, into.bytes, out_of.bytes});
            if (into.address != nullptr && out_of.address != nullptr) {
                // The sides may overlap if both are mapped to the same memory.
                std::memmove(into.address, out_of.address, count);
            } else if (into.address != nullptr) {
                std::memset(into.address, 0, count);
            }
            done += count;
        }
    });
}

CpuFill::CpuFill(const FillRequest& request)
    : to(*request.destination),
      box(merged(request.box, to)),
      pattern(request.pattern),
      pattern_bytes(static_cast<std::size_t>(request.pattern_bytes)),
      pageable(request.destination->kind == MemoryKind::host) {}

void CpuFill::run() const {
    const auto fill = fill_function(pattern, pattern_bytes);
    in_parallel(box, 64, [&](std::size_t row, std::size_t byte, std::size_t bytes) {
        for (std::size_t done = 0; done < bytes;) {
            const CpuRun into = run_of(to, box, row, byte + done);
            const std::size_t count = std::min(bytes - done, into.bytes);
            if (into.address != nullptr) fill(into.address, count, pattern.data());
            done += count;
        }
    });
}

}  // namespace texton::detail

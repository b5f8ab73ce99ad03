#include "core/cpu_copy.h"

#include <algorithm>
#include <cstring>

#include <texton/format.h>

#include "core/cpu_parallel.h"

namespace texton::detail {
namespace {

// Below this size the cores' agreement costs more than it gains.
constexpr std::size_t kParallelBytes = std::size_t{1} << 20;

CpuCopy::Side side_of(const Place& place, const Box& box) {
    if (place.array == nullptr) return {place.address, place.pitch, place.slice_pitch};
    const CpuArray& array = *reinterpret_cast<const CpuArray*>(place.array);
    std::byte* first =
        array.address + place.array_offset.y * array.pitch + place.array_offset.x * info(array.format).bytes;
    return {first, array.pitch, array.pitch * box.rows};
}

// Rows that touch on all sides become one; so do slices.
template <class... Side>
Box merged(Box box, const Side&... sides) {
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

// Calls body(row, first byte, bytes), where rows count on through slices. One long piece a core: the C library moves
// long pieces past the caches, and short ones through them at two thirds of the speed.
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

std::byte* at(const CpuCopy::Side& side, const Box& box, std::size_t row) {
    return side.address + row / box.rows * side.slice_pitch + row % box.rows * side.pitch;
}

template <class Pattern>
void fill_row(std::byte* row, std::size_t bytes, std::uint32_t pattern) {
    auto* first = reinterpret_cast<Pattern*>(row);
    std::fill(first, first + bytes / sizeof(Pattern), static_cast<Pattern>(pattern));
}

// One byte repeated is what memset writes, at the full speed of memory.
bool is_one_byte(std::uint32_t pattern, int bytes) {
    const std::uint32_t low = pattern & 0xFF;
    return bytes == 1 || (bytes == 2 && (pattern & 0xFFFF) == low * 0x0101) ||
           (bytes == 4 && pattern == low * 0x01010101);
}

}  // namespace

CpuCopy::CpuCopy(const CopyRequest& request)
    : to(side_of(*request.destination, request.box)),
      from(side_of(*request.source, request.box)),
      box(merged(request.box, to, from)),
      pageable(request.destination->kind == MemoryKind::host || request.source->kind == MemoryKind::host) {}

void CpuCopy::run() const {
    in_parallel(box, 64, [this](std::size_t row, std::size_t byte, std::size_t bytes) {
        std::memcpy(at(to, box, row) + byte, at(from, box, row) + byte, bytes);
    });
}

CpuFill::CpuFill(const FillRequest& request)
    : to(side_of(*request.destination, request.box)),
      box(merged(request.box, to)),
      pattern(request.pattern),
      pattern_bytes(request.pattern_bytes) {}

void CpuFill::run() const {
    in_parallel(box, 64, [this](std::size_t row, std::size_t byte, std::size_t bytes) {
        std::byte* first = at(to, box, row) + byte;
        if (is_one_byte(pattern, pattern_bytes)) {
            std::memset(first, static_cast<int>(pattern & 0xFF), bytes);
        } else if (pattern_bytes == 2) {
            fill_row<std::uint16_t>(first, bytes, pattern);
        } else {
            fill_row<std::uint32_t>(first, bytes, pattern);
        }
    });
}

}  // namespace texton::detail

#include "kernels/launch/split_parts.h"

#include <texton/copy.h>

#include "kernels/launch/image_rows.h"

namespace texton::detail {
namespace {

constexpr std::size_t kTransferBytes = std::size_t{16} << 20;  // that pass from a device to another at once, at most

RowRange common(const RowRange& a, const RowRange& b) {
    const RowRange both{std::max(a.first, b.first), std::min(a.end, b.end)};
    return both.first < both.end ? both : RowRange{};
}

RowRange hull(const RowRange& a, const RowRange& b) {
    if (a.count() == 0) return b;
    if (b.count() == 0) return a;
    return {std::min(a.first, b.first), std::max(a.end, b.end)};
}

View in_linear(const SplitState& image, const Linear& memory, std::size_t rows) {
    return memory.view(image.shape.format, {image.shape.extent.width, rows, 1});
}

/// Allocates memory. If there is too little, frees the memory that the pool of the device does not use.
Linear allocate(const DeviceSetState& set, std::size_t device, std::size_t bytes) {
    try {
        return Linear(set.devices[device], bytes);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::out_of_memory || !set.pools[device]) throw;
    }
    set.pools[device]->trim();
    return Linear(set.devices[device], bytes);
}

/// Returns how many rows fit into memory.
std::size_t rows_in(const SplitState& image, const Linear& memory) { return memory.bytes() / image.pitch(); }

/// Allocates memory for rows that pass between devices: for all of them, or for as many as there is memory for.
void reserve(Linear& memory, const SplitState& image, std::size_t device, std::size_t rows) {
    rows = std::min(rows, std::max<std::size_t>(kTransferBytes / image.pitch(), 1));
    if (rows_in(image, memory) >= rows) return;
    memory = {};
    while (memory.bytes() == 0) {
        try {
            memory = allocate(*image.set, device, rows * image.pitch());
        } catch (const Error& error) {
            if (error.code() != ErrorCode::out_of_memory || rows == 1) throw;
            rows /= 2;
        }
    }
}

// --- copies between parts --------------------------------------------------------------------------------------------

/// Copies rows between two parts on different devices. They are in the band of `from`.
void send_rows(SplitState& image, std::size_t from, std::size_t to, const RowRange& rows) {
    const DeviceSetState& set = *image.set;
    SplitPart& source = image.parts[from];
    SplitPart& destination = image.parts[to];
    const std::size_t received_rows = rows_in(image, destination.received);
    const std::size_t step =
        source.memory.bytes() != 0 ? received_rows : std::min(received_rows, rows_in(image, source.sent));
    for (std::size_t first = rows.first; first < rows.end; first += step) {
        const RowRange piece{first, std::min(first + step, rows.end)};
        const View received = in_linear(image, destination.received, piece.count());
        View sent;
        Event written = source.ready;
        if (source.memory.bytes() != 0) {
            sent = in_memory(image, source, piece);
        } else {
            sent = in_linear(image, source.sent, piece.count());
            copy(sent, source.texels.view(piece), set.streams[from]);
            written = Event(set.devices[from], EventTiming::off);
            written.record(set.streams[from]);
        }
        set.streams[to].wait(written);
        copy(received, sent, set.streams[to]);
        const Event read(set.devices[to], EventTiming::off);
        read.record(set.streams[to]);
        set.streams[from].wait(read);  // before the memory is written again
        copy(destination.texels.view(piece), received, set.streams[to]);
    }
}

/// Copies rows from one part to another. They are in the band of `from`.
void copy_rows(SplitState& image, std::size_t from, std::size_t to, const RowRange& rows) {
    const DeviceSetState& set = *image.set;
    if (set.devices[from] != set.devices[to]) return send_rows(image, from, to, rows);
    SplitPart& source = image.parts[from];
    const View texels = source.memory.bytes() != 0 ? in_memory(image, source, rows) : source.texels.view(rows);
    if (from != to) set.streams[to].wait(source.ready);
    copy(image.parts[to].texels.view(rows), texels, set.streams[to]);
    if (from == to) return;
    const Event read(set.devices[to], EventTiming::off);
    read.record(set.streams[to]);
    set.streams[from].wait(read);
}

}  // namespace

void reserve_rows(SplitState& image, std::size_t device, const RowRange& rows) {
    const DeviceSetState& set = *image.set;
    SplitPart& part = image.parts[device];
    const RowRange wanted = hull(part.loaded, rows);
    part.texels.keep(wanted, set.streams[device]);
    if (wanted == part.loaded) return;
    for (std::size_t other = 0; other < set.size(); ++other) {
        SplitPart& source = image.parts[other];
        const std::size_t count = common(source.band, wanted).count();
        if (set.devices[other] == set.devices[device] || count == 0) continue;
        reserve(part.received, image, device, count);
        if (source.memory.bytes() == 0) reserve(source.sent, image, other, count);
    }
}

void load_rows(SplitState& image, std::size_t device, const RowRange& rows) {
    SplitPart& part = image.parts[device];
    const RowRange loaded = part.loaded;
    const RowRange wanted = hull(loaded, rows);
    if (wanted == loaded) return;
    const bool is_first = loaded.count() == 0;
    const RowRange missing[] = {{wanted.first, is_first ? wanted.end : loaded.first},
                                {is_first ? wanted.end : loaded.end, wanted.end}};
    for (const RowRange& range : missing) {
        for (std::size_t other = 0; other < image.parts.size(); ++other) {
            const RowRange of_other = common(image.parts[other].band, range);
            if (of_other.count() != 0) copy_rows(image, other, device, of_other);
        }
    }
    part.loaded = wanted;
}

// --- bands and memory ------------------------------------------------------------------------------------------------

std::vector<RowRange> divided(std::size_t height, const std::vector<bool>& takes_part) {
    const std::size_t units = (height + kRowAlignment - 1) / kRowAlignment;
    const auto count = static_cast<std::size_t>(std::ranges::count(takes_part, true));
    std::vector<RowRange> bands(takes_part.size());
    std::size_t number = 0;
    for (std::size_t i = 0; i < bands.size(); ++i) {
        if (!takes_part[i]) continue;
        const auto begin = [&](std::size_t at) { return std::min(at * units / count * kRowAlignment, height); };
        bands[i] = {begin(number), begin(number + 1)};
        ++number;
    }
    return bands;
}

View in_memory(const SplitState& image, const SplitPart& part, const RowRange& rows) {
    const Extent& extent = image.shape.extent;
    return part.memory.view(image.shape.format, {extent.width, part.band.count(), extent.depth})
        .region({{0, rows.first - part.band.first, 0}, {extent.width, rows.count(), extent.depth}});
}

void make_texels(SplitState& image, std::size_t device) {
    SplitPart& part = image.parts[device];
    if (part.texels.array().block() != nullptr) return;
    const Extent& extent = image.shape.extent;
    const Device& of = image.set->devices[device];
    part.texels = MappedRows(
        of, {.format = image.shape.format, .extent = {extent.width, extent.height}, .usage = {.surface = true}},
        of.kind() == DeviceKind::cuda, image.set->pools[device]);
}

void allocate_band(SplitState& image, std::size_t device, const RowRange& band) {
    SplitPart& part = image.parts[device];
    const std::size_t bytes = band.count() * image.pitch() * image.shape.extent.depth;
    if (part.memory.bytes() != bytes) {
        part.band = {};
        part.memory = {};  // frees the memory before the new memory is allocated
        part.memory = allocate(*image.set, device, bytes);
    }
    part.band = band;
}

void release_others(SplitState& image, const std::vector<RowRange>& bands) {
    for (std::size_t i = 0; i < bands.size(); ++i) {
        if (bands[i].count() != 0) continue;
        SplitPart& part = image.parts[i];
        part.band = part.loaded = {};
        part.memory = part.sent = part.received = {};
        part.texels = {};
    }
}

void wait_for_all(const DeviceSetState& set) {
    for (const Stream& stream : set.streams) stream.synchronize();
}

}  // namespace texton::detail

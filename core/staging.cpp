#include <algorithm>
#include <array>
#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <texton/error.h>

#include "core/block.h"
#include "core/parallel.h"
#include "core/transfer.h"

// Copies between pageable memory and a CUDA device, in pieces through a ring of pinned buffers. While the bus transfers
// one piece, all cores copy the next piece into its buffer (upload) or a previous piece out of its buffer (download).
// The driver does the same with one core and small buffers, at a sixth of the speed of the bus.
//
// One copy at a time uses a ring. After an upload, its buffers can still be in flight on a stream that waits for work
// that this thread has not enqueued yet. To avoid a deadlock, a later copy uses a ring that is idle or was last used on
// the same stream, or else a new ring. The number of rings is the maximum number of streams that had uploads in flight
// at the same time, usually one.

namespace texton::detail {
namespace {

constexpr std::size_t kBufferBytes = HostStage::kBytes;
constexpr std::size_t kBuffers = 4;
constexpr std::size_t kGrain = std::size_t{256} << 10;  // bytes per task

struct Buffer {
    std::byte* address = nullptr;
    EventHandle free = nullptr;  // recorded after the last copy that used the buffer
};

}  // namespace

class Ring {
public:
    explicit Ring(Backend& backend) : backend_(&backend) {
        try {
            stream_ = backend.create_stream(0);
            earlier_ = backend.create_event(EventTiming::off);
            for (Buffer& buffer : buffers_) {
                buffer.address = backend.allocate_host(kBufferBytes, {});
                buffer.free = backend.create_event(EventTiming::off);
            }
        } catch (...) {
            release();
            throw;
        }
    }
    ~Ring() { release(); }
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;

    /// Returns the stream of the ring, after all work that the default stream has now. It is another stream than the
    /// default stream so that copies of several threads can run at the same time.
    StreamHandle after_default_stream() const {
        backend_->record_event(earlier_, nullptr);
        backend_->stream_wait(stream_, earlier_);
        return stream_;
    }
    std::array<Buffer, kBuffers>& buffers() noexcept { return buffers_; }
    bool usable_on(const StreamHandle* stream) const {
        return (stream != nullptr && *stream == last_stream_) ||
               std::all_of(buffers_.begin(), buffers_.end(),
                           [&](const Buffer& buffer) { return backend_->event_done(buffer.free); });
    }
    void used_on(StreamHandle stream) noexcept { last_stream_ = stream; }

private:
    void release() noexcept {
        for (Buffer& buffer : buffers_) {
            if (buffer.free != nullptr) backend_->destroy_event(buffer.free);
            if (buffer.address != nullptr) backend_->free_host(buffer.address);
        }
        if (earlier_ != nullptr) backend_->destroy_event(earlier_);
        if (stream_ != nullptr) backend_->destroy_stream(stream_);
    }

    Backend* backend_;
    StreamHandle stream_ = nullptr;
    EventHandle earlier_ = nullptr;  // the work of the default stream before a copy without a stream
    StreamHandle last_stream_ = nullptr;
    std::array<Buffer, kBuffers> buffers_{};
};

namespace {

class Rings {
public:
    std::unique_ptr<Ring> take(Backend& backend, const StreamHandle* stream) {
        {
            const std::lock_guard lock(mutex_);
            auto& idle = idle_[&backend];
            for (auto ring = idle.begin(); ring != idle.end(); ++ring) {
                if (!(*ring)->usable_on(stream)) continue;
                auto taken = std::move(*ring);
                idle.erase(ring);
                return taken;
            }
        }
        return std::make_unique<Ring>(backend);
    }
    void give_back(Backend& backend, std::unique_ptr<Ring> ring) {
        const std::lock_guard lock(mutex_);
        idle_[&backend].push_front(std::move(ring));
    }
    static Rings& instance() {
        static Rings& made = *new Rings;  // never destroyed, because the driver can shut down before static objects
        return made;
    }

private:
    std::mutex mutex_;
    std::map<Backend*, std::list<std::unique_ptr<Ring>>> idle_;
};

// A part of the box that fits into a buffer: whole rows of one slice, or a part of one row.
struct Piece {
    std::size_t slice, row, byte;
    Box box;
};

std::vector<Piece> pieces_of(const Box& box) {
    std::vector<Piece> pieces;
    for (std::size_t slice = 0; slice < box.slices; ++slice) {
        if (box.row_bytes > kBufferBytes) {
            for (std::size_t row = 0; row < box.rows; ++row) {
                for (std::size_t byte = 0; byte < box.row_bytes; byte += kBufferBytes) {
                    pieces.push_back({slice, row, byte, {std::min(kBufferBytes, box.row_bytes - byte), 1, 1}});
                }
            }
            continue;
        }
        const std::size_t rows = kBufferBytes / box.row_bytes;
        for (std::size_t row = 0; row < box.rows; row += rows) {
            pieces.push_back({slice, row, 0, {box.row_bytes, std::min(rows, box.rows - row), 1}});
        }
    }
    return pieces;
}

// Returns the location of a piece, in memory or in an array.
MemoryLocation part_of(const MemoryLocation& whole, const Piece& piece) {
    MemoryLocation part = whole;
    if (whole.kind == MemoryKind::array) {
        const std::size_t side = block_side(whole.format);
        part.array_offset.x += piece.byte / info(whole.format).bytes * side;
        part.array_offset.y += piece.row * side;
        part.array_offset.z += piece.slice;
    } else {
        part.address += piece.slice * whole.slice_pitch + piece.row * whole.pitch + piece.byte;
    }
    return part;
}

MemoryLocation packed_buffer(std::byte* buffer, const Box& box, Format format) {
    MemoryLocation location;
    location.address = buffer;
    location.pitch = box.row_bytes;
    location.slice_pitch = box.row_bytes * box.rows;
    location.kind = MemoryKind::pinned;
    location.format = format;
    return location;
}

// Copies rows from host memory to host memory with all cores. The calling thread runs no other tasks meanwhile, because
// it may hold the mapping of a sparse or deferred array, which other tasks may wait for.
void copy_rows(std::byte* to, std::size_t to_pitch, const std::byte* from, std::size_t from_pitch, const Box& box) {
    if (box.rows == 1 || (to_pitch == box.row_bytes && from_pitch == box.row_bytes)) {
        const std::size_t bytes = box.row_bytes * box.rows;
        run_in_parallel((bytes + kGrain - 1) / kGrain, [&](std::size_t piece) {
            const std::size_t begin = piece * kGrain;
            std::memcpy(to + begin, from + begin, std::min(kGrain, bytes - begin));
        });
        return;
    }
    const std::size_t grain = std::max<std::size_t>(1, kGrain / box.row_bytes);
    run_in_parallel((box.rows + grain - 1) / grain, [&](std::size_t piece) {
        const std::size_t end = std::min((piece + 1) * grain, box.rows);
        for (std::size_t row = piece * grain; row < end; ++row) {
            std::memcpy(to + row * to_pitch, from + row * from_pitch, box.row_bytes);
        }
    });
}

void upload(Backend& backend, Ring& ring, const CopyRequest& request, StreamHandle stream) {
    std::size_t turn = 0;
    for (const Piece& piece : pieces_of(request.box)) {
        Buffer& buffer = ring.buffers()[turn++ % kBuffers];
        backend.synchronize_event(buffer.free);
        const MemoryLocation from = part_of(*request.source, piece);
        copy_rows(buffer.address, piece.box.row_bytes, from.address, from.pitch, piece.box);
        const MemoryLocation packed = packed_buffer(buffer.address, piece.box, request.source->format);
        const MemoryLocation to = part_of(*request.destination, piece);
        backend.copy({&to, &packed, piece.box}, &stream);
        backend.record_event(buffer.free, stream);
    }
}

void download(Backend& backend, Ring& ring, const CopyRequest& request, StreamHandle stream) {
    const std::vector<Piece> pieces = pieces_of(request.box);
    for (std::size_t turn = 0; turn < pieces.size() + kBuffers - 1; ++turn) {
        if (turn < pieces.size()) {
            Buffer& buffer = ring.buffers()[turn % kBuffers];
            backend.synchronize_event(buffer.free);  // a previous upload can still use it
            const MemoryLocation packed = packed_buffer(buffer.address, pieces[turn].box, request.source->format);
            const MemoryLocation from = part_of(*request.source, pieces[turn]);
            backend.copy({&packed, &from, pieces[turn].box}, &stream);
            backend.record_event(buffer.free, stream);
        }
        if (turn + 1 < kBuffers) continue;
        const std::size_t landed = turn + 1 - kBuffers;
        if (landed >= pieces.size()) continue;
        Buffer& buffer = ring.buffers()[landed % kBuffers];
        backend.synchronize_event(buffer.free);
        const MemoryLocation to = part_of(*request.destination, pieces[landed]);
        copy_rows(to.address, to.pitch, buffer.address, pieces[landed].box.row_bytes, pieces[landed].box);
    }
}

}  // namespace

void copy_staged(Backend& backend, const CopyRequest& request, const StreamHandle* stream) {
    std::unique_ptr<Ring> ring = Rings::instance().take(backend, stream);
    const StreamHandle on = stream != nullptr ? *stream : ring->after_default_stream();
    const Backend* destination = home(*request.destination);
    ring->used_on(on);
    // After a failure the ring is not given back: its destructor frees the buffers without waiting.
    if (destination == &backend) {
        upload(backend, *ring, request, on);
    } else {
        download(backend, *ring, request, on);
    }
    if (stream == nullptr) backend.synchronize_stream(on);
    Rings::instance().give_back(backend, std::move(ring));
}

void copy_through_host(Backend& backend, const CopyRequest& request, StreamHandle stream) {
    const std::size_t bytes = request.box.row_bytes * request.box.rows * request.box.slices;
    const HostStage stage(backend, stream, std::min(bytes, kBufferBytes));
    for (const Piece& piece : pieces_of(request.box)) {
        const MemoryLocation packed = packed_buffer(stage.buffer(), piece.box, request.source->format);
        const MemoryLocation from = part_of(*request.source, piece);
        const MemoryLocation to = part_of(*request.destination, piece);
        backend.copy({&packed, &from, piece.box}, &stream);
        backend.copy({&to, &packed, piece.box}, &stream);
    }
}

HostStage::HostStage(Backend& backend, StreamHandle stream, std::size_t bytes) : backend_(backend), stream_(stream) {
    if (stream == nullptr || !backend.stream_capturing(stream)) {
        ring_ = Rings::instance().take(backend, &stream);
        ring_->used_on(stream);
        return;
    }
    if (!recording()) {
        throw Error(
            {.code = ErrorCode::capturing,
             .problem = "the copy needs a pinned buffer that the graph keeps, but the stream is captured by code other "
                        "than Graph::capture()",
             .remedy = "Record the work with Graph::capture(), in the thread that calls it."});
    }
    kept_ = make_block(backend, "", MemoryKind::pinned, bytes, &Backend::free_host,
                       [&] { return backend.allocate_host(bytes, {}); });
    keep_in_recording(kept_);
}

HostStage::~HostStage() {
    if (ring_ == nullptr) return;
    try {
        for (const Buffer& buffer : ring_->buffers()) backend_.record_event(buffer.free, stream_);
        Rings::instance().give_back(backend_, std::move(ring_));
    } catch (const std::exception&) {
        // After a failure the ring is not given back: its destructor frees the buffers.
    }
}

std::byte* HostStage::buffer() const noexcept {
    return kept_ != nullptr ? kept_->address : ring_->buffers().front().address;
}

std::byte* HostStage::written_by_host() const {
    if (ring_ != nullptr) backend_.synchronize_event(ring_->buffers().front().free);
    return buffer();
}

}  // namespace texton::detail

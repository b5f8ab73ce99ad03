#include "arrays/files/reader/serve.h"

#include <OpenImageIO/imageio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <list>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "arrays/files/isolated/bands.h"
#include "arrays/files/isolated/message.h"
#include "arrays/files/isolated/protocol.h"
#include "core/file_error.h"
#include "core/parallel.h"

// The process that reads one file, or several. It calls the functions that the library calls when it reads in its own
// process.

namespace texton::reader {
namespace {

using namespace texton::detail;

constexpr unsigned kMaxThreads = 8;
constexpr unsigned kThreadPools = 2;  // of OpenImageIO and of OpenEXR
constexpr std::size_t kStackOfTbb = std::size_t{4} << 20;

// The shared memory. It can grow at each request.
class SharedMemory {
public:
    explicit SharedMemory(int file) : file_(file) {}

    // Returns a part of the memory.
    std::span<std::byte> part(std::uint64_t offset, std::uint64_t bytes) {
        if (offset + bytes > mapped_.size()) map();
        if (offset + bytes > mapped_.size()) throw std::bad_alloc();
        return mapped_.subspan(offset, bytes);
    }
    // The header of the memory was mapped before.
    void set_taken(std::uint64_t number) noexcept {
        const MemoryHeader header{.taken = number};
        if (mapped_.size() >= sizeof(header)) std::memcpy(mapped_.data(), &header, sizeof(header));
    }

private:
    void map() {
        struct stat state {};
        ::fstat(file_, &state);
        const auto bytes = static_cast<std::size_t>(state.st_size);
        void* const address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
        if (address == MAP_FAILED) throw std::bad_alloc();
        if (!mapped_.empty()) ::munmap(mapped_.data(), mapped_.size());
        mapped_ = {static_cast<std::byte*>(address), bytes};
    }

    int file_;
    std::span<std::byte> mapped_;
};

// Returns the bytes of private memory of the process.
std::uint64_t private_bytes() {
    std::ifstream file("/proc/self/statm");
    std::uint64_t pages = 0;
    for (int field = 0; field < 6; ++field) file >> pages;  // the sixth number: data and stack
    return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void set_limit(__rlimit_resource resource, double value) {
    rlimit limit{};
    ::getrlimit(resource, &limit);
    limit.rlim_cur = value < 1e18 ? static_cast<rlim_t>(value) : RLIM_INFINITY;
    limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
    ::setrlimit(resource, &limit);
}

double processor_seconds() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + 2;
}

class Reader {
public:
    Reader(int socket, int memory) : socket_(socket), memory_(memory) {}

    // Answers requests until the library closes the socket.
    void run() {
        for (bool is_spare = true; const std::optional<Packet> packet = receive(PacketKind::request);) {
            if (std::exchange(is_spare, false)) ::prctl(PR_SET_NAME, kReaderName);
            try {
                (void)memory_.part(0, kHeaderBytes);
            } catch (const std::bad_alloc&) {
                send_packet(socket_, PacketKind::out_of_memory);
                continue;
            }
            memory_.set_taken(packet->value);
            answer(request_of(contents_));
        }
    }

private:
    // Limits the threads of OpenImageIO and OpenEXR, and returns their number.
    static unsigned limited_threads() {
        int threads = 0;
        OIIO::getattribute("threads", threads);
        const auto limited = std::clamp<unsigned>(static_cast<unsigned>(threads), 1, kMaxThreads);
        if (std::cmp_equal(limited, threads)) return limited;
        OIIO::attribute("threads", static_cast<int>(limited));  // creates more threads first, and ends them
        OIIO::attribute("exr_threads", static_cast<int>(limited));
        return limited;
    }

    // Receives a packet of this kind. Closes files until it arrives. Returns nothing if the library closed the socket.
    std::optional<Packet> receive(PacketKind kind) {
        Packet packet;
        std::size_t bytes = 0;
        (void)arrives_soon(socket_);
        while (receive_packet(socket_, packet, space_, bytes) == Received::packet) {
            contents_ = std::span(space_).first(bytes);
            if (packet.kind == kind) return packet;
            if (packet.kind == PacketKind::copied) continue;  // of a request that failed
            if (packet.kind != PacketKind::closed) break;
            std::erase_if(sources_, [&](const Source& source) { return source.file == packet.value; });
        }
        return std::nullopt;
    }

    void answer(const Request& request) {
        try {
            set_limits(request);
            if (request.kind == RequestKind::open) {
                reply(PacketKind::reply, message(described(request)));
            } else {
                read(request);
            }
        } catch (const std::bad_alloc&) {
            send_packet(socket_, PacketKind::out_of_memory);
        } catch (const Error& error) {
            // read_image() opens files as open_image() does.
            reply(PacketKind::error, message(renamed(error, request.object.c_str())));
        } catch (...) {
            try {
                fail_with_current(request.object.c_str(), request.path);
            } catch (const Error& error) {
                reply(PacketKind::error, message(error));
            }
        }
    }

    // The memory and the time that were used before do not count, nor do the stacks of threads that are created later.
    void set_limits(const Request& request) const {
        const auto stacks = static_cast<double>(threads_ * (kThreadPools * kStackBytes + kStackOfTbb));
        set_limit(RLIMIT_DATA, static_cast<double>(private_bytes_) + stacks + static_cast<double>(request.memory));
        set_limit(RLIMIT_CPU, std::ceil(processor_seconds() + request.seconds * threads_));
    }

    void reply(PacketKind kind, std::span<const std::byte> bytes) {
        const std::size_t all = bytes.size();
        if (all > kMaxResult) throw std::runtime_error("its metadata have " + std::to_string(all) + " bytes");
        do {
            const auto part = bytes.first(std::min(bytes.size(), kMaxContents));
            send_packet(socket_, kind, all, {}, 0, part);
            bytes = bytes.subspan(part.size());
        } while (!bytes.empty());
    }

    struct Source {
        std::uint64_t file;
        SourceKey key;
        Description description;
        ImageSourcePtr texels;
    };

    // Opens a source, or returns it if it is open. Closes the source that was used first if there are too many.
    const Source& source_of(const Request& request) {
        const auto same = [&](const Source& source) {
            return source.file == request.file && source.key == request.source;
        };
        const auto found = std::ranges::find_if(sources_, same);
        if (found == sources_.end()) {
            sources_.push_front(opened(request));
        } else {
            sources_.splice(sources_.begin(), sources_, found);
        }
        if (sources_.size() > kMaxSources) sources_.pop_back();
        return sources_.front();
    }

    static OpenedImage plane_of(OpenedFrame frame, int plane) {
        OpenedImage image;
        image.file = plane == 0 ? frame.luma : frame.chroma;
        image.metadata = std::move(frame.metadata);
        image.conversions = std::move(frame.conversions);
        image.is_encoded = false;
        return image;
    }

    static Source opened(const Request& request) {
        Source source{.file = request.file, .key = request.source, .description = {}, .texels = nullptr};
        source.description.identity = identity_of(request.path);
        OpenedImage& image = source.description.image;
        switch (request.source.kind) {
            case SourceKind::file:
                image = open_file(request.path, request.source.part);
                if (request.source.plane == 1 && image.planar) image.file = image.chroma;
                break;
            case SourceKind::first: image = open_first_image(request.path, request.source.part); break;
            case SourceKind::raw:
                image = plane_of(open_raw_frame(request.path, request.source.raw), request.source.plane);
                break;
            case SourceKind::y4m:
                image = plane_of(open_y4m_frame(request.path, request.source.raw.frame), request.source.plane);
                break;
        }
        source.description.is_encoded = image.is_encoded;
        source.texels = std::move(image.file);
        source.description.format = source.texels->format();
        source.description.srgb = source.texels->srgb();
        const std::span<const StoredLevel> stored = source.texels->stored_levels();
        source.description.stored.assign(stored.begin(), stored.end());
        if (const TiffPart* const part = source.texels->tiff_part()) source.description.tiff = *part;
        int level = 0;
        for (const Extent& extent : source.texels->levels()) {
            source.description.levels.push_back({extent, source.texels->access(level++)});
        }
        return source;
    }

    Description described(const Request& request) {
        const Source& source = source_of(request);
        Description description = source.description;
        const Extent extent = description.levels.front().extent;
        const std::size_t bytes = packed_bytes(description.format, extent);
        if (bytes > request.texels) return description;
        description.texels.resize(bytes);
        try {
            source.texels->read(0, whole(extent), description.texels.data());
        } catch (const Error&) {
            description.texels.clear();  // the request for them will fail
        }
        return description;
    }

    void read(const Request& request) {
        const Source& source = source_of(request);
        const auto level = static_cast<std::size_t>(request.level);
        const std::vector<DescribedLevel>& levels = source.description.levels;
        const bool same = source.description.identity == request.identity &&
                          source.description.format == request.format && level < levels.size() &&
                          levels[level].extent == request.extent;
        if (!same) fail_file("texton::ImageFile", request.path, "has changed since it was opened", "Open it again.");
        const std::vector<Region> bands = bands_of(request.format, request.box, levels[level].access.granule);
        std::uint64_t largest = 0;
        for (const Region& band : bands) largest = std::max(largest, band_bytes(request, band));
        for (std::size_t i = 0; i < bands.size(); ++i) {
            if (i >= kBandsInMemory && !receive(PacketKind::copied)) ::_exit(0);
            if (i > 0) set_limits(request);
            const std::uint64_t bytes = band_bytes(request, bands[i]);
            source.texels->read(request.level, bands[i], memory_.part(band_offset(i, largest), bytes).data());
            send_packet(socket_, PacketKind::band, bytes);
        }
    }
    static std::uint64_t band_bytes(const Request& request, const Region& band) {
        return packed_bytes(request.format, band.extent);
    }

    static constexpr std::size_t kMaxSources = 32;

    int socket_;
    SharedMemory memory_;
    const unsigned threads_ = limited_threads();
    CpuThreads own_threads_{static_cast<int>(threads_)};  // of Texton's code
    const CpuThreadsScope scope_{&own_threads_};
    const std::uint64_t private_bytes_ = private_bytes();  // before a file is opened
    std::list<Source> sources_;                            // the one that was used last comes first
    std::array<std::byte, kMaxContents> space_;
    std::span<const std::byte> contents_;  // of the last packet
};

}  // namespace

void serve(int socket, int memory) {
    ::prctl(PR_SET_NAME, kSpareName);
    Reader reader(socket, memory);
    send_packet(socket, PacketKind::ready);
    reader.run();
    ::_exit(0);
}

}  // namespace texton::reader

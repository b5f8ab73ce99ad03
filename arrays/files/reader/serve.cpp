#include "arrays/files/reader/serve.h"

#include <OpenImageIO/imageio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "arrays/files/isolated/message.h"
#include "arrays/files/isolated/protocol.h"
#include "arrays/files/oiio.h"

// The process that reads one file, or several files in turn. It calls the functions that the library calls when it reads in its own process.

namespace texton::reader {
namespace {

using namespace texton::detail;

constexpr unsigned kMaxThreads = 8;  // their stacks count as memory of the file

// A part of the shared memory, from its beginning.
class SharedMemory {
public:
    SharedMemory(int file, std::size_t bytes) : bytes_(bytes) {
        if (bytes == 0) return;
        address_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (address_ == MAP_FAILED) throw std::bad_alloc();
    }
    ~SharedMemory() {
        if (bytes_ != 0) ::munmap(address_, bytes_);
    }
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;
    std::byte* data() const noexcept { return static_cast<std::byte*>(address_); }
    std::span<std::byte> bytes() const noexcept { return {data(), bytes_}; }

private:
    void* address_ = nullptr;
    std::size_t bytes_;
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

// Returns the error as one of the function that was called: read_image() opens files as open_image() does.
Error renamed(const Error& error, const std::string& object) {
    return Error({.code = error.code(),
                  .object = object,
                  .problem = error.problem(),
                  .remedy = error.remedy(),
                  .numbers = error.numbers(),
                  .call = error.call(),
                  .cuda_name = error.cuda_name()});
}

class Reader {
public:
    Reader(int socket, int memory) : socket_(socket), memory_(memory), private_bytes_(private_bytes()) {
        int threads = 0;
        OIIO::getattribute("threads", threads);
        threads_ = std::clamp<unsigned>(static_cast<unsigned>(threads), 1, kMaxThreads);
        if (std::cmp_equal(threads_, threads)) return;
        OIIO::attribute("threads", static_cast<int>(threads_));
        OIIO::attribute("exr_threads", static_cast<int>(threads_));
    }

    void answer(std::size_t request_bytes) {
        const Request request = request_of(SharedMemory(memory_, request_bytes).bytes());
        try {
            set_limit(RLIMIT_DATA, static_cast<double>(private_bytes_) + static_cast<double>(request.memory));
            set_limit(RLIMIT_CPU, std::ceil(processor_seconds() + request.seconds * threads_));
            answer(request);
        } catch (const std::bad_alloc&) {
            send_packet(socket_, PacketKind::out_of_memory);
        } catch (const Error& error) {
            reply(PacketKind::error, message(renamed(error, request.object)));
        } catch (const std::length_error&) {
            reply(PacketKind::error,
                  message(Error({.code = ErrorCode::io,
                                 .object = request.object,
                                 .problem = request.path + " specifies a size that does not fit in memory",
                                 .remedy = "The file may be damaged."})));
        } catch (const std::exception& error) {
            reply(PacketKind::error,
                  message(Error({.code = ErrorCode::io,
                                 .object = request.object,
                                 .problem = request.path + " cannot be read: " + one_line(error.what()),
                                 .remedy = "The file may be damaged."})));
        }
    }

    // Closes the file. The next requests are for another one.
    void close() noexcept { sources_.clear(); }

private:
    void answer(const Request& request) {
        switch (request.kind) {
            case RequestKind::is_dds: reply_number(is_dds(request.path) ? 1 : 0); break;
            case RequestKind::image_count: reply_number(image_count(request.path)); break;
            case RequestKind::open: reply(PacketKind::reply, message(source_of(request).description)); break;
            case RequestKind::read: read(request); break;
        }
    }

    void reply(PacketKind kind, const std::vector<std::byte>& bytes) {
        struct stat memory_state {};
        ::fstat(memory_, &memory_state);
        if (std::cmp_greater(bytes.size(), memory_state.st_size)) {
            throw std::runtime_error("its metadata have " + std::to_string(bytes.size()) + " bytes");
        }
        const SharedMemory memory(memory_, bytes.size());
        std::memcpy(memory.data(), bytes.data(), bytes.size());
        send_packet(socket_, kind, bytes.size());
    }
    void reply_number(int number) {
        MessageWriter out;
        out.put(number);
        reply(PacketKind::reply, out.bytes());
    }

    struct Source {
        SourceKey key;
        Description description;
        ImageSourcePtr texels;
    };

    // Opens a source, or returns it if it is open.
    const Source& source_of(const Request& request) {
        const auto same = [&](const Source& source) { return source.key == request.source; };
        const auto found = std::find_if(sources_.begin(), sources_.end(), same);
        if (found != sources_.end()) return *found;
        if (sources_.size() >= kMaxSources) sources_.clear();
        return sources_.emplace_back(opened(request));
    }

    static Source opened(const Request& request) {
        Source source{.key = request.source, .description = {}, .texels = nullptr};
        OpenedImage& image = source.description.image;
        switch (request.source.kind) {
            case SourceKind::oiio:
                image = open_with_oiio(request.path, request.source.part, request.source.color);
                break;
            case SourceKind::dds:
                image = open_dds(request.path, request.source.color);
                if (request.source.plane == 1 && image.planar) image.file = image.chroma;
                break;
            case SourceKind::raw: {
                OpenedFrame frame = open_raw_frame(request.path, request.source.raw);
                image.metadata = std::move(frame.metadata);
                image.file = request.source.plane == 0 ? frame.luma : frame.chroma;
                break;
            }
        }
        source.texels = std::move(image.file);
        source.description.format = source.texels->format();
        source.description.srgb = source.texels->srgb();
        int level = 0;
        for (const Extent& extent : source.texels->levels()) {
            source.description.levels.push_back({extent, source.texels->access(level++)});
        }
        return source;
    }

    void read(const Request& request) {
        const Source& source = source_of(request);
        const auto level = static_cast<std::size_t>(request.level);
        const std::vector<DescribedLevel>& levels = source.description.levels;
        const bool same = source.description.format == request.format && level < levels.size() &&
                          levels[level].extent == request.extent;
        if (!same) fail_file("texton::ImageFile", request.path, "has changed since it was opened", "Open it again.");
        const std::size_t bytes = packed_bytes(request.format, request.box.extent);
        const SharedMemory memory(memory_, bytes);
        source.texels->read(request.level, request.box, memory.data());
        send_packet(socket_, PacketKind::reply, bytes);
    }

    static constexpr std::size_t kMaxSources = 32;

    int socket_;
    int memory_;
    std::uint64_t private_bytes_;  // before a file is opened
    unsigned threads_ = 1;
    std::vector<Source> sources_;
};

}  // namespace

void serve(int socket, int memory) {
    Reader reader(socket, memory);
    send_packet(socket, PacketKind::ready);
    Packet packet;
    while (receive_packet(socket, packet) == Received::packet) {
        if (packet.kind == PacketKind::closed) {
            reader.close();
            continue;
        }
        if (packet.kind != PacketKind::request) break;
        send_packet(socket, PacketKind::taken);
        reader.answer(packet.value);
    }
    ::_exit(0);
}

}  // namespace texton::reader

#include "arrays/files/isolated/session.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstring>
#include <list>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "arrays/files/isolated/bands.h"
#include "arrays/files/isolated/protocol.h"
#include "arrays/files/oiio.h"

namespace texton::detail {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxConnected = 16;                       // processes that wait for requests
constexpr std::uint64_t kKeptMemory = std::uint64_t{32} << 20;  // shared memory that is reused
constexpr std::chrono::seconds kStartTime{60};                  // until a process is ready
constexpr const char* kDamaged = "The file may be damaged.";

// The sessions that have a process. The most recently used session comes first. There are more than kMaxConnected only
// while more requests than that are answered at the same time.
class ConnectedSessions {
public:
    // Called before each request, by the thread that uses the session.
    void used(ReaderSession* session) {
        const std::lock_guard lock(mutex_);
        const auto found = std::ranges::find(sessions_, session);
        if (found == sessions_.end()) {
            sessions_.push_front(session);
        } else {
            sessions_.splice(sessions_.begin(), sessions_, found);
        }
        end_surplus(session);
    }
    // Called after each request, when its session is idle.
    void end_surplus() noexcept {
        const std::lock_guard lock(mutex_);
        end_surplus(nullptr);
    }
    void forget(ReaderSession* session) noexcept {
        const std::lock_guard lock(mutex_);
        sessions_.remove(session);
    }
    static ConnectedSessions& instance() {
        static ConnectedSessions& made = *new ConnectedSessions;  // images can outlive static objects
        return made;
    }

private:
    // Ends the processes of the idle sessions that were not used for the longest time. Busy sessions stay in the list,
    // because their processes wait for requests later. The calling thread can use one of them, `own`.
    void end_surplus(const ReaderSession* own) noexcept {
        auto session = sessions_.end();
        while (sessions_.size() > kMaxConnected && session != sessions_.begin()) {
            --session;
            if (*session != own && (*session)->end_if_idle()) session = sessions_.erase(session);
        }
    }

    std::mutex mutex_;
    std::list<ReaderSession*> sessions_;
};

// Returns false if nothing arrived in time.
bool wait_for_packet(int socket, Clock::time_point deadline) noexcept {
    if (arrives_soon(socket)) return true;
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
        pollfd event{socket, POLLIN, 0};
        const int count = ::poll(&event, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000)));
        if (count > 0) return true;
        if (Clock::now() >= deadline) return false;
    }
}

Clock::time_point after(double seconds) {
    constexpr double kLongest = 1e8;  // three years
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                              std::chrono::duration<double>(std::clamp(seconds, 0.0, kLongest)));
}

// Returns true if the limit of this process for the size of files allows it. A larger size would raise SIGXFSZ.
bool is_allowed_size(std::uint64_t bytes) noexcept {
    rlimit limit{};
    return ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

// Returns for example "SIGSEGV".
std::string signal_name(int signal) {
    const char* abbreviation = ::sigabbrev_np(signal);
    return abbreviation == nullptr ? "unknown" : "SIG" + std::string(abbreviation);
}

std::uint64_t next_number() noexcept {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

// Closes a file in a process that may be answering a request of another session.
void close_file(const std::shared_ptr<ReaderConnection::Process>& process, std::uint64_t number) noexcept {
    if (process == nullptr || process->owner != ::getpid()) return;
    --process->files;
    send_packet(process->socket.number(), PacketKind::closed, number, {}, MSG_DONTWAIT);
}

}  // namespace

struct ReaderSession::Asked {
    const char* object;
    std::vector<std::byte> bytes;  // the request
    std::uint64_t memory;
    double seconds;
    std::vector<std::uint64_t> bands = {};  // bytes of each band of the texels
    std::uint64_t largest = 0;              // bytes of the largest band
    std::span<std::byte> packed = {};       // receives the texels
};

// While it exists, no other thread uses the session. Then the session is idle, and its process can be one too many.
class ReaderSession::Turn {
public:
    explicit Turn(ReaderSession& session) : lock_(session.mutex_) {}
    ~Turn() {
        lock_.unlock();
        ConnectedSessions::instance().end_surplus();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

private:
    std::unique_lock<std::mutex> lock_;
};

ReaderSession::ReaderSession(std::filesystem::path path, const ReadOptions& options,
                             std::shared_ptr<std::atomic<bool>> are_read)
    : path_(std::move(path)), options_(options), number_(next_number()), are_read_(std::move(are_read)) {}

ReaderSession::~ReaderSession() {
    ConnectedSessions::instance().forget(this);
    close_file(opened_in_.lock(), number_);
}

bool ReaderSession::end_if_idle() noexcept {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock.owns_lock()) connection_.reset();
    return lock.owns_lock();
}

// Returns true if a request that failed must be repeated in a new process, since other files can be the cause.
bool ReaderSession::can_repeat() noexcept {
    if (!connection_->is_reused) return false;
    failed_ = true;
    return true;
}

void ReaderSession::fail(const Asked& asked, const std::string& why, std::string remedy, ErrorCode code,
                         std::vector<ErrorNumber> numbers) {
    connection_.reset();
    throw Error({.code = code,
                 .object = asked.object,
                 .problem = path_.string() + ": " + why,
                 .remedy = std::move(remedy),
                 .numbers = std::move(numbers)});
}

void ReaderSession::invalid(const Asked& asked, const std::string& what) {
    connection_.reset();
    refuse_reply(asked.object, what);
}

void ReaderSession::refuse_reply(const char* object, const std::string& what) {
    failed_ = true;
    if (const auto process = opened_in_.lock()) ::shutdown(process->socket.number(), SHUT_RDWR);  // ends it
    throw Error({.code = ErrorCode::io,
                 .object = object,
                 .problem = fmt::format("{}: its reader sent an invalid reply ({})", path_.string(), what),
                 .remedy = kDamaged});
}

void ReaderSession::late(const Asked& asked) {
    fail(asked, fmt::format("reading it took longer than the limit of {:g} seconds", asked.seconds),
         "The file may be damaged. If it is not, raise ReadLimits::seconds.", ErrorCode::io,
         {{"milliseconds", static_cast<std::uint64_t>(std::ceil(asked.seconds * 1000))}});
}

void ReaderSession::ended(const Asked& asked, int status) {
    if (WIFSIGNALED(status)) {
        const int signal = WTERMSIG(status);
        if (signal == SIGXCPU) late(asked);
        fail(asked, fmt::format("its reader ended with signal {} ({})", signal, signal_name(signal)), kDamaged,
             ErrorCode::io, {{"signal", static_cast<std::uint64_t>(signal)}});
    }
    fail(asked, fmt::format("its reader ended with status {}", WEXITSTATUS(status)), kDamaged, ErrorCode::io,
         {{"status", static_cast<std::uint64_t>(WEXITSTATUS(status))}});
}

// Makes connection_ a process that waits for a request. The one of an earlier request is of no use if it ended, or sent
// a packet that nobody requested.
void ReaderSession::connect(const char* object) {
    if (shares()) {
        connection_ = kept_reader(path_, opened_in_.lock());
    } else {
        ConnectedSessions::instance().used(this);
        if (connection_ && !(connection_->is_own() && connection_->is_idle())) connection_.reset();
    }
    if (!connection_) connection_.emplace(connect_reader(object, path_));
}

// Frees memory that the next request may not need, and returns a process to those that sessions share.
void ReaderSession::release(const Asked& asked) noexcept {
    if (asked.largest * kBandsInMemory > kKeptMemory) {
        ::fallocate(connection_->memory(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(kKeptMemory),
                    static_cast<off_t>(connection_->memory_bytes - kKeptMemory));
    }
    if (!shares()) return;
    moved_to(connection_->process());
    connection_->is_reused = true;
    keep_reader(std::move(*connection_));
    connection_.reset();
}

// The process has opened the file.
void ReaderSession::moved_to(const std::shared_ptr<ReaderConnection::Process>& process) noexcept {
    const auto before = opened_in_.lock();
    if (before == process) return;
    close_file(before, number_);
    ++process->files;
    opened_in_ = process;
}

// Enlarges the shared memory. Pages that are not used take no memory.
void ReaderSession::grow(ReaderConnection& process, const Asked& asked) {
    const std::uint64_t texels =
        asked.bands.empty() ? 0 : band_offset(kBandsInMemory - 1, asked.largest) + asked.largest;
    const std::uint64_t bytes = std::max<std::uint64_t>(kHeaderBytes, texels);
    if (bytes <= process.memory_bytes) return;
    const bool allowed = is_allowed_size(bytes);
    if (!allowed) errno = EFBIG;
    if (!allowed || ::ftruncate(process.memory(), static_cast<off_t>(bytes)) != 0) no_memory(asked, bytes);
    process.memory_bytes = bytes;
}

void ReaderSession::no_memory(const Asked& asked, std::uint64_t bytes) {
    fail(asked,
         fmt::format("{} bytes of shared memory are not available: {}", bytes, std::generic_category().message(errno)),
         "Free memory. The file may also be damaged.", ErrorCode::out_of_memory, {{"bytes", bytes}});
}

// Copies a part of the shared memory, whose size is that of grow().
void ReaderSession::copy(const Asked& asked, std::uint64_t offset, std::span<std::byte> to) {
    const std::span<const std::byte> memory = connection_->mapped_memory();
    if (memory.empty()) no_memory(asked, connection_->memory_bytes);
    std::memcpy(to.data(), memory.data() + offset, to.size());
}

// Adds the contents of a packet to those of earlier packets. Returns true if they are complete.
bool ReaderSession::add(const Asked& asked, std::uint64_t bytes, std::span<const std::byte> part,
                        std::vector<std::byte>& contents) {
    const bool fits = contents.size() <= bytes && bytes <= kMaxResult;
    if (!fits || part.size() != std::min<std::uint64_t>(bytes - contents.size(), kMaxContents))
        invalid(asked, fmt::format("{} of {} bytes", part.size(), bytes));
    contents.insert(contents.end(), part.begin(), part.end());
    return contents.size() == bytes;
}

// Returns true if the process has received the request with this number.
bool ReaderSession::was_taken(std::uint64_t number) const noexcept {
    MemoryHeader header;
    return ::pread(connection_->memory(), &header, sizeof(header), 0) == sizeof(header) && header.taken == number;
}

std::optional<std::vector<std::byte>> ReaderSession::attempt(const Asked& asked) {
    connect(asked.object);
    grow(*connection_, asked);
    const std::uint64_t number = ++connection_->requests;
    if (!send_packet(connection_->socket(), PacketKind::request, number, {}, 0, asked.bytes)) return std::nullopt;
    if (number == 1 && !options_.reuses_process) prepare_reader(path_);  // while the process reads
    return receive(asked, number);
}

// Returns the contents of the reply, which are empty for texels, or nothing if the process ended for a reason other
// than the request.
std::optional<std::vector<std::byte>> ReaderSession::receive(const Asked& asked, std::uint64_t number) {
    ReaderConnection& reader = *connection_;
    std::size_t band = 0, copied = 0;
    std::vector<std::byte> contents;
    Clock::time_point deadline = reader.is_ready ? after(asked.seconds) : Clock::now() + kStartTime;
    for (;;) {
        if (!wait_for_packet(reader.socket(), deadline)) {
            if (reader.is_ready) late(asked);
            fail(asked, fmt::format("its reader did not start within {} seconds", kStartTime.count()),
                 "The machine may have too much work.");
        }
        Packet packet;
        std::array<std::byte, kMaxContents> space;
        std::size_t bytes = 0;
        switch (receive_packet(reader.socket(), packet, space, bytes)) {
            case Received::closed: return std::nullopt;
            case Received::malformed: invalid(asked, "no packet");
            case Received::packet: break;
        }
        const auto received = std::span(space).first(bytes);
        const bool failed = packet.kind == PacketKind::error || packet.kind == PacketKind::out_of_memory ||
                            packet.kind == PacketKind::ended;
        if (failed && can_repeat()) return std::nullopt;
        switch (packet.kind) {
            case PacketKind::ready:
                if (reader.is_ready) invalid(asked, "ready twice");
                reader.is_ready = true;
                deadline = after(asked.seconds);
                break;
            case PacketKind::reply:
                if (!reader.is_ready || !asked.bands.empty()) invalid(asked, "a reply");
                if (add(asked, packet.value, received, contents)) return contents;
                break;
            case PacketKind::band: {
                if (!reader.is_ready || band == asked.bands.size()) invalid(asked, "a band");
                const std::uint64_t expected = asked.bands[band];
                if (packet.value != expected) invalid(asked, fmt::format("{} bytes of texels", packet.value));
                copy(asked, band_offset(band, asked.largest), asked.packed.subspan(copied, expected));
                copied += expected;
                if (++band == asked.bands.size()) return std::vector<std::byte>();
                if (band + 1 < asked.bands.size()) send_packet(reader.socket(), PacketKind::copied);
                deadline = after(asked.seconds);
                break;
            }
            case PacketKind::error: {
                if (!add(asked, packet.value, received, contents)) break;
                try {
                    throw error_of(contents);
                } catch (const MalformedMessage& malformed) {
                    invalid(asked, malformed.what());
                }
            }
            case PacketKind::out_of_memory:
                fail(asked, fmt::format("reading it takes more memory than the limit of {} bytes", asked.memory),
                     "The file may be damaged. If it is not, raise ReadLimits::bytes.", ErrorCode::out_of_memory,
                     {{"limit", asked.memory}});
            case PacketKind::ended:
                if (!was_taken(number)) return std::nullopt;
                ended(asked, static_cast<int>(packet.value));
            case PacketKind::not_started:
                fail(asked,
                     "a process that reads it could not be started: " +
                         std::generic_category().message(static_cast<int>(packet.value)),
                     "End other processes, or raise the limits of this one.", ErrorCode::out_of_memory);
            case PacketKind::hello:
            case PacketKind::connect:
            case PacketKind::request:
            case PacketKind::copied:
            case PacketKind::closed: invalid(asked, "an unknown packet");
        }
    }
}

// A process can be killed before it has taken the request, and if the helper is killed, all readers end with it. This
// says nothing about the file, so that it is read again.
std::vector<std::byte> ReaderSession::exchange(const Asked& asked) try {
    for (int count = 0; count < 4; ++count) {
        if (auto contents = attempt(asked)) {
            release(asked);
            return std::move(*contents);
        }
        connection_.reset();
        discard_prepared_reader();
    }
    fail(asked, "its reader was ended from outside", "Read it again.");
} catch (...) {
    if (shares()) connection_.reset();
    failed_ = true;
    throw;
}

std::uint64_t ReaderSession::memory() const {
    return memory_limit(options_.limits, claim_.bytes != 0 ? claim_ : assumed_claim(path_));
}

ReaderSession::Asked ReaderSession::asked(const char* object, Request request) const {
    // A longer path is no path of a file, and does not fit in a packet.
    if (path_.native().size() >= PATH_MAX) require_file(object, path_);
    request.file = number_;
    request.object = object;
    request.path = path_.string();
    request.memory = memory();
    request.seconds = time_limit(options_.limits, claim_);
    return {object, message(request), request.memory, request.seconds};
}

Description ReaderSession::open(const char* object, const SourceKey& source, std::uint64_t texels) {
    const Turn turn(*this);
    const Asked asked = this->asked(object, {.source = source, .texels = texels});
    return described(asked, exchange(asked));
}

bool ReaderSession::send_ahead(const char* object, const SourceKey& source, std::uint64_t texels,
                               ReaderConnection& process) {
    const Asked asked = this->asked(object, {.source = source, .texels = texels});
    grow(process, asked);
    ahead_ = ++process.requests;
    return send_packet(process.socket(), PacketKind::request, ahead_, {}, 0, asked.bytes);
}

std::optional<Description> ReaderSession::receive_ahead(const char* object, std::optional<ReaderConnection>& process) {
    const Turn turn(*this);
    try {
        const Asked asked = this->asked(object, {});
        connection_ = std::exchange(process, std::nullopt);
        if (const auto contents = receive(asked, ahead_)) {
            Description description = described(asked, *contents);
            if (description.identity != file_) return std::nullopt;
            moved_to(connection_->process());
            connection_->is_reused = true;
            process = std::exchange(connection_, std::nullopt);
            return description;
        }
    } catch (const Error&) {
        // open() throws it again.
    }
    connection_.reset();
    failed_ = true;
    return std::nullopt;
}

// Reads the reply to the request to open a source.
Description ReaderSession::described(const Asked& asked, const std::vector<std::byte>& bytes) {
    try {
        Description description = description_of(bytes);
        file_ = identity_of(path_);
        const std::size_t parts = description.image.metadata.parts;
        if (parts < 1 || parts > std::max<std::uint64_t>(file_.bytes, 1)) invalid(asked, "number of parts");
        add_claim(claim_, description, file_.bytes);
        return description;
    } catch (const MalformedMessage& malformed) {
        invalid(asked, malformed.what());
    }
}

namespace {

// Returns the bytes of each band of a box of a level.
std::vector<std::uint64_t> bytes_of_bands(const Description& opened, int level, const Region& box) {
    const DescribedLevel& described = opened.levels[static_cast<std::size_t>(level)];
    std::vector<std::uint64_t> bytes;
    for (const Region& band : bands_of(opened.format, box, described.access.granule))
        bytes.push_back(packed_bytes(opened.format, band.extent));
    return bytes;
}

}  // namespace

void ReaderSession::require_possible(const char* object, const Description& opened, int level, const Region& box) {
    note_read();
    const std::vector<std::uint64_t> bands = bytes_of_bands(opened, level, box);
    const std::lock_guard lock(mutex_);
    require_possible(object, opened, std::ranges::max(bands));
}

// Files without encoding were compared with their size when they were opened, and take no memory.
void ReaderSession::require_possible(const char* object, const Description& opened, std::uint64_t largest) const {
    if (!opened.is_encoded) return;
    if (!claim_.is_possible) {
        throw Error({.code = ErrorCode::io,
                     .object = object,
                     .problem = fmt::format("{} specifies {} bytes of texels, but its {} bytes cannot contain them",
                                            path_.string(), claim_.bytes, file_.bytes),
                     .remedy = "The file may be truncated.",
                     .numbers = {{"bytes", claim_.bytes}, {"file", file_.bytes}}});
    }
    if (const std::uint64_t limit = memory(); largest > limit) {
        throw Error({.code = ErrorCode::out_of_memory,
                     .object = object,
                     .problem = fmt::format(
                         "{}: {} bytes of texels exceed the limit of {} bytes of memory{}", path_.string(), largest,
                         limit, options_.limits.bytes != 0 ? "" : ", which follows from the size of the file"),
                     .remedy = "The file may be damaged. If it is not, raise ReadLimits::bytes.",
                     .numbers = {{"bytes", largest}, {"limit", limit}}});
    }
}

void ReaderSession::read(const char* object, const SourceKey& source, const Description& opened, int level,
                         const Region& box, std::span<std::byte> packed) {
    const DescribedLevel& described = opened.levels[static_cast<std::size_t>(level)];
    note_read();
    const Turn turn(*this);
    Asked asked = this->asked(object, {.kind = RequestKind::read,
                                       .source = source,
                                       .identity = opened.identity,
                                       .level = level,
                                       .box = box,
                                       .format = opened.format,
                                       .extent = described.extent});
    asked.bands = bytes_of_bands(opened, level, box);
    asked.largest = std::ranges::max(asked.bands);
    asked.packed = packed;
    require_possible(object, opened, asked.largest);
    (void)exchange(asked);
}

}  // namespace texton::detail

#include "arrays/files/isolated/session.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <list>
#include <system_error>

#include <fmt/format.h>

#include "arrays/files/isolated/protocol.h"
#include "arrays/files/oiio.h"

namespace texton::detail {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxConnected = 16;                       // processes that wait for requests
constexpr std::uint64_t kMaxResult = std::uint64_t{64} << 20;   // bytes of a result that is not texels
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

bool write_all(int file, std::span<const std::byte> bytes) noexcept {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t put = ::pwrite(file, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        done += static_cast<std::size_t>(put);
    }
    return true;
}

bool read_all(int file, std::span<std::byte> bytes) noexcept {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t got = ::pread(file, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        done += static_cast<std::size_t>(got);
    }
    return true;
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

}  // namespace

ReaderSession::FileState ReaderSession::state_of(const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) return {};
    const std::uintmax_t bytes = std::filesystem::file_size(path, error);
    if (error) return {};
    return {bytes, std::filesystem::last_write_time(path, error)};
}

struct ReaderSession::Asked {
    const char* object;
    std::vector<std::byte> bytes;  // the request
    std::uint64_t memory;
    double seconds;
    std::uint64_t capacity;  // largest result
    bool opened;             // the request is for a file that was opened before
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

ReaderSession::ReaderSession(std::filesystem::path path, const ReadOptions& options)
    : path_(std::move(path)), options_(options) {}

ReaderSession::~ReaderSession() {
    ConnectedSessions::instance().forget(this);
    if (!options_.reuses_process || failed_ || !connection_ || !connection_->is_own() || !connection_->is_idle())
        return;
    if (send_packet(connection_->socket(), PacketKind::closed, 0, {}, MSG_DONTWAIT))
        keep_reader(std::move(*connection_));
}

bool ReaderSession::end_if_idle() noexcept {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock.owns_lock()) connection_.reset();
    return lock.owns_lock();
}

// Returns true if a request that failed must be repeated in a new process, since other files can be the cause.
bool ReaderSession::can_repeat() noexcept {
    if (!is_reused_) return false;
    failed_ = true;  // also: no other process that read other files
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

// Returns false if the connection of an earlier request is of no use: the process ended, or sent a packet that nobody
// requested. Then there is a new connection.
bool ReaderSession::connected(const char* object) {
    ConnectedSessions::instance().used(this);
    if (connection_ && connection_->is_own() && connection_->is_idle()) return true;
    connection_.reset();
    connect(object);
    struct stat state {};
    memory_bytes_ = ::fstat(connection_->memory(), &state) == 0 ? static_cast<std::uint64_t>(state.st_size) : 0;
    return false;
}

void ReaderSession::connect(const char* object) {
    const char* const folder = path_.is_absolute() ? "/" : ".";
    is_reused_ = false;
    if (options_.reuses_process && !failed_) {
        if (auto kept = kept_reader(object, folder)) {
            connection_.emplace(std::move(*kept));
            is_reused_ = true;
            return;
        }
    }
    connection_.emplace(connect_reader(object, folder));
}

void ReaderSession::grow(const Asked& asked) {
    // Every result except texels, and every error, has kMaxResult bytes at most. Pages that are not used take no memory.
    const std::uint64_t bytes = std::max<std::uint64_t>({kMaxResult, asked.bytes.size(), asked.capacity});
    const int file = connection_->memory();
    if (bytes > memory_bytes_) {
        const bool allowed = is_allowed_size(bytes);
        if (!allowed) errno = EFBIG;
        if (!allowed || ::ftruncate(file, static_cast<off_t>(bytes)) != 0) {
            fail(asked,
                 fmt::format("{} bytes of shared memory are not available: {}", bytes,
                             std::generic_category().message(errno)),
                 "Free memory. The file may also be damaged.", ErrorCode::out_of_memory, {{"bytes", bytes}});
        }
        memory_bytes_ = bytes;
    }
    if (write_all(file, asked.bytes)) return;
    fail(asked, "shared memory cannot be written: " + std::generic_category().message(errno), "Free memory.",
         ErrorCode::out_of_memory, {{"bytes", asked.bytes.size()}});
}

std::vector<std::byte> ReaderSession::contents(const Asked& asked, std::uint64_t bytes) {
    std::vector<std::byte> result(bytes);
    if (!read_all(connection_->memory(), result)) invalid(asked, "too few bytes");
    return result;
}

// Returns the size of the result, or nothing if the process ended for a reason other than the request.
std::optional<std::uint64_t> ReaderSession::attempt(const Asked& asked) {
    const bool was_connected = connected(asked.object);
    if (!was_connected && asked.opened && state_of(path_) != state_) {
        fail(asked, "it has changed since it was opened", "Open it again.");
    }
    bool ready = was_connected || is_reused_;
    grow(asked);
    const int socket = connection_->socket();
    if (!send_packet(socket, PacketKind::request, asked.bytes.size())) return std::nullopt;
    bool taken = false;
    Clock::time_point deadline = ready ? after(asked.seconds) : Clock::now() + kStartTime;
    for (;;) {
        if (!wait_for_packet(socket, deadline)) {
            if (ready) late(asked);
            fail(asked, fmt::format("its reader did not start within {} seconds", kStartTime.count()),
                 "The machine may have too much work.");
        }
        Packet packet;
        switch (receive_packet(socket, packet)) {
            case Received::closed: return std::nullopt;
            case Received::malformed: invalid(asked, "no packet");
            case Received::packet: break;
        }
        const bool failed = packet.kind == PacketKind::error || packet.kind == PacketKind::out_of_memory ||
                            packet.kind == PacketKind::ended;
        if (failed && can_repeat()) return std::nullopt;
        switch (packet.kind) {
            case PacketKind::ready:
                if (ready) invalid(asked, "ready twice");
                ready = true;
                deadline = after(asked.seconds);
                break;
            case PacketKind::taken:
                if (taken || !ready) invalid(asked, "taken");
                taken = true;
                break;
            case PacketKind::reply:
                if (packet.value > asked.capacity) invalid(asked, fmt::format("{} bytes", packet.value));
                return packet.value;
            case PacketKind::error: {
                if (packet.value > memory_bytes_) invalid(asked, fmt::format("an error of {} bytes", packet.value));
                try {
                    throw error_of(contents(asked, packet.value));
                } catch (const MalformedMessage& malformed) {
                    invalid(asked, malformed.what());
                }
            }
            case PacketKind::out_of_memory:
                fail(asked, fmt::format("reading it takes more memory than the limit of {} bytes", asked.memory),
                     "The file may be damaged. If it is not, raise ReadLimits::bytes.", ErrorCode::out_of_memory,
                     {{"limit", asked.memory}});
            case PacketKind::ended:
                if (!taken) return std::nullopt;
                ended(asked, static_cast<int>(packet.value));
            case PacketKind::not_started:
                fail(asked,
                     "a process that reads it could not be started: " +
                         std::generic_category().message(static_cast<int>(packet.value)),
                     "End other processes, or raise the limits of this one.", ErrorCode::out_of_memory);
            case PacketKind::hello:
            case PacketKind::connect:
            case PacketKind::request:
            case PacketKind::closed: invalid(asked, "an unknown packet");
        }
    }
}

// A process can be killed before it has taken the request, and if the helper is killed, all readers end with it. This
// says nothing about the file, so that it is read again.
std::uint64_t ReaderSession::exchange(const Asked& asked) try {
    for (int count = 0; count < 4; ++count) {
        if (const auto bytes = attempt(asked)) return *bytes;
        connection_.reset();
    }
    fail(asked, "its reader was ended from outside", "Read it again.");
} catch (...) {
    failed_ = true;
    throw;
}

ReaderSession::Asked ReaderSession::asked(const char* object, Request request, std::uint64_t capacity) const {
    request.object = object;
    request.path = path_.string();
    request.memory = memory_limit(options_.limits, claim_);
    request.seconds = time_limit(options_.limits, claim_);
    return {object, message(request), request.memory, request.seconds, capacity, request.kind == RequestKind::read};
}

std::vector<std::byte> ReaderSession::ask(const char* object, Request request) {
    const Turn turn(*this);
    const Asked asked = this->asked(object, std::move(request), kMaxResult);
    return contents(asked, exchange(asked));
}

Description ReaderSession::open(const char* object, const SourceKey& source) {
    const std::vector<std::byte> bytes = ask(object, {.kind = RequestKind::open, .source = source});
    try {
        Description description = description_of(bytes);
        const Turn turn(*this);
        state_ = state_of(path_);
        add_claim(claim_, description, state_.bytes);
        return description;
    } catch (const MalformedMessage& malformed) {
        refuse_reply(object, malformed.what());
    }
}

void ReaderSession::read(const char* object, Request request, std::span<std::byte> packed) {
    const std::size_t bytes = packed.size();
    const Turn turn(*this);
    // Texton compares the claims of files that it decodes itself with their size when it opens them, and needs
    // no memory for their texels beside the shared memory.
    const bool encoded = request.source.kind == SourceKind::oiio;
    const Asked asked = this->asked(object, std::move(request), bytes);
    if (encoded && !claim_.is_possible) {
        throw Error({.code = ErrorCode::io,
                     .object = object,
                     .problem = fmt::format("{} specifies {} bytes of texels, but its {} bytes cannot contain them",
                                            path_.string(), claim_.bytes, state_.bytes),
                     .remedy = "The file may be truncated.",
                     .numbers = {{"bytes", claim_.bytes}, {"file", state_.bytes}}});
    }
    if (encoded && bytes > asked.memory) {
        throw Error({.code = ErrorCode::out_of_memory,
                     .object = object,
                     .problem = fmt::format(
                         "{}: {} bytes of texels exceed the limit of {} bytes of memory{}", path_.string(), bytes,
                         asked.memory, options_.limits.bytes != 0 ? "" : ", which follows from the size of the file"),
                     .remedy = "The file may be damaged. If it is not, raise ReadLimits::bytes.",
                     .numbers = {{"bytes", bytes}, {"limit", asked.memory}}});
    }
    if (exchange(asked) != bytes) invalid(asked, "a wrong number of bytes");
    if (!read_all(connection_->memory(), packed)) invalid(asked, "too few bytes");
    if (bytes > kKeptMemory) {
        ::fallocate(connection_->memory(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(kKeptMemory),
                    static_cast<off_t>(memory_bytes_ - kKeptMemory));
    }
}

}  // namespace texton::detail

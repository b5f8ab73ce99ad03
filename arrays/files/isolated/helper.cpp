#include "arrays/files/isolated/helper.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// The header of glibc 2.36 declares its functions for C only.
extern "C" {
#include <sys/pidfd.h>
}

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <texton/error.h>
#include <texton/read_options.h>

#include "arrays/files/isolated/protocol.h"
#include "arrays/files/isolated/spawn_helper.h"

// Programs that use the installed CMake package define this function: the folder of texton-reader in the package.
extern "C" __attribute__((weak)) const char* texton_installed_libexec();

namespace texton::detail {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "texton-reader";
constexpr const char* kVariable = "TEXTON_READER";
constexpr std::size_t kMaxUnused = 4;  // processes without open files that wait for other files
constexpr std::size_t kMaxKept = 16;   // processes that wait
constexpr std::size_t kSpread = 4;     // with fewer waiting processes, another one is started for a file
constexpr int kFirstDescriptor = 10;   // above the descriptors that the helper inherits
constexpr timeval kPatience{60, 0};    // for loading its libraries on a machine with much work

std::string system_text(int error) { return std::generic_category().message(error); }

[[noreturn]] void fail(const char* object, ErrorCode code, std::string problem, std::string remedy) {
    throw Error({.code = code, .object = object, .problem = std::move(problem), .remedy = std::move(remedy)});
}

bool is_used_up(int error) noexcept {
    return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS || error == EAGAIN;
}

[[noreturn]] void not_created(const char* object, const char* what, int error) {
    fail(object, is_used_up(error) ? ErrorCode::out_of_memory : ErrorCode::unsupported,
         fmt::format("{} for the helper {} could not be created: {}", what, kProgram, system_text(error)),
         is_used_up(error) ? "Close files or raise the limits of the process."
                           : "The system must allow this process to create it.");
}

// Returns the folder of the program or shared library that contains this function, and of the program.
std::vector<fs::path> own_folders() {
    std::vector<fs::path> folders;
    std::error_code unreadable;
    Dl_info here{};
    if (::dladdr(reinterpret_cast<const void*>(&helper_paths), &here) != 0 && here.dli_fname != nullptr) {
        folders.push_back(fs::path(here.dli_fname).parent_path());
    }
    folders.push_back(fs::read_symlink("/proc/self/exe", unreadable).parent_path());
    // The name of a program can be relative to a working folder that it had before.
    std::erase_if(folders, [](const fs::path& folder) { return !folder.is_absolute(); });
    return folders;
}

std::string program_path(const char* object) {
    const std::vector<std::string> paths = helper_paths();
    std::string tried;
    for (const std::string& path : paths) {
        if (::access(path.c_str(), X_OK) == 0) return path;
        tried += (tried.empty() ? "" : ", ") + path;
    }
    fail(object, ErrorCode::unsupported,
         fmt::format("the program {}, which reads files in isolation, was not found: {}", kProgram, tried),
         fmt::format("Install Texton completely, or set {} to the path of the program.", kVariable));
}

// What a helper was started for.
struct Owner {
    std::string chosen;  // value of kVariable
    pid_t process = 0;
    uid_t user = 0;
    gid_t group = 0;
    bool operator==(const Owner&) const = default;
};

OwnedDescriptor above(OwnedDescriptor descriptor) {
    if (descriptor.number() >= kFirstDescriptor) return descriptor;
    return OwnedDescriptor(::fcntl(descriptor.number(), F_DUPFD_CLOEXEC, kFirstDescriptor));
}

std::array<OwnedDescriptor, 2> socket_pair(const char* object) {
    std::array<int, 2> ends{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
        not_created(object, "a socket", errno);
    return {OwnedDescriptor(ends[0]), OwnedDescriptor(ends[1])};
}

pid_t spawn(const char* object, const std::string& program, int control) {
    pid_t process = -1;
    const int error = spawn_helper(program.c_str(), control, process);
    if (error == 0) return process;
    if (is_used_up(error)) not_created(object, "a process", error);
    fail(object, ErrorCode::unsupported,
         fmt::format("{}, which reads files in isolation, could not be started: {}", program, system_text(error)),
         fmt::format("Install Texton again, or set {} to the path of the program.", kVariable));
}

// A process that this one started. The number of a process that has ended belongs to another one soon if the program
// waits for all its children or ignores SIGCHLD, but a descriptor never refers to another process.
class StartedProcess {
public:
    // Must be called directly after the process was started. Ends it if there is no descriptor for it.
    StartedProcess(const char* object, pid_t process) : descriptor_(::pidfd_open(process, 0)) {
        if (descriptor_ || errno == ESRCH) return;  // ESRCH: it has ended, and nobody needs to wait for it
        const int error = errno;
        ::kill(process, SIGKILL);
        while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
        }
        not_created(object, "a descriptor of the process", error);
    }
    // Ends the process and waits for its end. Does nothing if other code of the program has waited for it.
    void end() const noexcept {
        if (!descriptor_) return;
        ::pidfd_send_signal(descriptor_.number(), SIGKILL, nullptr, 0);
        siginfo_t status{};
        while (::waitid(P_PIDFD, static_cast<id_t>(descriptor_.number()), &status, WEXITED) < 0 && errno == EINTR) {
        }
    }

private:
    OwnedDescriptor descriptor_;
};

class Helper {
public:
    // Does not wait for the program. Throws Error{unsupported} if it cannot be started.
    Helper(const char* object, Owner owner) : owner_(std::move(owner)), program_(program_path(object)) {
        start(object, [&](int control) { return spawn(object, program_, control); });
    }
    // Starts the helper in another way than the program.
    Helper(const char* object, Owner owner, const std::function<pid_t(int)>& make) : owner_(std::move(owner)) {
        start(object, make);
    }
    ~Helper() { end(); }
    Helper(const Helper&) = delete;
    Helper& operator=(const Helper&) = delete;

    bool belongs_to(const Owner& owner) const noexcept { return owner_ == owner; }
    // Waits until the program has started. Throws Error{unsupported} if it is not a texton-reader of this version.
    // Returns false if it was not started as that program, and is none.
    bool has_started(const char* object) {
        if (is_started_) return true;
        ::setsockopt(control_.number(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
        ::setsockopt(control_.number(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
        Packet packet;
        const Received received = receive_packet(control_.number(), packet);
        is_started_ = received == Received::packet && packet.kind == PacketKind::hello;
        if (is_started_ || program_.empty()) return is_started_;
        fail(object, ErrorCode::unsupported,
             fmt::format("{} did not start as the helper that reads files in isolation: {}", program_,
                         received == Received::closed ? "it ended" : "it belongs to another version of Texton"),
             fmt::format("Install Texton again, or set {} to the path of the program of this version.", kVariable));
    }
    // Returns false if the helper ended.
    bool connect(std::span<const int> descriptors) const noexcept {
        return send_packet(control_.number(), PacketKind::connect, 0, descriptors);
    }

private:
    void start(const char* object, const std::function<pid_t(int)>& make) {
        auto [ours, theirs] = socket_pair(object);
        theirs = above(std::move(theirs));
        if (!theirs) not_created(object, "a descriptor", errno);
        const pid_t process = make(theirs.number());
        if (process < 0) not_created(object, "a process", errno);
        process_.emplace(object, process);
        control_ = std::move(ours);
    }
    // A forked copy of the process only closes its descriptors: the helper belongs to the original.
    void end() noexcept {
        control_.reset();
        if (process_ && owner_.process == ::getpid()) process_->end();
        process_.reset();
    }

    Owner owner_;
    std::string program_;  // empty if the helper was started in another way
    OwnedDescriptor control_;
    std::optional<StartedProcess> process_;
    bool is_started_ = false;
};

// Returns shared memory that the reader can neither shorten nor prevent this process from growing.
OwnedDescriptor shared_memory(const char* object) {
    OwnedDescriptor memory(::memfd_create("texton-reader", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!memory) not_created(object, "shared memory", errno);
    if (::fcntl(memory.number(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) != 0) {
        not_created(object, "sealed memory", errno);
    }
    return memory;
}

OwnedDescriptor folder_of(const char* object, const fs::path& path) {
    const char* const name = path.is_absolute() ? "/" : ".";
    OwnedDescriptor folder(::open(name, O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (folder) return folder;
    const int error = errno;
    if (is_used_up(error)) not_created(object, "a descriptor of a folder", error);
    fail(object, ErrorCode::io,
         fmt::format("the folder {}, to which relative paths refer, could not be opened: {}", name, system_text(error)),
         "Change the working folder, or use absolute paths.");
}

// Returns the folder to which the path refers.
FolderId folder_id(const fs::path& path) noexcept {
    struct stat state {};
    if (path.is_absolute() || ::stat(".", &state) != 0) return {};
    return {state.st_dev, state.st_ino};
}

// A connection to a process that the helper has not started yet, and what the helper needs for it.
class NewReader {
public:
    NewReader(const char* object, const fs::path& path) : NewReader(object, path, socket_pair(object)) {}
    std::array<int, kMaxPacketDescriptors> descriptors() const noexcept {
        return {theirs_.number(), connection.memory(), folder_.number()};
    }

    ReaderConnection connection;

private:
    NewReader(const char* object, const fs::path& path, std::array<OwnedDescriptor, 2> sockets)
        : connection(std::move(sockets[0]), shared_memory(object), folder_id(path)),
          theirs_(std::move(sockets[1])),
          folder_(folder_of(object, path)) {}

    OwnedDescriptor theirs_, folder_;
};

// The helper of the process. The object is never destroyed, because images can outlive static objects. exit() ends the
// helper; otherwise it ends itself when the process does.
class CurrentHelper {
public:
    CurrentHelper() {
        kept_.reserve(kMaxKept);
        std::atexit([] { instance().end(); });
    }
    void start(const char* object) {
        const std::lock_guard lock(mutex_);
        start_for(object, owner_now());
    }
    void start(const char* object, const std::function<pid_t(int)>& make) {
        const std::lock_guard lock(mutex_);
        const Owner owner = owner_now();
        if (helper_ == nullptr && owner.chosen.empty()) helper_ = std::make_unique<Helper>(object, owner, make);
    }
    void connect(const char* object, std::span<const int> descriptors) {
        const std::lock_guard lock(mutex_);
        const Owner owner = owner_now();
        for (int attempt = 0; attempt < 3; ++attempt) {
            start_for(object, owner);
            if (has_started(object) && helper_->connect(descriptors)) return;
            reset();
        }
        fail(object, ErrorCode::unsupported, fmt::format("{} ends as soon as it is started", program_path(object)),
             fmt::format("Install Texton again, or set {} to the path of the program.", kVariable));
    }
    // Returns the process that was prepared, if it resolves relative paths in this folder.
    std::optional<ReaderConnection> prepared(const FolderId& folder) {
        const std::lock_guard lock(mutex_);
        (void)owner_now();
        if (!prepared_ || !prepared_->is_own() || prepared_->folder() != folder) return std::nullopt;
        return std::exchange(prepared_, std::nullopt);
    }
    // Starts a process for the next file, unless there is one or this is the first file.
    void prepare(const char* object, const fs::path& path) {
        const std::lock_guard lock(mutex_);
        (void)owner_now();
        const bool is_first = !std::exchange(has_read_, true);
        if (is_first || helper_ == nullptr || (prepared_ && prepared_->folder() == folder_id(path))) return;
        prepared_.reset();
        NewReader next(object, path);
        if (helper_->connect(next.descriptors())) prepared_.emplace(std::move(next.connection));
    }
    void discard_prepared() noexcept {
        const std::lock_guard lock(mutex_);
        prepared_.reset();
    }
    std::optional<ReaderConnection> kept(const FolderId& folder, const ReaderConnection::Process* before) {
        const std::lock_guard lock(mutex_);
        (void)owner_now();
        std::erase_if(kept_, [](const ReaderConnection& each) { return !each.is_own() || !each.is_idle(); });
        const auto cost = [&](const ReaderConnection& each) {
            if (each.folder() != folder) return INT_MAX;
            return each.process().get() == before ? -1 : each.process()->files.load();
        };
        const auto best = std::ranges::min_element(kept_, {}, cost);
        if (best == kept_.end() || cost(*best) == INT_MAX) return std::nullopt;
        if (cost(*best) > 0 && kept_.size() < kSpread) return std::nullopt;
        std::optional<ReaderConnection> taken(std::move(*best));
        kept_.erase(best);
        return taken;
    }
    void keep(ReaderConnection connection) noexcept {
        const std::lock_guard lock(mutex_);
        const auto is_unused = [](const ReaderConnection& each) { return each.process()->files == 0; };
        const auto unused = std::ranges::count_if(kept_, is_unused);
        if (kept_.size() >= kMaxKept || (is_unused(connection) && std::cmp_greater_equal(unused, kMaxUnused))) return;
        kept_.push_back(std::move(connection));
    }
    void end() noexcept {
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (lock.owns_lock()) reset();
    }
    static CurrentHelper& instance() {
        static CurrentHelper& made = *new CurrentHelper;
        return made;
    }

private:
    // Ends the helper if it was started for another owner.
    Owner owner_now() {
        const char* const variable = ::secure_getenv(kVariable);
        Owner owner{variable != nullptr ? variable : "", ::getpid(), ::geteuid(), ::getegid()};
        if (helper_ != nullptr && !helper_->belongs_to(owner)) reset();
        return owner;
    }
    void start_for(const char* object, const Owner& owner) {
        if (helper_ == nullptr) helper_ = std::make_unique<Helper>(object, owner);
    }
    bool has_started(const char* object) {
        try {
            return helper_->has_started(object);
        } catch (const Error&) {
            reset();
            throw;
        }
    }
    void reset() noexcept {
        kept_.clear();
        prepared_.reset();
        has_read_ = false;
        helper_.reset();
    }

    std::mutex mutex_;
    std::unique_ptr<Helper> helper_;
    std::vector<ReaderConnection> kept_;
    std::optional<ReaderConnection> prepared_;
    bool has_read_ = false;  // the helper has started a process for a file
};

}  // namespace

std::vector<std::string> helper_paths() {
    // A program with more permissions than its user does not trust the environment.
    if (const char* chosen = ::secure_getenv(kVariable); chosen != nullptr && *chosen != '\0') return {chosen};
    const std::string installed =
        texton_installed_libexec != nullptr ? texton_installed_libexec() : TEXTON_INSTALLED_LIBEXEC;
    std::vector<std::string> paths{installed + "/" + kProgram};
    for (const fs::path& folder : own_folders()) {
        for (const fs::path& candidate : {folder / kProgram, folder / TEXTON_LIBEXEC / kProgram}) {
            const std::string path = candidate.lexically_normal().string();
            if (std::ranges::find(paths, path) == paths.end()) paths.push_back(path);
        }
    }
    return paths;
}

ReaderConnection::ReaderConnection(OwnedDescriptor socket, OwnedDescriptor memory, const FolderId& folder)
    : process_(std::make_shared<Process>(std::move(socket), ::getpid())), memory_(std::move(memory)), folder_(folder) {}

ReaderConnection::~ReaderConnection() {
    // Copies of the socket in forked processes would keep it open.
    if (process_ != nullptr && is_own()) ::shutdown(socket(), SHUT_RDWR);
    if (!mapped_.empty()) ::munmap(mapped_.data(), mapped_.size());
}

std::span<const std::byte> ReaderConnection::mapped_memory() noexcept {
    if (mapped_.size() == memory_bytes) return mapped_;
    void* const address = ::mmap(nullptr, memory_bytes, PROT_READ, MAP_SHARED, memory(), 0);
    if (address == MAP_FAILED) return {};
    if (!mapped_.empty()) ::munmap(mapped_.data(), mapped_.size());
    mapped_ = {static_cast<std::byte*>(address), memory_bytes};
    return mapped_;
}

ReaderConnection& ReaderConnection::operator=(ReaderConnection&& other) noexcept {
    std::swap(memory_bytes, other.memory_bytes);
    std::swap(requests, other.requests);
    std::swap(is_ready, other.is_ready);
    std::swap(is_reused, other.is_reused);
    std::swap(process_, other.process_);
    std::swap(memory_, other.memory_);
    std::swap(mapped_, other.mapped_);
    std::swap(folder_, other.folder_);
    return *this;
}

bool ReaderConnection::is_own() const noexcept { return process_->owner == ::getpid(); }

bool ReaderConnection::is_idle() const noexcept {
    pollfd event{socket(), POLLIN, 0};
    int count = 0;
    do {
        count = ::poll(&event, 1, 0);
    } while (count < 0 && errno == EINTR);
    return count == 0;
}

void start_helper(const char* object, const std::function<pid_t(int)>& make) {
    CurrentHelper::instance().start(object, make);
}

ReaderConnection connect_reader(const char* object, const fs::path& path) {
    CurrentHelper& helper = CurrentHelper::instance();
    if (auto prepared = helper.prepared(folder_id(path))) return std::move(*prepared);
    NewReader made(object, path);
    helper.connect(object, made.descriptors());
    return std::move(made.connection);
}

void prepare_reader(const fs::path& path) noexcept {
    try {
        CurrentHelper::instance().prepare("texton::prepare_reader", path);
    } catch (const std::exception&) {
        // connect_reader() throws the error if it lasts.
    }
}

void discard_prepared_reader() noexcept { CurrentHelper::instance().discard_prepared(); }

std::optional<ReaderConnection> kept_reader(const fs::path& path,
                                            const std::shared_ptr<ReaderConnection::Process>& before) {
    return CurrentHelper::instance().kept(folder_id(path), before.get());
}

void keep_reader(ReaderConnection connection) noexcept { CurrentHelper::instance().keep(std::move(connection)); }

}  // namespace texton::detail

namespace texton {

void start_reader() noexcept {
    try {
        detail::CurrentHelper::instance().start("texton::start_reader");
    } catch (const std::exception&) {
        // The first isolated read starts the helper again, and throws.
    }
}

}  // namespace texton

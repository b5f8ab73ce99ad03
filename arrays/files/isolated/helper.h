#pragma once
// The helper of this process: the program texton-reader, which starts the processes that read files.
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arrays/files/descriptor.h"

namespace texton::detail {

/// Returns the paths where the program is searched, in order.
[[nodiscard]] std::vector<std::string> helper_paths();

/// Identifies a folder.
struct FolderId {
    dev_t device = 0;
    ino_t file = 0;
    bool operator==(const FolderId&) const = default;
};

/// A connection to a process that reads files. The destructor ends that process. In a forked copy of the process that
/// connected, it closes the descriptors only.
class ReaderConnection {
public:
    /// What sessions know about a process that another session may be using, or that may have ended.
    struct Process {
        Process(OwnedDescriptor connected, pid_t user) noexcept : socket(std::move(connected)), owner(user) {}
        const OwnedDescriptor socket;
        const pid_t owner;          ///< the process that connected
        std::atomic<int> files{0};  ///< files that are open in it
    };

    /// Relative paths in requests refer to `folder`.
    ReaderConnection(OwnedDescriptor socket, OwnedDescriptor memory, const FolderId& folder);
    ~ReaderConnection();
    ReaderConnection(ReaderConnection&& other) noexcept { *this = std::move(other); }
    ReaderConnection& operator=(ReaderConnection&& other) noexcept;

    int socket() const noexcept { return process_->socket.number(); }
    /// Returns shared memory. Only this process changes its size.
    int memory() const noexcept { return memory_.number(); }
    /// Returns the first `memory_bytes` of the shared memory, mapped into this process, or nothing, with errno set, if
    /// they cannot be mapped. The other process can change them at any time. Valid until the next call.
    std::span<const std::byte> mapped_memory() noexcept;
    /// Returns true if this process connected, and false in a forked copy, which must not use the connection.
    bool is_own() const noexcept;
    const FolderId& folder() const noexcept { return folder_; }
    /// Returns false if the process ended or sent something that nobody requested.
    bool is_idle() const noexcept;
    const std::shared_ptr<Process>& process() const noexcept { return process_; }

    std::uint64_t memory_bytes = 0;  ///< size of the shared memory
    std::uint64_t requests = 0;      ///< number of requests that were sent
    bool is_ready = false;           ///< the process has said that it is ready
    bool is_reused = false;          ///< the process has read other files

private:
    std::shared_ptr<Process> process_;  // null after a move
    OwnedDescriptor memory_;
    std::span<std::byte> mapped_;
    FolderId folder_;
};

/// Starts the helper in another way than as a program: `make` starts a child of this process, whose control socket is
/// its argument, and returns its number, or -1. If the child ends, the program texton-reader is started instead. Does
/// nothing if there is a helper, or if TEXTON_READER selects a program. Throws the errors of connect_reader().
void start_helper(const char* object, const std::function<pid_t(int control)>& make);

/// Starts a process that reads files. Starts the helper first if there is none, if it ended, or if it was started for
/// another process, another user or another program than it would be now. If `path` is relative, paths in requests
/// refer to the current folder, else to the root. Throws Error{unsupported} if the program does not exist or cannot be
/// started, Error{out_of_memory} if descriptors or memory are used up, and Error{io} if the folder cannot be opened.
/// Several threads may call this function at once.
[[nodiscard]] ReaderConnection connect_reader(const char* object, const std::filesystem::path& path);

/// Starts a process that connect_reader() returns when it is called next, so that the caller need not wait for it. Does
/// nothing if there is one, if it cannot be started, or at the first call: most programs that read one file read no
/// other.
void prepare_reader(const std::filesystem::path& path) noexcept;
/// Ends the process that prepare_reader() started. When another one was ended from outside, it often was as well.
void discard_prepared_reader() noexcept;

/// Returns a process that was kept, if there is one that connect_reader() could have started now: `before` if it was
/// kept, else one that has no open files, else one that has the fewest if there are enough processes.
[[nodiscard]] std::optional<ReaderConnection> kept_reader(const std::filesystem::path& path,
                                                          const std::shared_ptr<ReaderConnection::Process>& before);
/// Keeps a process, so that it can answer requests of other sessions. Ends it if there are enough.
void keep_reader(ReaderConnection connection) noexcept;

}  // namespace texton::detail

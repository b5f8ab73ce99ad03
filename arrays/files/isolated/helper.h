#pragma once
// The helper of this process: the program texton-reader, which starts a process for each file that is read.
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "arrays/files/isolated/descriptor.h"

namespace texton::detail {

/// Returns the paths where the program is searched, in order.
[[nodiscard]] std::vector<std::string> helper_paths();

/// Identifies a folder.
struct FolderId {
    dev_t device = 0;
    ino_t file = 0;
    bool operator==(const FolderId&) const = default;
};

/// A connection to the process that reads one file. The destructor ends that process. In a forked copy of the process
/// that connected, it closes the descriptors only.
class ReaderConnection {
public:
    /// Relative paths in requests refer to `folder`.
    ReaderConnection(OwnedDescriptor socket, OwnedDescriptor memory, const FolderId& folder) noexcept;
    ~ReaderConnection();
    ReaderConnection(ReaderConnection&&) noexcept = default;
    ReaderConnection& operator=(ReaderConnection&&) noexcept = default;

    int socket() const noexcept { return socket_.number(); }
    /// Returns shared memory. Only this process changes its size.
    int memory() const noexcept { return memory_.number(); }
    /// Returns true if this process connected, and false in a forked copy, which must not use the connection.
    bool is_own() const noexcept;
    const FolderId& folder() const noexcept { return folder_; }
    /// Returns false if the process ended or sent something that nobody requested.
    bool is_idle() const noexcept;

private:
    OwnedDescriptor socket_;
    OwnedDescriptor memory_;
    FolderId folder_;
    pid_t process_;
};

/// Starts a process that reads one file. Starts the helper first if there is none, if it ended, or if it was started
/// for another process, another user or another program than it would be now. Relative paths in requests refer to
/// `folder`. Throws Error{unsupported} if the program does not exist or cannot be started, Error{out_of_memory} if
/// descriptors or memory are used up, and Error{io} if the folder cannot be opened. Several threads may call this
/// function at once.
[[nodiscard]] ReaderConnection connect_reader(const char* object, const char* folder);

/// Returns a process that was kept, if there is one that connect_reader() could have started now. Throws its errors.
[[nodiscard]] std::optional<ReaderConnection> kept_reader(const char* object, const char* folder);
/// Keeps a process, so that it can read another file. Ends it if there are enough.
void keep_reader(ReaderConnection connection) noexcept;

}  // namespace texton::detail

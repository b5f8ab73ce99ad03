#pragma once
// The helper of this process: the program texton-reader, which starts a process for each file that is read.
#include <string>
#include <vector>

#include "arrays/files/isolated/descriptor.h"

namespace texton::detail {

/// Returns the paths where the program is searched, in order.
[[nodiscard]] std::vector<std::string> helper_paths();

/// A connection to the process that reads one file. The destructor ends that process. In a forked copy of the process
/// that connected, it closes the descriptors only.
class ReaderConnection {
public:
    ReaderConnection(OwnedDescriptor socket, OwnedDescriptor memory) noexcept;
    ~ReaderConnection();
    ReaderConnection(ReaderConnection&&) noexcept = default;
    ReaderConnection& operator=(ReaderConnection&&) = delete;

    int socket() const noexcept { return socket_.number(); }
    /// Returns shared memory. Only this process changes its size.
    int memory() const noexcept { return memory_.number(); }
    /// Returns true if this process connected, and false in a forked copy, which must not use the connection.
    bool is_own() const noexcept;

private:
    OwnedDescriptor socket_;
    OwnedDescriptor memory_;
    pid_t process_;
};

/// Starts a process that reads one file. Starts the helper first if there is none, if it ended, or if it was started
/// for another process, another user or another program than it would be now. Relative paths in requests refer to
/// `folder`. Throws Error{unsupported} if the program does not exist or cannot be started, Error{out_of_memory} if
/// descriptors or memory are used up, and Error{io} if the folder cannot be opened. Several threads may call this
/// function at once.
[[nodiscard]] ReaderConnection connect_reader(const char* object, const char* folder);

}  // namespace texton::detail

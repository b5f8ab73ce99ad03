#pragma once
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "arrays/files/descriptor.h"
#include "viewer/model/json_object.h"

namespace texton::batch {

/// Argument that makes the program texton-commands a worker of a command that computes one image.
inline constexpr const char* kStripWorkerArgument = "--strip-worker";

/// A worker as the batch sees it: a process and a socket to it. The destructor ends the process.
class WorkerProcess {
public:
    /// Starts the program and sends it what all images need. The first worker may have been started already, by the
    /// launcher of the command, so that it loads its libraries while this program does. If `work` contains "command",
    /// the process is a worker of that command (viewer/cli/strip_worker.h), otherwise one of a batch. Throws
    /// Error{unsupported} if it cannot be started.
    WorkerProcess(const std::filesystem::path& program, verify::Json work);
    virtual ~WorkerProcess();
    WorkerProcess(const WorkerProcess&) = delete;
    WorkerProcess& operator=(const WorkerProcess&) = delete;

    int socket() const noexcept { return socket_.number(); }
    /// Sends a request. Returns false if the worker ended.
    [[nodiscard]] bool request(const verify::Json& request);
    /// Waits for an answer. Returns nothing if the worker ended, or answered nonsense.
    virtual std::optional<verify::Json> answer();

    /// Asks the worker to end, and to remove its temporary files. end() waits for it.
    virtual void terminate() noexcept;
    /// Waits for the end of the worker, and kills it if it does not end soon. Removes the temporary files that it left in
    /// the folders. Returns the signal that ended it, or 0.
    virtual int end(const std::vector<std::filesystem::path>& folders);

protected:
    /// A worker that this process did not start.
    explicit WorkerProcess(detail::OwnedDescriptor socket) noexcept : socket_(std::move(socket)) {}

private:
    bool adopt(const std::filesystem::path& program);
    void start(const std::filesystem::path& program, const char* argument);

    detail::OwnedDescriptor socket_;
    pid_t process_ = -1;
    std::uint32_t mark_ = 0;
};

/// Returns the path of the program texton-commands. Throws Error{unsupported} if it is not found.
[[nodiscard]] std::filesystem::path worker_program();

}  // namespace texton::batch

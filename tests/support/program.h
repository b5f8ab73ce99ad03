#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include <texton/device.h>

namespace texton::test {

/// A second process: runs texton-test-NAME with the device as arguments ("cpu" "0") and a socket to this process as
/// file descriptor 3. The destructor waits for the process.
class Program {
public:
    Program(const std::string& name, const Device& device);
    ~Program();
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    int socket() const noexcept { return socket_; }
    /// Closes the socket, waits for the process and returns its exit status, or -1 if a signal ended it.
    int wait();
    /// Kills the process and waits for its end.
    void kill();

private:
    int socket_ = -1;
    pid_t pid_ = -1;
};

}  // namespace texton::test

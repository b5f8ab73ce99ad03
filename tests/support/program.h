#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include <texton/device.h>

namespace texton::test {

/// A second process: texton-test-NAME with the device as its arguments ("cpu" "0") and a socket to this process as its file
/// descriptor 3. Waits for its end when it goes.
class Program {
public:
    Program(const std::string& name, const Device& device);
    ~Program();
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    int socket() const noexcept { return socket_; }
    /// Closes the socket, waits, and returns the exit status; -1 if a signal ended it.
    int wait();

private:
    int socket_ = -1;
    pid_t pid_ = -1;
};

}  // namespace texton::test

#include "tests/support/program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>

#include "tests/support/configured_path.h"

namespace texton::test {
namespace {

std::string path_of(const std::string& name) {
    return configured_path("TEXTON_TEST_PROGRAMS", TEXTON_TEST_PROGRAMS) + "/texton-test-" + name;
}

}  // namespace

Program::Program(const std::string& name, const Device& device) {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        throw std::runtime_error(std::string("socketpair: ") + std::strerror(errno));
    }
    // dup2() to the same descriptor keeps close-on-exec, so the child's end must not be 3 already.
    if (ends[1] == 3) {
        const int moved = fcntl(ends[1], F_DUPFD_CLOEXEC, 4);
        close(ends[1]);
        ends[1] = moved;
    }
    socket_ = ends[0];

    std::string program = path_of(name);
    std::string kind = device.kind() == DeviceKind::cpu ? "cpu" : "cuda";
    std::string index = std::to_string(device.index());
    const std::array<char*, 4> arguments{program.data(), kind.data(), index.data(), nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 3);
    const int status = posix_spawn(&pid_, program.c_str(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (status != 0) {
        pid_ = -1;
        close(socket_);
        throw std::runtime_error(program + ": " + std::strerror(status));
    }
}

Program::~Program() { wait(); }

void Program::kill() {
    if (pid_ >= 0) ::kill(pid_, SIGKILL);
    wait();
}

int Program::wait() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
    if (pid_ < 0) return -1;
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace texton::test

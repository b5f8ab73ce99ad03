#include "arrays/files/isolated/spawn_helper.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "arrays/files/isolated/protocol.h"
#include "arrays/files/isolated/spawn_objects.h"

namespace texton::detail {

StartedHelper started_helper(const char* variable, const char* program) noexcept {
    const char* const text = ::secure_getenv(variable);
    int user = 0, process = 0, number = -1, used = 0;
    if (text == nullptr || std::sscanf(text, "%d:%d:%d:%n", &user, &process, &number, &used) != 3) return {};
    // Processes that this one starts inherit the variable, but not the helper.
    if (user != ::getpid() || used == 0) return {};
    int kind = 0;
    socklen_t bytes = sizeof(kind);
    if (::getsockopt(number, SOL_SOCKET, SO_TYPE, &kind, &bytes) != 0 || kind != SOCK_SEQPACKET) return {};
    ::fcntl(number, F_SETFD, FD_CLOEXEC);
    if (std::strcmp(program, text + used) == 0) return {process, number};
    ::close(number);
    return {};
}

int spawn_helper(const char* program, int control, pid_t& process, const char* argument) noexcept {
    SpawnActions actions;
    SpawnAttributes attributes;
    if (actions.error != 0) return actions.error;
    if (attributes.error != 0) return attributes.error;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    constexpr short kFlags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP;
    for (const int error :
         {posix_spawn_file_actions_addopen(&actions.value, 0, "/dev/null", O_RDWR, 0),
          posix_spawn_file_actions_adddup2(&actions.value, 0, 1),
          posix_spawn_file_actions_adddup2(&actions.value, control, kControlDescriptor),
          posix_spawn_file_actions_addclosefrom_np(&actions.value, kControlDescriptor + 1),
          posix_spawnattr_setsigmask(&attributes.value, &none), posix_spawnattr_setsigdefault(&attributes.value, &all),
          posix_spawnattr_setpgroup(&attributes.value, 0), posix_spawnattr_setflags(&attributes.value, kFlags)}) {
        if (error != 0) return error;
    }
    // The function does not change them.
    const std::array<char*, 3> arguments{const_cast<char*>(program), const_cast<char*>(argument), nullptr};
    return ::posix_spawn(&process, program, &actions.value, &attributes.value, arguments.data(), environ);
}

}  // namespace texton::detail

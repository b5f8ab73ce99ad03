#include "arrays/files/reader/forked_helper.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <exception>

#include "arrays/files/isolated/helper.h"
#include "arrays/files/isolated/protocol.h"
#include "arrays/files/reader/helper_process.h"

namespace texton::reader {
namespace {

using texton::detail::kControlDescriptor;

// Runs in the copy, which gets the state that spawn_helper() gives the program.
[[noreturn]] void be_helper(int control) {
    ::prctl(PR_SET_NAME, detail::kReaderName);
    ::setpgid(0, 0);
    for (int signal = 1; signal < SIGRTMIN; ++signal) ::signal(signal, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    const int nothing = ::open("/dev/null", O_RDWR);
    const bool is_ready = nothing >= 0 && ::dup2(nothing, 0) == 0 && ::dup2(nothing, 1) == 1 &&
                          ::dup2(control, kControlDescriptor) == kControlDescriptor &&
                          ::close_range(kControlDescriptor + 1, ~0U, 0) == 0;
    ::_exit(is_ready ? run_helper() : 2);
}

}  // namespace

void fork_helper() noexcept {
    try {
        detail::start_helper("texton::reader::fork_helper", [](int control) {
            const pid_t process = ::fork();
            if (process == 0) be_helper(control);
            return process;
        });
    } catch (const std::exception&) {
        // The first isolated read starts texton-reader, and throws.
    }
}

}  // namespace texton::reader

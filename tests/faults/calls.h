#pragma once
// Calls of the system that fail when a test asks for it. calls.cpp defines these functions of the C library and operator
// new in the program, where they take precedence over the definitions in shared libraries, also for calls that other
// libraries make.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace texton::test {

/// A group of functions of which the n-th call fails.
enum class Call : std::uint8_t {
    none,
    allocate,  ///< operator new, all forms
    align,     ///< posix_memalign
    map,       ///< mmap
    protect,   ///< mprotect
    memfd,     ///< memfd_create
    truncate,  ///< ftruncate
    thread,    ///< pthread_create
    open,      ///< open, openat, fopen
    read,      ///< read, pread, fread
    write,     ///< write, pwrite, writev, fwrite
    flush,     ///< fflush
    close,     ///< close, fclose; the descriptor is closed nevertheless
    seek,      ///< lseek, fseek, fseeko
    status,    ///< stat, lstat, fstat, fstatat
    sync,      ///< fsync, fdatasync
    rename,    ///< rename, renameat, renameat2
    mode,      ///< fchmod, fchown
    reserve,   ///< fallocate
    control,   ///< fcntl: duplicates of descriptors, and seals
    random,    ///< getrandom
    socket,    ///< socketpair
    send,      ///< sendmsg
    receive,   ///< recvmsg
    wait,      ///< poll
    spawn,     ///< posix_spawn, functions that prepare it, pidfd_open
    cuda       ///< functions of the CUDA runtime and driver, see watch_cuda_calls()
};

/// What the chosen call does.
enum class Effect : std::uint8_t {
    fail,     ///< fails with the error number and does nothing
    fail_on,  ///< fails with the error number, as do all later calls
    shorten   ///< transfers half of the bytes
};

/// A kind of fault.
struct Fault {
    const char* name;
    Call call;
    Effect effect = Effect::fail;
    int error = 0;         ///< errno
    int driver_error = 0;  ///< Call::cuda: result of functions of the driver; `error` is that of the runtime
};

/// Makes the call fail that is made after `calls` calls of the group, in any thread. Replaces the previous request.
void arm(const Fault& fault, std::size_t calls);
/// Makes no call fail. Returns true if one has failed since arm().
bool disarm();
/// Returns the functions that were active when the last call failed, or the name of the CUDA function.
std::string failed_call();
/// Returns the name of the CUDA function that failed, or an empty text.
std::string failed_cuda_function();

/// While it exists, calls of this thread do not fail and do not count: they are the test's own.
class Aside {
public:
    Aside() noexcept;
    ~Aside();
    Aside(const Aside&) = delete;
    Aside& operator=(const Aside&) = delete;
};

/// Makes calls of CUDA fail as arm() requests, from now on. `in_destructors`: also calls that free.
void watch_cuda_calls(bool in_destructors);

/// Returns the number of blocks from operator new that are not deleted.
std::ptrdiff_t live_blocks() noexcept;

namespace detail {
/// Returns the fault if this call is the chosen one, or else null. `name` is that of a CUDA function.
const Fault* fault_of(Call call, std::string_view name = {}) noexcept;
}  // namespace detail

}  // namespace texton::test

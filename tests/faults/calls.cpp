#include "tests/faults/calls.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

// The header of glibc 2.36 declares its functions for C only.
extern "C" {
#include <sys/pidfd.h>
}

// These functions run before main() and in every thread, so their state needs no construction and no lock.

namespace texton::test {
namespace {

constinit std::atomic<Call> armed{Call::none};
constinit Fault fault{};  // written while nothing is armed
constinit std::atomic<std::size_t> seen{0};
constinit std::size_t chosen = 0;
constinit std::atomic<bool> fired{false};
constinit std::atomic<std::ptrdiff_t> blocks{0};
constinit thread_local int aside = 0;

std::array<void*, 48> frames;
constinit int frame_count = 0;
std::array<char, 64> cuda_function;

// Returns the definition of a function in the C library.
template <class Function>
Function* next(const char* name) noexcept {
    void* found = dlsym(RTLD_NEXT, name);
    if (found == nullptr) std::abort();
    return reinterpret_cast<Function*>(found);
}

// Sets errno and returns true if this call must fail.
bool fails(Call call) noexcept {
    const Fault* made = detail::fault_of(call);
    if (made == nullptr) return false;
    errno = made->error;
    return true;
}

// As fails(), or reduces the number of bytes that the call may transfer.
bool fails(Call call, std::size_t& bytes) noexcept {
    const Fault* made = detail::fault_of(call);
    if (made == nullptr) return false;
    if (made->effect == Effect::shorten) {
        bytes = (bytes + 1) / 2;
        return false;
    }
    errno = made->error;
    return true;
}

// Marks a stream of the C library as failed, as the library does.
std::size_t fail_stream(std::FILE* stream) noexcept {
    constexpr int kError = 0x20;  // _IO_ERR_SEEN of glibc
    stream->_flags |= kError;
    return 0;
}

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
    if (detail::fault_of(Call::allocate) != nullptr) return nullptr;
    bytes = std::max<std::size_t>(bytes, 1);
    void* made = alignment <= alignof(std::max_align_t)
                     ? std::malloc(bytes)
                     : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (made != nullptr) blocks.fetch_add(1, std::memory_order_relaxed);
    return made;
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
    void* made = allocate(bytes, alignment);
    if (made == nullptr) throw std::bad_alloc();
    return made;
}

void release(void* block) noexcept {
    if (block != nullptr) blocks.fetch_sub(1, std::memory_order_relaxed);
    std::free(block);
}

mode_t mode_of(int flags, std::va_list& arguments) {
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? static_cast<mode_t>(va_arg(arguments, int)) : 0;
}

}  // namespace

const Fault* detail::fault_of(Call call, std::string_view name) noexcept {
    if (armed.load(std::memory_order_acquire) != call || aside > 0) return nullptr;
    const std::size_t index = seen.fetch_add(1);
    if (index < chosen || (index > chosen && fault.effect != Effect::fail_on)) return nullptr;
    if (!fired.load()) {
        const Aside own;
        frame_count = backtrace(frames.data(), static_cast<int>(frames.size()));
        cuda_function[name.copy(cuda_function.data(), cuda_function.size() - 1)] = 0;
        fired.store(true);
    }
    return &fault;
}

void arm(const Fault& made, std::size_t calls) {
    armed.store(Call::none);
    fault = made;
    chosen = calls;
    seen.store(0);
    fired.store(false);
    armed.store(made.call, std::memory_order_release);
}

bool disarm() {
    armed.store(Call::none);
    return fired.load();
}

std::string failed_call() {
    const std::unique_ptr<char*, decltype(&std::free)> names(backtrace_symbols(frames.data(), frame_count), &std::free);
    std::string text;
    for (int i = 0; i < frame_count && names != nullptr; ++i) text += std::string("\n    ") + names.get()[i];
    return text;
}

std::string failed_cuda_function() { return cuda_function.data(); }

Aside::Aside() noexcept { ++aside; }
Aside::~Aside() { --aside; }

std::ptrdiff_t live_blocks() noexcept { return blocks.load(); }

}  // namespace texton::test

// --- memory ---

void* operator new(std::size_t bytes) { return texton::test::allocate_or_throw(bytes, 0); }
void* operator new[](std::size_t bytes) { return texton::test::allocate_or_throw(bytes, 0); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return texton::test::allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
    return texton::test::allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return texton::test::allocate(bytes, 0); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return texton::test::allocate(bytes, 0); }
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return texton::test::allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return texton::test::allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept { texton::test::release(block); }
void operator delete[](void* block) noexcept { texton::test::release(block); }
void operator delete(void* block, std::size_t) noexcept { texton::test::release(block); }
void operator delete[](void* block, std::size_t) noexcept { texton::test::release(block); }
void operator delete(void* block, std::align_val_t) noexcept { texton::test::release(block); }
void operator delete[](void* block, std::align_val_t) noexcept { texton::test::release(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { texton::test::release(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { texton::test::release(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { texton::test::release(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { texton::test::release(block); }
void operator delete(void* block, std::align_val_t, const std::nothrow_t&) noexcept { texton::test::release(block); }
void operator delete[](void* block, std::align_val_t, const std::nothrow_t&) noexcept { texton::test::release(block); }

// The functions of the C library. Each one has the C library's name and signature.

using texton::test::Call;
using texton::test::fails;
using texton::test::next;

extern "C" {

int posix_memalign(void** made, std::size_t alignment, std::size_t bytes) noexcept {
    static const auto real = next<decltype(posix_memalign)>("posix_memalign");
    return fails(Call::align) ? errno : real(made, alignment, bytes);
}

void* mmap(void* address, std::size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
    static const auto real = next<decltype(mmap)>("mmap");
    return fails(Call::map) ? MAP_FAILED : real(address, bytes, protection, flags, file, offset);
}

int mprotect(void* address, std::size_t bytes, int protection) noexcept {
    static const auto real = next<decltype(mprotect)>("mprotect");
    return fails(Call::protect) ? -1 : real(address, bytes, protection);
}

int memfd_create(const char* name, unsigned flags) noexcept {
    static const auto real = next<decltype(memfd_create)>("memfd_create");
    return fails(Call::memfd) ? -1 : real(name, flags);
}

int ftruncate(int file, off_t bytes) noexcept {
    static const auto real = next<decltype(ftruncate)>("ftruncate");
    return fails(Call::truncate) ? -1 : real(file, bytes);
}

int pthread_create(pthread_t* made, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) noexcept {
    static const auto real = next<decltype(pthread_create)>("pthread_create");
    return fails(Call::thread) ? errno : real(made, attributes, start, argument);
}

// --- files ---

int open(const char* path, int flags, ...) {
    static const auto real = next<int(const char*, int, mode_t)>("open");
    std::va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = texton::test::mode_of(flags, arguments);
    va_end(arguments);
    return fails(Call::open) ? -1 : real(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
    static const auto real = next<int(const char*, int, mode_t)>("open64");
    std::va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = texton::test::mode_of(flags, arguments);
    va_end(arguments);
    return fails(Call::open) ? -1 : real(path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
    static const auto real = next<int(int, const char*, int, mode_t)>("openat");
    std::va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = texton::test::mode_of(flags, arguments);
    va_end(arguments);
    return fails(Call::open) ? -1 : real(folder, path, flags, mode);
}

int openat64(int folder, const char* path, int flags, ...) {
    static const auto real = next<int(int, const char*, int, mode_t)>("openat64");
    std::va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = texton::test::mode_of(flags, arguments);
    va_end(arguments);
    return fails(Call::open) ? -1 : real(folder, path, flags, mode);
}

std::FILE* fopen(const char* path, const char* mode) {
    static const auto real = next<decltype(fopen)>("fopen");
    return fails(Call::open) ? nullptr : real(path, mode);
}

std::FILE* fopen64(const char* path, const char* mode) {
    static const auto real = next<decltype(fopen64)>("fopen64");
    return fails(Call::open) ? nullptr : real(path, mode);
}

ssize_t read(int file, void* to, std::size_t bytes) {
    static const auto real = next<decltype(read)>("read");
    return fails(Call::read, bytes) ? -1 : real(file, to, bytes);
}

ssize_t pread(int file, void* to, std::size_t bytes, off_t offset) {
    static const auto real = next<decltype(pread)>("pread");
    return fails(Call::read, bytes) ? -1 : real(file, to, bytes, offset);
}

ssize_t pread64(int file, void* to, std::size_t bytes, off64_t offset) {
    static const auto real = next<decltype(pread64)>("pread64");
    return fails(Call::read, bytes) ? -1 : real(file, to, bytes, offset);
}

std::size_t fread(void* to, std::size_t size, std::size_t count, std::FILE* stream) {
    static const auto real = next<decltype(fread)>("fread");
    return fails(Call::read) ? texton::test::fail_stream(stream) : real(to, size, count, stream);
}

ssize_t write(int file, const void* from, std::size_t bytes) {
    static const auto real = next<decltype(write)>("write");
    return fails(Call::write, bytes) ? -1 : real(file, from, bytes);
}

ssize_t pwrite(int file, const void* from, std::size_t bytes, off_t offset) {
    static const auto real = next<decltype(pwrite)>("pwrite");
    return fails(Call::write, bytes) ? -1 : real(file, from, bytes, offset);
}

ssize_t pwrite64(int file, const void* from, std::size_t bytes, off64_t offset) {
    static const auto real = next<decltype(pwrite64)>("pwrite64");
    return fails(Call::write, bytes) ? -1 : real(file, from, bytes, offset);
}

ssize_t writev(int file, const iovec* parts, int count) {
    static const auto real = next<decltype(writev)>("writev");
    std::size_t bytes = 2;  // shortened: only the first part is written
    if (fails(Call::write, bytes)) return -1;
    return real(file, parts, bytes == 2 ? count : std::min(count, 1));
}

std::size_t fwrite(const void* from, std::size_t size, std::size_t count, std::FILE* stream) {
    static const auto real = next<decltype(fwrite)>("fwrite");
    return fails(Call::write) ? texton::test::fail_stream(stream) : real(from, size, count, stream);
}

int fflush(std::FILE* stream) {
    static const auto real = next<decltype(fflush)>("fflush");
    return fails(Call::flush) ? EOF : real(stream);
}

int close(int file) {
    static const auto real = next<decltype(close)>("close");
    const int done = real(file);
    return fails(Call::close) ? -1 : done;
}

int fclose(std::FILE* stream) {
    static const auto real = next<decltype(fclose)>("fclose");
    const int done = real(stream);
    return fails(Call::close) ? EOF : done;
}

off_t lseek(int file, off_t offset, int from) noexcept {
    static const auto real = next<decltype(lseek)>("lseek");
    return fails(Call::seek) ? -1 : real(file, offset, from);
}

off64_t lseek64(int file, off64_t offset, int from) noexcept {
    static const auto real = next<decltype(lseek64)>("lseek64");
    return fails(Call::seek) ? -1 : real(file, offset, from);
}

int fseek(std::FILE* stream, long offset, int from) {
    static const auto real = next<decltype(fseek)>("fseek");
    return fails(Call::seek) ? -1 : real(stream, offset, from);
}

int fseeko(std::FILE* stream, off_t offset, int from) {
    static const auto real = next<decltype(fseeko)>("fseeko");
    return fails(Call::seek) ? -1 : real(stream, offset, from);
}

int fseeko64(std::FILE* stream, off64_t offset, int from) {
    static const auto real = next<decltype(fseeko64)>("fseeko64");
    return fails(Call::seek) ? -1 : real(stream, offset, from);
}

int stat(const char* path, struct stat* status) noexcept {
    static const auto real = next<int(const char*, struct stat*)>("stat");
    return fails(Call::status) ? -1 : real(path, status);
}

int lstat(const char* path, struct stat* status) noexcept {
    static const auto real = next<int(const char*, struct stat*)>("lstat");
    return fails(Call::status) ? -1 : real(path, status);
}

int fstat(int file, struct stat* status) noexcept {
    static const auto real = next<int(int, struct stat*)>("fstat");
    return fails(Call::status) ? -1 : real(file, status);
}

int fstatat(int folder, const char* path, struct stat* status, int flags) noexcept {
    static const auto real = next<int(int, const char*, struct stat*, int)>("fstatat");
    return fails(Call::status) ? -1 : real(folder, path, status, flags);
}

int fsync(int file) {
    static const auto real = next<decltype(fsync)>("fsync");
    return fails(Call::sync) ? -1 : real(file);
}

int fdatasync(int file) {
    static const auto real = next<decltype(fdatasync)>("fdatasync");
    return fails(Call::sync) ? -1 : real(file);
}

int rename(const char* from, const char* to) noexcept {
    static const auto real = next<int(const char*, const char*)>("rename");
    return fails(Call::rename) ? -1 : real(from, to);
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
    static const auto real = next<int(int, const char*, int, const char*)>("renameat");
    return fails(Call::rename) ? -1 : real(from_folder, from, to_folder, to);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
    static const auto real = next<int(int, const char*, int, const char*, unsigned)>("renameat2");
    return fails(Call::rename) ? -1 : real(from_folder, from, to_folder, to, flags);
}

int fchmod(int file, mode_t mode) noexcept {
    static const auto real = next<int(int, mode_t)>("fchmod");
    return fails(Call::mode) ? -1 : real(file, mode);
}

int fchown(int file, uid_t owner, gid_t group) noexcept {
    static const auto real = next<int(int, uid_t, gid_t)>("fchown");
    return fails(Call::mode) ? -1 : real(file, owner, group);
}

int fallocate(int file, int mode, off_t offset, off_t bytes) {
    static const auto real = next<decltype(fallocate)>("fallocate");
    return fails(Call::reserve) ? -1 : real(file, mode, offset, bytes);
}

int fcntl(int file, int command, ...) {
    static const auto real = next<int(int, int, void*)>("fcntl");
    std::va_list arguments;
    va_start(arguments, command);
    void* const argument = va_arg(arguments, void*);
    va_end(arguments);
    const bool counted = command == F_DUPFD || command == F_DUPFD_CLOEXEC || command == F_ADD_SEALS;
    return counted && fails(Call::control) ? -1 : real(file, command, argument);
}

ssize_t getrandom(void* to, std::size_t bytes, unsigned flags) {
    static const auto real = next<decltype(getrandom)>("getrandom");
    return fails(Call::random) ? -1 : real(to, bytes, flags);
}

// --- other processes ---

int socketpair(int domain, int type, int protocol, int* ends) noexcept {
    static const auto real = next<int(int, int, int, int*)>("socketpair");
    return fails(Call::socket) ? -1 : real(domain, type, protocol, ends);
}

ssize_t sendmsg(int socket, const msghdr* message, int flags) {
    static const auto real = next<decltype(sendmsg)>("sendmsg");
    return fails(Call::send) ? -1 : real(socket, message, flags);
}

ssize_t recvmsg(int socket, msghdr* message, int flags) {
    static const auto real = next<decltype(recvmsg)>("recvmsg");
    return fails(Call::receive) ? -1 : real(socket, message, flags);
}

int poll(pollfd* files, nfds_t count, int milliseconds) {
    static const auto real = next<decltype(poll)>("poll");
    return fails(Call::wait) ? -1 : real(files, count, milliseconds);
}

int posix_spawn(pid_t* made, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
    static const auto real = next<decltype(posix_spawn)>("posix_spawn");
    return fails(Call::spawn) ? errno : real(made, path, actions, attributes, arguments, environment);
}

int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t* actions, int file, const char* path, int flags,
                                     mode_t mode) noexcept {
    static const auto real =
        next<int(posix_spawn_file_actions_t*, int, const char*, int, mode_t)>("posix_spawn_file_actions_addopen");
    return fails(Call::spawn) ? errno : real(actions, file, path, flags, mode);
}

int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t* actions, int file, int target) noexcept {
    static const auto real = next<int(posix_spawn_file_actions_t*, int, int)>("posix_spawn_file_actions_adddup2");
    return fails(Call::spawn) ? errno : real(actions, file, target);
}

int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t* actions, int first) noexcept {
    static const auto real = next<int(posix_spawn_file_actions_t*, int)>("posix_spawn_file_actions_addclosefrom_np");
    return fails(Call::spawn) ? errno : real(actions, first);
}

int posix_spawnattr_setflags(posix_spawnattr_t* attributes, short flags) noexcept {
    static const auto real = next<int(posix_spawnattr_t*, short)>("posix_spawnattr_setflags");
    return fails(Call::spawn) ? errno : real(attributes, flags);
}

int pidfd_open(pid_t process, unsigned flags) noexcept {
    static const auto real = next<int(pid_t, unsigned)>("pidfd_open");
    return fails(Call::spawn) ? -1 : real(process, flags);
}

}  // extern "C"

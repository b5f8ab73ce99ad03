#include "core/cpu/arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>

#include <texton/error.h>

namespace texton::detail {
namespace {

constexpr const char* kFileName = "texton-pool";
constexpr std::uint64_t kMagic = 0x314C4F4F504E5854;  // "TXNPOOL1"

struct Header {
    std::uint64_t magic = kMagic;
    std::uint64_t bytes = 0;
    CpuArena::Id id{};
};

// Calls a function of the system again while a signal interrupts it.
template <class Call>
auto uninterrupted(const Call& call) {
    auto result = call();
    while (result < 0 && errno == EINTR) result = call();
    return result;
}

}  // namespace

CpuArena::CpuArena(std::size_t bytes, bool shareable, int node) : bytes_(bytes), node_(node) {
    if (shareable) {
        Header header{.bytes = bytes};
        const ssize_t random = uninterrupted([&] { return getrandom(header.id.data(), header.id.size(), 0); });
        if (random != static_cast<ssize_t>(header.id.size())) {
            throw Error({.code = ErrorCode::device_failure,
                         .problem = "the system did not provide random numbers",
                         .remedy = "Try again later.",
                         .call = "getrandom"});
        }
        file_ = make_shared_memory(kFileName, kUnit + bytes);
        const ssize_t written = uninterrupted([&] { return pwrite(file_.get(), &header, sizeof(header), 0); });
        if (written != static_cast<ssize_t>(sizeof(header))) refuse_memory(sizeof(header), 0);
        id_ = header.id;
    }
    map(PROT_NONE);
}

CpuArena::CpuArena(int descriptor) {
    const std::size_t file_bytes = shared_memory_bytes(descriptor, kFileName);
    Header header{.magic = 0};
    const bool read = uninterrupted([&] { return pread(descriptor, &header, sizeof(header), 0); }) ==
                      static_cast<ssize_t>(sizeof(header));
    if (!read || header.magic != kMagic || header.bytes == 0 || header.bytes % kUnit != 0 || file_bytes < kUnit ||
        header.bytes != file_bytes - kUnit) {
        throw Error({.code = ErrorCode::bad_argument,
                     .problem = "the file descriptor does not belong to a pool, or its contents are damaged",
                     .remedy = "Pass the descriptor that Pool::export_handle() returned in the other process."});
    }
    bytes_ = header.bytes;
    id_ = header.id;
    file_ = Descriptor::duplicate(descriptor);
    map(PROT_READ | PROT_WRITE);
}

CpuArena::~CpuArena() { munmap(base_, bytes_); }

void CpuArena::map(int protection) {
    const int sharing = file_.get() >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    base_ = reserve_addresses(bytes_, kUnit);  // aligned to a unit so that it can use huge pages
    const off_t offset = file_.get() >= 0 ? static_cast<off_t>(kUnit) : 0;
    if (mmap(base_, bytes_, protection, sharing | MAP_NORESERVE | MAP_FIXED, file_.get(), offset) == MAP_FAILED) {
        munmap(base_, bytes_);
        refuse_memory(bytes_, 0);
    }
}

bool CpuArena::commit(std::size_t offset, std::size_t count) noexcept {
    if (mprotect(base_ + offset, count, PROT_READ | PROT_WRITE) != 0) return false;
    if (file_.get() < 0) madvise(base_ + offset, count, MADV_HUGEPAGE);
    if (node_ >= 0) prefer_numa_node(base_ + offset, count, node_);
    return true;
}

bool CpuArena::decommit(std::size_t offset, std::size_t count) noexcept {
    const int returned = uninterrupted([&] {
        if (file_.get() < 0) return madvise(base_ + offset, count, MADV_DONTNEED);
        return fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(kUnit + offset),
                         static_cast<off_t>(count));
    });
    if (returned != 0) return false;
    // If the system has no room for another range, an access to the returned memory does not fault but reads zeros.
    [[maybe_unused]] const int status = mprotect(base_ + offset, count, PROT_NONE);
    return true;
}

}  // namespace texton::detail

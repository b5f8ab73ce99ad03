#include "core/cpu/system.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include <texton/error.h>

namespace texton::detail {
namespace {

// Larger requests are also compared with the memory that the machine has available now, because other programs use it
// too.
constexpr std::size_t kLargeBytes = 64 * kMiB;

// Returns the number after `key` in a file of "key: number" lines, or in a file with only a number. Returns 0 if there
// is none.
std::size_t number_in(const char* path, std::string_view key) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with(key)) continue;
        const std::size_t digit = line.find_first_of("0123456789", key.size());
        if (digit == std::string::npos) return 0;
        std::size_t value = 0;
        std::from_chars(line.data() + digit, line.data() + line.size(), value);
        return value;
    }
    return 0;
}

std::size_t physical_memory() {
    const long pages = sysconf(_SC_PHYS_PAGES);
    return pages <= 0 ? SIZE_MAX / 4
                      : static_cast<std::size_t>(pages) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// Limit and usage of this process's control group (version 2 or 1), or 0 if there is none.
struct GroupMemory {
    std::size_t limit = 0;
    std::size_t used = 0;
};

GroupMemory group_memory() {
    std::ifstream groups("/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
        const bool unified = line.starts_with("0::");
        const std::size_t memory = line.find(":memory:");
        if (!unified && memory == std::string::npos) continue;
        const std::string root = unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
        const std::string own = unified ? line.substr(3) : line.substr(memory + 8);
        for (const std::string& folder : {root + own, root}) {  // in a container, the own group may be the root
            const std::string file = folder + (unified ? "/memory.max" : "/memory.limit_in_bytes");
            const std::size_t limit = number_in(file.c_str(), "");
            if (limit == 0) continue;
            return {limit, number_in((folder + (unified ? "/memory.current" : "/memory.usage_in_bytes")).c_str(), "")};
        }
    }
    return {};
}

}  // namespace

std::size_t machine_memory() {
    static const std::size_t bytes = [] {
        const GroupMemory group = group_memory();
        return group.limit == 0 ? physical_memory() : std::min(physical_memory(), group.limit);
    }();
    return bytes;
}

std::size_t available_memory() {
    std::size_t available = number_in("/proc/meminfo", "MemAvailable:") * 1024;
    if (available == 0) available = machine_memory();
    if (machine_memory() < physical_memory()) {
        const GroupMemory group = group_memory();
        available = std::min(available, group.limit - std::min(group.limit, group.used));
    }
    return std::min(available, machine_memory());
}

std::string processor_model() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
    }
    return "unknown processor";
}

std::size_t last_cache_bytes() {
    const long third = sysconf(_SC_LEVEL3_CACHE_SIZE);
    const long bytes = third > 0 ? third : sysconf(_SC_LEVEL2_CACHE_SIZE);
    return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

bool has_numa_node(int node) {
    if (node < 0) return false;
    const std::string folder = fmt::format("/sys/devices/system/node/node{}", node);
    return access(folder.c_str(), F_OK) == 0 || node == 0;  // a system without NUMA has only node 0
}

int current_numa_node() {
    unsigned processor = 0;
    unsigned node = 0;
    return getcpu(&processor, &node) == 0 ? static_cast<int>(node) : 0;
}

void prefer_numa_node(void* address, std::size_t bytes, int node) noexcept {
    constexpr int kPreferred = 1;  // MPOL_PREFERRED
    if (node < 0 || node >= 64) return;
    const unsigned long mask = 1UL << node;
    [[maybe_unused]] const long status = syscall(SYS_mbind, address, bytes, kPreferred, &mask, 65UL, 0U);
}

void refuse_memory(std::size_t asked, std::size_t free) {
    throw Error({.code = ErrorCode::out_of_memory,
                 .problem = fmt::format("{} bytes were requested, but {} are free", asked, free),
                 .remedy = "Request less memory, or free memory of the device first.",
                 .numbers = {{"asked", asked}, {"available", free}}});
}

void Account::take(std::size_t bytes) {
    if (!try_take(bytes)) refuse_memory(bytes, std::min(free(), available_memory()));
}

bool Account::try_take(std::size_t bytes) {
    if (bytes >= kLargeBytes && bytes > available_memory()) return false;
    const std::lock_guard lock(mutex_);
    if (bytes > capacity_ - held_) return false;
    held_ += bytes;
    return true;
}

void Account::give(std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    held_ -= std::min(bytes, held_);
}

std::size_t Account::free() const {
    const std::lock_guard lock(mutex_);
    return capacity_ - held_;
}

Account& host_account() {
    static Account& account = *new Account(machine_memory(), machine_memory() - available_memory());
    return account;
}

std::byte* take_memory(Account& account, std::size_t bytes, std::size_t alignment) {
    if (bytes > account.total()) refuse_memory(bytes, account.free());  // also prevents an overflow in the next sums
    const std::size_t held = round_up(bytes, alignment);
    if (!account.try_take(held)) refuse_memory(bytes, std::min(account.free(), available_memory()));
    const std::size_t aligned_to = bytes >= kUnit ? kUnit : alignment;
    void* address = nullptr;
    if (posix_memalign(&address, aligned_to, bytes) != 0) {
        const std::size_t free = account.free();
        account.give(held);
        refuse_memory(bytes, free);
    }
    if (bytes >= kUnit) madvise(address, bytes / kUnit * kUnit, MADV_HUGEPAGE);
    return static_cast<std::byte*>(address);
}

void give_memory(Account& account, std::byte* address, std::size_t bytes) noexcept {
    std::free(address);
    account.give(bytes);
}

std::byte* reserve_addresses(std::size_t bytes, std::size_t alignment) {
    if (bytes > SIZE_MAX - alignment) refuse_memory(bytes, 0);
    const std::size_t whole = bytes + alignment;
    void* reserved = mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) refuse_memory(bytes, 0);
    auto* const begin = static_cast<std::byte*>(reserved);
    // Releases the addresses before and after the aligned range.
    const std::size_t before = (alignment - reinterpret_cast<std::uintptr_t>(begin) % alignment) % alignment;
    const std::size_t after = alignment - before;
    if (before > 0 && munmap(begin, before) != 0) {
        munmap(begin, whole);
        refuse_memory(bytes, 0);
    }
    if (after > 0 && munmap(begin + before + bytes, after) != 0) {
        munmap(begin + before, bytes + after);
        refuse_memory(bytes, 0);
    }
    return begin + before;
}

Descriptor::~Descriptor() {
    if (value_ >= 0) close(value_);
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
}

int Descriptor::release() noexcept { return std::exchange(value_, -1); }

Descriptor Descriptor::duplicate(int value) {
    Descriptor copy(fcntl(value, F_DUPFD_CLOEXEC, 0));
    if (copy.get() >= 0) return copy;
    throw Error({.code = ErrorCode::device_failure,
                 .problem = fmt::format("the system cannot create another file descriptor: {}", std::strerror(errno)),
                 .remedy = "Close file descriptors that are not needed.",
                 .call = "fcntl"});
}

Descriptor make_shared_memory(const char* name, std::size_t bytes) {
    Descriptor file(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    const bool made = file.get() >= 0 && ftruncate(file.get(), static_cast<off_t>(bytes)) == 0 &&
                      fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
    if (made) return file;
    throw Error({.code = errno == ENOMEM || errno == EFBIG ? ErrorCode::out_of_memory : ErrorCode::device_failure,
                 .problem = fmt::format("the system cannot create shared memory: {}", std::strerror(errno)),
                 .remedy = "Close file descriptors that are not needed.",
                 .call = "memfd_create"});
}

std::size_t shared_memory_bytes(int descriptor, const char* name) {
    const auto refuse = [&](const char* problem) {
        throw Error(
            {.code = ErrorCode::bad_argument,
             .problem = fmt::format("file descriptor {} {}", descriptor, problem),
             .remedy = "Pass a descriptor that was received over a socket or inherited from the exporting process."});
    };
    struct stat status {};
    if (descriptor < 0 || fstat(descriptor, &status) != 0) refuse("is not open");
    const int seals = fcntl(descriptor, F_GET_SEALS);  // -1 if the descriptor is not such memory
    constexpr int kWanted = F_SEAL_SHRINK | F_SEAL_GROW;
    if (seals < 0 || (seals & kWanted) != kWanted) refuse("is not memory of a Texton process");
    std::array<char, 128> target{};
    const std::string link = fmt::format("/proc/self/fd/{}", descriptor);
    const ssize_t length = readlink(link.c_str(), target.data(), target.size() - 1);
    const std::string expected = fmt::format("/memfd:{}", name);
    if (length > 0 && !std::string_view(target.data()).starts_with(expected)) refuse("is another kind of memory");
    return static_cast<std::size_t>(status.st_size);
}

}  // namespace texton::detail

#pragma once
// Functions of the operating system for the CPU device: properties of the machine, and memory with an account of its
// use.
#include <cstddef>
#include <mutex>
#include <string>

namespace texton::detail {

inline constexpr std::size_t kMiB = std::size_t{1} << 20;
/// The unit in which memory of pools and physical memory is allocated.
inline constexpr std::size_t kUnit = 2 * kMiB;

constexpr std::size_t round_up(std::size_t value, std::size_t unit) noexcept {
    return (value + unit - 1) / unit * unit;
}

/// Returns the maximum memory of this process in bytes: the machine's memory or the limit of the control group.
std::size_t machine_memory();
/// Returns the memory that is available now without swapping, or machine_memory() if the system does not report it.
std::size_t available_memory();
std::string processor_model();
std::size_t last_cache_bytes();
bool has_numa_node(int node);
/// Returns the NUMA node of the processor on which the calling thread runs.
int current_numa_node();
/// Requests that memory not allocated yet comes from the node. Does nothing if the system refuses.
void prefer_numa_node(void* address, std::size_t bytes, int node) noexcept;

/// Throws Error{out_of_memory} with both numbers.
[[noreturn]] void refuse_memory(std::size_t asked, std::size_t free);

/// Counts the bytes in use of a memory of fixed size. Thread-safe.
class Account {
public:
    /// `others` is the part that the rest of the machine already uses, in bytes.
    Account(std::size_t total, std::size_t others) noexcept : total_(total), capacity_(total - others) {}

    /// Throws Error{out_of_memory} if fewer bytes are free in the account or on the machine.
    void take(std::size_t bytes);
    bool try_take(std::size_t bytes);
    void give(std::size_t bytes) noexcept;
    std::size_t total() const noexcept { return total_; }
    std::size_t free() const;

private:
    const std::size_t total_;
    const std::size_t capacity_;
    mutable std::mutex mutex_;
    std::size_t held_ = 0;
};

/// Returns the account of the host memory, which all CPU devices share. It is never destroyed.
Account& host_account();

/// Allocates aligned memory and counts it in the account. Large memory uses huge pages. Throws Error{out_of_memory} and
/// then leaves the account unchanged.
std::byte* take_memory(Account& account, std::size_t bytes, std::size_t alignment);
void give_memory(Account& account, std::byte* address, std::size_t bytes) noexcept;

/// Reserves addresses without memory, which cannot be accessed. The first one is a multiple of `alignment`, which is a
/// multiple of the page size. Throws Error{out_of_memory}.
std::byte* reserve_addresses(std::size_t bytes, std::size_t alignment);

/// Owns a file descriptor and closes it.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int value) noexcept : value_(value) {}
    ~Descriptor();
    Descriptor(Descriptor&& other) noexcept : value_(other.release()) {}
    Descriptor& operator=(Descriptor&& other) noexcept;

    int get() const noexcept { return value_; }
    int release() noexcept;
    /// Returns a second descriptor of the same file. Throws Error{device_failure}.
    Descriptor duplicate() const { return duplicate(value_); }
    static Descriptor duplicate(int value);

private:
    int value_ = -1;
};

/// Creates sparse memory of fixed size that this and other processes can map. It can neither shrink nor grow, so no
/// mapping reaches past its end. Throws Error{out_of_memory} or Error{device_failure}.
Descriptor make_shared_memory(const char* name, std::size_t bytes);
/// Checks that make_shared_memory() created the memory with this name, and returns its size in bytes. Throws
/// Error{bad_argument} otherwise.
std::size_t shared_memory_bytes(int descriptor, const char* name);

}  // namespace texton::detail

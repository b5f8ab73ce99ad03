#pragma once
// What the CPU device asks of the operating system: facts of the machine, and memory with an account of it.
#include <cstddef>
#include <mutex>
#include <string>

namespace texton::detail {

inline constexpr std::size_t kMiB = std::size_t{1} << 20;
/// The unit in which the CPU device holds memory of pools and physical memory.
inline constexpr std::size_t kUnit = 2 * kMiB;

constexpr std::size_t round_up(std::size_t value, std::size_t unit) noexcept {
    return (value + unit - 1) / unit * unit;
}

/// What this process may use at most: the machine's memory, or its control group's limit.
std::size_t machine_memory();
/// What could be had now without swapping; machine_memory() where the system does not say.
std::size_t available_memory();
std::string processor_model();
std::size_t last_cache_bytes();
bool has_numa_node(int node);
/// The node of the processor that the calling thread runs on.
int current_numa_node();
/// Best effort: memory that is not there yet comes from the node.
void prefer_numa_node(void* address, std::size_t bytes, int node) noexcept;

/// Error{out_of_memory} with both numbers.
[[noreturn]] void refuse_memory(std::size_t asked, std::size_t free);

/// Bytes held of a memory of fixed size.
class Account {
public:
    /// `others`: what of it the rest of the machine uses already.
    Account(std::size_t total, std::size_t others) noexcept : total_(total), capacity_(total - others) {}

    /// Error{out_of_memory} if fewer are free, here or on the machine.
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

/// Host memory of all CPU devices together. Never destroyed.
Account& host_account();

/// Memory from the system: aligned, in huge pages where it is large. Error{out_of_memory}; nothing is lost when it
/// throws.
std::byte* take_memory(Account& account, std::size_t bytes, std::size_t alignment);
void give_memory(Account& account, std::byte* address, std::size_t bytes) noexcept;

/// A file descriptor, closed when it goes.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int value) noexcept : value_(value) {}
    ~Descriptor();
    Descriptor(Descriptor&& other) noexcept : value_(other.release()) {}
    Descriptor& operator=(Descriptor&& other) noexcept;

    int get() const noexcept { return value_; }
    int release() noexcept;
    /// A second descriptor of the same file.
    Descriptor duplicate() const;

private:
    int value_ = -1;
};

/// Sparse memory of fixed size that can be mapped, also by another process. It can neither shrink nor grow, so that no
/// mapping ever reaches past its end.
Descriptor make_shared_memory(const char* name, std::size_t bytes);
/// Checks that it is what make_shared_memory(name, ...) made, and returns its size. Error{bad_argument}.
std::size_t shared_memory_bytes(int descriptor, const char* name);

}  // namespace texton::detail

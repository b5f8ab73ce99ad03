// Replaces the functions that allocate memory for `new` in programs that contain the reader. Those for arrays and those
// that do not throw are replaced too, because sanitizers have their own ones.
#include "arrays/files/reader/new_memory.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

constinit bool is_zeroed = false;

}  // namespace

namespace texton::reader {

void zero_new_memory() noexcept { is_zeroed = true; }

}  // namespace texton::reader

// calloc() does not touch large blocks, which the system returns with zeros.
void* operator new(std::size_t bytes) {
    bytes = std::max<std::size_t>(bytes, 1);
    for (;;) {
        if (void* const memory = is_zeroed ? std::calloc(1, bytes) : std::malloc(bytes)) return memory;
        const std::new_handler handler = std::get_new_handler();
        if (handler == nullptr) throw std::bad_alloc();
        handler();
    }
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    try {
        return ::operator new(bytes);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
void* operator new[](std::size_t bytes) { return ::operator new(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t& tag) noexcept { return ::operator new(bytes, tag); }

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

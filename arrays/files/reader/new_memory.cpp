// Replaces the functions that allocate memory for `new` in programs that contain the reader.
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

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

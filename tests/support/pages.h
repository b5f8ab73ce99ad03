#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <span>

#include <texton/view.h>

namespace texton::test {

inline constexpr std::size_t kPage = 4096;

/// Whole memory pages: the operating system cannot lock less than a page.
class Pages {
public:
    explicit Pages(std::size_t count)
        : bytes_(count * kPage),
          data_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
        if (data_ == MAP_FAILED) throw std::bad_alloc();
    }
    ~Pages() { munmap(data_, bytes_); }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;

    std::byte* data() const noexcept { return static_cast<std::byte*>(data_); }
    std::size_t size() const noexcept { return bytes_; }
    std::span<std::byte> all() const noexcept { return {data(), bytes_}; }
    View view(std::size_t offset, std::size_t count) const {
        return host_view(static_cast<void*>(data() + offset), Format::r8_uint, {count});
    }

private:
    std::size_t bytes_;
    void* data_;
};

}  // namespace texton::test

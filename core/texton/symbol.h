#pragma once
#include <memory>

#include <texton/view.h>

namespace texton {

/// Makes a host variable a symbol of the CPU devices while this lives, as `__device__` and `__constant__` make one of a CUDA
/// device's. It must outlive the symbols made of it.
class CpuSymbol {
public:
    template <class T>
    explicit CpuSymbol(T& variable) : CpuSymbol(static_cast<void*>(&variable), sizeof(T)) {}
    ~CpuSymbol();
    CpuSymbol(const CpuSymbol&) = delete;
    CpuSymbol& operator=(const CpuSymbol&) = delete;

private:
    CpuSymbol(void* address, std::size_t bytes);
    void* address_;
};

namespace detail {
struct SymbolPlace {
    std::byte* address = nullptr;
    std::size_t bytes = 0;
};
SymbolPlace find_symbol(const Device& device, const void* symbol, std::size_t expected_bytes);
View symbol_view(const Device& device, const void* symbol, SymbolPlace place, std::size_t offset, std::size_t count);
}  // namespace detail

/// A variable of the device's program: `__device__ T v` or `__constant__ T v`; on the CPU device a CpuSymbol.
///
/// Error{not_registered} if the device has no such symbol.
template <class T>
class Symbol {
public:
    Symbol(const Device& device, const T& variable)
        : device_(device), variable_(&variable), found_(detail::find_symbol(device, &variable, sizeof(T))) {}

    std::byte* address() const noexcept { return found_.address; }  ///< on the device
    std::size_t bytes() const noexcept { return found_.bytes; }
    const Device& device() const noexcept { return device_; }
    /// All of it, for copy().
    View view() const { return view(0, found_.bytes); }
    /// `count` bytes from `offset`. Throws Error{out_of_bounds} past the end.
    View view(std::size_t offset, std::size_t count) const {
        return detail::symbol_view(device_, variable_, found_, offset, count);
    }

private:
    Device device_;
    const T* variable_;
    detail::SymbolPlace found_;
};

}  // namespace texton

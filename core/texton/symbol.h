#pragma once
// Variables of a device's program.
#include <memory>

#include <texton/view.h>

namespace texton {

/// Makes a host variable available as a Symbol of the CPU devices, as `__device__` and `__constant__` do for CUDA
/// devices.
///
/// The caller must keep the variable and this object until the symbols and views of the variable are gone. Several
/// threads may create and destroy such objects at once.
class CpuSymbol {
public:
    /// Registers the variable.
    template <class T>
    explicit CpuSymbol(T& variable) : CpuSymbol(static_cast<void*>(&variable), sizeof(T)) {}
    ~CpuSymbol();  ///< Ends the registration.
    CpuSymbol(const CpuSymbol&) = delete;
    CpuSymbol& operator=(const CpuSymbol&) = delete;

private:
    CpuSymbol(void* address, std::size_t bytes);
    void* address_;
};

namespace detail {
struct SymbolLocation {
    std::byte* address = nullptr;
    std::size_t bytes = 0;
};
SymbolLocation find_symbol(const Device& device, const void* symbol, std::size_t expected_bytes);
View symbol_view(const Device& device, const void* symbol, SymbolLocation location, std::size_t offset,
                 std::size_t count);
}  // namespace detail

/// A variable of a device's program: `__device__ T v` or `__constant__ T v` of a CUDA device, or a CpuSymbol of the CPU
/// device. Non-owning: it and its views are valid while the variable exists on the device. The caller must order
/// accesses to the variable by other code. Several threads may call const member functions at once.
template <class T>
class Symbol {
public:
    /// Looks up the variable on the device. Throws Error{not_registered} if the device has no such symbol, and
    /// Error{bad_argument} if the symbol is smaller than T.
    Symbol(const Device& device, const T& variable)
        : device_(device), variable_(&variable), found_(detail::find_symbol(device, &variable, sizeof(T))) {}

    std::byte* address() const noexcept { return found_.address; }  ///< Returns the address on the device.
    std::size_t bytes() const noexcept { return found_.bytes; }     ///< Returns the size in bytes.
    const Device& device() const noexcept { return device_; }       ///< Returns the device.
    /// Returns a view of all bytes as one row of r8_uint.
    View view() const { return view(0, found_.bytes); }
    /// Returns a view of `count` bytes from `offset` on. Throws Error{out_of_bounds} if they reach beyond the end, and
    /// Error{bad_argument} if `count` is 0.
    View view(std::size_t offset, std::size_t count) const {
        return detail::symbol_view(device_, variable_, found_, offset, count);
    }

private:
    Device device_;
    const T* variable_;
    detail::SymbolLocation found_;
};

}  // namespace texton

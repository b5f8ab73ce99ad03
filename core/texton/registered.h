#pragma once
// Registration of host memory: page-locking of memory that the caller owns.
#include <span>

#include <texton/view.h>

namespace texton {

/// Options of a registration (cudaHostRegister).
struct RegisterOptions {
    bool portable = false;   ///< pinned for all devices, not only for the registering one
    bool mapped = false;     ///< has an address on the device
    bool io_memory = false;  ///< the range is memory of a device that is mapped into the process
    bool read_only = false;  ///< the device only reads; see DeviceProperties::host_register_read_only
    bool operator==(const RegisterOptions&) const = default;  ///< Returns true if all members are equal.
};

/// Page-locks host memory that the caller owns.
///
/// The registration ends when the last copy of the object and the last view of it are gone. If the thread records a
/// graph then, it ends after the recording. The caller must keep the memory until that end, and must not let the
/// registration end while work that uses the memory is in flight. copy() and fill() do not accept a host view that is
/// only partly in a registered range, because CUDA cannot copy it. A default-constructed or moved-from object is empty:
/// bytes() is 0, data() is null, and the other member functions throw Error{released}. Several threads may call const
/// member functions at once.
class Registered {
public:
    Registered() = default;  ///< Creates an empty object.
    /// Registers `bytes` bytes from `data` on.
    ///
    /// Throws
    /// - Error{bad_argument} if `data` is null, `bytes` is 0, or a byte is already pinned or registered,
    /// - Error{overflow} if the bytes exceed the address space,
    /// - Error{unsupported} if the device cannot register memory, or not with these options,
    /// - Error{capturing} while the calling thread records a graph.
    Registered(const Device& device, void* data, std::size_t bytes, RegisterOptions options = {});
    /// Registers the bytes of an array or vector. Throws the errors of the overload above.
    template <class T, std::size_t N>
    Registered(const Device& device, std::span<T, N> values, RegisterOptions options = {})
        : Registered(device, static_cast<void*>(values.data()), values.size_bytes(), options) {}

    std::byte* data() const noexcept;    ///< Returns the host address of the first byte.
    std::size_t bytes() const noexcept;  ///< Returns the size in bytes.
    /// Returns the address for kernels. Throws Error{not_permitted} if the memory is not mapped and the device does not
    /// use host addresses (DeviceProperties::host_pointer_is_device_pointer).
    std::byte* device_pointer() const;
    Device device() const;  ///< Returns the device that registered the memory.
    View view() const;      ///< Returns a view of all bytes as one row of r8_uint.
    /// Returns a view of `extent` packed texels from the first byte on. Throws Error{out_of_bounds} if they do not fit,
    /// and Error{bad_argument} if a dimension is 0 or the format is planar.
    View view(Format format, Extent extent) const;

private:
    std::shared_ptr<detail::Block> block_;
    RegisterOptions asked_;
};

/// Returns the device address of mapped host memory (cudaHostGetDevicePointer). `host` can point to any byte of the
/// memory. Throws Error{not_registered} if the byte is neither pinned nor registered.
[[nodiscard]] std::byte* device_pointer(const Device& device, const void* host);

}  // namespace texton

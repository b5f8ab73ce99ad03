#pragma once
#include <span>

#include <texton/view.h>

namespace texton {

/// cudaHostRegister's flags.
struct RegisterOptions {
    bool portable = false;
    bool mapped = false;
    bool io_memory = false;  ///< the range is a device's memory, mapped into this process
    bool read_only = false;  ///< the device only reads it; needs properties().host_register_read_only
    bool operator==(const RegisterOptions&) const = default;
};

/// Page-locks host memory that the caller owns and keeps, as long as this lives. Registering a byte twice is
/// Error{bad_argument}. A host view that lies partly in a registered range and partly outside is refused by copy() and fill(),
/// since CUDA cannot copy such a range.
class Registered {
public:
    Registered() = default;
    Registered(const Device& device, void* data, std::size_t bytes, RegisterOptions options = {});
    template <class T, std::size_t N>
    Registered(const Device& device, std::span<T, N> values, RegisterOptions options = {})
        : Registered(device, static_cast<void*>(values.data()), values.size_bytes(), options) {}

    std::byte* data() const noexcept;
    std::size_t bytes() const noexcept;
    /// Error{not_permitted} if it was not registered as mapped and the device does not map by itself.
    std::byte* device_pointer() const;
    Device device() const;
    View view() const;
    View view(Format format, Extent extent) const;

private:
    std::shared_ptr<detail::Block> block_;
    RegisterOptions asked_;
};

/// The device's address of host memory that is pinned or registered as mapped, (cudaHostGetDevicePointer).
/// Error{not_registered} for any other pointer.
[[nodiscard]] std::byte* device_pointer(const Device& device, const void* host);

}  // namespace texton

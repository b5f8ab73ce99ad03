#pragma once
// Exchange of texels with Python libraries without a copy: the CUDA array interface and NumPy's array interface.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <texton/view.h>

namespace texton {

/// The fields of Python's __cuda_array_interface__ (memory of a CUDA device) and __array_interface__ (host memory and
/// memory of the CPU device), both of version 3. Non-owning: the code that fills in the fields must keep the memory
/// alive.
struct ArrayInterface {
    static constexpr int version = 3;  ///< version of both protocols

    std::vector<std::int64_t> shape{};    ///< number of elements along each axis, slowest axis first
    std::string typestr{};                ///< byte order, type and bytes of an element: "|u1", "<i2", "<f4"
    void* data = nullptr;                 ///< address of the first element
    bool read_only = false;               ///< second value of Python's `data`
    std::vector<std::int64_t> strides{};  ///< bytes between elements along each axis; empty (None in Python): packed
    /// Stream with pending work on the texels, in __cuda_array_interface__ only. 1 is the legacy default stream, 2 is
    /// the default stream of the thread, and other values are a cudaStream_t. nullopt: no work is pending.
    std::optional<std::uintptr_t> stream{};
};

/// Describes the texels of a view. The caller must keep the view or the owner of its memory alive.
///
/// `dimensions` and the shape are as for to_dlpack(). `stream` is nullopt: the caller must set it if work on the texels
/// is in flight. Throws the errors of to_dlpack().
[[nodiscard]] ArrayInterface array_interface(const View& view, int dimensions = 0);
/// Describes the texels of a read-only view: `read_only` is true. Otherwise like the overload for View.
[[nodiscard]] ArrayInterface array_interface(const ConstView& view, int dimensions = 0);

/// Returns a non-owning view of texels that another library owns.
///
/// The caller must keep the memory until the view is no longer used. Axes and formats are as for from_dlpack(). On the
/// CPU device, memory that the device did not allocate is viewed as host memory. `array.stream` is ignored: the caller
/// must order its pending work before work on the view.
///
/// Throws Error{not_registered} if `device` is a CUDA device that does not know the memory, and Error{not_permitted} if
/// the array is read-only: use const_from_array_interface(). Throws Error{bad_argument} or Error{unsupported} if the
/// array cannot be viewed, as from_dlpack().
[[nodiscard]] View from_array_interface(const Device& device, const ArrayInterface& array,
                                        std::optional<Format> format = std::nullopt);
/// Returns a read-only view, and also accepts read-only arrays. Otherwise like from_array_interface().
[[nodiscard]] ConstView const_from_array_interface(const Device& device, const ArrayInterface& array,
                                                   std::optional<Format> format = std::nullopt);

}  // namespace texton

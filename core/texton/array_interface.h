#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <texton/view.h>

namespace texton {

/// The fields of Python's __cuda_array_interface__ (memory of a CUDA device) and __array_interface__ (host memory and the CPU
/// device), both of version 3. It owns nothing: whoever fills it keeps the memory.
struct ArrayInterface {
    static constexpr int version = 3;

    std::vector<std::int64_t> shape{};
    std::string typestr{};                ///< byte order, type and bytes of a number: "|u1", "<i2", "<f4"
    void* data = nullptr;                 ///< the first number
    bool read_only = false;               ///< the second of Python's `data`
    std::vector<std::int64_t> strides{};  ///< bytes; empty, None in Python: packed
    /// Only in __cuda_array_interface__: what work on the texels comes after. 1 is the default stream, 2 the default stream of
    /// the thread, others are a cudaStream_t. None: nothing is going on.
    std::optional<std::uintptr_t> stream{};
};

/// The texels of a view; read-only those of a ConstView. The shape is that of to_dlpack(), and so is what is refused. `stream`
/// is left out: where work on the texels is not done yet, set it.
[[nodiscard]] ArrayInterface array_interface(const View& view, int dimensions = 0);
[[nodiscard]] ArrayInterface array_interface(const ConstView& view, int dimensions = 0);

/// Texels that somebody else owns and keeps. Axes and formats are those of from_dlpack(). Error{not_registered} if it is a CUDA
/// device that does not know the memory; what the CPU device does not know is host memory. The stream is the caller's to wait
/// for. Error{not_permitted} for memory that is read-only: see const_from_array_interface().
[[nodiscard]] View from_array_interface(const Device& device, const ArrayInterface& array,
                                        std::optional<Format> format = std::nullopt);
/// The same to read from, also where it is read-only.
[[nodiscard]] ConstView const_from_array_interface(const Device& device, const ArrayInterface& array,
                                                   std::optional<Format> format = std::nullopt);

}  // namespace texton

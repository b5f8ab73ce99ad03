#pragma once
#include <memory>
#include <optional>

#include <texton/array_info.h>
#include <texton/view.h>

namespace texton {

namespace detail {
struct ArrayBlock;
}

/// A part of one level of an array. Members that are not set select all layers, all faces or the full extent.
struct Subresource {
    int level = 0;                       ///< the level, counted from 0
    std::optional<std::size_t> layer{};  ///< layer of a layered array; cube of a cubemap_layered
    std::optional<int> face{};           ///< face in the order +x -x +y -y +z -z; cubemap_layered needs `layer` too
    std::optional<Region> region{};      ///< box inside the selected part; z counts slices, layers or faces
    bool operator==(const Subresource&) const = default;  ///< Returns true if all members are equal.
};

/// Owns a CUDA array: texels in the memory layout of the texture unit. The texels have no address. Access them with
/// copy(), fill(), textures and surfaces.
///
/// The contents are undefined at first. Copies of an Array refer to the same array. Views, textures and surfaces keep
/// it alive. When the last of them is gone, the memory is freed after the work on the device is complete; if the
/// calling thread records a graph then, after the recording has ended. A default-constructed or moved-from object is
/// empty; its member functions throw Error{released}, except info().
///
/// Several threads may call const member functions at once. The array does not order work on its texels: if work on one
/// stream (also the default stream) writes texels that other work uses, the caller must order both, for example with
/// Stream::wait().
class Array {
public:
    /// Creates an empty object without an array.
    Array() = default;
    /// Creates an array.
    ///
    /// Throws
    /// - Error{bad_argument} if the kind does not allow the extent, the number of layers or the number of levels,
    /// - Error{overflow} if a size exceeds the limit of the device, which the message names,
    /// - Error{unsupported} if the kind does not support the format or the usage, or if the format is planar (use
    ///   PlanarArray),
    /// - Error{out_of_memory} if the device has too little memory,
    /// - Error{capturing} while the calling thread records a graph.
    Array(const Device& device, const ArrayInfo& info);

    /// Returns the description that the array was created with. An empty object returns a default ArrayInfo.
    const ArrayInfo& info() const noexcept;
    /// Returns the device that has the array's memory.
    Device device() const;

    /// Returns a view of a part of the array for copy() and fill(). The view keeps the array alive. Layers and faces
    /// are consecutive slices in z: a level of a layered cubemap has width x width x (6 * layers) texels.
    ///
    /// Throws Error{out_of_bounds} if the level, layer, face or region does not exist. Throws Error{bad_argument} if
    /// the kind has no layers or faces, or if a face of a layered cubemap is given without its layer.
    View view(const Subresource& part = {}) const;

    /// Returns the internal state. For internal use.
    const std::shared_ptr<detail::ArrayBlock>& block() const noexcept { return block_; }
    /// Creates an object from its internal state. For internal use.
    explicit Array(std::shared_ptr<detail::ArrayBlock> block) noexcept : block_(std::move(block)) {}

private:
    std::shared_ptr<detail::ArrayBlock> block_;
};

/// Returns the memory requirements of a DeferredArray with this description. Throws the same errors as its constructor.
[[nodiscard]] MemoryRequirements memory_requirements(const Device& device, const ArrayInfo& info);
/// Returns the tile size and the mip tail of a SparseArray with this description. Throws the same errors as its
/// constructor.
[[nodiscard]] SparseProperties sparse_properties(const Device& device, const ArrayInfo& info);

}  // namespace texton

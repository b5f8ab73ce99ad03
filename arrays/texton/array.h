#pragma once
#include <memory>
#include <optional>

#include <texton/array_info.h>
#include <texton/view.h>

namespace texton {

namespace detail {
struct ArrayBlock;
}

/// A part of an array. What is not named is taken whole: all layers, all faces, the full extent.
struct Subresource {
    int level = 0;
    std::optional<std::size_t> layer{};  ///< of a layered array; of cubemap_layered: the cube
    std::optional<int> face{};           ///< of a cubemap: +x -x +y -y +z -z; of cubemap_layered: with `layer`
    std::optional<Region> region{};      ///< inside of what the others name; z counts slices, layers or faces
    bool operator==(const Subresource&) const = default;
};

/// Owns a CUDA array: texels in the order that the texture unit likes, without an address. Only copy(), fill(), textures and
/// surfaces reach them. Move-only; a moved-from one is empty. Contents start undefined.
class Array {
public:
    Array() = default;
    /// Throws Error{bad_argument} for a side, layer or level count that the kind does not have, Error{overflow} for one above
    /// the device's limit, which it names, Error{unsupported} for a format or usage that the device refuses for the kind,
    /// Error{out_of_memory}.
    Array(const Device& device, const ArrayInfo& info);

    const ArrayInfo& info() const noexcept;
    Device device() const;

    /// The part as texels to copy and fill; it keeps the array alive. Layers and faces lie behind each other in z: a level of a
    /// layered cubemap is width x width x 6 * layers. Throws Error{out_of_bounds}, Error{bad_argument} for a part that the
    /// kind does not have.
    View view(const Subresource& part = {}) const;

    /// For Texton's own parts.
    const std::shared_ptr<detail::ArrayBlock>& block() const noexcept { return block_; }
    explicit Array(std::shared_ptr<detail::ArrayBlock> block) noexcept : block_(std::move(block)) {}

private:
    std::shared_ptr<detail::ArrayBlock> block_;
};

/// What a DeferredArray of it would have to be backed with. Throws what its constructor throws.
[[nodiscard]] MemoryRequirements memory_requirements(const Device& device, const ArrayInfo& info);
/// How a SparseArray of it would be cut. Throws what its constructor throws.
[[nodiscard]] SparseProperties sparse_properties(const Device& device, const ArrayInfo& info);

}  // namespace texton

#pragma once
#include <memory>

#include <texton/view.h>

namespace texton {

/// What an array is made of.
struct ArrayInfo {
    Format format = Format::rgba8_unorm;
    Extent extent;
    bool operator==(const ArrayInfo&) const = default;
};

/// Owns a 2D CUDA array: texels in the order that the texture unit likes, without an address. Only copy() reaches them from
/// outside a kernel. Plain and packed formats. Move-only; a moved-from one is empty.
class Array {
public:
    Array() = default;
    /// Throws Error{bad_argument} if a side is 0, the depth is not 1 or the format is block-compressed or planar,
    /// Error{overflow} if a side is larger than limits().texture_2d, Error{out_of_memory}.
    Array(const Device& device, const ArrayInfo& info);

    const ArrayInfo& info() const noexcept { return info_; }
    Device device() const;
    View view() const;

    const std::shared_ptr<detail::Block>& block() const noexcept { return block_; }  ///< for Texton's own parts
    detail::NativeArray* handle() const;

private:
    std::shared_ptr<detail::Block> block_;
    ArrayInfo info_;
};

}  // namespace texton

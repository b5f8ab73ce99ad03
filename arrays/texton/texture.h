#pragma once
#include <memory>

#include <texton/array.h>

namespace texton {

namespace detail {
struct TextureState;
}

/// An array as kernels read it: the nearest texel, coordinates in texels, clamped to the edge. Unorm, snorm and sRGB formats
/// read as floats, sRGB as linear light. A cheap handle, which keeps its array.
class Texture {
public:
    explicit Texture(const Array& array);
    // No moves: a handle always names its texture.
    Texture(const Texture&) = default;
    Texture& operator=(const Texture&) = default;

    const ArrayInfo& info() const noexcept;
    Device device() const;

    const std::shared_ptr<detail::TextureState>& state() const noexcept { return state_; }  ///< for Texton's own parts

private:
    std::shared_ptr<detail::TextureState> state_;
};

}  // namespace texton

#pragma once
// Blending of textures, and the layers of a layered texture.
//
// Each function enqueues its work on the stream and returns without waiting. The caller must keep the memory of the
// images and of the textures until the work is done, as for launch(). Several threads may call these functions at once.
// If a function throws, it has enqueued nothing.
#include <span>

#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>

namespace texton {

/// Blend mode for premultiplied colors, after W3C Compositing and Blending Level 1.
enum class BlendMode : std::uint8_t {
    over,        ///< top over bottom: an opaque top hides the bottom
    add,         ///< sum of colors and alpha, not clamped
    multiply,    ///< product where both are opaque
    screen,      ///< inverse of the product of the inverses: brightens
    difference,  ///< absolute difference where both are opaque
    lerp         ///< linear interpolation from the bottom (opacity 0) to the top (opacity 1)
};

/// Options of blend().
struct BlendOptions {
    BlendMode mode = BlendMode::over;  ///< how colors are combined
    float opacity = 1;  ///< factor of the top's color and alpha, or the weight of the top for lerp; 0 to 1
};

/// Enqueues the blending of `top` and `bottom`: 2D or layered 2D textures of the image's size, with one layer per slice
/// of the image. Colors are premultiplied by alpha; see change_alpha(). The image may be the image that one of them
/// reads. A texture whose format has no alpha is opaque.
///
/// Throws Error{bad_argument} if a texture is of another kind or size or returns integers, or if the opacity is not 0
/// to 1. Also throws the errors of launch().
void blend(const Stream& stream, const View& image, const Texture& bottom, const Texture& top,
           const BlendOptions& options = {});
/// Enqueues the same blending, where each pixel's opacity is `options.opacity` multiplied by the red channel of `mask`.
/// `mask` must be a texture like `bottom` and `top`. Throws the same errors.
void blend(const Stream& stream, const View& image, const Texture& bottom, const Texture& top, const Texture& mask,
           const BlendOptions& options = {});

/// Enqueues a copy of one layer of a layered 2D texture. `layer` is 0 to the number of layers - 1. If it is not a whole
/// number, the two nearest layers are interpolated linearly. The image has one slice.
///
/// Throws Error{bad_argument} if the texture is of another kind or size, if `layer` is out of range, or if integers
/// would be interpolated. Also throws the errors of launch().
void layer(const Stream& stream, const View& image, const Texture& texture, float layer);

/// Maximum number of layers of layer_sum().
inline constexpr std::size_t kMaxSummedLayers = 512;

/// Enqueues the weighted sum of all layers of a layered 2D texture, or their mean if there are no weights. The texture
/// has at most kMaxSummedLayers layers. The image has one slice.
///
/// Throws Error{bad_argument} if the texture is of another kind or size, returns integers or has too many layers, if
/// the numbers of weights and layers differ, or if a weight is not finite. Also throws the errors of launch().
void layer_sum(const Stream& stream, const View& image, const Texture& texture, std::span<const float> weights = {});

}  // namespace texton

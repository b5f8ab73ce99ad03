#pragma once
// Textures over each other, and the layers of one.
#include <span>

#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>

namespace texton {

/// Of premultiplied colours, as the W3C's Compositing and Blending Level 1 has them.
enum class BlendMode : std::uint8_t {
    over,        ///< the top where it is opaque
    add,         ///< the sum, alpha too; not clamped
    multiply,    ///< product, where both are opaque
    screen,      ///< both brighten
    difference,  ///< how far they are apart
    lerp         ///< from the bottom, at an opacity of 0, to the top, at 1
};

struct BlendOptions {
    BlendMode mode = BlendMode::over;
    float opacity = 1;  ///< of the top: colour and alpha times this, 0 to 1
};

/// Enqueues `top` over `bottom`: 2D or layered textures of floats, all of the picture's size, with a slice of it for
/// each layer. The picture may be what one of them reads. A format without alpha is opaque.
///
/// Errors: bad_argument (textures of another kind or size, or of integers; an opacity that is not 0 to 1), and those of
/// launch().
void blend(const Stream& stream, const View& picture, const Texture& bottom, const Texture& top,
           const BlendOptions& options = {});
/// The same with the opacity times the red channel of a third texture, pixel by pixel.
void blend(const Stream& stream, const View& picture, const Texture& bottom, const Texture& top, const Texture& mask,
           const BlendOptions& options = {});

/// Enqueues a layer of a layered 2D texture: 0 to the last. Between two whole numbers it is so much of the next layer.
///
/// Errors: bad_argument (a texture of another kind or size, or of integers that it would blend; a layer that is not
/// there), and those of launch().
void layer(const Stream& stream, const View& picture, const Texture& texture, float layer);

inline constexpr std::size_t kMostSummedLayers = 512;

/// Enqueues the sum of all layers of a layered 2D texture, each times its weight; without weights their mean. Takes at
/// most kMostSummedLayers.
///
/// Errors: bad_argument (a texture of another kind or size, of integers or of too many layers; as many weights as there
/// are no layers, one that is not finite), and those of launch().
void layer_sum(const Stream& stream, const View& picture, const Texture& texture, std::span<const float> weights = {});

}  // namespace texton

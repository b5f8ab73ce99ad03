#pragma once
#include <array>
#include <functional>
#include <span>
#include <vector>

#include <texton/stream.h>
#include <texton/texture.h>

namespace texton {

/// Returns exact percentiles of the finite values of each channel of a 2D texture, or of all layers of a layered 2D
/// texture, at its first level. Every device returns the same bits.
///
/// For each share from 0 to 1, the result has a value for each channel: the lowest value that is as high as at least
/// this share of the values. A share of 0 is the lowest value, 0.5 the median, and 1 the highest value. -0 is lower
/// than 0. Channels without finite values, and channels that the format lacks, have NaN. Texels are read as by
/// collect_statistics().
///
/// Enqueues work on the stream and waits for all work on the stream, so the call cannot be recorded into a graph. It
/// takes 1 MiB from the current pool of the stream's device, and reads the texels once, and once more for each share
/// whose value is not near the one of another share. On the CPU device, the values of an image of at most 65,536 texels
/// in at most 16 layers are sorted instead, which takes 16 bytes of the pool for each texel of a layer. Several threads
/// may call this function at once.
///
/// Throws Error{bad_argument} if a share is not from 0 to 1 or the texture is of another kind, Error{overflow} if the
/// texture has 2^31 texels or more, and the errors of launch() and copy().
[[nodiscard]] std::vector<std::array<float, 4>> percentiles(const Stream& stream, const Texture& texture,
                                                            std::span<const double> shares);

/// Calls a function with a texture of each part of an image, one after the other. The order does not matter, but each
/// call must pass the same parts.
using TextureParts = std::function<void(const std::function<void(const Texture&)>&)>;

/// Returns the exact percentiles of all parts of an image together, which may have fewer than 2^40 texels. Calls
/// `parts` once, and once more for each share whose value is not near the one of another share. The texture of a part
/// is not used after the function that it was passed to returns.
///
/// Otherwise the same as percentiles() of one texture, for each part. Exceptions of `parts` pass
/// unchanged, except that std::bad_alloc becomes Error{out_of_memory}.
[[nodiscard]] std::vector<std::array<float, 4>> percentiles(const Stream& stream, const TextureParts& parts,
                                                            std::span<const double> shares);

}  // namespace texton

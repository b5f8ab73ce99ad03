#pragma once
// Checks of the arguments of the kernels' public functions. The checks format their messages with fmt, which nvcc
// cannot compile, so the host compiler compiles them.
#include <initializer_list>
#include <span>
#include <string>

#include <texton/texture.h>
#include <texton/view.h>

namespace texton::detail {

class Launch;

/// Throws Error{bad_argument}.
[[noreturn]] void refuse_argument(const char* object, std::string problem, std::string remedy);

/// Throws Error{bad_argument} unless the texture is of one of the kinds. `name` is the name of the argument, here and
/// in the functions below.
void check_kind(const char* object, const char* name, const Texture& texture, std::initializer_list<ArrayKind> kinds);
/// Throws Error{bad_argument} unless the texture's sampler has this filter.
void check_filter(const char* object, const char* name, const Texture& texture, Filter filter);
/// Throws Error{bad_argument} if fetches of the texture return integers.
void check_floats(const char* object, const char* name, const Texture& texture);
/// Throws Error{bad_argument} if the texture has only one level. A texture with several levels is always a texture of
/// an array with normalized coordinates.
void check_levels(const char* object, const char* name, const Texture& texture);
/// Throws Error{bad_argument} unless the image has one slice per layer of the texture, or one slice if the texture has
/// no layers.
void check_slices(const char* object, const View& image, const Texture& texture);
/// Throws Error{bad_argument} unless the image has the width and height of the texture.
void check_same_size(const char* object, const View& image, const char* name, const Texture& texture);
/// Throws Error{bad_argument} unless the image has this extent. `name` is the name of the image's argument.
void check_extent(const char* object, const char* name, const View& image, const Extent& extent);
/// Throws Error{bad_argument} unless low <= value <= high, and for NaN.
void check_range(const char* object, const char* name, double value, double low, double high);
/// Throws Error{bad_argument} unless the value is finite.
void check_finite(const char* object, const char* name, double value);
/// Throws Error{bad_argument} unless the value is finite and greater than 0.
void check_positive(const char* object, const char* name, double value);
/// Throws Error{bad_argument} unless the number of weights is odd and at most `maximum`, and all weights are finite.
void check_weights(const char* object, const char* name, std::span<const float> weights, std::size_t maximum);
/// Throws Error{overflow} if the texture has 2^31 texels or more, with all its layers.
void check_texel_count(const char* object, const Texture& texture);
/// Returns true if sample() can write this image from the texture: the image is in memory (not in an array), has one
/// slice, and has an integer format exactly if the texture has one.
[[nodiscard]] bool fits_sample(const View& image, const Texture& texture);
/// Throws Error{bad_argument} unless the texture's array was created with ArrayUsage::gather.
void check_gathers(const char* object, const char* name, const Texture& texture);
/// Throws Error{overlap} if the images of two launches of one call share bytes or texels, because the device may write
/// the images in any order or at the same time. `name_of` returns the name of an image's argument.
void check_distinct(std::span<const Launch> launches, std::string (*name_of)(std::size_t index));
/// Returns the name of an element of the argument `levels`.
[[nodiscard]] std::string level_name(std::size_t index);

}  // namespace texton::detail

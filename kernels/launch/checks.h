#pragma once
// What the kernels' functions ask of their arguments. Files that nvcc compiles format no messages: fmt does not go through it.
#include <initializer_list>
#include <span>
#include <string>

#include <texton/texture.h>
#include <texton/view.h>

namespace texton::detail {

[[noreturn]] void refuse_argument(const char* object, std::string problem, std::string remedy);

/// Error{bad_argument} unless the texture is of one of the kinds. `name` is the argument's.
void check_kind(const char* object, const char* name, const Texture& texture, std::initializer_list<ArrayKind> kinds);
/// Error{bad_argument} unless its sampler's filter is that one.
void check_filter(const char* object, const char* name, const Texture& texture, Filter filter);
/// Error{bad_argument} if it returns integers.
void check_floats(const char* object, const char* name, const Texture& texture);
/// Error{bad_argument} if it has one level alone. More are read with normalized coordinates, from an array.
void check_levels(const char* object, const char* name, const Texture& texture);
/// Error{bad_argument} unless the picture has a slice for each layer of the texture, or one for a texture without layers.
void check_slices(const char* object, const View& picture, const Texture& texture);
/// Error{bad_argument} unless the picture is as wide and high as the texture.
void check_same_size(const char* object, const View& picture, const char* name, const Texture& texture);
/// Error{bad_argument} unless the picture has that extent. `name` is the argument's.
void check_extent(const char* object, const char* name, const View& picture, const Extent& extent);
/// Error{bad_argument} unless low <= value <= high; NaN never is.
void check_range(const char* object, const char* name, double value, double low, double high);
void check_finite(const char* object, const char* name, double value);
/// Finite and above 0.
void check_positive(const char* object, const char* name, double value);
/// Error{bad_argument} unless there are an odd number of weights, at most `most`, all finite.
void check_weights(const char* object, const char* name, std::span<const float> weights, std::size_t most);
/// Whether sample() makes such a picture of the texture: in memory, of one slice, and of integers if it returns them.
[[nodiscard]] bool fits_sample(const View& picture, const Texture& texture);
/// Error{bad_argument} unless its array was made for gathering.
void check_gathers(const char* object, const char* name, const Texture& texture);

}  // namespace texton::detail

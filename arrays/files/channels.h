#pragma once
// The channels of a file that are read: the first four, or those of ImageOptions::channels.
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "arrays/files/formats.h"

namespace texton::detail {

/// Largest number of channels that are read.
inline constexpr std::size_t kMaxChannels = 4;

/// Returns the indices of the channels that are read from a file whose channels have these names. `requested` is
/// ImageOptions::channels. Throws Error{io} if the file does not have a requested channel, and Error{bad_argument} if
/// more than four are requested.
[[nodiscard]] std::vector<std::size_t> channels_to_read(const std::filesystem::path& path,
                                                        std::span<const std::string> names,
                                                        std::span<const std::string> requested);

/// Returns true if these are the first channels, in their order.
[[nodiscard]] bool are_first(std::span<const std::size_t> channels) noexcept;

/// Sets ImageMetadata::read_channels. ImageMetadata::alpha stays only if the channel with the index `alpha` is read; if
/// the channels were requested, it must be the last one of two or four. Appends a sentence if not all channels are read
/// in their order.
void describe_channels(OpenedImage& opened, std::span<const std::size_t> channels, bool requested, std::size_t alpha);

/// Replaces the texels of an image by texels of the requested channels. Three channels are widened to four, with alpha
/// 1. Throws Error{unsupported} if the format is packed or block-compressed, and the errors of channels_to_read().
void choose_channels(const std::filesystem::path& path, OpenedImage& opened, std::span<const std::string> requested);

/// Returns the texels of these channels of a file in a plain format. `alpha` is the index of the alpha channel, which
/// is not sRGB-encoded: if no other channel is read, the result is not sRGB.
[[nodiscard]] ImageSourcePtr with_channels_of(ImageSourcePtr file, std::vector<std::size_t> channels,
                                              std::size_t alpha);

/// Returns true if all channels are the channel with the index `alpha`.
[[nodiscard]] bool are_alpha(std::span<const std::size_t> channels, std::size_t alpha) noexcept;

}  // namespace texton::detail

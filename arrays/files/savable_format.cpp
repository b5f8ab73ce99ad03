#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

#include <texton/frame_writer.h>
#include <texton/image_save.h>

#include "arrays/files/dds_header.h"
#include "arrays/files/decoded_blocks.h"
#include "arrays/files/formats.h"
#include "arrays/files/frames.h"
#include "arrays/files/oiio.h"
#include "arrays/files/texel_values.h"

// Which types and channels a kind of file holds is known to its writer in OpenImageIO, which changes the description of
// an image when it opens a file. Therefore a small file is opened, and removed.

namespace texton::detail {
namespace {

constexpr int kProbeSide = 16;
constexpr unsigned kHalfDigits = 11;  // a float16 distinguishes integers of this many bits

// Returns the type in which the kind of file stores channels of a type, or nothing if it cannot hold so many channels.
std::optional<OIIO::TypeDesc> stored_type(const char* object, const std::filesystem::path& path, int channels,
                                          OIIO::TypeDesc type) {
    ImageFileOutput output(object, path);
    const bool holds_alpha = output->supports("alpha") || output->supports("nchannels");
    if (!holds_alpha && channels == 2) return std::nullopt;
    const int written = !holds_alpha && channels == 4 ? 3 : channels;
    const OIIO::ImageSpec spec(kProbeSide, kProbeSide, written, type);
    try {
        output.open({&spec, 1});
    } catch (const Error&) {
        return std::nullopt;
    }
    // Writers complain about a file without texels on standard error.
    const OIIO::ImageSpec& stored = output->spec();
    const std::vector<std::byte> texels(stored.image_bytes());
    output.require_written(output->write_image(stored.format, texels.data()));
    if (stored.nchannels != written) return std::nullopt;
    return stored.format;
}

// Returns the format with channels of this type to which texels are converted, or nothing. Colors that are floats are
// linear, and colors of 8 bits are expected to be sRGB.
std::optional<Format> convertible_to(const FormatInfo& from, OIIO::TypeDesc type) {
    if (from.kind == FormatKind::uint || from.kind == FormatKind::sint) return std::nullopt;
    const auto with = [&](Format one) { return std::optional(with_channels(one, from.channels)); };
    if (type == OIIO::TypeHalf) return with(Format::r16_float);
    if (type == OIIO::TypeFloat) return with(Format::r32_float);
    if (type == OIIO::TypeUInt16) return with(Format::r16_unorm);
    if (type != OIIO::TypeUInt8) return std::nullopt;
    const bool linear = from.kind == FormatKind::floating && from.channels == 4;
    return with(linear || from.kind == FormatKind::srgb ? Format::r8_srgb : Format::r8_unorm);
}

// Returns the nearest format with the channels of `format`, or nothing.
std::optional<Format> nearest_format(const char* object, const std::filesystem::path& path, Format format) {
    const FormatInfo& row = info(format);
    const OIIO::TypeDesc type = channel_type(format);
    auto stored = stored_type(object, path, row.channels, type);
    if (!stored) return std::nullopt;
    if (*stored == type) return format;
    const bool loses_bits = *stored == OIIO::TypeHalf && row.bits > kHalfDigits && row.kind != FormatKind::floating;
    if (loses_bits && stored_type(object, path, row.channels, OIIO::TypeFloat) == OIIO::TypeFloat)
        stored = OIIO::TypeFloat;
    return convertible_to(row, *stored);
}

// Returns the plain format that is nearest to the format.
Format plain_format(Format format) {
    const Format decoded = decoded_format(format);
    return info(decoded).layout == FormatLayout::packed ? Format::rgba16_unorm : decoded;
}

}  // namespace

std::string file_ending(const std::filesystem::path& path) {
    std::string text = path.extension().string();
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

std::optional<Format> nearest_savable(const char* object, const std::filesystem::path& path, Format format) {
    const bool planar = plane_count(format) > 1;
    const std::string ending = file_ending(path);
    if (is_video_name(path)) return planar ? std::optional(format) : std::nullopt;
    if (ending == ".dds") return dds_holds(format) ? format : with_channels(plain_format(format), 4);
    if (planar) return std::nullopt;
    if (ending == ".ktx2") return format;
    const Format plain = plain_format(format);
    const auto nearest = nearest_format(object, path, plain);
    if (nearest || info(plain).channels == 4 || !has_values(plain)) return nearest;
    return nearest_format(object, path, with_channels(plain, 4));
}

}  // namespace texton::detail

namespace texton {

bool is_video_name(const std::filesystem::path& path) {
    return detail::guarded("texton::is_video_name", path, [&] {
        return detail::has_y4m_extension(path) || detail::has_raw_extension(path) || detail::has_extension(path, "raw");
    });
}

std::optional<Format> savable_format(const std::filesystem::path& path, Format format) {
    constexpr const char* kSavable = "texton::savable_format";
    return detail::guarded(kSavable, path, [&] { return detail::nearest_savable(kSavable, path, format); });
}

}  // namespace texton

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "arrays/files/formats.h"
#include "arrays/files/frames.h"
#include "arrays/files/oiio.h"

// A file of raw planar frames has no header, only frames. Their description comes from the caller or from the name of
// the file.

namespace texton {
namespace {

constexpr const char* kOpen = "texton::open_image";
constexpr const char* kRawFramesOf = "texton::raw_frames_of";

struct RawName {
    std::string_view name;
    Format format;
    RawLayout layout;
};
// Of several names, to_string() returns the first one.
constexpr RawName kNames[] = {
    {"nv12", Format::nv12, RawLayout::interleaved},   {"nv16", Format::nv16, RawLayout::interleaved},
    {"p010", Format::p010, RawLayout::interleaved},   {"p016", Format::p016, RawLayout::interleaved},
    {"i420", Format::nv12, RawLayout::planes},        {"yuv420p", Format::nv12, RawLayout::planes},
    {"i422", Format::nv16, RawLayout::planes},        {"yuv422p", Format::nv16, RawLayout::planes},
    {"yuv420p10le", Format::p010, RawLayout::planes}, {"yuv420p16le", Format::p016, RawLayout::planes}};

const RawName* named(std::string_view name) {
    const auto found = std::ranges::find(kNames, name, &RawName::name);
    return found == std::end(kNames) ? nullptr : found;
}

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

// Returns a number without a sign, or nothing.
std::optional<std::size_t> number_in(std::string_view text) {
    std::size_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    return rest == end && error == std::errc() ? std::optional(value) : std::nullopt;
}

// Returns the size of a text like "64x48", or nothing.
std::optional<Extent> size_in(std::string_view text) {
    const std::size_t x = text.find('x');
    if (x == std::string_view::npos) return std::nullopt;
    const auto width = number_in(text.substr(0, x)), height = number_in(text.substr(x + 1));
    return width && height ? std::optional(Extent{*width, *height}) : std::nullopt;
}

// Returns the extension in lower case, without the dot.
std::string extension_of(const std::filesystem::path& path) {
    const std::string extension = lower(path.extension().string());
    return extension.empty() ? "" : extension.substr(1);
}

RawFrames parsed(std::string_view text) {
    RawFrames raw;
    std::string_view left = text;
    bool good = true;
    if (const std::size_t at = left.find('@'); at != std::string_view::npos) {
        const auto frame = number_in(left.substr(at + 1));
        raw.frame = frame.value_or(0);
        good = frame.has_value();
        left = left.substr(0, at);
    }
    const std::size_t colon = std::min(left.find(':'), left.size());
    if (colon < left.size()) {
        const RawName* const row = named(lower(std::string(left.substr(colon + 1))));
        if (row != nullptr) {
            raw.format = row->format;
            raw.layout = row->layout;
        }
        good = good && row != nullptr;
    }
    const auto extent = size_in(left.substr(0, colon));
    if (good && extent) {
        raw.extent = *extent;
        return raw;
    }
    std::vector<std::string_view> names;
    for (const RawName& row : kNames) names.push_back(row.name);
    throw Error({.code = ErrorCode::bad_argument,
                 .object = kRawFramesOf,
                 .problem = detail::quoted(text) + " does not describe raw frames",
                 .remedy = fmt::format("Write WIDTHxHEIGHT:FORMAT, or WIDTHxHEIGHT:FORMAT@FRAME, for example "
                                       "1920x1080:nv12. Formats are {}.",
                                       fmt::join(names, ", "))});
}

}  // namespace

std::string to_string(const RawFrames& raw) {
    const auto found = std::ranges::find_if(
        kNames, [&](const RawName& row) { return row.format == raw.format && row.layout == raw.layout; });
    const std::string_view format = found == std::end(kNames) ? name(raw.format) : found->name;
    std::string text = fmt::format("{}x{}:{}", raw.extent.width, raw.extent.height, format);
    if (raw.frame != 0) text += fmt::format("@{}", raw.frame);
    return text;
}

RawFrames raw_frames_of(std::string_view text) {
    return detail::guarded(kRawFramesOf, text, [&] { return parsed(text); });
}

std::optional<RawFrames> raw_frames_in_name(const std::filesystem::path& path) {
    return detail::guarded("texton::raw_frames_in_name", path, [&]() -> std::optional<RawFrames> {
        const detail::FramesInName named = detail::frames_in_name(path);
        if (!named.extent) return std::nullopt;
        return RawFrames{.format = named.format, .extent = *named.extent, .layout = named.layout};
    });
}

namespace detail {

FramesInName frames_in_name(const std::filesystem::path& path) {
    FramesInName found;
    std::size_t sizes = 0;
    const std::string name = lower(path.filename().string());
    const auto is_letter = [](unsigned char c) { return std::isalnum(c) != 0; };
    for (auto begin = name.begin(); begin != name.end();) {
        const auto end = std::find_if_not(begin, name.end(), is_letter);
        const std::string_view word(begin, end);
        if (const auto extent = size_in(word)) {
            found.extent = extent;
            ++sizes;
        } else if (const RawName* const row = named(word)) {
            found.format = row->format;
            found.layout = row->layout;
        }
        begin = std::find_if(end, name.end(), is_letter);
    }
    if (sizes != 1) found.extent.reset();
    return found;
}

bool has_raw_extension(const std::filesystem::path& path) {
    const std::string extension = extension_of(path);
    return extension == "yuv" || named(extension) != nullptr;
}

bool has_extension(const std::filesystem::path& path, std::string_view extension) {
    return extension_of(path) == extension;
}

bool has_y4m_extension(const std::filesystem::path& path) { return has_extension(path, "y4m"); }

OpenedFrame open_raw_frame(const std::filesystem::path& path, const RawFrames& raw) {
    require_file(kOpen, path);
    const FileIdentity identity = identity_of(path);
    const Extent& extent = raw.extent;
    if (!is_possible_frame(raw.format, extent)) {
        fail_file(kOpen, path,
                  fmt::format("cannot be read as frames of {} texels of {}", to_string(extent), name(raw.format)),
                  "Use nv12, p010, p016 or nv16. Width and height must be even, not 0, and less than 2^31.",
                  ErrorCode::bad_argument);
    }
    const std::uint64_t bytes = packed_bytes(raw.format, extent);
    const std::uint64_t file_bytes = identity.bytes;
    if (file_bytes % bytes != 0 || file_bytes == 0) {
        fail_file(kOpen, path,
                  fmt::format("has {} bytes, which is not a multiple of the frame size of {} bytes ({} texels of {})",
                              file_bytes, bytes, to_string(extent), name(raw.format)),
                  "Check the format, the width and the height.");
    }
    if (bytes >= kMaxImageBytes) fail_too_large(kOpen, path, extent);
    require_frame(path, raw.frame, file_bytes / bytes);
    OpenedFrame opened =
        frame_at(path, identity, raw.format, extent, order_of(raw.format, raw.layout), raw.frame * bytes);
    opened.metadata.file_kind = "raw";
    opened.metadata.frames = file_bytes / bytes;
    return opened;
}

}  // namespace detail
}  // namespace texton

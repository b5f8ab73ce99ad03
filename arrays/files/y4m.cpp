#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <fstream>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "arrays/files/frames.h"
#include "arrays/files/oiio.h"

// A Y4M file begins with a line: "YUV4MPEG2" and parameters, each a letter and a value: W (width), H (height), F (frame
// rate), I (interlacing), A (aspect of a pixel), C (color space), X (anything). Then follow the frames: a line "FRAME",
// which can have parameters, and the samples of luma, Cb and Cr.

namespace texton::detail {
namespace {

constexpr const char* kOpen = "texton::open_image";
constexpr const char* kDamaged = "The file may be damaged.";
constexpr std::string_view kSignature = "YUV4MPEG2";
constexpr std::size_t kMaxLine = 4096;
constexpr std::size_t kMaxValue = 500;  // characters of a parameter that is written

constexpr const char* kColorSpace = "y4m:colorspace";
// Parameters that are kept as they are.
constexpr std::pair<char, const char*> kKept[] = {
    {'F', "y4m:frame_rate"}, {'I', "y4m:interlacing"}, {'A', "y4m:pixel_aspect"}};
constexpr std::string_view kOldColorSpace = "YSCSS=";  // X parameter in place of C

struct ColorSpace {
    std::string_view name;
    Format format;
    int bits;
    const char* siting;
};
// The writer uses the first one with the format and the siting, or else with the format.
constexpr ColorSpace kColorSpaces[] = {{"420mpeg2", Format::nv12, 8, "left"}, {"420jpeg", Format::nv12, 8, "center"},
                                       {"420", Format::nv12, 8, "center"},    {"420paldv", Format::nv12, 8, "top_left"},
                                       {"420p10", Format::p010, 10, "left"},  {"420p16", Format::p016, 16, "left"},
                                       {"420p12", Format::p016, 12, "left"},  {"420p14", Format::p016, 14, "left"},
                                       {"422", Format::nv16, 8, "left"}};

// Returns true if the header of a written file can contain the value.
bool is_writable(std::string_view value) noexcept {
    const auto printable = [](char c) { return c > ' ' && c <= '~'; };
    return value.size() <= kMaxValue && std::ranges::all_of(value, printable);
}

const ColorSpace* color_space_named(std::string_view name) noexcept {
    const auto found = std::ranges::find(kColorSpaces, name, &ColorSpace::name);
    return found == std::end(kColorSpaces) ? nullptr : found;
}

const std::string* attribute_of(const ImageMetadata& metadata, std::string_view name) noexcept {
    const auto found = std::ranges::find(metadata.attributes, name, &ImageAttribute::name);
    return found == metadata.attributes.end() ? nullptr : &found->value;
}

// Reads lines at any position, in blocks of the longest line.
class Lines {
public:
    explicit Lines(const std::filesystem::path& path) : file_(path, std::ios::binary) {
        if (!file_) fail_file(kOpen, path, "cannot be opened", "Check the permissions of the file.");
    }
    // Returns the line that begins at a byte, with its end, or less if the line is longer than kMaxLine or incomplete.
    std::string_view at(std::uint64_t position) {
        std::string_view line = inside(position);
        if (line.find('\n') == std::string_view::npos) {
            begin_ = position;
            file_.clear();
            file_.seekg(static_cast<std::streamoff>(position));
            file_.read(block_.data(), static_cast<std::streamsize>(block_.size()));
            bytes_ = static_cast<std::size_t>(file_.gcount());
            line = inside(position);
        }
        return line.substr(0, std::min(line.find('\n'), line.size() - 1) + 1);
    }

private:
    std::string_view inside(std::uint64_t position) const {
        if (position < begin_ || position - begin_ >= bytes_) return {};
        return std::string_view(block_.data(), bytes_).substr(static_cast<std::size_t>(position - begin_));
    }

    std::ifstream file_;
    std::array<char, kMaxLine> block_{};
    std::uint64_t begin_ = 0;
    std::size_t bytes_ = 0;
};

struct Header {
    Extent extent{0, 0, 1};
    const ColorSpace* color_space = nullptr;
    std::uint64_t bytes = 0;  // of the line
    std::vector<ImageAttribute> attributes;
};

std::size_t side_of(const std::filesystem::path& path, std::string_view text, const char* what) {
    std::size_t side = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), side);
    if (rest == text.data() + text.size() && error == std::errc() && side >= 1 && side <= kMaxSide) return side;
    fail_file(kOpen, path, fmt::format("has the {} {}", what, detail::quoted(text)), kDamaged);
}

std::string lower(std::string_view text) {
    std::string out(text);
    std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

const ColorSpace& supported(const std::filesystem::path& path, const std::string& name) {
    if (const ColorSpace* const found = color_space_named(name)) return *found;
    std::vector<std::string_view> names;
    for (const ColorSpace& row : kColorSpaces) names.push_back(row.name);
    fail_file(kOpen, path, fmt::format("has the color space {}, which is not supported", detail::quoted(name)),
              fmt::format("Convert it to one of {}.", fmt::join(names, ", ")), ErrorCode::unsupported);
}

Header header_of(const std::filesystem::path& path, Lines& lines) {
    const std::string_view line = lines.at(0);
    if (!line.starts_with(kSignature) || line.size() <= kSignature.size() || line.back() != '\n' ||
        (line[kSignature.size()] != ' ' && line[kSignature.size()] != '\n')) {
        fail_file(kOpen, path, "does not begin with a header of Y4M", kDamaged);
    }
    Header header;
    header.bytes = line.size();
    std::string color_space, old_color_space;
    std::string_view rest = line.substr(kSignature.size(), line.size() - kSignature.size() - 1);
    while (!rest.empty()) {
        rest.remove_prefix(1);  // the space
        const std::string_view word = rest.substr(0, rest.find(' '));
        rest.remove_prefix(word.size());
        if (word.empty()) continue;
        const std::string_view value = word.substr(1);
        switch (word.front()) {
            case 'W': header.extent.width = side_of(path, value, "width"); break;
            case 'H': header.extent.height = side_of(path, value, "height"); break;
            case 'C': color_space = value; break;
            case 'X':
                if (value == "COLORRANGE=FULL") header.attributes.push_back({kCodeRange, "full"});
                if (value == "COLORRANGE=LIMITED") header.attributes.push_back({kCodeRange, "limited"});
                if (value.starts_with(kOldColorSpace)) old_color_space = lower(value.substr(kOldColorSpace.size()));
                break;
            default:
                for (const auto& [letter, name] : kKept)
                    if (word.front() == letter && is_writable(value))
                        header.attributes.push_back({name, std::string(value)});
        }
    }
    if (header.extent.width == 0 || header.extent.height == 0)
        fail_file(kOpen, path, "has a header without a width and a height", kDamaged);
    if (color_space.empty()) color_space = old_color_space.empty() ? "420" : old_color_space;
    header.color_space = &supported(path, color_space);
    header.attributes.push_back({kColorSpace, color_space});
    header.attributes.push_back({kChromaSiting, header.color_space->siting});
    return header;
}

struct Found {
    std::uint64_t first = 0;  // byte of the samples
    std::uint64_t count = 0;  // frames in the file
};

// Reads the line of every frame.
Found found_by_lines(const std::filesystem::path& path, Lines& lines, std::uint64_t begin, std::uint64_t end,
                     std::uint64_t frame_bytes, std::size_t frame) {
    Found found;
    for (std::uint64_t at = begin; at < end; ++found.count) {
        const std::string_view line = lines.at(at);
        if (!line.starts_with("FRAME") || line.size() < 6 || line.back() != '\n' || (line[5] != ' ' && line[5] != '\n'))
            fail_file(kOpen, path, fmt::format("has no line FRAME at byte {}, where frame {} begins", at, found.count),
                      "The file may be damaged or truncated.");
        const std::uint64_t first = at + line.size();
        if (first > end || end - first < frame_bytes) {
            fail_file(kOpen, path,
                      fmt::format("is truncated: frame {} has {} of {} bytes", found.count, end - std::min(end, first),
                                  frame_bytes),
                      "The file may be incomplete.");
        }
        if (found.count == frame) found.first = first;
        at = first + frame_bytes;
    }
    return found;
}

// The lines of most files have no parameters, so that the position of a frame follows from its index.
Found find_frame(const std::filesystem::path& path, Lines& lines, std::uint64_t begin, std::uint64_t end,
                 std::uint64_t frame_bytes, std::size_t frame) {
    const std::uint64_t stride = kY4mFrame.size() + frame_bytes;
    const std::uint64_t count = (end - begin) / stride;
    const bool whole = (end - begin) % stride == 0;
    if (whole && frame < count && lines.at(begin + frame * stride) == kY4mFrame)
        return {begin + frame * stride + kY4mFrame.size(), count};
    return found_by_lines(path, lines, begin, end, frame_bytes, frame);
}

}  // namespace

std::optional<Format> y4m_format(const ImageMetadata& metadata) noexcept {
    const std::string* const name = attribute_of(metadata, kColorSpace);
    const ColorSpace* const row = name == nullptr ? nullptr : color_space_named(*name);
    return row == nullptr ? std::nullopt : std::optional(row->format);
}

OpenedFrame open_y4m_frame(const std::filesystem::path& path, std::size_t frame) {
    require_file(kOpen, path);
    const FileIdentity identity = identity_of(path);
    Lines lines(path);
    Header header = header_of(path, lines);
    const Format format = header.color_space->format;
    if (!is_possible_frame(format, header.extent)) {
        fail_file(kOpen, path, fmt::format("has frames of {} texels", to_string(header.extent)),
                  "Only frames with an even width and height are supported.", ErrorCode::unsupported);
    }
    const std::uint64_t bytes = packed_bytes(format, header.extent);
    if (bytes >= kMaxImageBytes) fail_too_large(kOpen, path, header.extent);
    if (identity.bytes <= header.bytes) fail_file(kOpen, path, "contains no frames", "The file may be incomplete.");
    const Found found = find_frame(path, lines, header.bytes, identity.bytes, bytes, frame);
    require_frame(path, frame, found.count);
    OpenedFrame opened =
        frame_at(path, identity, format, header.extent, {RawLayout::planes, header.color_space->bits}, found.first);
    opened.metadata.file_kind = "y4m";
    opened.metadata.frames = found.count;
    opened.metadata.attributes = std::move(header.attributes);
    return opened;
}

std::string y4m_header(const char* object, const std::filesystem::path& path, const ImageState& image) {
    const auto value_of = [&](const char* name, const char* standard) {
        const std::string* const value = attribute_of(image.metadata, name);
        if (value == nullptr) return std::string(standard);
        if (is_writable(*value)) return *value;
        fail_file(object, path, fmt::format("cannot contain the value {} of {}", detail::quoted(*value), name),
                  fmt::format("Use up to {} printable characters without spaces.", kMaxValue), ErrorCode::bad_argument);
    };
    const std::string siting = value_of(kChromaSiting, "left"), range = value_of(kCodeRange, "");
    const auto holds = [&](const ColorSpace& row) { return row.format == image.info.format; };
    auto row = std::ranges::find_if(kColorSpaces,
                                    [&](const ColorSpace& each) { return holds(each) && each.siting == siting; });
    if (row == std::end(kColorSpaces)) row = std::ranges::find_if(kColorSpaces, holds);
    std::string header = fmt::format("{} W{} H{}", kSignature, image.info.extent.width, image.info.extent.height);
    constexpr const char* kStandard[] = {"0:0", "p", "0:0"};  // 0:0 is unknown
    for (std::size_t i = 0; i < std::size(kKept); ++i)
        header += fmt::format(" {}{}", kKept[i].first, value_of(kKept[i].second, kStandard[i]));
    header += fmt::format(" C{}", row->name);
    if (range == "full" || range == "limited") header += range == "full" ? " XCOLORRANGE=FULL" : " XCOLORRANGE=LIMITED";
    return header + "\n";
}

}  // namespace texton::detail

#include "arrays/files/isolated/message.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "arrays/files/channels.h"

namespace texton::detail {
namespace {

constexpr std::size_t kLargestSide = std::size_t{1} << 31;

void put_metadata(MessageWriter& out, const ImageMetadata& metadata) {
    out.put(metadata.file_kind);
    out.put(metadata.color_space);
    for (const auto* texts : {&metadata.channels, &metadata.channel_types, &metadata.read_channels}) out.put(*texts);
    out.put(metadata.alpha);
    out.put(metadata.orientation);
    out.put(metadata.data);
    out.put(metadata.display);
    out.put(metadata.parts);
    out.put(metadata.frames);
    out.put(metadata.attributes.size());
    for (const ImageAttribute& attribute : metadata.attributes) {
        out.put(attribute.name);
        out.put(attribute.value);
        out.put(attribute.type);
    }
}

constexpr std::size_t kTextBytes = sizeof(std::size_t);  // an empty text
constexpr std::size_t kFrameBytes = 4 * sizeof(int);

ImageMetadata take_metadata(MessageReader& in) {
    ImageMetadata metadata;
    metadata.file_kind = in.take_text("kind of file");
    metadata.color_space = in.take_text("color space");
    for (auto* texts : {&metadata.channels, &metadata.channel_types, &metadata.read_channels}) {
        *texts = in.take_texts("channels");
    }
    if (metadata.read_channels.size() > kMaxChannels) throw MalformedMessage("channels");
    metadata.alpha = in.take("alpha", ImageAlpha::premultiplied);
    metadata.orientation = in.take<int>("orientation");
    metadata.data = in.take_frame("data window");
    metadata.display = in.take_frame("display window");
    metadata.parts = in.take<std::size_t>("number of parts");
    metadata.frames = in.take<std::size_t>("number of frames");
    for (std::size_t left = in.take_count("number of attributes", 3 * kTextBytes); left > 0; --left) {
        std::string name = in.take_text("name of an attribute");
        std::string value = in.take_text("value of an attribute");
        metadata.attributes.push_back({std::move(name), std::move(value), in.take_text("type of an attribute")});
    }
    return metadata;
}

template <class T>
void put_optional(MessageWriter& out, const std::optional<T>& value) {
    out.put(value.has_value());
    out.put(value.value_or(T{}));
}

template <class T>
std::optional<T> take_optional(MessageReader& in, const char* what, T last) {
    const bool there = in.take<bool>(what);
    const T value = in.take(what, last);
    return there ? std::optional(value) : std::nullopt;
}

std::vector<ImageFrame> take_frames(MessageReader& in, const char* what, std::size_t levels) {
    std::vector<ImageFrame> frames;
    for (std::size_t left = in.take_count(what, kFrameBytes); left > 0; --left) frames.push_back(in.take_frame(what));
    if (frames.size() != levels && !frames.empty()) throw MalformedMessage(what);
    return frames;
}

}  // namespace

void MessageWriter::put(const std::string& text) { put(std::as_bytes(std::span(text))); }

void MessageWriter::put(const std::vector<std::string>& texts) {
    put(texts.size());
    for (const std::string& text : texts) put(text);
}

void MessageWriter::put(const Extent& extent) {
    for (const std::size_t side : {extent.width, extent.height, extent.depth}) put(side);
}

void MessageWriter::put(const Region& region) {
    for (const std::size_t offset : {region.offset.x, region.offset.y, region.offset.z}) put(offset);
    put(region.extent);
}

void MessageWriter::put(const ImageFrame& frame) {
    for (const int number : {frame.x, frame.y, frame.width, frame.height}) put(number);
}

void MessageWriter::put(const FileIdentity& identity) {
    for (const std::uint64_t number : {identity.device, identity.number, identity.bytes}) put(number);
    for (const std::int64_t number : {identity.seconds, identity.nanoseconds}) put(number);
}

void MessageWriter::put(std::span<const std::byte> bytes) {
    put(bytes.size());
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

std::span<const std::byte> MessageReader::next(std::size_t bytes, const char* what) {
    if (bytes > rest_.size()) throw MalformedMessage(what);
    const auto part = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return part;
}

std::string MessageReader::take_text(const char* what) {
    const auto part = next(take<std::size_t>(what), what);
    return {reinterpret_cast<const char*>(part.data()), part.size()};
}

std::vector<std::string> MessageReader::take_texts(const char* what) {
    std::vector<std::string> texts;
    for (std::size_t left = take_count(what, kTextBytes); left > 0; --left) texts.push_back(take_text(what));
    return texts;
}

std::size_t MessageReader::take_count(const char* what, std::size_t least_bytes) {
    const auto count = take<std::size_t>(what);
    if (count > rest_.size() / least_bytes) throw MalformedMessage(what);
    return count;
}

Extent MessageReader::take_extent(const char* what) {
    Extent extent;
    for (std::size_t* side : {&extent.width, &extent.height, &extent.depth}) {
        *side = take<std::size_t>(what);
        if (*side < 1 || *side > kLargestSide) throw MalformedMessage(what);
    }
    return extent;
}

ImageFrame MessageReader::take_frame(const char* what) {
    ImageFrame frame;
    for (int* number : {&frame.x, &frame.y, &frame.width, &frame.height}) *number = take<int>(what);
    return frame;
}

FileIdentity MessageReader::take_identity(const char* what) {
    FileIdentity identity;
    for (std::uint64_t* number : {&identity.device, &identity.number, &identity.bytes}) {
        *number = take<std::uint64_t>(what);
    }
    for (std::int64_t* number : {&identity.seconds, &identity.nanoseconds}) *number = take<std::int64_t>(what);
    return identity;
}

std::vector<std::byte> MessageReader::take_bytes(const char* what) {
    const auto part = next(take<std::size_t>(what), what);
    return {part.begin(), part.end()};
}

Format MessageReader::take_format(const char* what) { return take(what, formats().back().format); }

void MessageReader::end() const {
    if (!rest_.empty()) throw MalformedMessage("length");
}

std::vector<std::byte> message(const Request& request) {
    MessageWriter out;
    out.put(request.kind);
    out.put(request.file);
    out.put(request.object);
    out.put(request.path);
    out.put(request.source.kind);
    out.put(request.source.part.part);
    out.put(request.source.part.color);
    out.put(request.source.part.counted);
    out.put(request.source.part.channels);
    out.put(request.source.raw.format);
    out.put(request.source.raw.extent);
    out.put(request.source.raw.frame);
    out.put(request.source.raw.layout);
    out.put(request.source.plane);
    out.put(request.memory);
    out.put(request.seconds);
    out.put(request.texels);
    out.put(request.identity);
    out.put(request.level);
    out.put(request.box);
    out.put(request.format);
    out.put(request.extent);
    return out.bytes();
}

// The library wrote the request, so that its numbers are not checked further.
Request request_of(std::span<const std::byte> bytes) {
    MessageReader in(bytes);
    Request request;
    const auto take_sides = [&](Extent& extent) {
        for (std::size_t* side : {&extent.width, &extent.height, &extent.depth}) *side = in.take<std::size_t>("extent");
    };
    request.kind = in.take("kind", RequestKind::read);
    request.file = in.take<std::uint64_t>("file");
    request.object = in.take_text("object");
    request.path = in.take_text("path");
    request.source.kind = in.take("source", SourceKind::y4m);
    request.source.part.part = in.take<int>("part");
    request.source.part.color = in.take("color", ImageColor::linear);
    request.source.part.counted = in.take<bool>("counted");
    request.source.part.channels = in.take_texts("channels");
    request.source.raw.format = in.take_format("format");
    take_sides(request.source.raw.extent);
    request.source.raw.frame = in.take<std::size_t>("frame");
    request.source.raw.layout = in.take("layout", RawLayout::planes);
    request.source.plane = in.take<std::uint8_t>("plane");
    request.memory = in.take<std::uint64_t>("memory");
    request.seconds = in.take<double>("seconds");
    request.texels = in.take<std::uint64_t>("texels");
    request.identity = in.take_identity("identity");
    request.level = in.take<int>("level");
    for (std::size_t* offset : {&request.box.offset.x, &request.box.offset.y, &request.box.offset.z}) {
        *offset = in.take<std::size_t>("box");
    }
    take_sides(request.box.extent);
    request.format = in.take_format("format");
    take_sides(request.extent);
    in.end();
    return request;
}

std::vector<std::byte> message(const Description& description) {
    MessageWriter out;
    out.put(description.format);
    out.put(description.srgb);
    out.put(description.is_encoded);
    out.put(description.identity);
    out.put(description.levels.size());
    for (const DescribedLevel& level : description.levels) {
        out.put(level.extent);
        out.put(level.access.granule);
        out.put(level.access.in_order);
    }
    const OpenedImage& image = description.image;
    put_metadata(out, image.metadata);
    out.put(image.conversions);
    put_optional(out, image.planar);
    put_optional(out, image.kind);
    put_optional(out, image.cube);
    for (const auto* frames : {&image.data, &image.displays}) {
        out.put(frames->size());
        for (const ImageFrame& frame : *frames) out.put(frame);
    }
    out.put(image.has_parts);
    out.put(!description.stored.empty());
    for (const StoredLevel& level : description.stored) {
        out.put(level.first);
        out.put(level.stride);
    }
    out.put(description.tiff.has_value());
    if (description.tiff) {
        out.put(description.tiff->index);
        out.put(description.tiff->file_channels);
        out.put(description.tiff->channels.size());
        for (const std::size_t channel : description.tiff->channels) out.put(channel);
    }
    out.put(std::span(description.texels));
    return out.bytes();
}

namespace {

// The texels of the description have the channels, and an alpha that is added to three.
TiffPart take_tiff_part(MessageReader& in, const Description& description) {
    constexpr const char* kWhat = "image of a TIFF file";
    TiffPart part;
    part.index = in.take<int>(kWhat);
    part.file_channels = in.take<int>(kWhat);
    for (std::size_t left = in.take_count(kWhat, sizeof(std::size_t)); left > 0; --left)
        part.channels.push_back(in.take<std::size_t>(kWhat));
    const FormatInfo& format = info(description.format);
    const std::size_t channels = part.channels.size();
    const auto is_possible = [&](std::size_t channel) { return std::cmp_less(channel, part.file_channels); };
    if (part.index < 0 || format.layout != FormatLayout::plain ||
        std::cmp_not_equal(channels == 3 ? 4 : channels, format.channels) ||
        !std::ranges::all_of(part.channels, is_possible))
        throw MalformedMessage(kWhat);
    return part;
}

}  // namespace

Description description_of(std::span<const std::byte> bytes) {
    MessageReader in(bytes);
    Description description;
    description.format = in.take_format("format");
    if (info(description.format).layout == FormatLayout::planar) throw MalformedMessage("format");
    description.srgb = in.take<bool>("sRGB");
    description.is_encoded = in.take<bool>("encoding");
    description.identity = in.take_identity("identity");
    const std::size_t levels = in.take_count("number of levels", 6 * sizeof(std::size_t));
    if (levels < 1) throw MalformedMessage("number of levels");
    for (std::size_t level = 0; level < levels; ++level) {
        const Extent extent = in.take_extent("size of a level");
        if (!is_possible(description.format, extent)) throw MalformedMessage("size of a level");
        const Extent granule = in.take_extent("granule of a level");
        description.levels.push_back({extent, {granule, in.take<bool>("order of a level")}});
    }
    OpenedImage& image = description.image;
    image.metadata = take_metadata(in);
    image.conversions = in.take_texts("conversions");
    image.planar = take_optional(in, "planar format", formats().back().format);
    if (image.planar && plane_count(*image.planar) < 2) throw MalformedMessage("planar format");
    image.kind = take_optional(in, "kind of array", ArrayKind::cubemap_layered);
    image.cube = take_optional(in, "layout of a cube", CubeLayout::openexr_latlong);
    image.data = take_frames(in, "data windows", levels);
    image.displays = take_frames(in, "display windows", levels);
    if (image.data.size() != image.displays.size()) throw MalformedMessage("display windows");
    image.has_parts = in.take<bool>("kind of parts");
    if (in.take<bool>("location of texels")) {
        for (const DescribedLevel& level : description.levels) {
            const auto first = in.take<std::uint64_t>("location of texels");
            description.stored.push_back({level.extent, first, in.take<std::uint64_t>("location of texels")});
        }
    }
    if (in.take<bool>("image of a TIFF file")) description.tiff = take_tiff_part(in, description);
    description.texels = in.take_bytes("texels");
    const std::size_t all = packed_bytes(description.format, description.levels.front().extent);
    if (!description.texels.empty() && description.texels.size() != all) throw MalformedMessage("number of texels");
    in.end();
    return description;
}

std::vector<std::byte> message(const Error& error) {
    MessageWriter out;
    out.put(error.code());
    for (const std::string* text : {&error.object(), &error.problem(), &error.remedy(), &error.call()}) out.put(*text);
    out.put(error.cuda_name());
    out.put(error.numbers().size());
    for (const auto& [name, value] : error.numbers()) {
        out.put(name);
        out.put(value);
    }
    return out.bytes();
}

Error error_of(std::span<const std::byte> bytes) {
    MessageReader in(bytes);
    ErrorParts parts;
    parts.code = in.take("code", ErrorCode::io);
    for (std::string* text : {&parts.object, &parts.problem, &parts.remedy, &parts.call, &parts.cuda_name}) {
        *text = in.take_text("text of an error");
    }
    for (std::size_t left = in.take_count("number of numbers", kTextBytes + sizeof(std::uint64_t)); left > 0; --left) {
        std::string name = in.take_text("name of a number");
        parts.numbers.emplace_back(std::move(name), in.take<std::uint64_t>("number"));
    }
    in.end();
    return Error(std::move(parts));
}

}  // namespace texton::detail

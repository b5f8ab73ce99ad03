#include "arrays/files/isolated/message.h"

#include <limits>

namespace texton::detail {
namespace {

constexpr std::size_t kLargestSide = std::size_t{1} << 31;

void put_metadata(MessageWriter& out, const ImageMetadata& metadata) {
    out.put(metadata.file_kind);
    out.put(metadata.color_space);
    out.put(metadata.channels.size());
    for (const std::string& channel : metadata.channels) out.put(channel);
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
    for (std::size_t left = in.take_count("number of channels", kTextBytes); left > 0; --left) {
        metadata.channels.push_back(in.take_text("channel"));
    }
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

void MessageWriter::put(const std::string& text) {
    put(text.size());
    const auto bytes = std::as_bytes(std::span(text));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
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

Region MessageReader::take_region(const char* what) {
    Region region;
    for (std::size_t* offset : {&region.offset.x, &region.offset.y, &region.offset.z}) {
        *offset = take<std::size_t>(what);
        if (*offset > kLargestSide) throw MalformedMessage(what);
    }
    region.extent = take_extent(what);
    return region;
}

ImageFrame MessageReader::take_frame(const char* what) {
    ImageFrame frame;
    for (int* number : {&frame.x, &frame.y, &frame.width, &frame.height}) *number = take<int>(what);
    return frame;
}

Format MessageReader::take_format(const char* what) { return take(what, formats().back().format); }

void MessageReader::end() const {
    if (!rest_.empty()) throw MalformedMessage("length");
}

std::vector<std::byte> message(const Request& request) {
    MessageWriter out;
    out.put(request.kind);
    out.put(request.object);
    out.put(request.path);
    out.put(request.source.kind);
    out.put(request.source.part);
    out.put(request.source.color);
    out.put(request.source.raw.format);
    out.put(request.source.raw.extent);
    out.put(request.source.raw.frame);
    out.put(request.source.plane);
    out.put(request.memory);
    out.put(request.seconds);
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
    request.object = in.take_text("object");
    request.path = in.take_text("path");
    request.source.kind = in.take("source", SourceKind::raw);
    request.source.part = in.take<int>("part");
    request.source.color = in.take("color", ImageColor::linear);
    request.source.raw.format = in.take_format("format");
    take_sides(request.source.raw.extent);
    request.source.raw.frame = in.take<std::size_t>("frame");
    request.source.plane = in.take<std::uint8_t>("plane");
    request.memory = in.take<std::uint64_t>("memory");
    request.seconds = in.take<double>("seconds");
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
    out.put(description.levels.size());
    for (const DescribedLevel& level : description.levels) {
        out.put(level.extent);
        out.put(level.access.granule);
        out.put(level.access.in_order);
    }
    const OpenedImage& image = description.image;
    put_metadata(out, image.metadata);
    out.put(image.conversions.size());
    for (const std::string& sentence : image.conversions) out.put(sentence);
    put_optional(out, image.planar);
    put_optional(out, image.kind);
    put_optional(out, image.cube);
    for (const auto* frames : {&image.data, &image.displays}) {
        out.put(frames->size());
        for (const ImageFrame& frame : *frames) out.put(frame);
    }
    return out.bytes();
}

Description description_of(std::span<const std::byte> bytes) {
    MessageReader in(bytes);
    Description description;
    description.format = in.take_format("format");
    if (info(description.format).layout == FormatLayout::planar) throw MalformedMessage("format");
    description.srgb = in.take<bool>("sRGB");
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
    for (std::size_t left = in.take_count("number of conversions", kTextBytes); left > 0; --left) {
        image.conversions.push_back(in.take_text("conversion"));
    }
    image.planar = take_optional(in, "planar format", formats().back().format);
    if (image.planar && plane_count(*image.planar) < 2) throw MalformedMessage("planar format");
    image.kind = take_optional(in, "kind of array", ArrayKind::cubemap_layered);
    image.cube = take_optional(in, "layout of a cube", CubeLayout::openexr_latlong);
    image.data = take_frames(in, "data windows", levels);
    image.displays = take_frames(in, "display windows", levels);
    if (image.data.size() != image.displays.size()) throw MalformedMessage("display windows");
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

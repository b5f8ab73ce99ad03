#include "arrays/files/frame_file.h"

#include <utility>

#include <fmt/format.h>

#include "arrays/files/oiio.h"
#include "core/file_error.h"

namespace texton::detail {
namespace {

std::string text(const ArrayInfo& info) {
    return fmt::format("{} texels of {}", to_string(info.extent), name(info.format));
}

}  // namespace

FrameFile::FrameFile(const char* object, const std::filesystem::path& path, std::vector<ImageAttribute> attributes)
    : object_(object), path_(path), attributes_(std::move(attributes)), file_(object, path) {}

void FrameFile::write(const ImageState& frame, const OnImageProgress& progress) {
    failed_ = true;  // until the frame is complete
    require_like_others(frame);
    const bool y4m = has_y4m_extension(path_);
    if (!first_ && y4m) append(y4m_header(object_, path_, with_attributes(frame)));
    first_ = frame.info;
    if (y4m) append(kY4mFrame);
    const RawLayout layout = y4m ? RawLayout::planes : frames_in_name(path_).layout;
    write_samples(file_, frame, order_of(frame.info.format, layout), progress);
    failed_ = false;
}

void FrameFile::complete(bool waits) {
    if (!first_ || failed_) {
        fail_file(object_, path_, first_ ? "has an incomplete frame" : "has no frames",
                  "Write complete frames before the file is completed.", ErrorCode::bad_argument);
    }
    file_.complete(waits);
}

void FrameFile::append(std::string_view line) { file_.write(std::as_bytes(std::span(line))); }

ImageState FrameFile::with_attributes(ImageState frame) const {
    for (const ImageAttribute& attribute : attributes_) {
        std::erase_if(frame.metadata.attributes, [&](const ImageAttribute& old) { return old.name == attribute.name; });
        frame.metadata.attributes.push_back(attribute);
    }
    return frame;
}

void FrameFile::require_like_others(const ImageState& frame) const {
    const ArrayInfo& info = frame.info;
    if (frame.file != nullptr) {
        fail_file(
            object_, path_,
            fmt::format("is of a kind that holds planar frames, but the image has the format {}", name(info.format)),
            other_kinds(info.format) + " Or convert the image with from_rgb().");
    }
    if (first_ && (first_->format != info.format || first_->extent != info.extent)) {
        fail_file(object_, path_, fmt::format("has frames of {}, but the next frame has {}", text(*first_), text(info)),
                  "All frames of a file must have the same size and format.", ErrorCode::bad_argument);
    }
    if (has_y4m_extension(path_)) return;
    const FramesInName named = frames_in_name(path_);
    if (!named.extent || (named.format == info.format && *named.extent == info.extent)) return;
    const RawFrames read{.format = named.format, .extent = *named.extent, .layout = named.layout};
    const RawFrames own{.format = info.format, .extent = info.extent};
    fail_file(object_, path_,
              fmt::format("is read as {}, as its name says, but the frames are {}", to_string(read), to_string(own)),
              "Use another name.", ErrorCode::bad_argument);
}

}  // namespace texton::detail

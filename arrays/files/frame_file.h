#pragma once
// A video file that is written.
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "arrays/files/frames.h"

namespace texton::detail {

/// Implements FrameWriter. `object` is Error::object() of all errors.
class FrameFile {
public:
    FrameFile(const char* object, const std::filesystem::path& path, std::vector<ImageAttribute> attributes);
    void write(const ImageState& frame, const OnImageProgress& progress);
    void complete(bool waits = true);

private:
    void append(std::string_view text);
    ImageState with_attributes(ImageState frame) const;
    void require_like_others(const ImageState& frame) const;

    const char* object_;
    std::filesystem::path path_;
    std::vector<ImageAttribute> attributes_;
    NewFile file_;
    std::optional<ArrayInfo> first_;  // description of the first frame
    bool failed_ = false;             // a frame is incomplete
};

}  // namespace texton::detail

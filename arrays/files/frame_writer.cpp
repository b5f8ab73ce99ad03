#include <texton/frame_writer.h>

#include "arrays/files/frame_file.h"
#include "core/file_error.h"

namespace texton {
namespace {

constexpr const char* kWriter = "texton::FrameWriter";

}  // namespace

class FrameWriter::File {
public:
    File(const std::filesystem::path& path, const std::vector<ImageAttribute>& attributes)
        : path(path), frames(kWriter, path, attributes) {}

    std::filesystem::path path;
    detail::FrameFile frames;
};

FrameWriter::FrameWriter(const std::filesystem::path& path, const std::vector<ImageAttribute>& attributes) {
    detail::guarded(kWriter, path, [&] {
        if (!is_video_name(path)) {
            detail::fail_file(kWriter, path, "has an extension that is not that of a video file", "Use .y4m or .yuv.",
                              ErrorCode::bad_argument);
        }
        file_ = std::make_unique<File>(path, attributes);
    });
}
FrameWriter::~FrameWriter() = default;
FrameWriter::FrameWriter(FrameWriter&& other) noexcept = default;
FrameWriter& FrameWriter::operator=(FrameWriter&& other) noexcept = default;

void FrameWriter::write(const ImageFile& frame, const OnImageProgress& progress) {
    (void)frame.info();  // throws if the image is empty
    detail::guarded(kWriter, file_->path, [&] { file_->frames.write(*frame.state(), progress); });
}

void FrameWriter::complete() {
    detail::guarded(kWriter, file_->path, [&] { file_->frames.complete(); });
}

}  // namespace texton

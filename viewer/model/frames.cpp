#include "viewer/model/frames.h"

#include <fmt/format.h>

#include <texton/error.h>

#include "viewer/model/numbered_paths.h"

namespace texton::viewer {

FrameFiles files_of(const Source& source) {
    if (source.paths.size() != 1) return {source};
    const std::vector<std::filesystem::path> files = named_files(source.paths.front());
    if (files == source.paths) return {source};
    const std::size_t frame = frame_of(source);
    if (frame >= files.size()) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = "texton::viewer",
                     .problem = fmt::format("frame {} of {} was requested, which stands for {} file{}", frame,
                                            source.paths.front().string(), files.size(), files.size() == 1 ? "" : "s"),
                     .remedy = "Frames are counted from 0."});
    }
    FrameFiles out{source, files.size()};
    out.source.paths = {files[frame]};
    set_frame(out.source, 0);
    return out;
}

}  // namespace texton::viewer

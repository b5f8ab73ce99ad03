#pragma once
// The frame that an image of a session shows: of a video file, or of numbered files.
#include <cstddef>

#include "viewer/model/session.h"

namespace texton::viewer {

/// Returns the index of the frame that a source reads, if its file is a video file or stands for numbered files.
[[nodiscard]] inline std::size_t frame_of(const Source& source) {
    return source.options.raw ? source.options.raw->frame : source.options.frame;
}

/// Makes a source read another frame of the same file or files.
inline void set_frame(Source& source, std::size_t frame) {
    (source.options.raw ? source.options.raw->frame : source.options.frame) = frame;
}

/// Returns true if two sources read frames of the same file or files in the same way.
[[nodiscard]] inline bool is_other_frame(const Source& a, Source b) {
    set_frame(b, frame_of(a));
    return a == b;
}

/// The files that a source reads.
struct FrameFiles {
    Source source;           ///< names files that exist: instead of numbered files the one of the frame
    std::size_t frames = 0;  ///< number of the numbered files; 0 if the source does not name numbered files
};

/// Returns the files that a source reads. If its only path is the name of numbered files (in_%03d.png), each of the
/// files is a frame. Throws Error{bad_argument} if there is no such frame, and the errors of files_by_number().
[[nodiscard]] FrameFiles files_of(const Source& source);

}  // namespace texton::viewer

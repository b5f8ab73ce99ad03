#pragma once
// The frame of a video file that an image of a session shows.
#include <cstddef>

#include "viewer/model/session.h"

namespace texton::viewer {

/// Returns the index of the frame that a source reads, if its file is a video file.
[[nodiscard]] inline std::size_t frame_of(const Source& source) {
    return source.options.raw ? source.options.raw->frame : source.options.frame;
}

/// Makes a source read another frame of the same file.
inline void set_frame(Source& source, std::size_t frame) {
    (source.options.raw ? source.options.raw->frame : source.options.frame) = frame;
}

/// Returns true if two sources read frames of the same file in the same way.
[[nodiscard]] inline bool is_other_frame(const Source& a, Source b) {
    set_frame(b, frame_of(a));
    return a == b;
}

}  // namespace texton::viewer

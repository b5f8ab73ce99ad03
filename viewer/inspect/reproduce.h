#pragma once
// What is seen, to be made again without the viewer: by `texton` commands, by a C++ program, or from the session as JSON.
#include <string>
#include <vector>

#include <texton/array_info.h>

#include "viewer/model/session.h"

namespace texton::viewer {

/// What a reproduction follows from.
struct Seen {
    Session session;
    ArrayInfo picture;  ///< the current one
    ArrayInfo shown;    ///< the same, or what the session's kernel made of it
    bool planar = false;
    int halvings = 0;  ///< what `picture` is of the files, as load_halved() makes it
    int width = 0;     ///< of the canvas, in pixels
    int height = 0;
};

/// Whole texels of the place that can be seen; all of them in other layouts than Layout::single, and of one-dimensional arrays.
[[nodiscard]] TexelBox visible_box(const Seen& seen);

struct CommandLines {
    std::vector<std::string> lines;  ///< for a POSIX shell, one after the other; each reads what those before wrote
    std::string out;                 ///< the file that the last one writes
    std::vector<std::string> notes;  ///< what they do not do, in plain sentences
};

/// Commands that write the visible texels of the place as they are stored, or, where the session shows samples, a pixel for each of the
/// canvas. Colours of the screen are not in them: a session's picture of the screen is. Throws nothing; without pictures there
/// are no lines, and a note.
[[nodiscard]] CommandLines command_lines(const Seen& seen);

/// A program that does the same; it needs texton::kernels and texton::io.
[[nodiscard]] std::string cpp_program(const Seen& seen);

/// The file of a kind that holds texels of the format as they are: "name.png", "name.tif", "name.exr" or "name.dds".
[[nodiscard]] std::string file_for(Format format, const std::string& name);
/// A word of a POSIX shell: as it is, or in quotes.
[[nodiscard]] std::string shell_word(const std::string& text);
/// A string literal of C++.
[[nodiscard]] std::string cpp_literal(const std::string& text);

}  // namespace texton::viewer

#pragma once
// Reproduces the displayed image without the viewer: as `texton` commands or as a C++ program.
#include <string>
#include <vector>

#include <texton/array_info.h>

#include "viewer/model/session.h"

namespace texton::viewer {

/// Input of a reproduction: the state of the viewer.
struct Seen {
    Session session;
    ArrayInfo image;      ///< info of the current image
    ArrayInfo shown;      ///< info of the displayed image: the current image, or the result of the session's kernel
    bool planar = false;  ///< true if the current image is planar
    int halvings = 0;     ///< how often `image` was halved from the files, as by load_halved()
    int width = 0;        ///< of the canvas, in pixels
    int height = 0;       ///< of the canvas, in pixels
};

/// Returns the texels of the level that are visible, including those that are visible in part. Returns all texels for
/// 1D arrays and for layouts other than Layout::single.
[[nodiscard]] TexelBox visible_box(const Seen& seen);

/// Commands that reproduce an image.
struct CommandLines {
    std::vector<std::string> lines;  ///< for a POSIX shell, to be run in this order
    std::string out;                 ///< file that the last command writes
    std::vector<std::string> notes;  ///< limits of the reproduction, as sentences for display
};

/// Returns commands that write the visible texels as they are stored or, if the session shows sampled values, one pixel
/// per pixel of the canvas. They do not apply the display settings. Without images, the result has no lines and one
/// note.
[[nodiscard]] CommandLines command_lines(const Seen& seen);

/// Returns a C++ program that does the same. It must be linked with texton::kernels and texton::io.
[[nodiscard]] std::string cpp_program(const Seen& seen);

/// Returns a file name for a file type that stores texels of the format without loss: "name.png", "name.tif",
/// "name.exr", "name.dds", or "name.yuv" for planar formats.
[[nodiscard]] std::string file_for(Format format, const std::string& name);
/// Returns the text as one argument for a POSIX shell, in quotes if necessary.
[[nodiscard]] std::string shell_word(const std::string& text);
/// Returns the text as a C++ string literal, with quotes.
[[nodiscard]] std::string cpp_literal(const std::string& text);

}  // namespace texton::viewer

#pragma once
#include <QImage>
#include <filesystem>
#include <string>

#include "viewer/render/render.h"

namespace texton::viewer {

/// Returns an HTML document with an image of the canvas, and a list of what it shows: file, size, view, sampler,
/// kernel, display, comparison, the values at the pins, and the annotations. The document contains everything, loads
/// nothing, and has no script. It contains the names of files without their folders. `title` is the name of the image.
/// Reads the texels at the pins, which blocks.
[[nodiscard]] std::string view_page(const QImage& canvas, const std::string& title, const Scene& scene);

/// Writes view_page() to a file. If writing fails, an existing file is unchanged. Throws Error{io}.
void save_page(const std::filesystem::path& path, const QImage& canvas, const std::string& title, const Scene& scene);

}  // namespace texton::viewer

#pragma once
#include <QImage>
#include <filesystem>
#include <string>

namespace texton::viewer {

/// Writes an image of the window to a file. `kind` is the kind of file, for example "png"; empty: the extension of the
/// path selects it. If writing fails, an existing file is unchanged. Throws Error{io}.
void save_view(const std::filesystem::path& path, const QImage& image, const std::string& kind = {});

}  // namespace texton::viewer

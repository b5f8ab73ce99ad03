#include "viewer/gui/saved_view.h"

#include <QBuffer>
#include <QImageWriter>
#include <span>

#include "core/file_error.h"
#include "core/new_file.h"

namespace texton::viewer {
namespace {

constexpr const char* kObject = "texton::viewer::save_view";

}  // namespace

void save_view(const std::filesystem::path& path, const QImage& image, const std::string& kind) {
    const std::string extension = path.extension().string();
    QBuffer encoded;
    encoded.open(QIODevice::WriteOnly);
    QImageWriter writer(&encoded,
                        QByteArray::fromStdString(kind.empty() && !extension.empty() ? extension.substr(1) : kind));
    if (!writer.write(image)) {
        detail::fail_file(kObject, path, "cannot be written: " + writer.errorString().toStdString(),
                          "Use .png or .jpg.");
    }
    const QByteArray& bytes = encoded.data();
    detail::write_file(kObject, path,
                       std::as_bytes(std::span(bytes.constData(), static_cast<std::size_t>(bytes.size()))));
}

}  // namespace texton::viewer

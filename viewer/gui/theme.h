#pragma once
class QApplication;

namespace texton::viewer {

/// Dark and neutral, so that only the picture has colour.
void apply_theme(QApplication& application);

}  // namespace texton::viewer

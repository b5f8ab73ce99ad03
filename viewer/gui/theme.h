#pragma once
class QApplication;

namespace texton::viewer {

enum class Theme { dark, light };

/// The look of the window, as chosen last.
void apply_theme(QApplication& application);
void set_theme(Theme theme);
[[nodiscard]] Theme theme();

}  // namespace texton::viewer

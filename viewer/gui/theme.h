#pragma once
class QApplication;

namespace texton::viewer {

enum class Theme { dark, light };

/// Applies the stored theme to the application.
void apply_theme(QApplication& application);
/// Stores the theme in the settings and applies it.
void set_theme(Theme theme);
/// Returns the stored theme; dark by default.
[[nodiscard]] Theme theme();

}  // namespace texton::viewer

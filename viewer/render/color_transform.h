#pragma once
// Color management with OpenColorIO. In builds without OpenColorIO color_transform() and color_names()
// throw Error{unsupported}.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "viewer/model/session.h"
#include "viewer/render/display.h"
#include "viewer/render/file_colors.h"

namespace texton::viewer {

/// Value of ColorConversion::input for the ICC profile of each file.
inline constexpr const char* kFileProfile = "profile of the file";

/// Returns true if the program was built with OpenColorIO.
[[nodiscard]] bool has_color_management();

/// Converts colors of an input space to code values of a display. Immutable: several threads may use it at once.
class ColorTransform {
public:
    ColorTransform() = default;
    ColorTransform(const ColorTransform&) = delete;
    ColorTransform& operator=(const ColorTransform&) = delete;
    virtual ~ColorTransform() = default;

    /// Converts colors in place. Alpha is unchanged. The results may be outside of 0 to 1.
    virtual void apply(std::span<Color> colors) const = 0;
};

/// Returns the transform of a conversion, or null if its input is empty. `colors` are those of the file of the image.
/// Transforms are cached, and so are refusals: a config file that was changed is read again only under another name or
/// by another process. Thread-safe. Throws Error{bad_argument} if the config cannot be read or lacks a name, or if the
/// input is kFileProfile and the file has no profile that is supported, and Error{unsupported} without OpenColorIO.
[[nodiscard]] std::shared_ptr<const ColorTransform> color_transform(const ColorConversion& color,
                                                                    const FileColors& colors = {});

/// Returns why a conversion is not possible, or an empty string if it is. A chosen config is checked also without
/// input.
[[nodiscard]] std::string color_problem(const ColorConversion& color, const FileColors& colors = {});

/// Names that a config offers.
struct ColorNames {
    std::vector<std::string> inputs;    ///< color spaces of images
    std::vector<std::string> displays;  ///< displays, the default one first
    std::vector<std::string> views;     ///< views of the display, the default one first
};
/// Returns the names of the config of a conversion, and the views of its display. Throws as color_transform() does.
[[nodiscard]] ColorNames color_names(const ColorConversion& color);

/// Text of the config that is used if no other is chosen.
extern const char* const kOwnColorConfig;

}  // namespace texton::viewer

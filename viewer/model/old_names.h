#pragma once
// Names that saved sessions, suites, references and keyboard shortcuts may contain from before a renaming.
#include <algorithm>
#include <array>
#include <string_view>

namespace texton::viewer {

struct OldName {
    std::string_view old_name;
    std::string_view name;
};

/// Every renamed key of a session, suite or reference, every renamed action, and every parameter that was renamed in all
/// kernels. Texton reads the old names, and writes the new ones.
inline constexpr std::array kOldNames{
    // sessions and references
    OldName{"pictures", "images"},
    OldName{"place", "subresource"},
    OldName{"false_colour", "false_color"},
    // parameters of kernels, in sessions and suites
    OldName{"grey", "gray"},
    OldName{"places", "coordinates"},
    OldName{"middle_x", "center_x"},
    OldName{"middle_y", "center_y"},
    // actions, in keyboard shortcuts
    OldName{"colour", "color"},
    OldName{"normalise", "normalize"},
    OldName{"picture-1", "image-1"},
    OldName{"picture-2", "image-2"},
    OldName{"picture-3", "image-3"},
    OldName{"picture-4", "image-4"},
    OldName{"picture-5", "image-5"},
    OldName{"picture-6", "image-6"},
    OldName{"picture-7", "image-7"},
    OldName{"picture-8", "image-8"},
    OldName{"picture-9", "image-9"},
};

/// Returns the old name of a name, or an empty text if it was never renamed.
[[nodiscard]] constexpr std::string_view old_name(std::string_view name) {
    const auto found = std::ranges::find(kOldNames, name, &OldName::name);
    return found == kOldNames.end() ? std::string_view() : found->old_name;
}

/// Returns the name that replaced an old name, or the name itself if it is not an old one.
[[nodiscard]] constexpr std::string_view current_name(std::string_view name) {
    const auto found = std::ranges::find(kOldNames, name, &OldName::old_name);
    return found == kOldNames.end() ? name : found->name;
}

/// A renamed parameter of a kernel.
struct OldParameter {
    std::string_view kernel;
    std::string_view old_name;
    std::string_view name;
};

/// Parameters that had the name of an option of a command.
inline constexpr std::array kOldParameters{
    OldParameter{"from_rgb", "format", "layout"},  OldParameter{"lut_1d", "channels", "curves"},
    OldParameter{"median", "size", "window"},      OldParameter{"min_max_pyramid", "levels", "level_count"},
    OldParameter{"mips", "levels", "level_count"}, OldParameter{"percentage_closer", "size", "kernel_size"},
    OldParameter{"swizzle", "channels", "order"},  OldParameter{"to_rgb", "format", "layout"},
};

/// Returns the name of a kernel's parameter that replaced an old name, or the name itself if it is not an old one.
[[nodiscard]] constexpr std::string_view current_parameter(std::string_view kernel, std::string_view name) {
    for (const OldParameter& old : kOldParameters) {
        if (old.kernel == kernel && old.old_name == name) return old.name;
    }
    return current_name(name);
}

}  // namespace texton::viewer

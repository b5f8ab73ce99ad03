#pragma once
// Annotations: arrows, boxes, text and rulers over an image, in texels. They are part of the session.
#include <cstdint>
#include <string>

#include "viewer/model/subresource_index.h"
#include "viewer/model/view_state.h"

namespace texton::viewer {

/// Shape of an annotation.
enum class AnnotationKind : std::uint8_t {
    arrow,  ///< an arrow from `from` to `to`
    box,    ///< a box with the corners `from` and `to`
    text,   ///< text whose top left corner is at `from`
    ruler   ///< a line from `from` to `to` with its length
};

/// Color of an annotation.
enum class AnnotationColor : std::uint8_t { red, yellow, green, cyan, blue, magenta, white, black };

constexpr std::size_t kMaxAnnotations = 1000;     ///< maximum number of annotations of a session
constexpr std::size_t kMaxAnnotationText = 1000;  ///< maximum length of the text of an annotation, in characters

/// A mark over one subresource of an image. Positions are in texels of the files, as those of pins: the top left corner
/// of a texel has integer coordinates.
struct Annotation {
    AnnotationKind kind = AnnotationKind::arrow;   ///< shape
    std::size_t image = 0;                         ///< index of the image in the session
    SubresourceIndex subresource{};                ///< subresource of the image
    Position from{};                               ///< begin, or a corner
    Position to{};                                 ///< end, or the opposite corner; ignored for text
    std::string text{};                            ///< label; lines are separated by '\n'
    AnnotationColor color = AnnotationColor::red;  ///< color of lines and text
    bool operator==(const Annotation&) const = default;
};

/// Returns the number of characters (code points) of a valid UTF-8 text.
[[nodiscard]] std::size_t character_count(const std::string& utf8);

/// Returns the length of a ruler and its extent along both axes: "5 texels (dx 3, dy 4)".
[[nodiscard]] std::string length_text(const Annotation& annotation);

/// Returns a line that describes an annotation: "Arrow (10, 20) to (12.5, 20): highlight".
[[nodiscard]] std::string annotation_text(const Annotation& annotation);

}  // namespace texton::viewer

#include "viewer/model/annotation.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace texton::viewer {
namespace {

// Returns a number with at most two decimals.
std::string short_number(double value) {
    const double rounded = std::round(value * 100) / 100;
    return fmt::format("{}", rounded == 0 ? 0.0 : rounded);  // no negative zero
}

std::string position_text(const Position& at) {
    return fmt::format("({}, {})", short_number(at.x), short_number(at.y));
}

const char* title_of(AnnotationKind kind) {
    switch (kind) {
        case AnnotationKind::arrow: return "Arrow";
        case AnnotationKind::box: return "Box";
        case AnnotationKind::text: return "Text";
        case AnnotationKind::ruler: return "Ruler";
    }
    return "";
}

}  // namespace

std::size_t character_count(const std::string& utf8) {
    return static_cast<std::size_t>(
        std::ranges::count_if(utf8, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }));
}

std::string length_text(const Annotation& annotation) {
    const double x = annotation.to.x - annotation.from.x, y = annotation.to.y - annotation.from.y;
    const std::string length = short_number(std::hypot(x, y));
    return fmt::format("{} {} (dx {}, dy {})", length, length == "1" ? "texel" : "texels", short_number(x),
                       short_number(y));
}

std::string annotation_text(const Annotation& annotation) {
    std::string out = fmt::format("{} {}", title_of(annotation.kind), position_text(annotation.from));
    if (annotation.kind != AnnotationKind::text) out += " to " + position_text(annotation.to);
    if (annotation.kind == AnnotationKind::ruler) out += ", " + length_text(annotation);
    if (annotation.text.empty()) return out;
    std::string line = annotation.text;
    std::ranges::replace(line, '\n', ' ');
    return out + ": " + line;
}

}  // namespace texton::viewer

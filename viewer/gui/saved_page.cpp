#include "viewer/gui/saved_page.h"

#include <QBuffer>
#include <cmath>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/new_file.h"
#include "viewer/model/session_names.h"
#include "viewer/render/layout.h"
#include "viewer/text/error_text.h"
#include "viewer/verify/junit.h"
#include "viewer/verify/report_page.h"

namespace texton::viewer {
namespace {

constexpr const char* kStyle =
    "body { margin: 0; padding: 16px; background: #26272b; color: #d8dade; font: 15px/1.4 sans-serif; }\n"
    "h1 { margin: 0 0 12px; font-size: 20px; overflow-wrap: anywhere; }\n"
    "img { max-width: 100%; image-rendering: pixelated; border: 1px solid #3a3c42; }\n"
    "dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 16px; }\n"
    "dl > div { display: contents; }\n"
    "dt { color: #8d9098; }\n"
    "dd { margin: 0; overflow-wrap: anywhere; }\n";

std::string kernel_text(const KernelChoice& kernel) {
    std::string out = kernel.name;
    for (const auto& [name, value] : kernel.parameters) {
        out +=
            fmt::format(", {} {}", name, std::visit([](const auto& each) { return fmt::format("{}", each); }, value));
    }
    return out;
}

std::string display_text(const Display& display) {
    std::string channels;
    for (std::size_t i = 0; i < 4; ++i) channels += display.channels[i] ? std::string(1, "RGBA"[i]) : std::string();
    if (display.luminance) channels = "luminance";
    std::string out = fmt::format("channels {}, exposure {} stops, gamma {}, black {}, white {}", channels,
                                  display.exposure, display.gamma, display.low, display.high);
    if (display.false_color != FalseColor::none)
        out += fmt::format(", color map {}", name_of(kFalseColors, display.false_color));
    return out;
}

std::string value_at_pin(const Scene& scene, Position pin) {
    if (!(pin.x >= 0 && pin.y >= 0)) return "outside of the image";
    try {
        return words_of(*scene.shown, scene.shown->clamped(scene.session.subresource), static_cast<std::size_t>(pin.x),
                        static_cast<std::size_t>(pin.y));
    } catch (const std::exception& error) {
        return error_text(error);
    }
}

bool is_seen(const Annotation& annotation, const Scene& scene) {
    const Session& session = scene.session;
    return session.overlays.annotations && annotation.image == session.current &&
           (layout_of(session, *scene.shown) != Layout::single ||
            scene.shown->clamped(annotation.subresource) == scene.shown->clamped(session.subresource));
}

std::string figures_of(const Scene& scene) {
    const Session& session = scene.session;
    verify::Figures out;
    const auto add = [&out](const std::string& name, const std::string& value) {
        out.add(verify::escaped(name), verify::escaped(value));
    };
    if (scene.shown) {
        const ArrayInfo& array = scene.shown->whole();
        add("Image", fmt::format("{} of {}, {}", to_string(array.extent), name(array.format), name(array.kind)));
        if (!scene.shown->is_planar() && array.levels > 1) add("Level", std::to_string(session.subresource.level));
    }
    add("View", fmt::format("{:.4g} pixels per texel around ({:.1f}, {:.1f})", session.view.zoom, session.view.center.x,
                            session.view.center.y));
    add("Texels", std::string(name_of(kReadings, session.reading)));
    add("Display", display_text(session.display));
    if (!session.kernel.name.empty()) add("Kernel", kernel_text(session.kernel));
    if (scene.against && session.compare.mode != CompareMode::none) {
        add("Comparison", fmt::format("{} with {}", name_of(kCompareModes, session.compare.mode),
                                      session.compare.against == Against::reference
                                          ? scene.against->title()
                                          : std::string(name_of(kAgainst, session.compare.against))));
    }
    for (std::size_t i = 0; scene.shown && i < session.pins.size(); ++i) {
        const Position& pin = session.pins[i];
        add(fmt::format("Pin ({}, {})", std::floor(pin.x), std::floor(pin.y)), value_at_pin(scene, pin));
    }
    for (const Annotation& annotation : session.annotations) {
        if (scene.shown && is_seen(annotation, scene)) add("Annotation", annotation_text(annotation));
    }
    return out.html();
}

}  // namespace

std::string view_page(const QImage& canvas, const std::string& title, const Scene& scene) {
    QBuffer encoded;
    encoded.open(QIODevice::WriteOnly);
    canvas.save(&encoded, "png");
    const std::string name = verify::escaped(title);
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src "
           "'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           "<link rel=\"icon\" href=\"data:,\">\n<title>" +
           name + "</title>\n<style>\n" + kStyle + "</style>\n</head>\n<body>\n<h1>" + name + "</h1>\n<img alt=\"" +
           name + "\" src=\"data:image/png;base64," + encoded.data().toBase64().toStdString() + "\">\n" +
           figures_of(scene) + "</body>\n</html>\n";
}

void save_page(const std::filesystem::path& path, const QImage& canvas, const std::string& title, const Scene& scene) {
    detail::write_file("texton::viewer::save_page", path, view_page(canvas, title, scene));
}

}  // namespace texton::viewer

#include "viewer/gui/canvas_text.h"

#include <QPointer>
#include <algorithm>
#include <cmath>

#include "viewer/render/texel_text.h"

namespace texton::viewer {
namespace {

// Returns the texels [first, second) along one dimension that the pixels [begin, begin + size) of the plane show.
std::pair<std::size_t, std::size_t> texels_of_side(int begin, int size, double zoom, double part_at,
                                                   double texels_a_unit, std::size_t texels) {
    const auto subresource = [&](int pixel) {
        return std::clamp((pixel / zoom - part_at) * texels_a_unit, 0.0, static_cast<double>(texels));
    };
    return {static_cast<std::size_t>(subresource(begin)),
            static_cast<std::size_t>(std::ceil(subresource(begin + size)))};
}

}  // namespace

std::vector<CanvasText::Box> texels_on_canvas(const Scene& scene) {
    std::vector<CanvasText::Box> out;
    if (!scene.shown || plane_box(scene).x < 0) return out;
    const PlanePixel origin = canvas_origin(scene);
    const double zoom = scene.session.view.zoom;
    for (const Part& part : parts_of(scene.session, *scene.shown)) {
        const auto [left, right] =
            texels_of_side(origin.x, scene.width, zoom, part.at.x, part.texels_across(), part.extent.width);
        const auto [top, bottom] =
            texels_of_side(origin.y, scene.height, zoom, part.at.y, part.texels_down(), part.extent.height);
        if (left < right && top < bottom) out.push_back({part, {left, top, right - left, bottom - top}});
    }
    return out;
}

void CanvasText::show(const Scene& scene, double minimum) {
    Asked asked;
    if (scene.shown && scene.session.view.zoom >= minimum) {
        asked.document = scene.shown;
        asked.boxes = texels_on_canvas(scene);
        asked.hexadecimal = scene.session.overlays.hexadecimal;
        std::erase_if(asked.boxes, [&](const Box& box) {
            return scene.session.view.zoom / std::max(box.part.texels_across(), box.part.texels_down()) < minimum;
        });
    }
    if (asked == asked_) return;
    if (asked.document != asked_.document || asked.hexadecimal != asked_.hexadecimal || asked.boxes.empty())
        text_.clear();
    asked_ = asked;
    if (asked.boxes.empty()) return jobs_.drop(tag_);
    const QPointer<CanvasText> self(this);
    jobs_.start(tag_, [=](const CancellationToken& token) -> Jobs::Finish {
        std::vector<Text> made;
        try {
            for (const Box& box : asked.boxes) {
                Text text{box, {}};
                for (const auto& texel :
                     stored_text(asked.document, box.part.subresource, box.texels, asked.hexadecimal, token)) {
                    QStringList lines;
                    for (const std::string& word : texel) lines.append(QString::fromStdString(word));
                    text.texels.push_back(lines);
                }
                made.push_back(std::move(text));
            }
        } catch (const std::exception&) {
            made.clear();  // the tiles fail with the same error and report it
        }
        return [=] {
            if (!self) return;
            self->text_ = made;
            Q_EMIT self->updated();
        };
    });
}

}  // namespace texton::viewer

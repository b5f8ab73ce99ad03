#pragma once
#include <QObject>
#include <QStringList>
#include <string>
#include <vector>

#include "viewer/model/jobs.h"
#include "viewer/render/layout.h"
#include "viewer/render/render.h"

namespace texton::viewer {

/// Provides the stored values of the visible texels as text, while the texels are large enough for it. A worker thread
/// reads the values. For the GUI thread only; the jobs must outlive the object.
class CanvasText : public QObject {
    Q_OBJECT

public:
    /// Visible texels of one part.
    struct Box {
        Part part;
        TexelBox texels;
        bool operator==(const Box&) const = default;
    };
    struct Text {
        Box box;
        std::vector<QStringList> texels;  ///< row by row; one line of text per channel
    };

    /// `tag` is the tag of its jobs.
    CanvasText(Jobs& jobs, std::string tag, QObject* parent) : QObject(parent), jobs_(jobs), tag_(std::move(tag)) {}

    /// Requests the values of the visible texels. Texels that are drawn smaller than `minimum` screen pixels get none.
    void show(const Scene& scene, double minimum);
    const std::vector<Text>& text() const noexcept { return text_; }

Q_SIGNALS:
    void updated();

private:
    struct Asked {
        std::shared_ptr<const Document> document;
        std::vector<Box> boxes;
        bool hexadecimal = false;
        bool operator==(const Asked&) const = default;
    };

    Jobs& jobs_;
    std::string tag_;
    Asked asked_;
    std::vector<Text> text_;
};

/// Returns the texels of each part that are visible on the canvas.
[[nodiscard]] std::vector<CanvasText::Box> texels_on_canvas(const Scene& scene);

}  // namespace texton::viewer

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
class CanvasWords : public QObject {
    Q_OBJECT

public:
    /// Visible texels of one part.
    struct Box {
        Part part;
        TexelBox texels;
        bool operator==(const Box&) const = default;
    };
    struct Words {
        Box box;
        std::vector<QStringList> texels;  ///< row by row; one line of text per channel
    };

    CanvasWords(Jobs& jobs, QObject* parent) : QObject(parent), jobs_(jobs) {}

    /// Requests the values of the visible texels. Texels that are drawn smaller than `least` screen pixels get none.
    void show(const Scene& scene, double least);
    const std::vector<Words>& words() const noexcept { return words_; }

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
    Asked asked_;
    std::vector<Words> words_;
};

/// Returns the texels of each part that are visible on the canvas.
[[nodiscard]] std::vector<CanvasWords::Box> texels_on_canvas(const Scene& scene);

}  // namespace texton::viewer

#pragma once
#include <QObject>
#include <QStringList>
#include <string>
#include <vector>

#include "viewer/model/jobs.h"
#include "viewer/render/layout.h"
#include "viewer/render/render.h"

namespace texton::viewer {

/// The stored values of the texels that are seen, while they are large enough to hold them. Read beside the window.
class CanvasWords : public QObject {
    Q_OBJECT

public:
    struct Box {
        Part part;
        TexelBox texels;
        bool operator==(const Box&) const = default;
    };
    struct Words {
        Box box;
        std::vector<QStringList> texels;
    };

    CanvasWords(Jobs& jobs, QObject* parent) : QObject(parent), jobs_(jobs) {}

    /// Nothing for texels whose sides are below `least` pixels.
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

/// The texels of each part that a canvas shows.
[[nodiscard]] std::vector<CanvasWords::Box> texels_on_canvas(const Scene& scene);

}  // namespace texton::viewer

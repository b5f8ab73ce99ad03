#pragma once
#include <QObject>
#include <optional>

#include "viewer/gui/annotation_shapes.h"
#include "viewer/model/annotation.h"

namespace texton::viewer {

struct Session;
class Workspace;

/// Makes and edits the annotations of the current image: the tool that the mouse uses on the canvas, the selected
/// annotation, and the annotation whose text is being edited. Each drag is one undo step. For the GUI thread only.
class AnnotationTool : public QObject {
    Q_OBJECT

public:
    /// The workspace owns the tool.
    explicit AnnotationTool(Workspace& workspace);

    /// Returns the kind of annotation that a drag makes; nullopt: drags move the image.
    std::optional<AnnotationKind> kind() const noexcept { return kind_; }
    void choose(std::optional<AnnotationKind> kind);
    /// Returns the index of the selected annotation in the session.
    std::optional<std::size_t> selected() const noexcept { return selected_; }
    void select(std::optional<std::size_t> index);

    /// Begins a drag: of the annotation at the pixel, or of a new one. Returns false if the canvas handles the mouse
    /// button instead.
    bool press(const AnnotationShapes& shapes, Position pixel, double unit);
    void move(const AnnotationShapes& shapes, Position pixel);
    void release();

    /// An annotation whose text is being edited.
    struct Edit {
        std::optional<std::size_t> index{};  ///< index in the session; nullopt: a new annotation
        Annotation annotation;
    };
    const std::optional<Edit>& edited() const noexcept { return edited_; }
    void edit_text(std::size_t index);
    /// Ends editing and stores the text. New annotations without text are not added to the session.
    void accept_text(const QString& text);
    void cancel_text();

    void set_text(std::size_t index, const QString& text);
    /// Sets the color of an annotation, and of those that are made afterwards.
    void set_color(std::size_t index, AnnotationColor color);
    void remove(std::size_t index);
    /// Removes all annotations of the current image.
    void remove_all();
    bool has_any() const;

Q_SIGNALS:
    /// The tool, the selection or the edited text has changed.
    void changed();

private:
    /// An annotation that is being dragged.
    struct Drag {
        std::optional<std::size_t> index{};  // nullopt: it is not in the session yet
        Annotation begin;                    // at the press
        AnnotationGrip grip;
        Position pressed;  // in texels
        Position pixel;    // of the press
        double unit = 1;
        bool moved = false;
    };

    std::optional<std::size_t> add(const Annotation& annotation);
    Annotation dragged(Position at) const;
    void follow(const Session& before);

    Workspace& workspace_;
    std::optional<AnnotationKind> kind_{};
    std::optional<std::size_t> selected_{};
    std::optional<Drag> drag_{};
    std::optional<Edit> edited_{};
    AnnotationColor color_ = AnnotationColor::red;
    bool edits_ = false;  // while this object changes the session
};

}  // namespace texton::viewer

#pragma once
#include <QImage>
#include <QWidget>
#include <cstdint>
#include <memory>
#include <optional>

#include "viewer/gui/annotation_editor.h"
#include "viewer/gui/annotation_shapes.h"
#include "viewer/gui/canvas_text.h"
#include "viewer/gui/canvas_tiles.h"
#include "viewer/gui/workspace.h"

namespace texton::viewer {

/// The image that a canvas shows.
enum class CanvasSide : std::uint8_t {
    shown,     ///< the current image, or its comparison with another one
    reference  ///< the reference, beside the canvas of the current image, with the same zoom and position
};

/// Shows the scene of the workspace, which must outlive the canvas. Worker threads render the scene in tiles; the
/// canvas draws the tiles and the overlay. For the GUI thread only.
///
/// Mouse and keys:
/// - The wheel zooms at the cursor. Ctrl+wheel steps through slices, layers, faces or levels.
/// - A drag pans, or rotates a sphere. A drag of the wipe line moves the line. Shift+drag selects texels.
/// - A right click pins a texel in place of the other pins, or unpins a pinned texel. Ctrl+right click keeps the other
///   pins.
/// - A double click fits the image to the canvas. Space pins the texel at the center.
/// - A click selects an annotation, a drag moves it or one of its ends, and a double click edits its text. With a tool
///   for annotations, a drag elsewhere makes one.
/// - Shift+arrow resizes the selection. Alt+arrow pans. Alt+Shift+arrow moves the wipe line.
class Canvas : public QWidget {
    Q_OBJECT

public:
    explicit Canvas(Workspace& workspace, CanvasSide side = CanvasSide::shown, QWidget* parent = nullptr);

    /// Shows the name of the image in a corner.
    void show_title(bool shown);
    /// Fits the image to the canvas, also after later changes of size, until the view is changed.
    void fit();
    /// Zooms to one screen pixel per texel, around the center of the canvas.
    void actual_size();
    /// Zooms around the center of the canvas.
    void zoom_by(double factor);
    /// Moves the texel to the center of the canvas.
    void look_at(Position texel);
    /// Returns the visible texels of the current subresource, or the whole subresource in layouts that show several.
    /// Returns nullopt if no texel is visible.
    std::optional<TexelBox> visible_texels() const;
    /// Returns the rendered scene at screen resolution with the annotations, but without the other overlays. A scene
    /// that needs texels of files is returned as it is on the screen now; any other scene is rendered in full, which
    /// blocks. Throws what render() throws.
    QImage image();
    /// Cancels reading files for the canvas until the view or the scene changes.
    void stop_files();
    /// Whether files are being read for the canvas.
    bool reads_files() const { return tells_progress_; }

    Scene scene() const;
    /// Whether all visible tiles have their final quality.
    bool is_complete() const;
    /// Whether every visible tile of the current zoom exists, with any quality.
    bool has_pixels() const;
    /// Whether every visible tile also uses the current display settings.
    bool shows_display() const;

    QSize sizeHint() const override { return {960, 640}; }

Q_SIGNALS:
    /// A frame of a running program was painted in full.
    void painted_frame(std::uint64_t number);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    enum class Drag { none, pan, wipe, select, annotate };

    QSize pixels() const;  // size in screen pixels
    Position pixel_at(QPointF point) const;
    void refit();
    void keep_in_view(const Scene& now);
    void refresh();
    void see(const Scene& now);
    void set_view(const ViewState& view);
    void pan(Position pixels);
    void move_wipe(double share);
    void step(int by);
    void pin(const SeenTexel& texel, bool beside_others);
    void select(const SeenTexel& from, const SeenTexel& to);
    void grow_selection(int right, int down);
    bool is_on_wipe(Position pixel) const;
    AnnotationShapes annotation_shapes(const Scene& now) const;
    bool is_on_annotation(Position pixel) const;
    void show_cursor(Position pixel);
    void describe();
    void tell_progress();
    void tell_frame(const Scene& now);
    void paint_tiles(const Scene& now, QPainter& painter) const;
    void paint_overlay(const Scene& now, QPainter& painter) const;
    void paint_annotations(const Scene& now, QPainter& painter) const;
    std::size_t image_index(const Session& session) const;

    Workspace& workspace_;
    CanvasSide side_;
    bool has_title_ = false;
    CanvasTiles* tiles_;
    CanvasTiles* against_tiles_;  // second side of a wipe
    CanvasText* text_;
    AnnotationEditor* editor_;
    Drag drag_ = Drag::none;
    Position dragged_;
    std::optional<SeenTexel> selected_from_;
    Extent seen_extent_{};                   // of the last image that was shown
    std::optional<ViewState> left_view_;     // the view before an image was fitted that it did not suit
    bool tells_progress_ = false;            // while files are read
    std::weak_ptr<const Document> painted_;  // the last frame of a running program that was painted
    int wheel_ = 0;                          // wheel rotation since the last step, in eighths of a degree
};

}  // namespace texton::viewer

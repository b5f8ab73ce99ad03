#pragma once
#include <QImage>
#include <QWidget>
#include <optional>

#include "viewer/gui/canvas_text.h"
#include "viewer/gui/canvas_tiles.h"
#include "viewer/gui/workspace.h"

namespace texton::viewer {

/// Shows the workspace's scene, made beside the window in tiles, and what lies over it.
///
/// The wheel zooms at the cursor, with Ctrl it steps through slices, layers, faces or levels. Dragging pans, or turns a sphere; it moves
/// a wipe's line, and with Shift it selects. A right click pins a texel or unpins it, with Ctrl beside those that are. Space pins
/// the middle, Shift and arrows select from the last pin, Alt and arrows pan, Alt, Shift and arrows move a wipe's line.
class Canvas : public QWidget {
    Q_OBJECT

public:
    explicit Canvas(Workspace& workspace, QWidget* parent = nullptr);

    void fit();
    void actual_size();
    /// Around the middle of the canvas.
    void zoom_by(double factor);
    /// Brings the texel to the middle.
    void look_at(Position texel);
    /// What is seen of the place; all of it where the canvas shows more than one. None where nothing is seen.
    std::optional<TexelBox> visible_texels() const;
    /// What is seen, at the screen's resolution, without panels and labels around it; what is still being read from files as it is now.
    QImage picture();
    /// Stops what is being read from files for it, until something else is seen.
    void stop_files();
    bool reads_files() const { return tells_progress_; }

    Scene scene() const;
    /// All that is seen is there, in full.
    bool is_complete() const;
    /// Something is there for every pixel.
    bool has_pixels() const;
    /// ... by the display of now.
    bool shows_display() const;

    QSize sizeHint() const override { return {960, 640}; }

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

private:
    enum class Drag { none, pan, wipe, select };

    QSize pixels() const;  // of the screen
    Position pixel_at(QPointF point) const;
    void refit();
    void refresh();
    void set_view(const ViewState& view);
    void pan(Position pixels);
    void move_wipe(double share);
    void step(int by);
    void pin(const SeenTexel& texel, bool beside_others);
    void select(const SeenTexel& from, const SeenTexel& to);
    void grow_selection(int right, int down);
    bool is_on_wipe(Position pixel) const;
    void show_cursor(Position pixel);
    void describe();
    void tell_progress();
    void paint_tiles(const Scene& now, QPainter& painter) const;
    void paint_overlay(const Scene& now, QPainter& painter) const;

    Workspace& workspace_;
    CanvasTiles* tiles_;
    CanvasTiles* against_tiles_;  // of a wipe
    CanvasWords* words_;
    Drag drag_ = Drag::none;
    Position dragged_;
    std::optional<SeenTexel> selected_from_;
    bool tells_progress_ = false;  // of files
    int wheel_ = 0;                // eighths of degrees that have not made a step yet
};

}  // namespace texton::viewer

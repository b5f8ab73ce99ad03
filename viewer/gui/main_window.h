#pragma once
#include <QDockWidget>
#include <QElapsedTimer>
#include <QLabel>
#include <QMainWindow>
#include <QProgressBar>
#include <QPushButton>
#include <QStackedWidget>
#include <QTimer>
#include <filesystem>
#include <map>
#include <set>
#include <vector>

#include "viewer/gui/actions.h"
#include "viewer/gui/canvas.h"
#include "viewer/gui/controls.h"
#include "viewer/gui/file_watch.h"
#include "viewer/gui/live_images.h"
#include "viewer/gui/workspace.h"

namespace texton::viewer {

/// The main window: the canvas, dockable panels around it and a status bar. Shows a workspace, which must outlive the
/// window. For the GUI thread only.
class MainWindow : public QMainWindow {
    Q_OBJECT

public:
    explicit MainWindow(Workspace& workspace, QWidget* parent = nullptr);
    ~MainWindow() override;

    Workspace& workspace() noexcept { return workspace_; }
    Canvas& canvas() noexcept { return *canvas_; }
    /// Returns the canvas that shows the reference beside the current image.
    Canvas& reference_canvas() noexcept { return *reference_canvas_; }
    Actions& actions() noexcept { return *actions_; }
    /// Shows images of running programs, as long as the window exists. Says in the status bar where the window does not
    /// listen.
    void listen(const LiveServer::Options& options);
    /// Returns null unless listen() was called.
    LiveImages* live_images() noexcept { return live_images_; }
    /// Returns the docks by the ids of their panels.
    const std::map<QString, QDockWidget*>& docks() const noexcept { return docks_; }

    /// Opens each file as a separate image. Session files (.json) replace the session.
    void open_files(const QStringList& paths);
    /// Opens all files whose names differ from this one only in a number, as the frames of one image.
    void open_numbered_files(const QString& path);
    /// Writes the canvas as it is on the screen, the settings and the values at the pins to an HTML file. Throws
    /// Error{io}.
    void export_page(const QString& path);
    void show_panel(const QString& id, bool shown);
    /// Hides all panels, or shows the panels again that were hidden by the last call.
    void toggle_panels();
    bool panels_are_hidden() const noexcept { return hidden_panels_.has_value(); }
    /// Restores the size of the window and the dock layout of the last run.
    void restore();
    /// Returns the message that the window shows instead of an image, as rich text; empty if an image is shown.
    QString message() const;

protected:
    bool event(QEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void closeEvent(QCloseEvent* event) override;

private:
    void make_docks();
    void make_menus();
    void make_status();
    void apply_session(const Session& before);
    void show_documents();
    void show_hover();
    void read_hovered();
    void show_progress(double share, const QString& what);
    void show_message(const QString& headline, const QString& details);
    void show_panels();
    bool needs_one_column() const;
    void arrange_docks_later();
    void arrange_docks();
    void widen_docks();
    void share_height();
    void show_sides();
    bool may_close();
    void keep_panels();
    std::vector<std::filesystem::path> files_of_image(std::size_t index) const;
    void watch_files();

    Workspace& workspace_;
    Actions* actions_;
    Canvas* canvas_;
    Canvas* reference_canvas_;
    QWidget* canvases_;
    CalmText* notice_;
    QLabel* message_;
    QPushButton* open_;
    QStackedWidget* pages_;
    QLabel* hover_label_;
    QLabel* image_label_;
    QLabel* zoom_label_;
    QLabel* device_label_;
    QProgressBar* progress_;
    std::map<QString, QDockWidget*> docks_;
    bool shares_height_ = true;             // when the window appears
    std::optional<QByteArray> wide_docks_;  // arrangement of the docks that returns when the window is large enough
    std::optional<std::vector<std::string>> hidden_panels_;
    FileWatch watch_;
    LiveImages* live_images_ = nullptr;
    std::set<QString> watched_;
    bool applies_ = false;  // while the docks are updated from the session
};

/// Each adds the actions of one or more menus.
void add_file_actions(MainWindow& window);
void add_annotation_actions(MainWindow& window);
void add_view_actions(MainWindow& window);
void add_image_actions(MainWindow& window);
void add_panel_actions(MainWindow& window);
void add_help_actions(MainWindow& window);
/// Does nothing if the workspace has no review.
void add_review_actions(MainWindow& window);

/// Returns the recently opened files, newest first. They are stored in the settings.
[[nodiscard]] QStringList recent_files();
void add_recent_file(const QString& path);

}  // namespace texton::viewer

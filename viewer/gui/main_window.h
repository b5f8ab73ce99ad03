#pragma once
#include <QDockWidget>
#include <QElapsedTimer>
#include <QLabel>
#include <QMainWindow>
#include <QProgressBar>
#include <QStackedWidget>
#include <QTimer>
#include <map>

#include "viewer/gui/actions.h"
#include "viewer/gui/canvas.h"
#include "viewer/gui/file_watch.h"
#include "viewer/gui/workspace.h"

namespace texton::viewer {

/// The canvas in the middle, panels around it, and a line of numbers below. Shows a workspace, which outlives it.
class MainWindow : public QMainWindow {
    Q_OBJECT

public:
    explicit MainWindow(Workspace& workspace, QWidget* parent = nullptr);
    ~MainWindow() override;

    Workspace& workspace() noexcept { return workspace_; }
    Canvas& canvas() noexcept { return *canvas_; }
    Actions& actions() noexcept { return *actions_; }
    const std::map<QString, QDockWidget*>& docks() const noexcept { return docks_; }

    /// Opens each as a picture of its own; session files (.json) replace the session.
    void open_files(const QStringList& paths);
    void show_panel(const QString& id, bool shown);
    /// Hides all panels, or shows those again that were.
    void toggle_panels();
    bool panels_are_hidden() const noexcept { return hidden_panels_.has_value(); }
    /// Size and docks as they were when the program was closed last.
    void restore();
    /// Why nothing is shown, as it stands in the window; empty if a picture is.
    QString message() const;

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
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
    void keep_panels();
    void watch_files();

    Workspace& workspace_;
    Actions* actions_;
    Canvas* canvas_;
    QLabel* message_;
    QStackedWidget* pages_;
    QLabel* hover_label_;
    QLabel* picture_label_;
    QLabel* zoom_label_;
    QLabel* device_label_;
    QProgressBar* progress_;
    std::map<QString, QDockWidget*> docks_;
    std::optional<std::vector<std::string>> hidden_panels_;
    FileWatch watch_;
    bool applies_ = false;  // while the docks follow the session
};

/// Every action of the window.
void add_file_actions(MainWindow& window);
void add_view_actions(MainWindow& window);
void add_picture_actions(MainWindow& window);
void add_panel_actions(MainWindow& window);
void add_help_actions(MainWindow& window);

/// Files that were opened last, newest first, kept in the settings.
[[nodiscard]] QStringList recent_files();
void add_recent_file(const QString& path);

}  // namespace texton::viewer

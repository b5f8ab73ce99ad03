// Actions of the File and Edit menus.
#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QInputDialog>
#include <QMenu>
#include <QSettings>
#include <algorithm>

#include "viewer/gui/annotation_tool.h"
#include "viewer/gui/main_window.h"
#include "viewer/gui/saved_view.h"
#include "viewer/gui/suite_review.h"
#include "viewer/text/error_text.h"

namespace texton::viewer {
namespace {

constexpr int kRecent = 12;

// Runs an action and shows the message of an exception in the status bar.
void attempt(Workspace& workspace, const std::function<void()>& action) {
    try {
        action();
    } catch (const std::exception& error) {
        workspace.tell(QString::fromStdString(error_text(error)));
    }
}

// Returns the text of an action that reverts or repeats a change: "&Undo: Show image".
QString with_change(const QString& text, const std::string& change) {
    return change.empty() ? text : text + ": " + QString::fromStdString(change).replace("&", "&&");
}

QString folder_of_current(const Workspace& workspace) {
    const Session& session = workspace.session();
    if (session.images.empty()) return {};
    return QString::fromStdString(session.images[session.current].paths.front().parent_path().string());
}

void open(MainWindow& window) {
    window.open_files(QFileDialog::getOpenFileNames(&window, MainWindow::tr("Open images or a session"),
                                                    folder_of_current(window.workspace())));
}

void open_together(MainWindow& window) {
    QStringList paths = QFileDialog::getOpenFileNames(&window, MainWindow::tr("Open files as one image"),
                                                      folder_of_current(window.workspace()));
    if (paths.isEmpty()) return;
    paths.sort();
    const QStringList kinds{"layered_2d", "array_3d", "cubemap", "layered_1d", "array_2d"};
    bool chosen = false;
    const QString kind = QInputDialog::getItem(&window, MainWindow::tr("Open together"),
                                               MainWindow::tr("Kind of array:"), kinds, 0, false, &chosen);
    if (!chosen) return;
    Source source;
    for (const QString& path : paths) source.paths.emplace_back(path.toStdString());
    source.options.kind = array_kind_named(kind.toStdString());
    window.workspace().open({source});
}

void open_numbered(MainWindow& window) {
    const QString path = QFileDialog::getOpenFileName(&window, MainWindow::tr("Open one of the numbered files"),
                                                      folder_of_current(window.workspace()));
    if (!path.isEmpty()) window.open_numbered_files(path);
}

void save_session(MainWindow& window) {
    const QString path = QFileDialog::getSaveFileName(&window, MainWindow::tr("Save the session"),
                                                      "session.texton.json", MainWindow::tr("Sessions (*.json)"));
    if (path.isEmpty()) return;
    attempt(window.workspace(), [&] {
        write_session(path.toStdString(), window.workspace().session());
        window.workspace().tell(MainWindow::tr("Saved %1.").arg(path));
    });
}

void export_view(MainWindow& window) {
    const QString path = QFileDialog::getSaveFileName(&window, MainWindow::tr("Export the view"), "view.png",
                                                      MainWindow::tr("Images (*.png *.jpg *.tif)"));
    if (path.isEmpty()) return;
    attempt(window.workspace(), [&] {
        save_view(path.toStdString(), window.canvas().image());
        window.workspace().tell(MainWindow::tr("Saved %1.").arg(path));
    });
}

void export_page(MainWindow& window) {
    const QString path = QFileDialog::getSaveFileName(&window, MainWindow::tr("Export a web page"), "view.html",
                                                      MainWindow::tr("Web pages (*.html)"));
    if (path.isEmpty()) return;
    attempt(window.workspace(), [&] { window.export_page(path); });
}

void export_data(MainWindow& window) {
    const QString path = QFileDialog::getSaveFileName(&window, MainWindow::tr("Export the texels"), "texels.exr");
    if (path.isEmpty()) return;
    window.workspace().export_texels(path);
}

void open_recent(MainWindow& window) {
    QMenu menu(&window);
    for (const QString& path : recent_files()) {
        QAction* action = menu.addAction(path);
        QObject::connect(action, &QAction::triggered, &window, [&window, path] { window.open_files({path}); });
    }
    if (menu.isEmpty()) menu.addAction(MainWindow::tr("No recent files"))->setEnabled(false);
    menu.exec(window.mapToGlobal(QPoint(24, 24)));
}

}  // namespace

QStringList recent_files() { return QSettings().value("recent").toStringList(); }

void add_recent_file(const QString& path) {
    QStringList recent = recent_files();
    recent.removeAll(path);
    recent.prepend(path);
    QSettings().setValue("recent", QVariant(recent.mid(0, kRecent)));
}

void add_file_actions(MainWindow& window) {
    Actions& actions = window.actions();
    Workspace& workspace = window.workspace();
    const auto tr = [](const char* text) { return MainWindow::tr(text); };
    const QString file = tr("&File");
    const auto has_images = [&workspace] { return !workspace.session().images.empty(); };
    const auto has_shown = [&workspace] { return workspace.shown() != nullptr; };

    actions.add({"open", file, tr("&Open..."), tr("Opens images or a session"), {QKeySequence::Open}, [&window] {
                     open(window);
                 }});
    actions.add({"open-together",
                 file,
                 tr("Open &together..."),
                 tr("Opens files as the layers, slices or faces of one image"),
                 {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_O)},
                 [&window] { open_together(window); }});
    actions.add({"open-numbered",
                 file,
                 tr("Open &numbered files..."),
                 tr("Opens numbered files, such as frame_001.png, as the frames of one image"),
                 {},
                 [&window] { open_numbered(window); }});
    actions.add({"open-recent", file, tr("Open &recent..."), tr("Opens a recently used file"), {}, [&window] {
                     open_recent(window);
                 }});
    actions.add({"reload",
                 file,
                 tr("Re&load"),
                 tr("Reads the file again"),
                 {QKeySequence(Qt::CTRL | Qt::Key_R), Qt::Key_F5},
                 [&workspace] { workspace.reload(workspace.session().current); },
                 {},
                 has_images});
    actions.add(
        {"cancel-loading",
         file,
         tr("C&ancel loading or export"),
         tr("Leaves the tool for annotations, or else cancels loading, reading files for the canvas, exporting and "
            "running a suite"),
         {Qt::Key_Escape},
         [&window] {
             AnnotationTool& tool = window.workspace().annotation_tool();
             if (tool.kind()) return tool.choose(std::nullopt);
             window.canvas().stop_files();
             window.workspace().cancel_files();
             if (SuiteReview* review = window.workspace().review()) review->cancel();
         },
         {},
         [&window] {
             const Workspace& all = window.workspace();
             return all.annotation_tool().kind() || all.is_exporting() || all.is_loading(all.session().current) ||
                    window.canvas().reads_files() || (all.review() != nullptr && all.review()->is_running());
         }});
    actions.add({"close",
                 file,
                 tr("&Close"),
                 tr("Closes the image; the file is kept"),
                 {QKeySequence(Qt::CTRL | Qt::Key_W)},
                 [&workspace] { workspace.close(workspace.session().current); },
                 {},
                 has_images});
    actions.add({"save-session",
                 file,
                 tr("&Save session..."),
                 tr("Saves the open images and all settings to a file"),
                 {QKeySequence::Save},
                 [&window] { save_session(window); }});
    actions.add({"export-view",
                 file,
                 tr("Export &view..."),
                 tr("Saves the canvas as an image"),
                 {QKeySequence(Qt::CTRL | Qt::Key_E)},
                 [&window] { export_view(window); },
                 {},
                 has_shown});
    actions.add({"export-page",
                 file,
                 tr("Export web pa&ge..."),
                 tr("Saves the canvas, the settings and the values at the pins as one file for a browser"),
                 {},
                 [&window] { export_page(window); },
                 {},
                 has_shown});
    actions.add({"export-data",
                 file,
                 tr("Export te&xels..."),
                 tr("Saves all texels, with all levels and layers, to a file"),
                 {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_E)},
                 [&window] { export_data(window); },
                 {},
                 has_shown});
    actions.add({"quit", file, tr("&Quit"), {}, {QKeySequence(Qt::CTRL | Qt::Key_Q)}, [&window] { window.close(); }});

    const QString edit = tr("&Edit");
    actions.add({"undo",
                 edit,
                 tr("&Undo"),
                 tr("Undoes the last change"),
                 {QKeySequence::Undo},
                 [&workspace] {
                     SuiteReview* review = workspace.review();
                     if (review != nullptr && review->undoes_next()) return review->undo();
                     workspace.undo();
                 },
                 {},
                 [&workspace] {
                     const SuiteReview* review = workspace.review();
                     return workspace.history().can_undo() || (review != nullptr && review->undoes_next());
                 },
                 [&workspace, tr] {
                     const SuiteReview* review = workspace.review();
                     const bool is_decision = review != nullptr && review->undoes_next();
                     return with_change(tr("&Undo"), is_decision ? std::string() : workspace.history().undo_text());
                 }});
    actions.add({"redo",
                 edit,
                 tr("&Redo"),
                 tr("Redoes the last undone change"),
                 {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Z), QKeySequence(Qt::CTRL | Qt::Key_Y)},
                 [&workspace] {
                     SuiteReview* review = workspace.review();
                     if (review != nullptr && review->redoes_next()) return review->redo();
                     workspace.redo();
                 },
                 {},
                 [&workspace] {
                     const SuiteReview* review = workspace.review();
                     return workspace.history().can_redo() || (review != nullptr && review->redoes_next());
                 },
                 [&workspace, tr] {
                     const SuiteReview* review = workspace.review();
                     const bool is_decision = review != nullptr && review->redoes_next();
                     return with_change(tr("&Redo"), is_decision ? std::string() : workspace.history().redo_text());
                 }});
    actions.add({"copy-view",
                 edit,
                 tr("&Copy view"),
                 tr("Copies the canvas to the clipboard as an image"),
                 {QKeySequence::Copy},
                 [&window] { QApplication::clipboard()->setImage(window.canvas().image()); },
                 {},
                 has_shown});
    actions.add({"copy-values",
                 edit,
                 tr("Copy &values"),
                 tr("Copies the values of the inspected texel to the clipboard"),
                 {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C)},
                 [&workspace] {
                     const auto seen = workspace.inspected();
                     const auto shown = workspace.shown();
                     if (!seen || !shown || seen->at.x < 0 || seen->at.y < 0) return;
                     attempt(workspace, [&] {
                         QApplication::clipboard()->setText(QString::fromStdString(
                             words_of(*shown, seen->subresource, static_cast<std::size_t>(seen->at.x),
                                      static_cast<std::size_t>(seen->at.y))));
                     });
                 },
                 {},
                 has_shown});
}

}  // namespace texton::viewer

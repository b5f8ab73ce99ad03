#include "viewer/gui/main_window.h"

#include <QDragEnterEvent>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QPointer>
#include <QScrollArea>
#include <QScrollBar>
#include <QSettings>
#include <QStatusBar>
#include <QVBoxLayout>
#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "viewer/gui/annotation_tool.h"
#include "viewer/gui/application.h"
#include "viewer/gui/held_keys.h"
#include "viewer/gui/panel.h"
#include "viewer/gui/saved_page.h"
#include "viewer/gui/suite_review.h"
#include "viewer/model/numbered_paths.h"
#include "viewer/render/color_transform.h"
#include "viewer/render/stored_texels.h"
#include "viewer/text/error_text.h"

namespace texton::viewer {
namespace {

constexpr const char* kHoverTag = "hovered texel";
enum Page { kImagePage, kMessagePage };

Qt::DockWidgetArea area_of(PanelArea area) {
    switch (area) {
        case PanelArea::left:
        case PanelArea::left_below: return Qt::LeftDockWidgetArea;
        case PanelArea::right:
        case PanelArea::right_below: return Qt::RightDockWidgetArea;
        case PanelArea::bottom: return Qt::BottomDockWidgetArea;
    }
    return Qt::RightDockWidgetArea;
}

// Sets the text of a label. The label keeps the width of its longest text so far, so that the status bar does not jump
// while the mouse moves.
void set_steady(QLabel* label, const QString& text) {
    label->setText(text);
    if (label->sizeHint().width() > label->minimumWidth()) label->setMinimumWidth(label->sizeHint().width());
}

// Scroll area of a panel, which is made when it is shown for the first time: most panels never are. The minimum width
// is that of the panel, up to a limit, so that usual panels only scroll vertically.
class PanelScroll : public QScrollArea {
public:
    explicit PanelScroll(std::function<QWidget*()> make) : make_(std::move(make)) {
        setWidgetResizable(true);
        setFrameShape(QFrame::NoFrame);
        setFocusPolicy(Qt::NoFocus);
    }
    void make_panel() {
        if (widget() != nullptr) return;
        setWidget(make_());
        updateGeometry();
    }
    // The preferred size of the panel, up to that of a usual scroll area. A panel that is not made yet has the usual
    // height, and any width.
    QSize sizeHint() const override {
        const int line = fontMetrics().height();
        const QSize usual(36 * line, 24 * line);
        return widget() != nullptr ? widget()->sizeHint().boundedTo(usual) : QSize(1, usual.height());
    }
    QSize minimumSizeHint() const override {
        constexpr int kMaxWidth = 384;  // so that docks on both sides leave room for the canvas
        const QSize hint = QScrollArea::minimumSizeHint();
        if (widget() == nullptr) return hint;
        const int width = widget()->minimumSizeHint().width() + verticalScrollBar()->sizeHint().width();
        return {std::max(hint.width(), std::min(width, kMaxWidth)), hint.height()};
    }

protected:
    void showEvent(QShowEvent* event) override {
        make_panel();
        QScrollArea::showEvent(event);
    }
    // The minimum width follows that of the panel, whose contents change.
    bool eventFilter(QObject* object, QEvent* event) override {
        const bool filtered = QScrollArea::eventFilter(object, event);
        if (object == widget() && event->type() == QEvent::LayoutRequest) updateGeometry();
        return filtered;
    }

private:
    std::function<QWidget*()> make_;
};

PanelScroll& scroll_of(const QDockWidget* dock) { return *static_cast<PanelScroll*>(dock->widget()); }

// Shows the first of the panels in each group of tabs.
void raise_in_order(const std::map<QString, QDockWidget*>& docks, const std::vector<std::string>& panels) {
    for (auto id = panels.rbegin(); id != panels.rend(); ++id) {
        if (const auto dock = docks.find(QString::fromStdString(*id)); dock != docks.end()) dock->second->raise();
    }
}

QString zoom_text(double zoom) {
    const double percent = zoom * 100;
    return QString::fromStdString(percent < 10 ? fmt::format("{:.1f} %", percent) : fmt::format("{:.0f} %", percent));
}

// Returns "481 x 321  rgba8_unorm", followed by kind, layers and levels unless they are trivial, and by the size of the
// loaded array if the device holds a smaller one.
QString words_of(const Document& document) {
    const ArrayInfo& row = document.whole();
    std::string out;
    if (document.is_planar()) {
        out = fmt::format("{}   {}", to_string(row.extent), name(document.file().info().format));
    } else {
        out = fmt::format("{}   {}", to_string(row.extent), name(row.format));
        if (row.kind != ArrayKind::array_2d) out += fmt::format("   {}", name(row.kind));
        if (is_layered(row.kind)) out += fmt::format("   {} layers", row.layers);
        if (row.levels > 1) out += fmt::format("   {} levels", row.levels);
    }
    if (document.streamed() != nullptr) {
        out += "   streamed";
    } else if (document.halvings() > 0)
        out += fmt::format("   shown from {}", to_string(document.info().extent));
    return QString::fromStdString(out);
}

}  // namespace

MainWindow::MainWindow(Workspace& workspace, QWidget* parent)
    : QMainWindow(parent),
      workspace_(workspace),
      actions_(new Actions(this)),
      canvas_(new Canvas(workspace)),
      reference_canvas_(new Canvas(workspace, CanvasSide::reference)),
      canvases_(new QWidget),
      notice_(new CalmText(tr("Notice"))),
      message_(new QLabel),
      open_(new QPushButton(tr("&Open..."))),
      pages_(new QStackedWidget),
      hover_label_(new QLabel),
      image_label_(new QLabel),
      zoom_label_(new QLabel),
      device_label_(new QLabel),
      progress_(new QProgressBar) {
    for (QLabel* label : {hover_label_, image_label_}) label->setTextFormat(Qt::PlainText);  // may contain file names
    message_->setObjectName("message");
    message_->setAccessibleName(tr("Message"));
    message_->setAlignment(Qt::AlignCenter);
    message_->setWordWrap(true);
    message_->setMargin(16);
    message_->setTextFormat(Qt::RichText);
    message_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    auto* sides = new QHBoxLayout(canvases_);
    sides->setContentsMargins(0, 0, 0, 0);
    sides->setSpacing(2);
    sides->addWidget(canvas_, 1);
    sides->insertWidget(0, reference_canvas_, 1);
    reference_canvas_->hide();
    notice_->setObjectName("notice");
    auto* image_page = new QWidget;
    auto* image_column = new QVBoxLayout(image_page);
    image_column->setContentsMargins(0, 0, 0, 0);
    image_column->setSpacing(0);
    image_column->addWidget(notice_);
    image_column->addWidget(canvases_, 1);
    auto* message_page = new QWidget;
    auto* message_column = new QVBoxLayout(message_page);
    message_column->setContentsMargins(32, 16, 32, 16);
    message_column->addStretch();
    message_column->addWidget(message_);
    message_column->addWidget(open_, 0, Qt::AlignHCenter);
    message_column->addStretch();
    open_->setObjectName("open-files");
    connect(open_, &QPushButton::clicked, this, [this] { actions_->find("open")->trigger(); });
    pages_->addWidget(image_page);
    pages_->addWidget(message_page);
    setCentralWidget(pages_);
    setAcceptDrops(true);
    setMinimumSize(640, 400);
    setDockOptions(AnimatedDocks | AllowNestedDocks | AllowTabbedDocks);
    setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
    setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
    setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);

    make_status();
    make_docks();
    make_menus();
    new HeldKeys(workspace_, this);
    connect(&workspace_, &Workspace::changed, this, &MainWindow::apply_session);
    connect(&workspace_, &Workspace::documents_changed, this, &MainWindow::show_documents);
    connect(&workspace_, &Workspace::hover_changed, this, &MainWindow::show_hover);
    connect(&workspace_, &Workspace::texels_arrived, this, &MainWindow::show_hover);
    connect(&workspace_, &Workspace::progressed, this, &MainWindow::show_progress);
    connect(&workspace_.annotation_tool(), &AnnotationTool::changed, actions_, &Actions::refresh);
    connect(actions_, &Actions::failed, &workspace_, &Workspace::tell);
    if (auto* application = qobject_cast<Application*>(qApp))
        connect(application, &Application::failed, &workspace_, &Workspace::tell);
    connect(&workspace_, &Workspace::told, this, [this](const QString& text) { statusBar()->showMessage(text, 8000); });
    connect(&watch_, &FileWatch::file_changed, this, [this](const QString& path) {
        for (std::size_t i = 0; i < workspace_.session().images.size(); ++i) {
            const std::vector<std::filesystem::path> files = files_of_image(i);
            if (std::ranges::find(files, std::filesystem::path(path.toStdString())) != files.end())
                workspace_.reload(i);
        }
    });
    show_panels();
    watch_files();
    apply_session(workspace_.session());
}

void MainWindow::listen(const LiveServer::Options& options) {
    live_images_ = new LiveImages(workspace_, options, this);
    connect(canvas_, &Canvas::painted_frame, live_images_, &LiveImages::frame_painted, Qt::QueuedConnection);
    live_images_->wait_while(
        [this] { return canvas_->isVisible() && !canvas_->is_complete() && !canvas_->has_pixels(); });
    for (const std::string& problem : live_images_->server().problems())
        workspace_.tell(QString::fromStdString(problem));
}

// Destroying the docks hides them and emits visibilityChanged() after the members of this class are destroyed.
MainWindow::~MainWindow() {
    for (const auto& [id, dock] : docks_) dock->disconnect(this);
}

void MainWindow::make_status() {
    hover_label_->setObjectName("values");
    hover_label_->setAccessibleName(tr("Texel under the mouse"));
    image_label_->setAccessibleName(tr("Size and format"));
    image_label_->setObjectName("image");
    zoom_label_->setAccessibleName(tr("Zoom"));
    zoom_label_->setObjectName("zoom");
    device_label_->setAccessibleName(tr("Device"));
    device_label_->setObjectName("device");
    progress_->setAccessibleName(tr("Progress"));
    progress_->setRange(0, 100);
    progress_->setMaximumWidth(220);
    progress_->hide();
    statusBar()->setSizeGripEnabled(false);
    statusBar()->addWidget(hover_label_, 1);
    for (QWidget* widget : {static_cast<QWidget*>(progress_), static_cast<QWidget*>(image_label_),
                            static_cast<QWidget*>(zoom_label_), static_cast<QWidget*>(device_label_)})
        statusBar()->addPermanentWidget(widget);
    progress_->hide();  // addPermanentWidget() shows the widget
}

void MainWindow::make_docks() {
    std::map<PanelArea, QDockWidget*> last;
    for (const PanelInfo& panel : panels()) {
        auto* dock = new QDockWidget(panel.title, this);
        dock->setObjectName(panel.id);
        dock->setToolTip(panel.tip);
        dock->setWidget(new PanelScroll([this, make = panel.make] { return make(workspace_); }));
        addDockWidget(area_of(panel.area), dock);
        if (last[panel.area] != nullptr) tabifyDockWidget(last[panel.area], dock);
        last[panel.area] = dock;
        dock->hide();
        docks_[panel.id] = dock;
        connect(dock, &QDockWidget::visibilityChanged, this, &MainWindow::keep_panels);
    }
}

void MainWindow::make_menus() {
    add_file_actions(*this);
    add_annotation_actions(*this);
    add_view_actions(*this);
    add_image_actions(*this);
    add_review_actions(*this);
    add_panel_actions(*this);
    add_help_actions(*this);
    std::map<QString, QMenu*> menus;
    for (const ActionInfo& info : actions_->all()) {
        if (info.menu.isEmpty()) continue;
        QMenu*& menu = menus[info.menu];
        if (menu == nullptr) {
            menu = menuBar()->addMenu(info.menu);
            menu->setToolTipsVisible(true);
            connect(menu, &QMenu::aboutToShow, actions_, &Actions::refresh);
        }
        menu->addAction(actions_->find(info.id));
    }
}

// --- session ---------------------------------------------------------------------------------------------------------

// Shows the panels of the session and hides the others. In each tab group, the first newly shown panel is in front.
void MainWindow::show_panels() {
    const std::vector<std::string> open = workspace_.session().panels;  // a copy: showing panels can change the session
    const bool applied = std::exchange(applies_, true);
    for (auto id = open.rbegin(); id != open.rend(); ++id) {
        const auto found = docks_.find(QString::fromStdString(*id));
        if (found == docks_.end() || !found->second->isHidden()) continue;
        scroll_of(found->second).make_panel();
        found->second->show();
        found->second->raise();
    }
    for (const auto& [id, dock] : docks_)
        if (std::ranges::find(open, id.toStdString()) == open.end()) dock->hide();
    applies_ = applied;
}

// Whether the open docks leave too little room for the canvas.
bool MainWindow::needs_one_column() const {
    constexpr int kMinCanvas = 280, kMinHeight = 480;
    if (height() < kMinHeight) return true;
    int left = 0, right = 0;
    for (const PanelInfo& panel : panels()) {
        const QDockWidget* dock = docks_.at(panel.id);
        if (dock->isHidden() || panel.area == PanelArea::bottom) continue;
        int& side = area_of(panel.area) == Qt::LeftDockWidgetArea ? left : right;
        side = std::max(side, dock->widget()->minimumSizeHint().width());
    }
    return left != 0 && right != 0 && left + right + kMinCanvas > width();
}

// Arranges the docks in the next turn of the event loop. While Qt lays out the docks it emits visibilityChanged() and
// sends resize events, and it continues afterwards with the items that a new arrangement would delete.
void MainWindow::arrange_docks_later() {
    QMetaObject::invokeMethod(this, &MainWindow::arrange_docks, Qt::QueuedConnection);
}

// In a small window, all docks are tabs of one column. A larger window restores the arrangement before.
void MainWindow::arrange_docks() {
    const bool one_column = needs_one_column();
    if (one_column == wide_docks_.has_value()) return;
    const bool applied = std::exchange(applies_, true);
    if (one_column) {
        wide_docks_ = saveState();
        QDockWidget* first = nullptr;
        for (const PanelInfo& panel : panels()) {
            QDockWidget* dock = docks_.at(panel.id);
            if (dock->isFloating()) continue;
            dock->setTitleBarWidget(new QWidget);  // the tab has the title
            addDockWidget(Qt::RightDockWidgetArea, dock);
            if (first != nullptr) tabifyDockWidget(first, dock);
            first = dock;
        }
        const std::vector<std::string> open = workspace_.session().panels;
        if (!open.empty()) {
            const auto front = docks_.find(QString::fromStdString(open.front()));
            if (front != docks_.end()) front->second->raise();
        }
    } else {
        for (const auto& [id, dock] : docks_) {
            delete dock->titleBarWidget();
            dock->setTitleBarWidget(nullptr);
        }
        restoreState(*std::exchange(wide_docks_, std::nullopt));
        widen_docks();
    }
    applies_ = applied;
    if (!one_column) show_panels();
}

// Gives the docks beside the canvas at least their preferred widths, which a small window could not, and shows the first
// panel of the session in each group of tabs.
void MainWindow::widen_docks() {
    raise_in_order(docks_, workspace_.session().panels);
    QList<QDockWidget*> narrow;
    QList<int> widths;
    for (const auto& [id, dock] : docks_) {
        const bool beside =
            dockWidgetArea(dock) == Qt::LeftDockWidgetArea || dockWidgetArea(dock) == Qt::RightDockWidgetArea;
        if (dock->isHidden() || dock->isFloating() || !beside || dock->width() >= dock->sizeHint().width()) continue;
        narrow.append(dock);
        widths.append(dock->sizeHint().width());
    }
    resizeDocks(narrow, widths, Qt::Horizontal);
}

// The list of images takes the height that the panel below it does not need, unless the arrangement was restored.
void MainWindow::share_height() {
    QDockWidget* files = docks_.at("files");
    QDockWidget* below = docks_.at("subresource");
    const auto has_tabs =
        std::ranges::any_of(tabifiedDockWidgets(below), [](const QDockWidget* dock) { return !dock->isHidden(); });
    if (files->isHidden() || below->isHidden() || wide_docks_ || has_tabs) return;
    const int needed = below->widget()->minimumSizeHint().height() + 3 * fontMetrics().height();
    resizeDocks({files, below}, {files->height() + below->height() - needed, needed}, Qt::Vertical);
}

void MainWindow::showEvent(QShowEvent* event) {
    QMainWindow::showEvent(event);
    if (!std::exchange(shares_height_, false)) return;
    raise_in_order(docks_, workspace_.session().panels);
    QMetaObject::invokeMethod(this, &MainWindow::share_height, Qt::QueuedConnection);
}

void MainWindow::resizeEvent(QResizeEvent* event) {
    QMainWindow::resizeEvent(event);
    if (isVisible()) {
        arrange_docks_later();
    } else {
        arrange_docks();  // before the window appears
    }
}

// Panels whose minimum width grew may need another arrangement.
bool MainWindow::event(QEvent* event) {
    if (event->type() == QEvent::LayoutRequest) arrange_docks_later();
    return QMainWindow::event(event);
}

// Shows the canvas of the reference beside that of the current image, or hides it.
void MainWindow::show_sides() {
    const bool both = workspace_.is_side_by_side() && workspace_.session().reference.has_value();
    reference_canvas_->setVisible(both);
    for (Canvas* canvas : {canvas_, reference_canvas_}) canvas->show_title(both);
}

void MainWindow::apply_session(const Session& before) {
    const Session& now = workspace_.session();
    if (now.panels != before.panels) {
        show_panels();
        arrange_docks_later();
    }
    device_label_->setText(QString::fromStdString(workspace_.device().name()));
    set_steady(zoom_label_, zoom_text(now.view.zoom));
    show_sides();
    actions_->refresh();
    show_documents();
}

// Stores the open panels in the session. A dock closed by its button is removed; a dock behind another tab is kept.
void MainWindow::keep_panels() {
    if (applies_) return;
    std::vector<std::string> open;
    for (const PanelInfo& panel : panels())
        if (!docks_.at(panel.id)->isHidden()) open.push_back(panel.id.toStdString());
    workspace_.look([&](Session& session) {
        if (std::ranges::is_permutation(session.panels, open)) return;
        session.panels = open;
    });
    arrange_docks_later();
}

void MainWindow::show_panel(const QString& id, bool shown) {
    const auto found = docks_.find(id);
    if (found == docks_.end()) return;
    if (shown) scroll_of(found->second).make_panel();
    found->second->setVisible(shown);
    if (shown) {
        found->second->raise();
        scroll_of(found->second).widget()->setFocus();
    }
    keep_panels();
}

void MainWindow::toggle_panels() {
    if (!hidden_panels_) {
        hidden_panels_ = workspace_.session().panels;
        workspace_.look([](Session& session) { session.panels.clear(); });
    } else {
        workspace_.look([&](Session& session) { session.panels = *hidden_panels_; });
        hidden_panels_.reset();
    }
}

// Of numbered files, the one that is loaded.
std::vector<std::filesystem::path> MainWindow::files_of_image(std::size_t index) const {
    if (Workspace::is_made(workspace_.session().images[index])) return {};
    const auto document = workspace_.document(index);
    return document ? document->read_source().paths : workspace_.session().images[index].paths;
}

void MainWindow::watch_files() {
    std::set<QString> paths;
    for (std::size_t i = 0; i < workspace_.session().images.size(); ++i)
        for (const auto& path : files_of_image(i)) paths.insert(QString::fromStdString(path.string()));
    if (paths == watched_) return;
    watched_ = paths;
    watch_.watch(paths);
}

// --- contents --------------------------------------------------------------------------------------------------------

QString MainWindow::message() const { return pages_->currentIndex() == kMessagePage ? message_->text() : QString(); }

void MainWindow::show_message(const QString& headline, const QString& details) {
    message_->setText(QString("<p style='font-size:18pt'>%1</p><p>%2</p>")
                          .arg(headline.toHtmlEscaped(), details.toHtmlEscaped().replace('\n', "<br>")));
    pages_->setCurrentIndex(kMessagePage);
}

void MainWindow::show_documents() {
    const Session& session = workspace_.session();
    const auto shown = workspace_.shown();
    const QString title = workspace_.title(session.current);
    watch_files();
    setWindowTitle(title.isEmpty() ? tr("Texton") : tr("%1 - Texton").arg(title));
    image_label_->setText(shown ? words_of(*shown) : QString());
    zoom_label_->setVisible(shown != nullptr);
    image_label_->setToolTip(shown ? QString::fromStdString(halving_text(*shown)) : QString());
    open_->setVisible(session.images.empty() && workspace_.notice().headline.isEmpty());
    const QString kernel = QString::fromStdString(session.kernel.name);
    const QString color =
        QString::fromStdString(color_problem(session.display.color, shown ? file_colors(*shown) : FileColors{}));
    QStringList notices;
    if (!kernel.isEmpty() && !workspace_.kernel_problem().isEmpty())
        notices.append(tr("The image is shown without the kernel %1, which cannot run on it. %2")
                           .arg(kernel, workspace_.kernel_problem()));
    if (!color.isEmpty()) notices.append(tr("The image is shown without color management: %1").arg(color));
    notice_->say(shown ? notices.join('\n') : QString());
    if (shown) {
        pages_->setCurrentIndex(kImagePage);
    } else if (session.images.empty() && !workspace_.notice().headline.isEmpty()) {
        show_message(workspace_.notice().headline, workspace_.notice().details);
    } else if (session.images.empty()) {
        show_message(tr("No image is open"), tr("Drop files here, or open them."));
    } else if (const QString problem = workspace_.problem(session.current); !problem.isEmpty()) {
        show_message(tr("%1 cannot be shown").arg(title), problem);
    } else {
        const QString keys = actions_->find("cancel-loading")->shortcut().toString(QKeySequence::NativeText);
        show_message(tr("Loading %1").arg(title), keys.isEmpty() ? QString() : tr("Press %1 to cancel.").arg(keys));
    }
    show_hover();
    actions_->refresh();
}

void MainWindow::show_hover() {
    const auto seen = workspace_.hovered();
    const auto shown = workspace_.shown();
    if (!shown || !seen) {
        hover_label_->setText(workspace_.title(workspace_.session().current));
        return;
    }
    read_hovered();
    try {
        const auto x = static_cast<std::size_t>(seen->at.x);
        const auto y = static_cast<std::size_t>(seen->at.y);
        hover_label_->setText(QString::fromStdString(
            fmt::format("({}, {})   {}", x, y, viewer::words_of(*shown, seen->subresource, x, y))));
    } catch (const std::exception& error) {
        hover_label_->setText(QString::fromStdString(error_text(error)));
    }
}

// Starts reading the hovered texel from its file if the loaded array is smaller than the image. Then updates the status
// bar. Texels of streamed images are read where they are seen only.
void MainWindow::read_hovered() {
    const SeenTexel seen = *workspace_.hovered();
    const auto shown = workspace_.shown();
    const TexelBox texel{static_cast<std::size_t>(seen.at.x), static_cast<std::size_t>(seen.at.y), 1, 1};
    Color value{};
    if (!shown->is_finer_in_files(seen.subresource) || shown->streamed() != nullptr ||
        StoredTexels(shown, seen.subresource).read_at_hand(texel, {&value, 1}))
        return workspace_.jobs().drop(kHoverTag);
    const QPointer<MainWindow> self(this);
    workspace_.jobs().start(kHoverTag, [self, shown, seen, texel](const CancellationToken& token) -> Jobs::Finish {
        Color read{};
        StoredTexels(shown, seen.subresource, token).read(texel, {&read, 1});
        return [self, seen] {
            if (self && self->workspace_.hovered() == seen) self->show_hover();
        };
    });
}

void MainWindow::show_progress(double share, const QString& what) {
    const bool shows = share >= 0 && share < 1;
    if (shows == progress_->isHidden()) {
        progress_->setVisible(shows);
        actions_->refresh();  // the cancel action
    }
    progress_->setValue(static_cast<int>(share * 100));
    progress_->setFormat(what + " %p%");
}

// --- files -----------------------------------------------------------------------------------------------------------

void MainWindow::open_files(const QStringList& paths) {
    std::vector<Source> sources;
    for (const QString& path : paths) {
        if (path.endsWith(".json", Qt::CaseInsensitive)) {
            try {
                std::vector<std::string> unknown;
                workspace_.replace(tr("Open session"), read_session(path.toStdString(), &unknown));
                if (!unknown.empty())
                    workspace_.tell(QString::fromStdString(unknown_keys_text(path.toStdString(), unknown)));
            } catch (const std::exception& error) {
                workspace_.tell(QString::fromStdString(error_text(error)));
            }
            continue;
        }
        add_recent_file(path);
        sources.push_back({.paths = {path.toStdString()}});
    }
    workspace_.open(sources);
}

void MainWindow::open_numbered_files(const QString& path) {
    const auto name = numbered_name_of(path.toStdString());
    if (!name) return workspace_.tell(tr("%1 has no number.").arg(QFileInfo(path).fileName()));
    open_files({QString::fromStdString(name->string())});
}

void MainWindow::export_page(const QString& path) {
    const Scene scene = canvas_->scene();
    const QString title = workspace_.title(workspace_.session().current);
    save_page(path.toStdString(), canvas_->grab().toImage(), title.toStdString(), scene);
    workspace_.tell(tr("Saved %1.").arg(path));
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    QStringList paths;
    for (const QUrl& url : event->mimeData()->urls())
        if (url.isLocalFile()) paths.append(url.toLocalFile());
    if (paths.isEmpty()) {
        workspace_.tell(tr("The dropped items are not local files."));
        return;
    }
    event->acceptProposedAction();
    open_files(paths);
}

void MainWindow::restore() {
    const QSettings settings;
    restoreGeometry(settings.value("window/geometry").toByteArray());
    applies_ = true;  // the session decides which panels are open
    if (restoreState(settings.value("window/docks").toByteArray())) shares_height_ = false;
    applies_ = false;
    show_panels();
    arrange_docks();
}

// Asks before decisions of a review are lost.
bool MainWindow::may_close() {
    const SuiteReview* review = workspace_.review();
    if (review == nullptr || !review->has_changes()) return true;
    return QMessageBox::question(this, tr("Close"), tr("Decisions of the review were not applied. Discard them?"),
                                 QMessageBox::Discard | QMessageBox::Cancel,
                                 QMessageBox::Cancel) == QMessageBox::Discard;
}

void MainWindow::closeEvent(QCloseEvent* event) {
    if (!may_close()) return event->ignore();
    QSettings settings;
    settings.setValue("window/geometry", saveGeometry());
    settings.setValue("window/docks", wide_docks_.value_or(saveState()));
    QMainWindow::closeEvent(event);
}

}  // namespace texton::viewer

#include "viewer/gui/main_window.h"

#include <fmt/format.h>

#include <QAction>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenuBar>
#include <QMimeData>
#include <QStatusBar>

#include <texton/error.h>

namespace texton::viewer {
namespace {

// Sets a label's text in the width of its longest so far, so that the bar does not jump as the mouse moves.
void set_steady(QLabel* label, const QString& text) {
    label->setText(text);
    if (label->sizeHint().width() > label->minimumWidth()) label->setMinimumWidth(label->sizeHint().width());
}

QString zoom_text(double zoom) {
    const double percent = zoom * 100;
    return QString::fromStdString(percent < 10 ? fmt::format("{:.1f} %", percent) : fmt::format("{:.0f} %", percent));
}

}  // namespace

MainWindow::MainWindow(const Device& device, QStringList files)
    : device_(device),
      files_(std::move(files)),
      canvas_(new Canvas),
      message_(new QLabel),
      pages_(new QStackedWidget),
      hover_label_(new QLabel),
      picture_label_(new QLabel),
      zoom_label_(new QLabel),
      device_label_(new QLabel(QString::fromStdString(device.name()))) {
    message_->setAlignment(Qt::AlignCenter);
    message_->setWordWrap(true);
    message_->setMargin(48);
    message_->setTextFormat(Qt::RichText);
    message_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    pages_->addWidget(canvas_);
    pages_->addWidget(message_);
    setCentralWidget(pages_);
    setAcceptDrops(true);
    setWindowTitle(tr("Texton"));
    setMinimumSize(640, 400);

    hover_label_->setObjectName("values");
    hover_label_->setAccessibleName(tr("Texel under the mouse"));
    picture_label_->setAccessibleName(tr("Size and format"));
    zoom_label_->setAccessibleName(tr("Zoom"));
    device_label_->setAccessibleName(tr("Device"));
    device_label_->setObjectName("device");
    statusBar()->setSizeGripEnabled(false);
    statusBar()->addWidget(hover_label_, 1);
    for (QLabel* label : {picture_label_, zoom_label_, device_label_}) statusBar()->addPermanentWidget(label);

    connect(canvas_, &Canvas::hovered, this, &MainWindow::show_hover);
    connect(canvas_, &Canvas::view_changed, this, &MainWindow::show_status);
    connect(
        canvas_, &Canvas::failed, this,
        [this](const QString& why) { show_message(tr("The device could not sample the picture"), why); },
        Qt::QueuedConnection);
    make_actions();
    show_message(tr("No picture"), tr("Drop a file here, or choose File, Open."));
}

void MainWindow::make_actions() {
    const auto add = [this](QMenu* menu, const QString& text, const QList<QKeySequence>& keys, auto&& action) {
        QAction* made = menu->addAction(text);
        made->setShortcuts(keys);
        connect(made, &QAction::triggered, this, std::forward<decltype(action)>(action));
    };
    QMenu* file = menuBar()->addMenu(tr("&File"));
    add(file, tr("&Open..."), {QKeySequence::Open}, [this] { choose_file(); });
    add(file, tr("&Previous"), {Qt::Key_PageUp, Qt::Key_Up}, [this] { step(-1); });
    add(file, tr("&Next"), {Qt::Key_PageDown, Qt::Key_Down}, [this] { step(1); });
    file->addSeparator();
    add(file, tr("&Quit"), {QKeySequence(Qt::CTRL | Qt::Key_Q)}, [this] { close(); });
    QMenu* view = menuBar()->addMenu(tr("&View"));
    add(view, tr("&Fit to window"), {Qt::Key_F}, [this] { canvas_->fit(); });
    add(view, tr("&One pixel a texel"), {QKeySequence(Qt::CTRL | Qt::Key_0)}, [this] { canvas_->actual_size(); });
    add(view, tr("Zoom &in"), {Qt::Key_Plus, Qt::Key_Equal, QKeySequence::ZoomIn}, [this] { canvas_->zoom_by(2); });
    add(view, tr("Zoom o&ut"), {Qt::Key_Minus, QKeySequence::ZoomOut}, [this] { canvas_->zoom_by(0.5); });
}

bool MainWindow::open(const QString& path) {
    const QString name = QFileInfo(path).fileName();
    setWindowTitle(tr("%1 - Texton").arg(name));
    try {
        document_ = std::make_shared<const Document>(path.toStdString(), device_);
        problem_.clear();
    } catch (const Error& error) {
        problem_ = QString::fromStdString(error.problem() + ". " + error.remedy());
    } catch (const std::exception& error) {
        problem_ = path + ": " + QString::fromUtf8(error.what());
    }
    if (!problem_.isEmpty()) {
        show_message(tr("%1 cannot be shown").arg(name.toHtmlEscaped()), problem_);
        return false;
    }
    pages_->setCurrentWidget(canvas_);
    canvas_->setFocus();
    canvas_->show_document(document_);
    show_hover({-1, -1});
    show_status();
    return true;
}

QStringList MainWindow::open_all() {
    QStringList problems;
    for (current_ = files_.size() - 1; current_ >= 0; --current_) {
        if (!open(files_[current_])) problems.prepend(problem_);
    }
    current_ = 0;
    return problems;
}

void MainWindow::show_message(const QString& headline, const QString& details) {
    document_.reset();
    canvas_->show_document(nullptr);
    message_->setText(QString("<p style='font-size:18pt; color:#d8dade'>%1</p><p style='color:#9a9da5'>%2</p>")
                          .arg(headline, details.toHtmlEscaped()));
    pages_->setCurrentWidget(message_);
    show_hover({-1, -1});
    show_status();
}

void MainWindow::show_status() {
    if (!document_) {
        picture_label_->clear();
        zoom_label_->clear();
        return;
    }
    const int channels = document_->file_channels();
    const bool widened = channels != info(document_->format()).channels;
    picture_label_->setText(
        QString::fromStdString(fmt::format("{}   {}{}", to_string(document_->extent()), name(document_->format()),
                                           widened ? fmt::format(" from {} channels", channels) : "")));
    set_steady(zoom_label_, zoom_text(canvas_->view().zoom));
}

void MainWindow::show_hover(QPoint texel) {
    if (!document_) {
        hover_label_->clear();
    } else if (texel.x() < 0) {
        hover_label_->setText(QFileInfo(QString::fromStdString(document_->path().string())).fileName());
    } else {
        const auto x = static_cast<std::size_t>(texel.x());
        const auto y = static_cast<std::size_t>(texel.y());
        hover_label_->setText(QString::fromStdString(fmt::format("({}, {})   {}", x, y, document_->describe(x, y))));
    }
}

void MainWindow::choose_file() {
    const QString path = QFileDialog::getOpenFileName(this, tr("Open a picture"), files_.value(current_));
    if (path.isEmpty()) return;
    files_.append(path);
    current_ = files_.size() - 1;
    open(path);
}

void MainWindow::step(int by) {
    if (files_.isEmpty()) return;
    current_ = (current_ + by + files_.size()) % files_.size();
    open(files_[current_]);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    QStringList paths;
    for (const QUrl& url : event->mimeData()->urls()) {
        if (url.isLocalFile()) paths.append(url.toLocalFile());
    }
    if (paths.isEmpty()) {
        show_message(tr("Nothing to open"), tr("What was dropped is no file of this computer."));
        return;
    }
    current_ = files_.size();
    files_.append(paths);
    open(paths.first());
}

}  // namespace texton::viewer

#include "viewer/gui/panels/files.h"

#include <QPainter>
#include <QPointer>
#include <QShortcut>
#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>

#include "viewer/gui/command_palette.h"
#include "viewer/model/frames.h"
#include "viewer/render/image_list.h"

namespace texton::viewer {
namespace {

constexpr const char* kTag = "thumbnail ";
constexpr int kSide = 64;
constexpr int kSmallSide = 24;  // if there are many images
constexpr int kFew = 8;
constexpr std::size_t kMaxBytes = std::size_t{64} << 20;  // limit for files that are decoded only for a thumbnail

QIcon icon_of(const Thumbnail& thumbnail, double ratio) {
    const int side = static_cast<int>(std::lround(kSide * ratio));
    QPixmap square(side, side);
    square.fill(Qt::transparent);
    if (!thumbnail.pixels.empty()) {
        const QImage image(reinterpret_cast<const uchar*>(thumbnail.pixels.data()), thumbnail.width, thumbnail.height,
                           thumbnail.width * 4, QImage::Format_RGB32);
        QPainter(&square).drawImage((side - thumbnail.width) / 2, (side - thumbnail.height) / 2, image);
    }
    square.setDevicePixelRatio(ratio);
    QIcon icon(square);
    icon.addPixmap(square, QIcon::Selected);  // so that a selection does not tint the thumbnail
    return icon;
}

// Returns a crossed out square, which stands for an image that cannot be shown.
QIcon broken_icon(const QPalette& palette, double ratio) {
    QPixmap square(QSize(kSide, kSide) * ratio);
    square.setDevicePixelRatio(ratio);
    square.fill(Qt::transparent);
    QPainter painter(&square);
    painter.setPen(QPen(palette.color(QPalette::PlaceholderText), 2));
    const QRect box(8, 8, kSide - 16, kSide - 16);
    painter.drawRect(box);
    painter.drawLine(box.topLeft(), box.bottomRight());
    painter.drawLine(box.topRight(), box.bottomLeft());
    return QIcon(square);
}

}  // namespace

FilesPanel::FilesPanel(Workspace& workspace)
    : LivePanel(workspace),
      filter_(new QLineEdit),
      list_(new QListWidget),
      problem_(new CalmText(tr("Note on the image"))) {
    list_->setAccessibleName(tr("Images"));
    list_->setToolTip(tr("Shift+Return: use as reference. Ctrl+Up, Ctrl+Down: move. Delete: close."));
    list_->setIconSize({kSide, kSide});
    no_icon_ = icon_of({}, devicePixelRatioF());
    broken_icon_ = broken_icon(palette(), devicePixelRatioF());
    list_->setDragDropMode(QAbstractItemView::InternalMove);
    list_->setWordWrap(true);
    list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    list_->setResizeMode(QListView::Adjust);
    list_->setMinimumHeight(kSide + 8);  // one image, which leaves room for the note

    filter_->setAccessibleName(tr("Filter"));
    filter_->setPlaceholderText(tr("Filter by name"));
    filter_->setToolTip(tr("Lists the images whose names contain all of these words"));
    filter_->setClearButtonEnabled(true);
    connect(filter_, &QLineEdit::textChanged, this, &FilesPanel::filter);

    auto* column = new QVBoxLayout;
    column->addWidget(filter_);
    column->addWidget(list_, 1);
    column->addWidget(problem_);
    column->addWidget(make_progress());
    column->addWidget(make_buttons());
    lay_out(column);

    connect(list_, &QListWidget::currentRowChanged, this, [this](int row) {
        if (refreshing_ || row < 0) return;
        this->workspace().change(
            tr("Show image"), [row](Session& session) { session.current = static_cast<std::size_t>(row); },
            "current image");
    });
    // End of a drag: the list has already moved the row.
    connect(list_->model(), &QAbstractItemModel::rowsMoved, this,
            [this](const QModelIndex&, int from, int, const QModelIndex&, int before) {
                const int to = before > from ? before - 1 : before;
                this->workspace().change(tr("Move image"), [=](Session& session) {
                    move_image(session, static_cast<std::size_t>(from), static_cast<std::size_t>(to));
                });
            });
    add_key(Qt::CTRL | Qt::Key_Up, [this] { move(-1); });
    add_key(Qt::CTRL | Qt::Key_Down, [this] { move(1); });
    add_key(Qt::SHIFT | Qt::Key_Return, [this] { toggle_reference(); });
    add_key(Qt::Key_Delete, [this] { close_->click(); });
    connect(&workspace, &Workspace::progressed, this, &FilesPanel::show_progress);
}

QWidget* FilesPanel::make_buttons() {
    auto* row = new QWidget;
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    const auto button = [&](const QString& text, const QString& tip, const std::function<void()>& run) {
        auto* made = new QPushButton(text);
        made->setAccessibleName(tip);
        made->setToolTip(tip);
        made->setMinimumWidth(made->fontMetrics().horizontalAdvance(text) + 16);
        layout->addWidget(made);
        connect(made, &QPushButton::clicked, this, run);
        return made;
    };
    reference_ = button(tr("Reference"), tr("Compares other images with this one"), [this] { toggle_reference(); });
    reference_->setCheckable(true);
    reload_ =
        button(tr("Reload"), tr("Reads the file again"), [this] { workspace().reload(workspace().session().current); });
    close_ = button(tr("Close"), tr("Closes the image; the file is kept"),
                    [this] { workspace().close(workspace().session().current); });
    return row;
}

QWidget* FilesPanel::make_progress() {
    loading_ = new QWidget;
    auto* layout = new QHBoxLayout(loading_);
    layout->setContentsMargins(0, 0, 0, 0);
    progress_ = new QProgressBar;
    progress_->setAccessibleName(tr("Loading"));
    progress_->setRange(0, 100);
    auto* cancel = new QPushButton(tr("Cancel"));
    cancel->setAccessibleName(tr("Cancel loading or export"));
    layout->addWidget(progress_, 1);
    layout->addWidget(cancel);
    connect(cancel, &QPushButton::clicked, this, [this] { workspace().cancel_files(); });
    loading_->hide();
    return loading_;
}

void FilesPanel::add_key(const QKeySequence& keys, const std::function<void()>& run) {
    auto* shortcut = new QShortcut(keys, list_, nullptr, nullptr, Qt::WidgetShortcut);
    connect(shortcut, &QShortcut::activated, this, run);
}

void FilesPanel::move(int by) {
    const std::size_t from = workspace().session().current;
    if (by < 0 && from == 0) return;
    workspace().change(tr("Move image"),
                       [=](Session& session) { move_image(session, from, by < 0 ? from - 1 : from + 1); });
}

void FilesPanel::toggle_reference() {
    workspace().change(tr("Reference"), [](Session& session) {
        if (session.reference == session.current) {
            session.reference.reset();
        } else if (session.current < session.images.size()) {
            session.reference = session.current;
        }
    });
}

void FilesPanel::show_progress(double share, const QString& what) {
    loading_->setVisible(share >= 0);
    progress_->setValue(static_cast<int>(share * 100));
    progress_->setToolTip(what);
    const bool was_lengthy = std::exchange(is_lengthy_, share > 0 && share < 1);
    if (is_lengthy_ && !was_lengthy) stale();
}

FilesPanel::Small* FilesPanel::small_of(const Source& source) {
    const auto found = std::ranges::find(small_, source, &Small::source);
    return found != small_.end() ? &*found : nullptr;
}

// Returns the thumbnail of the image or, until it is made, that of the frame before it.
const FilesPanel::Small* FilesPanel::small_or_former(const Source& source) {
    if (const Small* small = small_of(source)) return small;
    const auto former =
        std::ranges::find_if(small_, [&](const Small& each) { return is_other_frame(source, each.source); });
    return former != small_.end() ? &*former : nullptr;
}

void FilesPanel::show_item(std::size_t index) {
    const Session& session = workspace().session();
    const Source& source = session.images[index];
    const Small* small = small_or_former(source);
    QString state = small != nullptr ? small->text : QString();
    if (!workspace().problem(index).isEmpty()) state = tr("cannot be shown");
    if (workspace().is_loading(index) && !workspace().document(index)) state = tr("loading");
    if (session.reference == index) state = tr("reference, %1").arg(state);
    QListWidgetItem* item = list_->item(static_cast<int>(index));
    const QString title = QString::fromStdString(title_of(source));
    // Items are changed only if necessary, since each change lays out the list again.
    const QString text = title + (is_dense() ? "  " : "\n") + state;
    const bool is_broken = !workspace().problem(index).isEmpty();
    const QIcon& icon = is_broken ? broken_icon_ : small != nullptr && !small->icon.isNull() ? small->icon : no_icon_;
    if (item->text() != text) item->setText(text);
    if (item->icon().cacheKey() != icon.cacheKey()) item->setIcon(icon);
    if (item->data(Qt::UserRole).toString() != title) item->setData(Qt::UserRole, title);
    QStringList paths;
    for (const auto& path : source.paths) paths.append(QString::fromStdString(path.string()));
    const QString tip = paths.mid(0, 8).join('\n');
    if (item->toolTip() != tip) item->setToolTip(tip);
}

void FilesPanel::refresh() {
    const Session& session = workspace().session();
    refreshing_ = true;
    const int count = static_cast<int>(session.images.size());
    while (list_->count() > count) delete list_->takeItem(list_->count() - 1);
    while (list_->count() < count) list_->addItem(new QListWidgetItem);
    std::vector<Source> kept;
    for (const Source& image : session.images) {
        if (const Small* small = small_or_former(image)) kept.push_back(small->source);
    }
    std::erase_if(small_, [&](const Small& small) { return std::ranges::find(kept, small.source) == kept.end(); });
    const int side = is_dense() ? kSmallSide : kSide;
    list_->setIconSize({side, side});
    list_->setWordWrap(!is_dense());
    if (!is_dense()) filter_->clear();
    filter_->setVisible(is_dense());
    for (std::size_t index = 0; index < session.images.size(); ++index) show_item(index);
    filter();
    list_->setCurrentRow(count == 0 ? -1 : static_cast<int>(session.current));
    refreshing_ = false;

    for (QPushButton* button : {reference_, reload_, close_}) button->setEnabled(count > 0);
    reference_->setChecked(count > 0 && session.reference == session.current);
    problem_->say(note());
    make_thumbnails();
}

bool FilesPanel::is_dense() const { return workspace().session().images.size() > kFew; }

void FilesPanel::filter() {
    for (int row = 0; row < list_->count(); ++row) {
        QListWidgetItem* item = list_->item(row);
        item->setHidden(!CommandPalette::has_words(filter_->text(), item->data(Qt::UserRole).toString()));
    }
}

QString FilesPanel::note() const {
    const std::size_t current = workspace().session().current;
    if (workspace().session().images.empty()) return tr("Drop files on the window to open them.");
    const std::shared_ptr<const Document> document = workspace().document(current);
    return document ? QString::fromStdString(halving_text(*document)) : QString();  // the window tells problems
}

// Makes as many thumbnails at a time as there are cores.
void FilesPanel::make_thumbnails() {
    const unsigned count = std::max(2u, std::thread::hardware_concurrency());
    for (unsigned i = 0; i < count; ++i) {
        const std::string tag = kTag + std::to_string(i);
        if (!workspace().jobs().busy(tag) && !make_next_thumbnail(tag)) return;
    }
}

// Starts a job for the thumbnail of the first image that has none, loaded images first. While the current image is
// loading, images that are not loaded wait: only the first thumbnail is made, if the load takes several steps. Returns
// false if there is none to make.
bool FilesPanel::make_next_thumbnail(const std::string& tag) {
    making_.erase(tag);
    const auto is_making = [&](const Source& source) {
        return std::ranges::any_of(
            making_, [&](const auto& each) { return each.second == source && workspace().jobs().busy(each.first); });
    };
    const Session& session = workspace().session();
    const bool is_first = small_.empty() && making_.empty();
    const bool waits = workspace().is_loading(session.current) && !(is_lengthy_ && is_first);
    const Source* next = nullptr;
    std::shared_ptr<const Document> document;
    for (std::size_t index = 0; index < session.images.size(); ++index) {
        const Small* small = small_of(session.images[index]);
        if (is_making(session.images[index])) continue;
        const std::shared_ptr<const Document> loaded = workspace().document(index);
        if (loaded && (small == nullptr || small->of.lock() != loaded)) {
            next = &session.images[index];
            document = loaded;
            break;
        }
        const bool failed = !workspace().problem(index).isEmpty();
        // Only the window knows the texels of live images.
        if (Workspace::is_live(session.images[index])) continue;
        if (next == nullptr && small == nullptr && !failed && !waits && !workspace().is_loading(index))
            next = &session.images[index];
    }
    if (next == nullptr) return false;
    making_[tag] = *next;
    const QPointer<FilesPanel> self(this);
    const double ratio = devicePixelRatioF();
    const int side = static_cast<int>(std::lround(kSide * ratio));
    workspace().jobs().start(
        tag, [self, source = *next, document, side, ratio](const CancellationToken& token) -> Jobs::Finish {
            Thumbnail made;
            try {
                made = document ? thumbnail(document, side) : thumbnail(source, side, kMaxBytes, token);
            } catch (const std::exception&) {
                made.text = tr("cannot be shown").toStdString();  // the reason is shown when the user selects the image
            }
            return [self, source, document, made = std::move(made), ratio] {
                if (!self) return;
                const std::vector<Source>& images = self->workspace().session().images;
                std::erase_if(self->small_, [&](const Small& small) {
                    return std::ranges::find(images, small.source) == images.end() &&
                           is_other_frame(source, small.source);
                });
                Small* small = self->small_of(source);
                if (small == nullptr) small = &self->small_.emplace_back();
                *small = {source, document, made.pixels.empty() ? QIcon() : icon_of(made, ratio),
                          QString::fromStdString(made.text)};
                self->stale();
            };
        });
    return true;
}

}  // namespace texton::viewer

#include "viewer/gui/panels/memory_panel.h"

#include <QKeyEvent>
#include <QLocale>
#include <algorithm>
#include <exception>

#include "viewer/text/error_text.h"

namespace texton::viewer {

MemoryPanel::MemoryPanel(Workspace& workspace, QString id, LooksAt looks_at, QWidget* parent)
    : LivePanel(workspace, parent),
      id_(std::move(id)),
      looks_at_(looks_at),
      text_(new QLabel(this)),
      inside_(new QWidget(this)) {
    setObjectName(id_);
    text_->setWordWrap(true);
    text_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    text_->setObjectName("words");
    text_->setAccessibleName(tr("Message"));
    text_->setContentsMargins(8, 8, 8, 8);
    text_->hide();
    content_ = new QVBoxLayout(inside_);
    content_->setContentsMargins(8, 8, 8, 8);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(text_);
    layout->addWidget(inside_, 1);
    layout->addStretch();
}

MemoryPanel::~MemoryPanel() = default;

void MemoryPanel::say(const QString& text, bool instead) {
    text_->setText(text);
    text_->setVisible(!text.isEmpty());
    inside_->setVisible(text.isEmpty() || !instead);
}

void MemoryPanel::work(Work work, const QString& part) {
    const QPointer<MemoryPanel> panel(this);
    workspace().jobs().start(
        tag(part), [panel, work = std::move(work)](const CancellationToken& token) -> Jobs::Finish {
            Finish finish;
            try {
                finish = work(token);
            } catch (const Canceled&) {
                return [] {};
            } catch (const std::exception& error) {
                finish = [panel, why = QString::fromStdString(error_text(error))] { panel->say(why); };
            }
            return [panel, finish = std::move(finish)] {
                if (panel != nullptr && finish) finish();
            };
        });
}

void MemoryPanel::stop(const QString& part) { workspace().jobs().drop(tag(part)); }

void MemoryPanel::refresh() {
    look();
    if (document_ != nullptr) session_changed();
}

void MemoryPanel::hideEvent(QHideEvent* event) {
    LivePanel::hideEvent(event);
    workspace().outline(id_, {});
}

void MemoryPanel::let_go() {
    if (document_ != nullptr) forget();
    document_.reset();
}

SubresourceIndex MemoryPanel::subresource_now() const {
    const std::shared_ptr<const Document> shown = workspace().shown();
    return shown != nullptr ? shown->in_array(workspace().session().subresource) : subresource_;
}

void MemoryPanel::look() {
    const Session& session = workspace().session();
    std::shared_ptr<const Document> now = workspace().shown();
    const SubresourceIndex subresource = now != nullptr ? now->in_array(session.subresource) : SubresourceIndex{};
    if (now == nullptr) {
        let_go();
        const QString problem = workspace().problem(session.current);
        if (session.images.empty()) {
            say(tr("Open an image to inspect its memory."));
        } else if (workspace().is_loading(session.current)) {
            say(tr("The image is loading."));
        } else {
            say(problem.isEmpty() ? workspace().kernel_problem() : tr("The image cannot be shown."));
        }
        return;
    }
    now = now->as_loaded();
    const bool elsewhere =
        looks_at_ == LooksAt::subresource ? subresource != subresource_ : subresource.plane != subresource_.plane;
    if (now == document_ && !elsewhere) return;
    if (document_ != nullptr) forget();
    document_ = std::move(now);
    subresource_ = subresource;
    say({});
    renew();
}

bool claims_key(QEvent* event, std::initializer_list<Qt::Key> keys) {
    if (event->type() != QEvent::ShortcutOverride) return false;
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool plain = (key->modifiers() & ~(Qt::KeypadModifier | Qt::ShiftModifier)) == Qt::NoModifier;
    if (!plain || std::ranges::find(keys, key->key()) == keys.end()) return false;
    event->accept();
    return true;
}

QString number_text(std::size_t number) { return QLocale().toString(static_cast<qulonglong>(number)); }

QString byte_text(std::size_t bytes) {
    return QLocale().formattedDataSize(static_cast<qint64>(bytes), 2, QLocale::DataSizeIecFormat);
}

QColor data_color(const QPalette& palette, int hue) {
    const bool dark = palette.color(QPalette::Base).lightness() < 128;
    return QColor::fromHsl(hue, dark ? 150 : 170, dark ? 130 : 110);
}

}  // namespace texton::viewer

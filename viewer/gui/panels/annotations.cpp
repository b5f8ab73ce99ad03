#include "viewer/gui/panels/annotations.h"

#include <QSignalBlocker>

#include "viewer/gui/annotation_tool.h"
#include "viewer/model/session_names.h"
#include "viewer/render/layout.h"

namespace texton::viewer {
namespace {

constexpr int kIndex = Qt::UserRole;  // data of the items of the list

QIcon swatch(AnnotationColor color) {
    QPixmap pixmap(12, 12);
    pixmap.fill(Qt::black);
    QPainter(&pixmap).fillRect(1, 1, 10, 10, screen_color(color));
    return pixmap;
}

}  // namespace

AnnotationsPanel::AnnotationsPanel(Workspace& workspace)
    : LivePanel(workspace),
      list_(new QListWidget),
      hint_(new CalmText(tr("Note on the annotations"))),
      text_(new QLineEdit),
      color_(choice_box(tr("Annotation color"), all_names(kAnnotationColors))),
      remove_(new QPushButton(tr("Remove"))) {
    list_->setAccessibleName(tr("Annotations of the image"));
    list_->setWordWrap(true);
    list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    list_->setMinimumHeight(4 * fontMetrics().height());
    text_->setAccessibleName(tr("Annotation text"));
    text_->setMaxLength(static_cast<int>(kMaxAnnotationText));
    for (int i = 0; i < color_->count(); ++i)
        color_->setItemIcon(i, swatch(kAnnotationColors[static_cast<std::size_t>(i)].value));
    remove_->setAccessibleName(remove_->text());
    remove_->setToolTip(tr("Removes the selected annotation"));
    auto* form = narrow_form();
    form->addRow(tr("Text"), text_);
    form->addRow(tr("Color"), color_);
    auto* column = new QVBoxLayout;
    column->addLayout(tool_buttons());
    column->addWidget(list_, 1);
    column->addWidget(hint_);
    column->addLayout(form);
    column->addWidget(remove_);
    lay_out(column);

    connect(&tool(), &AnnotationTool::changed, this, &AnnotationsPanel::stale);
    connect(list_, &QListWidget::itemSelectionChanged, this, &AnnotationsPanel::choose_current);
    connect(text_, &QLineEdit::textEdited, this, [this](const QString& text) {
        if (tool().selected()) tool().set_text(*tool().selected(), text);
    });
    connect(color_, &QComboBox::currentIndexChanged, this, [this](int index) {
        if (tool().selected())
            tool().set_color(*tool().selected(), kAnnotationColors[static_cast<std::size_t>(index)].value);
    });
    connect(remove_, &QPushButton::clicked, this, [this] {
        if (tool().selected()) tool().remove(*tool().selected());
    });
}

AnnotationTool& AnnotationsPanel::tool() const { return workspace().annotation_tool(); }

QBoxLayout* AnnotationsPanel::tool_buttons() {
    auto* row = new QHBoxLayout;
    const auto add = [&](AnnotationKind kind, const QString& text, const QString& tip) {
        QToolButton* button = tools_[kind] = toggle_button(text, text, tip);
        row->addWidget(button);
        connect(button, &QToolButton::clicked, this,
                [this, kind](bool on) { tool().choose(on ? std::optional(kind) : std::nullopt); });
    };
    add(AnnotationKind::arrow, tr("Arrow"), tr("Drags on the image draw arrows"));
    add(AnnotationKind::box, tr("Box"), tr("Drags on the image draw boxes around texels"));
    add(AnnotationKind::text, tr("Text"), tr("Clicks on the image place text"));
    add(AnnotationKind::ruler, tr("Ruler"), tr("Drags on the image measure lengths in texels"));
    row->addStretch();
    return row;
}

void AnnotationsPanel::refresh() {
    for (const auto& [kind, button] : tools_) {
        button->setChecked(tool().kind() == kind);
        button->setEnabled(workspace().shown() != nullptr);
    }
    list_annotations();
    const auto selected = tool().selected();
    const bool can_edit = selected && *selected < workspace().session().annotations.size();
    for (QWidget* field : {static_cast<QWidget*>(text_), static_cast<QWidget*>(color_), static_cast<QWidget*>(remove_)})
        field->setEnabled(can_edit);
    const Annotation shown = can_edit ? workspace().session().annotations[*selected] : Annotation{};
    // Setting the same text would move the cursor.
    if (const QString text = QString::fromStdString(shown.text); text != text_->text()) text_->setText(text);
    const QSignalBlocker quiet(color_);
    color_->setCurrentIndex(static_cast<int>(shown.color));
}

void AnnotationsPanel::list_annotations() {
    const Session& session = workspace().session();
    const auto shown = workspace().shown();
    const QSignalBlocker quiet(list_);
    int row = 0;
    for (std::size_t i = 0; i < session.annotations.size(); ++i) {
        const Annotation& annotation = session.annotations[i];
        if (annotation.image != session.current) continue;
        if (row == list_->count()) list_->addItem(QString());
        QListWidgetItem* item = list_->item(row);
        QString text = QString::fromStdString(annotation_text(annotation));
        const std::string part = shown ? label_of(*shown, shown->clamped(annotation.subresource)) : std::string();
        if (!part.empty()) text += QString(" [%1]").arg(QString::fromStdString(part));
        item->setText(text);
        item->setToolTip(text);
        item->setIcon(swatch(annotation.color));
        item->setData(kIndex, QVariant::fromValue(i));
        if (tool().selected() == i) list_->setCurrentRow(row);
        ++row;
    }
    while (list_->count() > row) delete list_->takeItem(list_->count() - 1);
    if (!tool().selected()) list_->clearSelection();
    hint_->say(row == 0 ? tr("Choose a tool, and drag on the image.") : QString());
}

// Also shows the subresource of the annotation.
void AnnotationsPanel::choose_current() {
    const QList<QListWidgetItem*> items = list_->selectedItems();
    if (items.isEmpty()) return;
    const std::size_t index = items.front()->data(kIndex).value<std::size_t>();
    tool().select(index);
    workspace().look([index](Session& session) { session.subresource = session.annotations.at(index).subresource; });
}

}  // namespace texton::viewer

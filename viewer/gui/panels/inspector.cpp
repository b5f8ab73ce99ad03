#include "viewer/gui/panels/inspector.h"

#include <QApplication>
#include <QClipboard>
#include <QFontDatabase>
#include <QGridLayout>
#include <QPointer>
#include <QShortcut>

#include <fmt/format.h>

#include "viewer/inspect/inspected_texel.h"
#include "viewer/text/error_text.h"

namespace texton::viewer {
namespace {

constexpr const char* kTag = "inspector";

QLabel* selectable(const QString& accessible_name) {
    auto* label = new QLabel;
    label->setAccessibleName(accessible_name);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    return label;
}

std::size_t texel_of(double position) { return position > 0 ? static_cast<std::size_t>(position) : 0; }

// Returns one line with the position and the channels of a texel: the sampled values, or the stored values if the array
// is reduced.
std::string line_of(const Document& document, const InspectedTexel& texel) {
    std::string out = fmt::format("{} ", subresource_text(document, texel.subresource, texel.x, texel.y));
    if (texel.halvings > 0) {
        for (const StoredChannel& channel : texel.stored) out += fmt::format(" {}", channel.decimal);
        return out;
    }
    for (int channel = 0; channel < texel.channels && texel.sampling_problem.empty(); ++channel)
        out += fmt::format(" {}", channel_text(texel.sampled, channel, texel.format));
    return out;
}

}  // namespace

InspectorPanel::InspectorPanel(Workspace& workspace)
    : LivePanel(workspace),
      subresource_(selectable(tr("Texel"))),
      shares_(selectable(tr("Coordinates"))),
      format_(selectable(tr("Format and bytes"))),
      problem_(new CalmText(tr("Message"))),
      pins_(new QListWidget),
      pin_(new QPushButton(tr("Pin center"))),
      remove_(new QPushButton(tr("Remove"))),
      clear_(new QPushButton(tr("Clear"))),
      copy_(new QPushButton(tr("Copy as text"))) {
    for (QLabel* label : {shares_, format_}) label->setWordWrap(true);
    QFont bold = subresource_->font();
    bold.setBold(true);
    subresource_->setFont(bold);
    subresource_->setWordWrap(true);

    auto* column = new QVBoxLayout;
    column->addWidget(subresource_);
    column->addWidget(shares_);
    column->addWidget(format_);
    column->addWidget(make_table());
    column->addWidget(problem_);
    column->addWidget(make_pins(), 1);
    column->addWidget(copy_);
    column->addStretch();
    lay_out(column);

    connect(&workspace, &Workspace::hover_changed, this, &InspectorPanel::stale);
    connect(&workspace, &Workspace::texels_arrived, this, &InspectorPanel::stale);
    connect(copy_, &QPushButton::clicked, this, &InspectorPanel::copy_text);
    copy_->setToolTip(tr("Copies the texel and all pins to the clipboard"));
}

QWidget* InspectorPanel::make_table() {
    table_ = new QWidget;
    auto* grid = new QGridLayout(table_);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(12);
    const std::array<QString, 3> readings{tr("Stored"), tr("Sampled"), tr("Shown")};
    const std::array<QString, 3> tips{
        tr("Code value or float in memory"),
        tr("Value that a texture with the current sampler returns at the center of the texel"),
        tr("Value on the screen, 0 to 255")};
    for (int i = 0; i < 3; ++i) {
        auto* title = new QLabel(readings[static_cast<std::size_t>(i)]);
        title->setToolTip(tips[static_cast<std::size_t>(i)]);
        title->setForegroundRole(QPalette::PlaceholderText);
        grid->addWidget(title, 0, i + 1);
    }
    const QFont fixed = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    for (std::size_t channel = 0; channel < 4; ++channel) {
        letters_[channel] = new QLabel(QString(channel_letter(static_cast<int>(channel))));
        grid->addWidget(letters_[channel], static_cast<int>(channel) + 1, 0, Qt::AlignTop);
        for (std::size_t i = 0; i < 3; ++i) {
            cells_[channel][i] = selectable(tr("%1, %2").arg(letters_[channel]->text(), readings[i]));
            cells_[channel][i]->setFont(fixed);
            grid->addWidget(cells_[channel][i], static_cast<int>(channel) + 1, static_cast<int>(i) + 1, Qt::AlignTop);
        }
    }
    grid->setColumnStretch(3, 1);
    return table_;
}

QWidget* InspectorPanel::make_pins() {
    pins_->setAccessibleName(tr("Pins"));
    pins_->setToolTip(tr("Return: show the pin on the canvas. Delete: remove the pin."));
    pins_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    pins_->setMinimumHeight(pins_->fontMetrics().lineSpacing() * 6);
    pins_->setWordWrap(true);
    pins_->setTextElideMode(Qt::ElideNone);
    pins_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    pins_->setResizeMode(QListView::Adjust);
    pin_->setToolTip(
        tr("Pins the texel at the center of the canvas. A right click on the canvas pins the texel under the mouse."));
    auto* all = new QWidget;
    auto* column = new QVBoxLayout(all);
    column->setContentsMargins(0, 0, 0, 0);
    pins_title_ = new QLabel(tr("Pins"));
    column->addWidget(pins_title_);
    column->addWidget(pins_, 1);
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(4);
    for (QPushButton* button : {pin_, remove_, clear_}) buttons->addWidget(button);
    column->addLayout(buttons);

    connect(pin_, &QPushButton::clicked, this, [this] {
        const std::shared_ptr<const Document> shown = workspace().shown();
        if (!shown) return;
        const Extent extent = shown->extent(workspace().session().subresource);
        const Position center = workspace().session().view.center;
        const Position texel{static_cast<double>(std::min(texel_of(center.x), extent.width - 1)) + 0.5,
                             static_cast<double>(std::min(texel_of(center.y), extent.height - 1)) + 0.5};
        workspace().change(tr("Pin"), [&](Session& session) { session.pins.push_back(texel); });
    });
    const auto remove = [this] {
        const int row = pins_->currentRow();
        if (row < 0 || static_cast<std::size_t>(row) >= workspace().session().pins.size()) return;
        workspace().change(tr("Remove pin"),
                           [row](Session& session) { session.pins.erase(session.pins.begin() + row); });
    };
    connect(remove_, &QPushButton::clicked, this, remove);
    connect(new QShortcut(QKeySequence::Delete, pins_, nullptr, nullptr, Qt::WidgetShortcut), &QShortcut::activated,
            this, remove);
    connect(clear_, &QPushButton::clicked, this,
            [this] { workspace().change(tr("Clear pins"), [](Session& session) { session.pins.clear(); }); });
    connect(pins_, &QListWidget::itemActivated, this, [this](const QListWidgetItem* item) {
        const auto row = static_cast<std::size_t>(pins_->row(item));
        const Session& session = workspace().session();
        if (row < session.pins.size()) jump_to(session.subresource, session.pins[row]);
    });
    return all;
}

void InspectorPanel::refresh() {
    const Session& session = workspace().session();
    show_pins();
    pin_->setEnabled(workspace().shown() != nullptr);
    remove_->setEnabled(!session.pins.empty());
    clear_->setEnabled(!session.pins.empty());
    if (!workspace().shown()) {
        const QString problem = workspace().problem(session.current);
        return show_nothing(!problem.isEmpty()                        ? tr("The image cannot be shown.")
                            : workspace().is_loading(session.current) ? tr("The image is loading.")
                                                                      : tr("No image is shown."));
    }
    inspect();
}

void InspectorPanel::show_nothing(const QString& why) {
    workspace().jobs().drop(kTag);
    text_.clear();
    for (QWidget* widget : std::initializer_list<QWidget*>{subresource_, shares_, format_, table_}) widget->hide();
    problem_->say(why);
    copy_->hide();
}

// Reads the texel and the pins on a worker thread.
void InspectorPanel::inspect() {
    const std::optional<SeenTexel> texel = workspace().pointed();
    if (!texel && workspace().session().pins.empty()) return show_nothing(tr("Point at a texel, or pin one."));
    const QPointer<InspectorPanel> self(this);
    const Scene scene = workspace().scene(1, 1);
    workspace().jobs().start(kTag, [self, scene, texel](const CancellationToken& token) -> Jobs::Finish {
        std::optional<InspectedTexel> found;
        QStringList pins;
        QString problem;
        try {
            if (texel)
                found = inspect_texel(scene, texel->subresource, texel_of(texel->at.x), texel_of(texel->at.y), token);
            for (const Position& pin : scene.session.pins) {
                if (token.canceled()) break;
                const InspectedTexel each =
                    inspect_texel(scene, scene.session.subresource, texel_of(pin.x), texel_of(pin.y), token);
                pins.append(QString::fromStdString(line_of(*scene.shown, each)));
            }
        } catch (const std::exception& error) {
            problem = QString::fromStdString(error_text(error));
        }
        return [self, found, pins, problem, shown = scene.shown] {
            if (!self) return;
            if (!problem.isEmpty()) return self->show_nothing(problem);
            for (int row = 0; row < std::min<int>(self->pins_->count(), static_cast<int>(pins.size())); ++row)
                self->pins_->item(row)->setText(pins[row]);
            if (!found) return;
            self->subresource_->setText(
                QString::fromStdString(subresource_text(*shown, found->subresource, found->x, found->y)));
            self->show_texel(*found);
        };
    });
}

void InspectorPanel::show_texel(const InspectedTexel& texel) {
    shares_->setText(tr("Normalized %1, %2 in %3 x %4")
                         .arg(share_of(texel.x, texel.extent.width), 0, 'g', 6)
                         .arg(share_of(texel.y, texel.extent.height), 0, 'g', 6)
                         .arg(texel.extent.width)
                         .arg(texel.extent.height));
    const QString bytes = QString::fromStdString(texel.bytes);
    const QString format = QString::fromStdString(std::string(name(texel.format)));
    format_->setText(texel.stored.empty() ? tr("%1, block %2").arg(format, bytes)
                                          : tr("%1, bytes %2").arg(format, bytes));
    for (int channel = 0; channel < 4; ++channel) {
        const auto index = static_cast<std::size_t>(channel);
        const bool there = channel < texel.channels;
        std::array<QString, 3> cells;
        if (there && index < texel.stored.size())
            cells[0] = QString::fromStdString(texel.stored[index].decimal + "\n" + texel.stored[index].hexadecimal);
        if (there && texel.sampling_problem.empty()) {
            cells[1] = QString::fromStdString(channel_text(texel.sampled, channel, texel.format) + "\n" +
                                              channel_hexadecimal(texel.sampled, channel));
        }
        const bool shown = channel < 3 && texel.display_problem.empty();
        if (shown) cells[2] = QString::fromStdString(fmt::format("{0}\n0x{0:02x}", texel.displayed[index]));
        letters_[index]->setVisible(there || shown);
        for (std::size_t i = 0; i < 3; ++i) {
            cells_[index][i]->setText(cells[i]);
            cells_[index][i]->setVisible(there || shown);
        }
    }
    for (QWidget* widget : std::initializer_list<QWidget*>{subresource_, shares_, format_, table_}) widget->show();
    QString said =
        QString::fromStdString(texel.sampling_problem.empty() ? texel.display_problem : texel.sampling_problem);
    if (said.isEmpty() && texel.halvings > 0)
        said =
            tr("Sampled from the reduced image on the device: 1/%1 of the width and height.").arg(1 << texel.halvings);
    problem_->say(said);
    text_ = subresource_->text() + "\n" + QString::fromStdString(to_string(texel));
    copy_->show();
}

void InspectorPanel::show_pins() {
    const std::vector<Position>& pins = workspace().session().pins;
    for (QWidget* widget : std::initializer_list<QWidget*>{pins_title_, pins_, remove_, clear_})
        widget->setVisible(!pins.empty());
    pins_->parentWidget()->setSizePolicy(QSizePolicy::Preferred,
                                         pins.empty() ? QSizePolicy::Maximum : QSizePolicy::Preferred);
    while (pins_->count() > static_cast<int>(pins.size())) delete pins_->takeItem(pins_->count() - 1);
    for (std::size_t i = 0; i < pins.size(); ++i) {
        const QString text = QString("(%1, %2)").arg(texel_of(pins[i].x)).arg(texel_of(pins[i].y));
        if (i >= static_cast<std::size_t>(pins_->count())) pins_->addItem(text);
        QListWidgetItem* item = pins_->item(static_cast<int>(i));
        if (!item->text().startsWith(text)) item->setText(text);
    }
}

void InspectorPanel::copy_text() {
    QString all = text_;
    for (int row = 0; row < pins_->count(); ++row) all += pins_->item(row)->text() + "\n";
    QApplication::clipboard()->setText(all);
    workspace().tell(tr("Copied."));
}

}  // namespace texton::viewer

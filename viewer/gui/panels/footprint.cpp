#include "viewer/gui/panels/footprint.h"

#include <QAbstractTableModel>
#include <QEvent>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QHeaderView>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <tuple>

#include <fmt/format.h>

#include "viewer/inspect/kernel_taps.h"
#include "viewer/inspect/probe.h"
#include "viewer/inspect/twin.h"
#include "viewer/inspect/ulp_map.h"

namespace texton::viewer {

/// Table model of a footprint: one row for each texel, with the values of one channel.
class FootprintRows : public QAbstractTableModel {
public:
    static constexpr int kLevel = 0;
    static constexpr int kPart = 1;  // layer, cube and face
    static constexpr int kAsked = 2;
    using QAbstractTableModel::QAbstractTableModel;

    void set(std::vector<FootprintTexel> texels, ArrayKind kind, std::size_t channel) {
        beginResetModel();
        texels_ = std::move(texels);
        kind_ = kind;
        channel_ = channel;
        endResetModel();
    }

    int rowCount(const QModelIndex& parent = {}) const override {
        return parent.isValid() ? 0 : static_cast<int>(texels_.size());
    }
    int columnCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : 8; }
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override {
        static const char* const kNames[] = {"Level", "Part", "Requested", "Read", "Weight", "Value", "Term", "Sum"};
        static const char* const kTips[] = {"",
                                            "Layer, cube and face",
                                            "Column, row and slice before the address mode is applied",
                                            "Column, row and slice after the address mode is applied",
                                            "Weight of the texel in 1/256",
                                            "Value of the channel",
                                            "Weight times value",
                                            "Sum of the terms up to this row"};
        if (orientation != Qt::Horizontal) return {};
        if (role == Qt::DisplayRole) return FootprintPanel::tr(kNames[section]);
        if (role == Qt::ToolTipRole) return FootprintPanel::tr(kTips[section]);
        return {};
    }
    QVariant data(const QModelIndex& index, int role) const override {
        if (role == Qt::TextAlignmentRole) return static_cast<int>(Qt::AlignRight | Qt::AlignVCenter);
        if (role != Qt::DisplayRole) return {};
        const FootprintTexel& texel = texels_[static_cast<std::size_t>(index.row())];
        return QString::fromStdString(text(texel, index.column()));
    }

    /// Returns true if an address mode or the clamping of layers changes a position.
    bool differ_asked_and_read() const {
        return std::ranges::any_of(
            texels_, [this](const FootprintTexel& texel) { return text(texel, kAsked) != text(texel, kAsked + 1); });
    }

private:
    // Returns column, row and slice, as far as the kind has these dimensions.
    template <class Numbers>
    std::string subresource_text(const Numbers& at) const {
        if (is_flat(kind_)) return fmt::format("{}", at[0]);
        if (kind_ == ArrayKind::array_3d) return fmt::format("{}, {}, {}", at[0], at[1], at[2]);
        return fmt::format("{}, {}", at[0], at[1]);
    }
    std::string part_text(const FootprintTexel& texel) const {
        static const char* const kFaces[] = {"+x", "-x", "+y", "-y", "+z", "-z"};
        std::string text;
        if (is_layered(kind_) && !texel.border)
            text = fmt::format(fmt::runtime(is_cube(kind_) ? "cube {}" : "layer {}"), texel.found[2]);
        if (texel.face >= 0) text += fmt::format("{}{}", text.empty() ? "" : ", ", kFaces[texel.face]);
        return text;
    }
    std::string text(const FootprintTexel& texel, int column) const {
        switch (column) {
            case kLevel: return fmt::format("{}", texel.level);
            case kPart: return part_text(texel);
            case kAsked: return subresource_text(texel.asked);
            case 3: return texel.border ? "border" : subresource_text(texel.found);
            case 4: return fmt::format("{:g}/256", texel.weight * 256);
            case 5: return number_text(texel.value[channel_]);
            case 6: return number_text(texel.contribution[channel_]);
            default: return number_text(texel.sum[channel_]);
        }
    }

    std::vector<FootprintTexel> texels_;
    ArrayKind kind_ = ArrayKind::array_2d;
    std::size_t channel_ = 0;
};

namespace {

constexpr const char* kOwner = "footprint";

// Name of a result and its channels: the columns of a table in a fixed-width font.
using ResultLine = std::array<std::string, 5>;

ResultLine result_line(const QString& whose, const Texel& texel, Format format) {
    ResultLine line{whose.toStdString()};
    const std::array<double, 4> numbers = numbers_of(texel, format);
    for (std::size_t c = 0; c < static_cast<std::size_t>(returned_channels(format)); ++c)
        line[1 + c] = number_text(numbers[c]);
    return line;
}

QString aligned(const std::vector<ResultLine>& lines) {
    QStringList out(static_cast<qsizetype>(lines.size()));
    for (std::size_t column = 0; column < std::tuple_size_v<ResultLine>; ++column) {
        std::size_t width = 0;
        for (const ResultLine& line : lines) width = std::max(width, line[column].size());
        if (width == 0) continue;
        for (std::size_t row = 0; row < lines.size(); ++row)
            out[static_cast<qsizetype>(row)] +=
                QString::fromStdString(fmt::format("{}{:<{}}", column == 0 ? "" : "  ", lines[row][column], width));
    }
    for (QString& line : out) line = line.trimmed();
    return out.join('\n');
}

// Returns an outline for each texel, with the sum of its weights as the label.
std::vector<Outline> outlines_of(const Footprint& footprint, const ArrayKind kind, int plane) {
    std::map<std::tuple<int, int, int, int, int>, double> weights;
    for (const FootprintTexel& texel : footprint.texels) {
        if (texel.border) continue;
        weights[{texel.level, texel.face, texel.found[2], texel.found[0], texel.found[1]}] += texel.weight;
    }
    std::vector<Outline> outlines;
    for (const auto& [where, weight] : weights) {
        const auto& [level, face, z, x, y] = where;
        Outline outline;
        outline.x = x;
        outline.y = y;
        outline.subresource = {.level = level, .face = std::max(face, 0), .plane = plane};
        (kind == ArrayKind::array_3d ? outline.subresource.slice : outline.subresource.layer) =
            static_cast<std::size_t>(z);
        outline.color = QColor::fromHsv(43, 230, 140 + static_cast<int>(115 * std::min(1.0, std::sqrt(weight))));
        outline.label = QString::fromStdString(fmt::format("{:g}", weight * 256));
        outlines.push_back(outline);
    }
    return outlines;
}

PixelSteps steps_of(const FootprintChoice& choice) {
    const double turn = choice.turn * std::numbers::pi / 180;
    return {{choice.longer * std::cos(turn), choice.longer * std::sin(turn)},
            {-choice.shorter * std::sin(turn), choice.shorter * std::cos(turn)}};
}

// Returns the rows for the taps of a kernel, in the order of the taps.
std::vector<FootprintTexel> texels_of(const std::vector<verify::Tap>& taps, const Document& source) {
    std::vector<FootprintTexel> texels;
    std::array<double, 4> sum{};
    for (const verify::Tap& tap : taps) {
        FootprintTexel texel;
        texel.weight = tap.weight;
        texel.found = {static_cast<std::int32_t>(tap.at.x), static_cast<std::int32_t>(tap.at.y), 0};
        texel.asked = {texel.found[0], texel.found[1], 0};
        const Color value = value_at(source, {}, tap.at.x, tap.at.y);
        for (std::size_t c = 0; c < 4; ++c) {
            texel.value[c] = static_cast<double>(value[c]);
            texel.contribution[c] = tap.weight * texel.value[c];
            texel.sum[c] = sum[c] += texel.contribution[c];
        }
        texels.push_back(texel);
    }
    return texels;
}

}  // namespace

FootprintPanel::FootprintPanel(Workspace& workspace)
    : InspectionPanel(workspace, "footprint"),
      fetching_(choice_box(
          tr("Fetch"), {tr("canvas pixel").toStdString(), tr("gradients").toStdString(), tr("probe").toStdString()})),
      channel_(choice_box(tr("Channel"), {"R", "G", "B", "A"})),
      gradients_(new QWidget),
      longer_(number(tr("Longer side of a pixel in texels"), "longer", tr("Longer side of a pixel, in texels"),
                     &FootprintChoice::longer)),
      shorter_(number(tr("Shorter side of a pixel in texels"), "shorter", tr("Shorter side of a pixel, in texels"),
                      &FootprintChoice::shorter)),
      turn_(number(tr("Rotation of a pixel in degrees"), "turn",
                   tr("Angle between the longer side of a pixel and the rows, in degrees"), &FootprintChoice::turn)),
      head_(new QLabel),
      table_(new QTableView),
      rows_(new FootprintRows(this)) {
    make_controls();
    head_->setAccessibleName(tr("Results"));
    head_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    head_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    table_->setModel(rows_);
    table_->setAccessibleName(tr("Texels of the footprint"));
    table_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    table_->setAlternatingRowColors(true);
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setWordWrap(false);
    table_->setShowGrid(false);
    table_->verticalHeader()->hide();
    table_->verticalHeader()->setDefaultSectionSize(table_->fontMetrics().height() + 6);
    table_->setMinimumHeight(table_->fontMetrics().height() * 5);
    table_->viewport()->installEventFilter(this);
    column()->addWidget(text());
    column()->addWidget(head_);
    column()->addWidget(table_, 1);
    connect(&workspace, &Workspace::hover_changed, this, &FootprintPanel::stale);
}

void FootprintPanel::make_controls() {
    fetching_->setToolTip(
        tr("The fetch of a canvas pixel, a fetch with the gradients below, or the fetch of the Probe panel"));
    auto* choices = new QHBoxLayout;
    choices->addWidget(fetching_);
    choices->addWidget(channel_);
    choices->addStretch(1);
    column()->addLayout(choices);
    auto* row = new QHBoxLayout(gradients_);
    row->setContentsMargins(0, 0, 0, 0);
    longer_->set_range(0, 65536);
    shorter_->set_range(0, 65536);
    row->addWidget(longer_);
    row->addWidget(new QLabel(QString::fromUtf8("\u00d7")));
    row->addWidget(shorter_);
    row->addWidget(turn_);
    row->addWidget(new QLabel(QString::fromUtf8("\u00b0")));
    row->addStretch(1);
    column()->addWidget(gradients_);
    gradients_->hide();
    connect(fetching_, &QComboBox::activated, this, [this](int index) {
        workspace().change(tr("Footprint fetch"),
                           [&](Session& session) { session.footprint.fetch = static_cast<FootprintFetch>(index); });
    });
    connect(channel_, &QComboBox::activated, this, [this](int index) {
        workspace().change(tr("Footprint channel"), [&](Session& session) { session.footprint.channel = index; });
    });
}

NumberEdit* FootprintPanel::number(const QString& name, const char* id, const QString& tip,
                                   double FootprintChoice::*member) {
    auto* field = new NumberEdit(name);
    field->setToolTip(tip);
    connect(field, &NumberEdit::edited, this, [this, name, id, member](double value) {
        workspace().change(
            name, [&](Session& session) { session.footprint.*member = value; }, QString("footprint ") + id);
    });
    return field;
}

void FootprintPanel::show_choices() {
    const FootprintChoice& choice = workspace().session().footprint;
    fetching_->setCurrentIndex(static_cast<int>(choice.fetch));
    channel_->setCurrentIndex(choice.channel);
    gradients_->setVisible(choice.fetch == FootprintFetch::gradients);
    for (const auto& [field, value] :
         {std::pair(longer_, choice.longer), std::pair(shorter_, choice.shorter), std::pair(turn_, choice.turn)}) {
        if (field->value() != value) field->set_value(value);
    }
}

void FootprintPanel::hideEvent(QHideEvent* event) {
    workspace().outline(kOwner, {});
    InspectionPanel::hideEvent(event);
}

// The layout gives the table its width after resizeEvent() of the panel, so that the columns follow the table itself.
bool FootprintPanel::eventFilter(QObject* watched, QEvent* event) {
    if (watched == table_->viewport() && event->type() == QEvent::Resize && !table_->isHidden()) fit_table();
    return InspectionPanel::eventFilter(watched, event);
}

void FootprintPanel::show_nothing() {
    head_->hide();
    table_->hide();
    rows_->set({}, ArrayKind::array_2d, 0);
    outline({});
}

void FootprintPanel::outline(const std::vector<Outline>& outlines) {
    workspace().outline(kOwner, workspace().session().overlays.footprint ? outlines : std::vector<Outline>());
}

std::optional<Fetch> FootprintPanel::fetch_at(const Inspected& at) const {
    const Session& session = workspace().session();
    if (session.footprint.fetch == FootprintFetch::probe) {
        const Probe& probe = session.probe;
        return probe_fetch(probe, at.info(), at.subresource, at.sampler, {probe.u, probe.v, probe.w});
    }
    const std::optional<SeenTexel> seen = workspace().inspected();
    if (!seen) return std::nullopt;
    const SubresourceFetches fetches(at.info(), at.subresource, at.sampler);
    if (session.footprint.fetch == FootprintFetch::gradients) return fetches.at(seen->at, steps_of(session.footprint));
    const double side = 1 / (session.view.zoom * workspace().texel_side());
    return fetches.as_seen(seen->at, {{side, 0}, {0, side}});
}

void FootprintPanel::refresh() {
    show_choices();
    std::optional<Inspected> at = inspected();
    const std::optional<SeenTexel> seen = workspace().inspected();
    const bool made = !workspace().session().kernel.name.empty();
    if (at && seen && !made) at->subresource = at->document->clamped(seen->subresource);
    const std::optional<Fetch> fetch = at && !made ? fetch_at(*at) : std::nullopt;
    if (!at || (!fetch && !made) || (made && !seen)) {
        drop_work();
        show_nothing();
        return say(at ? tr("Point at a texel, or pin one with a right click.") : tr("No image is shown."));
    }
    if (made) return inspect_kernel(*workspace().pointed());
    const std::optional<Device> other = workspace().other_device();
    compute(
        [at = *at, fetch = *fetch, other](const CancellationToken&) {
            Found found{at, Model(at.document->array(at.subresource.plane), at.sampler).footprint(fetch)};
            const Format format = at.info().format;
            const auto ulps = [&](const Texel& texel) {
                return ulps_between({&found.footprint.result, 1}, {&texel, 1}, format).front();
            };
            found.device = fetched(at.document->texture(at.sampler, at.subresource.plane), fetch);
            found.device_ulp = ulps(found.device);
            if (other && at.document->device().kind() == DeviceKind::cpu) {
                found.twin = on_device(at.document, at.subresource.plane, *other);
                found.other = fetched(Texture(*found.twin, at.sampler), fetch);
                found.other_ulp = ulps(*found.other);
            }
            return found;
        },
        [this](const Found& found) { show_found(found); });
}

void FootprintPanel::show_found(const Found& found) {
    const ArrayKind kind = found.at.info().kind;
    keep_twin(found.twin);
    say(found.footprint.texels.empty() ? tr("The fetch reads no texels.") : QString());
    head_->setText(head_text(found));
    rows_->set(found.footprint.texels, kind, static_cast<std::size_t>(channel_->currentIndex()));
    table_->setColumnHidden(FootprintRows::kLevel, found.at.info().levels == 1);
    table_->setColumnHidden(FootprintRows::kPart, !is_layered(kind) && !is_cube(kind));
    fit_table();
    outline(outlines_of(found.footprint, kind, found.at.subresource.plane));
}

// Hides columns without information, so that the numbers fit into a narrow panel.
void FootprintPanel::fit_table() {
    constexpr int kBetween = 14;  // maximum additional pixels between columns
    table_->setColumnHidden(FootprintRows::kAsked, !rows_->differ_asked_and_read());
    table_->resizeColumnsToContents();
    int wide = 0, shown = 0;
    for (int i = 0; i < rows_->columnCount(); ++i) {
        wide += table_->columnWidth(i);
        shown += table_->isColumnHidden(i) ? 0 : 1;
    }
    const int between = std::clamp((table_->viewport()->width() - wide) / std::max(shown, 1), 0, kBetween);
    for (int i = 0; i < rows_->columnCount(); ++i)
        if (!table_->isColumnHidden(i)) table_->setColumnWidth(i, table_->columnWidth(i) + between);
    head_->show();
    table_->show();
}

QString FootprintPanel::head_text(const Found& found) const {
    const Format format = found.at.info().format;
    const LevelChoice& levels = found.footprint.levels;
    std::vector<ResultLine> lines{result_line(tr("model"), found.footprint.result, format)};
    QString said;
    const auto device = [&](const QString& name, const Texel& texel, std::uint32_t ulps) {
        lines.push_back(result_line(name, texel, format));
        said += QString("%1 %2, ").arg(name, QString::fromStdString(ulp_text(ulps)));
    };
    device(found.at.document->device().kind() == DeviceKind::cpu ? tr("CPU") : tr("GPU"), found.device,
           found.device_ulp);
    if (found.other) device(tr("GPU"), *found.other, found.other_ulp);
    QString text = aligned(lines) + '\n' + said + tr("level %1").arg(levels.level);
    if (levels.next_weight != 0) text += tr(" and %1/256 of level %2").arg(levels.next_weight).arg(levels.level + 1);
    if (levels.ratio > 1)
        text += tr("\n%1 samples, anisotropy ratio %2")
                    .arg(levels.samples[0] + levels.samples[1])
                    .arg(levels.ratio, 0, 'f', 2);
    return text;
}

// --- pixels of a kernel's result -------------------------------------------------------------------------------------

void FootprintPanel::inspect_kernel(const SeenTexel& pixel) {
    say(tr("Determining the texels that the kernel reads..."));
    const Offset at{static_cast<std::size_t>(pixel.at.x), static_cast<std::size_t>(pixel.at.y),
                    pixel.subresource.layer + pixel.subresource.slice};
    compute(
        [session = workspace().session(), source = workspace().document(),
         at](const CancellationToken&) -> std::optional<std::vector<FootprintTexel>> {
            const std::optional<std::vector<verify::Tap>> taps = kernel_taps(session, at);
            if (!taps || !source) return std::nullopt;
            return texels_of(*taps, *source);
        },
        [this, at](const std::optional<std::vector<FootprintTexel>>& texels) {
            show_nothing();
            if (!texels) {
                return say(
                    tr("The texels of this pixel cannot be determined. The kernel must have one 2D input image with "
                       "one level and at most about 30,000 texels, and the pixel must be a weighted sum of at most 400 "
                       "texels."));
            }
            say({});
            head_->setText(tr("pixel (%1, %2) is the weighted sum of %3 texels")
                               .arg(static_cast<qulonglong>(at.x))
                               .arg(static_cast<qulonglong>(at.y))
                               .arg(texels->size()));
            rows_->set(*texels, ArrayKind::array_2d, static_cast<std::size_t>(channel_->currentIndex()));
            table_->setColumnHidden(FootprintRows::kLevel, true);
            table_->setColumnHidden(FootprintRows::kPart, true);
            fit_table();
        });
}

}  // namespace texton::viewer

#include "viewer/gui/panels/probe.h"

#include <QFontDatabase>
#include <QGridLayout>
#include <QHBoxLayout>
#include <algorithm>

#include <fmt/format.h>

#include "viewer/inspect/model.h"
#include "viewer/inspect/twin.h"
#include "viewer/inspect/ulp_map.h"
#include "viewer/text/enum_names.h"

namespace texton::viewer {
namespace {

constexpr std::size_t kMaxSamples = 4096;

// Returns a line with value and bits for each channel, or for each texel of a gather.
std::string result_text(const Texel& texel, Format format, int channels, const char* names) {
    std::string text;
    const std::array<double, 4> values = numbers_of(texel, format);
    for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c)
        text += fmt::format("\n{} {:>12}  {:08x}", names[c], number_text(values[c]), texel.channel[c]);
    return text;
}

}  // namespace

ProbePanel::ProbePanel(Workspace& workspace)
    : InspectionPanel(workspace, "probe"),
      operation_(choice_box(tr("Operation"), all_names(kFetchOperations))),
      component_(choice_box(tr("Component"), {"R", "G", "B", "A"})),
      take_(new QPushButton(tr("From texel"))),
      results_(new QLabel),
      plot_(new LinePlot(tr("Fetches along the line"))),
      pointed_(new CalmText(tr("Fetch under the mouse"))) {
    make_fields();
    results_->setAccessibleName(tr("Results"));
    results_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    results_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    column()->addWidget(text());
    column()->addWidget(plot_, 1);
    column()->addWidget(pointed_);
    connect(plot_, &LinePlot::range_changed, this, [this] {
        this->workspace().look([this](Session& session) {
            session.probe.plot_first = plot_->first();
            session.probe.plot_last = plot_->last();
        });
    });
    connect(plot_, &LinePlot::pointed_at, this, &ProbePanel::show_pointed);
    connect(take_, &QPushButton::clicked, this, &ProbePanel::take_texel);
    connect(component_, &QComboBox::activated, this, [this](int index) {
        this->workspace().change(tr("Gathered component"), [&](Session& session) { session.probe.component = index; });
    });
    connect(operation_, &QComboBox::activated, this, [this](int index) {
        this->workspace().change(tr("Probe operation"), [&](Session& session) {
            session.probe.operation = static_cast<FetchOperation>(index);
        });
    });
}

NumberEdit* ProbePanel::number(const QString& name, float (*get)(const Probe&), void (*set)(Probe&, float)) {
    auto* field = new NumberEdit(name);
    field->set_step(0.01);
    field->setMaximumWidth(field->fontMetrics().horizontalAdvance('0') * 16);
    numbers_.push_back({field, get});
    connect(field, &NumberEdit::edited, this, [this, set](double value) {
        workspace().change(
            tr("Probe"), [&](Session& session) { set(session.probe, static_cast<float>(value)); }, "probe");
    });
    return field;
}

void ProbePanel::make_fields() {
    auto* choices = new QHBoxLayout;
    choices->addWidget(operation_);
    choices->addWidget(component_);
    choices->addStretch(1);
    component_->setToolTip(tr("Channel that gather returns"));
    operation_->setToolTip(
        tr("Operation of the fetch. Gradients describe a pixel that is as large as a texel of the level of detail."));
    take_->setToolTip(tr("Moves the point to the inspected texel, and the line to the row of this texel"));
    column()->addLayout(choices);
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(4);
    grid->setVerticalSpacing(6);
    const char* const axes[] = {"u", "v", "w"};
    for (int i = 0; i < 3; ++i) grid->addWidget(new QLabel(axes[i]), 0, 1 + i, Qt::AlignHCenter);
    const QString rows[] = {tr("Point"), tr("From"), tr("To"), tr("LOD")};
    for (int i = 0; i < 4; ++i) grid->addWidget(new QLabel(rows[i]), 1 + i, 0);
    grid->addWidget(number(
                        tr("Point, u"), [](const Probe& of) { return of.u; }, [](Probe& of, float to) { of.u = to; }),
                    1, 1);
    grid->addWidget(number(
                        tr("Point, v"), [](const Probe& of) { return of.v; }, [](Probe& of, float to) { of.v = to; }),
                    1, 2);
    grid->addWidget(number(
                        tr("Point, w"), [](const Probe& of) { return of.w; }, [](Probe& of, float to) { of.w = to; }),
                    1, 3);
    grid->addWidget(
        number(
            tr("Level of detail"), [](const Probe& of) { return of.lod; }, [](Probe& of, float to) { of.lod = to; }),
        4, 1);
    grid->addWidget(take_, 4, 2, 1, 2, Qt::AlignLeft);
    grid->addWidget(number(
                        tr("Line from, u"), [](const Probe& of) { return of.line_from[0]; },
                        [](Probe& of, float to) { of.line_from[0] = to; }),
                    2, 1);
    grid->addWidget(number(
                        tr("Line from, v"), [](const Probe& of) { return of.line_from[1]; },
                        [](Probe& of, float to) { of.line_from[1] = to; }),
                    2, 2);
    grid->addWidget(number(
                        tr("Line from, w"), [](const Probe& of) { return of.line_from[2]; },
                        [](Probe& of, float to) { of.line_from[2] = to; }),
                    2, 3);
    grid->addWidget(number(
                        tr("Line to, u"), [](const Probe& of) { return of.line_to[0]; },
                        [](Probe& of, float to) { of.line_to[0] = to; }),
                    3, 1);
    grid->addWidget(number(
                        tr("Line to, v"), [](const Probe& of) { return of.line_to[1]; },
                        [](Probe& of, float to) { of.line_to[1] = to; }),
                    3, 2);
    grid->addWidget(number(
                        tr("Line to, w"), [](const Probe& of) { return of.line_to[2]; },
                        [](Probe& of, float to) { of.line_to[2] = to; }),
                    3, 3);
    auto* row = new QHBoxLayout;
    row->setSpacing(12);
    row->addLayout(grid);
    row->addWidget(results_, 1, Qt::AlignTop);
    column()->addLayout(row);
}

void ProbePanel::take_texel() {
    const std::optional<Inspected> at = inspected();
    const std::optional<SeenTexel> seen = workspace().inspected();
    if (!at || !seen) return say(tr("Point at a texel, or pin one with a right click."));
    const SubresourceIndex subresource = at->document->clamped(seen->subresource);
    const Fetch fetch = SubresourceFetches(at->info(), subresource, {.normalized_coordinates = true}).at(seen->at);
    const FetchPoint& point = fetch.point;
    const bool cube = is_cube(at->info().kind);
    workspace().change(tr("Probe point"), [&](Session& session) {
        Probe& probe = session.probe;
        probe.u = point.x;
        probe.v = point.y;
        probe.w = point.z;
        probe.lod = point.lod;
        if (cube) return;
        probe.line_from = {0, point.y, point.z};
        probe.line_to = {1, point.y, point.z};
    });
}

void ProbePanel::show_nothing() {
    found_ = {};
    results_->clear();
    plot_->set_curves({});
    pointed_->say({});
}

void ProbePanel::refresh() {
    const Probe& probe = workspace().session().probe;
    for (const Number& number : numbers_) {
        if (!number.field->hasFocus() || number.field->value() != static_cast<double>(number.get(probe)))
            number.field->set_value(number.get(probe));
    }
    operation_->setCurrentIndex(static_cast<int>(probe.operation));
    component_->setCurrentIndex(probe.component);
    component_->setVisible(probe.operation == FetchOperation::gather);
    {
        const QSignalBlocker quiet(plot_);
        plot_->set_range(probe.plot_first, probe.plot_last);
    }
    const std::optional<Inspected> at = inspected();
    if (!at) {
        drop_work();
        show_nothing();
        return say(tr("No image is shown."));
    }
    const auto samples =
        static_cast<std::size_t>(std::clamp(plot_->width() * plot_->devicePixelRatioF(), 2.0, 1.0 * kMaxSamples));
    compute(
        [at = *at, probe, samples, first = plot_->first(), last = plot_->last(),
         other = workspace().other_device()](const CancellationToken&) {
            const ArrayInfo& info = at.info();
            Found found;
            found.format = info.format;
            // Gather returns one channel of four texels.
            found.channels = probe.operation == FetchOperation::gather ? 4 : returned_channels(info.format);
            const Texture texture = at.document->texture(at.sampler, at.subresource.plane);
            const Fetch fetch = probe_fetch(probe, info, at.subresource, at.sampler, {probe.u, probe.v, probe.w});
            const auto name_of = [](const Device& device) {
                return device.kind() == DeviceKind::cpu ? tr("CPU") : tr("GPU");
            };
            found.results.push_back({name_of(at.document->device()), fetched(texture, fetch)});
            const Model model(at.document->array(at.subresource.plane), at.sampler);
            if (other) {
                if (other->kind() == DeviceKind::cuda)
                    found.twin = on_device(at.document, at.subresource.plane, *other);
                found.results.push_back({name_of(*other), found.twin ? fetched(Texture(*found.twin, at.sampler), fetch)
                                                                     : model.fetch(fetch)});
                found.ulp =
                    ulps_between({&found.results[0].texel, 1}, {&found.results[1].texel, 1}, info.format).front();
            }
            found.line = scan(texture, info, at.subresource, probe, first, last, samples);
            // Edges of the texels in the level that the fetch reads.
            found.borders = texel_borders(info, model.levels(fetch).level, probe, first, last);
            return found;
        },
        [this](const Found& found) { show_found(found); });
}

void ProbePanel::show_found(const Found& found) {
    found_ = found;
    keep_twin(std::move(found_.twin));
    say({});
    QStringList text;
    const char* names = workspace().session().probe.operation == FetchOperation::gather ? "xyzw" : "RGBA";
    for (const Result& result : found.results)
        text.push_back(result.name +
                       QString::fromStdString(result_text(result.texel, found.format, found.channels, names)));
    if (found.results.size() > 1) text.push_back(QString::fromStdString(ulp_text(found.ulp)));
    results_->setText(text.join("\n"));
    LinePlot::Curves curves{found.line.first, found.line.last, {}, found.channels, found.borders};
    for (const Texel& texel : found.line.texels) curves.samples.push_back(numbers_of(texel, found.format));
    plot_->set_curves(std::move(curves));
    show_pointed();
}

void ProbePanel::show_pointed() {
    const std::optional<std::size_t> sample = plot_->pointed();
    if (!sample || *sample >= found_.line.texels.size()) return pointed_->say({});
    const ProbePoint at = point_on_line(workspace().session().probe, found_.line.share_of(*sample));
    const std::array<double, 4> values = numbers_of(found_.line.texels[*sample], found_.format);
    std::string text = fmt::format("({:.6g}, {:.6g}, {:.6g})", at[0], at[1], at[2]);
    for (std::size_t c = 0; c < static_cast<std::size_t>(found_.channels); ++c) text += "  " + number_text(values[c]);
    pointed_->say(QString::fromStdString(text));
}

}  // namespace texton::viewer

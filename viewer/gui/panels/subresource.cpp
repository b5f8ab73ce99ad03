#include "viewer/gui/panels/subresource.h"

#include <QSignalBlocker>
#include <QStandardItemModel>

#include <fmt/format.h>

#include "viewer/model/frames.h"
#include "viewer/model/session_names.h"

namespace texton::viewer {
namespace {

std::string words_of(const Document& document, const SubresourceIndex& subresource) {
    const ArrayInfo& array = document.whole(subresource.plane);
    std::string out = fmt::format("{} of {}", to_string(document.extent(subresource)), name(array.format));
    if (document.planes() > 1) {
        out += fmt::format(", planar {}", name(document.file().info().format));
        for (const ImageAttribute& attribute : document.file().metadata().attributes) {
            if (attribute.name == "chroma_siting") out += fmt::format(", chroma siting {}", attribute.value);
            if (attribute.name == "code_range") out += fmt::format(", {} range", attribute.value);
        }
        return out;
    }
    return out + fmt::format(", {}", name(array.kind));
}

QString axis_text(PlaybackAxis axis) {
    switch (axis) {
        case PlaybackAxis::frames: return SubresourcePanel::tr("frames");
        case PlaybackAxis::slices: return SubresourcePanel::tr("slices");
        case PlaybackAxis::layers: return SubresourcePanel::tr("layers");
        case PlaybackAxis::faces: return SubresourcePanel::tr("faces");
        case PlaybackAxis::levels: return SubresourcePanel::tr("levels");
    }
    return {};
}

void enable(QComboBox* box, Layout layout, bool able) {
    auto* model = qobject_cast<QStandardItemModel*>(box->model());
    model->item(static_cast<int>(layout))->setEnabled(able);
}

}  // namespace

SubresourcePanel::SubresourcePanel(Workspace& workspace)
    : LivePanel(workspace),
      rows_(new QGridLayout),
      what_(new QLabel),
      layout_(choice_box(tr("Layout"), all_names(kLayouts))),
      frame_(new IndexField(tr("Frame"))),
      level_(new IndexField(tr("Level"))),
      layer_(new IndexField(tr("Layer"))),
      face_(choice_box(tr("Face"), {"+x", "-x", "+y", "-y", "+z", "-z"})),
      slice_(new IndexField(tr("Slice"))),
      plane_(choice_box(tr("Plane"), {"luma", "chroma"})),
      play_(toggle_button(tr("Play"), tr("Play"),
                          tr("Shows the frames, slices, layers, faces or levels one after the other"))),
      axis_(choice_box(tr("What is played"), {})),
      rate_(new QSpinBox),
      playing_(new QWidget),
      late_(new CalmText(tr("Late frames"))),
      playback_(new Playback(workspace, this)) {
    what_->setWordWrap(true);
    what_->setAccessibleName(tr("Size, format and kind"));
    layout_->setToolTip(tr("One subresource, all of them side by side, or a cubemap as a cross or a sphere"));
    rate_->setRange(1, 120);
    rate_->setValue(8);
    rate_->setSuffix(tr(" per second"));
    rate_->setAccessibleName(tr("Images per second"));
    leave_wheel_to_panel(rate_);
    auto* row = new QHBoxLayout(playing_);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(play_);
    row->addWidget(rate_, 1);

    rows_->setColumnStretch(1, 1);
    rows_->setHorizontalSpacing(10);
    rows_->setVerticalSpacing(6);
    add_row(tr("Layout"), layout_);
    add_row(tr("Frame"), frame_);
    add_row(tr("Level"), level_);
    add_row(tr("Layer"), layer_);
    add_row(tr("Face"), face_);
    add_row(tr("Slice"), slice_);
    add_row(tr("Plane"), plane_);
    add_row(tr("Played"), axis_);
    add_row(tr("Animation"), playing_);
    auto* column = new QVBoxLayout;
    column->addWidget(what_);
    column->addLayout(rows_);
    column->addWidget(late_);
    column->addStretch();
    lay_out(column);

    connect(layout_, &QComboBox::currentIndexChanged, this, [this](int index) {
        this->workspace().change(tr("Layout"), [=](Session& session) {
            session.layout = static_cast<Layout>(index);
            session.fits = true;
        });
    });
    connect(frame_, &IndexField::edited, this,
            [this](int index) { this->workspace().show_frame(static_cast<std::size_t>(index)); });
    connect(level_, &IndexField::edited, this, [this](int index) {
        change(tr("Level"), "level", [=](SubresourceIndex& subresource) { subresource.level = index; });
    });
    connect(layer_, &IndexField::edited, this, [this](int index) {
        change(tr("Layer"), "layer",
               [=](SubresourceIndex& subresource) { subresource.layer = static_cast<std::size_t>(index); });
    });
    connect(face_, &QComboBox::currentIndexChanged, this, [this](int index) {
        change(tr("Face"), "face", [=](SubresourceIndex& subresource) { subresource.face = index; });
    });
    connect(slice_, &IndexField::edited, this, [this](int index) {
        change(tr("Slice"), "slice",
               [=](SubresourceIndex& subresource) { subresource.slice = static_cast<std::size_t>(index); });
    });
    connect(plane_, &QComboBox::currentIndexChanged, this, [this](int index) {
        change(tr("Plane"), "plane", [=](SubresourceIndex& subresource) { subresource.plane = index; });
    });
    connect(play_, &QToolButton::toggled, this, &SubresourcePanel::play);
    connect(rate_, &QSpinBox::valueChanged, this, [this](int rate) { playback_->set_rate(rate); });
    connect(axis_, &QComboBox::currentIndexChanged, this,
            [this](int index) { playback_->choose(static_cast<PlaybackAxis>(axis_->itemData(index).toInt())); });
    connect(playback_, &Playback::counted, this,
            [this] { late_->say(tr("%1 of %2 frames were late.").arg(playback_->late()).arg(playback_->shown())); });
    connect(playback_, &Playback::ended, this, [this] { play_->setChecked(false); });
}

void SubresourcePanel::add_row(const QString& label, QWidget* field) {
    const int row = rows_->rowCount();
    labels_[field] = new QLabel(label);
    rows_->addWidget(labels_[field], row, 0);
    rows_->addWidget(field, row, 1);
}

void SubresourcePanel::show_row(QWidget* field, bool shown) const {
    labels_.at(field)->setVisible(shown);
    field->setVisible(shown);
}

void SubresourcePanel::change(const QString& what, const char* id, const std::function<void(SubresourceIndex&)>& edit) {
    workspace().change(
        what, [&](Session& session) { edit(session.subresource); }, QString("subresource ") + id);
}

void SubresourcePanel::play(bool on) {
    play_->setText(on ? tr("Stop") : tr("Play"));
    play_->setAccessibleName(play_->text());
    if (on) {
        playback_->start(rate_->value());
    } else {
        playback_->stop();
    }
}

// The choice is shown only if there is one.
void SubresourcePanel::list_axes() {
    const std::vector<PlaybackAxis> axes = playback_->axes();
    const QSignalBlocker quiet(axis_);
    if (axes != axes_) {  // not while one of them plays, because this closes an open list
        axis_->clear();
        for (const PlaybackAxis axis : axes) axis_->addItem(axis_text(axis), static_cast<int>(axis));
        axes_ = axes;
    }
    if (const auto axis = playback_->axis()) axis_->setCurrentIndex(axis_->findData(static_cast<int>(*axis)));
    show_row(axis_, axes.size() > 1);
    show_row(playing_, !axes.empty());
    if (axes.empty()) late_->say({});
}

void SubresourcePanel::hideEvent(QHideEvent* event) {
    play_->setChecked(false);
    LivePanel::hideEvent(event);
}

void SubresourcePanel::refresh() {
    const std::shared_ptr<const Document> shown = workspace().shown();
    const Session& session = workspace().session();
    const QSignalBlocker quiet_layout(layout_), quiet_face(face_), quiet_plane(plane_);
    layout_->setCurrentIndex(static_cast<int>(session.layout));
    layout_->setEnabled(shown != nullptr);
    if (!shown) {
        late_->say({});
        for (const auto& [field, label] : labels_) show_row(field, false);
        return what_->setText(tr("No image is shown."));
    }

    const SubresourceIndex subresource = shown->clamped(session.subresource);
    const ArrayInfo& array = shown->whole(subresource.plane);
    const std::size_t depth = array.kind == ArrayKind::array_3d ? level_extent(array, subresource.level).depth : 1;
    what_->setText(QString::fromStdString(words_of(*shown, subresource)));
    const std::size_t frames = workspace().frames();
    frame_->set(frames > 1 ? frame_of(session.images[session.current]) : 0, frames);
    level_->set(static_cast<std::size_t>(subresource.level), static_cast<std::size_t>(array.levels));
    layer_->set(subresource.layer, array.layers);
    face_->setCurrentIndex(subresource.face);
    slice_->set(subresource.slice, depth);
    plane_->setCurrentIndex(subresource.plane);
    show_row(layout_, true);
    show_row(frame_, frames > 1);
    show_row(level_, array.levels > 1);
    show_row(layer_, is_layered(array.kind));
    show_row(face_, is_cube(array.kind));
    show_row(slice_, array.kind == ArrayKind::array_3d);
    show_row(plane_, shown->is_planar());
    list_axes();

    const bool several = array.levels > 1 || is_layered(array.kind) || is_cube(array.kind) || depth > 1;
    enable(layout_, Layout::sheet, several);
    enable(layout_, Layout::cross, is_cube(array.kind));
    enable(layout_, Layout::sphere, is_cube(array.kind));
    labels_.at(layer_)->setText(is_cube(array.kind) ? tr("Cube") : tr("Layer"));
}

}  // namespace texton::viewer
